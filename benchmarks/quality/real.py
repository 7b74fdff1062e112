"""Real data sets as streams: in time order where there is one, else in one fixed order."""

from __future__ import annotations

import lzma
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lopsided.data.sets import downloads as cache
from lopsided.data.sets import registry
from lopsided.papers import sets

from .files import IN_TIME, folders
from .streams import Matrix, Prices, Stream

ROWS = 100_000  # at most
_ORDER = 20_260_101  # seed of the fixed order

# One rare class of a set with several, as the positive one.
RARE = {
    "covtype_c4": ("covtype", ("4",)),
    "nslkdd20_r2l": (
        "nslkdd20",
        (
            *("ftp_write", "guess_passwd", "httptunnel", "imap", "multihop", "named", "phf"),
            *("sendmail", "snmpgetattack", "snmpguess", "spy", "warezclient", "warezmaster"),
            *("worm", "xlock", "xsnoop"),
        ),
    ),
}


def names() -> list[str]:
    """Return the sets that are on this machine."""
    found = [name for name in registry.names() if _found(name) is not None]
    return found + [name for name, (whole, _) in RARE.items() if whole in found]


def load(name: str, rows: int | None = None) -> Stream:
    """Return a data set as a stream."""
    whole, classes = RARE.get(name, (name, ()))
    if _found(whole) is None:
        raise SystemExit(f"{name} is not on this machine: set LOPSIDED_DATA")
    read = sets.load(whole, [str(folder) for folder in folders()])
    y = read.y > 0
    if classes:
        y = np.isin(_classes(whole), classes)
    X = _csr(read.X)
    order = np.arange(len(y))
    if name not in IN_TIME:
        order = np.random.default_rng(_ORDER).permutation(len(y))
    order = order[: min(ROWS, rows or ROWS)]
    X = X[order]
    own = {}
    if name == "creditcard":  # its last column is the amount
        own["per event"] = Prices(np.asarray(X[:, -1].todense()).ravel(), 3.0)
    return Stream(name=name, rows=Matrix(X), y=y[order], own=own)


def _found(name: str) -> cache.Found | None:
    found = cache.find(name, folders())
    return found if found is not None and found.kind == "prepared" else None


def _classes(name: str) -> NDArray[Any]:
    """Return the original class of each row, from the files beside the prepared ones."""
    found = _found(name)
    assert found is not None
    parts = []
    for path in found.paths:
        with lzma.open(str(path).replace(".libsvm", ".classes.txt"), "rt") as lines:
            parts += [line.strip() for line in lines]
    return np.array(parts)


def _csr(X: Any) -> Any:
    if isinstance(X, np.ndarray):
        made = sparse.csr_matrix(X)
    else:
        made = sparse.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)
    made.indices, made.indptr = made.indices.astype(np.int32), made.indptr.astype(np.int32)
    return made
