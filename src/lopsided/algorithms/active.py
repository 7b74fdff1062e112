"""Learning with labels that cost something: which to buy, and what they have bought."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..estimator.batch import BadRowError, Batch, as_batch, explained, explanation, is_events
from ..estimator.columns import check_columns
from ..estimator.labels import as_labels
from ..estimator.learning import Ready, one_thread_at_a_time
from ..estimator.parameters import is_number
from ..estimator.sklearn_compat import not_fitted
from ._around import Around
from .budget import UNKNOWN, Budget, as_budget, carried_over
from .decision import Decision, Decisions
from .estimate import Estimate, estimate_from
from .times import as_days, as_delays, latest_day

if TYPE_CHECKING:
    from typing_extensions import Self

_QUERIES = ("always", "random", "margin", "asymmetric", "confidence")
# Which of the parameters of a question have an effect on which rule.
NEEDS: dict[str, tuple[str, ...]] = {
    "always": (),
    "random": ("probability",),
    "margin": ("delta",),
    "asymmetric": ("delta_pos", "delta_neg"),
    "confidence": ("delta", "delta_pos", "delta_neg"),
}
RULE_PARAMETERS = ("delta", "delta_pos", "delta_neg", "probability")


class Active(Around):
    """A learner that asks for the labels it learns from, and keeps within a budget.

    In `fit`, `partial_fit`, `learn_one` and `progressive` a label is learned from only when it is
    asked for. In a real stream `ask` says for each event whether its label is wanted, and `tell`
    supplies it, later or never. A label is paid for when it is asked for, told or not: the budget
    is never exceeded.

    With `class_weight="balanced"`, which CSOAL, SOAL-CS and the OA3 family have, `fit` and
    `progressive` know how many labels of each class there are, bought or not, as the papers do. A
    real stream does not: `partial_fit`, `progressive(..., resume=True)`, `ask` and `lopsided run`
    count the labels that were bought.

    The parameters of the learner can be read and set as `learner__name` or, where the name is not
    one of the following, as `name`.

    Parameters
    ----------
    learner : estimator or str
        What learns; only its parameters are used, not what it has learned. A name is one of
        `lopsided.learners()`.
    query : {"always", "random", "margin", "asymmetric", "confidence"}
        How much a label is wanted. "random": with a constant probability. "margin": with the
        probability d / (d + abs(score)). "asymmetric": the same with d of the predicted class.
        "confidence": with d / (d + q), where q is abs(score) less what a step could change it by,
        and always when q is not positive; for learners with a covariance (ACOG, AROW).
    budget : int, float, str, Budget or None
        How many labels may be bought, see `Budget`; None for no limit. When it is spent the model
        still predicts but no longer learns.
    delta : float, optional
        d for both classes, default 1. Larger values ask for more labels.
    delta_pos, delta_neg : float, optional
        d for events predicted positive and negative, for "asymmetric" and "confidence".
    probability : float, optional
        Probability of asking, for "random".
    explore : float
        Ask at least with this probability: pi becomes explore + (1 - explore) pi. It improves
        estimates.
    seed : int
        Seed of the random numbers.
    max_pending : int
        How many events may wait for their labels. Beyond that the oldest is forgotten.

    References
    ----------
    Zhang et al., "Online adaptive asymmetric active learning with limited budgets" (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import COG, Active, progressive
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> y = X[:, 0] + X[:, 1] > 2
    >>> learner = Active(COG(intercept=True), delta=0.1, budget=200)
    >>> result = progressive(learner, X, y)
    >>> result.queries, round(result.sum(), 2)
    (200, 0.86)
    """

    _own: ClassVar[dict[str, str]] = {
        "learner": "an estimator or a name",
        "query": "one of " + ", ".join(repr(q) for q in _QUERIES),
        "budget": "a number of labels, a share, a text like '50/day', a Budget or None",
        "delta": "a positive number or None",
        "delta_pos": "a positive number or None",
        "delta_neg": "a positive number or None",
        "probability": "a number above 0 and up to 1, or None",
        "explore": "a number from 0 to 1",
        "seed": "a whole number from 0 to 4294967295",
        "max_pending": "a whole number from 1 to 2147483648",
    }
    # A model, and the latest day it has met.
    _met: tuple[_core.Model, float] | None = None
    query: Any
    budget: Any
    delta: Any
    delta_pos: Any
    delta_neg: Any
    probability: Any
    explore: Any
    seed: Any
    max_pending: Any

    def __init__(
        self,
        learner: Any = "Recommended",
        *,
        query: str = "margin",
        budget: Any = None,
        delta: float | None = None,
        delta_pos: float | None = None,
        delta_neg: float | None = None,
        probability: float | None = None,
        explore: float = 0.0,
        seed: int = 0,
        max_pending: int = 10000,
    ) -> None:
        self.learner = learner
        self.query = query
        self.budget = budget
        self.delta = delta
        self.delta_pos = delta_pos
        self.delta_neg = delta_neg
        self.probability = probability
        self.explore = explore
        self.seed = seed
        self.max_pending = max_pending

    # Learning where the labels are at hand -------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        time: ArrayLike | None = None,
    ) -> Self:
        """Start anew, with the whole budget, and learn from those rows whose labels are bought.

        Parameters
        ----------
        X, y, sample_weight
            As for every learner.
        time : array, optional
            When each event happened, for a budget that is daily: dates or seconds since 1970.
        """
        self._pass(X, y, sample_weight, fresh=True, time=time)
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        time: ArrayLike | None = None,
    ) -> Self:
        """Go on, with what is left of the budget.

        Parameters
        ----------
        X, y, classes, sample_weight, time
            As for fit.
        """
        self._pass(X, y, sample_weight, classes=classes, time=time)
        return self

    def learn_one(self, x: Any, y: Any, weight: float = 1.0, *, time: Any = None) -> Self:
        """Meet one event, and learn from it if its label is bought."""
        if time is None and (self.budget is None or not self._daily()):
            return super().learn_one(x, y, weight)
        rows = [x] if isinstance(x, dict) else np.asarray(x)[None]
        self._pass(rows, [y], [weight], time=None if time is None else [time])
        return self

    def step_one(self, x: Any, y: Any, weight: float = 1.0) -> float:
        """Refuse: whether the label is looked at is what `ask` says, and `tell` brings it."""
        name = type(self).__name__
        raise TypeError(f"{name} asks for labels: use ask and tell, or learn_one to let it choose")

    # Labels that come later, or never ------------------------------------------------------------

    def ask(self, x: Any, *, time: Any = None) -> Decision:
        """Say what the model thinks of an event and whether its label is wanted.

        Parameters
        ----------
        x : dict of named features or 1-D array
            The event.
        time : date, datetime, text of one, or seconds since 1970
            When it happened, for a budget that is daily.

        Returns
        -------
        Decision
        """
        model = self._model
        if time is None and model is not None:
            labels = self._labels
            try:  # a context manager would take as long as the decision
                found: Decision | None = model.decide(x, Decision, labels.positive, labels.negative)
            except _core.RowError as error:
                raise explanation(error, model.names) from None
            if found is not None:
                return found
        return self._ask_carefully(x, time)

    def ask_many(self, X: Any, *, time: ArrayLike | None = None) -> Decisions:
        """Do as ask does for each row of X: all of them, or none if one is bad."""
        batch = None if is_events(X) else as_batch(X, self._features())
        days = self._days(time, len(X) if batch is None else batch.rows.size)
        model = self._begin("event" if batch is None else batch.form)
        if batch is None:
            batch = Batch(model.event_rows(list(X)), None, "event", open=True)
        elif model.features:
            check_columns(type(self).__name__, model, batch, learning=True)
        daily = self._daily()
        latest = self._latest(model, days, np.arange(len(days))) if daily else 0.0
        with explained(batch.names):
            found = model.ask(batch.rows, days)
        if daily:
            self._met = model, latest
        if batch.names:
            model.set_names(batch.names[: model.features])
        return Decisions(self._labels, found)

    @one_thread_at_a_time
    def tell(self, event: int, y: Any, weight: float = 1.0) -> Self:
        """Bring the label of an event that was asked for.

        The model as it is now learns from the event as it was then.

        Parameters
        ----------
        event : int
            The id of its Decision.
        y : label
            What the event turned out to be.
        weight : float
            How much it counts; 0 leaves it out.
        """
        weight = self._one_weight(weight)
        self._check()
        self._refresh()
        model = self._model
        if model is None:
            raise self._has_not_asked()
        self._check_waits(model, event)
        labels, codes = self._labels.read(as_labels([y], 1))
        with explained():
            model.tell(int(event), int(codes[0]), weight)
        if weight:
            self._labels = labels
        return self

    @one_thread_at_a_time
    def forget(self, event: int) -> Self:
        """Stop waiting for the label of an event. It stays paid for."""
        self._refresh()
        model = self._model
        if model is None:
            raise self._has_not_asked()
        self._check_waits(model, event)
        model.forget(int(event))
        return self

    # What came of it -----------------------------------------------------------------------------

    @property
    def queries_(self) -> int:
        """How many labels were bought."""
        return int(self._asking().get("queries", 0))

    @property
    def events_(self) -> int:
        """How many events were met."""
        return int(self._asking().get("events", 0))

    @property
    def budget_left_(self) -> float:
        """How many labels may be bought now; inf without a budget."""
        found = self._asking()
        if found:
            return float(found["left"])
        budget = as_budget(self.budget)
        return np.inf if budget is None else budget.at_first

    @property
    def pending_(self) -> list[int]:
        """The events that wait for their labels."""
        return list(self._model.pending) if self._asking() and self._model is not None else []

    def estimate(self, fn: float = 0.9, fp: float = 0.1) -> Estimate:
        """Return how good the predictions were, from the labels bought so far.

        Parameters
        ----------
        fn, fp : float
            The price of a missed positive and of a false alarm.
        """
        for name, price in (("fn", fn), ("fp", fp)):
            if not (is_number(price) and price >= 0):
                raise ValueError(f"{name}={price!r} is invalid: a price is a number from 0 on")
        sums = self._asking()
        if not sums:
            raise self._has_not_asked()
        return estimate_from({k.removeprefix("estimate."): v for k, v in sums.items()}, fn, fp)

    # Inside --------------------------------------------------------------------------------------

    def _check(self) -> None:
        inner = self._inner()
        inner._check()
        if self.query not in _QUERIES:
            raise self._invalid("query")
        for name in RULE_PARAMETERS:
            value = getattr(self, name)
            if value is None:
                continue
            if name not in NEEDS[self.query]:
                raise ValueError(f"{name} has no effect on query={self.query!r}")
            if not (is_number(value) and value > 0 and (name != "probability" or value <= 1)):
                raise self._invalid(name)
        self._check_deltas()
        if self.query == "confidence" and not inner._has_variance:
            raise ValueError(
                "query='confidence' needs a learner with a covariance, as ACOG and AROW are; "
                f"for {type(inner).__name__} use query='margin'"
            )
        if not (is_number(self.explore) and 0 <= self.explore <= 1):
            raise self._invalid("explore")
        if self.explore and self.query == "always":
            raise ValueError("explore has no effect on query='always'")
        for name, low, high in (("seed", 0, 2**32 - 1), ("max_pending", 1, 2**31)):
            value = getattr(self, name)
            if not (is_number(value) and value == int(value) and low <= value <= high):
                raise self._invalid(name)
        as_budget(self.budget)

    def _check_deltas(self) -> None:
        pair = self.delta_pos is not None, self.delta_neg is not None
        if self.query == "random" and self.probability is None:
            raise ValueError("query='random' needs probability=, that of a question")
        if any(pair) != all(pair) or (self.query == "asymmetric" and not all(pair)):
            raise ValueError(f"query={self.query!r}: give both delta_pos and delta_neg")
        if any(pair) and self.delta is not None:
            raise ValueError("give delta, or delta_pos and delta_neg, not both")

    def _own_options(self) -> dict[str, Any]:
        both = 1.0 if self.delta is None else self.delta
        budget = as_budget(self.budget)
        return {
            **self._inner()._own_options(),
            "query": "margin" if self.query == "asymmetric" else self.query,
            "delta_pos": float(both if self.delta_pos is None else self.delta_pos),
            "delta_neg": float(both if self.delta_neg is None else self.delta_neg),
            "probability": float(1.0 if self.probability is None else self.probability),
            "explore": float(self.explore),
            "query_seed": float(self.seed),
            "max_pending": float(self.max_pending),
            **({} if budget is None else budget.options()),
        }

    @one_thread_at_a_time
    def _asking(self) -> dict[str, Any]:
        """Return what was asked so far, by the parameters as they are now; nothing before that."""
        if self._parked is not None:
            self._check()
            self._refresh()
        return {} if self._model is None else self._model.asking()

    def _has_not_asked(self) -> Exception:
        return not_fitted(type(self).__name__, "ask")

    def _carried_over(
        self, state: dict[str, Any], before: dict[str, Any], now: dict[str, Any]
    ) -> dict[str, Any]:
        return carried_over(state, before, now)

    @one_thread_at_a_time
    def _begin(self, form: str) -> _core.Model:
        """Return the model, a new one if there is none."""
        if self._model is None:
            self._check()
            self._refresh()
        if self._model is None:
            labels = self._new_labels()
            model, made_with = self._make(labels, self._scaling(form))
            self._keep(model, labels, made_with)
        assert self._model is not None
        return self._model

    def _ask_carefully(self, x: Any, time: Any) -> Decision:
        """Answer about an event that is the first, or has a time, or is a row to be looked at."""
        try:
            day = float(self._days(None if time is None else [time], 1)[0])
        except BadRowError as error:
            raise ValueError(error.what) from None
        model = self._begin("event" if isinstance(x, dict) else "dense")
        labels, daily = self._labels, self._daily()
        latest = self._latest_one(model, day) if daily else 0.0
        how = day, Decision, labels.positive, labels.negative
        try:
            if isinstance(x, dict):
                found: Decision = model.ask_event(x, *how)
            else:
                found = model.ask_row(self._event_row(x, model, learning=True), *how)
        except _core.RowError as error:
            raise explanation(error, model.names) from None
        if daily:
            self._met = model, latest
        return found

    def _check_waits(self, model: _core.Model, event: Any) -> None:
        if not is_number(event) or event != int(event):
            raise ValueError(f"event={event!r} is invalid: it is the id of a Decision")
        if 0 <= event < 2**53 and model.waits(int(event)):
            return
        events = model.asking()["events"]
        if not 0 <= event < events:
            raise ValueError(f"there is no event {event}: so far there are {events}")
        raise ValueError(
            f"event {event} does not wait for a label: it was told or forgotten, or never asked for"
        )

    def _daily(self) -> bool:
        budget = self.budget
        return isinstance(budget, (str, Budget)) and _daily(budget)

    def _days(self, time: Any, rows: int) -> NDArray[np.float64]:
        if time is None:
            if self._daily():
                raise ValueError("a budget that is daily needs the times of the events: give time=")
            return np.zeros(rows)
        if not self._daily():
            raise ValueError("time has an effect only with a budget that is daily")
        return as_days(time, rows)

    def _latest(
        self, model: _core.Model, days: NDArray[np.float64], rows: NDArray[np.int64]
    ) -> float:
        """Return the latest day after some rows; raise if one is far off."""
        if self._met is None or self._met[0] is not model:
            state = model.state()
            first, period = float(state["budget.first"]), float(state["budget.period"])
            none = not state["budget.events"] or first == UNKNOWN
            self._met = model, np.nan if none else first + period
        return latest_day(days, self._met[1], rows)

    def _latest_one(self, model: _core.Model, day: float) -> float:
        if self._met is not None and self._met[0] is model and day == self._met[1]:
            return day  # most events are of the same day as the one before
        try:
            return self._latest(model, np.array([day]), np.zeros(1, np.int64))
        except BadRowError as error:
            raise ValueError(error.what) from None

    def _ready(self, *args: Any, **options: Any) -> Ready:
        ready = super()._ready(*args, **options)
        if self._daily():
            self._latest(ready.model, *_met(ready))
        return ready

    def _learned(self, ready: Ready, result: dict[str, Any]) -> dict[str, Any]:
        if self._daily() and result["events"]:
            self._met = ready.model, self._latest(ready.model, *_met(ready))
        if result["forgotten"]:
            warnings.warn(
                f"{result['forgotten']:,} labels were bought and forgotten before they came: "
                f"no more than max_pending={self.max_pending} events wait for theirs",
                stacklevel=5,
            )
        return super()._learned(ready, result)

    def _delays(self, delay: Any, rows: int) -> NDArray[np.float64] | None:
        return None if delay is None else as_delays(delay, rows, self.seed)


@functools.lru_cache(maxsize=64)
def _daily(budget: str | Budget) -> bool:
    return getattr(as_budget(budget), "per", None) == "day"


def _met(ready: Ready) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the days of a batch, and the rows that count in the order they are met."""
    assert ready.days is not None
    rows = np.arange(len(ready.days)) if ready.visit is None else ready.visit
    return ready.days, rows if ready.weights is None else rows[ready.weights[rows] != 0]
