"""The curve of a run of any length in constant memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ..metrics import Counts

_MOST = 200


class Points:
    """Counts at evenly spaced rows; when there are too many, every second one is dropped.

    Parameters
    ----------
    kept : dict, optional
        The state of a run to resume.

    Attributes
    ----------
    every : int
        Rows between two points.
    curve : list of Counts
        The points so far.
    """

    def __init__(self, kept: dict[str, Any] | None = None) -> None:
        self.every: int = kept["every"] if kept else 16
        rows: Sequence[Any] = kept["curve"] if kept else ()
        self.curve = [Counts(**row) for row in rows]

    def add(self, rows: int, counts: Counts) -> None:
        """Add the counts after a number of rows, if a point is due there."""
        if rows % self.every:
            return
        self.curve.append(counts)
        if len(self.curve) >= _MOST:
            self.every *= 2
            self.curve = self.curve[1::2]

    def state(self) -> dict[str, Any]:
        """Return what a run needs to resume from here."""
        return {"every": self.every, "curve": [dataclasses.asdict(c) for c in self.curve]}
