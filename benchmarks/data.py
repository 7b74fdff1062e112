"""The streams of the benchmarks, made on the spot."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import peers

NOISE = 0.05  # of the positives are negatives in truth, and as many the other way round


def zipf(rows: int, features: int = 100_000, nonzeros: int = 75) -> tuple[Any, NDArray[np.int64]]:
    """Unit rows of words: feature k occurs about k ** -1.05 as often as the first; 1 % positive."""
    rng = np.random.default_rng(1)
    indices = np.concatenate(
        [_words(rng, min(5000, rows - k), features, nonzeros) for k in range(0, rows, 5000)]
    )
    values = rng.uniform(0.2, 1.0, size=indices.shape)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    rule = rng.normal(size=features)
    return _csr(indices, values, features), _labels(rng, (rule[indices] * values).sum(axis=1), 0.01)


def categories(rows: int, columns: int = 14, features: int = 123) -> tuple[Any, NDArray[np.int64]]:
    """Rows like adult's: one of about nine values in each of 14 columns, as ones; 24 % positive."""
    rng = np.random.default_rng(2)
    bounds = np.linspace(0, features, columns + 1).astype(int)
    share = rng.beta(1, 2, size=(rows, columns))
    indices = (bounds[:-1] + share * np.diff(bounds)).astype(np.int32)
    rule = rng.normal(size=features)
    y = _labels(rng, rule[indices].sum(axis=1), 0.24)
    return _csr(indices, np.ones(indices.shape), features), y


def table(rows: int, features: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A dense table of standard columns, 5 % positive."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, features))
    return X, _labels(rng, X @ rng.normal(size=features), 0.05)


def events(count: int, features: int = 30) -> list[tuple[dict[str, float], int]]:
    """Events of named features."""
    X, y = table(count, features)
    names = [f"feature_{j:02}" for j in range(features)]
    return [
        (dict(zip(names, row, strict=True)), label)
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]


def _words(
    rng: np.random.Generator, rows: int, features: int, nonzeros: int, exponent: float = 1.05
) -> NDArray[np.int32]:
    """Return different words in each row, sorted: the first ones of a long text."""
    draws = rng.random((rows, 3 * nonzeros))
    flat = 1 - draws * (1 - (features + 1.0) ** (1 - exponent))
    text = (flat ** (1 / (1 - exponent)) - 1).astype(np.int32)
    order = np.argsort(text, axis=1, kind="stable")
    ranked = np.take_along_axis(text, order, axis=1)
    new = np.ones(text.shape, dtype=bool)
    np.put_along_axis(new, order[:, 1:], ranked[:, 1:] != ranked[:, :-1], axis=1)
    first = new & (new.cumsum(axis=1) <= nonzeros)
    short = first.sum(axis=1) < nonzeros  # hardly ever: then the rarest words
    text[short] = features - 1 - np.arange(3 * nonzeros)
    first[short] = np.arange(3 * nonzeros) < nonzeros
    return np.sort(text[first].reshape(rows, nonzeros), axis=1)


def _labels(
    rng: np.random.Generator, scores: NDArray[np.float64], positive: float
) -> NDArray[np.int64]:
    y = (scores > np.quantile(scores, 1 - positive)).astype(np.int64)
    wrong = round(NOISE * int(y.sum()))
    flipped = [rng.choice(np.flatnonzero(y == label), wrong, replace=False) for label in (0, 1)]
    y[np.concatenate(flipped)] ^= 1
    return y


def _csr(indices: NDArray[np.int32], values: NDArray[np.float64], features: int) -> Any:
    rows, nonzeros = indices.shape
    starts = np.arange(rows + 1, dtype=np.int32) * np.int32(nonzeros)
    parts = values.ravel(), indices.ravel().astype(np.int32), starts
    if peers.present("scipy"):
        from scipy.sparse import csr_matrix

        return csr_matrix(parts, shape=(rows, features))
    return SimpleNamespace(data=parts[0], indices=parts[1], indptr=parts[2], shape=(rows, features))
