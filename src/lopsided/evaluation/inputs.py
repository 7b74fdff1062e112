"""What is watched of the inputs of a stream: numbers, missing values, features never met before."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.block import Dense, Sparse
from ..estimator.batch import is_events, some_rows
from ..estimator.expected import MISSING

_MOST = 64  # columns of numbers and of missing values: the first ones
_FAR_BITS = 24
_FAR = 1 << _FAR_BITS  # columns from which on nobody counts whether a feature is new
_MISSING = f"={MISSING}"
NEW = "share of features never met before"


class Inputs:
    """Turns rows into series whose means are worth watching.

    Of tables and events the first 64 columns of numbers and of missing values, and of sparse rows
    and events how many of the features of an event were never met before. Features of events are
    known by a hash of 24 bits.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._columns: list[int] = []  # -1: features never met before
        self._looked = 0  # names of the table so far
        self._met = np.zeros(0, bool)

    def values(self, X: Any, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the series of some rows, a column for each of `names`."""
        if isinstance(X, Dense):
            self._look(X.names)
            return np.asarray(X.array[rows][:, self._columns], np.float64)
        if isinstance(X, (_core.LibsvmBlock, _core.PackedBlock)):
            indptr, indices, data = X.csr()
            X = Sparse(indptr, indices, data, (len(indptr) - 1, X.columns))
        if not isinstance(X, Sparse) and not is_events(X):
            return np.zeros((len(rows), len(self.names)))
        if NEW not in self.names:
            self.names.append(NEW)
            self._columns.append(-1)
        if is_events(X):
            return self._of_events([X[row] for row in rows.tolist()])
        self._look(X.names or [])
        return self._of_sparse(X if len(rows) == X.shape[0] else some_rows(X, rows), len(rows))

    def _look(self, names: list[str]) -> None:
        """Find the columns to watch among those that are new."""
        for column in range(self._looked, len(names)):
            name = names[column]
            if len(self.names) < _MOST and ("=" not in name or name.endswith(_MISSING)):
                empty = name.endswith(_MISSING)
                bare = name.removesuffix(_MISSING)
                self.names.append(f"share of missing {bare}" if empty else f"mean of {bare}")
                self._columns.append(column)
        self._looked = max(self._looked, len(names))

    def _of_sparse(self, X: Sparse, rows: int) -> NDArray[np.float64]:
        out = np.zeros((rows, len(self.names)))
        counts = np.diff(X.indptr)
        row = np.repeat(np.arange(rows), counts)
        indices = np.asarray(X.indices)
        watched = np.array(self._columns)
        order = np.argsort(watched)
        at = np.searchsorted(watched, indices, sorter=order)
        at = order[np.minimum(at, len(order) - 1)]
        known = watched[at] == indices
        out[row[known], at[known]] = np.asarray(X.data, np.float64)[known]
        self._count_new(indices, row, out[:, self.names.index(NEW)])
        out[:, self.names.index(NEW)] /= np.maximum(counts, 1)
        return out

    def _of_events(self, events: list[dict[str, Any]]) -> NDArray[np.float64]:
        places = {name: k for k, name in enumerate(self.names)}
        found: list[tuple[int, int, float]] = []
        hashes, row = [], []
        for i, event in enumerate(events):
            for name, value in event.items():
                text, bare = value.__class__ is str, name.removesuffix(_MISSING)
                empty = value == MISSING or bare != name
                series = f"share of missing {bare}" if empty else f"mean of {name}"
                if empty or not text:
                    if series not in places and len(places) < _MOST:
                        places[series] = len(places)
                    if series in places:
                        found.append((i, places[series], 1.0 if text else float(value)))
                hashes.append(_core.hash_name(f"{name}={value}" if text else name, _FAR_BITS))
                row.append(i)
        self.names, known = list(places), len(self.names)
        self._columns += [-2] * (len(places) - known)
        out = np.zeros((len(events), len(self.names)))
        for i, k, number in found:
            out[i, k] = number
        new = out[:, self.names.index(NEW)]
        self._count_new(np.array(hashes, np.int64), np.array(row, np.int64), new)
        new /= np.maximum(np.bincount(row, minlength=len(events)), 1)
        return out

    def _count_new(
        self, indices: NDArray[Any], row: NDArray[np.int64], out: NDArray[np.float64]
    ) -> None:
        """Add the features of each row that are met for the first time, up to column 2^24."""
        near = np.flatnonzero(indices < _FAR)
        indices, row = indices[near], row[near]
        wide = int(indices.max(initial=-1)) + 1
        if wide > len(self._met):
            self._met = np.pad(self._met, (0, max(wide, 2 * len(self._met)) - len(self._met)))
        fresh = np.flatnonzero(~self._met[indices])
        if len(fresh):
            columns, first = np.unique(indices[fresh], return_index=True)
            self._met[columns] = True
            np.add.at(out, row[fresh[first]], 1.0)

    def state(self) -> dict[str, Any]:
        """Return what a resumed run needs."""
        return {
            "names": self.names,
            "columns": self._columns,
            "looked": self._looked,
            "met": np.packbits(self._met).tobytes(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self.names, self._columns = list(state["names"]), list(state["columns"])
        self._looked = state["looked"]
        self._met = np.unpackbits(np.frombuffer(state["met"], np.uint8)).astype(bool)
