"""What made-up streams have in common: rows in pieces, pieces in blocks.

Rows are drawn in fixed pieces, each from a generator of its own made from the seed and the number
of the piece, so a stream has the same rows whatever the size of the blocks, in flat memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ParameterError
from ..block import Block

_PIECE = 1024  # rows drawn from one generator; part of what a seed means, so never change it


@dataclasses.dataclass(kw_only=True)
class Events(Block):
    """A block of a made-up stream: what a reader gives, and what only the maker knows.

    Attributes
    ----------
    time : array
        When each event happens, in seconds; the stream starts at 0, which is 1970.
    delay : array
        Seconds until its label is known.
    truth : array
        Its true class, 1 or -1; `y` is the label that is reported.
    """

    time: NDArray[np.float64]
    delay: NDArray[np.float64]
    truth: NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Best:
    """The best that any rule can expect on a stream.

    Attributes
    ----------
    cost : float
        The price of the mistakes over the whole stream.
    sensitivity, specificity : float
        Of the rule with that cost.
    """

    cost: float
    sensitivity: float
    specificity: float

    def sum(self, alpha: float = 0.5) -> float:
        """Return the weighted sum of sensitivity and specificity."""
        return alpha * self.sensitivity + (1 - alpha) * self.specificity


def check_ranges(**limits: tuple[float, float, float]) -> None:
    """Raise a ValueError for the first value that is not between its limits."""
    for name, (value, low, high) in limits.items():
        if not low <= value <= high:
            raise ParameterError(
                name, f"is invalid: it must be in {low:g} to {high:g}", value=value
            )


class Stream:
    """Rows in blocks; `_draw` makes the rows of one piece, always the same ones."""

    rows: int
    block_rows: int

    def _draw(self, piece: int, rows: int) -> dict[str, Any]:
        raise NotImplementedError

    def _block(self, columns: dict[str, Any], first: int) -> Block:
        raise NotImplementedError

    def _pieces(self) -> Iterator[dict[str, Any]]:
        for piece, first in enumerate(range(0, self.rows, _PIECE)):
            rows = min(_PIECE, self.rows - first)
            # a whole piece is drawn even if its end is not wanted: a longer stream begins alike
            yield {name: column[:rows] for name, column in self._draw(piece, _PIECE).items()}

    def __iter__(self) -> Iterator[Any]:
        held: list[dict[str, Any]] = []
        first = count = 0
        for columns in self._pieces():
            held.append(columns)
            count += len(columns["y"])
            while count >= self.block_rows:
                rows, held = _split(held, self.block_rows)
                yield self._block(rows, first)
                first, count = first + self.block_rows, count - self.block_rows
        if count:
            yield self._block(_split(held, count)[0], first)

    def __len__(self) -> int:
        """Return the number of blocks."""
        return -(-self.rows // self.block_rows)


def _split(held: list[dict[str, Any]], rows: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    joined = held[0]
    if len(held) > 1:
        joined = {name: np.concatenate([h[name] for h in held]) for name in joined}
    rest = {name: column[rows:] for name, column in joined.items()}
    return {name: column[:rows] for name, column in joined.items()}, [rest]
