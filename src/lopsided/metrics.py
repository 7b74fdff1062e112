"""Measures of a learner on a lopsided stream."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike


@dataclasses.dataclass(frozen=True, kw_only=True)
class Counts:
    """What happened in a stretch of a stream, in sums of weights."""

    positives: float = 0.0
    negatives: float = 0.0
    false_negatives: float = 0.0
    false_positives: float = 0.0
    events: int = 0
    queries: int = 0
    updates: int = 0

    @property
    def sensitivity(self) -> float:
        """Share of the positives that were found; NaN without positives."""
        return _share(self.positives - self.false_negatives, self.positives)

    @property
    def specificity(self) -> float:
        """Share of the negatives that were let pass; NaN without negatives."""
        return _share(self.negatives - self.false_positives, self.negatives)

    @property
    def accuracy(self) -> float:
        """Share of all events that were told right."""
        total = self.positives + self.negatives
        return _share(total - self.false_negatives - self.false_positives, total)

    def sum(self, alpha: float = 0.5, unseen: float = 0.0) -> float:
        """Return alpha * sensitivity + (1 - alpha) * specificity; at 0.5 the balanced accuracy.

        A class that has not been seen counts with `unseen`.
        """
        sensitivity = self.sensitivity if self.positives else unseen
        specificity = self.specificity if self.negatives else unseen
        return alpha * sensitivity + (1 - alpha) * specificity

    def cost(self, fn: float = 0.9, fp: float = 0.1) -> float:
        """Return the total price of the mistakes, of a missed positive and of a false alarm."""
        return fn * self.false_negatives + fp * self.false_positives


def auc(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    ties: str = "half",
) -> float:
    """Return the chance that a positive scores above a negative.

    Parameters
    ----------
    y : array
        Labels; those above 0 are positive.
    scores : array
        One score a label.
    sample_weight : array, optional
        One weight a label.
    ties : {"half", "strict"}
        Whether a pair of equal scores counts half or not at all.

    Returns
    -------
    float
        NaN when a class is absent.

    Examples
    --------
    >>> auc([1, -1, 1, -1], [0.9, 0.1, 0.4, 0.4])
    0.875
    """
    if ties not in ("half", "strict"):
        raise ValueError(f"ties={ties!r} is not possible; it must be 'half' or 'strict'")
    positive = np.asarray(y) > 0
    values = np.asarray(scores, dtype=np.float64)
    weights = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, float)
    if not len(positive) == len(values) == len(weights):
        raise ValueError("y, scores and weights must be of one length")
    if np.isnan(values[weights > 0]).any():
        raise ValueError("scores contain NaN")
    levels, at = np.unique(values, return_inverse=True)
    up = np.bincount(at, np.where(positive, weights, 0.0), len(levels))
    down = np.bincount(at, np.where(positive, 0.0, weights), len(levels))
    pairs = up.sum() * down.sum()
    if pairs == 0:
        return math.nan
    below = np.cumsum(down) - down
    won = up @ below + (0.5 * (up @ down) if ties == "half" else 0.0)
    return float(won / pairs)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
