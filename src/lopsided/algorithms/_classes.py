"""What models of one class against the rest share: rows, labels, and the record of all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DivergedError, LabelError
from ..estimator.base import OnlineClassifier
from ..estimator.batch import Batch, as_batch, is_events
from ..estimator.columns import check_columns
from ..estimator.frames import as_frame

Rows = Batch | list[dict[str, Any]]  # events are read by each model: they have names of their own


@dataclasses.dataclass(frozen=True, eq=False)
class Learned:
    """What was learned.

    Attributes
    ----------
    labels : tuple
        All labels, in order.
    dtype : str or None
        That of the first labels; predictions have it too.
    rest : OnlineClassifier
        A model to which every event was a negative one.
    models : dict
        A model for each label that was met; those that were only named have the rest's.
    """

    labels: tuple[Any, ...]
    dtype: str | None
    rest: OnlineClassifier
    models: dict[Any, OnlineClassifier]

    def of(self, label: Any) -> OnlineClassifier:
        """Return the model of a label."""
        return self.models.get(label, self.rest)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels as an array."""
        try:
            return np.array(self.labels, dtype=self.dtype)
        except (OverflowError, ValueError):
            return np.array(self.labels)


def shared_rows(rest: OnlineClassifier, X: Any, *, learning: bool) -> Rows:
    """Return rows in a form that all models take, converted once for all of them."""
    fitted = rest._fitted
    X = as_frame(X)
    if fitted is not None:
        X = rest._checked_rows(X, fitted.core, learning)
    if is_events(X):
        return X if isinstance(X, list) else list(X)
    batch = as_batch(X, 0 if fitted is None else fitted.core.features)
    if fitted is not None and not learning:
        check_columns("OneVsRest", fitted.core, batch, learning=False)
    return batch


def rows_in(rows: Rows) -> int:
    """Return how many rows there are."""
    return rows.rows.size if isinstance(rows, Batch) else len(rows)


def teach(
    model: OnlineClassifier,
    rows: Rows,
    codes: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    fresh: bool,
    which: str = "the rest",
) -> None:
    """Let a model learn from rows; an error says which model it was."""
    try:
        if fresh:
            model.fit(rows, codes, weights)
            return
        model.partial_fit(rows, codes if isinstance(rows, Batch) else codes.tolist(), None, weights)
    except DivergedError as error:
        raise error.within(which) from None


def distinct(labels: NDArray[Any]) -> list[Any]:
    """Return the labels that occur."""
    found: list[Any] = (
        list(dict.fromkeys(labels.tolist()))
        if labels.dtype == object
        else np.unique(labels).tolist()
    )
    return found


def in_order(labels: Iterable[Any]) -> list[Any]:
    """Return each label once, sorted."""
    every = list(dict.fromkeys(labels))
    if len({isinstance(label, str) for label in every}) == 2:
        raise LabelError(f"labels are of more than one kind: {every!r}; use one kind")
    try:
        return sorted(every)
    except TypeError:
        raise LabelError(f"labels {every!r} cannot be compared; use one kind of label") from None


def dtype_of(labels: NDArray[Any]) -> str | None:
    """Return the dtype that predictions have, None for that of their texts."""
    if labels.dtype.kind in "US":
        return None
    return "O" if labels.dtype.kind == "O" else labels.dtype.newbyteorder("=").str


def is_key(label: Any, among: Collection[Any]) -> bool:
    """Say whether a label is known; what cannot be a label is not."""
    try:
        return label in among
    except TypeError:
        return False
