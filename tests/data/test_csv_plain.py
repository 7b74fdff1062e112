"""Rows that are plain are read by the core, others by Arrow: nobody can tell which."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lopsided import _core
from lopsided.data.block import BadLines
from lopsided.data.readers.csv import CsvReader
from lopsided.data.readers.tabular.arrow import as_times
from lopsided.errors import LopsidedError

pyarrow = pytest.importorskip("pyarrow")

NUMBERS = ["1", "-2.5", " 3\t", "+4", "1e3", "1e400", ".5", "5.", "-", "", "NA", '"6"', '"NA"', "x"]
TEXTS = [
    "a",
    "b",
    "",
    " a",
    '"a"',
    '"a,b"',
    '"a""b"',
    '"two\nlines"',
    'a"b',
    '"a"b',
    "é",
    "abcdefghi",
]
TIMES = [
    "2026-01-31",
    "2026-01-31T08:15",
    "2026-01-31 08:15:30.25",
    "2026-01-31T08:15:30Z",
    "2026-01-31T08:15:30+01:00",
    "1700000000",
    "1700000000000",
    "2026-02-30",
    "yesterday",
    "",
]
LABELS = ["yes", "no", "no", "no"]
cells = st.tuples(*map(st.sampled_from, (NUMBERS, TEXTS, TIMES, LABELS))).map(",".join)
rows = st.one_of(cells, cells, cells, st.sampled_from(["", "1,a", "1,a,1700000000,yes,5", '1,"a']))
ends = st.sampled_from(["\n", "\r\n", "\n"])


def read(path, *, plain, allowed, missing, monkeypatch):
    """All that comes out: rows, or the error."""
    with monkeypatch.context() as patched:
        if not plain:
            patched.setattr(CsvReader, "_parse_plain", lambda *_: None)
        bad = BadLines(allowed)
        out = []
        try:
            reader = CsvReader(
                str(path),
                label="label",
                categorical=["text"],
                time="when",
                keep=["number", "text"],
                missing=missing,
                bad=bad,
                block_rows=7,
                chunk_bytes=200,
            )
            for block in reader:
                X = block.X
                names = X.names
                for i in range(len(block.lines)):
                    part = slice(X.indptr[i], X.indptr[i + 1])
                    features = {
                        names[j]: v
                        for j, v in zip(X.indices[part], X.data[part].tolist(), strict=True)
                    }
                    kept = {name: column[i] for name, column in block.kept.items()}
                    out.append((int(block.lines[i]), features, block.y[i], block.time[i], kept))
        except LopsidedError as error:
            out.append(str(error))
        return out, [str(error) for error in bad.found]


@settings(max_examples=150, deadline=None)
@given(
    lines=st.lists(st.tuples(rows, ends), min_size=1, max_size=40),
    allowed=st.sampled_from([0, 2, 100]),
    missing=st.sampled_from(["error", "indicate", "zero", "drop"]),
)
def test_it_does_not_matter_who_reads_a_row(lines, allowed, missing, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    text = "number,text,when,label\n" + "".join(row + end for row, end in lines)
    path.write_bytes(text.encode())
    given = {"allowed": allowed, "missing": missing, "monkeypatch": pytest.MonkeyPatch()}
    assert read(path, plain=True, **given) == read(path, plain=False, **given)


def test_plain_rows_need_no_arrow(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text('a,b,label\n1,x,0\n,"y, z",1\n')
    monkeypatch.setattr(CsvReader, "_arrow", None)
    blocks = list(CsvReader(str(path), categorical=["b"], missing="indicate"))
    assert blocks[0].X.names == ["a", "b=x", "a=(missing)", "b=y, z"]
    path.write_text("a,label\n1,0\n+1,1\n")
    with pytest.raises(AttributeError):
        list(CsvReader(str(path)))


def test_many_different_values_are_not_kept_for_ever(tmp_path):
    path = tmp_path / "table.csv"
    many = 150_000
    path.write_text("c,label\n" + "".join(f"v{i % 100_000},{i % 2}\n" for i in range(many)))
    seen = []
    for block in CsvReader(str(path), categorical=["c"]):
        seen += [block.X.names[j] for j in block.X.indices]
    assert seen == [f"c=v{i % 100_000}" for i in range(many)]


@pytest.mark.parametrize("text", [t for t in TIMES if t != "yesterday"])
def test_times_are_those_of_arrow(text):
    parser = _core.CsvParser(",", 1, [], [], [0], [], [""])
    line = f"{text}\n".encode()
    start, end = np.array([0]), np.array([len(line)])
    *_, times, _, unsure, strange = parser.parse(line, start, end)
    assert not len(unsure)
    if text == "2026-02-30":
        assert strange == [(0, 0)]
    else:
        want = as_times(pyarrow.array([text]), [""], pyarrow)
        np.testing.assert_array_equal(times[0], want)


def test_a_time_that_is_no_text(tmp_path):
    path = tmp_path / "d.csv"
    path.write_bytes(b"when,a,label\n2026-01-31,1,0\n-1e3000\xd4,2,1\n2026-01-31,3,1\n")
    with pytest.raises(LopsidedError, match=r'line 3, column "when": .* expected text in UTF-8'):
        list(CsvReader(str(path), time="when"))
    bad = BadLines(1)
    blocks = list(CsvReader(str(path), time="when", bad=bad))
    assert [block.lines.tolist() for block in blocks] == [[2, 4]]
    assert [error.line for error in bad.found] == [3]
