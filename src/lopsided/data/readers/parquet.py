"""Parquet files and other tables that Arrow reads in record batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...errors import DataError
from ...estimator.schema import Schema
from ..block import BadLines
from .base import BLOCK_ROWS, Missing
from .tabular.arrow import (
    Dictionary,
    TableReader,
    arrow,
    as_numbers,
    as_texts,
    as_times,
    kept_cells,
)
from .tabular.cells import Cells, Texts
from .tabular.classes import Classes
from .tabular.columns import Columns, Roles, Which
from .tabular.sources import source_of


class ParquetReader(TableReader):
    """Read a Parquet file, a folder of them or a table of Arrow as a stream of blocks.

    Numbers, including decimals, are numbers, and booleans are 0 and 1; strings and dictionaries of
    strings are categorical. Columns of other types must be dropped. NaN counts as missing.

    Parameters
    ----------
    path : str or object
        A regular file; a folder, whose files are read in the order of their paths, and whose
        subfolders may be columns (`day=2026-11-18`); or a data set, table or reader of Arrow, a
        table of Delta Lake, or a table or scan of Iceberg.
    categorical : sequence of str or int
        Columns of integers or booleans to treat as categorical as well.
    label, weight, time, time_features, since, key, drop, keep, missing, names, classes, schema, \
    labelled, bad, block_rows
        As for `CsvReader`.
    """

    _unit = "row"

    def __init__(
        self,
        path: Any,
        *,
        label: Which | None = None,
        weight: Which | None = None,
        time: Which | None = None,
        time_features: Which | None = None,
        since: Sequence[Which] = (),
        key: Which | None = None,
        drop: Sequence[Which] = (),
        keep: Sequence[Which] = (),
        categorical: Sequence[Which] = (),
        missing: Missing = "error",
        names: Sequence[str] | None = None,
        hash_bits: int | None = None,
        classes: Sequence[Any] | None = (),
        schema: Schema | None = None,
        labelled: bool = True,
        bad: BadLines | None = None,
        block_rows: int = BLOCK_ROWS,
    ) -> None:
        super().__init__(
            missing=missing,
            names=names,
            hash_bits=hash_bits,
            classes=Classes(classes, written=False),
            labelled=labelled,
            bad=bad,
            block_rows=block_rows,
            schema=schema,
        )
        self._pa = arrow("pyarrow")
        self._source = source_of(path)
        try:
            fields = self._source.schema
            self.rows = self._source.rows
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
            self._choose(self._source.name, list(fields.names), roles)
            self._kinds = [self._kind(field.type) for field in fields]
            self._encode(self._checked(fields, self._one_hot(_listed(categorical))))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def _flags(self, numbers: Sequence[int]) -> tuple[str, ...]:
        fields, columns = self._source.schema, self.columns
        return tuple(
            columns.names[at] for at in numbers if self._pa.types.is_boolean(fields.field(at).type)
        )

    def _kind(self, kind: Any) -> str:
        types = self._pa.types
        if types.is_dictionary(kind):
            kind = kind.value_type
        if types.is_string(kind) or types.is_large_string(kind):
            return "text"
        if types.is_boolean(kind) or types.is_integer(kind):
            return "whole"
        if types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
            return "number"
        return "text" if str(kind) == "string_view" else "other"

    def _checked(self, fields: Any, named: set[int]) -> set[int]:
        """Return the categorical columns; raise if the type of a column does not fit its role."""
        columns, kinds = self.columns, self._kinds
        used = [*columns.features, columns.weight, columns.label if self._labelled else None]
        for at in (at for at in used if at is not None):
            expected = ""
            if kinds[at] == "other":
                expected = "numbers, booleans or texts; drop it or turn it into numbers first"
            elif at == columns.weight and kinds[at] == "text":
                expected = "numbers as weights"
            elif at in named and kinds[at] == "number":
                expected = "whole numbers, booleans or texts in a categorical column"
            if expected:
                found = str(fields.field(at).type)
                raise DataError(columns.file, None, columns.names[at], found, expected)
        return named | {at for at in columns.features if kinds[at] == "text"}

    def _cells(self) -> Iterator[Cells]:
        columns = self.columns
        places = [*self._numeric, *self._categorical]
        places += [at for at in _roles(columns) if at is not None]
        names = [columns.names[at] for at in sorted({*places, *columns.kept, *columns.since})]
        batches = self._source.batches(names, self._block_rows)
        row = 1
        while True:
            try:
                batch = next(batches, None)
            except (self._pa.ArrowException, OSError) as error:
                raise DataError(
                    columns.file, row, None, None, f"reading failed behind this row: {error}", "row"
                ) from None
            if batch is None:
                return
            if batch.num_rows:
                yield self._columns_of(batch, row)
            row += batch.num_rows

    def _columns_of(self, batch: Any, row: int) -> Cells:
        def column(at: int | None) -> Any:
            assert at is not None
            return batch.column(self.columns.names[at])

        def texts(at: int | None) -> Texts:
            coded = self._coded(column(at))
            return as_texts(coded, Dictionary.of(coded, ("",)))

        def found(line: int, at: int) -> str:
            value = column(at)[line - row].as_py()
            return "" if value is None else str(value)

        columns, rows = self.columns, batch.num_rows
        weight = columns.weight
        return Cells(
            np.arange(row, row + rows, dtype=np.int64),
            as_numbers([self._floats(column(at)) for at in self._numeric], rows),
            [texts(at) for at in self._categorical],
            texts(columns.label) if self._labelled else None,
            None if weight is None else as_numbers([self._floats(column(weight))], rows)[:, 0],
            found,
            None if columns.time is None else as_times(column(columns.time), ("",), self._pa),
            {columns.names[at]: kept_cells(column(at)) for at in columns.kept},
            None if columns.clock is None else as_times(column(columns.clock), ("",), self._pa),
            [kept_cells(column(at)) for at in columns.since],
        )

    def _floats(self, column: Any) -> Any:
        types, pa = self._pa.types, self._pa
        if types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if types.is_boolean(column.type):
            column = column.cast(pa.uint8())
        return column.cast(pa.float64(), safe=False)

    def _coded(self, column: Any) -> Any:
        types = self._pa.types
        if types.is_decimal(column.type):
            column = column.cast(self._pa.float64())
        return column if types.is_dictionary(column.type) else column.dictionary_encode()


def _roles(columns: Columns) -> tuple[int | None, ...]:
    return columns.label, columns.weight, columns.time, columns.clock


def _listed(categorical: Sequence[Which]) -> Sequence[Which]:
    # Strings are categorical anyway.
    return () if categorical == "auto" else [which for which in categorical if which != "auto"]
