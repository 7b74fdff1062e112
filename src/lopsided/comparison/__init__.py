"""Learners side by side: grids, permutations or folds, tests of significance."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal

from numpy.typing import ArrayLike

from .._notebook import notebook_bar
from .one_run import Run
from .plan import Plan, make_plan
from .result import Comparison, Row
from .run import Results, run_plan
from .summary import summarize


def compare(
    learners: Any,
    X: Any,
    y: ArrayLike,
    *,
    grid: Any = None,
    permutations: Any = None,
    folds: Any = None,
    held_out: tuple[Any, ...] | None = None,
    metric: str = "sum",
    alpha: float = 0.5,
    fn: float = 0.9,
    fp: float = 0.1,
    select: Literal["honest", "best"] = "honest",
    inner: int | None = None,
    search: Literal["all", "coarse"] = "all",
    sample_weight: ArrayLike | None = None,
    seed: int = 0,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | Literal[False] | None = None,
    resume: str | os.PathLike[str] | None = None,
    points: int = 15,
    order: Literal["random", "time"] = "random",
    known_counts: bool | None = None,
    positive: Any = None,
    delay: Any = None,
    time: ArrayLike | None = None,
    label_time: ArrayLike | None = None,
    refit_every: int | None = None,
) -> Comparison:
    """Run learners with every point of their grids on the same splits and rank them.

    Parameters
    ----------
    learners : sequence of names or estimators, or dict of name to either
        An estimator keeps its own parameters. Classifiers of scikit-learn are taken too: one with
        `partial_fit` learns in one pass by chunks of at most 100 rows, each scored before any of
        it is learned from; one with `fit` only is fitted once per split, for `folds` and
        `held_out`, or again and again with `refit_every`. Their scores are `decision_function`, or
        `predict_proba` of the positive class less 0.5. Give them a `random_state`. Classifiers of
        river, and objects with `learn_one` and `score_one`, learn row by row, in Python.
    X, y, sample_weight : as for fit
        The rows.
    grid : dict or "paper", optional
        A dict of parameter to values, used by every learner that has the parameter; {} for no
        grid; or a dict of learner to such a dict. Default: the grids of the catalog, and no grid
        for an estimator. "paper": the same, but learners that query labels get all the values of
        their papers, up to 1331 points.
    permutations : int or array of orders, optional
        Progressive passes over this many random permutations, or over these. Default: 20.
    folds : int or array of int, optional
        Hold out one fold after the other and learn from the rest in one pass: this many random
        folds, or the fold of each row, optionally with one column per repeat.
    held_out : tuple (X, y) or (X, y, sample_weight), optional
        Learn from each permutation and report on these rows.
    metric : str
        What decides: "sum", "cost", "sensitivity", "specificity", "accuracy", "precision", "f1",
        "mcc", "auc", "average_precision", "cost_per_thousand" or, for the k highest scores,
        "precision_at_k" with a number for k.
    alpha : float
        The weight of sensitivity in the sum.
    fn, fp : float
        The cost of a missed positive and of a false alarm.
    select : {"honest", "best"}
        How a grid point is chosen. "honest": by data that is not part of the reported run, that is
        the other permutations, the training rows before the held-out ones, or the first third of a
        stream in time. All permutations contain the same rows; if the choice must not have seen
        the reported rows at all, use folds, held_out or order="time". "best": by the reported runs
        themselves, as papers do.
    inner : int, optional
        With folds: choose by this many folds inside the training rows, by the mean of the metric
        on each after a pass over the others; 0 chooses by the pass over all training rows.
        Default: 5.
    search : {"all", "coarse"}
        "coarse": for long lists of values try every fourth, then the neighbours of the best, two
        steps and one step away, separately for each run; for folds, held_out or order="time".
    seed : int
        Seed of permutations and folds, including inner ones. A randomized learner uses its own
        seed (random_state), plus k in the k-th permutation, counted from 0.
    jobs : int, optional
        Number of threads; it does not change the result. Default: LOPSIDED_THREADS, or the number
        of cores.
    progress : callable or False, optional
        Called with the number of finished runs and of all runs. Default: a bar in notebooks, which
        False leaves out.
    resume : path, optional
        A journal: finished runs are appended to it, and runs that are in it are not run again.
    points : int
        Approximate number of points to keep of a curve.
    order : {"random", "time"}
        "time": one run over the rows in their order, or before held-out rows.
    known_counts : bool, optional
        Whether class_weight="balanced" knows the class counts in advance, as the papers assume, or
        estimates them during the pass. Default: it knows them, except with order="time".
    positive : label, optional
        The positive label, for all learners. Default: that of the learners, or the larger of the
        two.
    delay : int, float, ("geometric", mean) or array, optional
        How many further events are met before a label comes, as for `progressive`. Default: labels
        come at once.
    time, label_time : array, optional
        Instead of a delay: when each row happened and when its label was known; for order="time"
        and folds.
    refit_every : int, optional
        Fit classifiers that have only `fit` to all labels known whenever this many more are.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np, lopsided
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 5))
    >>> y = X[:, 0] + 0.3 * rng.normal(size=500) > 1.5
    >>> result = lopsided.compare(["Perceptron", "COG-II"], X, y, permutations=4)
    >>> result.best.name, round(result.best.mean["metric"], 3)
    ('COG-II', 0.757)
    """
    plan = make_plan(
        learners,
        X,
        y,
        grid=grid,
        permutations=permutations,
        folds=folds,
        held_out=held_out,
        metric=metric,
        alpha=alpha,
        fn=fn,
        fp=fp,
        select=select,
        inner=inner,
        search=search,
        sample_weight=sample_weight,
        seed=seed,
        points=points,
        order=order,
        known_counts=known_counts,
        positive=positive,
        delay=delay,
        time=time,
        label_time=label_time,
        refit_every=refit_every,
    )
    told = notebook_bar("runs") if progress is None else progress or None
    return summarize(run_plan(plan, jobs=jobs, progress=told, resume=resume))


__all__ = [
    "Comparison",
    "Plan",
    "Results",
    "Row",
    "Run",
    "compare",
    "make_plan",
    "run_plan",
    "summarize",
]
