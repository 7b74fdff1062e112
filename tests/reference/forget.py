"""Learners that forget: after every so many labels, what they have accumulated counts half."""

from __future__ import annotations

import numpy as np

from .costs import laplace_ratio
from .scaling import unit


class FadingScaler:
    """Running standard scores by recursion, with a number of rows that can be halved."""

    def __init__(self, mode, d, centred):
        self.mode, self.centred = mode, centred
        self.rows, self.mean, self.spread = 0, np.zeros(d), np.zeros(d)

    def absorbed(self, x):
        """The row, once it is part of the statistics, as its learner sees it."""
        if self.mode.startswith("standard"):
            self.rows += 1
            gap = x - self.mean
            if self.centred:
                self.mean = self.mean + gap / self.rows
            self.spread = self.spread + gap * (x - self.mean)
            deviation = np.sqrt(self.spread / self.rows)
            constant = deviation == 0
            x = np.where(constant, 0.0, (x - self.mean) / np.where(constant, 1.0, deviation))
        return unit(x) if self.mode.endswith("unit") else x

    def fade(self):
        self.rows //= 2
        self.spread = self.spread / 2


def fade_variance(oracle):
    """The precision, which began at 1, is halfway back."""
    oracle.sigma = 1 / ((1 / oracle.sigma + 1) / 2)


def fade_squares(oracle):
    oracle.squares = oracle.squares / 2


def fade_rows(oracle):
    oracle.met = {y: [(x, w / 2) for x, w in met] for y, met in oracle.met.items()}


FADES = {
    "AROW": fade_variance,
    "ACOG": fade_variance,
    "AdaFOBOS": fade_squares,
    "OPAUC": fade_rows,
}


def run_forgetting(
    oracle, X, y, *, forget, balanced=False, scaling="none", centred=True, weights=None
):
    """One pass over dense X; returns the scores, each from before its label."""
    weights = np.ones(len(y)) if weights is None else weights
    scaler, fade = FadingScaler(scaling, X.shape[1], centred), FADES[type(oracle).__name__]
    oracle.start(X.shape[1])
    counts, scores = {1: 0.0, -1: 0.0}, np.full(len(y), np.nan)
    for t, i in enumerate(np.flatnonzero(weights), start=1):
        x = scaler.absorbed(X[i])
        scores[i] = oracle.score(x)
        rho = laplace_ratio(counts[1], counts[-1], 0.5) if balanced else 1.0
        counts[int(y[i])] += weights[i]
        oracle.learn(x, y[i], scores[i], rho, weights[i], t)
        if t % forget == 0:
            fade(oracle)
            scaler.fade()
            counts = {label: count / 2 for label, count in counts.items()}
    return scores
