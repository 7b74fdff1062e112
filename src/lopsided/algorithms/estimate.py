"""How good predictions were, from labels that were bought with known probabilities."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True, kw_only=True)
class Estimate:
    """How good the predictions were on all events, estimated from the labels that were bought.

    Every bought label stands for 1 / probability events (Horvitz & Thompson). This is free of bias
    for the events that were met while a label could be bought; it says nothing of the others, and
    labels that were bought and never told are missing. Errors are standard errors.

    Attributes
    ----------
    events : float
        Weight of the events that were met while a label could be bought: what is estimated.
    labels : float
        The same, as the bought labels estimate it.
    sensitivity, specificity : float
        Shares of positives and negatives told right: a ratio of two estimates.
    cost : float
        Price of the mistakes.
    normalised_cost : float
        The same scaled to the weight of the events: a little bias, often less variance.
    sensitivity_error, specificity_error, cost_error, normalised_cost_error : float
        Standard errors.
    """

    events: float
    labels: float
    sensitivity: float
    sensitivity_error: float
    specificity: float
    specificity_error: float
    cost: float
    cost_error: float
    normalised_cost: float
    normalised_cost_error: float


def estimate_from(sums: Mapping[str, float], fn: float, fp: float) -> Estimate:
    """Return the estimate that the sums of the core give."""

    def error(*parts: tuple[str, float, float]) -> float:
        """Return the root of the variance, of (class, mistakes, price of one, price of no one)."""
        total = 0.0
        for name, wrong, right in parts:
            mistakes = {"positives": "false_negatives", "negatives": "false_positives"}[name]
            bad = sums[f"{mistakes}.spread"]
            total += bad * wrong**2 + (sums[f"{name}.spread"] - bad) * right**2
        return math.sqrt(max(0.0, total))

    def share(name: str, mistakes: str) -> tuple[float, float]:
        total = sums[name]
        if not total:
            return math.nan, math.nan
        missed = sums[mistakes] / total
        return 1 - missed, error((name, 1 - missed, missed)) / total

    sensitivity, sensitivity_error = share("positives", "false_negatives")
    specificity, specificity_error = share("negatives", "false_positives")
    labels = sums["positives"] + sums["negatives"]
    cost = fn * sums["false_negatives"] + fp * sums["false_positives"]
    mean = cost / labels if labels else math.nan
    scale = sums["open"] / labels if labels else math.nan
    return Estimate(
        events=sums["open"],
        labels=labels,
        sensitivity=sensitivity,
        sensitivity_error=sensitivity_error,
        specificity=specificity,
        specificity_error=specificity_error,
        cost=cost,
        cost_error=error(("positives", fn, 0.0), ("negatives", fp, 0.0)),
        normalised_cost=cost * scale,
        normalised_cost_error=scale
        * error(("positives", fn - mean, mean), ("negatives", fp - mean, mean)),
    )
