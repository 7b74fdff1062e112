"""The directions of a sketch: those a user gives and those a model has found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, ParameterError
from ..estimator import state as entry


def check_directions(directions: Any, size: int) -> None:
    """Raise unless these are `size` orthonormal rows."""
    try:
        rows = np.asarray(directions, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            "directions", "must be an array of numbers, one direction a row"
        ) from None
    if rows.ndim != 2 or len(rows) != size:
        raise ParameterError(
            "directions",
            f"has shape {rows.shape}; it must have sketch_size={size} rows and a column "
            "for each feature",
        )
    if not np.allclose(rows @ rows.T, np.eye(size), rtol=0, atol=1e-9):
        raise InputError(
            "the rows of directions are not orthonormal: for example np.linalg.qr(rows.T)[0].T is"
        )


def sketched_directions(state: dict[str, Any], columns: int) -> NDArray[np.float64]:
    """Return the directions in the state of a model, one a row."""
    size = len(state[entry.SKETCH_ENERGY])
    if entry.SKETCH_BASIS not in state:
        return np.stack([state[entry.SKETCH_DIRECTION.format(i)] for i in range(size)])
    basis = np.reshape(state[entry.SKETCH_BASIS], (size, size))
    out = np.zeros((size, columns))
    out[:, state[entry.SKETCH]] = basis @ state[entry.SKETCH_VALUES][:, 1 : 1 + size].T
    return out
