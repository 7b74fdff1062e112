"""Classifiers from elsewhere in the progressive pass; their packages are not imported here."""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DivergedError
from ..estimator.batch import some_rows
from ..metrics import Counts
from .labelled import LabelledRows

_CHUNK = 100  # rows that are scored before any of them is learned from
_FEW = 100  # labels after which a classifier is expected to have scores
_COUNTED = ("positives", "negatives", "false_negatives", "false_positives", "events", "money")


class Outside(abc.ABC):
    """A classifier that is not one of ours. Other attributes are those of the classifier.

    Parameters
    ----------
    classifier : object
        It learns during a pass.
    """

    chunk = _CHUNK

    def __init__(self, classifier: Any) -> None:
        self._classifier = classifier

    @property
    def classifier(self) -> Any:
        """The classifier itself."""
        return self._classifier

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also while it is being copied
            raise AttributeError(name)
        return getattr(self._classifier, name)

    def __repr__(self) -> str:
        return repr(self._classifier)

    @property
    def online(self) -> bool:
        """Whether it can be scored while it learns."""
        return True

    @abc.abstractmethod
    def fresh(self, run: int) -> Outside:
        """Return a copy that has not learned, with `run` added to its seeds."""

    @abc.abstractmethod
    def parameter_names(self) -> list[str]:
        """Return the names that set_params takes."""

    @abc.abstractmethod
    def check_weights(self, name: str) -> None:
        """Raise if it takes no weights."""

    @abc.abstractmethod
    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows; 0 and above means positive."""

    @abc.abstractmethod
    def _learn(self, data: LabelledRows, rows: NDArray[np.int64], first: bool) -> None:
        """Learn from rows."""

    def score_rows(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows; 0 and above means positive."""
        scores = self._scores(X)
        if not np.isfinite(scores).all():
            raise DivergedError("its scores are not finite")
        return scores

    def pass_over(
        self,
        data: LabelledRows,
        order: NDArray[np.int64],
        every: int = 0,
        delays: NDArray[np.float64] | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        """Learn from rows in this order, each scored before its label is known.

        Parameters
        ----------
        data : LabelledRows
            The rows.
        order : array
            The rows to visit.
        every : int
            Events between points of the curve; 0 for none.
        delays : array, optional
            How many further events are met before the label of each row comes; inf for never.
        progress : callable, optional
            Told how many events of how many are done.

        Returns
        -------
        dict
            As `OnlineClassifier.pass_over`, with labels and weights in the order visited. One that
            has only `fit` has no scores to report unless it is fitted again and again.
        """
        weights = None if data.weights is None else data.weights[order]
        events = len(order) if weights is None else int(np.count_nonzero(weights))
        start = time.perf_counter()
        if self.online:
            scores, learned = self._train(data, order, delays, progress)
        else:
            self._learn(data, order, first=True)
            order, weights, scores, learned = order[:0], None, np.empty(0), events
        codes, alarms = data.codes[order], scores >= 0
        counts = Counts.tally(codes > 0, alarms & ~np.isnan(scores), weights)
        return {
            **{name: getattr(counts, name) for name in _COUNTED},
            "queries": events,
            "updates": learned,
            "seconds": time.perf_counter() - start,
            "scores": scores,
            "alarms": alarms,
            "labels": codes,
            "weights": weights,
            "curve": _marks(codes > 0, alarms, weights, every),
        }

    def _train(
        self,
        data: LabelledRows,
        order: NDArray[np.int64],
        delays: NDArray[np.float64] | None,
        progress: Callable[[int, int], None] | None,
    ) -> tuple[NDArray[np.float64], int]:
        """Return the scores that rows had before their labels were known, and how many came."""
        counted = np.ones(len(order), bool) if data.weights is None else data.weights[order] != 0
        used = order[counted]
        scores = np.zeros(len(used))
        self._begin()
        learned = 0
        for first, last, known in self._steps(len(used), None if delays is None else delays[used]):
            learned += self._take(data, used[known])
            if learned and last > first:
                rows = some_rows(data.sliceable, used[first:last])
                score = self._early if self._is_early() else self.score_rows
                scores[first:last] = score(rows)
            if progress is not None:
                progress(last, len(used))
        all_scores = np.full(len(order), np.nan)
        all_scores[counted] = scores
        return all_scores, learned

    def _steps(
        self, events: int, delays: NDArray[np.float64] | None
    ) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
        """Yield chunks of events and those whose labels came since the last; at the end the rest.

        The first chunks are short, while little is known.
        """
        after = np.arange(events) + (0 if delays is None else delays)
        by_arrival = np.argsort(after, kind="stable")
        came = after[by_arrival]
        first = told = 0
        while first < events:
            last = min(events, first + min(max(first, 1), self.chunk))
            known = int(np.searchsorted(came, first))
            yield first, last, by_arrival[told:known]
            first, told = last, known
        yield events, events, by_arrival[told : int(np.searchsorted(came, events))]

    def _begin(self) -> None:
        """Begin a pass."""
        self._seen: set[int] = set()
        self._labels = 0

    def _take(self, data: LabelledRows, rows: NDArray[np.int64]) -> int:
        """Learn from rows whose labels came; return how many."""
        if not len(rows):
            return 0
        self._seen |= set(data.codes[rows].tolist())
        self._learn(data, rows, first=not self._labels)
        self._labels += len(rows)
        return len(rows)

    def _is_early(self) -> bool:
        """Say whether so little is known that it may have no scores."""
        return self._labels < _FEW or len(self._seen) < 2

    def _early(self, X: Any) -> NDArray[np.float64]:
        """Return scores after a few rows or one class, 0 where a classifier has none yet."""
        with np.errstate(all="ignore"):
            return np.nan_to_num(self._scores(X), nan=0.0, posinf=0.0, neginf=0.0)


def _marks(
    positive: NDArray[np.bool_],
    alarm: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
    every: int,
) -> NDArray[np.float64] | None:
    """Return the sums of a curve after each `every` rows: see Progress.marks."""
    if not every:
        return None
    used = np.ones(len(positive)) if weights is None else weights
    events = np.asarray(used != 0, dtype=np.float64)
    parts = (positive, ~positive, positive & ~alarm, ~positive & alarm)
    columns = [events, *(used * part for part in parts), events, events, 0 * events]
    return np.asarray(np.cumsum(np.column_stack(columns), axis=0)[every - 1 :: every])
