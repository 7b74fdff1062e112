"""Summary of the runs of a comparison: choice of parameters, a row per learner, mean curves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from ..metrics import Counts
from .grids import Learner
from .measures import Prices
from .one_run import Run, best_run
from .plan import Plan
from .result import Comparison, Row
from .run import Results
from .statistics import paired_t, std, wilcoxon

LEVEL = 0.05  # of the tests

_SELECTION = {
    "permutations": "parameters were chosen on other permutations than the one reported",
    "folds": "parameters were chosen inside the training part of each fold, by the pass over it",
    "inner": "parameters were chosen by {} folds inside the training part of each fold",
    "held out": "parameters were chosen on the training rows; the held-out rows had no part in it",
    "time": "parameters were chosen on the first third of the stream; the figures are of the rest",
    "best": "parameters are the best of the grid on the very runs reported, as in the papers: "
    "the figures are optimistic",
    "none": "no parameters were chosen: every learner has one setting",
}


def summarize(results: Results) -> Comparison:
    """Choose parameters, test the learners against each other and average their curves."""
    plan = results.plan
    larger, prices = plan.larger_is_better, plan.prices
    runs = {one.name: chosen_runs(one, results.runs, plan.rule, larger) for one in plan.learners}
    return Comparison(
        rows=rows_of(runs, larger, prices),
        runs=[run for own in runs.values() for run in own],
        sweep=results.runs,
        curves={name: mean_curve(own, prices) for name, own in runs.items()},
        metric=plan.metric,
        larger_is_better=larger,
        alpha=prices.alpha,
        fn=prices.fn,
        fp=prices.fp,
        select=plan.select,
        selection=_SELECTION[plan.rule].format(plan.inner),
        about=_about(plan),
    )


def _about(plan: Plan) -> dict[str, object]:
    data = plan.data
    return {
        "rows": len(data.y),
        "features": None if isinstance(data.X, list) else data.X.rows.columns,
        "positives": int(np.count_nonzero(data.codes > 0)),
        "negatives": int(np.count_nonzero(data.codes < 0)),
        "splits": plan.splits.words,
        "kind": plan.splits.kind,
        "inner": plan.inner,
        "search": plan.search,
        "seed": plan.seed,
        "known_counts": plan.known_counts,
    }


def chosen_runs(learner: Learner, runs: list[Run], rule: str, larger: bool) -> list[Run]:
    """Return for each split the run with the chosen parameters; `rule` is that of a plan."""
    mine = [run for run in runs if run.learner == learner.name]
    size = 1 + max(run.split for run in mine)
    if rule not in ("none", "best", "permutations"):  # each split chooses for itself
        return [best_run([run for run in mine if run.split == at], larger) for at in range(size)]
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
    """Return one row per learner, each tested against the others."""
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
        keys = dict.fromkeys(key for f in figures for key in f)  # a failed run has no weights
        columns = {key: np.array([f.get(key, math.nan) for f in figures]) for key in keys}
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


def mean_curve(runs: list[Run], prices: Prices) -> dict[str, list[float]]:
    """Return the mean curve; curves that differ by a point are cut to the shortest."""
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
    """Return the mean of the runs that have seen both classes by then."""
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan
