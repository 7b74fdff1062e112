"""What is behind the methods of a learner: its model in the core, made, kept and taught."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .batch import Batch, as_batch, as_event_row, as_order, as_weights, explained, is_events
from .columns import check_columns, check_event_length
from .labels import Labels, as_labels
from .parameters import Parameterised, check_parameters, fields_of, is_number, same
from .sklearn_compat import not_fitted

P = ParamSpec("P")
R = TypeVar("R")

# CPython 3.11 reads the attributes of an object five times as slowly once its __dict__ was looked
# at: nothing here does.
put = object.__setattr__
_first_turn = threading.Lock()


def turn_of(owner: Any) -> threading.RLock:
    """Return the lock of an estimator."""
    if not hasattr(owner, "_turn"):
        with _first_turn:
            if not hasattr(owner, "_turn"):
                put(owner, "_turn", threading.RLock())
    turn: threading.RLock = owner._turn
    return turn


def one_thread_at_a_time(method: Callable[P, R]) -> Callable[P, R]:
    """Let one thread at a time make or replace an estimator's model."""

    @functools.wraps(method)
    def alone(*args: P.args, **kwargs: P.kwargs) -> R:
        with turn_of(args[0]):
            return method(*args, **kwargs)

    return alone


def _used(
    events: list[Any], weights: NDArray[np.float64] | None, visit: NDArray[np.int64] | None
) -> list[Any]:
    """Return the events with nothing in those that are not learned from: their names stay out."""
    if weights is None and visit is None:
        return events
    used = np.ones(len(events), bool) if weights is None else weights != 0
    if visit is not None:
        seen = np.zeros(len(events), bool)
        seen[visit] = True
        used &= seen
    return [x if u else {} for x, u in zip(events, used, strict=True)]


class Ready(NamedTuple):
    """A batch, looked at, and the model that is to learn from it."""

    batch: Batch
    codes: NDArray[np.int8]
    labels: Labels
    weights: NDArray[np.float64] | None
    visit: NDArray[np.int64] | None
    rho: float | None
    days: NDArray[np.float64] | None
    delays: NDArray[np.float64] | None
    model: _core.Model
    made_with: dict[str, Any]


class Learning(Parameterised):
    """An estimator with a model in the core."""

    scaling: str
    positive: Any
    hash_bits: int | None

    _core_name: ClassVar[str]  # of the learner in the core
    _has_variance: ClassVar[bool] = False  # the core can say how sure the learner is
    # Parameters that cannot change once a model has learned.
    _fixed: ClassVar[tuple[str, ...]] = ("scaling", "positive", "hash_bits")
    _model: _core.Model | None = None
    # The model after a parameter has changed and before the model knows.
    _parked: _core.Model | None = None
    # How the model was made: kind, options and the parameters that are fixed from then on.
    _made_with: Any = None
    _labels: Labels = Labels()

    def __setattr__(self, name: str, value: Any) -> None:
        # A parameter changed in mid-stream reaches the model before it learns again.
        if not name.startswith("_") and self._model is not None:
            put(self, "_parked", self._model)
            put(self, "_model", None)
        super().__setattr__(name, value)

    # What learners differ in ----------------------------------------------------------------------

    def _kind(self) -> str:
        """Return the name of this learner in the core."""
        return self._core_name

    def _constants(self) -> int:
        """Return how many of the core's coefficients come before those of the features."""
        return 0

    def _own_options(self) -> dict[str, Any]:
        """Return the parameters that the core's learner takes, by its names."""
        common = Learning._fixed
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
        """Return the day of each event, where a budget wants to know."""
        if time is not None:
            raise ValueError("time has an effect only on Active with a budget that is daily")
        return None

    def _delays(self, delay: Any, rows: int) -> NDArray[np.float64] | None:
        """Return how many events later each label comes, if not at once."""
        if delay is not None:
            raise ValueError("delay has an effect only on a learner that asks: use Active")
        return None

    def _check(self) -> None:
        check_parameters(self)

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

    def _make(self, labels: Labels, scaling: dict[str, bool]) -> tuple[_core.Model, dict[str, Any]]:
        self._check()
        made_with: dict[str, Any] = {
            "kind": self._kind(),
            "options": {
                **scaling,
                **self._cost_options(labels),
                **self._own_options(),
            },
            "scaling": scaling,
            "parameters": self.get_params(deep=False),
        }
        bits = int(self.hash_bits or 0)
        return _core.Model(made_with["kind"], made_with["options"], bits), made_with

    def _new_labels(self, classes: ArrayLike | None = None) -> Labels:
        return Labels.start(self.positive, classes, getattr(self, "class_weight", None))

    def _keep(self, model: _core.Model, labels: Labels, made_with: dict[str, Any]) -> None:
        self._labels = labels
        self._made_with = made_with
        self._parked, self._model = None, model

    def _fitted(self) -> _core.Model:
        model = self._model if self._model is not None else self._parked
        if model is None:
            raise not_fitted(type(self).__name__)
        return model

    def _attribute(self, name: str) -> _core.Model:
        try:
            return self._fitted()
        except AttributeError as error:
            raise AttributeError(f"{name}: {error}") from None

    def _changed_shape(self, now: Mapping[str, Any], then: Mapping[str, Any]) -> list[str]:
        """Return the parameters that are not what they were and must be."""
        return [name for name in self._fixed if not same(now[name], then[name])]

    def _refresh(self) -> None:
        """Give the model the parameters that changed since it was made."""
        if self._parked is None:
            return
        old, before, labels = self._parked, self._made_with, self._labels
        unlabelled = not labels.codes  # events were met, but no label
        if unlabelled:
            labels = self._new_labels()
        model, made_with = self._make(labels, before["scaling"])
        now, then = made_with["parameters"], before["parameters"]
        changed = self._changed_shape(now, then)
        if unlabelled:
            changed = [name for name in changed if name != "positive"]
        if made_with["kind"] != before["kind"]:
            changed.append("covariance")
        if changed:
            raise ValueError(
                f"{changed[0]} cannot change in a model that has learned: call fit to start anew"
            )
        state = self._carried_over(old.state(), before["options"], made_with["options"])
        model.restore(old.features, state, old.names)
        self._keep(model, labels, made_with)

    def _carried_over(
        self, state: dict[str, Any], before: dict[str, Any], now: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the state of a model whose options change."""
        return state

    # A batch --------------------------------------------------------------------------------------

    @one_thread_at_a_time
    def _pass(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        *,
        fresh: bool = False,
        classes: ArrayLike | None = None,
        order: ArrayLike | None = None,
        every: int = 0,
        scores: bool = False,
        time: ArrayLike | None = None,
        delay: Any = None,
    ) -> dict[str, Any]:
        """Learn from a batch, all of it or nothing."""
        ready = self._ready(
            X, y, sample_weight, fresh=fresh, classes=classes, order=order, time=time, delay=delay
        )
        batch = ready.batch
        with explained(batch.names):
            result = ready.model.learn(
                batch.rows,
                ready.codes,
                ready.weights,
                ready.visit,
                ready.rho,
                every,
                scores,
                ready.days,
                ready.delays,
            )
        if not result["events"] and fresh:
            raise ValueError("every sample weight is zero: there is nothing to fit")
        return self._learned(ready, result)

    def _learned(self, ready: Ready, result: dict[str, Any]) -> dict[str, Any]:
        """Keep the model that has learned; return the result with what it was of."""
        result["labels"], result["weights"] = ready.codes, ready.weights
        if result["events"]:  # else every weight is 0: nothing happened
            if ready.batch.names:
                ready.model.set_names(ready.batch.names[: ready.model.features])
            if ready.model is not self._model or ready.labels is not self._labels:
                self._keep(ready.model, ready.labels, ready.made_with)
        return result

    def _ready(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        *,
        fresh: bool,
        classes: ArrayLike | None = None,
        order: ArrayLike | None = None,
        time: ArrayLike | None = None,
        delay: Any = None,
    ) -> Ready:
        """Look at a batch before it is learned from."""
        if fresh or self._model is None:  # else no parameter has changed since the last check
            self._check()
        events = is_events(X)
        known = 0 if fresh else self._features()
        batch = None if events else as_batch(X, known)
        if self.hash_bits is not None and batch is not None and not batch.hashed:
            raise ValueError("hash_bits is for events given as dicts: X already has columns")
        size = len(X) if batch is None else batch.rows.size
        array = as_labels(y, size)
        visit = as_order(order, size)
        weights = as_weights(sample_weight, size)
        self._check_weights(weights)
        days, delays = self._days(time, size), self._delays(delay, size)
        if not fresh:
            self._refresh()
        begun = self._model is not None and not fresh
        if begun and classes is None:
            labels = self._labels
        else:
            labels = self._new_labels(classes)
            if begun and not self._labels.codes.items() <= labels.codes.items():
                raise ValueError(
                    f"classes={classes!r} is not the same as on the last call to partial_fit, "
                    f"which had {self._labels.classes.tolist()!r}"
                )
        labels, codes = labels.read(array, visit)
        rho = None
        if fresh:
            seen = slice(None) if visit is None else visit
            rho = self._known_rho(codes[seen], None if weights is None else weights[seen])
        if begun:
            model, made_with = self._fitted(), self._made_with
        else:
            form = "event" if batch is None else batch.form
            model, made_with = self._make(labels, self._scaling(form))
        if batch is None:
            batch = self._batch(_used(X, weights, visit), model)
        if begun:
            check_columns(type(self).__name__, model, batch, learning=True)
        elif batch.rows.columns < model.features and not batch.open:
            raise ValueError(
                f"X has {batch.rows.columns} features, but the directions given are those of "
                f"{model.features} features"
            )
        return Ready(batch, codes, labels, weights, visit, rho, days, delays, model, made_with)

    def _features(self) -> int:
        model = self._model if self._model is not None else self._parked
        return 0 if model is None else model.features

    @staticmethod
    def _batch(X: Any, model: _core.Model) -> Batch:
        if is_events(X):
            return Batch(model.event_rows(list(X)), None, "event", open=True)
        return as_batch(X, model.features)

    def _check_weights(self, weights: NDArray[np.float64] | None) -> None:
        if weights is None or self._weights_matter():
            return
        used = weights[weights != 0]
        if len(used) and (used != used[0]).any():
            raise ValueError(
                f"{self!r} always takes its full step, so weights cannot make one event count more "
                "than another; leave sample_weight out (0 to skip events is fine) or use a learner "
                "with a cap, for example PassiveAggressive(variant='PA-I')"
            )

    # One event ------------------------------------------------------------------------------------

    def _step(self, x: Any, y: Any, weight: float) -> float:
        """Learn from one event that the core does not take as it is."""
        model = self._model
        if model is not None and self.hash_bits is None and not isinstance(x, dict):
            score = model.step(as_event_row(x), y, weight, self._labels.codes)
            if score is not None:
                return score
        return self._step_carefully(x, y, weight)

    @one_thread_at_a_time
    def _step_carefully(self, x: Any, y: Any, weight: float) -> float:
        """Learn from one event that is the first, or has a new label, or a weight."""
        self._check()
        try:
            hash(y)
        except TypeError:
            raise ValueError(f"y must be one label, not {y!r}") from None
        weight = self._one_weight(weight)
        self._refresh()
        model, made_with, labels = self._model, self._made_with, self._labels
        if model is None:
            labels = self._new_labels()
        labels, codes = labels.read(as_labels([y], 1))
        code = int(codes[0])
        if model is None:
            form = "event" if isinstance(x, dict) else "dense"
            model, made_with = self._make(labels, self._scaling(form))
        if isinstance(x, dict):
            score = model.learn_event(x, code, weight)
        elif self.hash_bits is not None:
            raise ValueError("hash_bits is for dict events: this event already has columns")
        else:
            score = model.learn_row(self._event_row(x, model, learning=True), code, weight)
        if weight != 0:
            self._keep(model, labels, made_with)
        return score

    def _one_weight(self, weight: Any) -> float:
        """Return the weight of one event, if it can be one."""
        if not (is_number(weight) or isinstance(weight, (bool, np.bool_))) or weight < 0:
            raise ValueError(f"weight={weight!r} is invalid: it must be finite and not negative")
        if weight not in (0, 1):
            self._check_weights(np.array([1.0, weight]))
        return float(weight)

    def _names(self) -> list[str]:
        model = self._model if self._model is not None else self._parked
        return [] if model is None else model.names

    def _event_row(self, x: Any, model: _core.Model, learning: bool) -> NDArray[np.float64]:
        row = as_event_row(x)
        check_event_length(type(self).__name__, model, len(row), learning)
        return row
