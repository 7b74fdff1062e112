"""Sparse learners: one pass over a CSR matrix in memory, and memory with 20 million features."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lopsided

from . import csr, data, peers
from .fresh import number_printed_by
from .harness import Contender, Group

SGD = "SGDClassifier, l1"
LEARNERS = ("FSOL", "RDA", "FOBOS", "STG", "Ada-RDA", "Ada-FOBOS", "SSOL", "CS-FSOL", "CS-SSOL")

# A stream made on the spot, in a process of its own; the figure is the peak of the whole process.
LARGE = """
import lopsided
from lopsided.data.generators import zipf
model = lopsided.make("{name}")
for block in zipf({rows}, block_rows=8192):
    model.partial_fit(block.X, block.y)
{more}
print(1024.0 * next(int(line.split()[1]) for line in open("/proc/self/status") if "VmHWM" in line))
"""

# Every feature once more, so that none is left out.
ALL = """
import numpy as np
from scipy.sparse import csr_matrix
y = 2 * (np.arange(2000) % 2) - 1
for first in range(0, 20_000_000, 200_000):
    features = np.arange(first, first + 200_000, dtype=np.int32)
    rows = np.full(200_000, 0.1), features, np.arange(0, 200_001, 100, dtype=np.int32)
    model.partial_fit(csr_matrix(rows, shape=(2000, 20_000_000)), y)
"""


def groups(quick: bool) -> Iterator[Group]:
    rows = 50_000 if quick else 200_000
    X, y = data.zipf(rows)
    contenders = [_ours(name, X, y) for name in LEARNERS]
    if peers.present("scikit-learn"):
        contenders.insert(1, _sgd(X, y))
    if peers.present("vowpalwabbit"):
        contenders += [
            csr.vowpal(X, y, "--l1 1e-6 --loss_function hinge"),
            csr.vowpal(X, y, "--ftrl --ftrl_alpha 0.1 --l1 1e-6 --loss_function hinge"),
        ]
    title = f"sparse learners, CSR pass, {rows:,} rows of 75 of 100,000 features"
    yield Group(title, "ns/row", contenders, SGD)
    if Path("/proc/self/status").exists():
        rows = 20_000 if quick else 300_000
        title = f"memory, {rows:,} rows of 100 of 20,000,000 features"
        names = ("FSOL", "FOBOS", "Ada-FOBOS", "SSOL")
        yield Group(title, "MB", [_large(name, rows) for name in names])
        if peers.present("scipy"):
            title = "memory, each of 20,000,000 features met"
            yield Group(title, "MB", [_large(name, 20_000, ALL) for name in names])


def _ours(name: str, X: Any, y: Any) -> Contender:
    model = lopsided.make(name, scaling="none")
    goal = 2.5 if name in ("FSOL", "RDA") else None
    return Contender(name, lambda: model.fit(X, y), X.shape[0], goal=goal)


def _sgd(X: Any, y: Any) -> Contender:
    sgd = csr.one_pass_sgd().set_params(penalty="l1", alpha=1e-5)
    return Contender(SGD, lambda: sgd.fit(X, y), X.shape[0], ours=False)


def _large(name: str, rows: int, more: str = "") -> Contender:
    code = LARGE.format(name=name, rows=rows, more=more)
    return Contender(name, lambda: number_printed_by(code))
