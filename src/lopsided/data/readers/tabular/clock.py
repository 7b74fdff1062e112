"""Times of rows: whether they are in order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Moments = NDArray[np.float64]


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
