"""Limits on what a file can make a reader allocate, and time that grows with the rows only."""

from __future__ import annotations

import gzip
import resource
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zstandard

from lopsided import COG, _core
from lopsided.data import open_reader
from lopsided.data.block import BadLines
from lopsided.data.readers import csv as csv_reader
from lopsided.data.readers.csv import CsvReader
from lopsided.data.readers.files import open_bytes
from lopsided.data.readers.libsvm import LibsvmReader
from lopsided.data.readers.row_cache import RowCacheReader, write_row_cache
from lopsided.errors import DataError, InputTypeError, ParameterError
from lopsided.evaluation.stream import StreamRun

LOPSIDED = str(Path(sys.executable).parent / "lopsided")
LONG = 3 << 20


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
@pytest.mark.promise("bounded memory")
def test_a_long_line_of_libsvm(tmp_path, pack):
    suffix = {"compress": ".gz", "bytes": ""}.get(pack.__name__, "")
    suffix = ".zst" if pack is zstandard.compress else suffix
    path = tmp_path / f"d.svm{suffix}"
    path.write_bytes(pack(b"1 1:1\n-1 1:2\n1 " + b" " * LONG + b"1:1\n"))
    reader = LibsvmReader(str(path), max_line_bytes=LONG // 2)
    with pytest.raises(
        DataError, match=r"line 3: .*a line of at most 1572864 bytes; raise max_line"
    ):
        list(reader)
    assert sum(len(block.lines) for block in LibsvmReader(str(path))) == 3


@pytest.mark.promise("bounded memory")
def test_a_small_file_that_unpacks_to_much_is_unpacked_in_small_pieces(tmp_path):
    path = tmp_path / "d.svm.zst"
    path.write_bytes(zstandard.compress(b"1 1:1\n" * (1 << 24), 19))
    assert path.stat().st_size < 20_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open_bytes(str(path)) as stream:
        buffer, total = bytearray(1 << 20), 0
        while size := stream.readinto(buffer):
            total += size
    assert total == 6 << 24
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 60_000  # kB


@pytest.mark.parametrize("most", [0, 2**31 - 1, 3_000_000_000])
def test_a_limit_that_the_core_cannot_count_to(tmp_path, most):
    path = tmp_path / "d.svm"
    path.write_text("1 1:1\n")
    with pytest.raises(ParameterError, match=f"max_features={most}"):
        LibsvmReader(str(path), max_features=most)


def test_a_block_of_a_cache_with_more_columns_than_the_cache(tmp_path):
    text, cache = tmp_path / "d.svm", tmp_path / "d.lopc"
    text.write_text("1 1:1\n-1 2000:1\n")
    write_row_cache(str(text), str(cache))
    data = cache.read_bytes()
    assert b'"columns": 2000' in data
    place, size = struct.unpack("<QQ", data[16:32])
    about = data[place : place + size].replace(b'"columns": 2000', b'"columns":    2')
    head = data[:32] + struct.pack("<Q", _core.checksum(about)) + data[40:56]
    head += struct.pack("<Q", _core.checksum(head))
    cache.write_bytes(head + data[64:place] + about)
    with pytest.raises(DataError, match="a block has 2,000 columns and the cache should have 2"):
        list(RowCacheReader(str(cache), max_features=10, fresh=False))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_tail_of_a_long_row_of_csv_is_left_out_too(tmp_path, end):
    path = tmp_path / "d.csv"
    rows = ["a,y", "1,0", "2" * 5000 + ",1" + "0" * 5000, "3,1", "4,0"]
    path.write_bytes(end.join(rows).encode())
    bad = BadLines(5)
    reader = CsvReader(str(path), label="y", bad=bad, chunk_bytes=512, max_line_bytes=1000)
    blocks = list(reader)
    assert np.concatenate([block.X.array for block in blocks]).ravel().tolist() == [1, 3, 4]
    assert np.concatenate([block.lines for block in blocks]).tolist() == [2, 4, 5]
    assert [error.line for error in bad.found] == [3]


class Counting(COG):
    """Counts the rows of all passes, also of those that fail."""

    rows = 0

    def pass_over(self, X, y, *args, **kwargs):
        size = len(y) if kwargs["order"] is None else len(kwargs["order"])
        Counting.rows += size if kwargs["rows"] is None else kwargs["rows"][1] - kwargs["rows"][0]
        return super().pass_over(X, y, *args, **kwargs)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("d.svm", lambda k: f"{k % 4 // 2 if k % 2 == 0 or k < 4 else 7} 1:{k % 5}\n"),
        ("d.jsonl", lambda k: f'{{"a": {"1e200" if k % 2 else 1}, "label": {k % 4 // 2}}}\n'),
    ],
)
@pytest.mark.promise("linear time")
def test_every_other_row_is_bad_and_the_work_is_linear(tmp_path, name, row):
    size = 4000
    path = tmp_path / name
    path.write_text("".join(map(row, range(size))))
    bad = BadLines(size)
    Counting.rows = 0
    run = StreamRun(Counting(), bad=bad)
    for _ in run.over(open_reader(str(path), bad=bad)):
        pass
    assert run.counts.events + len(bad.found) == size
    assert len(bad.found) >= size // 2 - 2
    assert Counting.rows < 300 * size  # not a multiple of its square


def test_every_other_row_of_csv_is_bad_and_few_calls_of_arrow_are_needed(tmp_path, monkeypatch):
    size = 4000
    path = tmp_path / "d.csv"
    path.write_text("a,y\n" + "".join(f"{'x' if k % 2 else k},{k % 4 // 2}\n" for k in range(size)))
    calls = []
    explained = csv_reader.CsvReader._parse

    def counted(self, *args):
        calls.append(1)
        return explained(self, *args)

    monkeypatch.setattr(csv_reader.CsvReader, "_parse", counted)
    bad = BadLines(size)
    blocks = list(CsvReader(str(path), label="y", bad=bad))
    assert sum(len(block.lines) for block in blocks) == len(bad.found) == size // 2
    assert [error.line for error in bad.found] == list(range(3, size + 2, 2))
    assert len(calls) < 100


def test_a_wide_header(tmp_path):
    path = tmp_path / "d.csv"
    width = 40_000
    path.write_text(",".join(f"c{k}" for k in range(width)) + ",y\n" + "1," * width + "0\n")
    (block,) = CsvReader(str(path), label="y")
    assert block.X.array.shape == (1, width)
    path.write_text(",".join(f"c{k // 2}" for k in range(width)) + "\n")
    with pytest.raises(DataError, match="two columns are called"):
        CsvReader(str(path))


def test_columns_of_several_levels_are_no_names():
    pandas = pytest.importorskip("pandas")
    columns = pandas.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    frame = pandas.DataFrame([[1.0, 2.0], [2.0, 1.0]], columns=columns)
    for model in (COG(), COG().fit(frame.set_axis(["x", "z"], axis=1), [0, 1])):
        with pytest.raises(InputTypeError, match="columns of several levels"):
            model.partial_fit(frame, [0, 1])


def test_the_bad_lines_are_few_on_the_screen_and_all_in_a_file(tmp_path):
    rows = "".join(f"{'x' if k % 2 else 1} 1:{k}\n" for k in range(100)) + "-1 1:1\n"
    (tmp_path / "d.svm").write_text(rows)
    words = [
        "run",
        "d.svm",
        "--skip-bad",
        "99",
        "--bad-lines",
        "bad.txt",
        "--quiet",
        "-l",
        "COG-II",
    ]
    done = subprocess.run([LOPSIDED, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 6
    assert done.stderr.splitlines()[-1] == "left out: 45 more bad lines"
    lines = (tmp_path / "bad.txt").read_text().splitlines()
    assert [line.split(",")[1] for line in lines] == [f" line {k}" for k in range(2, 102, 2)]
