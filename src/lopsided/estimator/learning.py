"""Learning behind the methods of an estimator: validated batches and single events."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..errors import InputError, Method, Parameter, ParameterError
from .batch import (
    Batch,
    CheckedEvents,
    as_batch,
    as_event_row,
    as_order,
    as_weights,
    is_events,
)
from .columns import check_columns, check_event_length
from .expected import check_frame, warn_of_new
from .fitted import Fitted
from .frames import FrameEvents, as_frame
from .has_model import HasModel
from .labels import Labels, Visit, as_labels
from .locking import locked
from .parameters import is_number
from .prices import price_table
from .schema import Schema

SIGNS = {-1: -1, 1: 1}  # the codes of labels that are signs already


def _used(events: list[Any], weights: NDArray[np.float64] | None, visit: Visit) -> list[Any]:
    """Return the events with nothing in those that are not learned from: their names stay out."""
    if weights is None and visit is None:
        return events
    used = np.ones(len(events), bool) if weights is None else weights != 0
    if visit is not None:
        seen = np.zeros(len(events), bool)
        seen[visit] = True
        used &= seen
    return CheckedEvents(x if u else {} for x, u in zip(events, used, strict=True))


_TIME = ("give ", Parameter("time"))
_START_OVER = ("call ", Method("fit"), " to start over")
_NO_WEIGHTS = ("leave out ", Parameter("sample_weight"), " (0 to skip events is fine)")


class Ready(NamedTuple):
    """A batch, validated, and the model that is to learn from it."""

    batch: Batch
    codes: NDArray[np.int8]
    weights: NDArray[np.float64] | None
    visit: NDArray[np.int64] | None
    rho: float | None
    days: NDArray[np.float64] | None
    delays: NDArray[np.float64] | None
    fitted: Fitted
    schema: Schema | None


class Late(NamedTuple):
    """Labels that do not come with their rows.

    Attributes
    ----------
    delays : array
        How many further events are met before the label of each row comes; inf: its event waits
        beyond the pass, NaN: it never comes.
    earlier : array of four columns
        Labels of events that wait and that come during the pass: after which event, the event, +1
        or -1, and the weight.
    """

    delays: NDArray[np.float64]
    earlier: NDArray[np.float64]


class Learning(HasModel):
    """An estimator that learns: from batches, and from one event at a time."""

    # A batch --------------------------------------------------------------------------------------

    @locked
    def pass_over(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        *,
        fresh: bool = False,
        classes: ArrayLike | None = None,
        order: ArrayLike | None = None,
        rows: tuple[int, int] | None = None,
        every: int = 0,
        scores: bool = False,
        time: ArrayLike | None = None,
        delay: Any = None,
        costs: Any = None,
        chances: bool = False,
        late: Late | None = None,
    ) -> dict[str, Any]:
        """Learn from a batch, all of it or nothing, and return what happened.

        Parameters
        ----------
        X, y, sample_weight, classes
            As for partial_fit.
        fresh : bool
            Start over, as fit does.
        order : array, optional
            The rows to visit, in this order.
        rows : pair of int, optional
            Instead of an order: visit these rows only, from the first to the one before the last.
        every : int
            How many events there are between points of the curve; 0 for no curve.
        scores : bool
            Return the score that each event had before it was learned.
        time, delay, costs, chances
            As for progressive.
        late : Late, optional
            Instead of a delay, for a learner that asks: when labels come, those of earlier events
            too.

        Returns
        -------
        dict
            Counts, "seconds", "curve", "labels", "weights" and "prices"; with `scores` also
            "scores" and, of a learner that asks, "asked" and "probabilities"; "alarms" where more
            than the sign of the score decides; with `chances` also "chances".
        """
        X = as_frame(X)
        costs = self.costs if costs is None else costs
        prices = None if costs is None else price_table(costs, X, np.size(y))
        ready = self._ready(
            X,
            y,
            sample_weight,
            fresh=fresh,
            classes=classes,
            order=order,
            rows=rows,
            time=time,
            delay=delay,
        )
        first, last = (0, None) if rows is None else rows
        result = ready.fitted.core.learn(
            ready.batch.rows,
            ready.codes,
            ready.weights,
            ready.visit,
            ready.rho,
            every,
            scores,
            ready.days,
            ready.delays if late is None else late.delays,
            first,
            last,
            prices,
            chances,
            None if late is None else late.earlier,
        )
        result["prices"] = prices
        if not result["events"] and fresh:
            raise InputError("every sample weight is zero: there is nothing to fit")
        return self._learned(ready, result)

    def _learned(self, ready: Ready, result: dict[str, Any]) -> dict[str, Any]:
        """Keep the model that has learned; return the result with what it was of."""
        result["labels"], result["weights"] = ready.codes, ready.weights
        if result["events"]:  # else every weight is 0: nothing happened
            self._keep(ready.fitted)
            if ready.schema is not self._schema:
                before = self._schema
                self._set_schema(ready.schema)
                warn_of_new(before, ready.schema)
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
        rows: tuple[int, int] | None = None,
        time: ArrayLike | None = None,
        delay: Any = None,
    ) -> Ready:
        """Validate a batch before it is learned from."""
        if fresh or self._fitted is None or not self._fitted.current:
            self.check_params()
        again = fresh and self._fitted is not None  # with what it knew of columns forgotten
        frame = X.schema if isinstance(X, FrameEvents) and X.schema.features else None
        if not fresh and self._fitted is not None:
            X = self._checked_rows(X, self._fitted.core, learning=True)
        events = is_events(X)
        known = 0 if fresh else self._features()
        batch = None if events else as_batch(X, known)
        if self.hash_bits is not None and batch is not None and not batch.hashed:
            raise ParameterError("hash_bits", "is for events given as dicts: X already has columns")
        size = len(X) if batch is None else batch.rows.size
        array = as_labels(y, size)
        visit = as_order(order, size)
        weights = as_weights(sample_weight, size)
        self._check_weights(weights)
        days, delays = self._days(time, size), self._delays(delay, size)
        begun = None if fresh else self.refresh()
        seen: Visit = visit if rows is None else slice(*rows)
        labels, codes = self._batch_labels(begun, classes).read(array, seen)
        rho = None
        if fresh:
            which = slice(None) if seen is None else seen
            rho = self._known_rho(codes[which], None if weights is None else weights[which])
        if begun is None:
            form = "event" if batch is None else batch.form
            fitted = self._make(labels, self._scaling(form))
        else:
            fitted = begun if labels is begun.labels else begun.replace(labels=labels)
        if batch is None:
            batch = self._batch(_used(X, weights, seen), fitted.core)
        schema = None if again else self._schema
        if begun is not None:
            check_columns(type(self).__name__, fitted.core, batch, learning=True)
            if schema is not None and batch.frame is not None:
                schema = check_frame(batch.frame, schema, learning=True)
        elif batch.rows.columns < fitted.core.features and not batch.open:
            raise InputError(
                f"X has {batch.rows.columns} features, but the directions given are those of "
                f"{fitted.core.features} features"
            )
        schema = schema or batch.frame or frame
        return Ready(batch, codes, weights, visit, rho, days, delays, fitted, schema)

    def _batch_labels(self, begun: Fitted | None, classes: ArrayLike | None) -> Labels:
        """Return the labels before a batch is read."""
        if begun is not None and classes is None:
            return begun.labels
        labels = self._new_labels(classes)
        if begun is not None and not begun.labels.codes.items() <= labels.codes.items():
            raise ParameterError(
                "classes",
                f"is not the same as on the last call to partial_fit, "
                f"which had {begun.labels.classes.tolist()!r}",
                value=classes,
            )
        return labels

    def _features(self) -> int:
        return 0 if self._fitted is None else self._fitted.core.features

    def _batch(self, X: Any, model: _core.Model, *, learning: bool = True) -> Batch:
        """Return rows as the core has them; those to learn from were checked before."""
        if not learning:
            X = self._checked_rows(X, model, learning=False)
        if is_events(X):
            return Batch(model.event_rows(list(X)), None, "event", open=True)
        batch = as_batch(X, model.features)
        if not learning and batch.frame is not None and self._expected is not None:
            check_frame(batch.frame, self._expected.schema, learning=False)
        return batch

    def _check_weights(self, weights: NDArray[np.float64] | None) -> None:
        if weights is None or self._weights_matter():
            return
        used = weights[weights != 0]
        if len(used) and (used != used[0]).any():
            raise InputError(
                f"{self!r} always takes its full step, so weights cannot make one event count more "
                "than another",
                remedy=[_NO_WEIGHTS, "use a learner with a cap, for example PA-I"],
            )

    # One event ------------------------------------------------------------------------------------

    @locked
    def _learn_one(self, x: Any, y: Any, weight: Any) -> float:
        """Learn from an event that is the first, brings a new label or is given in another form."""
        if self._fitted is None or not self._fitted.current:
            self.check_params()
        try:
            hash(y)
        except TypeError:
            raise InputError(f"y must be one label, not {y!r}") from None
        weight = self.checked_weight(weight)
        fitted = self.refresh()
        labels = self._new_labels() if fitted is None else fitted.labels
        labels, codes = labels.read(as_labels([y], 1))
        if fitted is None:
            form = "event" if isinstance(x, dict) else "dense"
            fitted = self._make(labels, self._scaling(form))
        elif labels is not fitted.labels:
            fitted = fitted.replace(labels=labels)
        row = self._event(x, fitted.core)
        score = fitted.core.learn_one(row, int(codes[0]), weight, SIGNS, False, True)
        assert score is not None
        if weight != 0:
            self._keep(fitted)
        return score

    def checked_weight(self, weight: Any) -> float:
        """Return the weight of one event, if it can be one."""
        if not (is_number(weight) or isinstance(weight, (bool, np.bool_))) or weight < 0:
            raise ParameterError(
                "weight", "is invalid: it must be finite and not negative", value=weight
            )
        if weight not in (0, 1):
            self._check_weights(np.array([1.0, weight]))
        return float(weight)

    def _event(self, x: Any, core: _core.Model) -> Any:
        """Return an event to learn from in a form that the core takes."""
        if isinstance(x, dict):
            return self._checked(x, core, learning=True)
        if self.hash_bits is not None:
            raise ParameterError("hash_bits", "is for dict events: this event already has columns")
        return self._event_row(x, core, learning=True)

    def _event_to_score(self, x: Any, core: _core.Model) -> Any:
        """Return an event that nothing is learned from in a form that the core takes."""
        if isinstance(x, dict):
            return self._checked(x, core, learning=False)
        return self._event_row(x, core, learning=False)

    def _event_row(self, x: Any, model: _core.Model, learning: bool) -> NDArray[np.float64]:
        row = as_event_row(x)
        check_event_length(type(self).__name__, model, len(row), learning)
        return row
