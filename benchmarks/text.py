"""LIBSVM text to a trained model: time against wc and scikit-learn, memory of an endless stream."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

import lopsided
from lopsided import _core
from lopsided.data.block import Block
from lopsided.data.readers.libsvm import LibsvmReader
from lopsided.data.readers.row_cache import RowCacheReader, write_row_cache

from . import data, peers
from .csr import one_pass_sgd
from .harness import Contender, Group

BYTEWISE, OURS, TOGETHER, CACHE = (
    "byte by byte, one processor",
    "AVX2, one processor",
    "AVX2, all processors",
    "cache, one processor",
)
COUNT, SKLEARN = "wc -w", "load_svmlight_file + SGDClassifier"

# VmHWM is the peak of this process image; ru_maxrss would remember the parent's.
STREAMED = """
from lopsided import COG
from lopsided.data.libsvm import LibsvmReader
model = COG()
for block in LibsvmReader("-"):
    model.partial_fit(block.X, block.y)
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if "VmHWM" in line)
print(1024.0 * peak)
"""


def groups(quick: bool) -> Iterator[Group]:
    text = _text(2000 if quick else 20_000)
    with tempfile.TemporaryDirectory() as folder:
        yield from _speed(text, 8, folder)
    if Path("/proc/self/status").exists():
        yield _memory(text, (10, 100) if quick else (50, 1000))


def _text(rows: int) -> bytes:
    X, y = data.zipf(rows)
    values = [f"{v:.6f}" for v in X.data.tolist()]
    pairs = [f"{j + 1}:{v}" for j, v in zip(X.indices.tolist(), values, strict=True)]
    lines = zip(y.tolist(), X.indptr[:-1], X.indptr[1:], strict=True)
    return "".join(f"{label} {' '.join(pairs[a:b])}\n" for label, a, b in lines).encode()


def _speed(text: bytes, times: int, folder: str) -> Iterator[Group]:
    path = f"{folder}/rows.svm"
    Path(path).write_bytes(text * times)
    write_row_cache(path, f"{path}.lopc")
    rows, size = times * text.count(b"\n"), times * len(text) / 1e6
    title = f"LIBSVM text to model, {size:.0f} MB, 75 pairs a row"
    note = "wall time; with all processors the work is that of several threads"

    def ours(name: str, goal: float | None, work: Callable[[], object]) -> Contender:
        return Contender(name, timed(work), rows, goal=goal)

    if shutil.which("wc"):
        contenders = [
            ours(BYTEWISE, 2.5, lambda: alone(lambda: _learn(_Bytewise(path)))),
            ours(OURS, 4.5, lambda: alone(lambda: _learn(LibsvmReader(path)))),
            ours(TOGETHER, 7.5, lambda: _learn(LibsvmReader(path))),
            ours(CACHE, 9, lambda: alone(lambda: _learn(RowCacheReader(f"{path}.lopc")))),
            Contender(COUNT, timed(lambda: _count(path)), rows, ours=False),
        ]
        yield Group(title, "ns/row", contenders, COUNT, note)
    if peers.present("scikit-learn"):
        contenders = [
            ours(TOGETHER, 25, lambda: _learn(LibsvmReader(path))),
            Contender(SKLEARN, timed(lambda: _learn_sklearn(path)), rows, ours=False),
        ]
        yield Group(title, "ns/row", contenders, SKLEARN, note)
    contenders = [
        ours("text with AVX2", None, lambda: alone(lambda: _read(LibsvmReader(path)))),
        ours("text byte by byte", None, lambda: alone(lambda: _read(_Bytewise(path)))),
        ours("cache", None, lambda: alone(lambda: _read(RowCacheReader(f"{path}.lopc")))),
    ]
    title = f"reading alone, one processor, {size:.0f} MB, 75 pairs a row"
    yield Group(title, "ns/row", contenders, "text byte by byte")


class _Bytewise(LibsvmReader):
    """As on a machine without AVX2."""

    def _read(self, piece: memoryview, base: int, limit: int) -> _core.LibsvmBlock:
        return _core.parse_libsvm(piece, 1, base, limit, True, 0, bytewise=True)


def alone(work: Callable[[], object]) -> None:
    """Work on a single processor."""
    if not hasattr(os, "sched_setaffinity"):
        return
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(all_of_them)})
    try:
        work()
    finally:
        os.sched_setaffinity(0, all_of_them)


def _read(reader: Iterable[Block]) -> int:
    return sum(len(block.lines) for block in reader)


def timed(work: Callable[[], object]) -> Callable[[], float]:
    """Wall time: the work is that of several threads, or of another process."""

    def run() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return run


def _learn(reader: Iterable[Block]) -> None:
    model = lopsided.COG()
    for block in reader:
        model.partial_fit(block.X, block.y)


def _count(path: str) -> None:
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    subprocess.run(["wc", "-w", path], check=True, stdout=subprocess.DEVNULL, env=environment)


def _learn_sklearn(path: str) -> None:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(path)
    X.indices, X.indptr = (part.astype(np.int32) for part in (X.indices, X.indptr))  # it insists
    one_pass_sgd().partial_fit(X, y, [0, 1])


def _memory(text: bytes, sizes: tuple[int, int]) -> Group:
    names = [f"a stream of {size:,} MB" for size in sizes]
    contenders = [
        Contender(name, lambda size=size: _peak(text, 1_000_000 * size), goal=goal)
        for name, size, goal in zip(names, sizes, (None, 0.9), strict=True)
    ]
    note = "the whole process, libraries included; flat if the ratio is 1"
    return Group("memory of learning from a pipe", "MB", contenders, names[0], note)


def _peak(text: bytes, size: int) -> float:
    child = subprocess.Popen(
        [sys.executable, "-c", STREAMED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/"
    )
    assert child.stdin is not None

    def feed() -> None:
        for _ in range(-(-size // len(text))):
            child.stdin.write(text)
        child.stdin.close()

    feeding = threading.Thread(target=feed)
    feeding.start()
    assert child.stdout is not None
    printed = child.stdout.read()
    feeding.join()
    if child.wait() != 0:
        raise RuntimeError("the reader of the stream failed")
    return float(printed)
