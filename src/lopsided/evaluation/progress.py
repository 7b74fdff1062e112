"""The result of a progressive pass: counts, scores, curves, and what follows from them."""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._text import html_rows, percent
from ..errors import InputError
from ..metrics import Counts, Levels, RunningAUC, auc, average_precision, levels, precision_at_k
from .changes import Change, Watch
from .periods import Period, Periods, spans
from .reliability import Reliability

_NO_ALARMS = np.zeros(0, bool)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Progress(Counts):
    """The result of one progressive pass.

    Attributes
    ----------
    positives, negatives, false_negatives, false_positives : float
        Sums of weights.
    events, queries, updates : int
        Number of events with nonzero weight, of queried labels, and of updates.
    seconds : float
        Time of the pass in the core.
    scores, labels, weights : array
        The score of each event before it was learned, its label (+1 or -1) and its weight, in the
        order visited. An event of weight 0 has the score NaN.
    marks : array or None
        The points of the curve: events, positives, negatives, false_negatives, false_positives,
        queries, updates and money.
    alarms : array
        Whether each event was predicted positive, before it was learned.
    chances : array or None
        The probability that each event was positive by its score, before it was learned, where
        `chances=True` asked for them.
    days : array or None
        The time of each event in days since 1970, where times were given.
    prices : array or None
        What each answer costs (miss, alarm, hit, pass), for each event or one row for all, where
        there are costs.
    asked, probabilities : array or None
        For active learners: whether each label was queried, and the probability of the query, 0
        where the budget did not allow it.
    """

    seconds: float = 0.0
    scores: NDArray[np.float64] = dataclasses.field(repr=False)
    labels: NDArray[np.int8] = dataclasses.field(repr=False)
    weights: NDArray[np.float64] | None = dataclasses.field(repr=False)
    marks: NDArray[np.float64] | None = dataclasses.field(repr=False, default=None)
    asked: NDArray[np.bool_] | None = dataclasses.field(repr=False, default=None)
    probabilities: NDArray[np.float64] | None = dataclasses.field(repr=False, default=None)
    alarms: NDArray[np.bool_] = dataclasses.field(repr=False, default_factory=lambda: _NO_ALARMS)
    chances: NDArray[np.float64] | None = dataclasses.field(repr=False, default=None)
    days: NDArray[np.float64] | None = dataclasses.field(repr=False, default=None)
    prices: NDArray[np.float64] | None = dataclasses.field(repr=False, default=None)

    def __repr__(self) -> str:
        return (
            f"<Progress: {self.events:,} events, {self.positives:,.10g} positives; balanced "
            f"{percent(self.sum(unseen=math.nan))}, AUC {percent(self._auc)}, precision "
            f"{percent(self.precision)} of {self._alarmed:,.10g} alarms>"
        )

    @property
    def _alarmed(self) -> float:
        return self.positives - self.false_negatives + self.false_positives

    @property
    def _auc(self) -> float:
        return self.auc if self.positives and self.negatives else math.nan

    def _repr_html_(self) -> str:
        both = self.positives and self.negatives
        rows = [
            ("events", f"{self.events:,}"),
            ("positives", f"{self.positives:,.10g}"),
            ("alarms", f"{self._alarmed:,.10g}"),
            ("sensitivity", percent(self.sensitivity)),
            ("specificity", percent(self.specificity)),
            ("balanced", percent(self.sum(unseen=math.nan))),
            ("precision", percent(self.precision)),
            ("AUC", percent(self._auc)),
            ("average precision", percent(self.average_precision if both else math.nan)),
            *([("paid", f"{self.money:,.6g}")] if self.prices is not None else []),
            *([("log loss", f"{self.log_loss:.4g}")] if self.chances is not None else []),
            ("labels", f"{self.queries:,}"),
            ("steps", f"{self.updates:,}"),
            *(("changed", str(change)) for change in self.changes),
        ]
        return html_rows("Progress", rows)

    def plot(self, **about: Any) -> Any:
        """Return figures of the pass, which a notebook shows; they need matplotlib.

        Parameters
        ----------
        **about
            `cost`, what a missed positive and a false alarm cost, and `unit`, that of costs.
        """
        from ..report import plots

        return plots(self, **about)

    @cached_property
    def curve(self) -> tuple[Counts, ...]:
        """The counts at points along the pass."""
        return () if self.marks is None else tuple(_point(row) for row in self.marks)

    @cached_property
    def auc(self) -> float:
        """Probability that a positive scores higher than a negative."""
        return auc(self.labels, self.scores, sample_weight=self.weights)

    @cached_property
    def auc_curve(self) -> tuple[float, ...]:
        """The AUC up to each point of the curve."""
        used = np.ones(len(self.scores)) if self.weights is None else self.weights > 0
        ends = np.searchsorted(np.cumsum(used), [point.events for point in self.curve]) + 1
        running, values, first = RunningAUC(), [], 0
        for last in ends.tolist():
            part = slice(first, last)
            weights = None if self.weights is None else self.weights[part]
            running.add_many(self.labels[part], self.scores[part], sample_weight=weights)
            values.append(running.value)
            first = last
        return tuple(values)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Where the AUC fell, or the share of positives or the mean probability changed.

        Probabilities are known of a pass with `chances=True`. Inputs are not kept: `lopsided run`
        watches them too.
        """
        watch, counted = Watch(), ~np.isnan(self.scores)
        chances = None if self.chances is None else self.chances[counted]
        watch.add(self.scores[counted], self.labels[counted] > 0, chances)
        return tuple(watch.changes)

    @cached_property
    def average_precision(self) -> float:
        """Mean of the precision at the score of each positive."""
        return average_precision(self.labels, self.scores, sample_weight=self.weights)

    def precision_at_k(self, k: int) -> float:
        """Return the share of positives among the k events of highest score."""
        return precision_at_k(self.labels, self.scores, k, sample_weight=self.weights)

    @cached_property
    def levels(self) -> Levels:
        """The different scores with the weight of each class: what each threshold would do."""
        return levels(self.labels, self.scores, sample_weight=self.weights)

    @cached_property
    def reliability(self) -> Reliability:
        """Probabilities beside what was true; needs a pass with `chances=True`."""
        if self.chances is None:
            raise InputError("this pass kept no probabilities: call progressive with chances=True")
        found = Reliability()
        found.add(self.chances, self.labels > 0, self.weights)
        return found

    @property
    def log_loss(self) -> float:
        """Mean of -ln of the probability that the label had before it was learned."""
        return self.reliability.log_loss

    @property
    def calibration_error(self) -> float:
        """Mean distance of probability and share of positives, in 20 parts of equal weight."""
        return self.reliability.error

    def periods(
        self, size: int | str = "auto", *, cost: tuple[float, float] | None = None
    ) -> Periods:
        """Return the measures of each period of the stream.

        Parameters
        ----------
        size : int, "day" or "auto"
            Rows of a period; by the day (UTC), which needs a pass with `time`; or 20 periods.
            An event that comes after one of a later day counts in the later day.
        cost : pair of floats, optional
            What a missed positive and a false alarm cost. Default: what the pass paid, or 0.9 and
            0.1 where it had no prices.

        Examples
        --------
        >>> import numpy as np, lopsided
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(900, 5))
        >>> y = X[:, 0] + 0.3 * rng.normal(size=900) > 1.5
        >>> lopsided.progressive(lopsided.COG(intercept=True), X, y).periods(300)
        period   events  positives  alarms  precision  recall    AUC  avg. precision  cost
        1-300       300         17      80      16.2%   76.5%  85.8%           33.4%  10.3
        301-600     300         29      99      29.3%  100.0%  90.9%           48.8%     7
        601-900     300         20      63      27.0%   85.0%  92.6%           49.9%   7.3
        """
        weights = np.ones(len(self.labels)) if self.weights is None else self.weights
        found = []
        for name, rows in spans(len(self.labels), size, self.days):
            y, own, asked = self.labels[rows], weights[rows], self.asked
            counts = Counts.tally(
                y > 0,
                self.alarms[rows],
                own,
                queries=int(np.count_nonzero(own if asked is None else asked[rows])),
                money=self._money(rows, own),
            )
            ranked = levels(y, self.scores[rows], sample_weight=own)
            found.append(
                Period(
                    **dataclasses.asdict(counts),
                    name=name,
                    rows=len(y),
                    auc=ranked.auc,
                    average_precision=ranked.average_precision,
                )
            )
        prices = (0.9, 0.1) if self.prices is None else None
        return Periods(found, cost or prices)

    def _money(self, rows: slice, weights: NDArray[np.float64]) -> float:
        """Return what the answers of these rows cost, where they have prices."""
        if self.prices is None:
            return 0.0
        table = np.broadcast_to(self.prices, (len(self.labels), 4))[rows]
        positive, alarm = self.labels[rows] > 0, self.alarms[rows]
        kinds = np.where(positive, np.where(alarm, 2, 0), np.where(alarm, 1, 3))
        return float(np.sum(weights * table[np.arange(len(kinds)), kinds]))


def progress_of(result: dict[str, Any], labels: Any, weights: Any, **others: Any) -> Progress:
    """Return the result of a pass of the core."""
    return Progress(
        **dataclasses.asdict(Counts.of(result)),
        seconds=result["seconds"],
        scores=result["scores"],
        labels=labels,
        weights=weights,
        marks=result["curve"],
        asked=result["asked"].astype(bool) if "asked" in result else None,
        probabilities=result.get("probabilities"),
        alarms=result["alarms"].view(bool) if "alarms" in result else result["scores"] >= 0,
        chances=result.get("chances"),
        **others,
    )


def _point(row: NDArray[np.float64]) -> Counts:
    events, positives, negatives, false_negatives, false_positives, queries, updates, money = row
    return Counts(
        positives=float(positives),
        negatives=float(negatives),
        false_negatives=float(false_negatives),
        false_positives=float(false_positives),
        events=int(events),
        queries=int(queries),
        updates=int(updates),
        money=float(money),
    )
