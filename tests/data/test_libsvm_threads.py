"""LIBSVM text read on several threads: what is read, and what stays behind."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from libsvm_text import learned, open_files, pipe, some_text

from lopsided.data.block import BadLines
from lopsided.data.readers import libsvm
from lopsided.data.readers.libsvm import LibsvmReader
from lopsided.errors import DataError

FILE = "rows.svm"


@pytest.fixture(params=[1, 2, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(libsvm, "_threads", lambda: request.param)
    return request.param


def until_it_fails(path, **options):
    """Return the lines that are read, and the error that ends the reading."""
    lines = []
    try:
        for block in LibsvmReader(path, **options):
            lines.extend(block.lines.tolist())
    except DataError as error:
        return lines, str(error)
    return lines, None


@pytest.mark.parametrize("piece", [1, 64, 1000])
def test_any_number_of_threads_gives_the_same_model(write, threads, piece):
    path = write(some_text())
    assert learned(path, chunk_bytes=piece) == learned(path)
    assert until_it_fails(path, chunk_bytes=piece) == (list(range(1, 402)), None)


def test_a_bad_line_ends_the_reading_at_its_place_with_any_number_of_threads(write, threads):
    path = write(b"1 1:1\n" * 500 + b"spam\n" + b"1 1:x\n" * 500)
    lines, error = until_it_fails(path, chunk_bytes=60)
    assert lines == list(range(1, 501))
    assert "line 501, column 1" in error
    bad = BadLines(2)
    lines, error = until_it_fails(path, chunk_bytes=60, bad=bad)
    assert [fault.line for fault in bad.found] == [501, 502]
    assert "line 503, column 5" in error


def test_what_comes_before_the_damage_is_read_with_any_number_of_threads(write, threads):
    packed = gzip.compress(some_text(4000))
    path = write(packed[: len(packed) // 2], "cut.svm.gz")
    lines, error = until_it_fails(path, chunk_bytes=1000)
    assert lines == list(range(1, len(lines) + 1))
    assert len(lines) > 1000
    assert "byte" in error


def test_many_threads_and_pieces_stay_in_order(write, monkeypatch):
    monkeypatch.setattr(libsvm, "_threads", lambda: 8)
    path = write(some_text(3000))
    for _ in range(5):
        assert until_it_fails(path, chunk_bytes=50) == (list(range(1, 3002)), None)


class NotTodayError(Exception):
    pass


def _to_the_end(path):
    assert list(LibsvmReader(path, chunk_bytes=100))


def _early_break(path):
    for _ in LibsvmReader(path, chunk_bytes=100):
        break


def _consumer_fails(path):
    def use():
        for _ in LibsvmReader(path, chunk_bytes=100):
            raise NotTodayError

    with pytest.raises(NotTodayError):
        use()


def _bad_line(path):
    with pytest.raises(DataError):
        list(LibsvmReader(path, chunk_bytes=100, max_features=2))


@pytest.mark.parametrize("use", [_to_the_end, _early_break, _consumer_fails, _bad_line])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_no_thread_and_no_open_file_stays_behind(write, use, ending, threads):
    packed = gzip.compress(some_text()) if ending else some_text()
    path = write(packed, "rows.svm" + ending)
    running, files = set(threading.enumerate()), open_files()
    use(path)
    assert set(threading.enumerate()) == running
    assert open_files() == files


def test_a_silent_pipe_does_not_keep_a_reader_that_is_done(threads):
    running = threading.active_count()
    with pipe([b"-1 1:1\n"], stays_open=True) as path:
        start = time.perf_counter()
        for _ in LibsvmReader(path):
            break
        assert time.perf_counter() - start < 20  # the pipe stays open for a minute
    assert threading.active_count() == running


MEASURED = """
import lopsided
from lopsided.data.readers.libsvm import LibsvmReader
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if "VmHWM" in line)
model, rows, early = lopsided.COG(), 0, None
for block in LibsvmReader("-"):
    model.partial_fit(block.X, block.y)
    rows += len(block.y)
    if early is None and rows > 20_000:
        early = peak()
print(rows, peak() - early)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_memory_is_flat_however_long_the_stream(tmp_path):
    text, times = some_text(10_000), 100  # about 100 MB
    child = subprocess.Popen(
        [sys.executable, "-c", MEASURED], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    for _ in range(times):
        child.stdin.write(text)
    out, _ = child.communicate()
    rows, grown = map(int, out.split())
    assert rows == times * 10_001
    assert grown < 40_000  # kB


@pytest.mark.parametrize(("allowed", "taken"), [("1", 1), ("3", 3), ("9", 4)])
def test_a_reader_takes_the_threads_that_are_allowed(allowed, taken, monkeypatch):
    monkeypatch.setenv("LOPSIDED_THREADS", allowed)
    assert libsvm._threads() == taken
