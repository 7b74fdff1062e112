"""How many alarms may be raised in a period."""

from __future__ import annotations

import functools
import re
from typing import Any

from ..errors import ParameterError
from . import state as entry

_TEXT = re.compile(r"(?P<alarms>[0-9]+)/(?P<per>[0-9]+|day)")
_BINS = 256
_START: dict[str, Any] = {
    **dict.fromkeys((entry.CAPACITY_MET, entry.CAPACITY_EVENTS, entry.CAPACITY_SPENT), 0),
    **{entry.CAPACITY_DAY: 0.0, entry.CAPACITY_USUAL: 0.0, entry.CAPACITY_UNIT: 1.0},
    entry.CAPACITY_GAINS: [0.0] * _BINS,
}


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> tuple[int, int | None]:
    """Return alarms and events of a period; None for days."""
    found = _TEXT.fullmatch(text.strip())
    alarms = int(found["alarms"]) if found else 0
    per = None if not found or found["per"] == "day" else int(found["per"])
    if not found or not 0 < alarms < 2**53 or (per is not None and not 0 < per < 2**53):
        raise ParameterError(
            "capacity", "is invalid: it must look like '50/day' or '20/1000'", value=text
        )
    return alarms, per


def capacity_options(capacity: Any) -> dict[str, Any]:
    """Return the core options of a capacity; none where there is no limit."""
    if capacity is None:
        return {}
    alarms, per = _parsed(str(capacity))
    period = {"capacity_daily": True} if per is None else {"capacity_per": float(per)}
    return {"capacity": float(alarms), **period}


def is_daily(capacity: Any) -> bool:
    """Say whether events must come with their times."""
    return capacity is not None and "capacity_daily" in capacity_options(capacity)


def with_capacity(
    state: dict[str, Any], before: dict[str, Any], now: dict[str, Any]
) -> dict[str, Any]:
    """Return the state of a model whose capacity changes: other periods begin anew."""
    kinds = [
        (o.get("capacity_daily"), o.get("capacity_per"), "capacity" in o) for o in (before, now)
    ]
    return state if kinds[0] == kinds[1] else {**state, **_START}
