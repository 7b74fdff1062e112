"""What engines share: rows of Arrow tables, and training on one partition of them.

`train` is a pure function of its rows and its model, so a partition that is computed again, for
whatever reason, gives the same bytes. `merged` is the other half: lopsided.spark and lopsided.dask
only carry rows to one and models to the other.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import persist
from .data.block import Dense, Sparse
from .errors import InputError, ParameterError
from .estimator.base import OnlineClassifier
from .merging import merge, split
from .metrics import Counts


@dataclasses.dataclass(frozen=True)
class Roles:
    """Which column is what.

    Attributes
    ----------
    features : tuple of str
        Columns of numbers or booleans, of strings, which are categories, or of maps from names to
        numbers; or one column of arrays or vectors.
    label, weight : str or None
        The columns of labels and of sample weights.
    classes : tuple
        The two labels, if they are known.
    """

    features: tuple[str, ...]
    label: str | None = None
    weight: str | None = None
    classes: tuple[Any, ...] | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        others = (name for name in (self.label, self.weight) if name is not None)
        return list(dict.fromkeys([*self.features, *others]))


def choose(
    columns: Sequence[str],
    features: Sequence[str] | str | None,
    label: str | None,
    weight: str | None,
    classes: Sequence[Any] | None = None,
) -> Roles:
    """Return the roles of the columns of a table; by default all others are features."""
    if features is None:
        chosen = tuple(name for name in columns if name not in (label, weight))
    else:
        chosen = (features,) if isinstance(features, str) else tuple(features)
    for parameter, names in (
        ("features", chosen),
        ("label", (label,)),
        ("weight", (weight,)),
    ):
        for name in names:
            if name is not None and name not in columns:
                raise ParameterError(parameter, f"is not a column: {name!r}")
    if not chosen:
        raise ParameterError("features", "must name a column")
    return Roles(chosen, label, weight, None if classes is None else tuple(classes))


def check_rounds(rounds: int) -> None:
    """Raise unless the models are mixed at least once."""
    if rounds < 1:
        raise ParameterError("rounds", "must be at least 1", value=rounds)


def classes_of(labels: Iterable[Any]) -> list[Any]:
    """Return the labels that were found, sorted; rows without one are refused where they are."""
    return sorted(one for one in labels if one is not None and one == one)


# Rows of Arrow ----------------------------------------------------------------------------------


def rows_of(batch: Any, features: Sequence[str]) -> Any:
    """Return the rows of a record batch, as estimators take them."""
    columns = [batch.column(batch.schema.get_field_index(name)) for name in features]
    kinds = [_kind(column.type, name) for column, name in zip(columns, features, strict=True)]
    if all(kind == "number" for kind in kinds):
        numbers = np.empty((batch.num_rows, len(columns)))
        for j, column in enumerate(columns):
            numbers[:, j] = _numbers(column)
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
    )


def _numbers(column: Any) -> NDArray[np.float64]:
    pa = importlib.import_module("pyarrow")
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    values: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy(
        zero_copy_only=False
    )
    return values


def _arrays(column: Any, name: str) -> NDArray[np.float64]:
    lengths = np.array([0 if row is None else len(row) for row in column], dtype=np.int64)
    if len(lengths) and (lengths != lengths[0]).any():
        row = int(np.argmax(lengths != lengths[0]))
        raise InputError(
            f"column {name!r}: row {row} has {lengths[row]} values and others {lengths[0]}"
        )
    return _numbers(column.flatten()).reshape(len(lengths), -1)


def _vectors(column: Any, name: str) -> Any:
    """Return vectors of Spark: dense ones as an array, or as CSR as soon as one is sparse."""
    sizes, indices, values = (column.field(part) for part in ("size", "indices", "values"))
    if indices.null_count == len(column):
        return _arrays(values, name)
    lines = [
        (
            np.arange(len(v.as_py())) if i.as_py() is None else np.array(i.as_py(), dtype=np.int64),
            np.array(v.as_py(), dtype=np.float64),
            len(v.as_py()) if n.as_py() is None else n.as_py(),
        )
        for i, v, n in zip(indices, values, sizes, strict=True)
    ]
    ends = np.cumsum([0, *(len(i) for i, _, _ in lines)])
    return Sparse(
        ends.astype(np.int32),
        np.concatenate([i for i, _, _ in lines]).astype(np.int32),
        np.concatenate([v for _, v, _ in lines]),
        (len(lines), max(n for _, _, n in lines)),
    )


def _events(
    columns: Sequence[Any], kinds: Sequence[str], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return dicts; a cell that is missing is left out."""
    events: list[dict[str, Any]] = [{} for _ in range(len(columns[0]))]
    for column, kind, name in zip(columns, kinds, names, strict=True):
        cells = _numbers(column).tolist() if kind == "number" else column.to_pylist()
        for event, cell in zip(events, cells, strict=True):
            if kind == "map":
                event.update(cell or ())
            elif cell is not None and cell == cell:
                event[name] = cell
    return events


def labels_of(batch: Any, roles: Roles) -> NDArray[Any]:
    """Return the labels of a record batch."""
    column = batch.column(batch.schema.get_field_index(roles.label))
    if column.null_count:
        row = next(k for k, cell in enumerate(column.to_pylist()) if cell is None)
        raise InputError(f"column {roles.label!r}: row {row} of a batch has no label")
    return np.array(column.to_pylist())


def _some(batch: Any, seen: int, part: int, parts: int) -> Any:
    """Return every `parts`-th row, from number `part` of the partition on."""
    if parts == 1:
        return batch
    rows = np.arange((part - seen) % parts, batch.num_rows, parts)
    return batch.take(importlib.import_module("pyarrow").array(rows))


def slices(batches: Iterable[Any], part: int, parts: int) -> Iterator[Any]:
    """Yield the rows of a round: every `parts`-th one of a partition."""
    seen = 0
    for batch in batches:
        chosen = _some(batch, seen, part, parts)
        seen += batch.num_rows
        if chosen.num_rows:
            yield chosen


# The two functions ------------------------------------------------------------------------------


def train(
    batches: Iterable[Any], model: OnlineClassifier, roles: Roles, part: int = 0, parts: int = 1
) -> bytes | None:
    """Learn from every `parts`-th row of a partition; return the model's bytes, None without rows.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        The partition, in its order.
    model : OnlineClassifier
        The model to go on from; it may have learned nothing. It is changed.
    roles : Roles
        Which column is what.
    part, parts : int
        Which of the rows.
    """
    learned = False
    for batch in slices(batches, part, parts):
        weight = None
        if roles.weight is not None:
            weight = _numbers(batch.column(batch.schema.get_field_index(roles.weight)))
        classes = None if learned or model.__sklearn_is_fitted__() else roles.classes
        rows, y = rows_of(batch, roles.features), labels_of(batch, roles)
        model.partial_fit(rows, y, classes=classes, sample_weight=weight)
        learned = True
    return persist.to_bytes(model) if learned else None


def start(model: OnlineClassifier, shards: int) -> OnlineClassifier:
    """Return the model with which each of the shards begins a round."""
    if shards > 1 and model.__sklearn_is_fitted__():
        first: OnlineClassifier = split(model, shards)[0]
        return first
    return model


def merged(
    found: Sequence[bytes | None], model: OnlineClassifier, begun: OnlineClassifier
) -> OnlineClassifier:
    """Return the model of a round from those of its partitions, in their order.

    Parameters
    ----------
    found : sequence of bytes or None
        What `train` returned for each partition.
    model : OnlineClassifier
        The model before the round.
    begun : OnlineClassifier
        What each partition started from: a partition without rows brings that.
    """
    if not any(found):
        raise InputError("there are no rows to learn from")
    if not model.__sklearn_is_fitted__():
        models: list[OnlineClassifier] = [persist.from_bytes(blob) for blob in found if blob]
        return merge(models)
    parts = [persist.from_bytes(blob) if blob else begun for blob in found]
    return merge(parts, base=model)


def score(
    batch: Any, model: OnlineClassifier, roles: Roles
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return scores and predictions of the rows of a record batch."""
    rows = rows_of(batch, roles.features)
    scores = model.score_many(rows)
    return scores, model.decided(scores, rows)


def evaluate(batches: Iterable[Any], model: OnlineClassifier, roles: Roles) -> Counts:
    """Predict each row of a partition, then learn from it; return what happened."""
    counts = Counts()
    for batch in batches:
        if not batch.num_rows:
            continue
        weight = None
        if roles.weight is not None:
            weight = _numbers(batch.column(batch.schema.get_field_index(roles.weight)))
        result = model.pass_over(
            rows_of(batch, roles.features), labels_of(batch, roles), weight, classes=roles.classes
        )
        counts = counts + Counts.of(result)
    return counts
