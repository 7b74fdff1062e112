"""Parquet: types, nulls and batches."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from table_rows import rows_of

from lopsided import sharding
from lopsided.data.block import BadLines, Dense
from lopsided.data.readers.csv import CsvReader, ParquetReader
from lopsided.errors import DataError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pa_csv = pytest.importorskip("pyarrow.csv")


@pytest.fixture
def write(tmp_path):
    def write(columns, **options):
        path = str(tmp_path / "data.parquet")
        pq.write_table(pa.table(columns), path, **options)
        return path

    return write


def test_numbers_booleans_and_decimals_are_numbers(write):
    columns = {
        "i": pa.array([1, -2], pa.int8()),
        "f": pa.array([0.1, 2], pa.float32()),
        "b": [True, False],
        "d": [Decimal("1.25"), Decimal("-3.5")],
        "dict": pa.array([5, 7]).dictionary_encode(),
        "y": [0, 1],
    }
    (block,) = ParquetReader(write(columns))
    assert isinstance(block.X, Dense)
    assert block.X.names == ["i", "f", "b", "d", "dict"]
    assert block.X.array.tolist() == [
        [1, float(np.float32(0.1)), 1, 1.25, 5],
        [-2, 2, 0, -3.5, 7],
    ]
    assert block.lines.tolist() == [1, 2]


def test_texts_and_dictionaries_are_categories(write):
    columns = {
        "s": ["u", "v", "u"],
        "l": pa.array(["p", "q", "q"], pa.large_string()),
        "d": pa.array(["m", "m", "n"]).dictionary_encode(),
        "zip": [10, 20, 10],
        "n": [0.0, 1.0, 2.0],
        "label": ["no", "yes", "no"],
    }
    got = rows_of(ParquetReader(write(columns), categorical=["zip"]))
    assert [row[0] for row in got] == [
        {"s=u": 1, "l=p": 1, "d=m": 1, "zip=10": 1},
        {"s=v": 1, "l=q": 1, "d=m": 1, "zip=20": 1, "n": 1},
        {"s=u": 1, "l=q": 1, "d=n": 1, "zip=10": 1, "n": 2},
    ]
    assert [row[1] for row in got] == ["no", "yes", "no"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([True, False], [True, False]),
        ([1.0, 2.0], [1, 2]),
        ([Decimal(1), Decimal(0)], [1, 0]),
        (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
    ],
)
def test_labels_of_any_plain_type(write, labels, expected):
    got = rows_of(ParquetReader(write({"x": [1, 2], "y": labels})))
    assert [row[1] for row in got] == expected


def test_the_same_as_csv_in_batches_and_row_groups_of_any_size(write, tmp_path):
    rng = np.random.default_rng(0)
    table = {
        "n": rng.integers(-2, 3, 100).astype(float),
        "c": [f"v{i}" for i in rng.integers(0, 20, 100)],
        "w": rng.random(100),
        "y": rng.integers(0, 2, 100),
    }
    path = str(tmp_path / "data.csv")
    pa_csv.write_csv(pa.table(table), path)
    options = {"weight": "w"}
    text = CsvReader(path, categorical=["c"], **options)
    expected = [row[:3] for row in rows_of(text)]
    for group, rows in ((100, 100), (7, 100), (100, 7), (30, 4)):
        reader = ParquetReader(write(table, row_group_size=group), block_rows=rows, **options)
        got = rows_of(reader)
        assert [row[:3] for row in got] == expected
        assert [row[3] for row in got] == list(range(1, 101))
        assert reader.names == text.names


def test_nulls_and_nan_follow_missing(write):
    path = write(
        {"n": [1.0, None, float("nan"), 4.0], "c": ["u", "v", "v", None], "y": [0, 1, 0, 1]}
    )
    with pytest.raises(DataError, match=r'row 2, column "n": found "", expected a value'):
        list(ParquetReader(path))
    zero = [row[0] for row in rows_of(ParquetReader(path, missing="zero"))]
    assert zero == [{"n": 1, "c=u": 1}, {"c=v": 1}, {"c=v": 1}, {"n": 4}]
    dropping = ParquetReader(path, missing="drop")
    assert [row[3] for row in rows_of(dropping)] == [1]
    assert dropping.dropped == 3
    bad = BadLines(allowed=3)
    assert len(rows_of(ParquetReader(path, bad=bad))) == 1
    assert [error.line for error in bad.found] == [2, 3, 4]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"x": [datetime.date(2020, 1, 1)], "y": [1]}, {}, 'column "x": found "date32.*drop it'),
        ({"x": [[1]], "y": [1]}, {}, 'column "x": found "list.*drop it'),
        ({"x": [b"z"], "y": [1]}, {}, 'column "x": found "binary.*drop it'),
        ({"x": [1], "w": ["a"], "y": [1]}, {"weight": "w"}, "numbers as weights"),
        ({"x": [1.5], "y": [1]}, {"categorical": ["x"]}, "whole numbers"),
        ({"x": [1], "z": [1]}, {}, "which column is the label"),
        ({"x": [1], "y": [1]}, {"label": "yy"}, 'did you mean "y"'),
        ({"x": [1, 2, 3], "y": [1, 2, 3]}, {}, 'row 3, column "y": found "3", expected one of two'),
        ({"x": [1.0, float("inf")], "y": [1, 2]}, {}, 'row 2, column "x": found "inf"'),
        ({"x": [1], "y": pa.array([None], pa.int64())}, {"missing": "zero"}, "expected a label"),
        ({"x": pa.array([], pa.float64()), "y": pa.array([], pa.int8())}, {}, "no rows in it"),
    ],
)
def test_what_cannot_be_used_is_said(write, columns, options, message):
    with pytest.raises(DataError, match=message):
        list(ParquetReader(write(columns), **options))


def test_dates_may_be_dropped_and_names_have_dots(write):
    columns = {"day": [datetime.date(2020, 1, 1)], "a.b": [2], "a": [3], "y": [1]}
    assert rows_of(ParquetReader(write(columns), drop=["day"])) == [
        ({"a.b": 2, "a": 3}, 1, None, 1)
    ]


def test_a_column_of_labels_is_not_a_feature_without_labels(write):
    path = write({"x": [1], "when": [datetime.date(2020, 1, 1)], "y": [1]})
    got = rows_of(ParquetReader(path, labelled=False, drop=["when"], names=["x"]))
    assert got == [({"x": 1}, None, None, 1)]


def test_damaged_files(write, tmp_path):
    path = write({"x": np.arange(5000.0), "y": np.arange(5000) % 2}, compression="none")
    content = Path(path).read_bytes()
    for broken in (content[:-20], b"not parquet at all", b""):
        (tmp_path / "broken.parquet").write_bytes(broken)
        with pytest.raises(DataError, match="not a Parquet file"):
            ParquetReader(str(tmp_path / "broken.parquet"))
    (tmp_path / "broken.parquet").write_bytes(content[:4] + bytes(1000) + content[1004:])
    with pytest.raises(DataError, match="reading failed"):
        list(ParquetReader(str(tmp_path / "broken.parquet")))


def test_only_regular_files():
    with pytest.raises(DataError, match="plain file"):
        ParquetReader("/dev/null")


MOMENTS = [datetime.datetime(2026, 3, 1, 22, 30), datetime.datetime(2026, 3, 2, 0, 15, 30)]
SECONDS = [m.replace(tzinfo=datetime.timezone.utc).timestamp() for m in MOMENTS]
TIMES = {
    "seconds": pa.array([int(s) for s in SECONDS]),
    "numbers": pa.array(SECONDS),
    "texts": pa.array([m.isoformat() for m in MOMENTS]),
    "categories": pa.array([m.isoformat() for m in MOMENTS]).dictionary_encode(),
    "milliseconds": pa.array(MOMENTS, pa.timestamp("ms")),
    "nanoseconds": pa.array(MOMENTS, pa.timestamp("ns")),
    "another zone": pa.array(
        [m.replace(tzinfo=datetime.timezone.utc) for m in MOMENTS],
        pa.timestamp("us", "Asia/Tokyo"),
    ),
}


@pytest.mark.parametrize("kind", TIMES)
def test_times_of_every_kind_are_seconds(write, tmp_path, kind):
    table = {"when": TIMES[kind], "x": [1.0, 2.0], "y": [0, 1]}
    (block,) = ParquetReader(write(table), time="when")
    assert block.time.tolist() == SECONDS
    assert block.X.names == ["x"]
    if kind not in (
        "nanoseconds",
        "another zone",
    ):  # Python 3.10 does not know how they are written
        pa_csv.write_csv(pa.table(table), tmp_path / "data.csv")
        (block,) = CsvReader(str(tmp_path / "data.csv"), time="when")
        assert block.time.tolist() == SECONDS


def test_a_date_is_its_midnight(write):
    day = datetime.date(2026, 3, 1)
    (block,) = ParquetReader(write({"day": [day], "x": [1.0], "y": [0]}), time="day")
    assert block.time.tolist() == [SECONDS[0] - 22.5 * 3600]


@pytest.mark.parametrize("bad", [None, "soon"])
def test_a_cell_that_is_no_time_is_an_error(write, bad):
    path = write({"when": ["2026-03-01", bad], "x": [1.0, 2.0], "y": [0, 1]})
    with pytest.raises(DataError, match=r'row 2, column "when".*expected a time'):
        list(ParquetReader(path, time="when"))
    with pytest.raises(DataError, match="seconds since 1970"):
        list(ParquetReader(write({"when": [True], "x": [1.0], "y": [0]}), time="when"))


def test_a_column_without_cells_in_a_batch():
    batch = pa.RecordBatch.from_pydict({"a": [1.0, 2.0], "city": pa.nulls(2)})
    assert sharding.rows_of(batch, ["a", "city"]) == [{"a": 1.0}, {"a": 2.0}]
