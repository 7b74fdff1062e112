"""Labels that come late in a stream: which wait, and when each comes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..algorithms.active import Active
from ..errors import InputError, ModelFileError, Parameter
from ..estimator import state as entry
from ..estimator.base import OnlineClassifier
from ..estimator.learning import Late
from ..estimator.times import as_moments

MAX_PENDING = 1_000_000  # events that may wait, unless another number is given
Line = NDArray[np.float64]
_ID, _DUE, _CODE, _WEIGHT = range(4)  # columns of a table of labels that wait


@dataclasses.dataclass(frozen=True)
class Arrivals:
    """The labels that come during a pass.

    Attributes
    ----------
    late : Late
        They, for the pass.
    ids, due, after : array
        For each event of the pass its number, what its label waits for, and the event after which
        it comes, NaN for never.
    earlier : array
        Which of the labels that waited before come.
    now : float
        The time of the stream at the end.
    """

    late: Late
    ids: NDArray[np.float64]
    due: NDArray[np.float64]
    after: NDArray[np.float64]
    earlier: NDArray[np.bool_]
    now: float


class LateLabels:
    """The labels of a stream that have not come, and the rule by which they come.

    A label comes `delay` events after its own, or before the next event at whose time it is known;
    the time of the stream never goes back. Labels that come between the same two events are learned
    in the order of their events.

    Parameters
    ----------
    delay : int, optional
        How many further events are met before a label comes; None: labels have times.
    most : int
        How many events may wait; one more is an error.
    state : dict, optional
        The state of a run to resume.
    """

    def __init__(
        self,
        delay: int | None = None,
        *,
        most: int = MAX_PENDING,
        state: dict[str, Any] | None = None,
    ) -> None:
        self.delay, self.most = delay, most
        self._now = -np.inf  # the time of the stream
        self._waiting = np.empty((0, 4))  # in the order of events
        if state is not None:
            self._now, self._waiting = _read(state)

    def __len__(self) -> int:
        return len(self._waiting)

    def events(self) -> list[int]:
        """Return the numbers of the events that wait."""
        return [int(event) for event in self._waiting[:, _ID]]

    def state(self) -> dict[str, Any]:
        """Return what a resumed run needs."""
        return {"now": float(self._now), "waiting": self._waiting.astype("<f8").tobytes()}

    def coming(
        self,
        first: int,
        size: int,
        rows: NDArray[np.int64],
        time: NDArray[np.float64] | None = None,
        label_time: NDArray[np.float64] | None = None,
        *,
        every: bool = True,
    ) -> Arrivals:
        """Return which labels come during a pass; raise if too many events would wait.

        Parameters
        ----------
        first : int
            The number of the first event.
        size : int
            How many rows there are.
        rows : array
            Those that are visited, one at least.
        time, label_time : array, optional
            When each row happened, and when its label was known; NaN for never.
        every : bool
            Whether every label is wanted. If not, only the pass tells how many events wait.
        """
        ids: Line = first + np.arange(len(rows), dtype=np.float64)
        last = first + len(rows) - 1
        earlier: Line = self._waiting[:, _DUE]
        now, due, after = self._now, ids, ids
        if self.delay is not None:
            due = after = ids + self.delay
        else:
            assert time is not None
            assert label_time is not None
            due = label_time[rows]
            clock = np.maximum.accumulate(np.append(now, time[rows]))[1:]
            earlier = _reached(clock, earlier, first)
            after = np.maximum(_reached(clock, due, first), ids)
            # Those known at the last event come with others, before an event that is not known yet.
            after = np.where(np.isnan(due), np.nan, np.where(after < last, after, np.inf))
            now = clock[-1]
        if every:
            self._check(ids, after, earlier)
        comes = earlier <= last
        delays = np.full(size, np.nan)
        # A label that comes after the last event keeps its event waiting.
        delays[rows] = np.where(after > last, np.inf, after - ids)
        table = self._waiting[comes]
        told = np.maximum(earlier[comes], first - 1.0)[:, None]
        told = np.hstack([told, table[:, [_ID, _CODE, _WEIGHT]]])
        return Arrivals(Late(delays, told), ids, due, after, comes, float(now))

    def _check(self, ids: Line, own: Line, earlier: Line) -> None:
        """Raise if more events would wait than may."""
        kept = len(self) + np.cumsum(own == own)
        if kept[-1] <= self.most:
            return
        came = np.searchsorted(np.sort(np.concatenate([own[own == own], earlier])), ids)
        if (kept - came > self.most).any():
            raise too_many(self.most)

    def took(
        self,
        met: Arrivals,
        asked: NDArray[np.bool_],
        codes: NDArray[np.int8],
        weights: NDArray[np.float64] | None,
    ) -> None:
        """Note that a pass is over.

        Parameters
        ----------
        met : Arrivals
            What came during it.
        asked : array
            Whether the label of each of its events is wanted.
        codes, weights : array
            Their labels, +1 or -1, and their weights.
        """
        waits = asked & (met.after > met.ids[-1])
        much = np.ones(len(codes)) if weights is None else weights
        more = np.column_stack([one[waits] for one in (met.ids, met.due, codes, much)])
        self._waiting = np.concatenate([self._waiting[~met.earlier], more])
        self._now = met.now


def _read(state: Any) -> tuple[float, NDArray[np.float64]]:
    """Return time and table of a state; raise unless it is one."""
    try:
        now, raw = state["now"], state["waiting"]
        table = np.frombuffer(raw, dtype="<f8").reshape(-1, 4).astype(np.float64)
    except (KeyError, TypeError, ValueError, IndexError):
        raise ModelFileError("its labels that wait are no table") from None
    if not isinstance(now, float) or now != now:
        raise ModelFileError("the time of its stream is no number")
    ids, due, codes, weights = table.T
    sound = (ids >= 0) & (ids < 2.0**53) & (ids == np.floor(ids)) & (due == due)
    sound &= (np.abs(codes) == 1) & (weights > 0) & np.isfinite(weights)
    if not sound.all() or (np.diff(ids) <= 0).any():
        raise ModelFileError("its labels that wait are not sound")
    return now, table


def _reached(clock: Line, due: Line, first: int) -> Line:
    """Return the event before the one at which the clock reaches each time; inf if none does."""
    at = np.searchsorted(clock, due)
    return np.where(at < len(clock), first + at - 1.0, np.inf)


def delays_by_time(
    time: Any,
    label_time: Any,
    rows: int,
    order: NDArray[np.int64] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return how many further events are met before the label of each row is known.

    Parameters
    ----------
    time, label_time : array
        When each row happened and when its label was known: dates, texts of them or seconds since
        1970; NaN, NaT, None or "" for a label that never is.
    rows : int
        How many there are.
    order : array, optional
        The rows that are visited, each once.
    weights : array, optional
        Rows of weight 0 are not met.

    Returns
    -------
    array
        inf where no row that is visited is so late.
    """
    if time is None:
        raise InputError("label_time needs time as well: when the events happened")
    happened, due = as_moments(time, rows), as_moments(label_time, rows)
    met = np.arange(rows) if order is None else order
    if len(np.unique(met)) < len(met):
        raise InputError("label_time: a row that is visited twice has one label only")
    if weights is not None:
        met = met[weights[met] != 0]
    if np.isnan(happened[met]).any():
        row = int(met[np.argmax(np.isnan(happened[met]))])
        raise InputError(f"row {row} has no time: every event needs one", row=row)
    reached = np.searchsorted(np.maximum.accumulate(happened[met]), due[met]).astype(np.float64)
    delays = np.full(rows, np.inf)
    comes = reached < len(met)
    delays[met[comes]] = np.maximum(reached[comes] - 1 - np.flatnonzero(comes), 0)
    return delays


def too_many(most: int) -> InputError:
    """Return the error where more events would wait than may."""
    return InputError(
        f"more than {most:,} events wait for their labels",
        remedy=[("raise ", Parameter("max_pending"), ": they take memory, and none is forgotten")],
    )


def waiting_model(model: OnlineClassifier, most: int, state: Any = None) -> Active:
    """Return a model that wants every label and lets events wait for theirs.

    Parameters
    ----------
    model : OnlineClassifier
        What it has learned so far.
    most : int
        How many events may wait.
    state : dict, optional
        The events that wait: see `waiting_events`.
    """
    asker = Active.around(model, query="always", max_pending=most)
    if state is not None:
        core = asker.fitted.core
        features, now, names = core.snapshot()
        events = np.frombuffer(state["events"], dtype="<f8").astype(np.float64)
        core.restore(features, {**now, **state["counts"], entry.PENDING_EVENTS: events}, names)
    return asker


def waiting_events(asker: Active) -> dict[str, Any]:
    """Return the events that wait, as plain values."""
    state = asker.fitted.core.state()
    counts = {name: value for name, value in state.items() if name.startswith(entry.BUDGET)}
    return {"counts": counts, "events": state[entry.PENDING_EVENTS].astype("<f8").tobytes()}


def without_waiting(asker: Active) -> OnlineClassifier:
    """Return what a model that waits for labels has learned, as a model that does not."""
    inner = asker.learner
    model: OnlineClassifier = type(inner)(**inner.get_params(deep=False))
    model.schema_ = asker.schema_
    if asker.__sklearn_is_fitted__():
        model.take_state(asker.fitted)
    return model
