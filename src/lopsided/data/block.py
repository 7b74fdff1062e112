"""What readers produce: blocks of rows, and errors with their location."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError

_SHOWN = 60  # characters of an offending text


@dataclasses.dataclass
class BadLines:
    """Bad lines: up to `allowed` are left out and recorded, one more is an error."""

    allowed: int = 0
    found: list[DataError] = dataclasses.field(default_factory=list)

    def add(self, error: DataError) -> None:
        """Record a bad line, or raise its error when no more are allowed."""
        if len(self.found) >= self.allowed:
            raise error
        self.found.append(error)


@dataclasses.dataclass
class Dense:
    """A dense array of rows with a name for each column."""

    array: NDArray[np.float64]
    names: list[str]


@dataclasses.dataclass
class Sparse:
    """Rows in CSR form, optionally with named columns; `hashed` columns are hashes of names."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    data: NDArray[Any]
    shape: tuple[int, int]
    names: list[str] | None = None
    hashed: bool = False


@dataclasses.dataclass
class Block:
    """Consecutive rows of a stream.

    Attributes
    ----------
    X : array, Dense, Sparse or list of dicts
        The rows, as estimators take them.
    y : array or None
        Their labels, as in the data.
    weight : array or None
        Their weights.
    lines : array
        The line or row of each in its file, from 1.
    file : str
        The file.
    time : array or None
        When each happened, in seconds since 1970.
    kept : dict
        Cells of other columns, as texts by the name of their column, for the results.
    label_time : array or None
        When the label of each was known, in seconds since 1970; NaN for never.
    """

    X: Any
    y: NDArray[Any] | None
    weight: NDArray[np.float64] | None
    lines: NDArray[np.int64]
    file: str
    time: NDArray[np.float64] | None = None
    kept: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    label_time: NDArray[np.float64] | None = None
