"""Consistency checks between the printed figures; no data is needed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..data.sets import registry
from .entries import Experiment, Part, Printed, experiments


def contradictions(experiment: Experiment) -> list[str]:
    """Return contradictions between the figures of a table, or with the sizes of its data sets.

    Examples
    --------
    >>> from lopsided.papers import find
    >>> for text in contradictions(find("acog-table-6")):
    ...     print(text)
    protein, sum of SSACOG-II: 71.900±0.204 here, 71.323±0.132 in acog-table-5
    """
    found = []
    for part in experiment.parts:
        found += [f"{part.set}, {text}" for text in _sums(part)]
        found += [f"{part.set}, {text}" for text in _costs(experiment, part)]
        found += [f"{part.set}, {text}" for text in _twice(experiment, part)]
    return found


def _row(part: Part, learner: str) -> dict[str, Printed]:
    return {
        column.name: number
        for column, number in zip(part.columns, part.printed[learner], strict=True)
    }


def _sums(part: Part) -> Iterator[str]:
    """Find sums that are not the mean of sensitivity and specificity."""
    for learner in part.printed:
        row = _row(part, learner)
        if part.metric != "sum" or "sensitivity" not in row:
            continue
        mean = (row["sensitivity"].mean + row["specificity"].mean) / 2
        if abs(row["sum"].mean - mean) > 0.0011:
            yield (
                f"sum of {learner}: {row['sum'].mean:.3f} is printed, the mean of its sensitivity "
                f"and specificity is {mean:.3f}"
            )


def _costs(experiment: Experiment, part: Part) -> Iterator[str]:
    """Derive the class counts from the costs; find contradicting sizes and outlying costs."""
    rows = {name: _row(part, name) for name in part.printed}
    if part.metric != "cost" or not any("sensitivity" in row for row in rows.values()):
        return
    unit = next(1 / c.scale for c in part.columns if c.name == "cost")
    names = list(rows)
    missed = np.array([1 - rows[n]["sensitivity"].mean / 100 for n in names]) * experiment.fn
    alarms = np.array([1 - rows[n]["specificity"].mean / 100 for n in names]) * experiment.fp
    costs = np.array([rows[n]["cost"].mean for n in names]) * unit
    # The rounding error of the printed digits.
    tolerance = 0.5e-3 * unit + 0.5e-5 * 1.1 * np.array([_rows(part) or 1e5] * len(names))
    counts, bad = _fitted(missed, alarms, costs, tolerance)
    uses = registry.lookup(part.set).uses
    printed = next((u for u in uses if u.paper == experiment.paper and u.rows), None)
    p, n = (round(float(c)) for c in counts)
    if printed and abs(p + n - (printed.rows or 0)) > 0.01 * (p + n):
        yield (
            f"the costs are of {p:,} positives and {n:,} negatives; {printed.where} says "
            f"{printed.rows:,} rows"
        )
    elif printed and printed.ratio and abs(n / p - printed.ratio) > 0.06 * printed.ratio:
        yield (
            f"the costs are of {p:,} positives and {n:,} negatives, 1:{n / p:.3g}; "
            f"{printed.where} says 1:{printed.ratio:g}"
        )
    for k in bad:
        right = float(missed[k] * counts[0] + alarms[k] * counts[1]) / unit
        yield (
            f"cost of {names[k]}: {costs[k] / unit:.3f} is printed, its sensitivity and "
            f"specificity make {right:.3f}"
        )


def _rows(part: Part) -> int | None:
    return registry.lookup(part.set).rows


def _fitted(
    missed: NDArray[np.float64],
    alarms: NDArray[np.float64],
    costs: NDArray[np.float64],
    tolerance: NDArray[np.float64],
) -> tuple[NDArray[np.float64], list[int]]:
    """Fit the counts of both classes to the costs; return them and the outliers."""
    bad: list[int] = []
    while True:
        kept = [k for k in range(len(costs)) if k not in bad]
        A = np.stack([missed[kept], alarms[kept]], axis=1)
        counts: NDArray[np.float64] = np.linalg.lstsq(A, costs[kept], rcond=None)[0].astype(float)
        wrong = np.abs(A @ counts - costs[kept]) / tolerance[kept]
        if wrong.max() <= 3 or len(kept) <= 4:
            return counts, bad
        bad.append(kept[int(wrong.argmax())])


def _twice(experiment: Experiment, part: Part) -> Iterator[str]:
    """Find figures that another table of the same paper prints differently."""
    for other in experiments():
        if other.paper != experiment.paper or other.name == experiment.name:
            continue
        if other.folds != experiment.folds:
            continue
        for there in other.parts:
            if (there.set, there.metric) != (part.set, part.metric):
                continue
            for learner in part.printed:
                if learner not in there.printed:
                    continue
                ours, theirs = _row(part, learner)[part.metric], _row(there, learner)[part.metric]
                if ours != theirs:
                    yield f"{part.metric} of {learner}: {ours} here, {theirs} in {other.name}"
