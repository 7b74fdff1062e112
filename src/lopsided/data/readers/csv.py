"""CSV text, parsed by Arrow.

A table of numbers gives `Dense` blocks. With categorical columns the blocks are `Sparse` with named
columns: a number under the name of its column, and the value v of a categorical column c as the
feature "c=v" with value 1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from ...errors import DataError, Parameter, ParameterError
from ...estimator.schema import Schema, is_tsv
from ..block import BadLines
from .base import BLOCK_ROWS, CHUNK_BYTES, MAX_LINE_BYTES, MISSING_WORDS, Missing
from .files import ByteStream, open_bytes
from .parquet import ParquetReader
from .tabular.arrow import (
    Dictionary,
    TableReader,
    arrow,
    as_numbers,
    as_texts,
    as_times,
    kept_cells,
)
from .tabular.cells import Cells
from .tabular.classes import Classes, as_number
from .tabular.columns import Roles, Which, heads
from .tabular.csv_text import CsvText, Rows

__all__ = ["MISSING_WORDS", "CsvReader", "ParquetReader"]

_MIN_CELLS = 100  # needed to tell whether the values of a column repeat
_MAX_REPEATS = 1.1  # cells per distinct value, at most, if they do not
_SNIFFED = 1000  # rows that decide, with categorical="auto", which columns are text
_LOOKED_AT = 512  # rows, at most, that are looked at one by one
_ARROW_BLOCK = 1 << 30  # bytes: Arrow parses each chunk of text at once
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
        block_rows: int = BLOCK_ROWS,
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
        self._csv, self._pa = arrow("pyarrow.csv"), arrow("pyarrow")
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
        self._prepare(delimiter)

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
        width = self.columns.width
        numbers, filled = np.zeros(width, dtype=int), np.zeros(width, dtype=int)
        different: list[set[str]] = [set() for _ in range(width)]
        missing = self._words()
        first = [rows.row(i) for rows in self._ahead for i in range(min(len(rows), _SNIFFED))]
        for row in first[:_SNIFFED]:
            cells = [cell.decode("utf-8", "replace") for cell in self._text.cells(row)]
            if len(cells) == width:
                filled += [cell not in missing for cell in cells]
                numbers += [as_number(cell) is not None for cell in cells]
                for values, cell in zip(different, cells, strict=True):
                    values.add(cell)
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

    def _prepare(self, delimiter: str) -> None:
        """Prepare the options of Arrow, which knows columns by their positions."""
        csv, pa, columns = self._csv, self._pa, self.columns
        types = {str(at): pa.float64() for at in self._numeric}
        texts = [str(at) for at in self._categorical]
        if self._labelled:
            texts.append(str(columns.label))
        types |= dict.fromkeys(texts, pa.dictionary(pa.int32(), pa.string()))
        moments = [at for at in (columns.time, columns.clock) if at is not None]
        for at in (*columns.kept, *moments, *columns.since):
            types.setdefault(str(at), pa.string())
        if columns.weight is not None:
            types[str(columns.weight)] = pa.float64()
        # Numbers are copied as they are written: these columns are read a second time, as texts.
        twice = [str(at) for at in columns.kept if types[str(at)] == pa.float64()]
        self._as_written = csv.ConvertOptions(
            column_types=dict.fromkeys(twice, pa.string()), include_columns=twice
        )
        self._how = {
            "read_options": csv.ReadOptions(
                column_names=[str(at) for at in range(columns.width)], block_size=_ARROW_BLOCK
            ),
            "parse_options": csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            "convert_options": csv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=self._words()
            ),
        }

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
        text = rows.joined()
        try:
            if b"\0" in text:
                raise self._pa.ArrowInvalid("NUL")
            table = self._csv.read_csv(self._pa.BufferReader(text), **self._how)
            if table.num_rows != len(rows):
                raise self._pa.ArrowInvalid("rows that are not rows")
            if self._as_written.include_columns:
                how = {**self._how, "convert_options": self._as_written}
                written = self._csv.read_csv(self._pa.BufferReader(text), **how)
                for name in written.column_names:
                    table = table.append_column(f"{name} as written", written.column(name))
        except self._pa.ArrowInvalid as error:
            if len(rows) == 1:
                for fault in _by_line([*faults, self._explain(rows, str(error))]):
                    self.bad.add(fault)
            elif faults or len(rows) > _LOOKED_AT:
                yield from self._bisect(rows, faults)
            else:
                yield from self._without_faults(rows)
            return
        dictionaries: dict[int, Dictionary] = {}
        for start in range(0, len(rows), self._block_rows):
            part = rows.cut(start, start + self._block_rows)
            cells = self._columns_of(table.slice(start, len(part)), part, dictionaries)
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

    def _columns_of(self, table: Any, rows: Rows, dictionaries: dict[int, Dictionary]) -> Cells:
        def texts(at: int | None, missing: Sequence[str]) -> Any:
            assert at is not None
            column = table.column(str(at)).chunk(0)
            if at not in dictionaries:
                dictionaries[at] = Dictionary.of(column, missing)
            return as_texts(column, dictionaries[at])

        def times(at: int) -> Any:
            return as_times(table.column(str(at)), self._words(), self._pa)

        def found(line: int, at: int) -> str:
            row = rows.row(int(np.searchsorted(rows.lines, line)))
            return self._text.cells(row)[at].decode()

        def kept(at: int) -> list[str]:
            name = f"{at} as written"
            return kept_cells(table.column(name if name in table.column_names else str(at)))

        columns = self.columns
        weight = columns.weight
        return Cells(
            rows.lines,
            as_numbers([table.column(str(at)) for at in self._numeric], len(rows)),
            [texts(at, self._words(text=True)) for at in self._categorical],
            texts(columns.label, self._words()) if self._labelled else None,
            None if weight is None else as_numbers([table.column(str(weight))], len(rows))[:, 0],
            found,
            None if columns.time is None else times(columns.time),
            {columns.names[at]: kept(at) for at in columns.kept},
            None if columns.clock is None else times(columns.clock),
            [kept_cells(table.column(str(at))) for at in columns.since],
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
