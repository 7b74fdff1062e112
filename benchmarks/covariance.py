"""One step of a learner with a full covariance: Sigma x, then Sigma -= u u' / (r + x'u)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

import lopsided

from . import data, peers
from .harness import Contender, Group

# SciPy's two calls are the matrix work alone; ours and NumPy's do the whole step and score the row.
BLAS = "SciPy dsymv + dsyr alone"
RATE = 1e-9  # so small that every row is within the margin: every row is a step


def groups(quick: bool) -> Iterator[Group]:
    for features in (50, 100, 300, 1000):
        work = 1_000_000 if quick else 10_000_000
        yield _group(features, rows=max(200, min(20_000, 5 * work // features**2)))


def _group(features: int, rows: int) -> Group:
    X, y = data.table(rows, features)
    model = lopsided.ACOG(covariance="full", scaling="none", class_weight=None, learning_rate=RATE)
    steps = lopsided.progressive(model, X, y).updates
    if steps != rows:
        raise RuntimeError(f"{steps} steps on {rows} rows: the comparison would not be fair")
    signs = 2.0 * y - 1
    few = max(20, rows // 10)
    contenders = [
        Contender("ACOG-II full", lambda: model.fit(X, y), rows, goal=1),
        Contender("NumPy np.outer", lambda: _numpy(X[:few], signs, _outer()), few, ours=False),
        Contender(
            "NumPy in place", lambda: _numpy(X[:few], signs, _in_place(features)), few, ours=False
        ),
    ]
    if peers.present("scipy"):
        contenders.insert(1, Contender(BLAS, lambda: _blas(X), rows, ours=False))
    title = f"full covariance, {features} features"
    return Group(title, "µs/update", contenders, BLAS, note=f"{steps:,} updates a run")


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


def _blas(X: NDArray[np.float64]) -> None:
    from scipy.linalg.blas import dsymv, dsyr

    sigma = np.asfortranarray(np.eye(X.shape[1]))
    for x in X:
        u = dsymv(1.0, sigma, x, lower=1)
        sigma = dsyr(-1 / (1 + x @ u), u, lower=1, a=sigma, overwrite_a=1)
