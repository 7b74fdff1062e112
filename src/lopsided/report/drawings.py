"""The drawings of a report, one function each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..metrics import Counts
from .canvas import COLOURS, FONT_SIZE, SOFT, Label, label_above, percent_numbers, plain_numbers
from .content import PRICES, Content, LearnerReport, Sweep, cheapest, trivial

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The numbers of markers and dashes differ from that of colours, so lines of the same colour differ
# in both.
_MARKERS = "osD^vPX*"
_DASHES = ("-", "--", "-.", ":")


def style(at: int) -> dict[str, Any]:
    """Return the look of a line."""
    return {
        "color": COLOURS[at % len(COLOURS)],
        "marker": _MARKERS[at % len(_MARKERS)],
        "linestyle": _DASHES[at % len(_DASHES)],
    }


def _line(axes: Axes, at: int, name: str, xs: Sequence[float], ys: Sequence[float]) -> Label | None:
    """Draw a line with a few markers; return the position of its label."""
    marks = sorted({round(k) for k in np.linspace(0, len(xs) - 1, 6)})
    axes.plot(xs, ys, **style(at), markevery=marks, clip_on=False)
    if not ys or math.isnan(ys[-1]):
        return None
    return Label(xs[-1], ys[-1], name, style(at)["color"])


def draw_curves(
    axes: Axes, content: Content, what: str, label: str, percent: bool = False
) -> list[Label]:
    """Draw a measure along the stream."""
    ends = [
        _line(axes, at, x.name, x.curve.events, getattr(x.curve, what))
        for at, x in enumerate(content.learners)
        if x.curve.events
    ]
    axes.set_xlabel("events")
    label_above(axes, label)
    plain_numbers(axes.xaxis)
    if percent:
        percent_numbers(axes.yaxis)
    else:
        plain_numbers(axes.yaxis)
        axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    return [end for end in ends if end]


def draw_tradeoff(axes: Axes, learners: Sequence[LearnerReport]) -> list[Label]:
    """Draw sensitivity by specificity."""
    ends = []
    for at, x in enumerate(learners):
        look = {**style(at), "linestyle": "none"}
        xs, ys = x.counts.specificity, x.counts.sensitivity
        axes.errorbar(
            xs,
            ys,
            xerr=x.spread.get("specificity"),
            yerr=x.spread.get("sensitivity"),
            markersize=8,
            capsize=3,
            elinewidth=1.2,
            **look,
        )
        ends.append(Label(xs, ys, x.name, look["color"]))
    axes.set_xlabel("specificity")
    label_above(axes, "sensitivity")
    axes.margins(0.12)
    percent_numbers(axes.xaxis)
    percent_numbers(axes.yaxis)
    return ends


def draw_prices(axes: Axes, learners: Sequence[LearnerReport], content: Content) -> list[Label]:
    """Draw the cost by the price of a miss."""
    prices = np.geomspace(*PRICES, 61)
    ends = []
    for name, counts in trivial(learners[0].counts).items():
        costs = _per_thousand(counts, prices)
        axes.plot(prices, costs, color=SOFT, linewidth=1, linestyle=(0, (1, 2)))
        ends.append(Label(prices[-1], costs[-1], name, SOFT))
    for at, x in enumerate(learners):
        end = _line(axes, at, x.name, prices.tolist(), _per_thousand(x.counts, prices))
        ends += [end] if end else []
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*PRICES)
    axes.set_xlabel("price of a miss, in false alarms")
    label_above(axes, "cost per 1,000 events, in false alarms")
    plain_numbers(axes.xaxis)
    plain_numbers(axes.yaxis)
    if content.fp and PRICES[0] < content.fn / content.fp < PRICES[1]:
        axes.axvline(content.fn / content.fp, color=SOFT, linewidth=1)
        axes.text(
            content.fn / content.fp * 1.08,
            0.02,
            "price given",
            transform=axes.get_xaxis_transform(),
            color=SOFT,
            size=0.9 * FONT_SIZE,
        )
    return ends


def _per_thousand(counts: Counts, prices: Any) -> list[float]:
    costs = [counts.cost_per_thousand(price, 1) for price in prices]
    # A cost of 0 cannot be shown on a logarithmic axis.
    return [cost or math.nan for cost in costs]


def cheapest_in_words(learners: Sequence[LearnerReport]) -> str:
    """Say which learner is cheapest at which prices."""
    lines = {x.name: x.counts for x in learners}
    steps = cheapest({**lines, **trivial(learners[0].counts)})
    if len(steps) == 1:
        return (
            "With the mistakes that were made, whatever a miss costs from 1 to 1,000 false alarms, "
            f"{steps[0][0]} is cheapest."
        )
    *first, last = steps
    until = ", ".join(f"{name} up to {price:,.3g}" for name, price in first)
    return (
        "Cheapest with the mistakes that were made, by the price of a miss in false alarms: "
        f"{until}, {last[0]} above."
    )


def draw_sweep(axes: Axes, sweep: Sweep, content: Content) -> list[Label]:
    """Draw the metric by a parameter."""
    ends = []
    names = [x.name for x in content.learners]
    for name, line in sweep.lines.items():
        end = draw_band(axes, names.index(name) if name in names else len(names), name, *line)
        ends += [end] if end else []
    if min(value for xs, _, _ in sweep.lines.values() for value in xs) > 0:
        axes.set_xscale("log")
    plain_numbers(axes.xaxis)
    axes.set_xlabel(sweep.parameter)
    (percent_numbers if content.percent else plain_numbers)(axes.yaxis)
    label_above(axes, content.metric)
    return ends


def draw_band(
    axes: Axes,
    at: int,
    name: str,
    xs: Sequence[float],
    means: Sequence[float],
    spreads: Sequence[float],
) -> Label | None:
    """Draw a line with its deviations around it."""
    low = [m - s for m, s in zip(means, spreads, strict=True)]
    high = [m + s for m, s in zip(means, spreads, strict=True)]
    axes.fill_between(xs, low, high, color=style(at)["color"], alpha=0.15, linewidth=0)
    return _line(axes, at, name, xs, means)


def draw_labels(axes: Axes, content: Content) -> list[Label]:
    """Draw the number of queried labels along the stream."""
    last = max(x.curve.events[-1] for x in content.learners if x.curve.events)
    axes.plot([0, last], [0, last], color=SOFT, linewidth=1, linestyle=(0, (1, 2)))
    ends = draw_curves(axes, content, "queries", "labels used")
    return [*ends, Label(last, last, "every label", SOFT)]
