"""A stream to be judged on: its rows in every form that a contender may want, labels and prices."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Event = dict[str, Any]

FEW = 400  # features up to which zeros of numeric columns are values like any other


@dataclasses.dataclass(frozen=True)
class Prices:
    """What mistakes cost.

    Attributes
    ----------
    miss : float or array
        Of a missed positive; an array has one price per event.
    alarm : float
        Of a false alarm.
    """

    miss: float | Floats
    alarm: float

    @property
    def threshold(self) -> float | Floats:
        """The probability from which an alarm is the cheaper answer."""
        return self.alarm / (self.alarm + self.miss)

    def cost(self, y: NDArray[np.bool_], alarms: NDArray[np.bool_]) -> float:
        """Return the total price of the mistakes."""
        missed = np.sum(np.broadcast_to(self.miss, y.shape)[y & ~alarms])
        return float(missed + self.alarm * np.count_nonzero(alarms & ~y))

    def constant(self, y: NDArray[np.bool_]) -> float:
        """Return the cost of the better constant answer: flag nobody, or everybody."""
        nobody, everybody = np.zeros(y.shape, bool), np.ones(y.shape, bool)
        return min(self.cost(y, nobody), self.cost(y, everybody))

    def first(self, rows: int) -> Prices:
        """Return the prices of the first events."""
        return self if np.ndim(self.miss) == 0 else Prices(self.miss[:rows], self.alarm)


RATIOS = {"1:1": Prices(1, 1), "10:1": Prices(10, 1), "100:1": Prices(100, 1)}


class Table:
    """Columns of numbers and of text categories."""

    def __init__(self, numbers: dict[str, Floats], texts: dict[str, NDArray[np.str_]]) -> None:
        self.numbers, self.texts = numbers, texts
        self.width = len(numbers)  # numeric columns of the matrix; they come first

    def first(self, rows: int) -> Table:
        return Table(
            {name: values[:rows] for name, values in self.numbers.items()},
            {name: values[:rows] for name, values in self.texts.items()},
        )

    @cached_property
    def events(self) -> list[Event]:
        """One dict per row: numbers as numbers, categories as text."""
        columns = {**self.texts, **self.numbers}
        values = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in values]

    @cached_property
    def csr(self) -> Any:
        """The numbers, then an indicator for each category, in a CSR matrix."""
        rows, at, parts = len(next(iter(self.numbers.values()))), self.width, []
        for values in self.texts.values():
            names, codes = np.unique(values, return_inverse=True)
            parts.append(at + codes)
            at += len(names)
        numeric = np.broadcast_to(np.arange(self.width), (rows, self.width))
        indices = np.column_stack([numeric, *parts]).astype(np.int32)
        ones = np.ones((rows, len(parts)))
        data = np.column_stack([*self.numbers.values(), ones])
        starts = np.arange(rows + 1, dtype=np.int32) * np.int32(indices.shape[1])
        return sparse.csr_matrix((data.ravel(), indices.ravel(), starts), shape=(rows, at))

    @cached_property
    def numeric(self) -> NDArray[np.bool_]:
        """Which columns of the matrix hold numbers rather than indicators."""
        return np.arange(self.csr.shape[1]) < self.width

    def split(self) -> tuple[list[Event], list[Event]]:
        """Return the numbers and the indicators of each event apart, as dicts."""
        numbers = zip(*(values.tolist() for values in self.numbers.values()), strict=True)
        texts = zip(
            *(np.char.add(f"{name}=", v).tolist() for name, v in self.texts.items()), strict=True
        )
        return (
            [dict(zip(self.numbers, row, strict=True)) for row in numbers],
            [dict.fromkeys(row, 1.0) for row in texts],
        )


class Matrix:
    """Numbered columns, as a LIBSVM file has them."""

    def __init__(self, csr: Any) -> None:
        self.csr = csr

    def first(self, rows: int) -> Matrix:
        return Matrix(self.csr[:rows])

    @cached_property
    def events(self) -> list[Event]:
        """One dict per row, of the values that are not 0."""
        return _dicts(self.csr)

    @cached_property
    def numeric(self) -> NDArray[np.bool_]:
        """Which columns hold values other than 0 and 1."""
        mask = np.zeros(self.csr.shape[1], bool)
        mask[self.csr.indices[(self.csr.data != 1) & (self.csr.data != 0)]] = True
        return mask

    def split(self) -> tuple[list[Event], list[Event]]:
        """Return numbers, with zeros where columns are few, and indicators of each event apart.

        Of many columns (text) all are in the second part, as rows of unit length.
        """
        if self.csr.shape[1] > FEW:
            rows = unit(self.csr) if self.numeric.any() else self.csr
            return [{} for _ in range(self.csr.shape[0])], _dicts(rows)
        names = [f"f{j}" for j in np.flatnonzero(self.numeric)]
        values = self.csr[:, self.numeric].toarray().tolist()
        rest = self.csr @ sparse.diags((~self.numeric).astype(float)).tocsr()
        rest.eliminate_zeros()
        return [dict(zip(names, row, strict=True)) for row in values], _dicts(rest)


@dataclasses.dataclass
class Stream:
    """Rows and labels in the order of their arrival.

    Attributes
    ----------
    name : str
        What it is called in tables.
    rows : Table or Matrix
        What is seen of the events.
    y : array of bool
        Which events are positive.
    own : dict
        Prices of its own by name, where it has any: "own" and "per event".
    delay : array of int, optional
        How many further events are met before each label comes; default: it comes at once.
    truth : array, optional
        The probability of each label, given all that is seen.
    change : int, optional
        The row from which another truth holds.
    """

    name: str
    rows: Table | Matrix
    y: NDArray[np.bool_]
    own: dict[str, Prices] = dataclasses.field(default_factory=dict)
    delay: NDArray[np.int64] | None = None
    truth: Floats | None = None
    change: int | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def prices(self) -> dict[str, Prices]:
        """All prices to be judged at, by name."""
        return {**RATIOS, **self.own}

    def first(self, rows: int) -> Stream:
        """Return the first rows as a stream."""
        if rows >= len(self):
            return self
        return dataclasses.replace(
            self,
            rows=self.rows.first(rows),
            y=self.y[:rows],
            own={name: prices.first(rows) for name, prices in self.own.items()},
            delay=None if self.delay is None else self.delay[:rows],
            truth=None if self.truth is None else self.truth[:rows],
            change=None if self.change is None or self.change >= rows else self.change,
        )

    def arrivals(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows in the order in which their labels come, and after which event each does.

        A label that comes at once comes after its own event. Some never come: those that would
        after the last event.
        """
        rows = np.arange(len(self))
        after = rows if self.delay is None else rows + self.delay
        order = np.argsort(after, kind="stable")
        order = order[after[order] < len(self)]
        return order, after[order]


def unit(csr: Any) -> Any:
    """Return rows of length one."""
    norms = np.sqrt(np.asarray(csr.multiply(csr).sum(axis=1)).ravel())
    return sparse.diags(1 / np.where(norms > 0, norms, 1.0)).tocsr() @ csr


def _dicts(csr: Any) -> list[Event]:
    names = [f"f{j}" for j in csr.indices.tolist()]
    values, starts = csr.data.tolist(), csr.indptr.tolist()
    ends = itertools.pairwise(starts)
    return [dict(zip(names[a:b], values[a:b], strict=True)) for a, b in ends]
