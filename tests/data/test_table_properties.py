"""CSV against Python's own reader; pieces and blocks of any size give the same rows."""

from __future__ import annotations

import contextlib
import csv
import io
import tempfile

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from table_rows import rows_of

from lopsided.data.block import BadLines
from lopsided.data.readers.csv import CsvReader
from lopsided.data.readers.tabular.csv_text import CsvText
from lopsided.errors import DataError

pytest.importorskip("pyarrow")

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
sizes = st.integers(1, 40)


def read(text, chunk_bytes=1 << 20, **options):
    """The rows of a text, its names and its bad lines, read in chunks of some bytes."""
    bad = BadLines(allowed=10**6)
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(text.encode())
        file.flush()
        reader = CsvReader(file.name, bad=bad, chunk_bytes=chunk_bytes, **options)
        try:
            rows = rows_of(reader)
        except DataError as error:
            rows = str(error).replace(file.name, "")
    return rows, reader.names, [str(error).replace(file.name, "") for error in bad.found]


class Bytes(io.BytesIO):
    read_available = io.BytesIO.read
    size = 0
    name = "text"


@settings(max_examples=300, deadline=None)
@given(text=st.text('ab,"\n\r', max_size=40), chunk_bytes=sizes)
@example('a,5" b\nc"d,"e\n', 1)
@example('"a"b"c\n"d,\n', 3)
@example('"a\r', 1)
def test_rows_cells_and_lines_are_those_of_the_csv_module(text, chunk_bytes):
    reader = csv.reader(io.StringIO(text, newline=""))
    expected, line = [], 1
    for cells in reader:
        if cells:
            expected.append((line, cells))
        line = reader.line_num + 1
    faults = []
    rows = CsvText(Bytes(text.encode()), ",", faults.append, chunk_bytes)
    got = [
        (int(part.lines[i]), [cell.decode() for cell in rows.cells(part.row(i))])
        for part in rows
        for i in range(len(part))
    ]
    if faults:  # a quote not closed: Python takes all the rest for one cell
        got = [row for row in got if row[0] < faults[0].line]
        expected = [row for row in expected if row[0] < faults[0].line]
    assert got == expected


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(texts, texts), min_size=1, max_size=12),
    end=st.sampled_from(["\n", "\r\n"]),
    chunk_bytes=sizes,
    block_rows=st.integers(1, 5),
)
def test_texts_survive_writing_and_reading(rows, end, chunk_bytes, block_rows):
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(["u", "v", "label"])
    writer.writerows([u, v, "0"] for u, v in rows)
    got, names, bad = read(
        written.getvalue(),
        chunk_bytes,
        categorical=["u", "v"],
        missing="zero",
        block_rows=block_rows,
    )
    filled = [{f"{c}={v}": 1 for c, v in zip("uv", row, strict=True) if v} for row in rows]
    assert [row[0] for row in got] == filled
    assert names == list(dict.fromkeys(name for row in filled for name in row))
    assert not bad


digits = st.text("0123456789", min_size=1, max_size=25)
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map("{:.17e}".format),
    st.builds("{}{}.{}e{}".format, st.sampled_from(["", "-", "+"]), digits, digits,
              st.integers(-330, 280)),
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=30))
@example(["0.1", "2.2250738585072011e-308", "9007199254740993", "1e23", "5e-324"])
def test_numbers_are_rounded_correctly(written):
    text = "x,label\n" + "".join(f"{number},0\n" for number in written)
    got, _, _ = read(text)
    assert [row[0]["x"] for row in got] == [float(number) for number in written]


cells = st.sampled_from(["1", "0", "2.5", "", "x", "inf", '"3"', '"', "NA"])
words = st.sampled_from(["u", "v", "w", "", '"a\nb"', '"', '5"', "u,v", "\xe9"])


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.tuples(cells, words, words, st.sampled_from("0012")), max_size=25),
    missing=st.sampled_from(["error", "indicate", "zero", "drop"]),
    chunk_bytes=sizes,
    block_rows=st.integers(1, 7),
)
def test_pieces_and_blocks_of_any_size_give_the_same(rows, missing, chunk_bytes, block_rows):
    text = "n,c,d,y\n" + "".join(",".join(row) + "\n" for row in rows)
    options = {"categorical": ["c", "d"], "missing": missing}
    assert read(text, chunk_bytes, block_rows=block_rows, **options) == read(text, **options)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 4000))
def test_names_grow_with_the_rows_only(seed, block_rows, chunk_bytes):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 30, (60, 2)).tolist()
    text = "c,d,y\n" + "".join(f"{c},{d},0\n" for c, d in values)
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(text.encode())
        file.flush()
        seen: dict[str, None] = {}
        sizes = {"block_rows": block_rows, "chunk_bytes": chunk_bytes}
        for block in CsvReader(file.name, categorical=[0, 1], **sizes):
            for line in block.lines:
                c, d = values[line - 2]
                seen |= {f"c={c}": None, f"d={d}": None}
            assert block.X.names == list(seen)
            assert block.X.shape == (len(block.lines), len(seen))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_rows_or_a_data_error(content):
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(b"a,y\n1,0\n" + content)
        file.flush()
        with contextlib.suppress(DataError):
            for block in CsvReader(file.name, bad=BadLines(allowed=3)):
                assert np.isfinite(block.X.array).all()
