"""Measures of a pass from its scores, with sign(0) = +1. Unrecorded rounds have a NaN score."""

from __future__ import annotations

import numpy as np


def _right(scores, y, weights, label):
    """Share of the weight of a class that is predicted right; NaN without such a class."""
    weights = np.ones(len(y)) if weights is None else weights
    of_class = (y == label) & ~np.isnan(scores)
    right = of_class & (np.where(scores >= 0, 1, -1) == y)
    total = np.sum(weights[of_class])
    return np.sum(weights[right]) / total if total > 0 else np.nan


def sensitivity(scores, y, weights=None):
    return _right(scores, y, weights, 1)


def specificity(scores, y, weights=None):
    return _right(scores, y, weights, -1)


def weighted_sum(scores, y, weights=None, alpha=0.5):
    return alpha * sensitivity(scores, y, weights) + (1 - alpha) * specificity(scores, y, weights)


def weighted_cost(scores, y, weights=None, fn=0.9, fp=0.1):
    weights = np.ones(len(y)) if weights is None else weights
    missed = np.sum(weights[(y > 0) & (scores < 0)])
    alarms = np.sum(weights[(y < 0) & (scores >= 0)])
    return fn * missed + fp * alarms
