"""A wrapper with a budget or a capacity for each day, whose events come with their times."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import BadRowError, InputError, Parameter, ParameterError
from ..estimator.learning import Ready
from ..estimator.times import as_days, latest_day
from .budget import Budget, as_budget
from .wrapper import Wrapper

_TIME = ("give ", Parameter("time"))


class TimedWrapper(Wrapper):
    """Checks the times of events: days follow each other, and none is far off."""

    budget: Any

    # A core, and the latest day it has met.
    _met: tuple[_core.Model, float] | None = None

    @property
    def needs_time(self) -> bool:
        """Whether the budget is daily, so that events must come with their times."""
        return self.daily_budget or super().needs_time

    @property
    def daily_budget(self) -> bool:
        """Whether the budget is one for each day."""
        budget = self.budget
        return isinstance(budget, (str, Budget)) and _daily(budget)

    def _days(self, time: Any, rows: int) -> NDArray[np.float64]:
        if time is None:
            if self.daily_budget:
                raise InputError("a daily budget needs the times of the events", remedy=[_TIME])
            if self.needs_time:
                raise InputError("a daily capacity needs the times of the events", remedy=[_TIME])
            return np.zeros(rows)
        if not self.needs_time:
            raise ParameterError("time", "has an effect only with a daily budget or capacity")
        return as_days(time, rows)

    def _latest(
        self, model: _core.Model, days: NDArray[np.float64], rows: NDArray[np.int64]
    ) -> float:
        """Return the latest day after some rows; raise if one is far off."""
        if self._met is None or self._met[0] is not model:
            self._met = model, float(model.asking().get("latest_day", np.nan))
        return latest_day(days, self._met[1], rows)

    def _latest_one(self, model: _core.Model, day: float) -> float:
        if self._met is not None and self._met[0] is model and day // 1 == self._met[1]:
            return self._met[1]  # most events are of the same day as the one before
        try:
            return self._latest(model, np.array([day]), np.zeros(1, np.int64))
        except BadRowError as error:
            raise InputError(error.what) from None

    def _ready(self, *args: Any, **options: Any) -> Ready:
        ready = super()._ready(*args, **options)
        if self.needs_time:
            self._latest(ready.fitted.core, *_met(ready))
        return ready

    def _learned(self, ready: Ready, result: dict[str, Any]) -> dict[str, Any]:
        if self.needs_time and result["events"]:
            self._met = ready.fitted.core, self._latest(ready.fitted.core, *_met(ready))
        return super()._learned(ready, result)


@functools.lru_cache(maxsize=64)
def _daily(budget: str | Budget) -> bool:
    return getattr(as_budget(budget), "per", None) == "day"


def _met(ready: Ready) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the days of a batch, and the rows that count in the order they are met."""
    assert ready.days is not None
    rows = np.arange(len(ready.days)) if ready.visit is None else ready.visit
    return ready.days, rows if ready.weights is None else rows[ready.weights[rows] != 0]
