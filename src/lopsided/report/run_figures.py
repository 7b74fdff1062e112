"""Which figures show scores and probabilities of runs, and what is said about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from .._text import percent
from .canvas import Label
from .content import Content, LearnerReport, money
from .run_drawings import (
    draw_period_cost,
    draw_period_quality,
    draw_precision_recall,
    draw_reliability,
    draw_roc,
    draw_thresholds,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Item = tuple[str, str, "Callable[[Axes], list[Label]]"]


def of_runs(content: Content) -> Iterator[Item]:
    """Yield title, caption and drawing of all figures that have data."""
    learners = content.learners
    ranked = [x for x in learners if x.levels is not None]
    if ranked:
        dots = "The dot is what was decided." if len(ranked) == 1 else "Dots are what was decided."
        yield (
            "Precision and recall",
            f"At every threshold; average precision {_each(ranked, _average)}. {dots}",
            lambda axes: draw_precision_recall(axes, learners),
        )
        yield (
            "ROC",
            f"At every threshold; AUC {_each(ranked, _auc)}. {dots}",
            lambda axes: draw_roc(axes, learners),
        )
    if len(ranked) == 1 and not content.own_prices:
        yield (
            "Cost against threshold",
            _of_thresholds(ranked[0], content),
            lambda axes: draw_thresholds(axes, ranked[0], content),
        )
    said = [x for x in learners if x.reliability is not None and x.reliability.parts()]
    if said:
        losses = _each(said, lambda x: f"{x.reliability.log_loss:.4g}" if x.reliability else "")
        errors = _each(said, lambda x: percent(x.reliability.error) if x.reliability else "")
        yield (
            "Reliability of probabilities",
            "Share of positives among events of about the same probability, with "
            "95\N{NO-BREAK SPACE}% intervals; on the dotted line both agree. "
            f"Log loss {losses}, calibration error {errors}.",
            lambda axes: draw_reliability(axes, said),
        )
    if len(learners) == 1 and len(learners[0].periods) > 1:
        yield from _of_periods(learners[0], content.unit)


def _of_periods(learner: LearnerReport, unit: str) -> Iterator[Item]:
    periods, changes = learner.periods, learner.changes
    marks = " Dashed lines are changes, in the order listed." if changes else ""
    yield (
        "Quality by period",
        f"Of the events of each period among each other, at its end.{marks}",
        lambda axes: draw_period_quality(axes, periods, changes),
    )
    yield (
        "Cost by period",
        f"What the mistakes of each period cost.{marks}",
        lambda axes: draw_period_cost(axes, periods, changes, unit),
    )


def _of_thresholds(learner: LearnerReport, content: Content) -> str:
    levels = learner.levels
    assert levels is not None
    cost = levels.cost(content.fn, content.fp)
    best = int(np.argmin(cost))
    paid = learner.counts.cost(content.fn, content.fp)
    text = (
        f"If one threshold had decided all along: cheapest at {levels.scores[best]:.3g}, "
        f"{money(float(cost[best]), content.unit)}. The decisions cost {money(paid, content.unit)}"
    )
    return text + " (dashed); they were made on the way, without knowing what was to come."


def _each(learners: list[LearnerReport], figure: Callable[[LearnerReport], str]) -> str:
    if len(learners) == 1:
        return figure(learners[0])
    return ", ".join(f"{figure(x)} ({x.name})" for x in learners)


def _average(learner: LearnerReport) -> str:
    assert learner.levels is not None
    return percent(learner.levels.average_precision, 1)


def _auc(learner: LearnerReport) -> str:
    assert learner.levels is not None
    return percent(learner.levels.auc, 1)
