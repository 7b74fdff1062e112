"""The metrics of a comparison, by name."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable

from ..errors import ParameterError, UnknownNameError
from ..estimator.parameters import nearest
from ..evaluation.progress import Progress


@dataclasses.dataclass(frozen=True, kw_only=True)
class Prices:
    """What a measure may need besides the run."""

    alpha: float = 0.5
    fn: float = 0.9
    fp: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise ParameterError("alpha", f"must be from 0 to 1, not {self.alpha!r}")
        for name in ("fn", "fp"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ParameterError(name, f"must be 0 or more, not {getattr(self, name)!r}")


@dataclasses.dataclass(frozen=True)
class Measure:
    """A measure of a run: how it is computed, which way is better, how it is shown."""

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
    "precision": Measure(lambda run, _: run.precision),
    "f1": Measure(lambda run, _: run.f1),
    "mcc": Measure(lambda run, _: run.mcc, percent=False),
    "auc": Measure(lambda run, _: run.auc),
    "average_precision": Measure(lambda run, _: run.average_precision),
    "cost_per_thousand": Measure(
        lambda run, prices: run.cost_per_thousand(prices.fn, prices.fp),
        larger_is_better=False,
        percent=False,
    ),
}
NAMES = (*MEASURES, "precision_at_K")  # K is a number


def measure(name: str) -> Measure:
    """Return a measure by its name.

    Examples
    --------
    >>> measure("precision_at_100").larger_is_better
    True
    """
    if at_k := re.fullmatch(r"precision_at_([1-9]\d{0,17})", str(name)):
        k = int(at_k[1])
        return Measure(lambda run, _: run.precision_at_k(k))
    if name not in MEASURES:
        raise UnknownNameError("metric", name, nearest(str(name), NAMES))
    return MEASURES[name]
