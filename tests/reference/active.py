"""One progressive pass of an oracle that buys labels.

Written from the formulas: nothing is kept but the list of labels bought, and every budget is
counted anew from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .costs import known_ratio, laplace_ratio
from .scaling import Scaler
from .sketch import MASK, splitmix64
from .stream import prepare


def uniforms(seed):
    """Numbers in [0, 1) with 53 bits: the k-th is a mix of the mixed seed plus k."""
    key, k = splitmix64(seed), 0
    while True:
        yield (splitmix64((key + k) & MASK) >> 11) / 2**53
        k += 1


def variance(oracle, x):
    """x' Sigma x with the Sigma of an oracle as it is."""
    if hasattr(oracle, "sketch"):
        V, h = oracle.sketch.directions(), oracle.sketch.h
        return max(0.0, np.dot(x, x) - np.sum(h * (V @ x) ** 2))
    sigma = oracle.sigma
    return x @ sigma @ x if sigma.ndim == 2 else np.sum(sigma * x**2)


def query_probability(oracle, x, p, rho, *, query, delta_pos, delta_neg, probability, explore):
    """The chance of a question, before the budget."""
    delta = delta_pos if p >= 0 else delta_neg
    if query == "always":
        pi = 1.0
    elif query == "random":
        pi = probability
    elif query in ("margin", "asymmetric"):
        pi = delta / (delta + abs(p))
    else:
        v, gamma = variance(oracle, x), oracle.regularization
        eta = getattr(oracle, "learning_rate", 1.0)
        q = abs(p) - 0.5 * eta * max(1.0, rho) * v * gamma / (v + gamma)
        pi = 1.0 if q <= 0 else delta / (delta + q)
    return explore + (1 - explore) * pi


class Uncertainty:
    """The chance of a question by uncertainty, from the log odds of the positive class.

    most : how many labels may ever be bought, where that is fixed
    """

    def __init__(self, rate, most=np.inf):
        self.rate, self.most = rate, most
        self.known = {1: 0, -1: 0}
        self.events, self.mean = 0, 0.0

    def probability(self, log_odds, bought):
        p = 1 / (1 + np.exp(-log_odds))
        u = np.sqrt(p * (1 - p))
        self.events += 1
        self.mean += (u - self.mean) / min(self.events, 1024)
        if min(self.known.values()) < 5 and bought < self.most / 2:
            return 1.0
        return min(1.0, self.rate * (0.1 + 0.9 * u / self.mean))


def may_buy(budget, days, bought, t):
    """Whether event t may be asked for, `bought` being the events whose labels were bought.

    budget : None or a dict of labels or fraction, per (a number or "day") and saving
    """
    if budget is None:
        return True
    if "fraction" in budget:
        return len(bought) + 1 <= np.floor(budget["fraction"] * (t + 1))
    labels, per = budget["labels"], budget.get("per")
    if per is None:
        return len(bought) < labels

    def period(event):
        if per == "day":
            return days[event] - days[0]
        return event // per

    if budget.get("saving"):
        return len(bought) < labels * (period(t) + 1)
    return sum(period(event) == period(t) for event in bought) < labels


@dataclass
class ActivePass:
    """What a pass leaves behind; events of weight 0 have the score and probability NaN."""

    oracle: object
    scores: np.ndarray
    probabilities: np.ndarray
    asked: np.ndarray
    updates: int
    final_rho: float
    waiting: list


def run_active(
    oracle,
    X,
    y,
    *,
    query,
    delta_pos=1.0,
    delta_neg=1.0,
    probability=1.0,
    explore=0.0,
    seed=0,
    budget=None,
    days=None,
    delays=None,
    weights=None,
    class_weight=None,
    known_counts=True,
    scaling="none",
    centred=True,
    intercept=False,
):
    """Start the oracle anew and make one pass; labels come `delays` events after their event."""
    weights = np.ones(len(y)) if weights is None else weights
    delays = np.zeros(len(y)) if delays is None else delays
    here = np.flatnonzero(weights > 0)
    # An event of an earlier day counts for the present one.
    days = None if days is None else np.maximum.accumulate(np.asarray(days)[here])
    scores, probabilities = np.full(len(y), np.nan), np.full(len(y), np.nan)
    asked = np.zeros(len(y), bool)
    scaler, draws = Scaler(scaling, centred), uniforms(seed)
    oracle.start(X.shape[1] + intercept)
    counts = {1: 0.0, -1: 0.0}

    def ratio():
        if class_weight != "balanced":
            return 1.0 if class_weight is None else class_weight
        if known_counts:
            return known_ratio(y, weights, 0.5)
        return laplace_ratio(counts[1], counts[-1], 0.5)

    bought, waiting, updates, rounds = [], [], 0, 0
    for t, i in enumerate(here):
        x = prepare(scaler, X[i], intercept)
        scaler.absorb(X[i])
        scores[i] = oracle.score(x)
        probabilities[i] = 0.0
        if may_buy(budget, days, bought, t):
            probabilities[i] = query_probability(
                oracle,
                x,
                scores[i],
                ratio(),
                query=query,
                delta_pos=delta_pos,
                delta_neg=delta_neg,
                probability=probability,
                explore=explore,
            )
            asked[i] = probabilities[i] >= 1 or next(draws) < probabilities[i]
        if asked[i]:
            bought.append(t)
            waiting.append((t + delays[i], t, i, x))
        waiting.sort(key=lambda one: one[:2])
        while waiting and waiting[0][0] <= t:
            _, _, j, then = waiting.pop(0)
            rho = ratio()
            counts[int(y[j])] += weights[j]
            rounds += 1
            score = oracle.score(then)  # with the weights of now
            updates += bool(oracle.learn(then, y[j], score, rho, weights[j], rounds))
    left = sorted(t for _, t, _, _ in waiting)
    return ActivePass(oracle, scores, probabilities, asked, updates, ratio(), left)
