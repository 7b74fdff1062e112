"""Tables of the papers in HTML: a row per learner and a column per figure, as they are printed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from . import claims, text
from .entries import find
from .kept import Kept
from .results import AGREEING, DIFFERENT, SAME, Cell, Result

_WORDS = "text-align:left;vertical-align:top;white-space:normal"  # of cells with sentences
_COLOURS = {SAME: "#0b6e4f", AGREEING: "#0072b2", DIFFERENT: "#b3450b"}


def as_printed(result: Result) -> Iterator[str]:
    """Yield a table with the published figure above ours in each cell."""
    figures = list(dict.fromkeys(cell.figure for cell in result.cells))
    cells = {(cell.learner, cell.figure): cell for cell in result.cells}
    rows = [
        [escape(name), *(_pair(cells.get((name, figure))) for figure in figures)]
        for name in dict.fromkeys(cell.learner for cell in result.cells)
    ]
    what = "data" if find(result.experiment).kind == "sets" else "learner"
    yield from _table([what, *figures], rows, result.heading)


def _pair(cell: Cell | None) -> str:
    if cell is None:
        return ""
    word = cell.word
    off = "" if math.isnan(cell.off) or word == SAME else f" {cell.off:+.1f}"
    if word == DIFFERENT and cell.nearest_word:
        off += f"<br>nearest {escape(cell.text('nearest'))} {cell.nearest_word}"
    colour = _COLOURS.get(cell.word, "#57606a")
    return (
        f'<span class="soft">{escape(cell.published)}</span><br>{escape(cell.text())}'
        f'<br><small style="color:{colour}">{escape(word)}{off}</small>'
    )


def two_parameters(result: Result) -> Iterator[str]:
    """Yield a figure of two parameters as a map: a shaded cell for each pair of values."""
    values = [y for line in result.lines for y in line.y]
    low, high = min(values), max(values)
    rows = []
    for line in result.lines:
        shares = [(y - low) / (high - low) if high > low else 0.0 for y in line.y]
        shown = [
            '<span style="display:block;margin:-.3rem -.35rem;padding:.3rem .35rem;'
            f'background:rgba(0,114,178,{0.75 * share:.2f})">'
            f"{text.value(y, result.metric)}</span>"
            for share, y in zip(shares, line.y, strict=True)
        ]
        rows.append([escape(line.name), *shown])
    yield from _table(text.points(result)[0], rows, result.heading)


def claim_rows(results: Sequence[Result]) -> Iterator[str]:
    """Yield the table of the claims that were tested, with a row for each data set."""
    rows = []
    for claim in claims.CLAIMS:
        for at, found in enumerate(claim.findings(results)):
            first = f"{claim.text} ({claim.paper}, {claim.where})" if at == 0 else ""
            colour = _COLOURS[SAME if found.holds else DIFFERENT]
            word = "holds" if found.holds else "does not hold"
            rows.append(
                [
                    escape(first),
                    escape(found.set),
                    f'<span style="color:{colour};white-space:nowrap">{word}</span>',
                    escape(found.by),
                ]
            )
    if rows:
        yield from _table(["claim", "data", "", "by how much"], rows, "Claims", _WORDS)
    else:
        yield "<p>None tested.</p>"


def commands(kept: Sequence[Kept]) -> Iterator[str]:
    """Yield the commands that made kept results, with their time and machine."""
    rows = [
        [escape(cell) for cell in (own.command, own.date, f"{own.seconds:,.0f}", own.machine)]
        for own in kept
    ]
    if rows:
        yield from _table(["command", "date", "seconds", "machine"], rows, "Commands")


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], name: str, style: str = ""
) -> Iterator[str]:
    """Yield a table that scrolls horizontally; cells are HTML."""
    own = f' style="{style}"' if style else ""
    first_style = style or "vertical-align:top"
    yield f'<div class="scroll" role="region" aria-label="{escape(name)}" tabindex="0">'
    head = "".join(f'<th scope="col"{own}>{escape(word)}</th>' for word in header)
    yield f"<table><thead><tr>{head}</tr></thead><tbody>"
    for first, *rest in rows:
        cells = "".join(f"<td{own}>{cell}</td>" for cell in rest)
        yield f'<tr><th scope="row" style="{first_style}">{first}</th>{cells}</tr>'
    yield "</tbody></table></div>"
