"""Tables of many files: in a fixed order, with the folders as columns, in bounded memory."""

from __future__ import annotations

import numpy as np
import pytest

import lopsided
from lopsided.data import open_reader
from lopsided.errors import DataError, InputTypeError
from lopsided.evaluation.stream import StreamRun
from lopsided.persist import to_bytes

pa = pytest.importorskip("pyarrow")
datasets = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")
DAYS = ("a", "b", "c")


def table(day, rows=40):
    rng = np.random.default_rng(DAYS.index(day))
    x = rng.normal(size=rows)
    return pa.table({"x": x, "kind": ["u", "v"] * (rows // 2), "y": (x > 0.5).astype(int)})


@pytest.fixture
def lake(tmp_path):
    for day in reversed(DAYS):  # not in the order of their names
        for k in range(2):
            folder = tmp_path / f"day={day}"
            folder.mkdir(exist_ok=True)
            pq.write_table(table(day).slice(20 * k, 20), folder / f"{k}.parquet", row_group_size=7)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "notes.txt").write_text("not data")
    return tmp_path


def learned(source, **options):
    run = StreamRun(lopsided.Recommended())
    for _ in run.over(open_reader(source, label="y", **options)):
        pass
    return run.model


def whole():
    parts = [table(day).append_column("day", pa.array([day] * 40)) for day in DAYS]
    return pa.concat_tables(parts)


def test_folders_are_read_in_the_order_of_their_names_and_are_columns(lake):
    model = learned(str(lake))
    assert set(model.feature_names_in_) >= {"x", "kind=u", "day=a", "day=c"}
    assert model.fitted.core.rounds == 120
    # As one table in that order, whatever the size of the blocks.
    assert to_bytes(learned(whole())) == to_bytes(model)
    assert to_bytes(learned(str(lake), block_rows=11)) == to_bytes(model)


def test_objects_of_arrow_and_of_lakes_are_read(lake):
    expected = to_bytes(learned(str(lake)))
    dataset = datasets.dataset(
        lake, format="parquet", partitioning="hive", exclude_invalid_files=True
    )

    class Delta:
        def to_pyarrow_dataset(self):
            return dataset

    class Iceberg:
        def to_arrow_batch_reader(self):
            return whole().to_reader(max_chunksize=9)

    for source in (dataset, Delta(), Iceberg(), whole().to_reader()):
        assert to_bytes(learned(source)) == expected


def test_what_is_no_table_is_said(tmp_path):
    with pytest.raises(DataError, match="this is a folder"):
        open_reader(str(tmp_path), label="y")
    with pytest.raises(InputTypeError, match="int is no table"):
        open_reader(3, label="y")
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"not a folder of Parquet|reading failed"):
        list(open_reader(str(tmp_path), label="y"))


def test_a_file_without_a_column_is_said(lake):
    pq.write_table(pa.table({"x": [1.0], "y": ["text"]}), lake / "day=a" / "9.parquet")
    with pytest.raises(DataError, match="reading failed"):
        list(open_reader(str(lake), label="y"))
