"""The comparisons of an experiment: learners, grids and splits as in the paper."""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import catalog
from ..comparison import Plan, Run, make_plan, run_plan
from ..comparison.grids import Learner
from ..comparison.measures import Prices
from ..comparison.run import Results
from ..comparison.splits import Splits, stratified_folds
from ..comparison.summary import chosen_runs
from ..estimator.base import OnlineClassifier
from ..metrics import Counts
from . import sets
from .entries import Experiment, Part
from .prepare import PaperData
from .store import Store, key_of

QUICK = 3  # permutations
ALPHA = "weight of specificity"
PRICE = "price of a false alarm"
COUNTS = "class counts"
LABELS = "share of labels"
AS_PREPARED = {"scaling": "none"}  # rows were scaled as in the paper when they were loaded
OF_SETTINGS = (ALPHA, PRICE, COUNTS, LABELS)  # each value needs a comparison of its own


@dataclasses.dataclass(frozen=True, kw_only=True)
class Setting:
    """What may differ between the comparisons of one experiment; `x` is its place on the x axis."""

    alpha: float = 0.5
    fn: float = 0.9
    fp: float = 0.1
    known_counts: bool = True
    share: float | None = None  # of the labels that may be queried
    x: Any = None


def settings(e: Experiment) -> Iterator[Setting]:
    """Yield the settings of an experiment."""
    plain = Setting(fn=e.fn, fp=e.fp)
    if e.against not in OF_SETTINGS:
        yield plain
        return
    for x in e.values:
        if e.against == ALPHA:
            yield dataclasses.replace(plain, alpha=1 - x, x=x)
        elif e.against == PRICE:
            yield dataclasses.replace(plain, fn=1 - x, fp=x, x=x)
        elif e.against == COUNTS:
            yield dataclasses.replace(plain, known_counts=x == "known", x=x)
        else:
            yield dataclasses.replace(plain, share=x, x=x)


def grid_of(e: Experiment, part: Part, name: str, whole: bool = False) -> dict[str, Sequence[Any]]:
    """Return the values to try for a learner: all of its paper if `whole`."""
    grid: dict[str, Sequence[Any]] = {}
    if e.choice != "stated" and e.others == "best":
        grid = own_grid(e, name, whole)
    if e.kind != "figure":
        return grid
    stated = stated_of(e, part, name)  # a table shows other points too, a figure does not
    grid = {k: [stated[k]] if k in stated else values for k, values in grid.items()}
    if e.against in ("events", *OF_SETTINGS):
        return grid
    return {**grid, e.against: e.values, **e.lines}


def stated_of(e: Experiment, part: Part, name: str) -> Mapping[str, Any]:
    """Return the parameters of a learner that the paper states or its digits are known to have."""
    known = {} if e.against in (ALPHA, PRICE, LABELS) else part.stated
    return known.get(name) or e.stated.get(name) or {}


def own_grid(e: Experiment, name: str, whole: bool = False) -> dict[str, Sequence[Any]]:
    """Return the grid of a learner: that of the experiment, or that of the catalog."""
    facts = e.learners[name]
    entry = catalog.find(facts["is"])
    own = facts.get("grid") or (entry.paper_grid if whole else entry.grid)
    return {k: list(values) for k, values in own.items() if k not in facts}


def thinned(e: Experiment, part: Part) -> list[str]:
    """Return the learners of which only a part of the paper's grid is tried by default."""
    return [
        name
        for name in part.learners
        if len(grid_of(e, part, name)) and grid_of(e, part, name) != grid_of(e, part, name, True)
    ]


def points_of(e: Experiment, part: Part, whole: bool = False) -> int:
    """Return the number of grid points of all learners of a part."""
    grids = (grid_of(e, part, name, whole) for name in part.learners)
    return sum(math.prod(len(values) for values in grid.values()) for grid in grids)


def model_of(
    e: Experiment, part: Part, name: str, stream: PaperData, setting: Setting
) -> OnlineClassifier:
    """Return a learner as in the paper, with the costs if it is cost-sensitive."""
    facts = dict(e.learners[name])
    entry = catalog.find(facts.pop("is"))
    costs = facts.pop("costs", part.metric)
    facts.pop("grid", None)
    model = entry.make(**{**AS_PREPARED, "positive": 1, **facts})
    rows = len(stream.y) + sum(stream.zeros)
    if e.budget and "budget" in model.parameter_names():
        model.set_params(budget=_budget(e, part, stream, setting, rows))
    if getattr(model, "class_weight", None) is None:
        return model
    if costs == "cost":
        return model.set_params(class_weight={1: setting.fn / setting.fp, -1: 1.0})
    if any(stream.zeros) and setting.known_counts:
        positives = stream.positives + stream.zeros[0]
        ratio = setting.alpha / (1 - setting.alpha) * (rows - positives) / positives
        return model.set_params(class_weight={1: ratio, -1: 1.0})
    return model.set_params(class_weight="balanced", sensitivity_weight=setting.alpha)


def _budget(e: Experiment, part: Part, stream: PaperData, setting: Setting, rows: int) -> int:
    own = e.budget.get(part.set) if stream.name == part.set else None
    budget = setting.share or own or e.budget["others"]
    return int(budget) if budget > 1 else max(1, round(budget * rows))


@dataclasses.dataclass(frozen=True)
class Trial:
    """One comparison of an experiment: its plan, all its runs, and how to choose among them.

    Attributes
    ----------
    experiment, part
        What it is a part of.
    plan : Plan
        What was run.
    runs : list of Run
        Every learner, grid point and split.
    notes : tuple of str
        Where splits and grids differ from those of the paper.
    """

    experiment: Experiment
    part: Part
    plan: Plan
    runs: list[Run]
    notes: tuple[str, ...] = ()

    @functools.cached_property
    def learners(self) -> Mapping[str, Learner]:
        """The learners with their grids, by name."""
        return {learner.name: learner for learner in self.plan.learners}

    def chosen(self, name: str, rule: str) -> list[Run]:
        """Return the runs of a learner with parameters chosen by a rule: "best" or "honest"."""
        learner = self.learners[name]
        if len(learner.points) == 1:
            rule = "none"
        elif rule == "honest":
            rule = self.plan.splits.kind
        return chosen_runs(learner, self.runs, rule, self.plan.larger_is_better)

    def papers(self, name: str) -> list[Run]:
        """Return the runs with the parameters that the paper chose, as far as it states them."""
        stated = stated_of(self.experiment, self.part, name)
        if stated:
            points = self.learners[name].points
            return self.at(
                name, next(k for k, p in enumerate(points) if stated.items() <= p.items())
            )
        return self.chosen(name, "honest" if self.experiment.choice == "inner" else "best")

    def at(self, name: str, point: int) -> list[Run]:
        """Return the runs of a learner at a grid point."""
        return [run for run in self.runs if run.learner == name and run.point == point]

    def values(self, runs: Sequence[Run], measure: str) -> NDArray[np.float64]:
        """Return a measure of some runs; of each draw, where folds are drawn several times."""
        key = "metric" if measure == self.part.metric else measure
        values = np.array([run.figures(self.plan.prices)[key] for run in runs])
        if self.experiment.draws == 1:
            return values
        return np.asarray(values.reshape(-1, int(self.experiment.folds or 1)).mean(axis=1))


@dataclasses.dataclass
class Trials:
    """Runs the comparisons of an experiment.

    Attributes
    ----------
    folders, quick, jobs, resume, progress, whole_grid, runs
        As for `reproduce`.
    total, done : int
        Number of runs, expected and finished.
    earlier : float
        Processor time of the runs that were finished before, in seconds.
    """

    folders: Sequence[str]
    quick: bool = False
    jobs: int | None = None
    resume: str | os.PathLike[str] | None = None
    progress: Callable[[int, int], None] | None = None
    whole_grid: bool = False
    runs: int | None = None
    total: int = 0
    done: int = 0
    earlier: float = 0.0
    _stores: dict[str, Store] = dataclasses.field(default_factory=dict, repr=False)

    def runs_of(self, e: Experiment) -> int:
        """Return the number of permutations, folds or shuffles."""
        if e.folds is None:
            return self._fewer(e.runs)
        if e.draws > 1:
            return int(e.folds) * self._fewer(e.draws)
        repeats = self._repeats
        return e.runs if repeats is None else min(5 * repeats, e.runs)

    @property
    def _repeats(self) -> int | None:
        """How many repeats of published folds there are; None for all."""
        if self.quick:
            return 1
        return None if self.runs is None else max(1, self.runs // 5)

    def _fewer(self, of_paper: int) -> int:
        """Return how many permutations, draws or shuffles there are of those of the paper."""
        return min(QUICK if self.quick else self.runs or of_paper, of_paper)

    def told(self, e: Experiment, words: str) -> str:
        """Return what was run, with how many there are in the paper if that is more."""
        whole = Trials(()).runs_of(e)
        return words if self.runs_of(e) == whole else f"{words}; {whole} in the paper"

    def run(
        self,
        e: Experiment,
        part: Part,
        stream: PaperData,
        setting: Setting,
        fixed: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Trial:
        """Run a comparison; `fixed` are parameters by learner that were chosen before."""
        splits, source = self._splits(e, stream)
        models = {name: model_of(e, part, name, stream, setting) for name in part.learners}
        for name, own in (fixed or {}).items():
            models[name].set_params(**own)
        plan = make_plan(
            models,
            stream.X,
            stream.y,
            grid={name: grid_of(e, part, name, self.whole_grid) for name in part.learners},
            metric=part.metric,
            alpha=setting.alpha,
            fn=setting.fn,
            fp=setting.fp,
            known_counts=setting.known_counts,
            **splits,
        )
        if e.draws > 1:
            plan = dataclasses.replace(plan, splits=_shuffled(plan.splits, int(e.folds or 1)))
        before = self.done

        def progress(done: int, _total: int) -> None:
            self.done = before + done
            if self.progress is not None:
                self.progress(self.done, max(self.total, self.done))

        results = self._run(plan, stream, progress)
        self.done = before + len(results.runs)
        few = [] if self.whole_grid else thinned(e, part)
        notes = [source]
        if few:
            notes.append(f"a part of the paper's grid for {', '.join(few)}; --whole-grid takes all")
        runs = results.runs
        if plan.splits.kind == "permutations":
            runs = [counted(run, stream.zeros, part.metric, plan.prices) for run in runs]
        return Trial(e, part, plan, runs, tuple(notes))

    def _run(
        self, plan: Plan, stream: PaperData, progress: Callable[[int, int], None] | None = None
    ) -> Results:
        """Run what of a plan is not in the store."""
        store = self.store_of(stream)
        finished = None if store is None else store.of(plan, stream.fingerprint)
        results = run_plan(plan, jobs=self.jobs, progress=progress, finished=finished)
        self.earlier += results.earlier
        return results

    def once(self, stream: PaperData, facts: Sequence[Any], compute: Callable[[], Any]) -> Any:
        """Return what `compute` gives, in JSON's types; from the store, if it was computed before.

        `facts` are what it depends on besides the data.
        """
        store = self.store_of(stream)
        if store is None:
            return compute()
        key = key_of(stream.fingerprint, facts)
        found = store.get(key)
        if found is not None:
            self.earlier += found["processor seconds"]
            return found["value"]
        start = time.thread_time()
        value = compute()
        store.put(key, {"value": value, "processor seconds": time.thread_time() - start})
        return value

    def store_of(self, stream: PaperData) -> Store | None:
        """Return the finished runs on a data set, or None if they are not to be stored."""
        if self.resume is None:
            return None
        if stream.name not in self._stores:
            folder = Path(self.resume)
            folder.mkdir(parents=True, exist_ok=True)
            name = stream.name.replace("/", "-").replace(" ", "-")
            self._stores[stream.name] = Store(folder / f"{name}.runs")
        return self._stores[stream.name]

    def tuned(self, e: Experiment, part: Part, stream: PaperData) -> dict[str, dict[str, Any]]:
        """Choose the parameters of each learner once, inside the training part of the first fold.

        So does the published program of KOIL. The choice has a grid, five inner folds and a coarse
        search.
        """
        folds, _ = self.folds_of(stream)
        names = (e.tuned_by,) if e.tuned_by else part.learners
        plan = make_plan(
            {name: model_of(e, part, name, stream, Setting()) for name in names},
            stream.X,
            stream.y,
            grid={name: own_grid(e, name) for name in names},
            metric=part.metric,
            folds=folds[:, :1],
            search="coarse",
        )
        first = dataclasses.replace(plan.splits, all=plan.splits.all[:1])
        plan = dataclasses.replace(plan, splits=first)
        runs = self._run(plan, stream).runs
        chosen = {
            one.name: chosen_runs(one, runs, "inner", plan.larger_is_better)[0].parameters
            for one in plan.learners
        }
        return {name: chosen[e.tuned_by or name] for name in part.learners}

    def _splits(self, e: Experiment, stream: PaperData) -> tuple[dict[str, Any], str]:
        """Return the options of `make_plan` for permutations or folds, and their source."""
        size = len(stream.y)
        if e.folds is None:
            published = None if any(stream.zeros) else sets.orders(stream.name, self.folders, size)
            if published is None:
                return {"permutations": self.runs_of(e)}, "permutations drawn here"
            return {"permutations": published[: self.runs_of(e)]}, "published permutations"
        how: dict[str, Any] = {"inner": 0} if e.kind == "figure" else {}
        if e.choice == "inner" and e.kind == "table":
            how = {"search": "coarse"}
        if e.folds != "published":
            count, draws = int(e.folds), self._fewer(e.draws)
            # Parameters are chosen by the pass over a training part: inner folds for each draw
            # would take six times as long.
            found = drawn_folds(stream.y, draws, count)
            return {"folds": found, "inner": 0}, "folds and orders drawn here"
        found, note = self.folds_of(stream)
        return {"folds": found, **how}, note

    def folds_of(self, stream: PaperData) -> tuple[NDArray[np.int64], str]:
        """Return the folds of a set, one column per repeat, and their source."""
        found, source = sets.folds(stream.name, self.folders, len(stream.y)), "published folds"
        if found is None:
            found = drawn_folds(stream.y)
            source = "folds drawn here: the published ones are not available"
        return found[:, : self._repeats], source

    def finished(self) -> None:
        """Count a finished run."""
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, max(self.total, self.done))


def counted(run: Run, zeros: tuple[int, int], metric: str, prices: Prices) -> Run:
    """Return a run with its metric, and with additional rows that are all mistakes.

    `zeros` are the numbers of additional positive and negative rows. Along the curve they come
    evenly, as in a random order.
    """
    if run.failed:
        return run
    whole = max(1, run.counts.events)
    curve = tuple(_with_zeros(c, zeros, c.events / whole) for c in run.curve)
    counts = _with_zeros(run.counts, zeros, 1.0)
    value = counts.sum(prices.alpha) if metric == "sum" else counts.cost(prices.fn, prices.fp)
    return dataclasses.replace(
        run, counts=counts, curve=curve, value=float(value), choice=float(value)
    )


def _with_zeros(c: Counts, zeros: tuple[int, int], share: float) -> Counts:
    positive, negative = (share * size for size in zeros)
    return dataclasses.replace(
        c,
        positives=c.positives + positive,
        negatives=c.negatives + negative,
        false_negatives=c.false_negatives + positive,
        false_positives=c.false_positives + negative,
        events=c.events + round(share * sum(zeros)),
    )


def _shuffled(splits: Splits, folds: int) -> Splits:
    """Return folds of several draws with the training rows in a random order, one per draw."""
    parts = []
    for at, split in enumerate(splits.all):
        assert split.train is not None
        rng = np.random.default_rng(at // folds)
        parts.append(dataclasses.replace(split, train=rng.permutation(split.train)))
    words = f"{len(parts) // folds} draws of {folds} held-out folds"
    return dataclasses.replace(splits, words=words, all=tuple(parts))


def drawn_folds(y: NDArray[np.int64], repeats: int = 4, folds: int = 5) -> NDArray[np.int64]:
    """Return random stratified folds, one column per repeat.

    Examples
    --------
    >>> drawn_folds(np.array([1, -1] * 10)).shape
    (20, 4)
    """
    return np.stack([stratified_folds(folds, y, seed) for seed in range(repeats)], axis=1)
