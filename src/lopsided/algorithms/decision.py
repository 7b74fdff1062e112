"""What a model says of events whose labels it does not know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ..estimator.labels import Labels


class Decision(NamedTuple):
    """What a model says of an event whose label it does not know.

    Attributes
    ----------
    id : int
        The number of the event, counted from 0: what tell wants to know.
    score : float
        0 and above means positive.
    predicted : label or None
        The label predicted; None as long as no label has been named.
    asked : bool
        Whether the label is wanted, and paid for.
    probability : float
        The chance there was of asking; 0 if the budget did not allow it.
    forgotten : int or None
        An older event whose label can no longer be told, since too many were waiting.
    """

    id: int
    score: float
    predicted: Any
    asked: bool
    probability: float
    forgotten: int | None = None


class Decisions(Sequence[Decision]):
    """What a model says of many events: a sequence of Decision, and the same as arrays.

    Attributes
    ----------
    id, score, predicted, asked, probability : array
        As in Decision, one for each event.
    """

    def __init__(self, labels: Labels, found: tuple[Any, ...]) -> None:
        self._first, self.score, alarms, asked, self.probability, self._forgotten = found
        self.asked, self._alarms = asked.view(bool), alarms.view(bool)
        self._labels = labels

    @property
    def first(self) -> int:
        """The number of the first event."""
        return int(self._first)

    @property
    def n_forgotten(self) -> int:
        """How many older events can no longer be told, since too many were waiting."""
        return int((self._forgotten >= 0).sum())

    @property
    def id(self) -> NDArray[np.int64]:
        """The numbers of the events."""
        return np.arange(self._first, self._first + len(self))

    @property
    def predicted(self) -> NDArray[Any]:
        """The labels predicted."""
        labels = self._labels
        pair = np.array([labels.negative, labels.positive], dtype=object)
        classes = pair if None in pair else labels.pair
        found: NDArray[Any] = classes[self._alarms.astype(np.intp)]
        return found

    def are(self, label: Any) -> list[bool]:
        """Say for each event whether this is the label predicted."""
        if self._labels.positive == label:
            found: list[bool] = self._alarms.tolist()
            return found
        return [self._labels.negative == label and not alarm for alarm in self._alarms.tolist()]

    def __repr__(self) -> str:
        return f"<Decisions on {len(self):,} events: {int(self.asked.sum()):,} labels wanted>"

    def __len__(self) -> int:
        return len(self.score)

    @overload
    def __getitem__(self, at: int) -> Decision: ...
    @overload
    def __getitem__(self, at: slice) -> list[Decision]: ...
    def __getitem__(self, at: int | slice) -> Decision | list[Decision]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        score, forgotten = float(self.score[at]), int(self._forgotten[at])
        return Decision(
            self._first + (at if at >= 0 else at + len(self)),
            score,
            self._labels.positive if self._alarms[at] else self._labels.negative,
            bool(self.asked[at]),
            float(self.probability[at]),
            None if forgotten < 0 else forgotten,
        )

    def __iter__(self) -> Iterator[Decision]:
        labels = self._labels.positive, self._labels.negative
        columns = (self.score, self._alarms, self.asked, self.probability, self._forgotten)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for event, (score, alarm, asked, probability, forgotten) in enumerate(rows, self._first):
            predicted = labels[0] if alarm else labels[1]
            gone = None if forgotten < 0 else forgotten
            yield Decision(event, score, predicted, asked, probability, gone)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
