"""The measures by which learners are compared, by name."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from ._parameters import nearest
from .evaluation import Progress


@dataclasses.dataclass(frozen=True, kw_only=True)
class Prices:
    """What a measure may ask for beside the run."""

    alpha: float = 0.5
    fn: float = 0.9
    fp: float = 0.1


@dataclasses.dataclass(frozen=True)
class Measure:
    """A figure of a run: how it is computed, which way is better, how it is shown."""

    of: Callable[[Progress, Prices], float]
    larger_is_better: bool = True
    percent: bool = True


MEASURES: dict[str, Measure] = {
    "sum": Measure(lambda run, prices: run.sum(prices.alpha, unseen=math.nan)),
    "cost": Measure(
        lambda run, prices: run.cost(prices.fn, prices.fp), larger_is_better=False, percent=False
    ),
    "sensitivity": Measure(lambda run, _: run.sensitivity),
    "specificity": Measure(lambda run, _: run.specificity),
    "accuracy": Measure(lambda run, _: run.accuracy),
    "auc": Measure(lambda run, _: run.auc),
}


def measure(name: str) -> Measure:
    """Return a measure by its name."""
    if name not in MEASURES:
        raise ValueError(f"there is no metric {name!r}: {nearest(str(name), MEASURES)}")
    return MEASURES[name]
