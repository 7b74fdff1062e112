"""Streams of random events, some of them awkward."""

from __future__ import annotations

import importlib

import numpy as np


class Lazy:
    """A module that is imported when something of it is used: most tests need none of these."""

    def __init__(self, name):
        self.name = name

    def __getattr__(self, attribute):
        return getattr(importlib.import_module(self.name), attribute)


pd, pl, sp = map(Lazy, ("pandas", "polars", "scipy.sparse"))


def stream(seed=0, rows=40, d=7, *, density=0.7, quirks=()):
    """Rows X of shape (rows, d) with labels y in {-1, +1}, about a third of them positive.

    quirks : some of "zero rows", "repeats", "zero column", "constant column", "one class first",
        "magnitudes", "offset"
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, d)) * (rng.random((rows, d)) < density)
    if "magnitudes" in quirks:
        X *= 10.0 ** rng.integers(-3, 4, size=d)
    if "offset" in quirks:
        X += rng.normal(size=d)
    if "constant column" in quirks:
        X[:, rng.integers(d)] = 0.1
    if "zero column" in quirks:
        X[:, rng.integers(d)] = 0.0
    if "zero rows" in quirks:
        X[rng.random(rows) < 0.2] = 0.0
    signal = X @ rng.normal(size=d)
    y = np.where(signal + 0.5 * rng.normal(size=rows) > np.quantile(signal, 0.65), 1, -1)
    if "one class first" in quirks:
        y[: rows // 2] = rng.choice([-1, 1])
    if "repeats" in quirks:
        again = rng.random(rows) < 0.3
        X[again] = X[rng.integers(rows, size=rows)][again]
    return X, y


def csr(X, *, index=np.int32):
    """X as a CSR matrix with indices of a given type."""
    matrix = sp.csr_matrix(X)
    matrix.indptr, matrix.indices = matrix.indptr.astype(index), matrix.indices.astype(index)
    return matrix


def events(X):
    """Rows of X as dicts of the non-zero features, which are named f0, f1, ..."""
    return [{f"f{j}": float(row[j]) for j in np.flatnonzero(row)} for row in X]


def growing(seed=0, rows=40):
    """A stream of 7 features; the last 3 first occur half-way, all of them in one row."""
    X, y = stream(seed, rows, 7)
    half = rows // 2
    X[:half, 4:] = 0
    X[half] = [0.5, -1, 2, 1.5, 1, -2, 0.3]
    X[0, :4] = [1.5, 2, -1, 0.5]
    return X, y


def chunks(rows, seed):
    """Slices of random sizes, many of them 1."""
    sizes = np.random.default_rng(seed).choice([1, 1, 2, 5, 11], size=rows)
    ends = np.minimum(np.cumsum(sizes), rows)
    starts = [0, *ends[ends < rows].tolist()]
    return [slice(a, b) for a, b in zip(starts, [*starts[1:], rows], strict=True)]


def parameters(model):
    """Parameters by name; those of a learner within come without a prefix and in its place."""
    given = model.get_params()
    inner = {k: v for k, v in given.items() if k.startswith("learner__")}
    if inner:
        del given["learner"]
    return {k.removeprefix("learner__"): v for k, v in given.items()}


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def strided(array):
    wide = np.full((2 * len(array), 3 * array.shape[1]), np.nan)
    wide[::2, 1::3] = array
    return wide[::2, 1::3]


def unsorted(array):
    matrix = csr(array)
    for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        matrix.indices[a:b], matrix.data[a:b] = matrix.indices[a:b][::-1], matrix.data[a:b][::-1]
    matrix.has_sorted_indices = False
    return matrix


def halves(array):
    """Every value as two entries of one column."""
    m = unsorted(array)
    parts = np.repeat(m.data / 2, 2), np.repeat(m.indices, 2), m.indptr * 2
    return sp.csr_matrix(parts, shape=m.shape)


# The same rows in other forms, for arrays of 7 columns.
DENSE = {
    "Fortran": np.asfortranarray,
    "float32": lambda a: a.astype(np.float32),
    "strided": strided,
    "negative strides": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "big-endian": lambda a: a.astype(">f8"),
    "list": lambda a: a.tolist(),
    "pandas": lambda a: pd.DataFrame(a, columns=list("abcdefg")),
    "pandas float32": lambda a: pd.DataFrame(a.astype(np.float32), columns=list("abcdefg")),
    "pandas unnamed": lambda a: pd.DataFrame(a),
    "polars": lambda a: pl.DataFrame(a, schema=list("abcdefg")),
}
SPARSE = {
    "int64": lambda a: csr(a, index=np.int64),
    "float32": lambda a: csr(a).astype(np.float32),
    "array": lambda a: sp.csr_array(a),
    "CSC": lambda a: sp.csc_matrix(a),
    "COO": lambda a: sp.coo_array(a),
    "unsorted": unsorted,
    "duplicates": halves,
}
