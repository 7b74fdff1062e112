"""The figures of a report, as SVG."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING

from .._atomic import write_atomically
from .canvas import Label, label_above, percent_numbers, plain_numbers, rendered, styled
from .content import Content, LearnerReport, Line, Sweep, money
from .drawings import (
    cheapest_in_words,
    draw_band,
    draw_curves,
    draw_labels,
    draw_prices,
    draw_sweep,
    draw_tradeoff,
)
from .run_figures import of_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure with its caption."""

    title: str
    caption: str
    svg: str

    def _repr_html_(self) -> str:
        # On white, whatever the notebook: its colours are not known here.
        return (
            '<figure style="display:inline-block;width:26rem;max-width:100%;margin:0 1rem 1rem 0;'
            'padding:.5rem;background:#fff;color:#1b1f24;vertical-align:top">'
            f"<figcaption><b>{escape(self.title)}</b><br>{escape(self.caption)}</figcaption>"
            f"{self.svg}</figure>"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing to an SVG file, on white."""
        write_atomically(path, standalone(self.svg).encode())


class Figures(tuple[Figure, ...]):
    """Figures, which a notebook shows."""

    def __repr__(self) -> str:
        return f"<{len(self)} figures: {', '.join(figure.title for figure in self)}>"

    def _repr_html_(self) -> str:
        return "".join(figure._repr_html_() for figure in self)


def standalone(svg: str) -> str:
    """Return a drawing as a file of its own, on white."""
    start = '<svg xmlns="http://www.w3.org/2000/svg" style="background:#fff" '
    font = "<style>text{font-family:system-ui,Arial,sans-serif!important}</style>"
    head, rest = svg.split(">", 1)
    plain = re.sub(r"var\(--\w+,(#\w+)\)", r"\1", rest)
    return head.replace("<svg ", start, 1) + ">" + font + plain + "\n"


def figures(content: Content) -> list[Figure]:
    """Return all figures that have data."""
    found = []
    with styled():
        for at, (title, caption, draw) in enumerate(_all(content)):
            words = f"{title}. {caption}"
            found.append(Figure(title, caption, rendered(draw, len(content.learners), words, at)))
    return found


def plot(
    title: str,
    caption: str,
    lines: Mapping[str, Line],
    *,
    x: str,
    y: str,
    percent: bool = False,
    at: int = 0,
) -> Figure:
    """Return a figure of lines, each with its values, means and deviations.

    Values that are words are drawn side by side. `at` tells the figures of a page apart.
    """
    words = next(
        (list(map(str, xs)) for xs, _, _ in lines.values() if isinstance(xs[0], str)), None
    )

    def draw(axes: Axes) -> list[Label]:
        ends = []
        for k, (name, (xs, means, spreads)) in enumerate(lines.items()):
            places = xs if words is None else [float(words.index(str(v))) for v in xs]
            end = draw_band(axes, k, name, places, means, spreads)
            ends += [end] if end else []
        if words is not None:
            axes.set_xticks(range(len(words)), words)
        else:
            values = {float(v) for xs, _, _ in lines.values() for v in xs}
            if 0 < 100 * min(values) <= max(values):
                axes.set_xscale("log")
            plain_numbers(axes.xaxis)
        axes.set_xlabel(x)
        (percent_numbers if percent else plain_numbers)(axes.yaxis)
        label_above(axes, y)
        return ends

    with styled():
        return Figure(title, caption, rendered(draw, len(lines), f"{title}. {caption}", at))


def _all(content: Content) -> Iterator[tuple[str, str, Callable[[Axes], list[Label]]]]:
    learners = content.learners
    if any(len(x.curve.events) > 1 and not math.isnan(x.curve.sum[-1]) for x in learners):
        even = content.weight == 0.5
        name = "balanced accuracy" if even else "weighted sum"
        what = (
            "Mean of sensitivity and specificity"
            if even
            else f"{content.weight:g} sensitivity + {1 - content.weight:g} specificity"
        )
        yield (
            f"{name.capitalize()} over the stream",
            f"{what} over all events up to each point, each event judged before it was learned."
            f"{content.passes}",
            lambda axes: draw_curves(axes, content, "sum", name, percent=True),
        )
    if any(len(x.curve.events) > 1 for x in learners):
        yield (
            "Cost so far",
            f"Cost of all mistakes up to each point, at {money(content.fn, content.unit)} per miss "
            f"and {money(content.fp, content.unit)} per false alarm.{content.passes}",
            lambda axes: draw_curves(axes, content, "cost", f"cost {content.unit}".strip()),
        )
    whole = [x for x in learners if x.counts.positives and x.counts.negatives]
    if len(whole) > 1:
        spread = any(x.spread for x in whole)
        yield (
            "Sensitivity against specificity",
            "Share of the positives found by share of the negatives let pass; up and to the "
            "right is better." + (" Bars are ± one standard deviation." if spread else ""),
            lambda axes: draw_tradeoff(axes, whole),
        )
    if whole:
        yield (
            "Cost as the price of a miss varies",
            cheapest_in_words(whole),
            lambda axes: draw_prices(axes, whole, content),
        )
    yield from of_runs(content)
    for sweep in content.sweeps:
        yield (
            f"{_capital(content.metric)} against {sweep.parameter}",
            _of_sweep(sweep),
            lambda axes, sweep=sweep: draw_sweep(axes, sweep, content),  # type: ignore[misc]
        )
    if any(_saves_labels(x) for x in learners):
        yield (
            "Labels used",
            "Labels queried up to each point; the grey line is every label.",
            lambda axes: draw_labels(axes, content),
        )


def _of_sweep(sweep: Sweep) -> str:
    several = any(any(spreads) for _, _, spreads in sweep.lines.values())
    text = "Mean over the runs at each value tried" if several else "At each value tried"
    text += ", with the best of the other parameters" if sweep.others else ""
    return text + ("; bands are ± one standard deviation." if several else ".")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _saves_labels(learner: LearnerReport) -> bool:
    curve = learner.curve
    return len(curve.events) > 1 and curve.queries[-1] < curve.events[-1]
