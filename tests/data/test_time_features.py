"""Hour, weekday and the time since the last event of the same key, as features."""

import json
import math

import pytest

import lopsided
from lopsided.data import BadLines, open_reader
from lopsided.data.readers.tabular import clock
from lopsided.errors import DataError, InputError, ParameterError
from lopsided.estimator.schema import Schema
from lopsided.persist import from_bytes, to_bytes
from support.table_rows import rows_of

ROWS = [
    ("2026-01-05T08:15:00", "x", 1, 0),  # a Monday
    ("2026-01-05T08:15:10", "y", 2, 1),
    ("2026-01-05T09:15:00", "x", 3, 0),
    ("2026-01-11T23:59:59", "x", 4, 1),
    ("2026-01-11T23:59:00", "y", 5, 1),
]
SINCE = [(0, 1), (0, 1), (3600, 0), (571499, 0), (575030, 0)]
CLOCK = [("08", "Mon"), ("08", "Mon"), ("09", "Mon"), ("23", "Sun"), ("23", "Sun")]


def expected():
    return [
        {
            "a": a,
            f"who={who}": 1,
            f"when:hour={hour}": 1,
            f"when:weekday={day}": 1,
            "since:who": math.log1p(gap),
            "since:who:first": first,
        }
        for (_, who, a, _), (hour, day), (gap, first) in zip(ROWS, CLOCK, SINCE, strict=True)
    ]


def written(folder, form, rows=ROWS):
    columns = ("when", "who", "a", "label")
    path = folder / f"d.{form}"
    if form == "csv":
        path.write_text("\n".join(",".join(map(str, row)) for row in (columns, *rows)) + "\n")
    elif form == "jsonl":
        events = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
        path.write_text("\n".join(events) + "\n")
    else:
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        cells = [list(column) for column in zip(*rows, strict=True)]
        parquet.write_table(pa.table(dict(zip(columns, cells, strict=True))), path)
    return str(path)


def features_of(reader):
    """The features of each row that are not 0."""
    found = []
    for block in reader:
        if isinstance(block.X, list):
            for event in block.X:
                texts = {f"{k}={v}": 1 for k, v in event.items() if isinstance(v, str)}
                numbers = {k: v for k, v in event.items() if not isinstance(v, str)}
                found.append(texts | numbers)
        else:
            reader_block = type("One", (), {"__iter__": lambda self, b=block: iter([b])})()
            found += [row[0] for row in rows_of(reader_block)]
    return [{k: v for k, v in row.items() if v} for row in found]


def opened(path, **options):
    if path.endswith(".csv"):
        options.setdefault("categorical", ["who"])
    return open_reader(path, time_features="when", since=["who"], **options)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("rows", [1, 2, 4096])
def test_times_become_features(tmp_path, form, rows):
    reader = opened(written(tmp_path, form), block_rows=rows)
    assert features_of(reader) == [{k: v for k, v in row.items() if v} for row in expected()]
    schema = reader.schema()
    assert (schema.time_features, schema.since) == ("when", ("who",))
    assert schema.last == {"who": {"x": 1768175999.0, "y": 1768175940.0}}
    assert "when" not in schema.features


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("other", ["csv", "jsonl", "parquet"])
def test_what_a_model_knows_of_times_needs_no_option(tmp_path, form, other):
    reader = opened(written(tmp_path, form, ROWS[:3]))
    list(reader)
    schema = Schema.of(reader.schema().record())
    again = open_reader(written(tmp_path, other, ROWS[3:]), schema=schema, labelled=False)
    assert features_of(again) == [{k: v for k, v in row.items() if v} for row in expected()[3:]]
    assert not again.notes


def test_a_bad_row_is_no_event_of_its_key(tmp_path):
    rows = [ROWS[0], ("soon", "x", 1, 0), ("2026-01-05T09:00:00", "x", "?!", 0), ROWS[2]]
    reader = opened(written(tmp_path, "csv", rows), bad=BadLines(2))
    assert features_of(reader)[1]["since:who"] == pytest.approx(math.log1p(3600))
    assert [error.line for error in reader.bad.found] == [3, 4]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_what_is_known_after_some_rows_of_a_block(tmp_path, form):
    reader = opened(written(tmp_path, form))
    list(reader)
    assert reader.schema_after(2)["last"] == {"who": {"x": 1767600900.0, "y": 1767600910.0}}
    assert reader.schema_after(5)["last"] == reader.schema().last


def test_keys_not_met_for_longest_are_forgotten(monkeypatch):
    monkeypatch.setattr(clock, "MOST_KEYS", 2)
    made = clock.TimeFeatures("t", ["k"], {})
    gaps = [made.meet(float(time), [key]) for time, key in enumerate("abacb")]
    assert [first for _, first in gaps] == [1, 1, 0, 1, 1]  # c took the place of b
    assert made.last == {"k": {"c": 3.0, "b": 4.0}}


def test_a_dict_has_the_hour_of_its_time(tmp_path):
    path = written(tmp_path, "csv")
    reader = open_reader(path, time_features="when", categorical=["who"])
    model = lopsided.make("COG-II")
    for block in reader:
        model.partial_fit(block.X, block.y)
    model.schema_ = reader.schema()
    model = from_bytes(to_bytes(model))
    block = next(iter(open_reader(path, schema=model.schema_, names=model.feature_names_in_)))
    event = {"when": ROWS[2][0], "who": "x", "a": 3}
    assert model.score_one(event) == pytest.approx(model.score_many(block.X)[2], rel=1e-12)
    with pytest.raises(InputError, match='"when": found "soon", expected a time'):
        model.score_one({**event, "when": "soon"})


def test_options_that_cannot_be(tmp_path):
    path = written(tmp_path, "csv")
    for form in ("csv", "jsonl"):
        with pytest.raises(ParameterError, match="since needs the times"):
            open_reader(written(tmp_path, form), since=["who"])
    with pytest.raises(DataError, match='there is no column "wen"; did you mean "when"'):
        open_reader(path, time_features="wen", categorical=["who"])
    (tmp_path / "e.csv").write_text("when,when:hour,label\n1,2,0\n")
    with pytest.raises(DataError, match="a time feature has this name too"):
        open_reader(str(tmp_path / "e.csv"), time_features="when")
