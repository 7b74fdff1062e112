"""The cells of CSV rows: of plain ones by the core, of all others by Arrow."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import _core
from ....estimator.times import seconds
from .arrow import Dictionary, arrow, as_numbers, as_texts, as_times, kept_cells
from .cells import Texts
from .csv_text import Rows

_ARROW_BLOCK = 1 << 30  # bytes: Arrow parses each chunk of text at once


class RejectedError(ValueError):
    """Arrow does not take these rows."""


@dataclasses.dataclass(frozen=True)
class Wanted:
    """What to read, by the positions of the columns in order."""

    width: int
    numbers: Sequence[int]
    weight: int | None
    texts: dict[int, tuple[str, ...]]  # with the spellings of missing cells
    times: Sequence[int]
    kept: Sequence[int]
    missing: tuple[str, ...]  # spellings in columns of numbers and times
    delimiter: str


@dataclasses.dataclass
class Parsed:
    """The cells of some rows, by the positions of their columns."""

    numbers: NDArray[np.float64]  # NaN where missing
    weight: NDArray[np.float64] | None
    texts: dict[int, Texts]
    times: dict[int, NDArray[np.float64]]  # NaN where a cell is no time
    kept: dict[int, list[str]]

    def cut(self, first: int, last: int) -> Parsed:
        """Return rows first to last - 1."""
        part = slice(first, last)
        return Parsed(
            self.numbers[part],
            None if self.weight is None else self.weight[part],
            {at: Texts(text.codes[part], text.values) for at, text in self.texts.items()},
            {at: times[part] for at, times in self.times.items()},
            {at: cells[part] for at, cells in self.kept.items()},
        )

    def take(self, keep: NDArray[np.bool_]) -> Parsed:
        """Return the rows to keep."""
        return Parsed(
            self.numbers[keep],
            None if self.weight is None else self.weight[keep],
            {at: Texts(text.codes[keep], text.values) for at, text in self.texts.items()},
            {at: times[keep] for at, times in self.times.items()},
            {at: list(compress(cells, keep)) for at, cells in self.kept.items()},
        )


class PlainCells:
    """Reads rows that have nothing special about them."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._numbers = sorted(
            [*wanted.numbers] + ([] if wanted.weight is None else [wanted.weight])
        )
        self._parser = _core.CsvParser(
            wanted.delimiter,
            wanted.width,
            self._numbers,
            [(at, list(words)) for at, words in sorted(wanted.texts.items())],
            list(wanted.times),
            list(wanted.kept),
            list(wanted.missing),
        )

    def parse(self, rows: Rows) -> tuple[Parsed, NDArray[np.int64], list[tuple[int, int]]]:
        """Return the cells, the rows that are not plain, and the times that are not: column, row.

        What the cells are there is arbitrary.
        """
        wanted = self._wanted
        numbers, texts, times, kept, unsure, strange = self._parser.parse(
            rows.text, rows.starts, rows.ends
        )
        weight = None
        if wanted.weight is not None:
            at = self._numbers.index(wanted.weight)
            weight, numbers = numbers[:, at].copy(), np.delete(numbers, at, axis=1)
        parsed = Parsed(
            numbers,
            weight,
            {at: Texts(*text) for at, text in zip(sorted(wanted.texts), texts, strict=True)},
            dict(zip(wanted.times, times, strict=True)),
            dict(zip(wanted.kept, kept, strict=True)),
        )
        return parsed, unsure, [(wanted.times[k], row) for k, row in strange]

    @staticmethod
    def correct(parsed: Parsed, at: int, row: int, text: str) -> None:
        """Read a time that is not plain."""
        moment = seconds(text)
        parsed.times[at][row] = np.nan if moment is None else moment


class ArrowCells:
    """Reads whatever Arrow takes."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        csv, pa = arrow("pyarrow.csv"), arrow("pyarrow")
        self._csv, self._pa = csv, pa
        # Arrow knows columns by their positions.
        types = {str(at): pa.float64() for at in wanted.numbers}
        if wanted.weight is not None:
            types[str(wanted.weight)] = pa.float64()
        types |= {str(at): pa.dictionary(pa.int32(), pa.string()) for at in wanted.texts}
        for at in (*wanted.kept, *wanted.times):
            types.setdefault(str(at), pa.string())
        # Numbers are copied as they are written: these columns are read a second time, as texts.
        twice = [str(at) for at in wanted.kept if types[str(at)] == pa.float64()]
        self._as_written = csv.ConvertOptions(
            column_types=dict.fromkeys(twice, pa.string()), include_columns=twice
        )
        self._how: dict[str, Any] = {
            "read_options": csv.ReadOptions(
                column_names=[str(at) for at in range(wanted.width)], block_size=_ARROW_BLOCK
            ),
            "parse_options": csv.ParseOptions(delimiter=wanted.delimiter, newlines_in_values=True),
            "convert_options": csv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=wanted.missing
            ),
        }

    def parse(self, rows: Rows) -> Parsed:
        """Return the cells; raise RejectedError if there is something wrong with any row."""
        text, wanted = rows.joined(), self._wanted
        if b"\0" in text:
            raise RejectedError("NUL")
        try:
            table = self._csv.read_csv(self._pa.BufferReader(text), **self._how)
            if table.num_rows != len(rows):
                raise RejectedError("rows that are not rows")
            written = {}
            if self._as_written.include_columns:
                how = {**self._how, "convert_options": self._as_written}
                again = self._csv.read_csv(self._pa.BufferReader(text), **how)
                written = {name: again.column(name) for name in again.column_names}
        except self._pa.ArrowInvalid as error:
            raise RejectedError(str(error)) from None

        def numbers(places: Sequence[int]) -> NDArray[np.float64]:
            return as_numbers([table.column(str(at)) for at in places], len(rows))

        def texts(at: int) -> Texts:
            column = table.column(str(at)).chunk(0)
            return as_texts(column, Dictionary.of(column, wanted.texts[at]))

        def kept(at: int) -> list[str]:
            return kept_cells(written.get(str(at), table.column(str(at))))

        return Parsed(
            numbers(wanted.numbers),
            None if wanted.weight is None else numbers([wanted.weight])[:, 0],
            {at: texts(at) for at in sorted(wanted.texts)},
            {at: as_times(table.column(str(at)), wanted.missing, self._pa) for at in wanted.times},
            {at: kept(at) for at in wanted.kept},
        )
