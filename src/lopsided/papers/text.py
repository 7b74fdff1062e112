"""Results as text tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from ..comparison.tables import Sheet
from .results import WORDS, Result

HEADER = ("learner", "figure", "published", "ours", "off by", "", "honest", "nearest")


def rows(result: Result) -> list[list[str]]:
    """Return the cells of a table, one per row, grouped by learner."""
    found = []
    before = ""
    for cell in result.cells:
        nearest = ""
        if cell.nearest_word:
            nearest = f"{cell.text('nearest')}, {cell.nearest_word}"
        found.append(
            [
                cell.learner if cell.learner != before else "",
                cell.figure,
                cell.published,
                cell.text(),
                "" if math.isnan(cell.off) else f"{cell.off:+.2f}",
                cell.word,
                "" if math.isnan(cell.honest_mean) else cell.text("honest"),
                nearest,
            ]
        )
        before = cell.learner
    return found


def points(result: Result) -> tuple[list[str], list[list[str]]]:
    """Return the lines of a figure: a header, and one row per line."""
    first = result.lines[0].x
    if all(line.x == first for line in result.lines):
        header = [result.against, *map(number, first)]
        return header, [
            [line.name, *(value(y, result.metric) for y in line.y)] for line in result.lines
        ]
    return ["", f"{result.against}: {result.metric}"], [
        [
            line.name,
            ", ".join(
                f"{number(x, 6)}: {value(y, result.metric)}"
                for x, y in zip(line.x, line.y, strict=True)
            ),
        ]
        for line in result.lines
    ]


def sheet(result: Result, title: str) -> Sheet:
    """Return a result as a table to print; cells that agree have no mark."""
    if result.lines:
        header, cells = points(result)
    else:
        header, cells = list(HEADER), rows(result)
        for before, row in pairwise(cells):  # every row names its learner
            row[0] = row[0] or before[0]
    if len(header) == 2:
        header, cells = [*header, ""], [[*row, ""] for row in cells]
    above = ". ".join([f"{result.heading}: {title}", *about(result)])
    return Sheet(above, header, cells, [""] * len(cells), list(settings(result)))


def number(x: Any, digits: int = 4) -> str:
    """Format a value of the x axis."""
    return f"{x:,.{digits}g}" if isinstance(x, (int, float)) else str(x)


def value(y: float, metric: str) -> str:
    """Format a measure."""
    if math.isnan(y):
        return "–"
    return digits(y) if metric in ("cost", "seconds") else f"{100 * y:.2f}"


def digits(y: float) -> str:
    """Format a number with four digits, or with all before the point.

    Examples
    --------
    >>> digits(14762.4), digits(0.87521)
    ('14,762', '0.8752')
    """
    return f"{y:,.0f}" if abs(y) >= 1000 else f"{y:.4g}"


def settings(result: Result) -> Iterator[str]:
    """Yield the chosen parameters of each learner that has a grid."""
    for name, own in result.parameters.items():
        if not own:
            continue
        others = [
            f"{word}: {_listed(chosen[name])}"
            for word, chosen in (("honest", result.honest), ("nearest", result.nearest))
            if chosen.get(name)
        ]
        yield f"{name}: {_listed(own)}" + (f" ({'; '.join(others)})" if others else "")


def _listed(parameters: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in parameters.items()
    )


def about(result: Result) -> list[str]:
    """Return the notes to print with the figures."""
    choice = result.choice if result.data else ""
    known = [result.runs, result.scaling, *result.notes, choice]
    return [text for text in known if text]


def summary(results: Iterable[Result]) -> str:
    """Return the number of cells with each verdict, in words."""
    found: Counter[str] = Counter()
    for result in results:
        found.update(result.words())
    told = ", ".join(f"{found[word]:,} {word}" for word in WORDS if found[word])
    return f"{sum(found.values()):,} cells: {told}" if told else ""
