"""Reproducing a table or figure of a paper."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Sequence

from .. import catalog
from ..errors import AbsentDataError, InputError
from . import cells as table_cells
from . import figures, sets
from .entries import Experiment, Part, find
from .prepare import PaperData
from .results import Result
from .trials import ALPHA, LABELS, PRICE, Trials, points_of, settings, thinned

_QUICK_ROWS = 20_000  # of a synthetic set
_CHOICE = {
    "stated": "parameters as stated in the paper",
    "best": "parameters are the best of the paper's grid on the reported runs",
    "inner": "parameters chosen by folds inside the training part, as in the paper; of long grids "
    "every fourth value is tried, then those around the best",
    "tuned": "parameters tuned without shrinking by the pass over the training rows",
}

_SCALING = {
    "none": "rows as distributed (scaling=none)",
    "unit": "rows of unit length (scaling=unit)",
    "standard+unit": "standard scores of the whole set, then rows of unit length",
}
_OTHERS = {
    "default": "default parameters, except for the one drawn",
    "tuned": "parameters chosen once, by five folds inside the training part of the first fold, as "
    "in the published program",
}


def reproduce(
    name: str,
    *,
    data: str | os.PathLike[str] | Sequence[str] = (),
    only: Sequence[str] = (),
    quick: bool = False,
    jobs: int | None = None,
    substitute: bool = False,
    resume: str | os.PathLike[str] | None = None,
    whole_grid: bool = False,
    runs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """Reproduce a table or figure of a paper.

    Parameters
    ----------
    name : str
        For example "acog-table-2"; see :func:`experiments`.
    data : path or sequence of paths
        Folders to search for data sets, before LOPSIDED_DATA and the download cache.
    only : sequence of str
        Restrict it to these data sets.
    quick : bool
        Three permutations, or one repeat of the folds.
    jobs : int, optional
        Number of threads. Default: the number of cores.
    substitute : bool
        Use substitutes for data sets that are not available.
    resume : path, optional
        A folder: finished runs are stored there and not run again. Tables and figures share them.
    whole_grid : bool
        Try all values of the paper where only a part of them is tried by default.
    runs : int, optional
        Limit on permutations or draws of folds. The first are those of the full protocol.
    progress : callable, optional
        Called with the number of finished runs and of all runs.

    Returns
    -------
    list of Result
        One per data set and metric. Cells of a set that is not available say so.
    """
    e = find(name)
    folders = [os.fspath(data)] if isinstance(data, (str, os.PathLike)) else list(data)
    unknown = [s for s in only if s not in e.sets]
    if unknown:
        raise InputError(f"{name} has no data set {unknown[0]!r}: it has {', '.join(e.sets)}")
    parts = [part for part in e.parts if not only or part.set in only]
    trials = Trials(folders, quick, jobs, resume, progress, whole_grid, runs)
    trials.total = sum(_size(e, part, trials) for part in parts)
    found: list[Result] = []
    loaded: tuple[tuple[str, str], PaperData] | None = None
    for part in parts:
        start, trials.earlier = time.process_time(), 0.0
        result = _start(e, part, whole_grid)
        try:
            if loaded is None or loaded[0] != (part.set, part.rows):
                loaded = None  # free it first: two large sets may not fit
                loaded = (part.set, part.rows), _load(e, part, trials, substitute)
        except AbsentDataError as absent:
            trials.total -= _size(e, part, trials)
            found.append(_absent(result, e, part, str(absent)))
            continue
        result = _run(result, e, part, loaded[1], trials)
        seconds = trials.earlier + time.process_time() - start
        found.append(dataclasses.replace(result, seconds=seconds))
    if e.wins_ties_losses:
        found.append(table_cells.tallied(e, found))
    return found


def _start(e: Experiment, part: Part, whole_grid: bool) -> Result:
    choice = "" if e.kind == "sets" else _CHOICE[e.choice]
    if e.choice == "best" and thinned(e, part) and not whole_grid:
        choice = choice.replace("the paper's grid", "a part of the paper's grid")
    if e.others != "best":
        choice = _OTHERS[e.others] + (f"; those of {e.tuned_by} for all" if e.tuned_by else "")
    if part.stated and e.against not in (ALPHA, PRICE, LABELS, "learning_rate"):
        choice = "the grid point that the printed digits come from"
    known = {} if e.against in (ALPHA, PRICE, LABELS) else part.stated
    for name in e.stated.keys() & part.learners if e.kind != "sets" else ():
        if name not in known:
            own = ", ".join(f"{key}={value:g}" for key, value in e.stated[name].items())
            choice += f"; {name}: {own}, as stated in the paper"
    return Result(
        experiment=e.name,
        paper=e.paper,
        title=e.title,
        set=part.set,
        metric=part.metric,
        against=e.against,
        choice=choice,
    )


def _size(e: Experiment, part: Part, trials: Trials) -> int:
    """Return the number of runs of a part."""
    if e.kind == "sets" or e.against == "sparsity":
        return 0
    if e.against == "events" and part.metric == "auc":
        return len(part.learners) * trials.runs_of(e)
    return points_of(e, part, trials.whole_grid) * trials.runs_of(e) * len(list(settings(e)))


def _absent(result: Result, e: Experiment, part: Part, note: str) -> Result:
    cells = table_cells.uncounted(e, part) if e.kind == "sets" else table_cells.unfilled(part)
    return dataclasses.replace(result, notes=(note,), cells=tuple(cells))


def _load(e: Experiment, part: Part, trials: Trials, substitute: bool) -> PaperData:
    counting = e.kind == "sets"
    return sets.load(
        part.set,
        trials.folders,
        rows=part.rows,
        scaling="none" if counting else e.scaling,
        zero_rows=e.zero_rows,
        held_out=e.paper == "SOL",
        substitute=substitute,
        limit=_QUICK_ROWS if trials.quick else None,
    )


def _run(result: Result, e: Experiment, part: Part, stream: PaperData, trials: Trials) -> Result:
    result = dataclasses.replace(
        result, data=stream.name, other_data=stream.other, scaling=_SCALING[e.scaling]
    )
    if e.kind == "sets":
        cells = table_cells.counted(e, part, stream)
        result = dataclasses.replace(result, cells=tuple(cells), scaling="")
    elif e.against == "sparsity":
        result = figures.swept(result, e, part, stream, trials)
    elif e.against == "events" and part.metric == "auc":
        result = figures.ranked(result, e, part, stream, trials)
    else:
        fixed = trials.tuned(e, part, stream) if e.others == "tuned" else {}
        done = [(s.x, trials.run(e, part, stream, s, fixed)) for s in settings(e)]
        first = done[0][1]
        words = trials.told(e, first.plan.splits.words)
        result = dataclasses.replace(result, runs=words, notes=first.notes, parameters=fixed)
        is_figure = e.kind == "figure"
        result = figures.drawn(result, done) if is_figure else table_cells.filled(result, first)
    told = [catalog.find(e.learners[name]["is"]) for name in part.learners]
    notes = {entry.note: [each.name for each in told if each.note == entry.note] for entry in told}
    by_learner = [f"{', '.join(names)}: {note}" for note, names in notes.items() if note]
    return dataclasses.replace(result, notes=(*stream.notes, *result.notes, *by_learner))
