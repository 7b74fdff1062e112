"""Learning with labels that cost something: which to buy, and what they have bought."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..errors import (
    BadRowError,
    InputError,
    InputTypeError,
    ParameterError,
)
from ..estimator import state as entry
from ..estimator.base import OnlineClassifier
from ..estimator.batch import Batch, as_batch, is_events
from ..estimator.columns import check_columns
from ..estimator.fitted import Fitted
from ..estimator.frames import as_frame
from ..estimator.labels import as_labels
from ..estimator.learning import SIGNS, Ready
from ..estimator.locking import locked
from ..estimator.parameters import (
    choice,
    estimator,
    integer,
    is_number,
    number,
    parameter,
    positive,
    switch,
)
from ..estimator.prices import event_prices, price_table
from ..estimator.sklearn_compat import not_fitted
from ..estimator.times import as_delays
from .budget import as_budget, carried_over
from .decision import Decision, Decisions
from .estimate import Estimate, estimate_from
from .query import QUERIES, check_query, query_options
from .timed_wrapper import TimedWrapper

if TYPE_CHECKING:
    from typing_extensions import Self

_BUDGET = "a number of labels, a share, a text like '50/day', a Budget or None"


@estimator
class Active(TimedWrapper):
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
        What learns. One that has learned is continued from, and stays unchanged; `fit` starts
        over. A name is one of `lopsided.learners()`.
    query : {"auto", "always", "random", "margin", "asymmetric", "confidence", "uncertainty"}
        How much a label is wanted. "random": with a constant probability. "margin": with the
        probability d / (d + abs(score)). "asymmetric": the same with d of the predicted class.
        "confidence": with d / (d + q), where q is abs(score) less what a step could change it by,
        and always when q is not positive; for learners with a covariance (ACOG, AROW).
        "uncertainty": always until five labels of each class are known or half of a budget without
        periods is spent, then in proportion to sqrt(p (1 - p)), where p is the calibrated
        probability of the positive class. "auto": "uncertainty" for Recommended, unless delta is
        given, else "margin".
    budget : int, float, str, Budget or None
        How many labels may be bought, see `Budget`; None for no limit. When it is spent the model
        still predicts but no longer learns.
    pace : bool
        Spread the labels of a budget with periods over each period, by the time of day or the
        number of events, instead of buying the first ones that are wanted.
    delta : float, optional
        d for both classes, default 1. Larger values ask for more labels.
    delta_pos, delta_neg : float, optional
        d for events predicted positive and negative, for "asymmetric" and "confidence".
    probability : float, optional
        Probability of asking, for "random"; for "uncertainty" on average, by default 1.5 times
        what a budget allows for an event, and 0.4 if it does not say.
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

    query: str = choice("auto", *QUERIES)
    budget: Any = parameter(None, _BUDGET)
    delta: float | None = positive(None, optional=True)
    delta_pos: float | None = positive(None, optional=True)
    delta_neg: float | None = positive(None, optional=True)
    probability: float | None = parameter(
        None,
        "a number above 0 and up to 1, or None",
        lambda v: v is None or (is_number(v) and 0 < v <= 1),
    )
    pace: bool = switch(False)
    explore: float = number(0.0, low=0, high=1)
    seed: int = integer(0, 0, 2**32 - 1)
    max_pending: int = integer(10000, 1, 2**31)

    # Learning where the labels are at hand -------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        time: ArrayLike | None = None,
    ) -> Self:
        """Start over with the full budget, and learn from those rows whose labels are bought.

        Parameters
        ----------
        X, y, sample_weight
            As for every learner.
        time : array, optional
            When each event happened, for a daily budget: dates or seconds since 1970.
        """
        self.pass_over(X, y, sample_weight, fresh=True, time=time)
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
        """Continue with what is left of the budget.

        Parameters
        ----------
        X, y, classes, sample_weight, time
            As for fit.
        """
        self.pass_over(X, y, sample_weight, classes=classes, time=time)
        return self

    def learn_one(self, x: Any, y: Any, weight: float = 1.0, *, time: Any = None) -> Self:
        """Meet one event, and learn from it if its label is bought."""
        if time is None and not self.needs_time:
            return super().learn_one(x, y, weight)
        rows = [x] if isinstance(x, dict) else np.asarray(x)[None]
        self.pass_over(rows, [y], [weight], time=None if time is None else [time])
        return self

    def step_one(self, x: Any, y: Any, weight: float = 1.0) -> float:
        """Refuse: `ask` decides whether the label is bought, and `tell` brings it."""
        name = type(self).__name__
        raise InputTypeError(
            f"{name} asks for labels: use ask and tell, or learn_one to let it choose"
        )

    # Labels that come later, or never ------------------------------------------------------------

    def ask(self, x: Any, *, time: Any = None) -> Decision:
        """Say what the model thinks of an event and whether its label is wanted.

        Parameters
        ----------
        x : dict of named features or 1-D array
            The event.
        time : date, datetime, text of one, or seconds since 1970
            When it happened, for a daily budget.

        Returns
        -------
        Decision
        """
        fitted = self._fitted
        if time is None and fitted is not None and fitted.current:
            labels = fitted.labels
            prices = event_prices(fitted.costs, x)
            found: Decision | None = fitted.core.ask_one(
                x, None, Decision, labels.positive, labels.negative, prices
            )
            if found is not None:
                return found
        return self._ask(x, time)

    def ask_many(self, X: Any, *, time: ArrayLike | None = None) -> Decisions:
        """Do as ask does for each row of X: all of them, or none if one is bad."""
        X = as_frame(X)
        batch = None if is_events(X) else as_batch(X, self._features())
        days = self._days(time, len(X) if batch is None else batch.rows.size)
        fitted = self._begin("event" if batch is None else batch.form)
        model = fitted.core
        if batch is None:
            events = self._checked_rows(X, model, learning=True)
            batch = Batch(model.event_rows(list(events)), None, "event", open=True)
        elif model.features:
            check_columns(type(self).__name__, model, batch, learning=True)
        daily = self.needs_time
        latest = self._latest(model, days, np.arange(len(days))) if daily else 0.0
        found = model.ask(batch.rows, days, price_table(self.costs, X, batch.rows.size))
        if daily:
            self._met = model, latest
        return Decisions(fitted.labels, found)

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
        fitted = self._fitted
        if (
            fitted is None
            or not fitted.current
            or not fitted.core.tell(event, y, weight, fitted.labels.codes)
        ):
            self._tell(event, y, weight)
        return self

    @locked
    def _tell(self, event: Any, y: Any, weight: Any) -> None:
        """Bring a label that is new, or to an event that may not wait for it."""
        weight = self.checked_weight(weight)
        fitted = self._asked_before()
        self._check_waits(fitted.core, event)
        labels, codes = fitted.labels.read(as_labels([y], 1))
        fitted.core.tell(int(event), int(codes[0]), weight, SIGNS)
        if weight and labels is not fitted.labels:
            self._keep(fitted.replace(labels=labels))

    @locked
    def forget(self, event: int) -> Self:
        """Stop waiting for the label of an event. It stays paid for."""
        core = self._asked_before().core
        self._check_waits(core, event)
        core.forget(int(event))
        return self

    def teach(
        self, x: Any, y: Any, weight: float = 1.0, *, probability: float | None = None
    ) -> Self:
        """Learn from the label of an event that was met and not asked for, or asked for and told.

        It costs nothing and does not enter estimates. The event is scaled by what was met so far,
        which has it already.

        Parameters
        ----------
        x : dict of named features or 1-D array
            The event, as it was given to ask.
        y : label
            What it turned out to be.
        weight : float
            How much it counts; 0 leaves it out.
        probability : float, optional
            How likely this label was to come, for labels that another model bought: they count for
            the probabilities of this one. By default nobody knows, and it does not.
        """
        fitted, chance = self._fitted, _chance(probability)
        if (
            fitted is None
            or not fitted.current
            or fitted.core.learn_one(x, y, weight, fitted.labels.codes, True, False, chance) is None
        ):
            self._teach(x, y, weight, chance)
        return self

    def teach_features(self, x: dict[str, float], y: Any, weight: float = 1.0) -> Self:
        """Do as teach does for an event in the model's own features, as tables give them.

        Parameters
        ----------
        x : dict
            Values by the names of features; categories are features too, like "country=fr".
        y, weight
            As for teach.
        """
        self._teach(x, y, weight, 0.0, own=True)
        return self

    @locked
    def _teach(self, x: Any, y: Any, weight: Any, chance: float, own: bool = False) -> None:
        """Learn from an event whose label is new or that is given in another form."""
        weight = self.checked_weight(weight)
        fitted = self._asked_before()
        labels, codes = fitted.labels.read(as_labels([y], 1))
        row = x if own else self._event(x, fitted.core)
        fitted.core.learn_one(row, int(codes[0]), weight, SIGNS, True, True, chance)
        if weight and labels is not fitted.labels:
            self._keep(fitted.replace(labels=labels))

    @classmethod
    def around(cls, model: OnlineClassifier, **parameters: Any) -> Self:
        """Return a model that asks, with everything that another one has learned.

        Parameters
        ----------
        model : estimator
            What has learned; it stays unchanged.
        **parameters
            The other parameters.
        """
        inner: Any = type(model)(**model.get_params(deep=False))
        self = cls(learner=inner, **parameters)
        self._adopt(model)
        return self

    @locked
    def take_budget(self, other: Active) -> Self:
        """Continue the budget of another model: what it has bought is bought, its events count.

        What this model had asked for itself is forgotten.

        Parameters
        ----------
        other : Active
            Whose budget it was.
        """
        spent = other._begin("event").core.state()
        core = self._begin("event").core
        features, state, names = core.snapshot()
        taken = {name: value for name, value in spent.items() if name.startswith(entry.BUDGET)}
        taken[entry.PENDING_EVENTS] = state[entry.PENDING_EVENTS][:0]
        core.restore(features, {**state, **taken}, names)
        return self

    # Results -------------------------------------------------------------------------------------

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
        return [] if self._fitted is None else list(self._asked_before().core.pending)

    def is_pending(self, event: int) -> bool:
        """Say whether an event waits for its label."""
        return bool(self.fitted.core.waits(event))

    def estimate(self, fn: float = 0.9, fp: float = 0.1) -> Estimate:
        """Return how good the predictions were, from the labels bought so far.

        Parameters
        ----------
        fn, fp : float
            The price of a missed positive and of a false alarm.
        """
        for name, price in (("fn", fn), ("fp", fp)):
            if not (is_number(price) and price >= 0):
                raise ParameterError(name, "is invalid: a price is a number from 0 on", value=price)
        sums = self._asking()
        if not sums:
            raise not_fitted(type(self).__name__, "ask")
        return estimate_from({k.removeprefix("estimate."): v for k, v in sums.items()}, fn, fp)

    # Inside --------------------------------------------------------------------------------------

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        inner = self._inner()
        inner.check_params()
        super().check_params()
        check_query(self, inner)
        budget = as_budget(self.budget)
        if self.pace and (budget is None or budget.per is None):
            raise ParameterError("pace", "needs a budget with a period, like '50/day'")

    def _own_options(self) -> dict[str, Any]:
        budget = as_budget(self.budget)
        return {
            **self._inner()._own_options(),
            **query_options(self, self._inner(), budget),
            **({} if budget is None else budget.options()),
            **({"budget_pace": True} if self.pace else {}),
        }

    def _asking(self) -> dict[str, Any]:
        """Return what was asked so far, by the parameters as they are now; nothing before that."""
        return {} if self._fitted is None else self._asked_before().core.asking()

    @locked
    def _asked_before(self) -> Fitted:
        """Return what was learned, by the parameters as they are now."""
        fitted = self.refresh()
        if fitted is None:
            raise not_fitted(type(self).__name__, "ask")
        return fitted

    def _carried_over(
        self, state: dict[str, Any], before: dict[str, Any], now: dict[str, Any]
    ) -> dict[str, Any]:
        return carried_over(state, before, now)

    @locked
    def _begin(self, form: str) -> Fitted:
        """Return what was learned, a new model if there is none."""
        fitted = self.refresh()
        if fitted is None:
            fitted = self._make(self._new_labels(), self._scaling(form))
            self._keep(fitted)
        return fitted

    def _ask(self, x: Any, time: Any) -> Decision:
        """Answer about an event that is the first, has a time or is given in another form."""
        try:
            day = float(self._days(None if time is None else [time], 1)[0])
        except BadRowError as error:
            raise InputError(error.what) from None
        fitted = self._begin("event" if isinstance(x, dict) else "dense")
        core, labels, daily = fitted.core, fitted.labels, self.needs_time
        latest = self._latest_one(core, day) if daily else 0.0
        row = (
            self._checked(x, core, learning=True)
            if isinstance(x, dict)
            else self._event_row(x, core, learning=True)
        )
        prices = event_prices(self.costs, x)
        found: Decision = core.ask_one(
            row, day, Decision, labels.positive, labels.negative, prices, True
        )
        if daily:
            self._met = core, latest
        return found

    def _check_waits(self, model: _core.Model, event: Any) -> None:
        if not is_number(event) or event != int(event):
            raise ParameterError("event", "is invalid: it is the id of a Decision", value=event)
        if 0 <= event < 2**53 and model.waits(int(event)):
            return
        events = model.asking()["events"]
        if not 0 <= event < events:
            raise InputError(f"there is no event {event}: so far there are {events}")
        raise InputError(
            f"event {event} does not wait for a label: it was told or forgotten, or never asked for"
        )

    def _learned(self, ready: Ready, result: dict[str, Any]) -> dict[str, Any]:
        if result["forgotten"]:
            warnings.warn(
                f"{result['forgotten']:,} labels were bought and forgotten before they came: "
                f"no more than max_pending={self.max_pending} events wait for theirs",
                stacklevel=5,
            )
        return super()._learned(ready, result)

    def _delays(self, delay: Any, rows: int) -> NDArray[np.float64] | None:
        return None if delay is None else as_delays(delay, rows, self.seed)


def _chance(probability: float | None) -> float:
    if probability is None:
        return 0.0
    if not (is_number(probability) and 0 < probability <= 1):
        raise ParameterError("probability", "is above 0 and up to 1, or None", value=probability)
    return float(probability)
