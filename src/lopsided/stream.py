"""A run over a stream of blocks: progressive, in flat memory, resumable at any row."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._data import BadRowError
from ._labels import LabelError
from .base import OnlineClassifier
from .data.block import BadLines, Block, DataError
from .metrics import Counts

_COUNTS = tuple(field.name for field in dataclasses.fields(Counts))


@dataclasses.dataclass
class Slice:
    """Rows that were just learned, for whoever writes predictions."""

    block: Block
    first: int
    scores: NDArray[np.float64]


class StreamRun:
    """Learn from blocks of rows, predicting each row before learning from it.

    Parameters
    ----------
    model : OnlineClassifier
        Goes on from what it knows.
    bad : BadLines
        Rows with an impossible label or value count as bad lines.
    stops : tuple of int
        Passes end at multiples of these numbers of rows, where callers look at the state.
    state : dict, optional
        The state of a run to go on with: its rows are skipped.
    """

    def __init__(
        self,
        model: OnlineClassifier,
        *,
        bad: BadLines | None = None,
        stops: tuple[int, ...] = (),
        state: dict[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.bad = BadLines() if bad is None else bad
        self.counts = Counts()
        self.rows = 0  # rows read so far, good or bad
        self.seconds = 0.0
        self._stops = stops
        self._skip = 0
        if state is not None:
            self.counts = Counts(**state["counts"])
            self.seconds = state["seconds"]
            self._skip = state["rows"]

    def state(self) -> dict[str, Any]:
        """Return what another run needs to go on from here."""
        return {
            "rows": self.rows,
            "counts": dataclasses.asdict(self.counts),
            "seconds": self.seconds,
        }

    def over(self, blocks: Iterable[Block], *, limit: int | None = None) -> Iterator[Slice]:
        """Learn; after each slice hand it on. Stop asking and the run stops, at a row boundary."""
        for block in blocks:
            size = len(block.lines)
            if block.y is None:
                raise DataError(block.file, int(block.lines[0]), expected="a label on every row")
            first = min(size, max(0, self._skip - self.rows))
            self.rows += first
            while first < size and self.rows != limit:
                last = min(size, first + self._until_stop())
                if limit is not None:
                    last = min(last, first + limit - self.rows)
                yield self._learn(block, first, last)
                first = last
            if self.rows == limit:
                return

    def _until_stop(self) -> int:
        return min((n - self.rows % n for n in self._stops), default=1 << 62)

    def _learn(self, block: Block, first: int, last: int) -> Slice:
        """Learn from a part of a block; rows that cannot be learned from are bad lines."""
        order = np.arange(first, last)
        while True:
            try:
                result = self.model._pass(block.X, block.y, block.weight, order=order, scores=True)
                break
            except (LabelError, BadRowError) as error:
                if error.row is None:
                    raise
                fault = DataError(block.file, int(block.lines[error.row]), expected=error.what)
                self.bad.add(fault)
                order = order[order != error.row]
        scores = np.full(last - first, np.nan)
        scores[order - first] = result["scores"]
        self.counts = Counts(**{n: getattr(self.counts, n) + result[n] for n in _COUNTS})
        self.seconds += result["seconds"]
        self.rows += last - first
        return Slice(block, first, scores)
