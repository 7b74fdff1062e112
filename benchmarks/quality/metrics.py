"""What a run is worth: decisions, ranking, probabilities, money."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lopsided.metrics import auc, average_precision

from .streams import Floats, Stream

CLIP = 1e-7  # probabilities nearer to 0 and 1 count as this near
BINS = 20  # of equal mass, for the calibration error


@dataclasses.dataclass
class Run:
    """What a contender said of each event before its label came.

    Attributes
    ----------
    scores : array
        The higher, the more likely positive.
    probabilities : array, optional
        Of being positive.
    decisions : array of bool, optional
        Its own alarms; default: where an alarm is the cheaper answer at its probabilities.
    seconds : float
        Processor time.
    """

    scores: Floats
    probabilities: Floats | None
    decisions: NDArray[np.bool_] | None
    seconds: float

    def first(self, rows: int) -> Run:
        """Return what it said of the first events."""
        parts = (self.scores, self.probabilities, self.decisions)
        return Run(*(None if part is None else part[:rows] for part in parts), self.seconds)


def judge(stream: Stream, run: Run, told: dict[str, Run]) -> dict[str, Any]:
    """Return all measures of a run; `told` are runs that were told the prices of that name."""
    y, p = stream.y, run.probabilities
    alarms = run.decisions
    if alarms is None:
        alarms = p >= running_share(stream)
    cost, constant = {}, {}
    for name, prices in stream.prices.items():
        source = told.get(name, run)
        decided = source.decisions
        if decided is None:
            decided = source.probabilities >= prices.threshold
        cost[name] = prices.cost(y, decided)
        constant[name] = prices.constant(y)
    return {
        "rows": len(stream),
        "positives": int(y.sum()),
        "balanced": balanced_accuracy(y, alarms),
        "auc": auc(y, run.scores),
        "ap": average_precision(y, run.scores),
        "log loss": None if p is None else log_loss(y, p),
        "calibration": None if p is None else calibration_error(y, p),
        "calibration by chance": None if p is None else chance_error(p),
        "cost": cost,
        "constant": constant,
        "told auc": {name: auc(y, other.scores) for name, other in told.items()},
        "told ap": {name: average_precision(y, other.scores) for name, other in told.items()},
        "tenths": tenths(y, run.scores),
        "after": after_change(stream, run.scores),
        "seconds": run.seconds,
    }


def balanced_accuracy(y: NDArray[np.bool_], alarms: NDArray[np.bool_]) -> float:
    """Return the mean of sensitivity and specificity; NaN where a class is absent."""
    with np.errstate(invalid="ignore"):
        return float((np.mean(alarms[y]) + np.mean(~alarms[~y])) / 2) if y.any() else np.nan


def log_loss(y: NDArray[np.bool_], p: Floats) -> float:
    """Return the mean negative log-probability of the labels."""
    p = np.clip(p, CLIP, 1 - CLIP)
    return float(-np.mean(np.log(np.where(y, p, 1 - p))))


def calibration_error(y: NDArray[np.bool_], p: Floats, bins: int = BINS) -> float:
    """Return the mean distance of probability and share of positives, over bins of equal mass."""
    order = np.argsort(p, kind="stable")
    parts = np.array_split(order, min(bins, len(order)))
    return float(sum(abs(y[part].sum() - p[part].sum()) for part in parts) / len(y))


def chance_error(p: Floats, bins: int = BINS) -> float:
    """Return the calibration error to be expected if labels were drawn by these probabilities.

    The distance in a bin is then about normal, and its mean size sqrt(2 / pi) deviations.
    """
    parts = np.array_split(np.sort(p), min(bins, len(p)))
    return float(sum(np.sqrt(2 / np.pi * (part * (1 - part)).sum()) for part in parts) / len(p))


def tenths(y: NDArray[np.bool_], scores: Floats) -> list[float]:
    """Return the AUC within each tenth of the stream."""
    edges = np.linspace(0, len(y), 11).astype(int)
    return [auc(y[a:b], scores[a:b]) for a, b in itertools.pairwise(edges)]


def after_change(stream: Stream, scores: Floats) -> list[float]:
    """Return the AUC in the first and second tenth of the stream after its change."""
    if stream.change is None:
        return []
    size = len(stream) // 10
    starts = (stream.change, stream.change + size)
    return [auc(stream.y[a : a + size], scores[a : a + size]) for a in starts]


def running_share(stream: Stream) -> Floats:
    """Return the share of positives among the labels that had come before each event."""
    order, after = stream.arrivals()
    come = np.bincount(after + 1, minlength=len(stream) + 1)[:-1].cumsum()
    positive = np.bincount(after + 1, stream.y[order], minlength=len(stream) + 1)[:-1].cumsum()
    return (positive + 1) / (come + 2)
