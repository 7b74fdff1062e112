"""Measures of each period of a stream: a day, or a fixed number of events."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._text import aligned, percent
from ..errors import ParameterError
from ..estimator.times import checked_seconds
from ..metrics import Counts, Levels, RunningAUC

DAY = "day"
AUTO = "auto"
_SCORES = 50_000  # distinct scores of a period that are told apart
_FEWER = 8_000  # the same, where several periods are held because they may become one
_FEW, _FIRST = 32, 256  # automatic periods, and events in the first ones
_KEPT = 1_000  # finished periods kept; earlier ones go
_SECONDS = 86_400


@dataclasses.dataclass(frozen=True, kw_only=True)
class Period(Counts):
    """What happened in a period: `Counts`, and how well its events were ranked.

    Attributes
    ----------
    name : str
        The day, or the numbers of its rows, from 1.
    rows : int
        How many there were, those of weight 0 and bad ones included.
    auc, average_precision : float
        Of its events among each other; exact up to 50,000 different scores. NaN where a class is
        absent.
    """

    name: str
    rows: int
    auc: float
    average_precision: float

    @property
    def alarms(self) -> float:
        """How many alarms were raised."""
        return self.positives - self.false_negatives + self.false_positives


HEADER = (
    "period",
    "events",
    "positives",
    "alarms",
    "precision",
    "recall",
    "AUC",
    "avg. precision",
    "cost",
)


class Periods(tuple[Period, ...]):
    """Periods in their order, shown as a table.

    `cost` is what a missed positive and a false alarm cost; None: `money` is what was paid.
    """

    cost: tuple[float, float] | None

    def __new__(
        cls, found: Sequence[Period] = (), cost: tuple[float, float] | None = (0.9, 0.1)
    ) -> Periods:
        """Return a tuple that knows its prices."""
        made = super().__new__(cls, found)
        made.cost = cost
        return made

    def paid(self, period: Period) -> float:
        """Return what a period cost."""
        return period.money if self.cost is None else period.cost(*self.cost)

    def cells(self) -> list[list[str]]:
        """Return the cells of the table."""
        return [
            [
                one.name,
                f"{one.events:,}",
                f"{one.positives:,.10g}",
                f"{one.alarms:,.10g}",
                percent(one.precision, 1),
                percent(one.sensitivity, 1),
                percent(one.auc, 1),
                percent(one.average_precision, 1),
                f"{self.paid(one):,.6g}",
            ]
            for one in self
        ]

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each period."""
        return [
            {
                "period": one.name,
                "rows": one.rows,
                "events": one.events,
                "positives": one.positives,
                "negatives": one.negatives,
                "alarms": one.alarms,
                "false_negatives": one.false_negatives,
                "false_positives": one.false_positives,
                "precision": one.precision,
                "sensitivity": one.sensitivity,
                "specificity": one.specificity,
                "auc": one.auc,
                "average_precision": one.average_precision,
                "cost": self.paid(one),
                "labels": one.queries,
                "updates": one.updates,
            }
            for one in self
        ]

    def __repr__(self) -> str:
        return "\n".join(aligned([list(HEADER), *self.cells()], range(1, len(HEADER))))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in HEADER)
        rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self.cells())
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def check_size(size: Any) -> int | str:
    """Return a size of periods; raise if it is none."""
    if size in (DAY, AUTO):
        return str(size)
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool) and size > 0:
        return int(size)
    raise ParameterError("size", "is invalid: it must be 'day' or a number of events", value=size)


def day_starts(days: NDArray[np.float64], latest: float) -> NDArray[np.int64]:
    """Return where a day begins that is later than all before it; NaN: none was before it."""
    before = np.fmax.accumulate(np.r_[latest, days])
    return np.flatnonzero((days > before[:-1]) | np.isnan(before[:-1]))


@dataclasses.dataclass
class _Stretch:
    """A period while it lasts, or while it may become part of a longer one."""

    name: str
    ranking: RunningAUC
    rows: int = 0
    counts: Counts = dataclasses.field(default_factory=Counts)

    def done(self) -> Period:
        ranked = self.ranking.levels
        return Period(
            **dataclasses.asdict(self.counts),
            name=self.name,
            rows=self.rows,
            auc=self.ranking.value,
            average_precision=ranked.average_precision,
        )

    def joined(self, other: _Stretch) -> _Stretch:
        """Return this and the next one as one."""
        ranking = RunningAUC(limit=self.ranking.limit)
        for part in (self.ranking.levels, other.ranking.levels):
            _put(ranking, part)
        name = f"{self.name.partition('-')[0]}-{other.name.partition('-')[2]}"
        return _Stretch(name, ranking, self.rows + other.rows, self.counts + other.counts)

    def state(self) -> dict[str, Any]:
        counts, ranking = dataclasses.asdict(self.counts), self.ranking.__getstate__()
        return {"name": self.name, "rows": self.rows, "counts": counts, "ranking": ranking}

    @classmethod
    def of(cls, state: dict[str, Any]) -> _Stretch:
        ranking = RunningAUC()
        ranking.__setstate__(state["ranking"])
        return cls(state["name"], ranking, state["rows"], Counts(**state["counts"]))


def _put(ranking: RunningAUC, part: Levels) -> None:
    for sign, weights in ((1.0, part.positives), (-1.0, part.negatives)):
        ranking.add_many(np.full(len(weights), sign), part.scores, sample_weight=weights)


class PeriodLog:
    """The periods of a stream while it runs, in bounded memory: the last 1,000 are kept.

    Parameters
    ----------
    size : int or "day" or "auto"
        Rows of a period; by the day; or 16 to 32 periods, which become longer as the stream does.
        Days begin at midnight, UTC. A day ends when a later one begins: events of an earlier day
        that come then count in the later one.
    state : dict, optional
        The state of a run to resume.
    """

    def __init__(self, size: int | str, state: dict[str, Any] | None = None) -> None:
        self.size = check_size(size)
        self.closed = 0  # how many periods are over
        self._every = self.size if isinstance(self.size, int) else _FIRST
        self._rows, self._latest = 0, math.nan
        self._done: list[Period] = []
        self._held: list[_Stretch] = []  # automatic periods, which may become one
        self._open: _Stretch | None = None
        if state is not None:
            self.closed, self._every = state["closed"], state["every"]
            self._rows, self._latest = state["rows"], state["latest"]
            self._done = [Period(**one) for one in state["done"]]
            self._held = [_Stretch.of(one) for one in state["held"]]
            self._open = None if state["open"] is None else _Stretch.of(state["open"])

    def state(self) -> dict[str, Any]:
        """Return what a resumed run needs."""
        return {
            "closed": self.closed,
            "every": self._every,
            "rows": self._rows,
            "latest": self._latest,
            "done": [dataclasses.asdict(one) for one in self._done],
            "held": [one.state() for one in self._held],
            "open": None if self._open is None else self._open.state(),
        }

    @property
    def finished(self) -> list[Period]:
        """The periods that are over."""
        return self._done or [one.done() for one in self._held]

    def room(self, rows: int, times: NDArray[np.float64] | None) -> int:
        """Return how many of the next rows belong together; a period that is over is closed.

        Times are in seconds since 1970.
        """
        if self.size == DAY:
            assert times is not None
            days = np.floor(checked_seconds(times[:rows]) / _SECONDS)
            starts = day_starts(days, self._latest)
            if len(starts) and starts[0] == 0:
                self.close()
                self._latest = float(days[0])
                starts = starts[1:]
            rows = int(starts[0]) if len(starts) else rows
        else:
            rows = min(rows, self._every - self._rows % self._every)
        if self._open is None:
            limit = _FEWER if self.size == AUTO else _SCORES
            self._open = _Stretch(self._name(), RunningAUC(limit=limit))
        return rows

    def add(
        self,
        counts: Counts,
        labels: NDArray[Any],
        scores: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
    ) -> None:
        """Add events of the present period."""
        assert self._open is not None
        self._open.counts = self._open.counts + counts
        self._open.ranking.add_many(labels, scores, sample_weight=weights)

    def pass_rows(self, rows: int) -> None:
        """Count rows, good and bad; a period that is full is closed."""
        assert self._open is not None
        self._rows += rows
        self._open.rows += rows
        if self.size != DAY and self._rows % self._every == 0:
            self.close()

    def _name(self) -> str:
        if self.size == DAY:
            return str(np.datetime64(0, "D") + np.timedelta64(int(self._latest), "D"))
        return f"{self._rows - self._rows % self._every + 1}-"

    def close(self) -> None:
        """End the present period, if one has begun."""
        now, self._open = self._open, None
        if now is None:
            return
        if self.size != DAY:
            now.name += str(self._rows)
        self.closed += 1
        if self.size != AUTO:
            self._done = [*self._done[-_KEPT + 1 :], now.done()]
            return
        self._held.append(now)
        if len(self._held) == _FEW and self._rows % self._every == 0:
            pairs = zip(self._held[::2], self._held[1::2], strict=True)
            self._held = [one.joined(other) for one, other in pairs]
            self._every *= 2


def spans(rows: int, size: Any, time: NDArray[np.float64] | None) -> Iterator[tuple[str, slice]]:
    """Yield the name and the rows of each period of a stream; times in days since 1970."""
    size = check_size(size)
    if size == DAY:
        if time is None:
            raise ParameterError("time", "is needed for periods of a day")
        days = np.floor(time)
        starts = day_starts(days, math.nan).tolist()
        names = [str(np.datetime64(0, "D") + np.timedelta64(int(days[k]), "D")) for k in starts]
    else:
        step = max(1, -(-rows // 20)) if size == AUTO else int(size)
        starts = list(range(0, rows, step))
        names = [f"{k + 1}-{min(rows, k + step)}" for k in starts]
    for name, first, last in zip(names, starts, [*starts[1:], rows], strict=True):
        yield name, slice(first, last)
