"""One step of a learner with a full covariance: Sigma x, then Sigma -= u u' / (r + x'u)."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lopsided
from lopsided.data.sets import downloads as cache

from . import data, peers
from .harness import Contender, Group
from .instructions import ROOT, built
from .quality import load

# OpenBLAS does the matrix work alone; ours and NumPy's are the whole step, and score the row.
BLAS = "OpenBLAS dsymv + dsyr from C, alone"
SCIPY = "SciPy dsymv + dsyr alone"
RATE = 1e-9  # so small that every row is within the margin: every row is a step


def groups(quick: bool) -> Iterator[Group]:
    for features in (50, 100, 300, 1000):
        work = 1_000_000 if quick else 10_000_000
        X, y = data.table(max(200, min(20_000, 5 * work // features**2)), features)
        yield _group(f"full covariance, {features} features", X, X, y, goal=1.5)
    if peers.present("scipy"):
        sparse, y = data.categories(2000 if quick else 20_000)
        X = sparse.toarray()
        yield _group("full covariance, 14 of 123 features, CSR", sparse, X, y, goal=1.5)
    if peers.present("scikit-learn") and (found := cache.find("a9a")):
        yield _a9a(*load(found.paths[:1], found.dataset.features))


def _a9a(X: Any, y: NDArray[np.float64]) -> Group:
    """Whole passes over real rows: the larger the steps, the fewer of them."""

    def one_pass(**options: Any) -> Contender:
        model = lopsided.make("ACOG-II", **options)
        steps = lopsided.progressive(model, X, y).updates
        told = ", ".join(f"{name}={value:g}" for name, value in options.items())
        return Contender(f"ACOG-II full, {told}: {steps:,} steps", lambda: model.fit(X, y))

    contenders = [one_pass(learning_rate=rate) for rate in (0.01, 0.1, 1.0)]
    return Group(f"a9a, one pass over {X.shape[0]:,} rows", "ms", contenders)


def _group(
    title: str, rows: Any, X: NDArray[np.float64], y: NDArray[np.int64], goal: float
) -> Group:
    """Time learning from the rows, dense or sparse, against arithmetic on dense ones."""
    model = lopsided.ACOG(covariance="full", scaling="none", class_weight=None, learning_rate=RATE)
    half = lopsided.ACOG(**model.get_params() | {"covariance_dtype": "float32"})
    steps = lopsided.progressive(model, rows, y).updates
    n, features = X.shape
    if steps != n:
        raise RuntimeError(f"{steps} steps on {n} rows: the comparison would not be fair")
    signs = 2.0 * y - 1
    few = max(20, n // 10)
    contenders = [
        Contender("ACOG-II full", lambda: model.fit(rows, y), n, goal=goal),
        Contender("ACOG-II full, float32", lambda: half.fit(rows, y), n),
        Contender("NumPy np.outer", lambda: _numpy(X[:few], signs, _outer()), few, ours=False),
        Contender(
            "NumPy in place", lambda: _numpy(X[:few], signs, _in_place(features)), few, ours=False
        ),
    ]
    if peers.present("scipy"):
        contenders.insert(2, Contender(SCIPY, lambda: _scipy(X), n, ours=False))
    if openblas := _openblas():
        program, library = openblas
        contenders.insert(2, Contender(BLAS, lambda: _blas(program, library, X), n, ours=False))
    note = f"{steps:,} updates a run"
    return Group(title, "µs/update", contenders, BLAS if openblas else SCIPY, note=note)


Subtract = Callable[[NDArray[np.float64], NDArray[np.float64], float], None]


def _outer() -> Subtract:
    def subtract(sigma: NDArray[np.float64], u: NDArray[np.float64], left: float) -> None:
        sigma -= np.outer(u, u) / left

    return subtract


def _in_place(features: int) -> Subtract:
    product = np.empty((features, features))

    def subtract(sigma: NDArray[np.float64], u: NDArray[np.float64], left: float) -> None:
        np.multiply((u / left)[:, None], u, out=product)
        np.subtract(sigma, product, out=sigma)

    return subtract


def _numpy(X: NDArray[np.float64], signs: NDArray[np.float64], subtract: Subtract) -> None:
    features = X.shape[1]
    mean, sigma = np.zeros(features), np.eye(features)
    for x, sign in zip(X, signs, strict=False):
        if sign * (mean @ x) < 1:
            u = sigma @ x
            left = 1 + x @ u
            subtract(sigma, u, left)
            mean += RATE * sign / left * u


@functools.cache
def _openblas() -> tuple[Path, Path] | None:
    """Return the program that calls OpenBLAS and the library of NumPy, where there are both."""
    found = sorted(Path(np.__file__).parents[1].glob("numpy.libs/libscipy_openblas64_*.so"))
    if not (found and shutil.which("cmake") and (ROOT / "CMakeLists.txt").exists()):
        return None
    return built(ROOT / "build" / "bench", "core_blas"), found[0]


def _blas(program: Path, library: Path, X: NDArray[np.float64]) -> float:
    command = [program, library, str(X.shape[1]), str(len(X))]
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=alone)
    return float(done.stdout) * len(X)


def _scipy(X: NDArray[np.float64]) -> None:
    from scipy.linalg.blas import dsymv, dsyr

    sigma = np.asfortranarray(np.eye(X.shape[1]))
    for x in X:
        u = dsymv(1.0, sigma, x, lower=1)
        sigma = dsyr(-1 / (1 + x @ u), u, lower=1, a=sigma, overwrite_a=1)
