"""The core model of an estimator: made from its parameters, and again when they change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..errors import InputError, Method, Parameter, ParameterError
from .batch import CheckedEvent, CheckedEvents, is_events
from .capacity import capacity_options, is_daily, with_capacity
from .expected import ExpectedOfModel, frame_as_known
from .fitted import Fitted
from .frames import FrameEvents, is_frame
from .labels import Labels
from .parameters import Parameterised, check_parameters, fields_of, nearest, same
from .prices import check_costs
from .schema import Schema
from .sklearn_compat import not_fitted
from .times import as_days

# CPython 3.11 reads the attributes of an object five times as slowly once its __dict__ was looked
# at: nothing here does.
put = object.__setattr__


_TIME = ("give ", Parameter("time"))
_START_OVER = ("call ", Method("fit"), " to start over")


class HasModel(Parameterised):
    """An estimator with a model in the core."""

    scaling: str
    positive: Any
    hash_bits: int | None
    costs: Any
    capacity: str | None

    _core_name: ClassVar[str]  # of the learner in the core
    _has_variance: ClassVar[bool] = False  # the core can say how sure the learner is
    _log_odds: ClassVar[bool] = False  # its scores are calibrated log odds
    # Parameters that cannot change once a model has learned.
    _fixed: ClassVar[tuple[str, ...]] = ("scaling", "positive", "hash_bits")
    _shares_passes: ClassVar[bool] = True  # models of its kind may learn in one pass
    _fitted: Fitted | None = None
    _schema: Schema | None = None
    _changes: tuple[tuple[int, str, float, float], ...] = ()
    _expected: ExpectedOfModel | None = None  # events by the schema, where it has features

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            if not self._has_attribute(name):
                hint = nearest(name, self.parameter_names())
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}: {hint}")
            # A parameter changed in mid-stream reaches the model before it learns again. Costs are
            # not the model's.
            if self._fitted is not None and name == "costs" and name in self._fitted.parameters:
                parameters = {**self._fitted.parameters, "costs": value}
                put(self, "_fitted", self._fitted.replace(parameters=parameters, costs=value))
            elif self._fitted is not None and self._fitted.current:
                put(self, "_fitted", self._fitted.replace(current=False))
        super().__setattr__(name, value)

    @classmethod
    def _has_attribute(cls, name: str) -> bool:
        return hasattr(cls, name) or name in cls._own_names()

    @property
    def fitted(self) -> Fitted:
        """What was learned, and from which parameters: see `lopsided.estimator.fitted.Fitted`."""
        if self._fitted is None:
            raise not_fitted(type(self).__name__)
        return self._fitted

    @property
    def fitted_or_none(self) -> Fitted | None:
        """What was learned; None before that."""
        return self._fitted

    @property
    def labels(self) -> Labels:
        """The labels, as far as they are known."""
        return Labels() if self._fitted is None else self._fitted.labels

    # What learners differ in ----------------------------------------------------------------------

    def core_kind(self) -> str:
        """Return the name of this learner in the core."""
        return self._core_name

    def _constants(self, options: Mapping[str, Any]) -> int:
        """Return how many of the core's coefficients come before those of the features."""
        return int(options.get("intercept", False))

    def _own_options(self) -> dict[str, Any]:
        """Return the parameters that the core's learner takes, by its names."""
        common = (*HasModel._fixed, "costs", "capacity")
        own = {k: v for k, v in self.get_params().items() if k not in common and v is not None}
        switches = {f.name for f in fields_of(type(self)) if isinstance(f.default, bool)}
        return {k: bool(v) if k in switches else v for k, v in own.items()}

    def _cost_options(self, labels: Labels) -> dict[str, Any]:
        return {}

    def _known_rho(
        self, codes: NDArray[np.int8], weights: NDArray[np.float64] | None
    ) -> float | None:
        return None

    def _weights_matter(self) -> bool:
        """Say whether an event's weight can change a step."""
        return True

    def _days(self, time: Any, rows: int) -> NDArray[np.float64] | None:
        """Return the day of each event, where a budget or a capacity wants to know."""
        if not self.needs_time:
            if time is not None:
                raise ParameterError(
                    "time",
                    "has an effect only on Active with a daily budget, or with a daily capacity",
                )
            return None
        if time is None:
            raise InputError("a daily capacity needs the times of the events", remedy=[_TIME])
        return as_days(time, rows)

    @property
    def needs_time(self) -> bool:
        """Whether events must come with their times."""
        return is_daily(self.capacity)

    def _delays(self, delay: Any, rows: int) -> NDArray[np.float64] | None:
        """Return how many events later each label comes, if not at once."""
        if delay is not None:
            raise ParameterError("delay", "has an effect only on a learner that asks: use Active")
        return None

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        check_parameters(self)
        check_costs(self.costs)
        capacity_options(self.capacity)

    def _scaling(self, form: str) -> dict[str, bool]:
        wanted = self.scaling
        if wanted == "auto":
            wanted = "unit" if form == "sparse" else "standard+unit"
        standard = "standard" in wanted
        return {
            "unit": "unit" in wanted,
            "standard": standard,
            "centred": standard and form == "dense",
        }

    # The model ------------------------------------------------------------------------------------

    def _make(self, labels: Labels, scaling: dict[str, bool]) -> Fitted:
        """Return a model of these parameters that has learned nothing."""
        self.check_params()
        kind = self.core_kind()
        limits = capacity_options(self.capacity)
        options = {**scaling, **self._cost_options(labels), **limits, **self._own_options()}
        core = _core.Model(kind, options, int(self.hash_bits or 0), self._weights_matter())
        self._expect(core)
        return Fitted(
            core=core,
            labels=labels,
            kind=kind,
            options=options,
            scaling=scaling,
            parameters=self.get_params(deep=False),
            constants=self._constants(options),
            by_sign=core.by_sign,
            costs=self.costs,
        )

    def _set_schema(self, schema: Schema | None) -> None:
        """Hold events against a schema from now on."""
        put(self, "_schema", schema)
        features = schema is not None and schema.features
        put(self, "_expected", ExpectedOfModel(schema) if schema and features else None)
        if self._fitted is not None:
            self._expect(self._fitted.core)

    def _expect(self, core: _core.Model) -> None:
        """Let the core see at a glance which events need a closer look."""
        schema, expected = self._schema, self._expected
        mixed = schema is not None and (expected is not None or schema.unknown == "learn")
        core.expect(None if expected is None else expected.codes(), mixed)

    def _checked(self, x: Any, core: _core.Model, learning: bool, row: int | None = None) -> Any:
        """Return an event as the schema has it; what is new in it is known from now on."""
        expected = self._expected
        if expected is None or isinstance(x, CheckedEvent) or not isinstance(x, dict):
            return x
        found = expected.of_user(x, None if learning else lambda: frozenset(core.names), row)
        if learning and not found.keys() <= expected.kinds.keys():
            self._set_schema(expected.schema.extended(found))
        return found

    def _checked_rows(self, X: Any, core: _core.Model | None, learning: bool) -> Any:
        """Return events and data frames as the schema has them."""
        expected = self._expected
        if expected is None or core is None or isinstance(X, CheckedEvents):
            return X
        if is_frame(X) or isinstance(X, FrameEvents):
            X = frame_as_known(X, expected.schema, learning)
        if not is_events(X) or core.fits(list(X)):
            return X
        return CheckedEvents(self._checked(x, core, learning, i) for i, x in enumerate(X))

    def _new_labels(self, classes: ArrayLike | None = None) -> Labels:
        return Labels.start(self.positive, classes, getattr(self, "class_weight", None))

    def begin_events(self, labels: Labels | None) -> None:
        """Start a model for dicts that has learned nothing; None: labels by the parameters."""
        labels = self._new_labels() if labels is None else labels
        self._keep(self._make(labels, self._scaling("event")))

    def _keep(self, fitted: Fitted) -> None:
        if fitted is not self._fitted:
            put(self, "_fitted", fitted)

    def take_state(self, other: Fitted) -> None:
        """Continue from what a model of the same parameters has learned, perhaps by asking."""
        fitted = self._make(other.labels, other.scaling)
        features, state, names = other.core.snapshot()
        own = fitted.core.state()
        fitted.core.restore(features, {k: v for k, v in state.items() if k in own}, names)
        self._keep(fitted)

    def _attribute(self, name: str) -> _core.Model:
        try:
            return self.fitted.core
        except AttributeError as error:
            raise AttributeError(f"{name}: {error}") from None

    def _changed_shape(self, now: Mapping[str, Any], then: Mapping[str, Any]) -> list[str]:
        """Return the parameters that have changed and must not."""
        return [name for name in self._fixed if not same(now[name], then[name])]

    def refresh(self) -> Fitted | None:
        """Give the model the parameters that changed since it was built; None if there is none."""
        before = self._fitted
        if before is None or before.current:
            return before
        unlabelled = not before.labels.codes  # events were met, but no label
        now = self._make(self._new_labels() if unlabelled else before.labels, before.scaling)
        changed = self._changed_shape(now.parameters, before.parameters)
        if unlabelled:
            changed = [name for name in changed if name != "positive"]
        if now.kind != before.kind:
            changed.append("covariance")
        if changed:
            raise ParameterError(
                changed[0],
                "cannot change in a model that has learned",
                remedy=["keep its value", _START_OVER, "start a new model"],
            )
        features, state, names = before.core.snapshot()
        state = with_capacity(state, before.options, now.options)
        now.core.restore(features, self._carried_over(state, before.options, now.options), names)
        self._keep(now)
        return now

    def _carried_over(
        self, state: dict[str, Any], before: dict[str, Any], now: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the state of a model whose options change."""
        return state
