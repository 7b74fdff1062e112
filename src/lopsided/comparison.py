"""Learners side by side: grids, permutations or folds, tests of significance."""

from __future__ import annotations

import dataclasses
import math
import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _tables
from ._data import BadRowError, Batch, as_batch, as_weights, is_events
from ._grids import Learner, learners_of
from ._journal import Journal, Task, digest
from ._labels import LabelError, Labels, as_labels
from ._measures import Prices, measure
from ._parameters import nearest
from ._plain import plain
from ._splits import Split, Splits, check_classes, folded, in_time, permuted
from ._statistics import paired_t, wilcoxon
from ._whole import write_whole
from .evaluation import Progress, progressive
from .metrics import Counts

LEVEL = 0.05  # of the tests
_ENDINGS = {".txt": "text", ".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown"}

_KEPT = ("choice", "value", "seconds", "nnz", "sparsity")  # of a run in a journal, as it is

_SELECTION = {
    "permutations": "parameters were chosen on other permutations than the one reported",
    "folds": "parameters were chosen inside the training part of each fold",
    "held out": "parameters were chosen on the training rows; the held-out rows had no part in it",
    "time": "parameters were chosen on the first third of the stream; the figures are of the rest",
    "best": "parameters are the best of the grid on the very runs reported, as in the papers: "
    "the figures are optimistic",
    "none": "no parameters were chosen: every learner has one setting",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """One learner with one setting in one run.

    Attributes
    ----------
    learner : str
        Its name.
    point : int
        Which point of its grid.
    parameters : dict
        What the grid sets there.
    split : int
        Which permutation or fold.
    choice : float
        The metric by which an honest choice goes.
    value : float
        The metric on what is reported.
    counts : Counts
        Of what is reported; updates and queries are those of the pass.
    seconds : float
        Time of the pass in the core.
    nnz, sparsity : float or None
        Weights that are not 0 after the pass, and the share of those that are, if the learner has
        weights.
    curve : tuple of Counts
        The counts along the pass.
    """

    learner: str
    point: int
    parameters: dict[str, Any]
    split: int
    choice: float
    value: float
    counts: Counts
    seconds: float
    nnz: float | None
    sparsity: float | None
    curve: tuple[Counts, ...] = dataclasses.field(repr=False)

    def figures(self, prices: Prices) -> dict[str, float]:
        """Return the figures of the run by name."""
        figures = {
            "metric": self.value,
            "sensitivity": self.counts.sensitivity,
            "specificity": self.counts.specificity,
            "sum": self.counts.sum(prices.alpha, unseen=math.nan),
            "cost": self.counts.cost(prices.fn, prices.fp),
            "updates": self.counts.updates,
            "queries": self.counts.queries,
            "seconds": self.seconds,
        }
        if self.nnz is not None and self.sparsity is not None:
            figures |= {"nnz": self.nnz, "sparsity": self.sparsity}
        return {name: float(value) for name, value in figures.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the run without its curve."""
        found = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del found["curve"]
        return {**found, "counts": dataclasses.asdict(self.counts)}


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
        The data and the setting: rows, features, positives, negatives, splits, seed, known_counts.
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
        return _tables.table(self, format)

    def sweep_table(self, parameter: str) -> list[dict[str, Any]]:
        """Return the metric against a parameter: of each learner that has it in its grid, every
        point with the mean and standard deviation of the metric over all runs, the seconds and,
        of learners with weights, how many are not 0 (`nnz`) and the share that is (`sparsity`).
        """  # noqa: D205
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
                "std": _std(np.array([run.value for run in runs])),
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
        if ending not in _ENDINGS:
            raise ValueError(f"{path}: name it .txt, .csv, .json, .tex or .md")
        write_whole(path, self.table(_ENDINGS[ending]).encode())


@dataclasses.dataclass(frozen=True)
class _Data:
    X: Any  # a Batch, or a list of dicts
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    codes: NDArray[np.int8]
    labels: Labels


@dataclasses.dataclass(frozen=True)
class _Job:
    """All that a run needs."""

    data: _Data
    held_out: _Data | None
    splits: Splits
    metric: str
    prices: Prices
    points: int
    known_counts: bool

    def run(self, learner: Learner, point: int, at: int) -> Run:
        split = self.splits.all[at]
        model = learner.make(point)
        try:
            progress = progressive(
                model,
                self.data.X,
                self.data.y,
                order=split.train,
                sample_weight=self.data.weights,
                resume=not self.known_counts,
                points=self.points,
            )
            choice, reported = self._parts(progress, split, model)
        except (BadRowError, LabelError):
            raise
        except ValueError as error:
            raise ValueError(f"{_setting(learner, point)}, {split.name}: {error}") from None
        value = measure(self.metric).of
        nnz, sparsity = _sparsity(model)
        return Run(
            learner=learner.name,
            point=point,
            parameters=learner.points[point],
            split=at,
            choice=float(value(choice, self.prices)),
            value=float(value(reported, self.prices)),
            counts=_counts(reported),
            seconds=progress.seconds,
            nnz=nnz,
            sparsity=sparsity,
            curve=progress.curve,
        )

    def _parts(self, progress: Progress, split: Split, model: Any) -> tuple[Progress, Progress]:
        """Return what parameters may be chosen by and what is reported."""
        if split.test is not None or self.held_out is not None:
            held = self.data if self.held_out is None else self.held_out
            rows = slice(None) if split.test is None else split.test
            scores = model.decision_function(held.X)[rows]
            weights = None if held.weights is None else held.weights[rows]
            return progress, _judged(held.codes[rows], scores, weights, progress)
        if split.start:
            first, rest = slice(split.start), slice(split.start, None)
            return _part(progress, first), _part(progress, rest)
        return progress, progress


def _sparsity(model: Any) -> tuple[int | None, float | None]:
    """Return how many weights are not 0 and the share of those that are."""
    if hasattr(model, "nnz_"):
        return int(model.nnz_), float(model.sparsity_)
    if not hasattr(model, "coef_"):
        return None, None
    nnz = int(np.count_nonzero(model.coef_))
    return nnz, 1 - nnz / max(1, model.n_features_in_)


def _setting(learner: Learner, point: int) -> str:
    settings = ", ".join(f"{name}={value!r}" for name, value in learner.points[point].items())
    return f"{learner.name} with {settings}" if settings else learner.name


def _part(progress: Progress, part: slice) -> Progress:
    weights = None if progress.weights is None else progress.weights[part]
    return _judged(progress.labels[part], progress.scores[part], weights, progress)


def _judged(
    labels: NDArray[np.int8],
    scores: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    learned: Progress,
) -> Progress:
    """Return the counts of scores; steps and labels asked for are those of the pass."""
    used = np.ones(len(labels)) if weights is None else weights
    positive, alarm = labels > 0, scores >= 0
    return Progress(
        positives=float(used[positive].sum()),
        negatives=float(used[~positive].sum()),
        false_negatives=float(used[positive & ~alarm].sum()),
        false_positives=float(used[~positive & alarm].sum()),
        events=int(np.count_nonzero(used)),
        queries=learned.queries,
        updates=learned.updates,
        scores=scores,
        labels=labels,
        weights=weights,
        curve=(),
    )


def _counts(progress: Progress) -> Counts:
    return Counts(**{f.name: getattr(progress, f.name) for f in dataclasses.fields(Counts)})


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
    grid : dict, optional
        Parameter to values, for every learner that has the parameter; {} for no grid; or learner to
        such a dict. Default: the grids of the catalog, and of an estimator only itself.
    permutations : int or array of orders, optional
        Progressive passes over so many random permutations, or these. Default: 20.
    folds : int or array of whole numbers, optional
        Hold out one fold after the other and learn from the rest in one pass; so many random folds,
        or these: a fold a row, and if wanted a column a repeat.
    held_out : tuple (X, y) or (X, y, sample_weight), optional
        Learn from each permutation and report on these rows.
    metric : str
        What is best: "sum", "cost", "sensitivity", "specificity", "accuracy" or "auc".
    alpha : float
        The weight of sensitivity in the sum.
    fn, fp : float
        The cost of a missed positive and of a false alarm.
    select : {"honest", "best"}
        How one point of a grid is chosen. "honest": by what has no part in the run reported: the
        other permutations, the rows learned from before those held out, or the first third of a
        stream in time. Permutations are of the same rows; for a choice that has not seen the rows
        reported at all take one of the others. "best": by the very runs reported, as papers do.
    seed : int
        Of permutations and folds.
    jobs : int, optional
        Threads. Default: as many as there are cores. They do not change the result.
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
    data = _data(X, y, sample_weight, labels)
    choosing = any(len(learner.points) > 1 for learner in found)
    splits = _splits(data.y, permutations, folds, held_out, seed, order, choosing and select)
    if choosing and select == "honest" and splits.kind == "permutations" and len(splits.all) < 2:
        raise ValueError(
            "one permutation leaves no other to choose parameters on: take more, or grid={}, or "
            "select='best'"
        )
    prices = Prices(alpha=alpha, fn=fn, fp=fp)
    known = order != "time" if known_counts is None else known_counts
    held = None
    if held_out is not None:
        rows, targets, weights = (*held_out, None)[:3]
        held = _data(rows, targets, weights, data.labels)
        check_classes(held.y, "what is held out")
    job = _Job(data, held, splits, metric, prices, points, known)
    journal = None if resume is None else Journal(resume, _facts(job, found, X, held_out))
    try:
        sweep = _run_all(job, found, jobs, progress, journal)
    finally:
        if journal is not None:
            journal.close()
    about = {
        "rows": len(data.y),
        "features": None if isinstance(data.X, list) else data.X.rows.columns,
        "positives": int(np.count_nonzero(data.codes > 0)),
        "negatives": int(np.count_nonzero(data.codes < 0)),
        "splits": splits.words,
        "seed": seed,
        "known_counts": known,
    }
    rule = (splits.kind if select == "honest" else select) if choosing else "none"
    return _summary(found, sweep, rule, metric, prices, select, about)


def _check(
    select: str, order: str, permutations: Any, folds: Any, held_out: Any, jobs: Any
) -> None:
    if select not in ("honest", "best"):
        raise ValueError(f"select={select!r} is not possible; it must be 'honest' or 'best'")
    if order not in ("random", "time"):
        raise ValueError(f"order={order!r} is not possible; it must be 'random' or 'time'")
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
        raise ValueError(f"jobs={jobs!r} is not possible; it must be a whole number of at least 1")


def _data(X: Any, y: Any, weights: Any, labels: Labels) -> _Data:
    """Look at the data once, for all runs."""
    if isinstance(X, tuple) and is_events(X):
        X = list(X)
    rows = X if is_events(X) else as_batch(X)
    size = rows.rows.size if isinstance(rows, Batch) else len(rows)
    array = as_labels(y, size)
    labels, codes = labels.read(array)
    return _Data(rows, array, as_weights(weights, size), codes, labels)


def _splits(
    y: NDArray[Any],
    permutations: Any,
    folds: Any,
    held_out: Any,
    seed: int,
    order: str,
    chosen: str | bool,
) -> Splits:
    if folds is not None:
        return folded(folds, y, seed)
    if order == "time":
        return in_time(y, choosing=chosen == "honest", held_out=held_out is not None)
    return permuted(20 if permutations is None else permutations, y, seed, held_out is not None)


def _run_all(
    job: _Job,
    learners: Sequence[Learner],
    jobs: int | None,
    progress: Callable[[int, int], None] | None,
    journal: Journal | None,
) -> list[Run]:
    """Return the runs by learner, point and split, whatever the order in which they end."""
    tasks = [
        (k, point, at)
        for at in range(len(job.splits.all))
        for k, learner in enumerate(learners)
        for point in range(len(learner.points))
    ]
    known = {} if journal is None else journal.runs
    done = {task: _from_journal(learners[task[0]], task, run) for task, run in known.items()}
    pool = ThreadPoolExecutor(jobs or os.cpu_count() or 1)
    try:
        coming = {
            pool.submit(job.run, learners[k], point, at): (k, point, at)
            for k, point, at in tasks
            if (k, point, at) not in done
        }
        for future in as_completed(coming):
            task, run = coming[future], future.result()
            done[task] = run
            if journal is not None:
                journal.add(task, _to_journal(run))
            if progress is not None:
                progress(len(done), len(tasks))
    finally:  # after a fault or an interruption: no waiting for what is under way
        pool.shutdown(wait=False, cancel_futures=True)
    return [done[task] for task in sorted(tasks)]


def _to_journal(run: Run) -> dict[str, Any]:
    return {
        **{name: getattr(run, name) for name in _KEPT},
        "counts": dataclasses.astuple(run.counts),
        "curve": [dataclasses.astuple(counts) for counts in run.curve],
    }


def _from_journal(learner: Learner, task: Task, kept: dict[str, Any]) -> Run:
    names = [f.name for f in dataclasses.fields(Counts)]
    counts, *curve = (
        Counts(**dict(zip(names, values, strict=True)))
        for values in (kept["counts"], *kept["curve"])
    )
    return Run(
        learner=learner.name,
        point=task[1],
        parameters=learner.points[task[1]],
        split=task[2],
        counts=counts,
        curve=tuple(curve),
        **{name: kept[name] for name in _KEPT},
    )


def _facts(job: _Job, learners: Sequence[Learner], X: Any, held_out: Any) -> dict[str, str]:
    """Return what a journal must have in common with the comparison that goes on with it."""
    from . import __version__  # slow to find out, seldom needed

    orders = [(split.train, split.test) for split in job.splits.all]
    return {
        "version of lopsided": __version__,
        "data": digest(X),
        "labels": digest(job.data.y),
        "weights": digest(job.data.weights),
        "held-out data": digest(held_out),
        "learners": ", ".join(f"{learner.name} = {learner.model!r}" for learner in learners),
        "grids": "; ".join(str(learner.points) for learner in learners),
        "kind of runs": job.splits.words,
        "runs": digest(orders),
        "metric": job.metric,
        "prices": repr(job.prices),
        "points": repr(job.points),
        "known_counts": repr(job.known_counts),
    }


# What came of it ---------------------------------------------------------------------------------


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
    runs = {learner.name: _chosen(learner, sweep, rule, larger) for learner in learners}
    return Comparison(
        rows=_rows(runs, larger, prices),
        runs=[run for mine in runs.values() for run in mine],
        sweep=sweep,
        curves={name: _curve(mine, prices) for name, mine in runs.items()},
        metric=metric,
        larger_is_better=larger,
        alpha=prices.alpha,
        fn=prices.fn,
        fp=prices.fp,
        select=select,
        selection=_SELECTION[rule],
        about=about,
    )


def _chosen(learner: Learner, sweep: list[Run], rule: str, larger: bool) -> list[Run]:
    """Return for each split the run with the chosen parameters."""
    mine = [run for run in sweep if run.learner == learner.name]
    size = len(mine) // len(learner.points)
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
        elif rule == "permutations":
            scores = np.delete(values, at, axis=1).mean(axis=1)
        else:
            scores = values[:, at]
        chosen.append(by_point[int(np.argmax(scores))][at])
    return chosen


def _rows(runs: dict[str, list[Run]], larger: bool, prices: Prices) -> list[Row]:
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
                std={key: _std(v) for key, v in columns.items()},
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


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _std(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else math.nan


def _curve(runs: list[Run], prices: Prices) -> dict[str, list[float]]:
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
