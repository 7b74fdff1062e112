"""A model of a stream: the only place that knows the methods of estimators."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core import Numbers
from ..algorithms.active import Active
from ..algorithms.budget import as_budget
from ..algorithms.wrapper import resolved
from ..catalog import find
from ..errors import InputError, LopsidedError
from ..estimator.batch import Batch
from ..estimator.prices import is_per_event
from ..persist import from_bytes, to_bytes
from .types import Costs, StreamConfig, as_dict

_REASONS = 5  # as many as a person reads
_STRONGEST = 40


class Met(NamedTuple):
    """What a model says of events, a list for each thing said."""

    first: int  # the number of the first one
    score: list[float]
    alarm: list[bool]  # whether the label predicted is the positive one
    asked: list[bool]
    probability: list[float]
    forgotten: int


class Learner:
    """A model that asks, or one in the shadow, whose budget is 0."""

    def __init__(self, model: Active) -> None:
        self.model = model

    @classmethod
    def made(
        cls,
        config: StreamConfig,
        *,
        learner: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        costs: Costs | None = None,
        asks: bool,
    ) -> Learner:
        """Return a new model; what is not given is that of the stream."""
        given = config.parameters if parameters is None else parameters
        made: Any = find(learner or config.learner).make()
        model = made if isinstance(made, Active) else Active(learner=made)
        model.set_params(positive=config.positive, **given)
        self = cls(model)
        self.price(costs or config.costs, keep="costs" in given)
        self.ask_by(config) if asks else self.stay_silent()
        model.check_params()
        return self

    @classmethod
    def loaded(cls, blob: bytes) -> Learner:
        """Return the model of a file."""
        model = from_bytes(blob)
        return cls(model if isinstance(model, Active) else Active.around(model))

    def blob(self) -> bytes:
        """Return the model as a file; nothing before its first event."""
        return b"" if self.model.fitted_or_none is None else to_bytes(self.model)

    def price(self, costs: Costs, *, keep: bool) -> None:
        """Tell the model the prices, unless its parameters have some of their own."""
        if not keep:
            self.model.set_params(costs={"miss": costs.miss, "alarm": costs.alarm})

    # Asking ---------------------------------------------------------------------------------------

    def ask_by(self, config: StreamConfig) -> None:
        """Ask by the rule and within the budget of the stream."""
        rule = {"query": config.query, "delta": config.delta}
        rule = {name: value for name, value in rule.items() if value is not None}
        pace = bool(config.parameters.get("pace", False))
        self.model.set_params(
            budget=config.budget, pace=pace, explore=config.explore, seed=config.seed, **rule
        )
        as_budget(config.budget)

    def stay_silent(self) -> None:
        """Ask for nothing."""
        self.model.set_params(budget=0, pace=False)

    def untaught(self) -> Learner:
        """Return a model with these parameters that has learned nothing, to try settings on."""
        return Learner(type(self.model)(**self.model.get_params(deep=False)))

    def configure(self, config: StreamConfig, *, costs: Costs, keep: bool, asks: bool) -> None:
        """Take over prices, and the rule and budget of the stream if it `asks`."""
        self.price(costs, keep=keep)
        self.ask_by(config) if asks else self.stay_silent()
        self.model.check_params()
        self.model.refresh()

    def meet(
        self,
        xs: list[Any],
        times: Sequence[float],
        positive: Any,
        *,
        alone: bool = True,
    ) -> Met:
        """Meet events, all or none if one of them is bad; `alone`: a single one is just asked."""
        time = list(times) if self.model.needs_time else None
        if alone and len(xs) == 1:
            one = self.model.ask(as_dict(xs[0]), time=None if time is None else time[0])
            return Met(
                one.id, [one.score], [bool(one.predicted == positive)], [one.asked],
                [one.probability],
                int(one.forgotten is not None),
            )  # fmt: skip
        found = self.model.ask_many(self._rows(xs), time=time)
        return Met(
            found.first,
            found.score.tolist(),
            found.are(positive),
            found.asked.tolist(),
            found.probability.tolist(),
            found.n_forgotten,
        )

    def _rows(self, xs: list[Any]) -> Any:
        """Return features as rows of the core where they were read as numbers, else as dicts."""
        model = self.model
        fitted = model.fitted_or_none
        if (
            fitted is not None
            and fitted.current
            and not is_per_event(model.costs)
            and all(type(x) is Numbers for x in xs)
        ):
            rows = fitted.core.number_rows(xs)
            if rows is not None:
                return Batch(rows, None, "event", open=True)
        return list(map(as_dict, xs))

    def label(self, event: int, x: dict[str, Any], y: Any, weight: float) -> None:
        """Learn from a label, of an event that waits for one or of any other."""
        if self.waits(event):
            self.model.tell(event, y, weight)
        else:
            self.model.teach(x, y, weight)

    def waits(self, event: int) -> bool:
        """Whether it waits for the label of an event."""
        return self.model.is_pending(event)

    def overhear(self, x: dict[str, Any], y: Any, weight: float, chance: float | None) -> None:
        """Learn from a label that another model asked for, with this chance, or that just came."""
        self.model.teach(x, y, weight, probability=chance)

    # Looking --------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether it has learned from a label."""
        fitted = self.model.fitted_or_none
        return fitted is not None and fitted.core.rounds > 0

    @property
    def features(self) -> int:
        """How many features it knows."""
        fitted = self.model.fitted_or_none
        return 0 if fitted is None else int(fitted.core.features)

    def names(self) -> set[str]:
        """Return the names of its features."""
        fitted = self.model.fitted_or_none
        return set() if fitted is None else set(fitted.core.names)

    def judged(self, x: dict[str, Any], positive: Any) -> tuple[float, bool, float | None]:
        """Return score and probability of an event that is not met, and whether it is flagged."""
        model = self.model
        score = model.score_one(x)
        alarm = bool(model.label_at(score, x) == positive)
        return score, alarm, self.probabilities([score])[0]

    def probabilities(self, scores: Sequence[float]) -> Sequence[float | None]:
        """Return the probability of a positive at each score, where the model can say."""
        if not self.ready:
            return [None] * len(scores)
        core = self.model.fitted.core
        if len(scores) == 1 and core.calibrated:
            return [core.probability(scores[0])]
        try:
            known: list[float] = self.model.probabilities(np.array(scores)).tolist()
        except LopsidedError:  # no label has come since it was made
            return [None] * len(scores)
        return known

    def reasons(self, x: dict[str, Any]) -> list[tuple[str, float]] | None:
        """Return the features that moved the score most, where the model can say."""
        if not self.ready:
            return None
        try:
            return self.model.strongest_reasons(x, _REASONS)
        except (LopsidedError, TypeError, ValueError):  # not a sum over features
            return None

    def largest_weights(self, hidden: Collection[str] = ()) -> list[tuple[str, float]] | None:
        """Return the largest weights by name, where the model is a sum over features."""
        fitted = self.model.fitted_or_none
        if fitted is None or not self.ready:
            return None
        try:
            columns, weights = map(np.asarray, fitted.core.nonzeros())
        except (LopsidedError, RuntimeError):  # no weights
            return None
        names, first = fitted.core.names, fitted.constants
        order = np.argsort(-np.abs(weights), kind="stable").tolist()
        found = [(names[columns[k] - first], float(weights[k])) for k in order
                 if first <= columns[k] < len(names) + first]  # fmt: skip
        return [(n, w) for n, w in found if n.partition("=")[0] not in hidden][:_STRONGEST]

    def budget_left(self) -> float | None:
        """Return how many labels may be bought now; None without a limit."""
        left = self.model.budget_left_
        return None if left == float("inf") else float(left)

    def summary(self) -> dict[str, Any]:
        """Return what it is, for people."""
        model = self.model
        return {
            "learner": type(resolved(model.learner)).__name__,
            "costs": model.costs,
            "asked": model.queries_,
            "waiting": 0 if model.fitted_or_none is None else len(model.pending_),
            "budget_left": self.budget_left(),
            "features": self.features,
        }

    def estimate(self, costs: Costs) -> dict[str, float] | None:
        """Return how good the decisions were, from the labels that were asked for."""
        if self.model.fitted_or_none is None:
            return None
        found = self.model.estimate(costs.miss, costs.alarm)
        return {name: getattr(found, name) for name in found.__dataclass_fields__}


def check_name_count(learner: Learner, xs: list[Any], limit: int) -> None:
    """Raise if an event brings more names than a model may have."""
    known: set[str] | None = None
    room = limit - learner.features
    for x in xs:
        if len(x) <= room:
            continue
        known = learner.names() if known is None else known
        named = as_dict(x).items()
        new = [n for n, v in named if (f"{n}={v}" if isinstance(v, str) else n) not in known]
        if len(known) + len(new) > limit:
            raise InputError(f"feature {new[0]!r} is one too many: the limit is {limit}")
