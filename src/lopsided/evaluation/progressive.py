"""The progressive pass: predict each event before learning from it."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._text import html_rows, percent
from ..algorithms.active import Active
from ..errors import DivergedError, InputError, InputTypeError, ParameterError
from ..estimator.bank import learn_together
from ..estimator.base import OnlineClassifier
from ..estimator.batch import as_order, as_weights
from ..estimator.labels import Labels
from ..estimator.times import as_days, as_delays
from ..metrics import Counts, Levels, RunningAUC, auc, average_precision, levels, precision_at_k
from .changes import Change, Watch
from .contenders import as_outside
from .delayed import pass_with_delay
from .event_models import EventModel
from .labelled import LabelledRows, read_rows
from .late import delays_by_time
from .outside import Outside
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


def progressive(
    model: OnlineClassifier,
    X: Any,
    y: ArrayLike,
    *,
    order: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    resume: bool = False,
    points: int = 15,
    delay: Any = None,
    time: ArrayLike | None = None,
    label_time: ArrayLike | None = None,
    costs: Any = None,
    chances: bool = False,
    positive: Any = None,
    refit_every: int | None = None,
) -> Progress:
    """Run a model over a stream in one pass, predicting each event before learning from it.

    Parameters
    ----------
    model : OnlineClassifier or classifier from elsewhere
        It learns during the pass. Classifiers of scikit-learn score and learn chunks of at most 100
        rows. Those of river, and any object with `learn_one` and `score_one`, `predict_proba_one`
        or `predict_one`, learn row by row in Python, which is slow: a warning says so. Classifiers
        from elsewhere continue from what they have learned, whatever `resume` says; costs and
        chances are not for them.
    X, y : as for fit
        The stream.
    order : array, optional
        The rows to visit, in this order: a permutation or a part of one.
    sample_weight : array, optional
        One weight per row of X, for learning and for the counts.
    resume : bool
        Continue training, as partial_fit does, instead of starting over as fit does.
        Under class_weight="balanced" a fresh pass knows the class counts of the visited rows
        beforehand, as the papers assume; a resumed one estimates them.
    points : int
        About how many points of the curve to keep; 0 for none.
    delay : int, float, ("geometric", mean) or array, optional
        How many further events are met before the label of an event comes; inf for never. Random
        ones are drawn with the learner's seed if it has one, an array has one for each row of X.
        Events wait with the features and the score of their time. Labels that have not come by the
        end are left pending in a learner that asks (the number of an event is its place in a fresh
        pass), and are not learned by others. Default: labels come at once.
    time : array, optional
        When each event happened, for a daily budget or capacity, for label times and for
        `Progress.periods`.
    label_time : array, optional
        Instead of a delay: when the label of each row was known. It comes before the first event
        whose time is not earlier; None, NaN or NaT for never.
    costs : dict, optional
        As the parameter of the model, for this pass; values may also be arrays with one for each
        row of X. `money` sums what the decisions cost.
    chances : bool
        Keep the probability of each event before it was learned, for `log_loss`,
        `calibration_error` and `reliability`.
    positive : label, optional
        For classifiers from elsewhere: the positive label. Default: the larger of the two.
    refit_every : int, optional
        For classifiers with `fit` only: fit to all labels known whenever this many more are.

    Returns
    -------
    Progress

    Examples
    --------
    >>> import numpy as np, lopsided
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5))
    >>> y = X[:, 0] + 0.3 * rng.normal(size=1000) > 1.5
    >>> result = lopsided.progressive(lopsided.COG(intercept=True), X, y)
    >>> round(result.sum(), 3)
    0.83
    """
    if delay is not None and label_time is not None:
        raise ParameterError("delay", "and label_time contradict each other: give one of them")
    if not isinstance(model, OnlineClassifier):
        _check_instance(model)
        return _outside(
            as_outside(model, checked_refit(refit_every)),
            (X, y, sample_weight, Labels.start(positive, None, None)),
            order,
            points,
            (delay, time, label_time),
            {"costs": costs, "chances": chances or None},
        )
    for name, value in (("positive", positive), ("refit_every", refit_every)):
        if value is not None:
            raise ParameterError(name, "is for classifiers from elsewhere: leave it out")
    if label_time is not None:
        rows = int(np.size(y))
        visit, weights = as_order(order, rows), as_weights(sample_weight, rows)
        delay = delays_by_time(time, label_time, rows, visit, weights)
    options: dict[str, Any] = {
        "fresh": not resume,
        "order": order,
        "every": curve_step(points, y, order),
        "scores": True,
        "time": time if model.needs_time else None,
        "costs": costs,
        "chances": chances,
    }
    if delay is None or isinstance(model, Active):
        result = model.pass_over(X, y, sample_weight, delay=delay, **options)
    else:
        result = pass_with_delay(model, X, y, sample_weight, delay, **options)
    days = None if time is None else as_days(time, np.size(y))
    return _progress(
        result,
        *_visited(result, order),
        days=_in_order(days, order),
        prices=_in_order(result["prices"], order),
    )


def _check_instance(model: Any) -> None:
    if isinstance(model, type):
        raise InputTypeError(f"the model {model.__name__} is a class: give an instance of it")
    if isinstance(model, str):
        raise InputTypeError(f"model must be an estimator, not the name {model!r}")


def _outside(
    model: Outside,
    given: tuple[Any, ...],
    order: ArrayLike | None,
    points: int,
    late: tuple[Any, Any, Any],
    ours: dict[str, Any],
) -> Progress:
    """Run a classifier from elsewhere."""
    for name, value in ours.items():
        if value is not None:
            raise ParameterError(name, "is not for classifiers from elsewhere: leave it out")
    data = LabelledRows(*read_rows(*given))
    if data.weights is not None:
        model.check_weights(repr(model))
    if not model.online:
        raise InputError(
            f"{model!r} has no partial_fit: give refit_every to fit it again and again"
        )
    rows = len(data.y)
    visit = as_order(order, rows)
    visit = np.arange(rows) if visit is None else visit
    delays = outside_delays(late, data, visit)
    if isinstance(model, EventModel):
        warnings.warn(
            f"{type(model.classifier).__name__} learns row by row in Python: slow", stacklevel=3
        )
    every = curve_step(points, data.y, order)
    days = None if late[1] is None else as_days(late[1], rows)
    return outside_progress(model, data, visit, every, delays, days=_in_order(days, order))


def outside_delays(
    late: tuple[Any, ...], data: LabelledRows, order: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Return how late the label of each row comes, from delay, time and label time."""
    delay, time, label_time = late
    if label_time is not None:
        return delays_by_time(time, label_time, len(data.y), order, data.weights)
    return None if delay is None else as_delays(delay, len(data.y), 0)


def outside_progress(
    model: Outside,
    data: LabelledRows,
    order: NDArray[np.int64],
    every: int,
    delays: NDArray[np.float64] | None,
    **others: Any,
) -> Progress:
    """Return the progressive pass of a classifier from elsewhere."""
    result = model.pass_over(data, order, every, delays)
    return _progress(result, result["labels"], result["weights"], **others)


def checked_refit(refit_every: Any) -> int | None:
    """Return after how many labels to fit again; raise unless it is a number of labels."""
    if refit_every is None:
        return None
    if not isinstance(refit_every, (int, np.integer)) or refit_every < 1:
        raise ParameterError(
            "refit_every", "is invalid: it must be a whole number of at least 1", value=refit_every
        )
    return int(refit_every)


def progressive_bank(
    models: Sequence[OnlineClassifier],
    X: Any,
    y: ArrayLike,
    *,
    order: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    resume: bool = False,
    points: int = 15,
) -> list[Progress]:
    """Run several models over a stream; the results are bit-identical to `progressive`.

    Models of one class that differ only in numbers such as `learning_rate`, `C`, `regularization`
    or `l1` learn in one shared pass, which takes about as long as a few passes of one model. This
    works for Perceptron, PassiveAggressive, PAUM, CPA, COG, AdaRDA, DualAveraging and, with a
    diagonal covariance, AROW, ACOG and SSOL, unless rows are dicts. Others learn one by one.

    Parameters
    ----------
    models : sequence of OnlineClassifier
        They learn during the pass.
    X, y, order, sample_weight, resume, points
        As for `progressive`. Models that continue training do so one by one.

    Returns
    -------
    list of Progress
        In the order of the models. The time of a shared pass is split evenly.

    Examples
    --------
    >>> import numpy as np, lopsided
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5))
    >>> y = X[:, 0] + 0.3 * rng.normal(size=1000) > 1.5
    >>> models = [lopsided.COG(intercept=True, learning_rate=r) for r in (0.01, 0.1, 1.0)]
    >>> [round(result.sum(), 3) for result in lopsided.progressive_bank(models, X, y)]
    [0.827, 0.83, 0.816]
    """
    found = run_bank(
        models,
        X,
        y,
        order=order,
        sample_weight=sample_weight,
        resume=resume,
        points=points,
    )
    results = []
    for place, result in enumerate(found):
        if isinstance(result, DivergedError):
            raise result.within(f"models[{place}]")
        results.append(result)
    return results


def run_bank(
    models: Sequence[OnlineClassifier],
    X: Any,
    y: ArrayLike,
    *,
    order: ArrayLike | None,
    sample_weight: ArrayLike | None,
    resume: bool,
    points: int,
    **late: Any,
) -> list[Progress | DivergedError]:
    """Run several models; one that diverges does not stop the others.

    `late` are delay, time and label_time of `progressive`: then each runs by itself.
    """
    for model in models:
        _check_model(model)
    every = curve_step(points, y, order)
    together = None
    if not late:
        together = learn_together(
            models, X, y, sample_weight, fresh=not resume, order=order, every=every
        )
    if together is not None:
        return _all_progress(together, order)

    def run(model: OnlineClassifier) -> Progress | DivergedError:
        try:
            return progressive(
                model,
                X,
                y,
                order=order,
                sample_weight=sample_weight,
                resume=resume,
                points=points,
                **late,
            )
        except DivergedError as error:
            return error

    return [run(model) for model in models]


def _check_model(model: Any) -> None:
    if not isinstance(model, OnlineClassifier):
        raise InputTypeError(f"model must be an estimator, for example COG(), not {model!r}")


def curve_step(points: int, y: ArrayLike, order: ArrayLike | None) -> int:
    """Return the number of events between points of the curve."""
    if not isinstance(points, (int, np.integer)) or points < 0:
        raise ParameterError(
            "points", "is invalid: it must be a whole number of at least 0", value=points
        )
    visits = np.size(y if order is None else order)
    return max(1, round(visits / points)) if points else 0


def _all_progress(
    results: Sequence[dict[str, Any] | DivergedError], order: ArrayLike | None
) -> list[Progress | DivergedError]:
    """Return the results of a bank; all models share one array of labels and one of weights."""
    found: list[Progress | DivergedError] = []
    seen: tuple[Any, ...] | None = None
    for result in results:
        if isinstance(result, DivergedError):
            found.append(result)
        else:
            seen = seen or tuple(map(_read_only, _visited(result, order)))
            found.append(_progress(result, *seen))
    return found


def _visited(result: dict[str, Any], order: ArrayLike | None) -> tuple[Any, Any]:
    """Return labels and weights in the order visited."""
    return _in_order(result["labels"], order), _in_order(result["weights"], order)


def _in_order(values: NDArray[Any] | None, order: ArrayLike | None) -> NDArray[Any] | None:
    """Return the values of rows in the order visited; one for all stays so."""
    if values is None or order is None or len(values) == 1:
        return values
    visited: NDArray[Any] = values[np.asarray(order)]
    return visited


def _read_only(shared: NDArray[Any] | None) -> NDArray[Any] | None:
    if shared is not None:
        shared = shared.view()  # it may belong to the caller
        shared.flags.writeable = False
    return shared


def _progress(result: dict[str, Any], labels: Any, weights: Any, **others: Any) -> Progress:
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
