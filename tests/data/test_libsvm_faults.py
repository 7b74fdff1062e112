"""Bad lines of LIBSVM text: where they are, and what is read in spite of them."""

from __future__ import annotations

import pytest
from libsvm_text import labels_and_lines, learned, some_text

from lopsided.data.block import BadLines
from lopsided.data.readers.libsvm import LibsvmReader
from lopsided.errors import DataError

FILE = "rows.svm"
# What stands in line 3, the column of the fault, the text found, and a word of what was expected.
FAULTS = [
    ("1:2 3:4", 1, "1:2", "a label before the first pair"),
    ("  abc 1:2", 3, "abc", "a class label"),
    ("nan 1:2", 1, "nan", "a class label"),
    ("1.5 1:2", 1, "1.5", "a class label"),
    ("1 1:", 5, "", "a number after the colon"),
    ("1 :1", 3, ":1", "index:value"),
    ("1 1:2:3", 3, "1:2:3", "index:value"),
    ("1 1:nan", 5, "nan", "a number after the colon"),
    ("1 2:inf", 5, "inf", "a number after the colon"),
    ("1 2:1e400", 5, "1e400", "a finite number"),
    ("1 1:2 0:1", 7, "0:1", "indices from 1 on"),
    ("1 -1:2", 3, "-1:2", "not negative index"),
    ("1 1:1 2000000000:1", 7, "2000000000:1", "at most 50000000"),
    ("1 qid:x 1:1", 3, "qid:x", "qid:number"),
    ("1\t2:1\tx", 7, "x", "index:value"),
    ("1 1:1 \xff\xfe:1", 7, "\\xff\\xfe:1", "index:value"),
]


@pytest.mark.parametrize("piece", [5, 1 << 20])
@pytest.mark.parametrize(("line", "column", "found", "expected"), FAULTS)
def test_a_fault_names_file_line_column_text_and_what_was_expected(
    write, line, column, found, expected, piece
):
    text = f"-1 1:1 2:2\n# note\n{line}\n1 1:1\n".encode("latin-1")
    path = write(text)
    with pytest.raises(DataError) as caught:
        list(LibsvmReader(path, chunk_bytes=piece, base=1))
    error = caught.value
    assert (error.file, error.line, error.column, error.found) == (path, 3, column, found)
    assert expected in error.expected
    assert str(error).startswith(f"{path}, line 3, column {column}: ")


@pytest.mark.parametrize("line", [*(fault[0] for fault in FAULTS), "1 3:1 3:2", "1 9:1 3:1 9:2"])
@pytest.mark.parametrize("piece", [30, 1 << 20])
def test_nothing_of_a_bad_line_is_learned(write, line, piece):
    good = some_text(50).splitlines(keepends=True)
    bad = [*good[:20], line.encode("latin-1") + b"\n", *good[20:]]
    tolerated = BadLines(1)
    got = learned(write(b"".join(bad)), bad=tolerated, chunk_bytes=piece, base=1)
    assert got == learned(write(b"".join(good)), base=1)
    assert [error.line for error in tolerated.found] == [21]


@pytest.mark.parametrize("piece", [10, 1 << 20])
def test_one_bad_line_more_than_allowed_stops(write, piece):
    path = write("-1 1:1\nx\n1 1:1\ny\n1 1:2\nz\n1 1:1\n")
    few = BadLines(2)
    with pytest.raises(DataError, match=r"line 6, column 1: found \"z\""):
        list(LibsvmReader(path, bad=few, chunk_bytes=piece))
    assert [error.line for error in few.found] == [2, 4]
    enough = BadLines(3)
    assert labels_and_lines(LibsvmReader(path, bad=enough, chunk_bytes=piece)) == [
        (-1, 1), (1, 3), (1, 5), (1, 7),
    ]  # fmt: skip
    assert [error.found for error in enough.found] == ["x", "y", "z"]


@pytest.mark.parametrize("text", ["", "\n\n", "# only\n# notes", "\r\n \t\n"])
def test_a_file_without_rows_is_an_error(write, text):
    path = write(text)
    with pytest.raises(DataError, match=r"rows\.svm: there are no rows"):
        list(LibsvmReader(path))
