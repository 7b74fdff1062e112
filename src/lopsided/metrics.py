"""Measures of a learner on a lopsided stream."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .errors import InputError, ParameterError
from .estimator.parameters import is_number

CountsT = TypeVar("CountsT", bound="Counts")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Counts:
    """What happened in a stretch of a stream, in sums of weights."""

    positives: float = 0.0
    negatives: float = 0.0
    false_negatives: float = 0.0
    false_positives: float = 0.0
    events: int = 0
    queries: int = 0
    updates: int = 0
    money: float = 0.0  # what the answers cost, where they have prices

    @classmethod
    def of(cls, source: Any) -> Counts:
        """Return the counts in a mapping or in an object with these attributes."""
        if isinstance(source, Mapping):
            return Counts(**{name: source[name] for name in _FIELDS if name in source})
        return Counts(**{name: getattr(source, name) for name in _FIELDS})

    @classmethod
    def tally(
        cls: type[CountsT],
        positive: NDArray[np.bool_],
        alarm: NDArray[np.bool_],
        sample_weight: NDArray[np.float64] | None = None,
        **fields: Any,
    ) -> CountsT:
        """Count predictions (`alarm`) against labels (`positive`); `fields` sets the others."""
        used = np.ones(len(positive)) if sample_weight is None else sample_weight
        return cls(
            positives=float(used[positive].sum()),
            negatives=float(used[~positive].sum()),
            false_negatives=float(used[positive & ~alarm].sum()),
            false_positives=float(used[~positive & alarm].sum()),
            events=int(np.count_nonzero(used)),
            **fields,
        )

    def __add__(self, other: Counts) -> Counts:
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in _FIELDS})

    def __sub__(self, other: Counts) -> Counts:
        return Counts(**{name: getattr(self, name) - getattr(other, name) for name in _FIELDS})

    @property
    def sensitivity(self) -> float:
        """Share of the positives that were found; NaN without positives."""
        return _share(self.positives - self.false_negatives, self.positives)

    @property
    def specificity(self) -> float:
        """Share of the negatives that were let pass; NaN without negatives."""
        return _share(self.negatives - self.false_positives, self.negatives)

    @property
    def accuracy(self) -> float:
        """Share of all events that were told right."""
        total = self.positives + self.negatives
        return _share(total - self.false_negatives - self.false_positives, total)

    @property
    def precision(self) -> float:
        """Share of the alarms that were right; NaN without alarms."""
        caught = self.positives - self.false_negatives
        return _share(caught, caught + self.false_positives)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and sensitivity; NaN without positives and alarms."""
        caught = self.positives - self.false_negatives
        return _share(2 * caught, 2 * caught + self.false_negatives + self.false_positives)

    @property
    def mcc(self) -> float:
        """Correlation of labels and predictions (Matthews): 1 perfect, 0 for no relation at all."""
        caught = self.positives - self.false_negatives
        passed = self.negatives - self.false_positives
        alarms, quiet = caught + self.false_positives, passed + self.false_negatives
        if not (self.positives and self.negatives):
            return math.nan
        if not (alarms and quiet):
            return 0.0
        both = caught / alarms * (passed / quiet)
        wrong = self.false_positives / alarms * (self.false_negatives / quiet)
        return (both - wrong) / math.sqrt(self.positives / alarms * (self.negatives / quiet))

    def sum(self, alpha: float = 0.5, unseen: float = 0.0) -> float:
        """Return alpha * sensitivity + (1 - alpha) * specificity; at 0.5 the balanced accuracy.

        A class that has not been seen counts with `unseen`.
        """
        sensitivity = self.sensitivity if self.positives else unseen
        specificity = self.specificity if self.negatives else unseen
        return alpha * sensitivity + (1 - alpha) * specificity

    def cost(self, fn: float = 0.9, fp: float = 0.1) -> float:
        """Return the total price of the mistakes, of a missed positive and of a false alarm."""
        return fn * self.false_negatives + fp * self.false_positives

    def cost_per_thousand(self, fn: float = 0.9, fp: float = 0.1) -> float:
        """Return the price of the mistakes in a thousand events."""
        return _share(1000 * self.cost(fn, fp), self.positives + self.negatives)


_FIELDS = tuple(field.name for field in dataclasses.fields(Counts))


def auc(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    ties: str = "half",
) -> float:
    """Return the chance that a positive scores above a negative.

    Parameters
    ----------
    y : array
        Labels; those above 0 are positive.
    scores : array
        One score a label.
    sample_weight : array, optional
        One weight a label.
    ties : {"half", "strict"}
        Whether a pair of equal scores counts half or not at all.

    Returns
    -------
    float
        NaN when a class is absent.

    Examples
    --------
    >>> auc([1, -1, 1, -1], [0.9, 0.1, 0.4, 0.4])
    0.875
    """
    if ties not in ("half", "strict"):
        raise ParameterError("ties", "is invalid: it must be 'half' or 'strict'", value=ties)
    found = levels(y, scores, sample_weight=sample_weight)
    return found.auc if ties == "half" else found.ranked(0.0)


class Levels(NamedTuple):
    """What would happen at each threshold: the different scores and the classes at each.

    Attributes
    ----------
    scores : array
        From the lowest on.
    positives, negatives : array
        The weight of each class at each score.
    """

    scores: NDArray[np.float64]
    positives: NDArray[np.float64]
    negatives: NDArray[np.float64]

    @property
    def alarms(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The right and the false alarms if each score, or a higher one, raises one."""
        right, false = (np.cumsum(part[::-1])[::-1] for part in self[1:])
        return right, false

    def ranked(self, tie: float) -> float:
        """Return the share of pairs whose positive scores higher; a tie counts so much."""
        _, up, down = self
        pairs = up.sum() * down.sum()
        if pairs == 0:
            return math.nan
        below = np.cumsum(down) - down
        return float((up @ below + tie * (up @ down)) / pairs)

    @property
    def auc(self) -> float:
        """The chance that a positive scores above a negative; ties count half."""
        return self.ranked(0.5)

    @property
    def average_precision(self) -> float:
        """The mean, over the positives, of the precision at each one's score."""
        up, down = self.positives[::-1], self.negatives[::-1]
        if up.sum() == 0:
            return math.nan
        right, all_ = np.cumsum(up), np.cumsum(up + down)
        share = np.divide(right, all_, out=np.zeros_like(all_), where=all_ > 0)
        return float(up @ share / up.sum())

    def cost(self, fn: float, fp: float) -> NDArray[np.float64]:
        """Return what the mistakes cost if each score, or a higher one, raises an alarm."""
        right, false = self.alarms
        missed = self.positives.sum() - right
        return np.asarray(fn * missed + fp * false)


class RunningAUC:
    """The AUC of events as they come: of all so far, or of the last ones.

    An event takes time in the order of the logarithm of how many scores are held. Ties count half.
    With weights of 1 the value has the bits of `auc` of the same events.

    Parameters
    ----------
    window : int, optional
        Only this many of the latest events count.
    limit : int, optional
        Hold at most this many different scores, at least 4. When there are more, the last binary
        digits of all scores are left out until half as many are left; `error` says how far the
        value may be off then. Default: no limit; a score takes 64 bytes.

    Examples
    --------
    >>> running = RunningAUC()
    >>> for label, score in [(1, 0.9), (-1, 0.1), (1, 0.4), (-1, 0.4)]:
    ...     running.add(label, score)
    >>> running.value
    0.875
    """

    def __init__(self, *, window: int | None = None, limit: int | None = None) -> None:
        for name, value, least in (("window", window, 1), ("limit", limit, 4)):
            if value is not None and not (is_number(value) and value == int(value) >= least):
                raise ParameterError(
                    name,
                    f"is invalid: it must be a whole number of at least {least} or None",
                    value=value,
                )
        self.window, self.limit = window, limit
        self._core = _core.RunningAuc(int(window or 0), int(limit or 0))

    def add(self, y: float, score: float, weight: float = 1.0) -> None:
        """Add an event; a label above 0 is positive, a weight of 0 leaves it out."""
        self._core.add(bool(y > 0), score, weight)

    def add_many(
        self, y: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> None:
        """Add events in their order, all of them or none; arrays as for `auc`."""
        self._core.add_many(*_checked(y, scores, sample_weight))

    @property
    def value(self) -> float:
        """The chance that a positive scores above a negative; NaN while a class is absent."""
        return self._core.value

    @property
    def error(self) -> float:
        """How far the value may be off; 0 until the limit was reached."""
        return self._core.error

    @property
    def levels(self) -> Levels:
        """The different scores held, from the lowest on, with the weight of each class at each."""
        _, keys, levels, _ = self._core.state()
        sign = np.uint64(1 << 63)
        scores = np.where(keys & sign, keys ^ sign, ~keys).view(np.float64)
        up, down, _ = levels.reshape(-1, 3).T
        return Levels(scores, up, down)

    def __getstate__(self) -> dict[str, Any]:
        dropped, *arrays = self._core.state()
        parts = {k: v.tobytes() for k, v in zip(("keys", "levels", "events"), arrays, strict=True)}
        return {"window": self.window, "limit": self.limit, "dropped": dropped, **parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(window=state["window"], limit=state["limit"])  # type: ignore[misc]
        keys = np.frombuffer(state["keys"], np.uint64)
        levels, events = (np.frombuffer(state[k], np.float64) for k in ("levels", "events"))
        self._core.restore(state["dropped"], keys, levels, events)


def average_precision(
    y: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the mean, over the positives, of the precision at each one's score.

    Parameters
    ----------
    y, scores, sample_weight
        As for auc. Events of one score are taken together.

    Returns
    -------
    float
        NaN without positives.

    Examples
    --------
    >>> average_precision([1, -1, 1, -1], [0.9, 0.8, 0.4, 0.1])
    0.8333333333333333
    """
    return levels(y, scores, sample_weight=sample_weight).average_precision


def precision_at_k(
    y: ArrayLike, scores: ArrayLike, k: int, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the share of positives among the k events of highest score: what k looks would find.

    Parameters
    ----------
    y, scores, sample_weight
        As for auc.
    k : int
        How many events, at most as many as there are; with weights, how much weight. Where only
        some events of one score belong to the k, each counts in part.

    Examples
    --------
    >>> precision_at_k([1, -1, 1, -1], [0.9, 0.8, 0.4, 0.1], 2)
    0.5
    """
    found = levels(y, scores, sample_weight=sample_weight)
    up, down = found.positives[::-1], found.negatives[::-1]
    total = np.cumsum(up + down)
    if not (isinstance(k, (int, np.integer)) and 0 < k <= (total[-1] if len(total) else 0)):
        raise ParameterError("k", "is invalid: it must be from 1 to the number of events", value=k)
    last = int(np.searchsorted(total, k))
    before = total[last] - up[last] - down[last]
    share = (k - before) / (up[last] + down[last])
    return float((up[:last].sum() + share * up[last]) / k)


def levels(y: ArrayLike, scores: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Levels:
    """Return the different scores with the weight of each class at each.

    Parameters
    ----------
    y, scores, sample_weight
        As for auc.
    """
    positive, values, weights = _checked(y, scores, sample_weight)
    known, at = np.unique(values, return_inverse=True)
    up, down = np.zeros(len(known)), np.zeros(len(known))
    np.add.at(up, at, np.where(positive, weights, 0.0))
    np.add.at(down, at, np.where(positive, 0.0, weights))
    return Levels(known, up, down)


def _checked(
    y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Return which events are positive, the scores and the weights."""
    positive = np.asarray(y) > 0
    values = np.ascontiguousarray(scores, dtype=np.float64)
    weights = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, float)
    if not len(positive) == len(values) == len(weights):
        raise InputError("y, scores and weights must be of one length")
    if np.isnan(values[weights > 0]).any():
        raise InputError("scores contain NaN")
    if not ((weights >= 0) & np.isfinite(weights)).all():
        raise InputError("weights must be finite and not negative")
    return np.ascontiguousarray(positive), values, np.ascontiguousarray(weights)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
