"""Scores as probabilities, in plain NumPy: what cpp/core/stream/calibration.hpp says."""

from __future__ import annotations

import numpy as np

BINS, MEMORY = 256, 2**15


def bin_of(score):
    size = min(max(abs(score), 2.0**-16), np.nextafter(2.0**16, 0))
    mantissa, exponent = np.frexp(size)  # size = mantissa 2^exponent, mantissa from 1/2 on
    place = 4 * (int(exponent) - 1 + 16) + int((2 * mantissa - 1) * 4)
    return place + (BINS // 2 if score < 0 else 0)


def middle(k):
    octave, quarter = divmod(k % (BINS // 2), 4)
    size = 2.0 ** (octave - 16) * (1 + (quarter + 0.5) / 4)
    return size if k < BINS // 2 else -size


def until_next(n):
    return min(max(n // 8, 4), MEMORY // 8)


def growth_after(n):
    return 1 + until_next(n) / min(max(n // 4, 16), MEMORY) if n else 1.0


class Calibration:
    """The table, and the curve of the table at the last checkpoint."""

    def __init__(self):
        self.now, self.before = np.zeros((2, BINS)), np.zeros((2, BINS))
        self.unit, self.mass = 1.0, 0.0
        self.labels = self.checkpoint = 0
        self.at, self.value, self.slope = np.zeros(0), np.zeros(0), 0.0

    def record(self, score, y, weight=1.0):
        self.now[int(y > 0), bin_of(score)] += self.unit * weight
        self.labels += 1
        if self.labels == self.checkpoint + (until_next(self.checkpoint) if self.checkpoint else 1):
            self.mass = self.mass / growth_after(self.checkpoint) + self.labels - self.checkpoint
            self.checkpoint = self.labels
            self.before = self.now.copy()
            self.unit *= growth_after(self.checkpoint)
            self._fit()

    def _fit(self):
        middles = np.array([middle(k) for k in range(BINS)])
        order = np.argsort(middles)
        negative, positive = self.before[:, order] * self.mass / self.before.sum()
        used = negative + positive > 0
        x, negative, positive = middles[order][used], negative[used], positive[used]
        a, b = platt(x, negative, positive)
        prior = 1 / (1 + np.exp(-np.clip(a * x + b, -30, 30)))
        before = 1 / np.minimum(prior, 1 - prior)
        weight = negative + positive + before
        share = increasing((positive + before * prior) / weight, weight)
        self.at, self.slope = x, a
        self.value = (15 * np.log(share / (1 - share)) + a * x + b) / 16

    def log_odds(self, score):
        if not len(self.at):
            return 0.0
        outside = self.slope * (min(score - self.at[0], 0) + max(score - self.at[-1], 0))
        return float(np.interp(score, self.at, self.value) + outside)


def platt(x, negative, positive):
    """Newton's method on Platt's likelihood, without any safeguards but small steps at first."""
    p, n = positive.sum(), negative.sum()
    all_, target = positive + negative, positive * (p + 1) / (p + 2) + negative / (n + 2)
    scale = np.sqrt((all_ * x * x).sum() / all_.sum())
    rows = np.stack([x / scale, np.ones_like(x)])

    def loss(at):
        return (all_ * np.logaddexp(0, at @ rows) - target * (at @ rows)).sum()

    constant = np.array([0, np.log((p + 1) / (n + 1))])
    at = constant
    for _ in range(200):
        q = 1 / (1 + np.exp(-(at @ rows)))
        gradient = rows @ (all_ * q - target)
        step = np.linalg.solve((rows * all_ * q * (1 - q)) @ rows.T + 1e-9 * np.eye(2), gradient)
        shrink = 1.0
        while loss(at - shrink * step) > loss(at) and shrink > 1e-9:
            shrink /= 2
        at = at - shrink * step
        if np.abs(gradient).max() < 1e-9:
            break
    if at[0] < 0:
        at = constant
    return at[0] / scale, at[1]


def increasing(values, weights):
    """Return the increasing sequence that is nearest in weighted squares."""
    out = np.array(values)
    for _ in range(len(out)):
        bad = np.flatnonzero(np.diff(out) < 0)
        if not len(bad):
            break
        first = last = bad[0]
        last += 1
        while first > 0 and out[first - 1] == out[first]:
            first -= 1
        while last + 1 < len(out) and out[last + 1] == out[last]:
            last += 1
        part = slice(first, last + 1)
        out[part] = np.average(np.array(values)[part], weights=weights[part])
    return out
