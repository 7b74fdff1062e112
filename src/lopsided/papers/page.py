"""All reproduced tables and figures on one HTML page."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Iterator, Sequence
from html import escape

from ..data.sets import registry
from ..report.content import Table
from ..report.figures import Figure, plot
from ..report.page import document, side_by_side, table
from . import claims, text
from .entries import find
from .results import Result

_NOTE = (
    "Off by: the difference in combined standard errors; up to 3 agrees. Ours: with parameters "
    "chosen as in the paper. Honest: with parameters chosen on data that is not reported. "
    "Nearest: at the grid point whose figures are closest to the printed ones."
)


def page(
    results: Sequence[Result], *, command: Sequence[str] = (), with_claims: bool = False
) -> str:
    """Return an HTML page: a single file without scripts or external resources."""
    parts: list[str] = []
    for paper, citation in registry.papers().items():
        own = [result for result in results if result.paper == paper]
        if own:
            parts.append(f"<section><h2>{escape(citation)}</h2>")
            parts += _parts(own)
            parts.append("</section>")
    if with_claims:
        rows = _claims(results)
        parts.append("<section><h2>What the papers claim</h2>")
        parts += table(Table(claims.HEADER, rows), "Claims") if rows else ["<p>None tested.</p>"]
        parts.append("</section>")
    from .. import __version__

    parts += [
        "<section><h2>What was run</h2>",
        f"<pre><code>{escape(shlex.join(command))}</code></pre>" if command else "",
        f'<p class="soft">lopsided {__version__}, {datetime.date.today()}. {_NOTE}</p>',
        "</section>",
    ]
    sentence = text.summary(results) or f"{len(results)} figures"
    return document("Reproduction of the papers", sentence, parts)


def _parts(results: Sequence[Result]) -> Iterator[str]:
    name = ""
    plots: list[Figure] = []
    for at, result in enumerate(results):
        if result.experiment != name:
            yield from side_by_side(plots) if plots else ()
            name, plots = result.experiment, []
            yield f"<h3>{escape(name)}: {escape(result.title)}</h3>"
        if result.lines and find(result.experiment).lines:
            yield from _map(result)
            continue
        if result.lines:
            plots.append(_plot(result, at))
            continue
        yield f"<p>{escape(result.heading)}</p>"
        yield f'<p class="soft">{escape("; ".join(text.about(result)))}</p>'
        if result.cells:
            yield from table(Table(text.HEADER, _named(result)), result.heading)
        for line in text.settings(result):
            yield f'<p class="soft">{escape(line)}</p>'
    yield from side_by_side(plots) if plots else ()


def _map(result: Result) -> Iterator[str]:
    """Yield a figure of two parameters as a map: a shaded cell for each pair of values."""
    values = [y for line in result.lines for y in line.y]
    low, high = min(values), max(values)
    yield f"<p>{escape(result.heading)}</p>"
    yield f'<p class="soft">{escape("; ".join(text.about(result)))}</p>'
    yield '<div class="scroll"><table><thead><tr>'
    yield from (f"<th>{escape(word)}</th>" for word in text.points(result)[0])
    yield "</tr></thead><tbody>"
    for line in result.lines:
        yield f"<tr><th>{escape(line.name)}</th>"
        for y in line.y:
            share = (y - low) / (high - low) if high > low else 0.0
            shade = f"background:rgba(0,114,178,{0.75 * share:.2f})"
            yield f'<td style="{shade}">{text.value(y, result.metric)}</td>'
        yield "</tr>"
    yield "</tbody></table></div>"


def _claims(results: Sequence[Result]) -> list[list[str]]:
    return [row for row in claims.rows(results) if row[2] != "not tested"]


def _named(result: Result) -> list[list[str]]:
    return [
        [cell.learner, *cells[1:]]
        for cell, cells in zip(result.cells, text.rows(result), strict=True)
    ]


def _plot(result: Result, at: int) -> Figure:
    return plot(
        result.heading,
        "; ".join(text.about(result)),
        {line.name: (line.x, line.y, line.std) for line in result.lines},
        x=result.against,
        y=result.metric,
        percent=result.metric not in ("cost", "seconds"),
        at=at,
    )
