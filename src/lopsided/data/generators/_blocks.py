"""What synthetic streams share: rows are drawn in batches and yielded in blocks.

Each batch has a fixed size and its own random generator, seeded with the seed of the stream and the
number of the batch. So the rows do not depend on the size of the blocks, and memory is constant.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ParameterError
from ..block import Block

_BATCH = 1024  # rows per random generator; streams depend on it, so never change it


@dataclasses.dataclass(kw_only=True)
class Events(Block):
    """A block of a synthetic stream: what a reader gives, and the hidden truth.

    Attributes
    ----------
    time : array
        The time of each event in seconds since 1970; the stream starts at 0.
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
    """The best expected result of any rule on a stream.

    Attributes
    ----------
    cost : float
        The cost of the mistakes over the stream.
    sensitivity, specificity : float
        Those of the rule with that cost.
    """

    cost: float
    sensitivity: float
    specificity: float

    def sum(self, alpha: float = 0.5) -> float:
        """Return the weighted sum of sensitivity and specificity."""
        return alpha * self.sensitivity + (1 - alpha) * self.specificity


def check_ranges(**limits: tuple[float, float, float]) -> None:
    """Raise for the first value outside its limits."""
    for name, (value, low, high) in limits.items():
        if not low <= value <= high:
            raise ParameterError(
                name, f"is invalid: it must be in {low:g} to {high:g}", value=value
            )


class SyntheticStream:
    """Rows in blocks; `_draw` returns the rows of one batch, always the same ones."""

    rows: int
    block_rows: int

    def _draw(self, batch: int, rows: int) -> dict[str, Any]:
        raise NotImplementedError

    def _block(self, columns: dict[str, Any], first: int) -> Block:
        raise NotImplementedError

    def _batches(self) -> Iterator[dict[str, Any]]:
        for batch, first in enumerate(range(0, self.rows, _BATCH)):
            rows = min(_BATCH, self.rows - first)
            # always draw a full batch, so that a longer stream starts with the same rows
            yield {name: column[:rows] for name, column in self._draw(batch, _BATCH).items()}

    def __iter__(self) -> Iterator[Any]:
        held: list[dict[str, Any]] = []
        first = count = 0
        for columns in self._batches():
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
