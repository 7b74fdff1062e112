"""The cells of a table next to the printed ones."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..comparison import Run
from ..comparison.statistics import paired_t, std
from ..data.sets import registry
from .entries import Column, Experiment, Part, Printed, find
from .prepare import PaperData
from .results import DIFFERENT, NO_DATA, OTHER_DATA, SAME, Cell, Result, faster, off_by, word_for
from .trials import Trial


def filled(result: Result, trial: Trial) -> Result:
    """Add the cells of its table to a result."""
    part = trial.part
    cells: list[Cell] = []
    chosen, honest, near = {}, {}, {}
    for name in part.learners:
        runs = trial.papers(name)
        chosen[name] = usual(runs)
        fair = nearest = None
        if len(trial.learners[name].points) > 1 and trial.experiment.choice != "inner":
            fair, nearest = trial.chosen(name, "honest"), _nearest(trial, name)
            honest[name], near[name] = usual(fair), nearest[0].parameters
        cells += _cells(trial, name, runs, fair, nearest)
    if result.other_data:
        cells = [
            cell
            if math.isnan(cell.off) and not result.substitute  # times of a copy can be compared
            else dataclasses.replace(
                cell, word=OTHER_DATA, nearest_word=OTHER_DATA if cell.nearest_word else ""
            )
            for cell in cells
        ]
    return dataclasses.replace(
        result,
        cells=tuple(cells),
        parameters=chosen,
        honest=honest,
        nearest=near,
        verdicts=verdicts(trial),
    )


def verdicts(trial: Trial) -> dict[str, str]:
    """Return win, tie or loss of the paper's own learners against each other learner.

    A win if all of them are better by a paired t-test at 95 %, a loss if all are worse.
    """
    others = trial.experiment.wins_ties_losses
    values = {name: trial.values(trial.papers(name), trial.part.metric) for name in trial.learners}
    own = [values[name] for name in trial.learners if name not in others]
    found = {}
    for name in others:
        signs = {
            np.sign(mine.mean() - values[name].mean()) * (paired_t(mine, values[name]) < 0.05)
            for mine in own
        }
        found[name] = (
            {1.0: "win", -1.0: "loss"}.get(signs.pop(), "tie") if len(signs) == 1 else "tie"
        )
    return found


def tallied(e: Experiment, results: Sequence[Result]) -> Result:
    """Count wins, ties and losses over all available data sets."""
    there = [result.verdicts for result in results if result.verdicts and not result.other_data]
    cells = []
    for name, printed in e.wins_ties_losses.items():
        counts = Counter(verdict[name] for verdict in there)
        ours = "/".join(str(counts[word]) for word in ("win", "tie", "loss"))
        word = DIFFERENT if len(there) == len(e.sets) else f"{len(there)} of {len(e.sets)} sets"
        cells.append(
            Cell(
                learner=name,
                figure="win/tie/loss",
                published=printed,
                ours=ours if there else "",
                word=(SAME if ours == printed else word) if there else NO_DATA,
            )
        )
    return Result(
        experiment=e.name,
        paper=e.paper,
        title=e.title,
        set="all sets",
        metric=e.parts[0].metric,
        data="all sets" if there else "",
        cells=tuple(cells),
        notes=("both of the paper's own learners better or worse by paired t-tests at 95 %",),
    )


def with_tallies(results: Sequence[Result]) -> list[Result]:
    """Return results with the counts over data sets after the last result of their experiment."""
    found: list[Result] = []
    for name, own in itertools.groupby(results, key=lambda result: result.experiment):
        one = list(own)
        found += one
        if find(name).wins_ties_losses and len({result.set for result in one}) > 1:
            found.append(tallied(find(name), one))
    return found


def unfilled(part: Part) -> list[Cell]:
    """Return the cells of a table whose data is not available."""
    return [
        Cell(learner=learner, figure=str(column), published=str(printed))
        for learner, row in part.printed.items()
        for column, printed in zip(part.columns, row, strict=True)
    ]


def usual(runs: Sequence[Run]) -> Mapping[str, Any]:
    """Return the most frequent parameters."""
    point = Counter(run.point for run in runs).most_common(1)[0][0]
    return next(run.parameters for run in runs if run.point == point)


def _cells(
    trial: Trial, name: str, runs: list[Run], fair: list[Run] | None, near: list[Run] | None
) -> Iterator[Cell]:
    part = trial.part
    for column, printed in zip(part.columns, part.printed[name], strict=True):
        mean, spread = _figure(trial, runs, column)
        cell = Cell(
            learner=name,
            figure=str(column),
            published=str(printed),
            mean=mean,
            std=spread,
            decimals=printed.decimals,
        )
        if column.name == "seconds":
            yield dataclasses.replace(cell, word=faster(printed.mean, mean), decimals=6)
            continue
        off, word = _judged(trial, runs, column, printed)
        cell = dataclasses.replace(cell, off=off, word=word)
        if fair is not None:
            other, other_spread = _figure(trial, fair, column)
            cell = dataclasses.replace(cell, honest_mean=other, honest_std=other_spread)
        if near is not None:
            away, said = _judged(trial, near, column, printed)
            cell = dataclasses.replace(
                cell,
                nearest_mean=_figure(trial, near, column)[0],
                nearest_off=away,
                nearest_word=said,
            )
        yield cell


def _figure(trial: Trial, runs: Sequence[Run], column: Column) -> tuple[float, float]:
    values = trial.values(runs, column.name) * column.scale
    if column.name == "seconds":  # the minimum is least disturbed by other processes
        return float(values.min()), std(values)
    return float(values.mean()), std(values)


def _judged(
    trial: Trial, runs: Sequence[Run], column: Column, printed: Printed
) -> tuple[float, str]:
    mean, spread = _figure(trial, runs, column)
    e = trial.experiment
    theirs, ours = (1, len(runs) // int(e.folds or 1)) if e.draws > 1 else (e.runs, len(runs))
    off = off_by(printed, theirs, mean, spread, ours)
    return off, word_for(printed, off, mean, spread)


def _nearest(trial: Trial, name: str) -> list[Run]:
    """Return the runs at the grid point whose figures are closest to the printed ones."""
    part = trial.part
    pairs = [
        (column, printed)
        for column, printed in zip(part.columns, part.printed[name], strict=True)
        if column.name != "seconds"
    ]

    def away(runs: Sequence[Run]) -> float:
        # In printed deviations: ours is 0 where all predictions are the same.
        gaps = [
            (_figure(trial, runs, column)[0] - printed.mean) / (printed.std or 1.0)
            for column, printed in pairs
        ]
        return math.hypot(*np.nan_to_num(gaps, nan=math.inf))

    points = range(len(trial.learners[name].points))
    return min((trial.at(name, point) for point in points), key=away)


# Tables of data sets -----------------------------------------------------------------------------


def printed_sizes(e: Experiment, part: Part) -> dict[str, str]:
    """Return the printed sizes of a data set."""
    uses = registry.lookup(part.set).uses
    use = next(use for use in uses if (use.paper, use.where) == (e.paper, e.where))
    sizes = {
        "rows": use.rows,
        "test rows": use.test_rows,
        "features": use.features,
        "negatives per positive": use.ratio,
    }
    found = {name: f"{size:.12g}" for name, size in sizes.items() if size is not None}
    extra = e.extra.get(part.set, ())
    return found | dict(zip(("nonzeros", "sparsity %")[: len(extra)], map(str, extra), strict=True))


def uncounted(e: Experiment, part: Part) -> list[Cell]:
    """Return the printed sizes of a data set that is not available."""
    sizes = printed_sizes(e, part)
    return [Cell(learner=part.set, figure=name, published=text) for name, text in sizes.items()]


def counted(e: Experiment, part: Part, stream: PaperData) -> list[Cell]:
    """Return the sizes of a data set next to the printed ones."""
    rows, columns = stream.X.shape
    entries, used = _filled(stream.X)
    ours: dict[str, float] = {
        "rows": rows,
        "features": columns,
        "negatives per positive": (rows - stream.positives) / stream.positives,
        "nonzeros": entries,
        "sparsity %": 100 * (1 - used / columns),
    }
    if stream.test is not None:
        ours["test rows"] = stream.test[0].shape[0]
    cells = []
    for name, text in printed_sizes(e, part).items():
        mean = float(ours.get(name, math.nan))
        decimals = len(text.partition(".")[2])
        word = SAME if f"{mean:.{decimals}f}" == text else DIFFERENT
        word = OTHER_DATA if stream.other else NO_DATA if math.isnan(mean) else word
        cells.append(
            Cell(
                learner=part.set,
                figure=name,
                published=text,
                mean=mean,
                word=word,
                decimals=decimals,
            )
        )
    return cells


def _filled(X: Any) -> tuple[int, int]:
    """Return the number of nonzero cells and of columns that have any."""
    if isinstance(X, np.ndarray):
        return int(np.count_nonzero(X)), int(np.any(X, axis=0).sum())
    there = X.data != 0
    return int(there.sum()), len(np.unique(X.indices[there]))
