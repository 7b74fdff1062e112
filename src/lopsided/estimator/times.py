"""When events happen, and how long their labels take."""

from __future__ import annotations

import contextlib
import math
from datetime import date, datetime, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadRowError, InputError, ParameterError
from .parameters import is_number

FAR = 1e11  # seconds from 1970, the year 5138; in milliseconds it is 1973
LEAP = 366  # days between times that follow each other; more is taken for a slip


def as_days(time: Any, rows: int) -> NDArray[np.float64]:
    """Return the day of each time, with the time of day as its fraction.

    Times are dates, datetimes, texts of them, or seconds since 1970, UTC.
    """
    array = np.asarray(time)
    if array.ndim == 0:
        array = array.reshape(1)
    if array.ndim != 1 or len(array) != rows:
        raise InputError(f"there must be one time for each of the {rows} rows")
    if array.dtype.kind in "iuf":
        days = checked_seconds(array) / 86400
    else:
        if array.dtype.kind != "M":
            array = np.array([_moment(t) for t in array.tolist()], dtype="datetime64[s]")
        days = array.astype("datetime64[s]").astype(np.float64) / 86400
        days[np.isnat(array)] = np.nan
    if not np.isfinite(days).all():
        row = int(np.argmin(np.isfinite(days)))
        raise InputError(f"row {row} has no time: every event needs one", row=row)
    return days


def checked_seconds(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return seconds since 1970; raise where they can only be milliseconds."""
    moments = numbers.astype(np.float64)
    far = np.abs(moments) > FAR
    if far.any():
        row = int(np.argmax(far))
        raise BadRowError(
            f"the time {numbers[row]} is taken for seconds since 1970, and is far off: give "
            "seconds, not milliseconds, or dates",
            row,
        )
    return moments


def latest_day(days: NDArray[np.float64], latest: float, rows: NDArray[np.int64]) -> float:
    """Return the latest of some days and the one so far (NaN: none); raise where a day is far off.

    `rows` are the places of the days, in the order they are met.
    """
    days = np.floor(days)
    so_far = np.fmax.accumulate(np.concatenate([[latest], days[rows]]))
    before = so_far[:-1]
    far = np.abs(days[rows] - before) > LEAP
    if far.any():
        at = int(np.argmax(far))
        row = int(rows[at])
        leap = int(days[row] - before[at])
        side = "after" if leap > 0 else "before"
        raise BadRowError(
            f"the time {_date(days[row])} is {abs(leap):,} days {side} {_date(before[at])}, the "
            f"latest so far; a daily budget allows at most {LEAP}: correct the time or "
            "leave the event out",
            row,
        )
    return float(so_far[-1])


def _date(day: float) -> str:
    return str(np.datetime64(0, "D") + np.timedelta64(int(day), "D"))


HOURS = [f"{hour:02}" for hour in range(24)]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def clock_names(column: str) -> list[str]:
    """Return the names of the features that a column of times becomes."""
    return [f"{column}:hour", f"{column}:weekday"]


def clock_of(time: float) -> tuple[str, str]:
    """Return the hour and the day of the week, in UTC, of seconds since 1970."""
    hours = math.floor(time / 3600)
    return HOURS[hours % 24], DAYS[(hours // 24 + 3) % 7]


def seconds(value: Any) -> float | None:
    """Return a cell as seconds since 1970, None if it is not a time."""
    if isinstance(value, str) and value[4:5] != "-":  # else it begins with a year
        with contextlib.suppress(ValueError):
            value = float(value)
    if not isinstance(value, str) and is_number(value):
        return float(value) if abs(value) <= FAR else None  # milliseconds
    try:
        return float(_moment(value).replace(tzinfo=timezone.utc).timestamp())
    except ValueError:
        return None


def as_moments(time: Any, rows: int) -> NDArray[np.float64]:
    """Return times in seconds since 1970, NaN where there is none: None, NaT, NaN or ""."""
    array = np.asarray(time)
    if array.ndim != 1 or len(array) != rows:
        raise InputError(f"there must be one time for each of the {rows} rows")
    if array.dtype.kind in "iuf":
        return checked_seconds(array)
    if array.dtype.kind == "M":
        moments = array.astype("datetime64[us]").astype(np.float64) / 1e6
        moments[np.isnat(array)] = np.nan
        return moments
    found = np.full(rows, np.nan)
    for row, value in enumerate(array.tolist()):
        if value is None or value == "" or value != value:
            continue
        moment = seconds(value)
        if moment is None:
            raise InputError(f"row {row} has the time {value!r}: give dates or seconds", row=row)
        found[row] = moment
    return found


def _moment(value: Any) -> Any:
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, datetime):
            return value.astimezone(timezone.utc).replace(tzinfo=None) if value.tzinfo else value
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day)
    except ValueError:
        pass
    raise InputError(f"{value!r} is not a time: give dates, ISO texts or seconds since 1970")


def as_delays(delay: Any, rows: int, seed: int) -> NDArray[np.float64]:
    """Return how many further events are met before each label comes; inf for never."""
    if isinstance(delay, tuple) and len(delay) == 2 and delay[0] == "geometric":
        if not (is_number(delay[1]) and delay[1] >= 0):
            raise ParameterError("delay", "must have a mean that is not negative", value=delay)
        drawn = np.random.default_rng(seed).geometric(1 / (delay[1] + 1), size=rows)
        return (drawn - 1).astype(np.float64)
    array = np.asarray(delay)
    if array.dtype.kind not in "biuf" or array.ndim > 1:
        raise ParameterError(
            "delay",
            "is invalid: it must be a number of events, inf, "
            "('geometric', mean) or an array of one for each row",
            value=delay,
        )
    delays = np.array(np.broadcast_to(array, (rows,)) if array.ndim == 0 else array, np.float64)
    if len(delays) != rows:
        raise InputError(f"X has {rows} rows but there are {len(delays)} delays")
    good = (delays >= 0) & ((delays == np.floor(delays)) & (delays < 2**53) | np.isinf(delays))
    if not good.all():
        row = int(np.argmin(good))
        raise InputError(f"row {row} has the delay {delays[row]}: it must be a whole number or inf")
    return delays
