"""Kept results as Markdown: a page per paper, and the claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..data.sets import registry
from . import claims, text
from .cells import with_tallies
from .kept import Kept
from .page import plot_name
from .results import Result

_LEVELS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)  # of sparsity
_MOST = 9  # points of a line on a page
PLOTS = "plots"  # the folder of the figures, beside the pages


def pages(kept: Sequence[Kept]) -> dict[str, str]:
    """Return the pages by the name of their file."""
    found = {"claims.md": _claims(kept)}
    for paper in registry.papers():
        own = [each for each in kept if each.results[0].paper == paper]
        if own:
            found[f"{paper.lower()}.md"] = "\n".join(_page(paper, own)) + "\n"
    return found


def _claims(kept: Sequence[Kept]) -> str:
    results = [result for own in kept for result in own.results]
    lines = [
        "# Claims of the papers, tested",
        "",
        "Computed from the kept results, written by `lopsided reproduce --kept docs/data/papers "
        "--pages docs/papers`. A claim holds on a set if the difference has its sign; whether a "
        "difference is more than chance: see the deviations on the pages. " + spent(kept),
        "",
        *table(claims.HEADER, claims.rows(results)),
    ]
    return "\n".join(lines) + "\n"


def spent(kept: Sequence[Kept]) -> str:
    """Return a sentence about how much was run, and how long it took."""
    minutes = sum(own.seconds for own in kept) / 60
    short = sum(own.is_short for own in kept)
    part = f", {short} of them with fewer runs than in the paper" if short else ""
    many = f"{len(kept)} runs of an experiment on a data set{part}"
    return f"{many}, {minutes:,.0f} minutes of a core in all."


def _page(paper: str, kept: Sequence[Kept]) -> Iterator[str]:
    yield f"# {registry.papers()[paper]}"
    yield ""
    yield (
        "Written by `lopsided reproduce --kept docs/data/papers --pages docs/papers`. Published, "
        "ours and the words are those of [reproduction.md](../reproduction.md). " + spent(kept)
    )
    for own in kept:
        for result in own.results:
            yield from _section(result)
        yield ""
        yield (
            f"`{own.command}`: lopsided {own.version}, {own.machine}, {own.date}, "
            f"{own.seconds:,.0f} s of a core."
        )
    results = [result for own in kept for result in own.results]
    for result in with_tallies(results):
        if result not in results:
            yield from _section(result)


def _section(result: Result) -> Iterator[str]:
    yield from ("", f"## {result.heading}: {result.title}", "")
    yield from (f"- {note}" for note in text.about(result))
    yield ""
    yield from _result(result)


def _result(result: Result) -> Iterator[str]:
    if result.cells:
        names = [cell.learner for cell in result.cells]
        cells = [[n, *row[1:]] for n, row in zip(names, text.rows(result), strict=True)]
        used = [k for k in range(len(text.HEADER)) if any(row[k] for row in cells)]
        header = [text.HEADER[k] or "verdict" for k in used]
        yield from table(header, [[row[k] for k in used] for row in cells])
        if told := text.summary([result]):
            yield from ("", f"{told}.")
    elif result.lines:
        if name := plot_name(result):
            yield from (f"![{result.heading}]({PLOTS}/{name})", "")
        header, rows = thinned(result)
        yield from table(header, rows)
    for line in text.settings(result):
        yield f"- {line}"


def thinned(result: Result) -> tuple[list[str], list[list[str]]]:
    """Return the lines of a figure at a few points of x."""
    if result.against == "sparsity":
        start = max(line.x[0] for line in result.lines)
        # Of millions of features nearly all stay without weight: then levels from the first to 1.
        levels = [
            level if start < _LEVELS[-2] else start + level * (1 - start) for level in _LEVELS
        ]
        header = ["sparsity", *(f"{100 * level:.6g}%" for level in levels)]
        best = result.metric == "sum"
        rows = []
        for line in result.lines:
            values = [line.at(level, larger_is_better=best) for level in levels]
            rows.append([line.name, *(text.value(y, result.metric) for y in values)])
        return header, rows
    size = len(result.lines[0].x)
    at = sorted({round(k) for k in np.linspace(0, size - 1, min(size, _MOST))})
    header = [result.against, *(text.number(result.lines[0].x[k]) for k in at)]
    rows = [
        [line.name, *(text.value(line.y[k], result.metric) for k in at)] for line in result.lines
    ]
    return header, rows


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return a table of Markdown.

    Examples
    --------
    >>> table(["a", "b"], [["x", 1]])
    ['| a | b |', '|---|---|', '| x | 1 |']
    """
    shown = [[str(cell).replace("|", "\\|") for cell in row] for row in (header, *rows)]
    lines = [f"| {' | '.join(row)} |" for row in shown]
    return [lines[0], "|---" * len(header) + "|", *lines[1:]]
