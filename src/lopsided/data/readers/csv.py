"""CSV text: what is plain is parsed by the core, rows that are not by Arrow.

A table of numbers gives `Dense` blocks. With categorical columns the blocks are `Sparse` with named
columns: a number under the name of its column, and the value v of a categorical column c as the
feature "c=v" with value 1.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ...errors import DataError, Parameter, ParameterError
from ...estimator.schema import Schema, is_tsv
from ..block import BadLines
from .base import BLOCK_ROWS, CHUNK_BYTES, MAX_LINE_BYTES, MISSING_WORDS, Missing
from .files import ByteStream, open_bytes
from .parquet import ParquetReader
from .tabular.arrow import TableReader, arrow
from .tabular.cells import Cells
from .tabular.classes import Classes, as_number
from .tabular.columns import Roles, Which, heads
from .tabular.csv_cells import ArrowCells, Parsed, PlainCells, RejectedError, Wanted
from .tabular.csv_text import CsvText, Rows

__all__ = ["MISSING_WORDS", "CsvReader", "ParquetReader"]

_MIN_CELLS = 100  # needed to tell whether the values of a column repeat
_MAX_REPEATS = 1.1  # cells per distinct value, at most, if they do not
_SNIFFED = 1000  # rows that decide, with categorical="auto", which columns are text
_LOOKED_AT = 512  # rows, at most, that are looked at one by one
_NOT_A_NUMBER = (
    ("give ", Parameter("categorical"), " or ", Parameter("drop"), " for this column"),
)


class CsvReader(TableReader):
    """Read CSV text as a stream of blocks.

    Types are not guessed: a column is categorical if it is listed as such, else every cell must be
    a number. A bad row is reported with the line it starts on.

    Parameters
    ----------
    path : str
        A file, plain or compressed, or "-".
    label : str or int, optional
        The label column by name or position (from 0; -1 is the last). Default: the only column
        called label, class, target or y, in any case.
    weight : str or int, optional
        The column of weights.
    time : str or int, optional
        The column of times: seconds since 1970, or dates, in UTC unless they have a time zone.
    time_features : str or int, optional
        The column of times whose hour and weekday, in UTC, become features.
    since : sequence of str or int
        Columns of keys: the time since the last row of the same key becomes a feature.
    drop : sequence of str or int
        Columns to leave out.
    key : str or int, optional
        The column of ids, which is copied to `Block.kept` and is no feature.
    keep : sequence of str or int
        More columns to copy to `Block.kept`; they stay features unless they are dropped.
    categorical : sequence of str or int, or "auto"
        Columns to encode as one-hot. "auto", alone or among names: those where at least half of the
        nonempty cells in the first 1000 rows are not numbers.
    missing : {"error", "indicate", "zero", "drop"}
        A missing cell is an error, or sets the feature "column=(missing)", or counts as 0 (for a
        category: none), or its row is left out. With "indicate" a missing number is the mean so far
        in a table of numbers only, and 0 in others.
    empty : sequence of str, optional
        The spellings of a missing cell, besides the empty one. Default: in columns of numbers, in
        labels and times NA, N/A, #N/A, NaN, nan, null, NULL, None and ?, in columns of text none.
    delimiter : str
        The character between cells.
    header : bool
        Whether the first row has the names of the columns. If not, they are c0, c1, ...
    names : sequence of str, optional
        Feature names of the model: they keep their columns, new ones are appended.
    hash_bits : int, optional
        Hash the names of features into 2 ** hash_bits columns instead of storing them.
    classes : sequence, optional
        Labels of the model. Default: the first two found; a third is a bad row. None: any number of
        labels.
    schema : Schema, optional
        That of the model: the table is checked against it.
    labelled : bool
        Whether there are labels to read; if not, `Block.y` is None.
    bad : BadLines, optional
        Tolerated bad rows.
    block_rows : int
        The most rows of a block.
    chunk_bytes, max_line_bytes : int
        Bytes of text read at once, and the most bytes of a row.
    """

    def __init__(
        self,
        path: str,
        *,
        label: Which | None = None,
        weight: Which | None = None,
        time: Which | None = None,
        time_features: Which | None = None,
        since: Sequence[Which] = (),
        key: Which | None = None,
        drop: Sequence[Which] = (),
        keep: Sequence[Which] = (),
        categorical: Sequence[Which] | Literal["auto"] = (),
        missing: Missing = "error",
        empty: Sequence[str] | None = None,
        delimiter: str = ",",
        header: bool = True,
        names: Sequence[str] | None = None,
        hash_bits: int | None = None,
        classes: Sequence[Any] | None = (),
        schema: Schema | None = None,
        labelled: bool = True,
        bad: BadLines | None = None,
        block_rows: int = 4 * BLOCK_ROWS,
        chunk_bytes: int = CHUNK_BYTES,
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        super().__init__(
            missing=missing,
            names=names,
            hash_bits=hash_bits,
            classes=Classes(classes),
            labelled=labelled,
            bad=bad,
            block_rows=block_rows,
            schema=schema,
        )
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
            raise ParameterError(
                "delimiter", f"is one character such as , ; or tab, not {delimiter!r}"
            )
        self._delimiter, self._has_header = delimiter, header
        self._by_extension = delimiter == "\t" and is_tsv(str(path))
        self._empty = None if empty is None else ("", *empty)
        if importlib.util.find_spec("pyarrow") is None:
            arrow(
                "pyarrow"
            )  # says how to get it; it takes a while to import, so not before its use
        self.stream: ByteStream = open_bytes(path)
        self._text = CsvText(self.stream, delimiter, self.bad.add, chunk_bytes, max_line_bytes)
        self._chunks = iter(self._text)
        self._ahead: list[Rows] = []
        self._heads = heads(self._known)
        try:
            names_here = self._header(header, delimiter)
            roles = Roles(
                label=label,
                weight=weight,
                time=time,
                key=key,
                drop=drop,
                keep=keep,
                clock=time_features,
                since=since,
            )
            self._choose(self.stream.name, names_here, roles)
            self._encode(self._categories(categorical))
        except BaseException:
            self.close()
            raise
        self._plain = PlainCells(self._wanted())

    def close(self) -> None:
        """Close the file."""
        self.stream.close()

    def _header(self, header: bool, delimiter: str) -> list[str]:
        """Return the names of the columns."""
        file = self.stream.name
        rows = next(self._chunks, None)
        if rows is None:
            raise DataError(file, expected="it is empty")
        line, cells = int(rows.lines[0]), self._text.cells(rows.row(0))
        try:
            names = [cell.decode().strip() or f"c{j}" for j, cell in enumerate(cells)]
        except UnicodeDecodeError:
            names = ["\0"]
        if any("\0" in name for name in names):
            shown = rows.row(0).decode("utf-8", "backslashreplace")
            raise DataError(file, line, None, shown, "CSV text in UTF-8")
        self._ahead = [rows.cut(1, len(rows)) if header else rows]
        if len(names) == 1:
            other = [mark for mark in ",;\t|" if mark in names[0] and mark != delimiter]
            if other:
                raise DataError(
                    file, line, None, names[0], f"cells; is the delimiter {other[0]!r}?"
                )
        return names if header else [f"c{j}" for j in range(len(names))]

    def _written(self) -> dict[str, Any]:
        written: dict[str, Any] = {
            "empty": None if self._empty is None else self._empty[1:],
            "header": self._has_header,
        }
        if not self._by_extension:
            written["delimiter"] = None if self._delimiter == "," else self._delimiter
        return written

    def _words(self, *, text: bool = False) -> tuple[str, ...]:
        """Return the spellings of a missing cell."""
        if self._empty is not None:
            return self._empty
        return ("",) if text else MISSING_WORDS

    def _categories(self, categorical: Sequence[Which] | str) -> set[int]:
        """Return the categorical columns, those of text among them if they must be found."""
        if categorical == "auto":
            return self._sniff()
        auto = not isinstance(categorical, str) and "auto" in categorical
        if not auto or "auto" in self.columns.names:
            return self._one_hot(categorical)
        named = self._one_hot([which for which in categorical if which != "auto"])
        return named | self._sniff(named)

    def _sniff(self, named: Collection[int] = ()) -> set[int]:
        """Return the columns of text, judged by the first rows."""
        while sum(map(len, self._ahead)) < _SNIFFED:
            rows = next(self._chunks, None)
            if rows is None:
                break
            self._ahead.append(rows)
        width, missing = self.columns.width, self._words()
        first = [rows.row(i) for rows in self._ahead for i in range(min(len(rows), _SNIFFED))]
        rows_met = (self._text.cells(row) for row in first[:_SNIFFED])
        met = [
            Counter(column)
            for column in zip(*(r for r in rows_met if len(r) == width), strict=True)
        ]
        different: list[Counter[str]] = [Counter() for _ in range(width)]
        for counts, column in zip(different, met, strict=False):
            for cell, count in column.items():
                counts[cell.decode("utf-8", "replace")] += count
        filled = [sum(n for cell, n in c.items() if cell not in missing) for c in different]
        numbers = [
            sum(n for cell, n in c.items() if as_number(cell) is not None) for c in different
        ]
        features = self.columns.features
        texts = {at for at in features if self._is_text(at, numbers[at], filled[at])}
        distinct = [_MAX_REPEATS * len(values) for values in different]
        self._note([at for at in texts - {*named} if _MIN_CELLS <= filled[at] <= distinct[at]])
        return texts

    def _note(self, unlike: list[int]) -> None:
        """Add a note about columns of text whose values hardly repeat."""
        if unlike:
            named = ", ".join(f'"{self.columns.names[at]}"' for at in sorted(unlike))
            text = f"{named}: almost every cell is different, as in ids and times, and each becomes"
            self.notes.append((f"{text} a feature; ", Parameter("drop"), " leaves columns out"))

    def _is_text(self, at: int, numbers: int, filled: int) -> bool:
        name, schema = self.columns.names[at], self._schema
        if schema is not None and name in schema.features:
            return name in schema.categories
        if name in self._known:
            return False
        if name in self._heads:
            return True
        return filled > 0 and 2 * numbers <= filled

    def _wanted(self) -> Wanted:
        columns, missing = self.columns, self._words()
        texts = dict.fromkeys(self._categorical, self._words(text=True))
        if self._labelled:
            assert columns.label is not None
            texts[columns.label] = missing
        moments = {at for at in (columns.time, columns.clock) if at is not None}
        return Wanted(
            columns.width,
            self._numeric,
            columns.weight,
            texts,
            sorted(moments),
            sorted({*columns.kept, *columns.since}),
            missing,
            self._delimiter,
        )

    @cached_property
    def _arrow(self) -> ArrowCells:
        return ArrowCells(self._wanted())

    def _sorting(self, column: int) -> str:
        tab = "$'\\t'" if self._delimiter == "\t" else f"'{self._delimiter}'"
        first = "+2" if self._has_header else "+1"
        head = "head -1 FILE; " if self._has_header else ""
        sort = f"sort -s -t {tab} -k {column + 1},{column + 1}"
        return f"to sort it: ({head}tail -n {first} FILE | {sort})"

    def _cells(self) -> Iterator[Cells]:
        while self._ahead:
            yield from self._parse(self._ahead.pop(0))
        for rows in self._chunks:
            yield from self._parse(rows)

    def _parse(self, rows: Rows, faults: Sequence[DataError] = ()) -> Iterator[Cells]:
        """Yield the rows as columns; if Arrow rejects them, find the culprits.

        `faults` are those of rows in between, which are left out.
        """
        if not len(rows):
            return
        plain = self._parse_plain(rows, faults)
        if plain is not None:
            yield from self._divided(*plain)
            return
        try:
            parsed = self._arrow.parse(rows)
        except RejectedError as error:
            if len(rows) == 1:
                for fault in _by_line([*faults, self._explain(rows, str(error))]):
                    self.bad.add(fault)
            elif faults or len(rows) > _LOOKED_AT:
                yield from self._bisect(rows, faults)
            else:
                yield from self._without_faults(rows)
            return
        yield from self._divided(parsed, rows, faults)

    def _parse_plain(
        self, rows: Rows, faults: Sequence[DataError]
    ) -> tuple[Parsed, Rows, Sequence[DataError]] | None:
        """Return cells, rows and faults where all rows are plain, or plainly wrong."""
        if b"\0" in rows.text:
            return None
        parsed, unsure, strange = self._plain.parse(rows)
        odd: set[int] = set()
        if len(unsure):
            if len(self.bad.found) + len(faults) + len(unsure) > self.bad.allowed:
                return None
            odd = set(unsure.tolist())
            found = []
            for i in sorted(odd):
                fault = self._fault_of(rows.cut(i, i + 1), is_number=_may_be_number)
                if fault is None:
                    return None
                found.append(fault)
            faults = _by_line([*faults, *found])
        for at, row in strange:
            if row not in odd:
                self._plain.correct(parsed, at, row, self._text.cells(rows.row(row))[at].decode())
        if odd:
            keep = np.ones(len(rows), bool)
            keep[unsure] = False
            parsed = parsed.take(keep)
            rows = Rows(rows.text, rows.starts[keep], rows.ends[keep], rows.lines[keep])
        return parsed, rows, faults

    def _divided(self, parsed: Parsed, rows: Rows, faults: Sequence[DataError]) -> Iterator[Cells]:
        """Yield blocks of a limited number of rows."""
        if not len(rows):
            for fault in faults:
                self.bad.add(fault)
        for start in range(0, len(rows), self._block_rows):
            part = rows.cut(start, start + self._block_rows)
            cells = self._columns_of(parsed.cut(start, start + len(part)), part)
            last = start + len(part) >= len(rows)
            cells.faults = [f for f in faults if last or (f.line or 0) <= part.lines[-1]]
            faults = faults[len(cells.faults) :]
            yield cells

    def _bisect(self, rows: Rows, faults: Sequence[DataError]) -> Iterator[Cells]:
        half = len(rows) // 2
        before = [fault for fault in faults if (fault.line or 0) < rows.lines[half]]
        yield from self._parse(rows.cut(0, half), before)
        yield from self._parse(rows.cut(half, len(rows)), faults[len(before) :])

    def _without_faults(self, rows: Rows) -> Iterator[Cells]:
        """Yield the rows that have no fault, as far as Arrow agrees.

        Where every other row is bad, this is much faster than to bisect.
        """
        good: list[int] = []
        faults: list[DataError] = []
        for i in range(len(rows)):
            fault = self._fault_of(rows.cut(i, i + 1), is_number=_may_be_number)
            if fault is None:
                good.append(i)
            elif len(self.bad.found) + len(faults) < self.bad.allowed:
                faults.append(fault)
            else:  # one too many: first what is before it
                if good:
                    yield from self._parse(rows.take(good), faults)
                    faults = []
                for one in [*faults, fault]:
                    self.bad.add(one)
        if not faults:
            yield from self._bisect(rows, ())
        elif good:
            yield from self._parse(rows.take(good), faults)
        else:
            for one in faults:
                self.bad.add(one)

    def _columns_of(self, parsed: Parsed, rows: Rows) -> Cells:
        def found(line: int, at: int) -> str:
            row = rows.row(int(np.searchsorted(rows.lines, line)))
            return self._text.cells(row)[at].decode()

        columns = self.columns
        label = columns.label
        return Cells(
            rows.lines,
            parsed.numbers,
            [parsed.texts[at] for at in self._categorical],
            parsed.texts[label] if self._labelled and label is not None else None,
            parsed.weight,
            found,
            None if columns.time is None else parsed.times[columns.time],
            {columns.names[at]: parsed.kept[at] for at in columns.kept},
            None if columns.clock is None else parsed.times[columns.clock],
            [parsed.kept[at] for at in columns.since],
        )

    def _explain(self, rows: Rows, reason: str) -> DataError:
        """Return the error for a single row that Arrow rejects."""
        file, line, row = self.stream.name, int(rows.lines[0]), rows.row(0)
        shown = row.decode("utf-8", "backslashreplace")
        other = DataError(file, line, None, shown, f"a row of the table: {reason}")
        return self._fault_of(rows, lambda text: as_number(text) is not None) or other

    def _fault_of(
        self,
        rows: Rows,
        is_number: Callable[[str], bool] = lambda text: as_number(text) is not None,
    ) -> DataError | None:
        """Return what is wrong with a single row, None if nothing is known to be."""
        file, line, row = self.stream.name, int(rows.lines[0]), rows.row(0)
        columns, cells = self.columns, self._text.cells(row)
        shown = row.decode("utf-8", "backslashreplace")
        if len(cells) != columns.width:
            many = f"{columns.width} cells as in the first row, not {len(cells)}"
            return DataError(file, line, None, shown, many)
        numeric = {*self._numeric, columns.weight}
        for at, cell in enumerate(cells):
            text = cell.decode("utf-8", "backslashreplace")
            where = (file, line, columns.names[at], text)
            if b"\0" in cell:
                return DataError(*where, "text without NUL bytes")
            if text.encode() != cell:
                return DataError(*where, "text in UTF-8")
            if at in numeric and text not in self._words() and not is_number(text):
                known = self._schema is not None and columns.names[at] in self._schema.numbers
                return DataError(*where, "a number", remedy=() if known else _NOT_A_NUMBER)
        return None


def _may_be_number(text: str) -> bool:
    """Say whether Arrow might read a text as a number, perhaps one that is not finite."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _by_line(faults: Iterable[DataError]) -> list[DataError]:
    return sorted(faults, key=lambda fault: fault.line or 0)
