"""From what users hold (arrays, sparse matrices, data frames) to rows of the core."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import (
    BadRowError,
    DivergedError,
    InputError,
    InputTypeError,
    Parameter,
    ParameterError,
)
from .frames import FrameEvents, as_table, frame_array, is_frame
from .schema import Schema

MAX_FEATURES = 2**31 - 2


class Batch(NamedTuple):
    """Rows with the names of their columns, if they have any.

    `form` is "dense", "sparse" (columns by number) or "event" (sparse, columns by name); rows of an
    open batch may lack columns the model knows or have some it does not. `frame` is the schema of
    the data frame that they come from.
    """

    rows: _core.Rows
    names: list[str] | None
    form: str
    open: bool = False
    hashed: bool = False
    frame: Schema | None = None


class CheckedEvent(dict[str, Any]):
    """A row of a reader as an event: checked, and with categories as features of their own."""


class CheckedEvents(list[dict[str, Any]]):
    """Events that a reader has held against the schema of the model."""


def is_events(X: Any) -> bool:
    """Say whether X is a list of dicts."""
    return isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], dict)


def as_batch(X: Any, known: int = 0) -> Batch:
    """Look at X as rows. Arrays of float64 or float32 and CSR matrices are not copied.

    Only the indices of a CSR matrix are, if there are other threads.
    """
    if isinstance(X, Batch):
        return X
    if isinstance(X, (_core.LibsvmBlock, _core.PackedBlock)):
        return Batch(X.rows(known), None, "sparse", open=True)
    if hasattr(X, "tocsr") or (hasattr(X, "indptr") and hasattr(X, "indices")):
        names, hashed = getattr(X, "names", None), bool(getattr(X, "hashed", False))
        by_name = bool(names) or hashed
        form = "event" if by_name else "sparse"
        return Batch(_named(_csr_rows(X), names), names, form, by_name, hashed)
    if isinstance(X, dict):
        raise InputError("X is a dict: one event goes to learn_one or score_one")
    if hasattr(X, "collect"):
        raise InputTypeError(f"X is a {type(X).__name__}, which has no rows yet: collect it first")
    names, frame = None, None
    X = as_table(X)
    if is_frame(X):
        X, names, flags = frame_array(X)
        frame = None if names is None else Schema.of_frame(names, flags)
    elif hasattr(X, "array") and hasattr(X, "names"):
        X, names = X.array, X.names
    rows = _named(_core.Rows.dense(_dense_array(X)), names)
    return Batch(rows, names, "dense", frame=frame)


def _named(rows: _core.Rows, names: Sequence[str] | None) -> _core.Rows:
    """Return rows that know the names of their columns."""
    rows.names = None if names is None else list(names)
    return rows


def some_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of what `as_batch` takes, or of a list of events."""
    if isinstance(X, FrameEvents):
        return FrameEvents((X[row] for row in rows), X.schema)
    if is_events(X):
        return type(X)(X[row] for row in rows)
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if hasattr(X, "indptr"):
        counts = np.diff(X.indptr)
        starts = np.concatenate([[0], np.cumsum(counts[rows])])
        places = np.arange(starts[-1]) + np.repeat(X.indptr[rows] - starts[:-1], counts[rows])
        taken = {"indptr": starts, "indices": X.indices[places], "data": X.data[places]}
        return dataclasses.replace(X, **taken, shape=(len(rows), X.shape[1]))
    if hasattr(X, "array") and hasattr(X, "names"):
        return dataclasses.replace(X, array=X.array[rows])
    return np.asarray(X)[rows]


def _as_floats(values: NDArray[Any], what: str) -> NDArray[Any]:
    kind = values.dtype.kind
    if kind == "c":
        raise InputError(f"Complex data not supported: {what} is of {values.dtype}")
    if kind not in "biufO":
        raise InputError(f"{what} must be numbers, but it is of {values.dtype}")
    if kind == "f" and values.dtype.itemsize in (4, 8) and values.dtype.isnative:
        return values
    try:
        with np.errstate(over="ignore"):  # what does not fit becomes inf and is refused as such
            return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise _misfit(values, what, error) from None


def _misfit(values: NDArray[Any], what: str, error: Exception) -> Exception:
    """Return the error with the place of the first value that is no number."""
    kind = InputTypeError if isinstance(error, TypeError) else InputError
    if values.ndim == 0:
        return kind(f"{what} must be an array of numbers, not {type(values.item()).__name__}")
    for at in np.ndindex(values.shape):
        if not _is_float(values[at]):
            place = ", ".join(f"{w} {k}" for w, k in zip(("row", "column"), at, strict=False))
            return kind(f"{what}: {error}: {values[at]!r:.40} in {place}")
    return kind(f"{what}: {error}")


def _is_float(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def unmasked(values: Any, what: str) -> NDArray[Any]:
    """Return an array, unless parts of it are masked; of a table the only column."""
    if hasattr(values, "__arrow_c_stream__") and not hasattr(values, "__array__"):
        table = as_table(values)
        if len(table.column_names) != 1:
            raise InputError(f"{what} is a table of {len(table.column_names)} columns, not of one")
        values = table.column(0).to_numpy()
    # Whoever has such an array has imported the module, which takes a while.
    if (
        "numpy.ma" in sys.modules
        and isinstance(values, np.ma.MaskedArray)
        and np.ma.is_masked(values)
    ):
        at = np.argwhere(np.ma.getmaskarray(values))[0]
        place = ", ".join(f"{w} {k}" for w, k in zip(("row", "column"), at, strict=False))
        raise InputError(f"{what} is masked in {place}: fill in or drop what is masked")
    return np.asarray(values)


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise InputError(
            f"Expected 2D array, got {len(shape)}D array instead: reshape it to a table"
        )
    rows, columns = shape
    if min(shape) < 0:
        raise InputError(f"X claims to be of shape {shape}")
    if rows == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required."
        )
    if columns == 0:
        raise InputError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
    if columns > MAX_FEATURES:
        raise InputError(f"X has {columns} columns, more than the {MAX_FEATURES} possible")


def _dense_array(X: Any) -> NDArray[Any]:
    if hasattr(X, "todense") or type(X).__module__.startswith("scipy.sparse"):
        raise InputTypeError(
            "Sparse data was passed in a form that has no tocsr(); convert it to CSR"
        )
    array = _as_floats(unmasked(X, "X"), "X")
    if array.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: X[None, :] "
            "for one row, X[:, None] for one feature; or use learn_one and score_one for one event."
        )
    _check_shape(array.shape)
    size = array.dtype.itemsize
    if not array.flags.aligned or any(stride % size for stride in array.strides):
        array = np.ascontiguousarray(array)
    return array


def _csr_rows(X: Any) -> _core.Rows:
    if getattr(X, "format", None) != "csr" and hasattr(X, "tocsr"):
        X = X.tocsr()
    _check_shape(X.shape)
    indptr, indices = (_as_index(getattr(X, name), name) for name in ("indptr", "indices"))
    data = np.ascontiguousarray(_as_floats(np.asarray(X.data), "X.data"))
    if (
        not indptr.ndim == indices.ndim == data.ndim == 1
        or len(indptr) != X.shape[0] + 1
        or len(indices) != len(data)
    ):
        raise InputError(
            f"X is not a CSR matrix: shape {X.shape} with {len(indptr)} row starts, "
            f"{len(indices)} indices and {len(data)} values"
        )
    return _core.Rows.csr(indptr, indices, data, X.shape[1])


def _as_index(values: Any, name: str) -> NDArray[Any]:
    array = np.ascontiguousarray(values)
    if array.dtype.kind not in "iu":
        raise InputError(f"X.{name} must be of an integer type, not {array.dtype}")
    if array.dtype not in (np.int32, np.int64):
        return array.astype(np.int64)
    # Indices are checked once and then trusted: another thread must not be able to change them.
    shared = isinstance(values, np.ndarray) and np.may_share_memory(array, values)
    return array.copy() if shared and threading.active_count() > 1 else array


def as_event_row(x: Any) -> NDArray[np.float64]:
    """Return one event given as numbers as a contiguous row."""
    if type(x) is np.ndarray and x.ndim == 1 and x.dtype == np.float64 and x.flags.c_contiguous:
        return x
    if any(isinstance(name, str) for name in getattr(x, "axes", [()])[0]):
        raise InputError(
            "the event is a Series with names: give the dict x.to_dict(), or x.to_numpy() for the "
            "numbers alone, in the order of the columns"
        )
    row = unmasked(x, "the event")
    if row.ndim == 1 and len(row) == 0:
        raise InputError("the event has 0 features")
    if row.ndim != 1:
        raise InputError(f"one event is a 1-D array or a dict of named features, not {row.ndim}-D")
    return np.ascontiguousarray(_as_floats(row, "the event"), dtype=np.float64)


def as_weights(weights: Any, rows: int) -> NDArray[np.float64] | None:
    """Return one weight a row; that they are finite and not negative is checked on use."""
    if weights is None:
        return None
    array = unmasked(weights, "sample_weight")
    if array.dtype.kind not in "biufO":
        raise ParameterError("sample_weight", f"must be numbers, but it is of {array.dtype}")
    if array.ndim == 0:
        array = np.full(rows, array)
    if array.ndim != 1:
        raise InputError("Sample weights must be 1D array or scalar")
    if len(array) != rows:
        raise InputError(f"X has {rows} rows but there are {len(array)} weights")
    array = np.ascontiguousarray(_as_floats(array, "sample_weight"), dtype=np.float64)
    bad = ~((array >= 0) & (array < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"a weight must be finite and not negative: row {row} has {array[row]}")
    with np.errstate(over="ignore"):
        if not np.isfinite(array.sum()):
            raise InputError("the weights are too large: their sum overflows")
    return array


def as_order(order: Any, rows: int) -> NDArray[np.int64] | None:
    """Return the rows to visit, in this order."""
    if order is None:
        return None
    array = np.asarray(order)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) == 0:
        raise ParameterError("order", "must be a 1-D array of row numbers")
    bad = (array < 0) | (array >= rows)
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(f"order[{at}] is {array[at]}, but the rows are 0 to {rows - 1}")
    return np.ascontiguousarray(array, dtype=np.int64)


_ANOTHER_KIND = " before"  # a number that becomes a text, or a text a number
_ANOTHER_REMEDY = (("make them alike, or ", Parameter("unknown", "learn"), " takes both"),)


def explanation(
    fault: str, row: int, column: int, names: Sequence[str] | None = None
) -> ValueError:
    """Return a fault of the core as an error that says where it is and what to do."""
    if fault.startswith("the score"):  # a model beyond use, whatever the row
        return DivergedError(fault, row)
    if fault.endswith(_ANOTHER_KIND):
        if row < 0:
            return InputError(fault, remedy=_ANOTHER_REMEDY)
        return BadRowError(fault, row, remedy=_ANOTHER_REMEDY)
    if column >= 0:
        name = f" ({names[column]!r})" if names and column < len(names) else ""
        fault = (
            f"Input X contains {fault} in column {column}{name}: "
            "fill in, drop or clip such values first"
        )
    return BadRowError(fault, row, column=column if column >= 0 else None)


_core.explain_faults_with(explanation)
