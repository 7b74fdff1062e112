"""Data frames and tables: as an array where all columns are numbers, else as events."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError
from .schema import Schema

_ARROW = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__")
_TEXTS = ("str", "large_string", "utf8", "category", "categorical", "enum", "dictionary")


class FrameEvents(list[dict[str, Any]]):
    """The rows of a data frame that holds texts: events, whose texts are categories."""

    def __init__(self, rows: Iterable[dict[str, Any]] = (), schema: Schema = Schema()) -> None:  # noqa: B008
        super().__init__(rows)
        self.schema = schema


def as_frame(X: Any) -> Any:
    """Return a data frame or table that holds texts as events, and otherwise what `as_table` does.

    Texts are those of text columns, and the values of columns that are categories.
    """
    X = as_table(X)
    if hasattr(X, "collect") or not is_frame(X) or frame_names(X) is None:
        return X
    columns = {name: X[name] for name in frame_names(X) or ()} if len(X) else {}
    texts = [name for name, column in columns.items() if _holds_texts(column)]
    if not texts:
        return X
    cells = {n: _texts(c) if n in texts else _cells(n, c) for n, c in columns.items()}
    numbers = [name for name in cells if name not in texts]
    flags = [name for name in numbers if any(cell.__class__ is bool for cell in cells[name])]
    schema = Schema(numbers=tuple(numbers), flags=tuple(flags), categories=tuple(texts))
    rows = zip(*cells.values(), strict=True)
    return FrameEvents((dict(zip(cells, row, strict=True)) for row in rows), schema)


def as_table(X: Any) -> Any:
    """Return what comes by way of Arrow as a table of Arrow, and anything else as it is.

    These are relations of DuckDB, data sets of Hugging Face, readers of record batches and whatever
    else has one of the protocols. Frames of pandas and polars are read in place.
    """
    if isinstance(X, (np.ndarray, list)) or hasattr(X, "to_numpy") or _is_table(X):
        return X
    if not any(hasattr(X, name) for name in (*_ARROW, "with_format")):
        return X
    try:
        import pyarrow
        import pyarrow.interchange
    except ImportError:
        raise InputTypeError(
            f"X is a {type(X).__name__}, which needs pyarrow: pip install 'lopsided[arrow]'"
        ) from None
    if hasattr(X, "with_format"):  # of Hugging Face, which may be a selection of rows
        if isinstance(X, dict):
            splits = ", ".join(map(repr, X))
            raise InputTypeError(f"X is a {type(X).__name__}: choose one of its splits {splits}")
        if not hasattr(X, "__len__"):
            raise InputTypeError(
                f"X is a {type(X).__name__}, which has no rows yet: give its batches to partial_fit"
            )
        return X.with_format("arrow")[:]
    if hasattr(X, "__dataframe__") and not hasattr(X, "__arrow_c_stream__"):
        return pyarrow.interchange.from_dataframe(X)
    return pyarrow.table(X)


def _is_table(X: Any) -> bool:
    return hasattr(X, "to_batches") and hasattr(X, "column_names")


def is_frame(X: Any) -> bool:
    """Say whether X is a data frame or a table of Arrow."""
    return hasattr(X, "column_names") or not isinstance(getattr(X, "columns", 0), int)


def frame_names(X: Any) -> list[str] | None:
    """Return the names of the columns of a frame, None if they are numbers."""
    columns = list(X.column_names if hasattr(X, "column_names") else X.columns)
    if len(set(columns)) != len(columns):
        twice = next(c for c, count in Counter(columns).items() if count > 1)
        raise InputError(f"X has two columns of the name {twice!r}; give each its own")
    kinds = {type(c).__name__ for c in columns}
    if "tuple" in kinds:
        raise InputTypeError(
            "X has columns of several levels, which are not names of features: join them into one "
            "string each, or give X.to_numpy()"
        )
    if "str" in kinds and len(kinds) > 1:
        raise InputTypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {sorted(kinds)} as feature name / column name types."
        )
    return columns if kinds == {"str"} else None


def frame_array(X: Any) -> tuple[NDArray[Any], list[str] | None, list[str]]:
    """Return the numbers of a data frame, the names of its columns, and those of true or false."""
    named = frame_names(X)
    whole = _whole(X)
    if whole is not None:
        return whole, named, []
    columns = named or list(X.columns)
    if not len(X):
        return np.empty((0, len(columns))), named, []
    out, flags = np.empty((len(X), len(columns)), order="F"), []
    for j, column in enumerate(columns):
        values = _numbers(column, X[column])
        out[:, j] = values
        if values.dtype.kind == "b":
            flags.append(column)
    return out, named, flags


def _whole(X: Any) -> NDArray[Any] | None:
    """Return the array of a frame whose columns are floats of one kind: often it is one already."""
    kinds = set(getattr(X, "dtypes", ()))
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    plain = isinstance(kind, np.dtype) or type(kind).__module__.startswith("polars")
    if not plain or str(kind).lower() not in ("float32", "float64"):
        return None
    return np.asarray(X.to_numpy())


# Columns -----------------------------------------------------------------------------------------


def _numbers(name: Any, column: Any) -> NDArray[Any]:
    """Return a column of numbers, or of true and false."""
    values = np.asarray(column.to_numpy())
    if values.dtype.kind in "mM":
        raise InputError(
            f"column {name!r} holds times, which are not features: make numbers of it, such as the "
            "hour, or leave it out"
        )
    if values.dtype.kind in "biuf":
        return values
    with contextlib.suppress(TypeError, ValueError):
        if values.dtype.kind not in "cUS" and not _holds_texts(column):
            return values.astype(np.float64)
    raise InputError(f"column {name!r} does not hold numbers; encode it or leave it out")


def _cells(name: str, column: Any) -> list[Any]:
    """Return the cells of a column that holds no texts, times as such."""
    times = moments(np.asarray(column.to_numpy()))
    cells: list[Any] = _numbers(name, column).tolist() if times is None else times
    return cells


def moments(values: NDArray[Any]) -> list[Any] | None:
    """Return times as datetimes, None where there is none; None for other values."""
    if values.dtype.kind != "M":
        return None
    found: list[Any] = values.astype("datetime64[us]").tolist()
    return found


def _texts(column: Any) -> list[str | None]:
    """Return the cells of a column of texts, or of categories, which may be numbers."""
    cells = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    if all(cell.__class__ is str for cell in cells):
        return list(cells)
    known = {cell: None if _is_null(cell) else category_text(cell) for cell in set(cells)}
    return [known[cell] for cell in cells]


def category_text(value: Any) -> str:
    """Return the name of a category that is a number; whole ones are alike, whatever their type."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_null(cell: Any) -> bool:
    return cell is None or cell != cell or type(cell).__name__ == "NAType"


def _holds_texts(column: Any) -> bool:
    """Say whether a column of a frame holds texts or is one of categories."""
    kind = str(getattr(column, "dtype", None) or getattr(column, "type", "")).lower()
    if kind != "object":
        return kind.startswith(_TEXTS) and not kind.startswith("struct")
    return any(isinstance(cell, str) for cell in column.tolist())
