"""All reproduced tables and figures on one HTML page."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Iterator, Sequence
from html import escape

from ..data.sets import registry
from ..report.figures import Figure, plot, standalone
from ..report.page import document, side_by_side
from . import text
from .entries import find
from .html_tables import as_printed, claim_rows, commands, two_parameters
from .kept import Kept
from .results import Result

_NOTE = (
    "Each cell: as published, ours with parameters chosen as in the paper, the verdict and the "
    "difference in combined standard errors; up to 3 agrees. Nearest: at the grid point whose "
    "figures are closest to the printed ones."
)


def page(
    results: Sequence[Result],
    *,
    command: Sequence[str] = (),
    with_claims: bool = False,
    kept: Sequence[Kept] = (),
) -> str:
    """Return an HTML page: a single file without scripts or external resources.

    Parameters
    ----------
    results : sequence of Result
        The tables and figures.
    command : sequence of str
        What was typed.
    with_claims : bool
        Begin with what the papers claim.
    kept : sequence of Kept
        Where results were kept: the commands that made them.
    """
    from .. import __version__

    parts: list[str] = []
    if with_claims:
        parts += ["<section><h2>What the papers claim</h2>", *claim_rows(results), "</section>"]
    for paper, citation in registry.papers().items():
        own = [result for result in results if result.paper == paper]
        if own:
            parts += [f"<section><h2>{escape(citation)}</h2>", *_parts(own), "</section>"]
    parts += [
        "<section><h2>What was run</h2>",
        f"<pre><code>{escape(shlex.join(command))}</code></pre>" if command else "",
        *commands(kept),
        f'<p class="soft">lopsided {__version__}, {datetime.date.today()}. {_NOTE}</p>',
        "</section>",
    ]
    sentence = text.summary(results) or f"{len(results)} figures"
    return document("Reproduction of the papers", sentence, parts)


def _parts(results: Sequence[Result]) -> Iterator[str]:
    name = ""
    drawn: list[Figure] = []
    for at, result in enumerate(results):
        if result.experiment != name:
            yield from side_by_side(drawn) if drawn else ()
            name, drawn = result.experiment, []
            yield f"<h3>{escape(name)}: {escape(result.title)}</h3>"
        if plot_name(result):
            drawn.append(_plot(result, at))
            continue
        yield f'<p class="title">{escape(result.heading)}</p>'
        yield f'<p class="soft">{escape("; ".join(text.about(result)))}</p>'
        if result.lines:
            yield from two_parameters(result)
        if result.cells:
            yield from as_printed(result)
        if chosen := "; ".join(text.settings(result)):
            yield f'<p class="soft">{escape(chosen)}</p>'
    yield from side_by_side(drawn) if drawn else ()


def plots(results: Sequence[Result]) -> dict[str, str]:
    """Return the figures of results as SVG, by the name of their file."""
    drawn = [result for result in results if plot_name(result)]
    return {plot_name(result): standalone(_plot(result, 0).svg) for result in drawn}


def plot_name(result: Result) -> str:
    """Return the name of the file with a figure, or nothing if the result is no plot of lines."""
    if not result.lines or find(result.experiment).lines:
        return ""
    return f"{result.experiment}.{result.set.replace('/', '-')}.svg"


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
