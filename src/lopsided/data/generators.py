"""Made-up streams: the synthetic set of the sparse paper, and one that looks like fraud."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._fraud import Fraud, fraud
from ._made import Best, Events, Stream, check_ranges
from .block import Block, Sparse

__all__ = ["Best", "Events", "Fraud", "SparsePaper", "fraud", "sparse_paper"]


class SparsePaper(Stream):
    """What :func:`sparse_paper` returns: iterate it for blocks."""

    def __init__(self, rows: int, seed: int, test: bool, block_rows: int) -> None:
        self.rows, self.seed, self.test, self.block_rows = rows, seed, test, block_rows
        self.features, self.effective, self.noisy = 1000, 100, 200
        rng = np.random.default_rng([seed, 0])
        self.mean = rng.uniform(-1, 1, self.effective)
        self.variance = rng.uniform(0.5, 100, self.effective)

    def _draw(self, piece: int, rows: int) -> dict[str, Any]:
        rng = np.random.default_rng([self.seed, 2 if self.test else 1, piece])
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
        rows, filled = columns["data"].shape
        X = Sparse(
            indptr=np.arange(0, rows * filled + 1, filled, dtype=np.int64),
            indices=columns["indices"].ravel(),
            data=columns["data"].ravel(),
            shape=(rows, self.features),
        )
        lines = np.arange(first + 1, first + rows + 1)
        return Block(X=X, y=columns["y"], weight=None, lines=lines, file="sparse_paper")


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
        By default as in the paper: 100,000 to train, 10,000 to test.
    seed : int
        Fixes the hyperplane and the rows.
    test : bool
        Rows of the test part: the same hyperplane, other rows.
    block_rows : int
        Rows in a block; has no influence on the rows.

    Examples
    --------
    >>> stream = sparse_paper(2500, block_rows=1000)
    >>> [block.X.shape for block in stream]
    [(1000, 1000), (1000, 1000), (500, 1000)]
    """
    rows = (10_000 if test else 100_000) if rows is None else rows
    check_ranges(rows=(rows, 1, 1e12), block_rows=(block_rows, 1, 1e9), seed=(seed, 0, 2**63))
    return SparsePaper(rows, seed, test, block_rows)
