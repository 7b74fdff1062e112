"""LIBSVM text in pieces, through pipes and compressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from libsvm_text import file_of, labels_and_lines, learned, pipe, some_text, texts, values

from lopsided import ACOG, COG
from lopsided.data.readers.libsvm import LibsvmReader
from lopsided.errors import DataError

FILE = "rows.svm"
PIECES = (1, 2, 7, 64, 1000, 1 << 16, 1 << 20)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("make", [COG, ACOG])
def test_pieces_of_any_size_give_the_same_rows_and_the_same_model(write, piece, make):
    path = write(some_text())
    assert learned(path, make(), chunk_bytes=piece) == learned(path, make())
    whole = labels_and_lines(LibsvmReader(path))
    assert labels_and_lines(LibsvmReader(path, chunk_bytes=piece)) == whole
    assert [line for _, line in whole] == list(range(1, 402))


@settings(max_examples=60, deadline=None)
@given(texts(1), st.integers(1, 100))
def test_pieces_cut_anywhere_give_the_same_rows(case, piece):
    text, _, labels, lines = case
    with file_of(text) as path:
        blocks = list(LibsvmReader(path, base=1, chunk_bytes=piece))
        assert labels_and_lines(blocks) == list(zip(labels, lines, strict=True))
        (whole,) = LibsvmReader(path, base=1)
        parts = np.concatenate([values(b, 41) for b in blocks])
        assert np.array_equal(parts, values(whole, 41))


def test_a_line_longer_than_a_piece_is_read(write):
    long_line = "-1 " + " ".join(f"{k}:{k}" for k in range(1, 20_000)) + "\n"
    path = write("1 1:1\n" + 3 * (long_line + "1 2:2\n") + long_line.rstrip())
    blocks = list(LibsvmReader(path, chunk_bytes=4096))
    assert labels_and_lines(blocks) == labels_and_lines(LibsvmReader(path))
    assert learned(path, chunk_bytes=4096) == learned(path)


def halves(text):
    cut = len(text) // 2 + 3  # in the middle of a line
    return text[:cut], text[cut:]


COMPRESSIONS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("ending", COMPRESSIONS)
@pytest.mark.parametrize("piece", [100, 1 << 20])
def test_compressed_files_give_what_plain_ones_give(write, ending, piece):
    text, pack = some_text(), COMPRESSIONS[ending]
    plain = learned(write(text))
    assert learned(write(pack(text), "one.svm" + ending), chunk_bytes=piece) == plain
    members = b"".join(map(pack, halves(text)))
    assert learned(write(members, "two.svm" + ending), chunk_bytes=piece) == plain


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_a_cut_compressed_file_is_an_error_with_its_place(write, ending):
    packed = COMPRESSIONS[ending](some_text(4000))
    path = write(packed[: len(packed) * 2 // 3], "cut.svm" + ending)
    with pytest.raises(DataError, match=rf"cut\.svm{ending}: .*byte \d+"):
        list(LibsvmReader(path))


@pytest.mark.parametrize("size", [1, 3, 17, 1000, 100_000])
def test_a_pipe_may_give_bytes_as_it_likes(write, size):
    text = some_text(60 if size < 10 else 400)
    expected = learned(write(text))
    with pipe(text[k : k + size] for k in range(0, len(text), size)) as path:
        assert learned(path) == expected


def test_rows_of_a_pipe_come_as_soon_as_they_are_there():
    with pipe([b"-1 1:1\n1 2:", b"2\n"], pause=0.2, stays_open=True) as path:
        blocks = iter(LibsvmReader(path))
        assert next(blocks).lines.tolist() == [1]
        assert next(blocks).lines.tolist() == [2]
        blocks.close()


def test_standard_input_is_read():
    code = (
        "from lopsided.data.readers.libsvm import LibsvmReader as R; "
        "print(sum(len(b.y) for b in R('-')))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=some_text(), capture_output=True)
    assert done.stdout.strip() == b"401", done.stderr
