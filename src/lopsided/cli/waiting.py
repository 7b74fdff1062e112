"""Questions that wait for their labels, as a model file keeps them beside the model."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from ..algorithms.active import Active
from ..errors import DataError

FIELDS = ("id", "line", "score", "predicted", "asked", "probability")


def question_column(kept: Iterable[str]) -> str:
    """Return the name of the column of question numbers, beside the caller's columns."""
    return "question" if "id" in kept else "id"


@dataclasses.dataclass
class Waiting:
    """The questions of a model, with what was written about each.

    Attributes
    ----------
    names : list of str
        The caller's columns that were copied.
    rows : dict
        For each question its fields, and the cells of these columns.
    """

    names: list[str] = dataclasses.field(default_factory=list)
    rows: dict[int, list[Any]] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, state: Any) -> Waiting:
        """Return those that a model file keeps."""
        kept = (state or {}).get("questions")
        return cls() if kept is None else cls(kept["names"], dict(kept["rows"]))

    def record(self, model: Active) -> dict[str, Any]:
        """Return plain values for a model file: those of questions that still wait."""
        waiting = {*model.pending_}
        self.rows = {number: row for number, row in self.rows.items() if number in waiting}
        return {"names": self.names, "rows": self.rows}

    def add(self, names: Sequence[str], rows: Iterable[list[Any]]) -> None:
        """Add what is asked; columns that are new since the last time join the others."""
        every = [*self.names, *(name for name in names if name not in self.names)]
        known = {number: self._with(row, self.names, every) for number, row in self.rows.items()}
        asked = [row for row in rows if row[FIELDS.index("asked")]]
        self.rows = known | {row[0]: self._with(row, names, every) for row in asked}
        self.names = every

    @staticmethod
    def _with(row: list[Any], names: Sequence[str], wanted: list[str]) -> list[Any]:
        cells = dict(zip(names, row[len(FIELDS) :], strict=False))
        return [*row[: len(FIELDS)], *(cells.get(name, "") for name in wanted)]

    def _cells(self, row: list[Any]) -> dict[str, Any]:
        return dict(zip(self.names, row[len(FIELDS) :], strict=False))

    def described(self, model: Active) -> list[dict[str, Any]]:
        """Return what is known about each question that waits, oldest first."""
        found = []
        for number in sorted(model.pending_):
            row = self.rows.get(number, [number])
            about = dict(zip(FIELDS, row, strict=False))
            about.pop("asked", None)
            about = {question_column(self.names): about.pop("id"), **about}
            found.append({**about, **self._cells(row)})
        return found

    def numbers(self, key: str) -> dict[str, list[int]]:
        """Return the questions by the caller's ids."""
        found: dict[str, list[int]] = {}
        for number, row in self.rows.items():
            found.setdefault(str(self._cells(row).get(key, "")), []).append(number)
        return found


def number_of(numbers: dict[str, list[int]], key: str, file: str, line: int, text: str) -> int:
    """Return the question about the caller's event; raise unless there is exactly one."""
    found = numbers.get(text, [])
    if len(found) == 1:
        return found[0]
    expected = "the id of an event whose label is waited for"
    if found:
        shown = " and ".join(map(str, found))
        expected = f"an id of one event; questions {shown} have it: answer by their numbers"
    raise DataError(file, line, key, text, expected)
