"""Drawings of scores and probabilities: thresholds, reliability, periods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..evaluation.changes import Change
from ..evaluation.periods import Period, Periods
from ..evaluation.reliability import Part
from ..metrics import Levels
from .canvas import COLOURS, FONT_SIZE, SOFT, Label, label_above, percent_numbers, plain_numbers
from .content import Content, LearnerReport
from .drawings import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 240  # points of a line
_PARTS = 12  # of a reliability diagram
Floats = NDArray[np.float64]


def thinned(xs: Floats, ys: Floats) -> tuple[Floats, Floats]:
    """Return points of a line, evenly spaced along it, if there are more than can be seen."""
    if len(xs) <= _MOST:
        return xs, ys
    wide, high = (float(np.ptp(part)) or 1.0 for part in (xs, ys))
    way = np.r_[0.0, np.cumsum(np.hypot(np.diff(xs) / wide, np.diff(ys) / high))]
    at = np.unique(np.searchsorted(way, np.linspace(0, way[-1], _MOST)).clip(0, len(xs) - 1))
    return xs[at], ys[at]


def draw_precision_recall(axes: Axes, learners: Sequence[LearnerReport]) -> list[Label]:
    """Draw the precision by the recall, at every threshold."""

    def line(levels: Levels) -> tuple[Floats, Floats]:
        right, false = (part[::-1] for part in levels.alarms)
        with np.errstate(invalid="ignore"):
            return right / levels.positives.sum(), right / (right + false)

    axes.set_xlabel("recall: share of the positives found")
    label_above(axes, "precision: share of the alarms that are right")
    return _at_thresholds(axes, learners, line, lambda c: (c.sensitivity, c.precision))


def draw_roc(axes: Axes, learners: Sequence[LearnerReport]) -> list[Label]:
    """Draw the share of positives found by the share of negatives flagged."""

    def line(levels: Levels) -> tuple[Floats, Floats]:
        right, false = (np.r_[0.0, part[::-1]] for part in levels.alarms)
        return false / levels.negatives.sum(), right / levels.positives.sum()

    axes.plot([0, 1], [0, 1], color=SOFT, linewidth=1, linestyle=(0, (1, 2)))
    axes.set_xlabel("share of the negatives flagged")
    label_above(axes, "share of the positives found")
    return _at_thresholds(axes, learners, line, lambda c: (1 - c.specificity, c.sensitivity))


def _at_thresholds(
    axes: Axes, learners: Sequence[LearnerReport], line: Any, decided: Any
) -> list[Label]:
    ends = []
    for at, x in enumerate(learners):
        if x.levels is None:
            continue
        xs, ys = thinned(*line(x.levels))
        colour = style(at)["color"]
        axes.plot(xs, ys, color=colour, linestyle=style(at)["linestyle"], clip_on=False)
        point = decided(x.counts)
        if not any(map(math.isnan, point)):
            look = {**style(at), "linestyle": "none", "markersize": 8}
            axes.plot(*point, **look, clip_on=False, zorder=5)
        middle = len(xs) // 2
        ends.append(Label(float(xs[middle]), float(ys[middle]), x.name, colour))
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    percent_numbers(axes.xaxis)
    percent_numbers(axes.yaxis)
    if len(ends) == 1:
        return []  # one line needs no name
    return ends


def draw_thresholds(axes: Axes, learner: LearnerReport, content: Content) -> list[Label]:
    """Draw what the mistakes would have cost at each threshold."""
    levels = learner.levels
    assert levels is not None
    xs, cost = levels.scores, levels.cost(content.fn, content.fp)
    flagged = sum(levels.alarms) / (levels.positives.sum() + levels.negatives.sum())
    best = int(np.argmin(cost))
    # From what flags a tenth of a thousandth to what flags nearly all, the best in any case.
    shown = (flagged > 1e-4) & (flagged < 0.999) | (np.arange(len(xs)) == best)
    axes.plot(*thinned(xs[shown], cost[shown]), color=COLOURS[0])
    paid = learner.counts.cost(content.fn, content.fp)
    axes.axhline(paid, color=COLOURS[1], linewidth=1.2, linestyle="--")
    axes.plot([xs[best]], [cost[best]], color=COLOURS[0], marker="o", markersize=8)
    axes.set_ylim(bottom=0, top=1.05 * max(paid, float(np.quantile(cost[shown], 0.9))))
    axes.set_xlabel("threshold: the lowest score that raises an alarm")
    label_above(axes, f"cost {content.unit}".strip())
    plain_numbers(axes.xaxis)
    plain_numbers(axes.yaxis)
    right = float(axes.get_xlim()[1])
    return [
        Label(right, paid, "as decided", COLOURS[1]),
        Label(float(xs[best]), float(cost[best]), "cheapest", COLOURS[0]),
    ]


def interval(part: Part) -> tuple[float, float]:
    """Return Wilson's 95 % interval of the share of positives."""
    z, n, p = 1.96, part.weight, part.share
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def draw_reliability(axes: Axes, learners: Sequence[LearnerReport]) -> list[Label]:
    """Draw the share of positives by the probability, on logarithmic axes if they are rare."""
    every = [p for x in learners if x.reliability for p in x.reliability.parts(_PARTS)]
    least = min(1.0, *(p.probability for p in every if p.probability > 0))
    rare = least < 0.02
    floor = max(1e-6, least / 3)
    ends = []
    axes.plot([floor, 1], [floor, 1], color=SOFT, linewidth=1, linestyle=(0, (1, 2)))
    for at, x in enumerate(learners):
        if x.reliability is None:
            continue
        parts = x.reliability.parts(_PARTS)
        xs = [max(p.probability, floor) for p in parts]
        ys = [max(p.share, floor) if rare else p.share for p in parts]
        spans = [interval(p) for p in parts]
        low = [
            max(0.0, y - max(a, floor if rare else 0)) for y, (a, _) in zip(ys, spans, strict=True)
        ]
        high = [max(0.0, b - y) for y, (_, b) in zip(ys, spans, strict=True)]
        look = {**style(at), "linestyle": "-"}
        axes.errorbar(xs, ys, yerr=[low, high], **look, elinewidth=1, capsize=2)
        ends.append(Label(xs[-1], ys[-1], x.name, look["color"]))
    if rare:
        axes.set_xscale("log")
        axes.set_yscale("log")
    axes.set_xlabel("probability, before the label was known")
    label_above(axes, "share of positives")
    for axis in (axes.xaxis, axes.yaxis):
        percent_numbers(axis, logarithmic=rare)
    return ends if len(ends) > 1 else []


def draw_period_quality(axes: Axes, periods: Periods, changes: Sequence[Change]) -> list[Label]:
    """Draw AUC, average precision and recall of each period."""
    xs = _ends_of(periods)
    ends = []
    measures = (
        ("AUC", [p.auc for p in periods]),
        ("avg. precision", [p.average_precision for p in periods]),
        ("recall", [p.sensitivity for p in periods]),
    )
    for at, (name, ys) in enumerate(measures):
        axes.plot(xs, ys, **style(at), clip_on=False, markersize=4)
        known = [k for k, y in enumerate(ys) if not math.isnan(y)]
        if known:
            ends.append(Label(xs[known[-1]], ys[known[-1]], name, style(at)["color"]))
    axes.set_ylim(0, 1)
    percent_numbers(axes.yaxis)
    label_above(axes, "within the period")
    _over_events(axes, periods)
    mark_changes(axes, changes)
    return ends


def draw_period_cost(
    axes: Axes, periods: Periods, changes: Sequence[Change], unit: str
) -> list[Label]:
    """Draw what each period cost."""
    last = _ends_of(periods)
    first = [0.0, *last[:-1]]
    wide = [b - a for a, b in zip(first, last, strict=True)]
    costs = [periods.paid(p) for p in periods]
    middle = [a + w / 2 for a, w in zip(first, wide, strict=True)]
    axes.bar(middle, costs, width=[0.86 * w for w in wide], color=COLOURS[0], linewidth=0)
    label_above(axes, f"cost {unit}".strip())
    plain_numbers(axes.yaxis)
    _over_events(axes, periods)
    mark_changes(axes, changes)
    return []


def _ends_of(periods: Sequence[Period]) -> list[float]:
    return [float(end) for end in np.cumsum([p.events for p in periods])]


def _over_events(axes: Axes, periods: Sequence[Period]) -> None:
    axes.set_xlim(0, _ends_of(periods)[-1])
    axes.set_xlabel("events")
    plain_numbers(axes.xaxis)


def mark_changes(axes: Axes, changes: Sequence[Change]) -> None:
    """Mark where the stream changed."""
    for at, change in enumerate(changes):
        axes.axvline(change.event, color=COLOURS[1], linewidth=1.2, linestyle=(0, (4, 2)))
        axes.annotate(
            str(at + 1),
            (change.event, 1),
            xycoords=axes.get_xaxis_transform(),
            xytext=(3, -2),
            textcoords="offset points",
            va="top",
            size=0.85 * FONT_SIZE,
            color=COLOURS[1],
        )
