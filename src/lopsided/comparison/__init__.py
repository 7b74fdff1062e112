"""Learners side by side: grids, permutations or folds, tests of significance."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._atomic import write_whole
from .._json import plain
from ..estimator.labels import Labels
from ..estimator.parameters import nearest
from . import tables
from .grids import Learner, learners_of
from .journal import Journal
from .measures import Prices, measure
from .runs import Job, Run, data_of
from .schedule import facts_of, run_all
from .splits import Splits, check_classes, folded, in_time, permuted
from .summary import Row, chosen_runs, mean_curve, rows_of, std

ENDINGS = {".txt": "text", ".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown"}

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


@dataclasses.dataclass(kw_only=True)
class Comparison:
    """What came of a comparison.

    Attributes
    ----------
    rows : list of Row
        One a learner, in the order given.
    runs : list of Run
        The runs reported: for each learner and split the one with the chosen parameters.
    sweep : list of Run
        All runs: every learner, point of its grid and split.
    curves : dict
        Of each learner the mean course of the runs reported: lists "events", "sensitivity",
        "specificity", "sum", "cost" and "queries".
    metric, alpha, fn, fp, select : as given to compare
    larger_is_better : bool
        Which way the metric goes.
    selection : str
        How parameters were chosen, in words.
    about : dict
        The data and the setting: rows, features, positives, negatives, splits, kind, inner, search,
        seed, known_counts.
    """

    rows: list[Row]
    runs: list[Run]
    sweep: list[Run]
    curves: dict[str, dict[str, list[float]]]
    metric: str
    larger_is_better: bool
    alpha: float
    fn: float
    fp: float
    select: str
    selection: str
    about: dict[str, Any]

    @property
    def best(self) -> Row:
        """The learner with the best mean."""
        return next(row for row in self.rows if row.best)

    def table(self, format: str = "text") -> str:  # noqa: A002
        """Return the learners as a table: "text", "csv", "json", "latex" or "markdown"."""
        return tables.table(self, format)

    def sweep_table(self, parameter: str) -> list[dict[str, Any]]:
        """Return the metric against a parameter: of each learner that has it in its grid, every
        point with the mean and standard deviation of the metric over all runs, the seconds and,
        of learners with weights, how many are not 0 (`nnz`) and the share that is (`sparsity`).
        """  # noqa: D205
        if self.about["search"] != "all":
            raise ValueError("a coarse search leaves points of the grid out: search all of them")
        points: dict[tuple[str, int], list[Run]] = {}
        for run in self.sweep:
            if parameter in run.parameters:
                points.setdefault((run.learner, run.point), []).append(run)
        if not points:
            known = {name for run in self.sweep for name in run.parameters}
            hint = nearest(parameter, known) if known else "there are no grids"
            raise ValueError(f"no learner has {parameter!r} in its grid: {hint}")
        return [
            {
                "learner": learner,
                "value": runs[0].parameters[parameter],
                "parameters": runs[0].parameters,
                "mean": float(np.mean([run.value for run in runs])),
                "std": std(np.array([run.value for run in runs])),
                "seconds": float(np.mean([run.seconds for run in runs])),
                "nnz": _mean([run.nnz for run in runs]),
                "sparsity": _mean([run.sparsity for run in runs]),
            }
            for (learner, _), runs in points.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the curves of single runs as lists, dicts, numbers and texts."""
        shown = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        shown["rows"] = [dataclasses.asdict(row) for row in self.rows]
        for name in ("runs", "sweep"):
            shown[name] = [run.to_dict() for run in shown[name]]
        found: dict[str, Any] = plain(shown)
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file, in the format of its ending: .txt, .csv, .json, .tex, .md."""
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending not in ENDINGS:
            raise ValueError(f"{path}: name it .txt, .csv, .json, .tex or .md")
        write_whole(path, self.table(ENDINGS[ending]).encode())


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
    progress: Callable[[int, int], None] | None = None,
    resume: str | os.PathLike[str] | None = None,
    points: int = 15,
    order: Literal["random", "time"] = "random",
    known_counts: bool | None = None,
) -> Comparison:
    """Run learners with all points of their grids over the same runs and say which is best.

    Parameters
    ----------
    learners : sequence of names or estimators, or dict of name to either
        An estimator is taken with its own parameters.
    X, y, sample_weight : as for fit
        The rows.
    grid : dict or "paper", optional
        Parameter to values, for every learner that has the parameter; {} for no grid; or learner to
        such a dict. Default: the grids of the catalog, and of an estimator only itself. "paper":
        the same, but of learners that ask all the values of their papers, up to 1331 points.
    permutations : int or array of orders, optional
        Progressive passes over so many random permutations, or these. Default: 20.
    folds : int or array of whole numbers, optional
        Hold out one fold after the other and learn from the rest in one pass; so many random folds,
        or these: a fold a row, and if wanted a column a repeat.
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
        How one point of a grid is chosen. "honest": by what has no part in the run reported: the
        other permutations, the rows learned from before those held out, or the first third of a
        stream in time. Permutations are of the same rows; for a choice that has not seen the rows
        reported at all take one of the others. "best": by the very runs reported, as papers do.
    inner : int, optional
        With folds: choose by so many folds within the rows learned from, the mean of the metric on
        each after a pass over the others; 0 for the pass over all of them. Default: 5.
    search : {"all", "coarse"}
        "coarse": of long lists of values try every fourth, then what is next to the best, two steps
        and one step away, for each run by itself; for folds, held_out or order="time".
    seed : int
        Of permutations and folds, inner ones too. A learner that draws at random has its own
        seed, and with the k-th permutation, from 0, that seed plus k.
    jobs : int, optional
        Threads. Default: as many as there are cores, or as LOPSIDED_THREADS says. They do not
        change the result.
    progress : callable, optional
        Called with the number of runs done and of all runs.
    resume : path, optional
        A journal: finished runs are written to it, those that are in it are not run again.
    points : int
        About how many points of the curves to keep.
    order : {"random", "time"}
        "time": one run over the rows as they stand, or before held-out rows.
    known_counts : bool, optional
        Whether class_weight="balanced" knows the class counts beforehand, as the papers assume, or
        estimates them on the way. Default: it knows, except with order="time".

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
    _check(select, order, permutations, folds, held_out, jobs)
    found = learners_of(learners, grid)
    measure(metric)
    model = found[0].make(0)
    labels = Labels.start(model.positive, None, getattr(model, "class_weight", None))
    data = data_of(X, y, sample_weight, labels)
    choosing = any(len(learner.points) > 1 for learner in found)
    within = _inner(inner, folds, choosing, select)
    splits = _splits(
        data.y, permutations, folds, held_out, seed, order, choosing and select, within
    )
    _check_search(search, choosing, select, splits.kind)
    if choosing and select == "honest" and splits.kind == "permutations" and len(splits.all) < 2:
        raise ValueError(
            "one permutation leaves no other to choose parameters on: take more, or no grid, or "
            "select the best"
        )
    prices = Prices(alpha=alpha, fn=fn, fp=fp)
    known = order != "time" if known_counts is None else known_counts
    held = None
    if held_out is not None:
        rows, targets, weights = (*held_out, None)[:3]
        held = data_of(rows, targets, weights, data.labels)
        check_classes(held.y, "what is held out")
    job = Job(data, held, splits, metric, prices, points, known)
    journal = None if resume is None else Journal(resume, facts_of(job, found, X, held_out))
    try:
        sweep = run_all(job, found, jobs, progress, journal, search == "coarse")
    finally:
        if journal is not None:
            journal.close()
    about = {
        "rows": len(data.y),
        "features": None if isinstance(data.X, list) else data.X.rows.columns,
        "positives": int(np.count_nonzero(data.codes > 0)),
        "negatives": int(np.count_nonzero(data.codes < 0)),
        "splits": splits.words,
        "kind": splits.kind,
        "inner": within,
        "search": search,
        "seed": seed,
        "known_counts": known,
    }
    rule = (splits.kind if select == "honest" else select) if choosing else "none"
    if within:
        rule = "inner"
    return _summary(found, sweep, rule, metric, prices, select, about)


def _check(
    select: str, order: str, permutations: Any, folds: Any, held_out: Any, jobs: Any
) -> None:
    if select not in ("honest", "best"):
        raise ValueError(f"select={select!r} is invalid: it must be 'honest' or 'best'")
    if order not in ("random", "time"):
        raise ValueError(f"order={order!r} is invalid: it must be 'random' or 'time'")
    if permutations is not None and order == "time":
        raise ValueError("permutations have no order of time: leave one of the two out")
    if folds is not None and (permutations is not None or held_out is not None or order == "time"):
        raise ValueError(
            "folds are learned from in the order of the rows and held out themselves: leave out "
            "permutations, held_out and order"
        )
    if held_out is not None and not (isinstance(held_out, tuple) and len(held_out) in (2, 3)):
        raise ValueError("held_out must be a tuple (X, y) or (X, y, sample_weight)")
    if jobs is not None and (not isinstance(jobs, (int, np.integer)) or jobs < 1):
        raise ValueError(f"jobs={jobs!r} is invalid: it must be a whole number of at least 1")


def _inner(inner: Any, folds: Any, choosing: bool, select: str) -> int:
    """Return the number of folds within a training part."""
    possible = folds is not None and choosing and select == "honest"
    if inner is None:
        return 5 if possible else 0
    if not possible:
        raise ValueError("inner is for choosing parameters honestly inside folds: leave it out")
    whole = isinstance(inner, (int, np.integer)) and not isinstance(inner, bool)
    if not whole or inner < 0 or inner == 1:
        raise ValueError(f"inner={inner!r} is invalid: it must be 0 or at least 2")
    return int(inner)


def _check_search(search: str, choosing: bool, select: str, kind: str) -> None:
    if search not in ("all", "coarse"):
        raise ValueError(f"search={search!r} is invalid: it must be 'all' or 'coarse'")
    if search == "all":
        return
    if not choosing:
        raise ValueError("search='coarse' is for grids, and no learner has one: leave it out")
    if select == "best" or kind == "permutations":
        raise ValueError(
            "search='coarse' is for runs that choose by themselves: take folds, held_out or "
            "order='time', and select='honest'"
        )


def _splits(
    y: NDArray[Any],
    permutations: Any,
    folds: Any,
    held_out: Any,
    seed: int,
    order: str,
    chosen: str | bool,
    inner: int,
) -> Splits:
    if folds is not None:
        return folded(folds, y, seed, inner)
    if order == "time":
        return in_time(y, choosing=chosen == "honest", held_out=held_out is not None)
    return permuted(20 if permutations is None else permutations, y, seed, held_out is not None)


def _summary(
    learners: Sequence[Learner],
    sweep: list[Run],
    rule: str,
    metric: str,
    prices: Prices,
    select: str,
    about: dict[str, Any],
) -> Comparison:
    larger = measure(metric).larger_is_better
    runs = {learner.name: chosen_runs(learner, sweep, rule, larger) for learner in learners}
    return Comparison(
        rows=rows_of(runs, larger, prices),
        runs=[run for mine in runs.values() for run in mine],
        sweep=sweep,
        curves={name: mean_curve(mine, prices) for name, mine in runs.items()},
        metric=metric,
        larger_is_better=larger,
        alpha=prices.alpha,
        fn=prices.fn,
        fp=prices.fp,
        select=select,
        selection=_SELECTION[rule].format(about["inner"]),
        about=about,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


__all__ = ["Comparison", "Row", "Run", "compare"]
