"""Rows with their labels, read and checked once for several passes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.block import Dense
from ..estimator.batch import (
    Batch,
    as_batch,
    as_weights,
    is_events,
    unmasked,
)
from ..estimator.frames import as_frame, frame_array
from ..estimator.labels import Labels, as_labels


@dataclasses.dataclass(frozen=True)
class LabelledRows:
    """Rows with their labels.

    Attributes
    ----------
    X : Batch or list of dicts
        The rows as models learn from them.
    sliceable : array, Dense, Sparse or list of dicts
        The same rows in a form that can be indexed by row.
    y : array
        The labels as given.
    weights : array or None
        One weight per row.
    codes : array
        +1 for positive rows and -1 for negative ones.
    labels : Labels
        Which label is positive.
    """

    X: Any
    sliceable: Any
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    codes: NDArray[np.int8]
    labels: Labels


def read_rows(X: Any, y: Any, weights: Any, labels: Labels) -> tuple[Any, ...]:
    """Validate rows, labels and weights; return the fields of LabelledRows."""
    if isinstance(X, tuple) and is_events(X):
        X = list(X)
    X = as_frame(X)
    rows = X if is_events(X) else as_batch(X)
    size = rows.rows.size if isinstance(rows, Batch) else len(rows)
    array = as_labels(y, size)
    labels, codes = labels.read(array)
    return rows, _sliceable(X), array, as_weights(weights, size), codes, labels


def _sliceable(X: Any) -> Any:
    """Return the rows in a form in which selecting some of them is cheap."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        array, names, _ = frame_array(X)
        return array if names is None else Dense(array, names)
    if is_events(X) or hasattr(X, "indptr") or hasattr(X, "names"):
        return X
    return unmasked(X, "X")
