"""What came of the runs of a comparison: the choice of parameters, a row a learner, curves."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics import Counts
from .grids import Learner
from .measures import Prices
from .runs import Run, best_of
from .statistics import paired_t, wilcoxon

LEVEL = 0.05  # of the tests


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One learner over all runs, with the parameters chosen for each.

    Attributes
    ----------
    name : str
        The learner.
    parameters : dict
        What was chosen from the grid, most often if it varies.
    varies : bool
        Whether the choice was not the same for all runs.
    chosen : tuple of dict
        The choice for each run.
    mean, std : dict
        Mean and sample standard deviation of metric, sensitivity, specificity, sum, cost, updates,
        queries, seconds and, of learners with weights, nnz and sparsity.
    best : bool
        Whether it has the best mean of the metric.
    t_test, wilcoxon : float
        p-values of the paired tests against the best; NaN for the best itself.
    worse : bool
        Whether it is worse than the best by the t-test at 95 %.
    wins, ties, losses : int
        Other learners that it is better than, as good as and worse than by that test.
    """

    name: str
    parameters: dict[str, Any]
    varies: bool
    chosen: tuple[dict[str, Any], ...]
    mean: dict[str, float]
    std: dict[str, float]
    best: bool
    t_test: float
    wilcoxon: float
    worse: bool
    wins: int
    ties: int
    losses: int


def chosen_runs(learner: Learner, sweep: list[Run], rule: str, larger: bool) -> list[Run]:
    """Return for each split the run with the chosen parameters."""
    mine = [run for run in sweep if run.learner == learner.name]
    size = 1 + max(run.split for run in mine)
    if rule not in ("none", "best", "permutations"):  # every split has a choice of its own
        return [best_of([run for run in mine if run.split == at], larger) for at in range(size)]
    by_point = [mine[k * size : (k + 1) * size] for k in range(len(learner.points))]
    values = np.array(
        [[r.value if rule == "best" else r.choice for r in part] for part in by_point]
    )
    values = np.where(np.isnan(values), -np.inf, values if larger else -values)
    chosen = []
    for at in range(size):
        if rule == "none":
            scores = values[:, 0]
        elif rule == "best":
            scores = values.mean(axis=1)
        else:
            scores = np.delete(values, at, axis=1).mean(axis=1)
        chosen.append(by_point[int(np.argmax(scores))][at])
    return chosen


def rows_of(runs: dict[str, list[Run]], larger: bool, prices: Prices) -> list[Row]:
    """Return what the table says of each learner."""
    values = {name: np.array([run.value for run in mine]) for name, mine in runs.items()}
    sign = 1.0 if larger else -1.0
    means = {name: sign * v.mean() for name, v in values.items()}
    best = max(means, key=lambda name: -math.inf if math.isnan(means[name]) else means[name])

    def verdict(a: str, b: str) -> int:
        if not paired_t(values[a], values[b]) < LEVEL:
            return 0
        return 1 if means[a] > means[b] else -1

    rows = []
    for name, mine in runs.items():
        verdicts = Counter(verdict(name, other) for other in runs if other != name)
        choices = Counter(run.point for run in mine)
        usual = choices.most_common(1)[0][0]
        figures = [run.figures(prices) for run in mine]
        columns = {key: np.array([f[key] for f in figures]) for key in figures[0]}
        is_best = name == best
        rows.append(
            Row(
                name=name,
                parameters=next(run.parameters for run in mine if run.point == usual),
                varies=len(choices) > 1,
                chosen=tuple(run.parameters for run in mine),
                mean={key: float(v.mean()) for key, v in columns.items()},
                std={key: std(v) for key, v in columns.items()},
                best=is_best,
                t_test=math.nan if is_best else paired_t(values[name], values[best]),
                wilcoxon=math.nan if is_best else wilcoxon(values[name], values[best]),
                worse=verdict(name, best) < 0,
                wins=verdicts[1],
                ties=verdicts[0],
                losses=verdicts[-1],
            )
        )
    return rows


def std(values: NDArray[np.float64]) -> float:
    """Return the standard deviation of a sample; NaN for one value."""
    return float(values.std(ddof=1)) if len(values) > 1 else math.nan


def mean_curve(runs: list[Run], prices: Prices) -> dict[str, list[float]]:
    """Return the mean course; runs that differ by a point are cut to the shortest."""
    size = min(len(run.curve) for run in runs)
    points = [[run.curve[k] for run in runs] for k in range(size)]
    figures: dict[str, Callable[[Counts], float]] = {
        "events": lambda c: c.events,
        "sensitivity": lambda c: c.sensitivity,
        "specificity": lambda c: c.specificity,
        "sum": lambda c: c.sum(prices.alpha, unseen=math.nan),
        "cost": lambda c: c.cost(prices.fn, prices.fp),
        "queries": lambda c: c.queries,
    }
    return {
        name: [_mean_of_known([of(counts) for counts in point]) for point in points]
        for name, of in figures.items()
    }


def _mean_of_known(values: list[float]) -> float:
    """Return the mean of those runs that have met both classes by then."""
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan
