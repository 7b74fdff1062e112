"""Which features counted most for the latest alarms of a run."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
    """The latest alarms: at most 200 of the last block, in the order they were raised.

    Parameters
    ----------
    kept : list of int, optional
        Those of an interrupted run, in the block in which it is resumed.
    """

    def __init__(self, kept: Sequence[int] | None = None) -> None:
        self._rows = list(kept or ())
        self._block: Block | None = None

    def add(self, piece: Slice) -> None:
        """Take in the alarms of rows that were just learned."""
        if piece.block is not self._block:
            resumed = self._block is None and piece.first > 0
            self._rows = self._rows if resumed else []
            self._block = piece.block
        found = piece.first + np.flatnonzero(piece.alarms)
        self._rows = [*self._rows, *found.tolist()][-_MOST:]

    def state(self) -> list[int]:
        """Return what a resumed run needs."""
        return self._rows

    def table(self, model: OnlineClassifier) -> Table | None:
        """Return the features that counted most; None where the model cannot say."""
        if self._block is None or not self._rows or model.n_features_in_ > _WIDEST:
            return None
        part = taken(gather([self._block]), np.array(self._rows)).X
        try:
            return _table([model.explain_one(event) for event in events_of(part, model)])
        except (LopsidedError, ValueError, AttributeError):
            return None


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
