"""What is known of one run: its counts along the way, and how its scores came out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import InputTypeError
from ..evaluation.changes import Change
from ..evaluation.periods import Periods
from ..evaluation.progress import Progress
from ..evaluation.reliability import Reliability
from ..metrics import Counts, Levels


@dataclasses.dataclass(frozen=True)
class Course:
    """One run.

    Attributes
    ----------
    counts : sequence of Counts
        Cumulative along the run; the last are those of the complete run.
    levels : Levels, optional
        The scores: what other thresholds would have done.
    reliability : Reliability, optional
        The probabilities.
    periods : Periods
        The measures of each period.
    changes : sequence of Change
        Where the stream changed.
    own_prices : bool
        Whether each event has its own prices, so that `money` is what the run cost.
    """

    counts: Sequence[Counts]
    levels: Levels | None = None
    reliability: Reliability | None = None
    periods: Periods = dataclasses.field(default_factory=Periods)
    changes: Sequence[Change] = ()
    own_prices: bool = False


def course_of(run: Any, cost: tuple[float, float]) -> Course:
    """Return what is known of a run."""
    if isinstance(run, Course):
        return run
    if isinstance(run, Progress):
        total = Counts.of(run)
        own = run.prices is not None and len(run.prices) > 1
        both = total.positives > 0 and total.negatives > 0 and not np.isnan(run.scores).all()
        return Course(
            [*(c for c in run.curve if c.events < total.events), total],
            levels=run.levels if both else None,
            reliability=None if run.chances is None else run.reliability,
            periods=run.periods("auto" if run.days is None else "day", cost=None if own else cost),
            changes=run.changes,
            own_prices=own,
        )
    points = list(run) if isinstance(run, Iterable) else [run]
    if not points or not all(isinstance(point, Counts) for point in points):
        raise InputTypeError(f"a report is made from Progress or Counts, not from {run!r}")
    return Course(points)
