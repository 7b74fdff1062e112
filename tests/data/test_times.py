"""Times of rows, however they are written; whether they are in order."""

import json
from datetime import date, datetime, timezone

import numpy as np
import pytest

from lopsided.data import BadLines, open_reader
from lopsided.data.readers.csv import CsvReader
from lopsided.data.readers.parquet import ParquetReader
from lopsided.estimator.times import seconds

DAY = 1767225600.0  # 2026-01-01
FORMS = {
    "dates": (["2026-01-01", "2026-01-02"], [DAY, DAY + 86400]),
    "minutes": (["2026-01-01T08:15", "2026-01-01 08:16"], [DAY + 29700, DAY + 29760]),
    "fractions": (["2026-01-01 00:00:00.25", "2026-01-01T00:00:01"], [DAY + 0.25, DAY + 1]),
    "Z": (["2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"], [DAY, DAY + 3600]),
    "zones": (["2026-01-01T02:00:00+02:00", "2026-01-01T00:30:00-01:00"], [DAY, DAY + 5400]),
    "some zones": (["2026-01-01T00:00:00", "2026-01-01T01:00:00+01:00"], [DAY, DAY]),
    "epoch": (["1767225600", "1767225601.5"], [DAY, DAY + 1.5]),
    "epoch and dates": (["1767225600", "2026-01-01"], [DAY, DAY]),
    "before 1970": (["1969-12-31T23:59:59", "-2"], [-1.0, -2.0]),
}


def written(folder, name, cells):
    if name.endswith(".jsonl"):
        lines = [{"when": cell, "a": 1, "label": i % 2} for i, cell in enumerate(cells)]
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
    else:
        text = "when,a,label\n" + "".join(f"{cell},1,{i % 2}\n" for i, cell in enumerate(cells))
    (folder / name).write_text(text)
    return str(folder / name)


def times_of(reader):
    return np.concatenate([block.time for block in reader]).tolist()


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl"])
@pytest.mark.parametrize("form", FORMS)
def test_a_time_is_seconds_since_1970_however_it_is_written(tmp_path, name, form):
    cells, expected = FORMS[form]
    assert times_of(open_reader(written(tmp_path, name, cells), time="when")) == expected
    assert [seconds(cell) for cell in cells] == expected


@pytest.mark.parametrize("bad", ["soon", "", "NA", "2026-13-01", "inf", "1e999"])
def test_what_is_no_time_is_a_bad_line(tmp_path, bad):
    path = written(tmp_path, "d.csv", ["2026-01-01", bad, "2026-01-02"])
    reader = CsvReader(path, time="when", bad=BadLines(1))
    assert times_of(reader) == [DAY, DAY + 86400]
    assert [error.line for error in reader.bad.found] == [3]


@pytest.mark.parametrize("kind", ["s", "ms", "us", "ns", "zone", "date", "number", "text", "codes"])
def test_times_of_arrow(kind):
    pa = pytest.importorskip("pyarrow")
    moments = [datetime(2026, 1, 1), datetime(2026, 1, 2)]
    zoned = [moment.replace(tzinfo=timezone.utc) for moment in moments]
    column = {
        "zone": lambda: pa.array(zoned, pa.timestamp("us", "Europe/Paris")),
        "date": lambda: pa.array([date(2026, 1, 1), date(2026, 1, 2)]),
        "number": lambda: pa.array([int(DAY), int(DAY) + 86400]),
        "text": lambda: pa.array([str(moment) for moment in moments]),
        "codes": lambda: pa.array([str(moment) for moment in moments]).dictionary_encode(),
    }.get(kind, lambda: pa.array(moments, pa.timestamp(kind)))()
    table = pa.table({"when": column, "a": [1, 2], "label": [0, 1]})
    assert times_of(ParquetReader(table, time="when")) == [DAY, DAY + 86400]


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl"])
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_rows_that_are_not_in_order_are_counted(tmp_path, name, rows):
    days = [1, 3, 2, 2, 4, 1]
    path = written(tmp_path, name, [f"2026-01-0{day}" for day in days])
    reader = open_reader(path, time="when", block_rows=rows)
    times_of(reader)
    (note,) = reader.notes
    first = 4 if name == "d.csv" else 3
    assert f"3 lines are earlier than one before, the first line {first}" in note
    ordered = open_reader(written(tmp_path, name, ["2026-01-01"] * 3), time="when")
    times_of(ordered)
    assert not ordered.notes


def test_the_sort_command_of_the_note_sorts(tmp_path):
    import subprocess

    path = written(tmp_path, "d.csv", ["2026-01-02", "2026-01-01", "2026-01-03"])
    reader = CsvReader(path, time="when")
    times_of(reader)
    command = reader.notes[0].partition("to sort it: ")[2].replace("FILE", path)
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    (tmp_path / "s.csv").write_bytes(done.stdout)
    reader = CsvReader(str(tmp_path / "s.csv"), time="when")
    assert times_of(reader) == [DAY, DAY + 86400, DAY + 2 * 86400]
    assert not reader.notes
