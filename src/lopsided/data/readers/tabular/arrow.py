"""What readers of tables share: the roles of the columns, and Arrow columns as arrays."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....errors import DataError, ParameterError
from ....estimator.schema import Schema
from ....estimator.times import FAR, seconds
from ...block import BadLines, Block
from ..base import Missing, Reader, check_options
from .cells import Cells, Encoder, Texts
from .classes import Classes
from .clock import Order, TimeFeatures, check_since
from .columns import Columns, Roles, Which, position

_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_NO_TIME = np.iinfo(np.int64).min


SchemaAfter = Callable[[int], dict[str, Any]]


def arrow(module: str) -> Any:
    """Import a module of pyarrow, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            "CSV and Parquet files are read by pyarrow: pip install pyarrow"
        ) from None


class TableReader(Reader):
    """A table as a stream of blocks; subclasses say with `_cells` where its cells come from."""

    _unit = "line"
    columns: Columns

    def __init__(
        self,
        *,
        missing: Missing,
        names: Sequence[str] | None,
        hash_bits: int | None,
        classes: Classes,
        labelled: bool,
        bad: BadLines | None,
        block_rows: int,
        schema: Schema | None,
    ) -> None:
        super().__init__(labelled=labelled, bad=bad)
        check_options(missing, block_rows)
        self._schema = schema
        self._missing, self._classes = missing, classes
        self._known = [] if names is None else list(names)
        self._hash_bits = hash_bits
        self._block_rows = block_rows
        self._order = Order()
        self._time_features: TimeFeatures | None = None

    def _choose(self, file: str, found: list[str], roles: Roles) -> None:
        check_since(roles.clock, roles.since)
        self.columns = Columns.choose(
            file,
            found,
            roles,
            labelled=self._labelled,
            known=self._known,
            schema=self._schema,
        )
        self._leave_unknown(self.columns)

    def _leave_unknown(self, columns: Columns) -> None:
        """Leave out the columns that the model does not know, where it is to ignore them."""
        schema = self._schema
        if schema is None or not schema.features or schema.unknown in (None, "error"):
            return
        if schema.unknown == "learn" and self._labelled:
            return
        known = [at for at in columns.features if columns.names[at] in schema.features]
        strange = [columns.names[at] for at in columns.features if at not in known]
        if strange:
            columns.features = known
            named = ", ".join(f'"{name}"' for name in strange)
            self.notes.append(f"{named}: unknown to the model, ignored")

    def _one_hot(self, categorical: Sequence[Which]) -> set[int]:
        """Return the positions of columns named as categorical."""
        columns = self.columns
        if isinstance(categorical, str):
            raise ParameterError(
                "categorical", f'is a list of columns or "auto", not {categorical!r}'
            )
        before = () if self._schema is None else self._schema.categories
        chosen = {
            position(which, columns.names, columns.file, "categorical")
            for which in categorical
            if which in columns.names or which not in before
        }
        for at in sorted(chosen.difference(columns.features)):
            raise DataError(
                columns.file, column=columns.names[at], expected="is categorical but not a feature"
            )
        return chosen

    def _check_met(self) -> None:
        """Raise for a column unknown to the model, which would silently change every score."""
        heads = {name.partition("=")[0] for name in self._known}.union(self._known)
        for at in self.columns.features:
            name = self.columns.names[at]
            if name not in heads:
                raise DataError(
                    self.columns.file,
                    column=name,
                    expected="the model does not know this column; drop it or name it as the label",
                )

    def _encode(self, categorical: set[int]) -> None:
        columns, schema = self.columns, self._schema
        flags = self._flags([at for at in columns.features if at not in categorical])
        categorical = categorical | self._derive()
        if schema is not None:
            features, texts = (
                [columns.names[at] for at in places]
                for places in (columns.features, sorted(categorical))
            )
            self.notes += schema.compare(
                columns.file, features, texts, flags, learning=self._labelled
            )
            if schema.key is not None and columns.key is None:
                self.notes.append(f'there is no column "{schema.key}": rows have no id')
        elif self._known and not self._labelled:
            self._check_met()
        self._encoder = Encoder(
            self.columns,
            categorical,
            missing=self._missing,
            bad=self.bad,
            known=self._known,
            hash_bits=self._hash_bits,
            classes=self._classes,
            unit=self._unit,
            means={} if schema is None else schema.means,
            learning=self._labelled or schema is None,
            time_features=self._time_features,
            mixed=set() if schema is None else {*schema.numbers}.intersection(schema.categories),
        )
        self._numeric, self._categorical = (
            [at for at in places if at < columns.width]
            for places in (self._encoder.numeric, self._encoder.categorical)
        )

    def _derive(self) -> set[int]:
        """Add the time features to the columns; return those that are categorical."""
        columns = self.columns
        if columns.clock is None:
            return set()
        since = [columns.names[at] for at in columns.since]
        last = {} if self._schema is None else self._schema.last
        made = TimeFeatures(columns.names[columns.clock], since, last)
        self._time_features = made
        texts = columns.derive(made.categories)
        columns.derive(made.numbers)
        return set(texts)

    @property
    def schema_after(self) -> SchemaAfter | None:
        """What the schema says after some rows of the last block, None where that is all alike."""
        means, clock = self._encoder.means_after, self._time_features
        if means is None and clock is None:
            return None
        found = {"means": means, "last": None if clock is None else clock.last_after}
        parts = {name: part for name, part in found.items() if part is not None}
        return lambda rows: {name: part(rows) for name, part in parts.items()}

    def schema(self) -> Schema:
        """Return how the table is read, for others like it."""
        columns, encoder, before = self.columns, self._encoder, self._schema or Schema()

        def named(places: Iterable[int]) -> tuple[str, ...]:
            return tuple(columns.names[at] for at in places)

        def role(name: str) -> str | None:
            at = getattr(columns, name)
            found: str | None = getattr(before, name) if at is None else columns.names[at]
            return found

        roles: dict[str, Any] = {name: role(name) for name in ("label", "weight", "time", "key")}
        dropped = _with(before.drop, named(columns.dropped))
        return dataclasses.replace(
            before,
            **roles,
            drop=tuple(name for name in dropped if name not in roles.values()),
            keep=_with(before.keep, named(at for at in columns.kept if at != columns.key)),
            numbers=_with(before.numbers, named(encoder.numeric)),
            categories=_with(before.categories, named(encoder.categorical)),
            missing=self._missing,
            means=encoder.means,
            time_features=named([columns.clock])[0] if columns.clock is not None else None,
            since=named(columns.since),
            last={} if self._time_features is None else self._time_features.last,
            flags=_with(before.flags, self._flags(self._numeric)),
            **self._written(),
        )

    def _flags(self, numbers: Sequence[int]) -> tuple[str, ...]:
        """Return those of the columns of numbers that are true or false."""
        return ()

    def _written(self) -> dict[str, Any]:
        """Return what a schema says about the text of a table."""
        return {}

    @property
    def dropped(self) -> int:
        """Rows left out so far because a cell is missing."""
        return self._encoder.dropped

    @property
    def names(self) -> list[str]:
        """The names of the features so far."""
        return self._encoder.names

    def close(self) -> None:
        """Close the file."""
        raise NotImplementedError

    def _cells(self) -> Iterator[Cells]:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Block]:
        """Yield blocks, once."""
        self._use()
        empty = True
        try:
            for cells in self._cells():
                block = self._encoder.block(cells)
                if block is not None:
                    if block.time is not None:
                        self._order.meet(block.time, block.lines)
                    empty = False
                    yield block
        finally:
            self.close()
        if empty:
            none = (
                "no row of it can be used"
                if self.bad.found or self.dropped
                else "there are no rows in it"
            )
            raise DataError(self.columns.file, expected=none)
        if self.columns.time is not None:
            named = self.columns.names[self.columns.time]
            self.notes += self._order.note(named, self._unit, self._sorting(self.columns.time))

    def _sorting(self, column: int) -> str:
        """Return how to put the rows into the order of a column."""
        return "sort the rows by it first"


def _with(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[str, ...]:
    return (*before, *(name for name in now if name not in before))


def as_numbers(columns: Sequence[Any], rows: int) -> NDArray[np.float64]:
    """Return Arrow columns of float64 as one array, missing cells as NaN."""
    numbers = np.empty((rows, len(columns)))
    for j, column in enumerate(columns):
        if hasattr(column, "combine_chunks"):
            column = column.combine_chunks()
        numbers[:, j] = _values(column, np.float64, np.nan)
    return numbers


def _values(array: Any, dtype: Any, missing: float) -> NDArray[Any]:
    """Return an Arrow array from its buffers, because to_numpy imports pandas if installed."""
    valid, data = array.buffers()
    if data is None:
        return np.full(len(array), missing, dtype)
    values = np.frombuffer(data, dtype, len(array), array.offset * np.dtype(dtype).itemsize)
    if not array.null_count:
        return values
    bits = np.unpackbits(np.frombuffer(valid, np.uint8), bitorder="little")
    return np.where(bits[array.offset : array.offset + len(array)], values, missing).astype(dtype)


def as_times(column: Any, missing: Collection[Any], pa: Any) -> NDArray[np.float64]:
    """Return an Arrow column as seconds since 1970, NaN for cells that are no time."""
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    types = pa.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_date(column.type):
        column = column.cast(pa.timestamp("ms"))
    kinds: tuple[Any, ...] = (column.type,)
    if types.is_integer(column.type) or types.is_decimal(column.type):
        kinds = (pa.float64(),)
    elif not (types.is_timestamp(column.type) or types.is_floating(column.type)):
        # As texts a time zone must be in all cells or in none.
        kinds = (pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.float64())
    if not types.is_boolean(column.type):
        for kind in kinds:
            with contextlib.suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
                return _seconds_of(column.cast(kind), pa)
    cells = column.to_pylist()
    known = {cell: None if cell in missing else seconds(cell) for cell in set(cells)}
    return np.array([np.nan if (t := known[cell]) is None else t for cell in cells])


def _seconds_of(column: Any, pa: Any) -> NDArray[np.float64]:
    """Return times, or numbers that are seconds."""
    if not pa.types.is_timestamp(column.type):
        found = _values(column.cast(pa.float64()), np.float64, np.nan).copy()
        found[~(np.abs(found) <= FAR)] = np.nan
        return found
    found = _values(column.cast(pa.int64()), np.int64, _NO_TIME)
    return np.where(found == _NO_TIME, np.nan, found / float(_UNITS[column.type.unit]))


def kept_cells(column: Any) -> list[str]:
    """Return the cells of an Arrow column as texts, for the results."""
    cells: list[Any] = column.to_pylist()
    if str(column.type) in ("string", "large_string"):
        return cells if not column.null_count else ["" if cell is None else cell for cell in cells]
    return [_as_text(value) for value in cells]


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


class Dictionary(NamedTuple):
    """The values of an Arrow dictionary array, and the codes of those that mean missing."""

    values: list[Any]
    absent: list[int]

    @classmethod
    def of(cls, column: Any, missing: Collection[str]) -> Dictionary:
        """Return that of a column."""
        values: list[Any] = column.dictionary.to_pylist()
        known = {None, *missing}
        return cls(
            values, [k for k, value in enumerate(values) if value in known or value != value]
        )


def as_texts(column: Any, dictionary: Dictionary) -> Texts:
    """Return an Arrow dictionary array as codes and values; some values mean missing."""
    codes: NDArray[np.int32] = _values(
        column.indices, column.indices.type.to_pandas_dtype(), -1
    ).astype(np.int32)
    if dictionary.absent:
        missing = np.zeros(len(dictionary.values) + 1, bool)
        missing[dictionary.absent] = True
        codes[missing[codes]] = -1
    return Texts(codes, dictionary.values)
