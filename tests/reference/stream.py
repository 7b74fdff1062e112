"""One progressive pass of an oracle: scale, score, learn, round by round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .costs import known_ratio, laplace_ratio
from .scaling import Scaler


@dataclass
class Pass:
    """What a pass leaves behind.

    Attributes
    ----------
    oracle : the learner in its final state
    scores : one per visited row, in visiting order; NaN for rows of weight 0
    labels, weights : of the visited rows, in visiting order
    updates : number of steps taken
    final_rho : the known ratio, or the online estimate from all labels of the pass
    """

    oracle: object
    scaler: Scaler
    intercept: bool
    scores: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    updates: int
    final_rho: float

    def decision(self, X):
        """Scores of new rows, each scaled as if it came next."""
        prepared = [prepare(self.scaler, x, self.intercept) for x in X]
        return np.array([self.oracle.decision(x) for x in prepared])


def prepare(scaler, x, intercept):
    """Scaled row, with the constant feature 1 in front if there is an intercept."""
    x = scaler.scale(x)
    return np.concatenate([[1.0], x]) if intercept else x


def run(
    oracle,
    X,
    y,
    *,
    weights=None,
    class_weight=None,
    sensitivity_weight=0.5,
    count_current=False,
    known_counts=True,
    scaling="none",
    centred=True,
    intercept=False,
    order=None,
):
    """Start the oracle anew and make one pass over dense X with labels y in {-1, +1}.

    Parameters
    ----------
    class_weight : None, a float or "balanced"
        No costs, the ratio rho, or rho from the class counts.
    known_counts : bool
        "balanced" counts the whole pass first, or only the rounds before the current one
        (and the current one too with count_current).
    order : array of int, optional
        Rows to visit, one after the other.
    """
    order = np.arange(len(y)) if order is None else order
    X, y = np.asarray(X, dtype=float)[order], np.asarray(y)[order]
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)[order]
    scores = np.full(len(y), np.nan)
    scaler = Scaler(scaling, centred)
    oracle.start(X.shape[1] + intercept)

    def ratio(positives, negatives):
        if class_weight is None:
            return 1.0
        if class_weight != "balanced":
            return float(class_weight)
        if known_counts:
            return known_ratio(y, weights, sensitivity_weight)
        return laplace_ratio(positives, negatives, sensitivity_weight)

    positives = negatives = 0.0
    updates = 0
    for t, i in enumerate(np.flatnonzero(weights > 0), start=1):
        x = prepare(scaler, X[i], intercept)
        scaler.absorb(X[i])
        oracle.absorb(x)
        scores[i] = oracle.score(x)
        before = ratio(positives, negatives)
        positives += weights[i] * (y[i] > 0)
        negatives += weights[i] * (y[i] < 0)
        rho = ratio(positives, negatives) if count_current else before
        updates += int(oracle.learn(x, y[i], scores[i], rho, weights[i], t))
    final_rho = ratio(positives, negatives)
    return Pass(oracle, scaler, intercept, scores, y, weights, updates, final_rho)
