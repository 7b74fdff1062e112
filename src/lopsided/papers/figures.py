"""The lines of a figure."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from .. import _core, catalog
from ..comparison import make_plan, run_plan
from ..comparison.splits import folded
from ..comparison.statistics import std
from ..comparison.summary import mean_curve
from ..data.block import Sparse
from ..evaluation.progressive import progressive
from .entries import Experiment, Part
from .prepare import PaperData
from .results import Line, Result
from .sweeps import SweepPoint, sparsity_sweep, tuned
from .trials import AS_PREPARED, OF_SETTINGS, Setting, Trial, Trials, model_of

_POINTS = 50
_FIELDS = {"error": "error", "seconds": "seconds", "sum": "balanced"}


def drawn(result: Result, trials: Sequence[tuple[Any, Trial]]) -> Result:
    """Add the lines of its figure to a result; `trials` are pairs of x and comparison."""
    first = trials[0][1]
    names, against = first.part.learners, first.experiment.against
    lines: list[Line] = []
    for name in names:
        if against == "events":
            lines.append(_course(first, name))
        elif against in OF_SETTINGS:
            runs = [[run.value for run in trial.papers(name)] for _, trial in trials]
            lines.append(_line(name, tuple(x for x, _ in trials), runs))
        else:
            lines += _against(first, name)
    return dataclasses.replace(result, lines=tuple(lines))


def _line(name: str, x: tuple[Any, ...], runs: Sequence[Sequence[float]]) -> Line:
    values = [np.array(own) for own in runs]
    y = tuple(float(own.mean()) for own in values)
    return Line(name=name, x=x, y=y, std=tuple(map(std, values)))


def _course(trial: Trial, name: str) -> Line:
    curve = mean_curve(trial.papers(name), trial.plan.prices)
    y = tuple(curve[trial.part.metric])
    return Line(name=name, x=tuple(curve["events"]), y=y, std=(math.nan,) * len(y))


def _against(trial: Trial, name: str) -> Iterator[Line]:
    """Yield the metric by a parameter, with the other parameters at their best."""
    e = trial.experiment
    sign = 1 if trial.plan.larger_is_better else -1

    def quality(runs: list[float]) -> float:
        mean = float(np.mean(runs))
        return -math.inf if math.isnan(mean) else sign * mean

    for key in itertools.product(*e.lines.values()):
        fixed = dict(zip(e.lines, key, strict=True))
        best = []
        for value in e.values:
            wanted = {**fixed, e.against: value}
            tried = [
                [run.value for run in trial.at(name, k)]
                for k, point in enumerate(trial.learners[name].points)
                if wanted.items() <= point.items()
            ]
            best.append(max(tried, key=quality))
        label = ", ".join([name, *(f"{k}={v:g}" for k, v in fixed.items())])
        yield _line(label, e.values, best)


def ranked(result: Result, e: Experiment, part: Part, stream: PaperData, trials: Trials) -> Result:
    """Add the AUC of the events so far, over the training parts of the folds."""
    folds, note = trials.folds_of(stream)
    splits = folded(folds, stream.y, seed=0, inner=0).all
    parts = [split.train for split in splits if split.train is not None]
    size = min(map(len, parts))
    lines = []
    chosen = trials.tuned(e, part, stream)
    for name in part.learners:
        model = model_of(e, part, name, stream, Setting()).set_params(**chosen[name])
        runs = []
        for order in parts:
            progress = progressive(model, stream.X, stream.y, order=order[:size], points=_POINTS)
            runs.append(progress.auc_curve)
            trials.finished()
        x = tuple(point.events for point in progress.curve)
        lines.append(_line(name, x, list(zip(*runs, strict=True))))
    notes = [note]
    rows = max(int(np.count_nonzero(stream.y[order] == c)) for order in parts for c in (1, -1))
    first = model_of(e, part, part.learners[0], stream, Setting())
    if rows <= first.get_params()["buffer_size"]:
        notes.append(
            f"the buffers never fill: no class has more than {rows} training rows, so the policies "
            "do not differ"
        )
    return dataclasses.replace(
        result,
        lines=tuple(lines),
        parameters=chosen,
        runs=f"training parts of {len(parts)} folds",
        notes=tuple(notes),
    )


def swept(result: Result, e: Experiment, part: Part, stream: PaperData, trials: Trials) -> Result:
    """Add error, time or balanced accuracy by sparsity."""
    shuffles = 1 if trials.quick or part.set == "webspam" else trials.runs_of(e)
    # What is timed has the machine to itself.
    jobs = 1 if part.metric == "seconds" else trials.jobs or _core.threads_allowed()
    parameters: dict[str, Mapping[str, Any]] = {}
    schedules = []
    size = _size_of_values(stream.X)
    lines = []
    for name in part.learners:
        chosen = parameters[name] = _tuned(e, part, name, stream, trials)
        model = catalog.make(e.learners[name]["is"], **AS_PREPARED, **chosen)
        if not hasattr(model, "l1"):
            lines.append(_flat(name, model, stream, shuffles, trials.jobs))
            continue
        if hasattr(model, "l1_schedule"):
            schedules.append(f"{name} {model.l1_schedule}")
        low, high, count = e.l1.get(name, e.l1["others"])
        count = count // 3 if trials.quick else count
        values = [0.0, *(size * np.geomspace(low, high, int(count))).tolist()]
        at = functools.partial(_swept_at, e.learners[name]["is"], chosen, stream, shuffles, trials)
        with ThreadPoolExecutor(jobs) as pool:
            points = list(pool.map(at, values))
        y = tuple(float(getattr(point, _FIELDS[part.metric])) for point in points)
        x = tuple(point.sparsity for point in points)
        lines.append(Line(name=name, x=x, y=y, std=(math.nan,) * len(y)))
    words = f"held-out rows after each of {shuffles} shuffles of the training rows"
    return dataclasses.replace(
        result,
        lines=tuple(lines),
        parameters=parameters,
        runs=trials.told(e, words),
        notes=(f"l1_schedule: {', '.join(schedules)}",) if schedules else (),
    )


def _tuned(
    e: Experiment, part: Part, name: str, stream: PaperData, trials: Trials
) -> dict[str, Any]:
    """Return the parameters of a learner, chosen without regularization."""
    learner, balanced = e.learners[name]["is"], part.metric == "sum"
    grid = catalog.find(learner).grid
    chosen: dict[str, Any] = trials.once(
        stream,
        ["tuned", learner, balanced, {k: list(values) for k, values in grid.items()}],
        lambda: tuned(learner, stream.X, stream.y, balanced=balanced, fixed=AS_PREPARED),
    )
    return chosen


def _swept_at(
    learner: str,
    chosen: Mapping[str, Any],
    stream: PaperData,
    shuffles: int,
    trials: Trials,
    l1: float,
) -> SweepPoint:
    """Return a learner at one strength of regularization."""

    def run() -> dict[str, Any]:
        point = sparsity_sweep(
            [learner],
            stream.X,
            stream.y,
            l1=[l1],
            test=stream.test,
            permutations=shuffles,
            parameters={learner: {**AS_PREPARED, **chosen}},
        )[0]
        return dataclasses.asdict(point)

    return SweepPoint(**trials.once(stream, ["swept", learner, dict(chosen), l1, shuffles], run))


def _size_of_values(X: Any) -> float:
    """Return the root mean square of the nonzero values: gradients, and so l1, are of that size."""
    values = np.asarray(X.data) if isinstance(X, Sparse) else X[X != 0]
    return float(np.sqrt(np.mean(np.square(values, dtype=float))))


def _flat(name: str, model: Any, stream: PaperData, shuffles: int, jobs: int | None) -> Line:
    """Return the balanced accuracy of a learner without sparse models, as a horizontal line."""
    plan = make_plan(
        {name: model},
        stream.X,
        stream.y,
        grid={},
        held_out=stream.test,
        permutations=shuffles,
    )
    values = [run.value for run in run_plan(plan, jobs=jobs).runs]
    return _line(name, (0.0, 1.0), [values] * 2)
