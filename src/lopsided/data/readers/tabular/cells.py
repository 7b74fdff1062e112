"""From the cells of a table to blocks: checks, labels, one-hot columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .... import _core
from ....errors import DataError
from ....estimator.expected import A_VALUE, MISSING, TOLERATE_MISSING
from ....estimator.times import DAYS, HOURS
from ...block import BadLines, Block, Dense, Sparse
from .classes import Classes, as_number
from .clock import TimeFeatures
from .columns import Columns
from .means import MeansAfter, RunningMeans

TIME = "a time: seconds since 1970, or a date like 2026-01-31T08:15, not milliseconds"


@dataclasses.dataclass
class Texts:
    """A categorical column: a code per row (-1: missing), and the values of the codes."""

    codes: NDArray[np.int32]
    values: list[Any]

    def first_rows(self) -> NDArray[np.int64]:
        """Return the first row of each value and of missing ones, -1 if there is none."""
        first = np.full(len(self.values) + 1, -1, dtype=np.int64)
        first[self.codes[::-1]] = np.arange(len(self.codes))[::-1]
        return first


@dataclasses.dataclass
class Cells:
    """Some rows of a table by columns; `found` returns the text at a line and a column."""

    lines: NDArray[np.int64]
    numbers: NDArray[np.float64]  # numeric features, missing ones NaN
    texts: list[Texts]  # categorical features
    label: Texts | None
    weight: NDArray[np.float64] | None
    found: Callable[[int, int], str]
    time: NDArray[np.float64] | None = None  # NaN where a cell is no time
    kept: dict[str, list[str]] = dataclasses.field(default_factory=dict)  # for the results
    clock: NDArray[np.float64] | None = None  # times that become features
    keys: list[list[str]] = dataclasses.field(default_factory=list)
    faults: list[DataError] = dataclasses.field(default_factory=list)  # of rows left out in between

    def take(self, keep: NDArray[np.bool_]) -> Cells:
        """Return the rows to keep."""
        label = self.label and Texts(self.label.codes[keep], self.label.values)
        return Cells(
            self.lines[keep],
            self.numbers[keep],
            [Texts(column.codes[keep], column.values) for column in self.texts],
            label,
            None if self.weight is None else self.weight[keep],
            self.found,
            None if self.time is None else self.time[keep],
            {name: list(compress(cells, keep)) for name, cells in self.kept.items()},
            None if self.clock is None else self.clock[keep],
            [list(compress(cells, keep)) for cells in self.keys],
        )


class Encoder:
    """Turns cells into blocks, and keeps what must stay the same from block to block.

    Parameters
    ----------
    columns : Columns
        The table's columns.
    categorical : set of int
        The features that are one-hot, by position.
    missing : {"error", "indicate", "zero", "drop"}
        A missing cell is an error, or has a feature of its own, or counts as 0, or its row is left
        out.
    bad : BadLines
        Tolerated bad rows.
    known : sequence of str
        Names of features that already have a column.
    classes : Classes
        The labels so far.
    unit : str
        What `lines` count.
    means : mapping
        Sum and number of the cells of columns of numbers so far.
    learning : bool
        Whether these cells add to the means, and new missing cells to the features.
    time_features : TimeFeatures, optional
        The last of the categorical features and of the numbers, which the cells lack.
    mixed : collection of str
        Categorical columns whose numbers are numbers, as the model has met both.
    """

    def __init__(
        self,
        columns: Columns,
        categorical: set[int],
        *,
        missing: str,
        bad: BadLines,
        known: Sequence[str],
        hash_bits: int | None = None,
        classes: Classes,
        unit: str,
        means: Mapping[str, tuple[float, int]],
        learning: bool,
        time_features: TimeFeatures | None = None,
        mixed: Collection[str] = (),
    ) -> None:
        columns.check_known(known, categorical, mixed)
        columns.check_apart(categorical)
        self._columns, self._missing, self._bad, self._unit = columns, missing, bad, unit
        self.numeric = [at for at in columns.features if at not in categorical]
        self.categorical = [at for at in columns.features if at in categorical]
        self._classes = classes
        self.names = list(known)
        self._place = {name: i for i, name in enumerate(known)}
        self._hash_bits = hash_bits
        numeric = [columns.names[at] for at in self.numeric]
        self._add(numeric)
        self._places = np.array([self._column(name) for name in numeric], dtype=np.int32)
        self._is_sparse = bool(self.categorical) or hash_bits is not None
        # The features as they come: k is a column of numbers, -1 - k one of texts.
        order = {at: k for k, at in enumerate(self.numeric)}
        order |= {at: -1 - k for k, at in enumerate(self.categorical)}
        self._order = [order[at] for at in columns.features]
        self._means = RunningMeans(numeric, means, learning=learning)
        self._learning = learning
        self._time_features, self._mixed = time_features, mixed
        # Of each categorical column: the values met last, and their columns (-1: not looked up).
        nothing: tuple[list[Any], NDArray[np.int32]] = ([], np.zeros(0, np.int32))
        self._found = [nothing] * len(self.categorical)
        self.dropped = 0

    @property
    def means(self) -> dict[str, tuple[float, int]]:
        """Sum and number of the cells of columns of numbers, where empty ones are filled in."""
        return self._means.sums if self._fills else {}

    @property
    def means_after(self) -> MeansAfter | None:
        """The means after some rows of the last block, None where no cells are filled in."""
        return self._means.after if self._fills else None

    @property
    def _fills(self) -> bool:
        return self._missing == "indicate" and not self._is_sparse

    def block(self, cells: Cells) -> Block | None:
        """Return the good rows, or None if there are none."""
        cells = self._without_faults(cells)
        if not len(cells.lines):
            return None
        if self._time_features is not None:
            self._derive(cells, self._time_features)
        y = None if cells.label is None else self._labels(cells.label)
        X = self._sparse(cells) if self._is_sparse else self._dense(cells)
        return Block(X, y, cells.weight, cells.lines, self._columns.file, cells.time, cells.kept)

    def _derive(self, cells: Cells, features: TimeFeatures) -> None:
        """Add the time features of the rows."""
        assert cells.clock is not None
        features.begin()
        hours, days = features.clock(cells.clock)
        cells.texts = [*cells.texts, Texts(hours, HOURS), Texts(days, DAYS)]
        if features.numbers:
            keys = list(zip(*cells.keys, strict=True))
            met = [features.meet(*row) for row in zip(cells.clock.tolist(), keys, strict=True)]
            cells.numbers = np.hstack([cells.numbers, np.array(met)])

    # Checks --------------------------------------------------------------------------------------

    def _without_faults(self, before: Cells) -> Cells:
        cells = before
        if self._missing == "drop":
            whole = np.ones(len(cells.lines), dtype=bool)
            for _, absent in _absent(cells, self):
                whole &= ~absent
            if not whole.all():
                self.dropped += int(np.sum(~whole))
                cells = cells.take(whole)
        errors = list(before.faults)
        faults: dict[int, tuple[int, str]] = {}  # the first of each row
        for at, wrong, expected in self._wrong(cells):
            for row in np.flatnonzero(wrong).tolist():
                faults[row] = min(faults.get(row, (at, expected)), (at, expected))
        self._check_labels(cells, faults)
        if not faults and not errors:
            return cells
        found = cells.found
        for row in sorted(faults):
            at, expected = faults[row]
            line, name = int(cells.lines[row]), self._columns.names[at]
            error = DataError(
                self._columns.file,
                line,
                name,
                found(line, at),
                expected,
                unit=self._unit,
                remedy=TOLERATE_MISSING if expected == A_VALUE else (),
            )
            errors.append(error)
        for error in sorted(errors, key=lambda error: error.line or 0):
            self._bad.add(error)
        keep = np.ones(len(cells.lines), dtype=bool)
        keep[list(faults)] = False
        return cells.take(keep)

    def _wrong(self, cells: Cells) -> Iterator[tuple[int, NDArray[np.bool_], str]]:
        """Yield columns with errors: position, rows, what was expected."""
        columns = self._columns
        if _core.find_gaps(cells.numbers)[1]:
            for at, numbers in zip(self.numeric, cells.numbers.T, strict=False):
                yield at, np.isinf(numbers), "a finite number"
        if cells.weight is not None:
            assert columns.weight is not None
            # NaN is reported below, as a missing cell.
            wrong = (cells.weight < 0) | np.isinf(cells.weight)
            yield columns.weight, wrong, "a weight: a finite number, 0 or more"
        if cells.time is not None:
            assert columns.time is not None
            yield columns.time, np.isnan(cells.time), TIME
        if cells.clock is not None:
            assert columns.clock is not None
            yield columns.clock, np.isnan(cells.clock), TIME
        for at, absent in _absent(cells, self, features=self._missing == "error"):
            if self._missing == "error":
                yield at, absent, A_VALUE
            elif at == columns.label:
                yield at, absent, "a label"
            elif at == columns.weight:
                yield at, absent, "a weight"

    def _check_labels(self, cells: Cells, faults: dict[int, tuple[int, str]]) -> None:
        if cells.label is None:
            return
        codes = cells.label.codes
        if faults:  # their labels do not count
            codes = codes.copy()
            codes[list(faults)] = -1
        label = Texts(codes, cells.label.values)
        first = label.first_rows()[:-1]
        used = np.flatnonzero(first >= 0)
        for code in used[np.argsort(first[used])].tolist():
            expected = self._classes.admit(label.values[code])
            if expected:
                assert self._columns.label is not None
                fault = (self._columns.label, expected)
                faults.update(dict.fromkeys(np.flatnonzero(codes == code).tolist(), fault))

    def _labels(self, label: Texts) -> NDArray[Any]:
        used = np.flatnonzero(np.bincount(label.codes))
        places = np.zeros(len(label.values), np.int64)
        places[used] = np.arange(len(used))
        labels = self._classes.array(label.values[code] for code in used)
        return labels[places[label.codes]]

    # Features ------------------------------------------------------------------------------------

    def _dense(self, cells: Cells) -> Dense:
        numbers = cells.numbers
        if self._missing == "zero":
            numbers[np.isnan(numbers)] = 0
        elif self._missing == "indicate":
            return self._indicated(cells)
        if len(self.names) != numbers.shape[1] or (np.diff(self._places) != 1).any():
            wide = np.zeros((len(numbers), len(self.names)))
            wide[:, self._places] = numbers
            numbers = wide
        return Dense(numbers, self.names)

    def _indicated(self, cells: Cells) -> Dense:
        """Return rows with means for empty cells, and a column that says where they were."""
        absent = np.isnan(cells.numbers)
        gaps = self._gaps(cells.numbers)
        if self._learning:
            self._add([name for *_, name in sorted(self._new_indicators(gaps))])
        array = np.zeros((len(absent), len(self.names)))
        array[:, self._places] = self._means.filled(cells.numbers, absent, cells.weight)
        for j, _, name in gaps:
            if name in self._place:
                array[:, self._place[name]] = absent[:, j]
        return Dense(array, self.names)

    def _gaps(self, numbers: NDArray[np.float64]) -> list[tuple[int, int, str]]:
        """Return the columns of numbers that have empty cells: the first, and what says so."""
        names = self._columns.names
        return [
            (j, first, f"{names[self.numeric[j]]}={MISSING}")
            for j, first in enumerate(_core.find_gaps(numbers)[0])
            if first >= 0
        ]

    def _new_indicators(self, gaps: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
        """Return the first row, the column and the name of features that are new."""
        return [
            (first, self.numeric[j], name) for j, first, name in gaps if name not in self._place
        ]

    def _sparse(self, cells: Cells) -> Sparse:
        indicate = self._missing == "indicate"
        numbers = np.ascontiguousarray(cells.numbers)
        gaps = self._gaps(numbers) if indicate else []
        places = self._one_hot(cells.texts, gaps)
        indicators = np.full(len(self.numeric), -1, np.int32)
        for j, _, name in gaps:
            indicators[j] = self._column(name)
        texts = [
            (text.codes, place, self._amounts(at, text))
            for at, text, place in zip(self.categorical, cells.texts, places, strict=True)
        ]
        indptr, indices, data = _core.one_hot(
            numbers, self._places, indicators, texts, self._order, indicate
        )
        rows = len(cells.lines)
        if self._hash_bits is not None:
            return Sparse(indptr, indices, data, (rows, 1 << self._hash_bits), hashed=True)
        return Sparse(indptr, indices, data, (rows, len(self.names)), self.names)

    def _amounts(self, at: int, text: Texts) -> NDArray[np.float64] | None:
        """Return the values of the features of codes, and of a missing one, where not all are 1."""
        if self._columns.names[at] not in self._mixed:
            return None
        numbers = [number_in(value) for value in text.values]
        return np.array([1.0 if n is None else n for n in (*numbers, None)])

    def _one_hot(
        self, texts: list[Texts], gaps: list[tuple[int, int, str]]
    ) -> list[NDArray[np.int32]]:
        """Return the column of each value; new ones in the order of rows, then of columns."""
        new = self._new_indicators(gaps)
        unknown: list[dict[int, str]] = []
        for k, (at, text) in enumerate(zip(self.categorical, texts, strict=True)):
            values, places = self._found[k]
            if values is not text.values:
                places = np.full(len(text.values) + 1, -1, dtype=np.int32)
            elif len(places) <= len(values):  # the list has grown
                new_places = np.full(len(values) + 1 - len(places), -1, dtype=np.int32)
                places = np.concatenate([places[:-1], new_places, places[-1:]])
            self._found[k] = text.values, places
            first = text.first_rows()
            first[-1] = first[-1] if self._missing == "indicate" else -1
            codes = np.flatnonzero((first >= 0) & (places < 0)).tolist()
            named = self._names_of(self._columns.names[at], text.values, codes)
            new += [(int(first[c]), at, n) for c, n in named.items() if n not in self._place]
            unknown.append(named)
        self._add([name for *_, name in sorted(new)])
        for (_, places), named in zip(self._found, unknown, strict=True):
            places[list(named)] = [self._column(name) for name in named.values()]
        return [places for _, places in self._found]

    def _names_of(self, column: str, values: list[Any], codes: list[int]) -> dict[int, str]:
        """Return the features of some codes; the one behind those of the values means missing."""
        missing = {codes.pop(): f"{column}={MISSING}"} if codes[-1:] == [len(values)] else {}
        named = {code: f"{column}={values[code]}" for code in codes}
        if column in self._mixed:
            numbers = (code for code in codes if number_in(values[code]) is not None)
            named |= dict.fromkeys(numbers, column)
        return named | missing

    def _column(self, name: str) -> int:
        if self._hash_bits is not None:
            return _core.hash_name(name, self._hash_bits)
        return self._place[name]

    def _add(self, names: list[str]) -> None:
        """Give new names their columns behind the others; blocks handed out keep their list."""
        if self._hash_bits is not None:
            return
        new = [name for name in names if name not in self._place]
        if new:
            self._place.update((name, len(self.names) + i) for i, name in enumerate(new))
            self.names = [*self.names, *new]


def number_in(value: Any) -> float | None:
    """Return the number that a cell of a mixed column holds, None for a text."""
    return as_number(value) if isinstance(value, str) else float(value)


def _absent(
    cells: Cells, encoder: Encoder, *, features: bool = True
) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Yield the columns that have missing cells, and where; of features only if wanted."""
    columns = encoder._columns
    if features:
        for at, numbers in zip(encoder.numeric, cells.numbers.T, strict=False):
            yield at, np.isnan(numbers)
        for at, text in zip(encoder.categorical, cells.texts, strict=False):
            yield at, text.codes < 0
    if columns.label is not None and cells.label is not None:
        yield columns.label, cells.label.codes < 0
    if columns.weight is not None and cells.weight is not None:
        yield columns.weight, np.isnan(cells.weight)
