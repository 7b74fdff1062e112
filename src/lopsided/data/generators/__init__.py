"""Synthetic streams: the set of the sparse paper, bags of words, and simulated fraud."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..block import Block, Sparse
from ._blocks import Best, Events, SyntheticStream, check_ranges
from ._fraud import Fraud, fraud

__all__ = ["Best", "Events", "Fraud", "SparsePaper", "Zipf", "fraud", "sparse_paper", "zipf"]


class SparsePaper(SyntheticStream):
    """What :func:`sparse_paper` returns: iterate over it for blocks."""

    def __init__(self, rows: int, seed: int, test: bool, block_rows: int) -> None:
        self.rows, self.seed, self.test, self.block_rows = rows, seed, test, block_rows
        self.features, self.effective, self.noisy = 1000, 100, 200
        rng = np.random.default_rng([seed, 0])
        self.mean = rng.uniform(-1, 1, self.effective)
        self.variance = rng.uniform(0.5, 100, self.effective)

    def _draw(self, batch: int, rows: int) -> dict[str, Any]:
        rng = np.random.default_rng([self.seed, 2 if self.test else 1, batch])
        signal = rng.normal(self.mean, np.sqrt(self.variance), (rows, self.effective))
        others = rng.random((rows, self.features - self.effective))
        chosen = np.sort(others.argpartition(self.noisy, axis=1)[:, : self.noisy], axis=1)
        noise = rng.normal(0, 10, (rows, self.noisy))
        always = np.broadcast_to(np.arange(self.effective), signal.shape)
        return {
            "y": np.where(signal @ self.mean >= 0, 1, -1),
            "indices": np.hstack([always, chosen + self.effective]).astype(np.int32),
            "data": np.hstack([signal, noise]),
        }

    def _block(self, columns: dict[str, Any], first: int) -> Block:
        return _sparse_block(columns, first, self.features, "sparse_paper")


class Zipf(SyntheticStream):
    """What :func:`zipf` returns: iterate over it for blocks."""

    def __init__(
        self, rows: int, features: int, nonzeros: int, positive: float, seed: int, block_rows: int
    ) -> None:
        self.rows, self.seed, self.block_rows = rows, seed, block_rows
        self.features, self.nonzeros = features, nonzeros
        self._cut = 0.0
        self._cut = float(np.quantile(self._draw(-1, 4096)["score"], 1 - positive))

    def _draw(self, batch: int, rows: int) -> dict[str, Any]:
        rng = np.random.default_rng([self.seed, batch + 1])
        indices = _words(rng, rows, self.features, self.nonzeros)
        data = rng.uniform(0.2, 1.0, indices.shape)
        data /= np.linalg.norm(data, axis=1, keepdims=True)
        score = (_rule(indices, self.seed) * data).sum(axis=1)
        y = np.where(score > self._cut, 1, -1)
        return {"y": y, "indices": indices, "data": data, "score": score}

    def _block(self, columns: dict[str, Any], first: int) -> Block:
        return _sparse_block(columns, first, self.features, "zipf")


def _words(rng: np.random.Generator, rows: int, features: int, nonzeros: int) -> NDArray[np.int32]:
    """Return distinct words for each row, in order: the first ones of a long text."""
    exponent = 1.05
    draws = 1 - rng.random((rows, 3 * nonzeros)) * (1 - (features + 1.0) ** (1 - exponent))
    text = (draws ** (1 / (1 - exponent)) - 1).astype(np.int32)
    out = np.empty((rows, nonzeros), dtype=np.int32)
    for row, words in zip(out, text, strict=True):
        found, first = np.unique(words, return_index=True)
        kept = found[np.sort(first).searchsorted(first) < nonzeros]
        # very rarely there are too few words: fill up with the rarest ones
        row[:] = kept if len(kept) == nonzeros else np.arange(features - nonzeros, features)
    return out


def _rule(indices: NDArray[np.int32], seed: int) -> NDArray[np.float64]:
    """Return the weight of each feature in the true rule, from -1 to 1, without a table."""
    z = indices.astype(np.uint64) + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return (z >> np.uint64(11)).astype(np.float64) / 2**52 - 1


def _sparse_block(columns: dict[str, Any], first: int, features: int, file: str) -> Block:
    rows, filled = columns["data"].shape
    X = Sparse(
        indptr=np.arange(0, rows * filled + 1, filled, dtype=np.int64),
        indices=columns["indices"].ravel(),
        data=columns["data"].ravel(),
        shape=(rows, features),
    )
    lines = np.arange(first + 1, first + rows + 1)
    return Block(X=X, y=columns["y"], weight=None, lines=lines, file=file)


def zipf(
    rows: int,
    *,
    features: int = 20_000_000,
    nonzeros: int = 100,
    positive: float = 0.01,
    seed: int = 0,
    block_rows: int = 1024,
) -> Zipf:
    """Return unit rows of words: feature k occurs about k ** -1.05 as often as the first.

    The class is the side of a hyperplane with a weight for every feature.

    Parameters
    ----------
    rows : int
        Number of rows.
    features, nonzeros : int
        Size of the vocabulary, and number of distinct words per row.
    positive : float
        Approximate share of positives.
    seed : int
        Seed of the hyperplane and the rows.
    block_rows : int
        Rows per block; it does not change the rows.

    Examples
    --------
    >>> [block.X.shape for block in zipf(1500, features=10_000, nonzeros=20)]
    [(1024, 10000), (476, 10000)]
    """
    check_ranges(
        rows=(rows, 1, 1e12),
        features=(features, 1, 2**31 - 2),
        nonzeros=(nonzeros, 1, features // 4),
        positive=(positive, 1e-3, 0.999),
        seed=(seed, 0, 2**63),
        block_rows=(block_rows, 1, 1e9),
    )
    return Zipf(rows, features, nonzeros, positive, seed, block_rows)


def sparse_paper(
    rows: int | None = None, *, seed: int = 0, test: bool = False, block_rows: int = 1024
) -> SparsePaper:
    """Return the synthetic set of Wang, Wu, Zhao and Hoi, "A framework of sparse online learning".

    1000 features. The first 100 are Gaussian, with means from U(-1, 1) and variances from
    U(0.5, 100); the class is the side of the hyperplane through 0 whose normal is the mean
    vector, so a perfect linear rule exists. In each row 200 of the other 900 features, chosen at
    random, hold noise with mean 0 and variance 100; the remaining 700 are 0.

    Parameters
    ----------
    rows : int, optional
        Default: as in the paper, 100,000 for training and 10,000 for testing.
    seed : int
        Seed of the hyperplane and the rows.
    test : bool
        Generate the test part: the same hyperplane, other rows.
    block_rows : int
        Rows per block; it does not change the rows.

    Examples
    --------
    >>> stream = sparse_paper(2500, block_rows=1000)
    >>> [block.X.shape for block in stream]
    [(1000, 1000), (1000, 1000), (500, 1000)]
    """
    rows = (10_000 if test else 100_000) if rows is None else rows
    check_ranges(rows=(rows, 1, 1e12), block_rows=(block_rows, 1, 1e9), seed=(seed, 0, 2**63))
    return SparsePaper(rows, seed, test, block_rows)
