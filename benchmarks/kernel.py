"""One step of KOIL with full lists, every row a step: kernels, neighbours, weights, scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import lopsided

from . import data
from .harness import Contender, Group

NUMPY = "NumPy"
C, RATE = 1.0, 0.01


def groups(quick: bool) -> Iterator[Group]:
    for features in (20, 300):
        yield _against_numpy(features, 100, steps=200 if quick else 1000)
    yield _sizes(steps=500 if quick else 2000)
    yield _sparse(steps=200 if quick else 1000)


def _rows(rows: int, features: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return rows whose labels are a coin's: nearly all are nearer than 1 to the other class."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, features)), rng.random(rows) < 0.5


def _filled(X, y, size: int, gamma: float, neighbors: int | None = None) -> lopsided.KOIL:
    model = lopsided.KOIL(
        policy="fifo++",
        gamma=gamma,
        buffer_size=size,
        n_neighbors=neighbors,
        C=C,
        scaling="none",
    )
    model.fit(X, y)
    if model.n_support_ != (size, size):
        raise RuntimeError(f"lists of {model.n_support_}, not of {size}: not what is to be timed")
    return model


def _against_numpy(features: int, size: int, steps: int) -> Group:
    X, y = _rows(8 * size + steps, features)
    first, rest = slice(8 * size), slice(8 * size, None)
    ours = _filled(X[first], y[first], size, 1 / features)
    theirs = Koil(X[first], y[first], size, 1 / features)
    for model in (ours, theirs):
        model.partial_fit(X[rest], y[rest])
    np.testing.assert_allclose(ours.decision_function(X[:5]), theirs.scores(X[:5]), atol=1e-9)
    contenders = [
        Contender("KOIL-FIFO++", lambda: ours.partial_fit(X[rest], y[rest]), steps, goal=10),
        Contender(NUMPY, lambda: theirs.partial_fit(X[rest], y[rest]), steps, ours=False),
    ]
    title = f"KOIL, {size} + {size} rows of {features} features"
    return Group(title, "µs/update", contenders, NUMPY)


def _sizes(steps: int) -> Group:
    contenders = []
    for size in (50, 100, 200, 400):
        X, y = _rows(8 * size + steps, 20)
        model = _filled(X[: 8 * size], y[: 8 * size], size, 1 / 20, neighbors=10)
        run = lambda m=model, a=X[8 * size :], b=y[8 * size :]: m.partial_fit(a, b)  # noqa: E731
        contenders.append(Contender(f"{size} + {size} rows", run, steps))
    return Group("KOIL, 20 features, 10 neighbours", "µs/update", contenders, "100 + 100 rows")


def _sparse(steps: int) -> Group:
    X, _ = data.zipf(1000 + steps, 100_000)
    y = np.random.default_rng(0).random(1000 + steps) < 0.5
    model = _filled(X[:1000], y[:1000], 100, 0.01)
    run = lambda: model.partial_fit(X[1000:], y[1000:])  # noqa: E731
    title = "KOIL, 100 + 100 rows of 75 of 100,000 features"
    return Group(title, "µs/update", [Contender("KOIL-FIFO++, CSR", run, steps)])


class Koil:
    """The same in NumPy, with the kernels between rows remembered: list 0, then list 1."""

    def __init__(self, X, y, size: int, gamma: float) -> None:
        self.size, self.gamma = size, gamma
        self.rows = np.zeros((2 * size, X.shape[1]))
        self.weights, self.gram = np.zeros(2 * size), np.zeros((2 * size, 2 * size))
        self.filled, self.oldest = [0, 0], [0, 0]
        self.partial_fit(X, y)

    def kernels(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.exp(-self.gamma * ((self.rows - x) ** 2).sum(axis=1))

    def scores(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([self.kernels(x) @ self.weights for x in X])

    def partial_fit(self, X: NDArray[np.float64], y: NDArray[np.bool_]) -> None:
        for x, positive in zip(X, y.tolist(), strict=True):
            self.step(x, int(positive))

    def step(self, x: NDArray[np.float64], own: int) -> None:
        sign, other = 2 * own - 1, 1 - own
        first = other * self.size
        others = slice(first, first + self.filled[other])
        row = self.kernels(x)
        score = row @ self.weights
        losses = 1 - sign * (score - self.gram[others] @ self.weights)
        near = np.argsort(-row[others], kind="stable")[: -(-self.size // 10)]
        near = first + near[losses[near] > 0]
        self.weights *= 1 - RATE
        weight = RATE * C * sign
        if self.filled[other] and (self.filled[own] or len(near)):
            self.weights[near] -= weight
            weight *= len(near)
        if weight == 0:
            return
        mine = own * self.size
        if self.filled[own] < self.size:
            slot, dropped = mine + self.filled[own], None
            self.filled[own] += 1
        else:
            slot = mine + self.oldest[own]
            self.oldest[own] = (self.oldest[own] + 1) % self.size
            dropped = self.weights[slot], self.gram[slot, mine : mine + self.size].copy(), row[slot]
        row[slot] = 1.0
        self.rows[slot], self.weights[slot] = x, weight
        self.gram[slot] = self.gram[:, slot] = row
        if dropped is not None:
            left, likeness, to_new = dropped
            likeness[slot - mine] = to_new
            self.weights[mine + np.argmax(likeness)] += left
