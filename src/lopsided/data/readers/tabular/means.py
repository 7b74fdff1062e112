"""The means of columns so far, which stand in for empty cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# From a number of rows of a block to the sum and number of the cells of each column by then.
MeansAfter = Callable[[int], dict[str, tuple[float, int]]]


class RunningMeans:
    """Fills empty cells with the mean of the cells before them.

    Sums run from row to row, so that the result does not depend on how rows come in blocks.

    Parameters
    ----------
    names : sequence of str
        The columns.
    before : mapping
        Sum and number of the cells of a column met before.
    learning : bool
        Whether the means change with the cells; if not, each row is filled as if it were alone.
    """

    def __init__(
        self, names: Sequence[str], before: Mapping[str, tuple[float, int]], *, learning: bool
    ) -> None:
        known = [before.get(name, (0.0, 0)) for name in names]
        self._names, self._learning = names, learning
        self._sums = np.array([total for total, _ in known], dtype=np.float64)
        self._counts = np.array([count for _, count in known], dtype=np.int64)
        self._steps = self._sums[None], self._counts[None]

    @property
    def sums(self) -> dict[str, tuple[float, int]]:
        """Sum and number of the cells of each column."""
        return self._named(self._sums, self._counts)

    @property
    def after(self) -> MeansAfter:
        """Sum and number of the cells after some rows of the last block."""
        sums, counts = self._steps
        return lambda rows: self._named(sums[: rows + 1][-1], counts[: rows + 1][-1])

    def _named(
        self, sums: NDArray[np.float64], counts: NDArray[np.int64]
    ) -> dict[str, tuple[float, int]]:
        pairs = zip(sums.tolist(), counts.tolist(), strict=True)
        return dict(zip(self._names, pairs, strict=True))

    def filled(
        self,
        numbers: NDArray[np.float64],
        absent: NDArray[np.bool_],
        weight: NDArray[np.float64] | None,
    ) -> NDArray[np.float64]:
        """Return the cells, those that are absent replaced; rows of weight 0 do not count."""
        if not self._learning:
            return np.where(absent, self._sums / np.maximum(self._counts, 1), numbers)
        counted = ~absent if weight is None else ~absent & (weight != 0)[:, None]
        sums = _running(self._sums, np.where(counted, numbers, 0.0))
        counts = _running(self._counts, counted)
        self._sums, self._counts, self._steps = sums[-1], counts[-1], (sums, counts)
        if not absent.any():
            return numbers
        return np.where(absent, sums[:-1] / np.maximum(counts[:-1], 1), numbers)


def _running(before: NDArray[Any], steps: NDArray[Any]) -> NDArray[Any]:
    """Return the sums before and after each row."""
    return np.cumsum(np.vstack([before, steps]), axis=0, dtype=before.dtype)
