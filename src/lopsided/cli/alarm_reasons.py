"""Which features counted most for the latest alarms of a run."""

from __future__ import annotations

import re
from collections import deque

import numpy as np

from ..data.block import Block
from ..data.gather import gather, taken
from ..errors import LopsidedError
from ..estimator.base import OnlineClassifier
from ..estimator.reasons import Explanation, Reason
from ..evaluation.stream import Slice
from ..report import Table
from .explain import events_of

_MOST = 200  # alarms
_SHOWN = 12  # features
_WIDEST = 100_000  # features: events of more are not written out
_RANGE = re.compile(r"^\S+ <= | (<|>=) [-+.\de]+$|=.*$", re.DOTALL)


class LatestAlarms:
    """The latest alarms: at most 200 of the last two blocks, in the order they were raised."""

    def __init__(self) -> None:
        self._found: deque[tuple[Block, int]] = deque(maxlen=_MOST)
        self._blocks: deque[Block] = deque(maxlen=2)

    def add(self, piece: Slice) -> None:
        """Take in the alarms of rows that were just learned."""
        if not self._blocks or self._blocks[-1] is not piece.block:
            self._blocks.append(piece.block)
            kept = [pair for pair in self._found if pair[0] is self._blocks[0]]
            self._found = deque(kept, maxlen=_MOST)
        for row in np.flatnonzero(piece.alarms)[-_MOST:].tolist():
            self._found.append((piece.block, piece.first + row))

    def table(self, model: OnlineClassifier) -> Table | None:
        """Return the features that counted most; None where the model cannot say."""
        found: list[Explanation] = []
        if model.n_features_in_ > _WIDEST:
            return None
        try:
            for block in self._blocks:
                rows = np.array([row for of, row in self._found if of is block], np.int64)
                if len(rows):
                    part = taken(gather([block]), rows).X
                    found += [model.explain_one(event) for event in events_of(part, model)]
        except (LopsidedError, ValueError, AttributeError):
            return None
        return _table(found) if found else None


def _table(found: list[Explanation]) -> Table:
    sums: dict[str, list[float]] = {}
    first: dict[str, int] = {}
    for why in found:
        own: dict[str, float] = {}
        for reason in why.reasons:
            name = column_of(reason)
            own[name] = own.get(name, 0.0) + reason.effect
        for name, effect in own.items():
            sums.setdefault(name, []).append(effect)
        if own:
            leader = max(own, key=lambda name: own[name])
            first[leader] = first.get(leader, 0) + 1
    size = len(found)
    order = sorted(sums, key=lambda name: -sum(map(abs, sums[name])))
    rows = [
        [
            name,
            f"{sum(sums[name]) / size:+.3f}",
            f"{sum(map(abs, sums[name])) / size:.3f}",
            f"{first.get(name, 0) / size:.0%}",
        ]
        for name in order[:_SHOWN]
    ]
    return Table(
        ["feature", "mean effect", "mean size", "strongest in"],
        rows,
        note=f"What features add to the scores of the last {size:,} alarms, by the model at the "
        "end of the run; the last column is the share of alarms whose score they raise most.",
    )


def column_of(reason: Reason) -> str:
    """Return the column, or two, that a reason is about, without values and ranges."""
    parts = reason.feature.split(" and ") if reason.value is None else [reason.feature]
    if reason.value is not None:
        return reason.feature.partition("=")[0] or reason.feature
    names = [_RANGE.sub("", _RANGE.sub("", part)) or part for part in parts]
    return " and ".join(sorted(set(names)))
