"""The column that says when labels were known."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator
from typing import TypeVar

import click
import numpy as np
from numpy.typing import NDArray

from ..data.block import BadLines, Block
from ..data.gather import taken
from ..data.readers.base import MISSING_WORDS
from ..errors import DataError
from ..estimator.times import seconds
from .options import ReadingOptions

Given = TypeVar("Given", bound=ReadingOptions)

_TIME = "a date, an ISO time or seconds since 1970; empty if the label is never known"


class LabelTimes:
    """Reads when labels were known.

    Parameters
    ----------
    column : str
        The column, which is not a feature.
    options : ReadingOptions
        How the data is read.
    """

    def __init__(self, column: str, options: ReadingOptions) -> None:
        self.column = column
        self.keeps = column in options.keep  # for the results
        self._drops = column in options.drop
        self._empty = {*(options.empty or MISSING_WORDS), ""}

    def reading(self, options: Given, time: str | None) -> Given:
        """Return options by which the column is read too, as one to copy and not to learn from."""
        if self.column == time:
            raise click.UsageError(
                f'--time and --label-time are both "{time}": they must be two different columns'
            )
        drop, keep = options.drop, options.keep
        return dataclasses.replace(
            options,
            time=time,
            drop=drop if self.column in drop else (*drop, self.column),
            keep=keep if self.column in keep else (*keep, self.column),
        )

    @contextlib.contextmanager
    def opening(self) -> Iterator[None]:
        """Let errors about the column name the option; it is dropped only on its account."""
        try:
            yield
        except DataError as error:
            if error.parameter == "drop" and not self._drops and f'"{self.column}"' in error.what:
                error.parameter = "label_time"
            raise

    def blocks(self, reader: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks of a reader; it may find only at the end that there is no such key."""
        with self.opening():
            yield from reader

    def timed(self, block: Block, bad: BadLines) -> Block:
        """Return a block with its label times; rows where there is none to read are bad lines."""
        if self.column not in block.kept:
            missing = f'there is no column "{self.column}"'
            raise DataError(block.file, expected=missing, parameter="label_time")
        cells = block.kept[self.column]
        if not self.keeps:
            block.kept = {k: v for k, v in block.kept.items() if k != self.column}
        block.label_time, wrong = self._parsed(cells)
        for row in np.flatnonzero(wrong):
            at = int(block.lines[row])
            bad.add(DataError(block.file, at, self.column, cells[row], _TIME))
        return taken(block, np.flatnonzero(~wrong)) if wrong.any() else block

    def _parsed(self, cells: list[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return times, NaN for those that never come, and which cells are not times."""
        known: dict[str, float | None] = dict.fromkeys(self._empty, np.nan)
        for text in cells:
            if text not in known:
                known[text] = seconds(text)
        times = [known[text] for text in cells]
        wrong = np.array([time is None for time in times], bool)
        return np.array([np.nan if time is None else time for time in times]), wrong
