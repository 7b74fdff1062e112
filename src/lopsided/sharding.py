"""What engines share: rows of Arrow tables, and training on one partition of them.

`train` is a pure function of its rows and its model, so a partition that is computed again, for
whatever reason, gives the same bytes. `merged` is the other half: lopsided.spark and lopsided.dask
only carry rows to one and models to the other.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import persist
from .data.arrow_rows import column_of, labels_of, numbers_of, rows_of
from .errors import InputError, LopsidedError, ParameterError
from .estimator.base import OnlineClassifier
from .estimator.parameters import nearest
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
    costs : tuple of pairs
        Kinds of costs with the columns that hold them, where those are not features.
    """

    features: tuple[str, ...]
    label: str | None = None
    weight: str | None = None
    classes: tuple[Any, ...] | None = None
    costs: tuple[tuple[str, str], ...] = ()

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        others = (name for name in (self.label, self.weight) if name is not None)
        prices = (name for _, name in self.costs)
        return list(dict.fromkeys([*self.features, *others, *prices]))


def choose(
    columns: Sequence[str],
    features: Sequence[str] | str | None,
    label: str | None,
    weight: str | None,
    classes: Sequence[Any] | None = None,
    costs: Any = None,
) -> Roles:
    """Return the roles of the columns of a table; by default all others are features.

    Parameters
    ----------
    columns : sequence of str
        All columns of the table.
    features, label, weight, classes
        As for `lopsided.spark.fit`.
    costs : dict, optional
        The costs of the model. Columns that it names are read, whether or not they are features.
    """
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
                raise ParameterError(
                    parameter, f"is not a column: {name!r}", remedy=[nearest(name, columns)]
                )
    if not chosen:
        raise ParameterError("features", "must name a column")
    named = costs.items() if isinstance(costs, Mapping) else ()
    prices = tuple(
        (kind, name)
        for kind, name in named
        if isinstance(name, str) and name in columns and name not in chosen
    )
    return Roles(chosen, label, weight, None if classes is None else tuple(classes), prices)


def check_rounds(rounds: int) -> None:
    """Raise unless the models are mixed at least once."""
    if rounds < 1:
        raise ParameterError("rounds", "must be at least 1", value=rounds)


def classes_of(labels: Iterable[Any]) -> list[Any]:
    """Return the labels that were found, sorted; rows without one are refused where they are."""
    return sorted(one for one in labels if one is not None and one == one)


# Rows of a round --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Slice:
    """The rows of a round in a record batch, and where they are in their partition."""

    batch: Any
    first: int
    step: int

    def placed(self, error: Exception, partition: int) -> LopsidedError:
        """Return the error with the place of its row in the data."""
        if not isinstance(error, LopsidedError):
            error = InputError(str(error))
        row = getattr(error, "row", None)
        if row is None or error.where != f"row {row}":
            last = self.first + (self.batch.num_rows - 1) * self.step
            return error.within(f"partition {partition}, rows {self.first} to {last}")
        found = copy.copy(error)
        found.where = f"partition {partition}, row {self.first + row * self.step}"
        found.args = (found.text(),)
        return found


def slices(batches: Iterable[Any], part: int, parts: int) -> Iterator[Slice]:
    """Yield the rows of a round: every `parts`-th one of a partition, from row `part` on."""
    seen = 0
    for batch in batches:
        first = (part - seen) % parts
        chosen = batch
        if parts > 1:
            rows = np.arange(first, batch.num_rows, parts)
            chosen = batch.take(importlib.import_module("pyarrow").array(rows))
        if chosen.num_rows:
            yield Slice(chosen, seen + first, parts)
        seen += batch.num_rows


# The two functions ------------------------------------------------------------------------------


def _learn(rows: Slice, model: OnlineClassifier, roles: Roles, partition: int) -> dict[str, Any]:
    """Learn from the rows of a record batch; return what happened."""
    try:
        return _pass_over(rows.batch, model, roles)
    except (LopsidedError, ValueError) as error:
        raise rows.placed(error, partition) from None


def _pass_over(batch: Any, model: OnlineClassifier, roles: Roles) -> dict[str, Any]:
    weight = None if roles.weight is None else numbers_of(column_of(batch, roles.weight))
    classes = None if model.__sklearn_is_fitted__() else roles.classes
    rows, y = rows_of(batch, roles.features), labels_of(batch, str(roles.label))
    return model.pass_over(rows, y, weight, classes=classes, costs=_costs(batch, model, roles))


def _costs(batch: Any, model: OnlineClassifier, roles: Roles) -> dict[str, Any] | None:
    """Return the model's costs with those that are columns as arrays; None if none are."""
    if not roles.costs:
        return None
    return {**model.costs, **{k: numbers_of(column_of(batch, name)) for k, name in roles.costs}}


def train(
    batches: Iterable[Any],
    model: OnlineClassifier,
    roles: Roles,
    part: int = 0,
    parts: int = 1,
    partition: int = 0,
) -> bytes | None:
    """Learn from every `parts`-th row of a partition; return the model's bytes, None without rows.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        The partition, in its order.
    model : OnlineClassifier
        The model to continue; it may have learned nothing. It is changed.
    roles : Roles
        Which column is what.
    part, parts : int
        Which of the rows.
    partition : int
        The number of the partition, for errors.
    """
    learned = False
    for rows in slices(batches, part, parts):
        _learn(rows, model, roles, partition)
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
    rows: Slice, model: OnlineClassifier, roles: Roles, partition: int = 0
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return scores and predictions of the rows of a record batch."""
    try:
        X = rows_of(rows.batch, roles.features)
        scores = model.score_many(X)
        return scores, model.decided(scores, X, _costs(rows.batch, model, roles))
    except (LopsidedError, ValueError) as error:
        raise rows.placed(error, partition) from None


def evaluate(
    batches: Iterable[Any], model: OnlineClassifier, roles: Roles, partition: int = 0
) -> Counts:
    """Predict each row of a partition, then learn from it; return what happened."""
    counts = Counts()
    for rows in slices(batches, 0, 1):
        counts = counts + Counts.of(_learn(rows, model, roles, partition))
    return counts
