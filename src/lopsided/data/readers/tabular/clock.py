"""Times of rows: whether they are in order, and as features."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import Parameter, ParameterError
from ....estimator.times import clock_names, clock_of

Moments = NDArray[np.float64]
Last = dict[str, dict[str, float]]  # by column and key: when it was last met

MOST_KEYS = 65_536  # keys of a column whose last event is remembered


class Order:
    """Counts the rows that are earlier than one before them."""

    def __init__(self) -> None:
        self.late, self.first = 0, 0
        self._latest = -np.inf

    def meet(self, times: Moments, lines: NDArray[np.int64]) -> None:
        """Look at further rows."""
        if not len(times):
            return
        latest = np.fmax.accumulate(np.concatenate([[self._latest], times]))
        late = times < latest[:-1]
        if late.any() and not self.late:
            self.first = int(lines[np.argmax(late)])
        self.late += int(late.sum())
        self._latest = latest[-1]

    def note(self, column: str, unit: str, remedy: str) -> list[str]:
        """Return what there is to say."""
        if not self.late:
            return []
        are = "s are" if self.late > 1 else " is"
        return [
            f'"{column}" is not in order: {self.late:,} {unit}{are} earlier than one before, the '
            f"first {unit} {self.first:,}; {remedy}"
        ]


class TimeFeatures:
    """Hour and weekday in UTC, and how long ago the last event of the same key was.

    Parameters
    ----------
    column : str
        The column of times.
    since : sequence of str
        Columns of keys. For each there are two numbers: the logarithm of one plus the seconds since
        the last event of the same key, and whether there was none. Of `MOST_KEYS` keys of a column
        this is known; then those not met for longest are forgotten.
    last : mapping
        When keys were last met, by column.
    """

    def __init__(
        self, column: str, since: Sequence[str], last: Mapping[str, Mapping[str, float]]
    ) -> None:
        self.categories = clock_names(column)
        self.numbers = [f"since:{key}{end}" for key in since for end in ("", ":first")]
        self._last: Last = {key: dict(last.get(key, {})) for key in since}
        self.begin()

    def begin(self) -> None:
        """Begin a block of rows."""
        self._before = {name: dict(last) for name, last in self._last.items()}
        self._met: list[tuple[float, Sequence[str]]] = []

    def clock(self, times: Moments) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return hours, and days of the week from Monday on."""
        hours = np.floor(times / 3600).astype(np.int64)
        return (hours % 24).astype(np.int32), ((hours // 24 + 3) % 7).astype(np.int32)

    def meet(self, time: float, keys: Sequence[str]) -> list[float]:
        """Return the numbers of the next row."""
        self._met.append((time, keys))
        numbers: list[float] = []
        for last, key in zip(self._last.values(), keys, strict=True):
            gap = _meet(last, key, time)
            numbers += [0.0, 1.0] if gap is None else [math.log1p(max(gap, 0.0)), 0.0]
        return numbers

    def of_event(self, time: float, keys: Sequence[str]) -> dict[str, Any]:
        """Return the features of the next event by name."""
        texts = zip(self.categories, clock_of(time), strict=True)
        return {**dict(texts), **dict(zip(self.numbers, self.meet(time, keys), strict=True))}

    @property
    def last_after(self) -> Callable[[int], Last]:
        """When keys were last met, after some rows of the block."""
        before, met = self._before, self._met

        def after(rows: int) -> Last:
            found = {name: dict(last) for name, last in before.items()}
            for time, keys in met[:rows]:
                for last, key in zip(found.values(), keys, strict=True):
                    _meet(last, key, time)
            return found

        return after

    @property
    def last(self) -> Last:
        """When keys were last met."""
        return {name: dict(last) for name, last in self._last.items()}


def _meet(last: dict[str, float], key: str, time: float) -> float | None:
    """Return the seconds since a key was last met, None if never, and meet it now."""
    before = last.pop(key, None)
    last[key] = time if before is None or time > before else before
    if len(last) > MOST_KEYS:
        del last[next(iter(last))]
    return None if before is None else time - before


def check_since(clock: Any, since: Sequence[Any]) -> None:
    """Raise where keys are given without times."""
    if since and clock is None:
        raise ParameterError(
            "since", "needs the times of the rows", remedy=[("give ", Parameter("time_features"))]
        )
