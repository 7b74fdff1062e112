"""The rows, labels and weights of a record batch of Arrow, as estimators take them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadRowError, LabelError, ParameterError
from .block import Dense, Sparse

DENSE_SIZE = 1024  # vectors of up to this size become dense rows, however Spark keeps them


def rows_of(batch: Any, features: Sequence[str]) -> Any:
    """Return the rows of a record batch.

    Whether they are dense depends on the columns alone, not on the values in a batch: partitions
    must agree on it.
    """
    columns = [column_of(batch, name) for name in features]
    kinds = [_kind(column.type, name) for column, name in zip(columns, features, strict=True)]
    if all(kind == "number" for kind in kinds):
        numbers = np.empty((batch.num_rows, len(columns)))
        for j, column in enumerate(columns):
            numbers[:, j] = numbers_of(column)
        return Dense(numbers, list(features))
    if kinds == ["array"]:
        return _arrays(columns[0], features[0])
    if kinds == ["vector"]:
        return _vectors(columns[0], features[0])
    if "array" in kinds or "vector" in kinds:
        raise ParameterError(
            "features", "must be one column where it holds arrays or vectors", value=list(features)
        )
    return _events(columns, kinds, features)


def labels_of(batch: Any, label: str) -> NDArray[Any]:
    """Return the labels of a record batch."""
    types = importlib.import_module("pyarrow").types
    column = column_of(batch, label)
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    floats = types.is_floating(column.type)
    absent = column.is_null(nan_is_null=True) if floats else column.is_null()
    if absent.true_count:
        row = int(np.argmax(absent.to_numpy(zero_copy_only=False)))
        raise LabelError(
            f"column {label!r} has no label in this row",
            row,
            remedy=["drop such rows first: frame.dropna(subset=...)"],
        )
    if floats or types.is_boolean(column.type) or types.is_signed_integer(column.type):
        found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        wide = {"f": np.float64, "i": np.int64, "b": np.bool_}[found.dtype.kind]
        return found.astype(wide, copy=False)  # those of Python
    return np.array(column.to_pylist())


def column_of(batch: Any, name: str) -> Any:
    """Return a column of a record batch by its name, which may have dots."""
    return batch.column(batch.schema.get_field_index(name))


def numbers_of(column: Any) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where it has none."""
    pa = importlib.import_module("pyarrow")
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    values: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy(
        zero_copy_only=False
    )
    return values


def _kind(kind: Any, name: str) -> str:
    types = importlib.import_module("pyarrow").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
        return "number"
    if types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind):
        return "text"  # null: a column without cells
    if types.is_map(kind):
        return "map"
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return "array"
    if types.is_struct(kind) and {f.name for f in kind} == {"type", "size", "indices", "values"}:
        return "vector"
    raise ParameterError(
        "features",
        f"names the column {name!r} of {kind}: numbers, booleans, texts, maps, arrays and vectors "
        "can be features",
        remedy=["cast it", "leave it out"],
    )


def _lengths(column: Any) -> NDArray[np.int64]:
    compute = importlib.import_module("pyarrow.compute")
    lengths: NDArray[np.int64] = (
        compute.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    )
    return lengths.astype(np.int64)


def _check_same(sizes: NDArray[np.int64], name: str) -> None:
    """Raise unless all rows have as many values as the first."""
    if len(sizes) and (sizes != sizes[0]).any():
        row = int(np.argmax(sizes != sizes[0]))
        raise BadRowError(
            f"column {name!r}: row {row} has {sizes[row]} values and others {sizes[0]}", row
        )


def _check_present(column: Any, name: str) -> None:
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise BadRowError(
            f"column {name!r} is null",
            row,
            remedy=["drop such rows first: frame.dropna(subset=...)"],
        )


def _arrays(column: Any, name: str) -> NDArray[np.float64]:
    _check_present(column, name)
    lengths = _lengths(column)
    _check_same(lengths, name)
    return numbers_of(column.flatten()).reshape(len(lengths), -1)


def _vectors(column: Any, name: str) -> Any:
    """Return vectors of Spark: a dense array, or CSR if they are long."""
    _check_present(column, name)
    sizes, indices, values = (column.field(part) for part in ("size", "indices", "values"))
    lengths = _lengths(values)
    sparse = indices.is_valid().to_numpy(zero_copy_only=False)
    wide = np.where(sparse, sizes.fill_null(0).to_numpy(zero_copy_only=False), lengths)
    _check_same(wide, name)
    width = int(wide[0]) if len(wide) else 0
    data, ends = numbers_of(values.flatten()), np.concatenate([[0], np.cumsum(lengths)])
    places = indices.flatten().to_numpy(zero_copy_only=False)
    if not sparse.all():  # a dense vector has all of them
        stored, places = places, np.arange(ends[-1]) - np.repeat(ends[:-1], lengths)
        places[np.repeat(sparse, lengths)] = stored
    if width > DENSE_SIZE:
        return Sparse(ends, places.astype(np.int32, copy=False), data, (len(lengths), width))
    dense = np.zeros((len(lengths), width))
    dense[np.repeat(np.arange(len(lengths)), lengths), places] = data
    return dense


def _events(
    columns: Sequence[Any], kinds: Sequence[str], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return dicts; a cell that is missing is left out."""
    events: list[dict[str, Any]] = [{} for _ in range(len(columns[0]))]
    for column, kind, name in zip(columns, kinds, names, strict=True):
        cells = numbers_of(column).tolist() if kind == "number" else column.to_pylist()
        for event, cell in zip(events, cells, strict=True):
            if kind == "map":
                event.update(cell or ())
            elif cell is not None and cell == cell:
                event[name] = cell
    return events
