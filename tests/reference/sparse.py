"""Learners of sparse weights: every weight is brought up to date in every round.

Langford et al. 2009 (STG), Duchi & Singer 2009 (FOBOS), Duchi, Hazan & Singer 2011 (Ada-FOBOS,
Ada-RDA), Xiao 2010 (RDA), Wang et al. (FSOL, SSOL and their cost-sensitive forms).

The loss is the plain hinge; the cost of the class times the weight of the event multiplies its
gradient. `rounds` is the number of rounds so far, so round t is scored when it is t - 1.
"""

from __future__ import annotations

import numpy as np

from .costs import hinge, rho_of
from .first_order import Linear
from .second_order import coordinate, shared, times, woodbury


def soft(v, a):
    """Every v_i moved towards 0 by a, and no further."""
    return np.where(np.abs(v) <= a, 0.0, np.sign(v) * (np.abs(v) - a))


class Sparse(Linear):
    """Gradient of the weighted hinge loss, then what `step` makes of it, every round.

    After the pass weights below `clip` are zero.
    """

    def __init__(self, *, learning_rate=1.0, l1=0.0, clip=0.0):
        self.learning_rate = learning_rate
        self.l1 = l1
        self.clip = clip

    def start(self, d):
        super().start(d)
        self.rounds = 0

    @property
    def coef(self):
        return np.where(np.abs(self.w) < self.clip, 0.0, self.w)

    def decision(self, x):
        return float(np.dot(self.coef, x))

    def learn(self, x, y, score, rho, weight, t):
        cost = rho_of(y, rho) * weight if hinge(y, score) > 0 else 0.0
        self.rounds += 1
        self.step(-cost * y * x)
        return cost > 0


class TruncatedGradient(Sparse):
    """A gradient step; every `period` rounds the weights up to `ceiling` shrink.

    They shrink by l1 times the rates since the last time. Period 1 and no ceiling is FOBOS.
    """

    def __init__(self, *, schedule="constant", period=1, ceiling=None, **options):
        super().__init__(**options)
        self.schedule = schedule
        self.period = period
        self.ceiling = np.inf if ceiling is None else ceiling

    def start(self, d):
        super().start(d)
        self.owed = 0.0

    def step(self, g):
        eta = self.learning_rate / (np.sqrt(self.rounds) if self.schedule == "sqrt" else 1.0)
        self.w = self.w - eta * g
        self.owed += eta * self.l1
        if self.rounds % self.period == 0:
            small = np.abs(self.w) <= self.ceiling
            self.w = np.where(small, soft(self.w, self.owed), self.w)
            self.owed = 0.0


class AdaFOBOS(Sparse):
    """FOBOS with a rate of its own for every weight, eta / (delta + root of its squares)."""

    def __init__(self, *, delta=10.0, **options):
        super().__init__(**options)
        self.delta = delta

    def start(self, d):
        super().start(d)
        self.squares = np.zeros(d)

    def step(self, g):
        self.squares = self.squares + g**2
        rate = self.learning_rate / (self.delta + np.sqrt(self.squares))
        self.w = soft(self.w - rate * g, rate * self.l1)


class Averaging(Sparse):
    """Weights that are a function of the summed gradients `total` and of the round to come.

    With schedule="sqrt" the gradient of round t is divided by the square root of t.
    """

    parts = ("total", "squares", "sigma")

    def __init__(self, *, schedule="constant", **options):
        super().__init__(**options)
        self.rate_schedule = schedule

    def start(self, d):
        self.rounds = 0
        self.total = np.zeros(d)

    def step(self, g):
        share = np.sqrt(self.rounds) if self.rate_schedule == "sqrt" else 1.0
        self.total = self.total + g / share


class AdaRDA(Averaging):
    """Dual averaging with the rates of `AdaFOBOS`.

    offset=1 counts the round to come in the threshold, as LIBSOL does.
    """

    def __init__(self, *, delta=10.0, offset=0, **options):
        super().__init__(**options)
        self.delta = delta
        self.offset = offset

    def start(self, d):
        super().start(d)
        self.squares = np.zeros(d)

    def step(self, g):
        self.squares = self.squares + g**2
        super().step(g)

    @property
    def w(self):
        rate = self.learning_rate / (self.delta + np.sqrt(self.squares))
        return -rate * soft(self.total, self.l1 * (self.rounds + self.offset))


class RDA(Averaging):
    """w = -(1/beta) soft(total, l1 (t - 1) + more); beta grows with t - 1 as `beta` says.

    "constant": gamma. "sqrt": gamma sqrt(t - 1). "linear": gamma (t - 1). gamma is
    1 / learning_rate, and more is gamma enhancement sqrt(t - 1).
    """

    def __init__(self, *, beta="constant", enhancement=0.0, **options):
        super().__init__(**options)
        self.beta = beta
        self.enhancement = enhancement

    @property
    def w(self):
        seen, gamma = self.rounds, 1 / self.learning_rate
        if seen == 0:
            return np.zeros_like(self.total)
        growth = {"constant": 1.0, "sqrt": np.sqrt(seen), "linear": seen}[self.beta]
        threshold = self.l1 * seen + gamma * self.enhancement * np.sqrt(seen)
        return -soft(self.total, threshold) / (gamma * growth)


def threshold(schedule, l1, eta, t):
    """lambda_t of FSOL and SSOL."""
    return {
        "constant": eta * l1,
        "rda": eta * l1 * (t - 1),
        "inverse": l1 / t,
        "sqrt": l1 * np.sqrt(t),
        "inverse_sqrt": l1 / np.sqrt(t),
    }[schedule]


class FSOL(Averaging):
    """Algorithm 3 (6 with costs): theta = -eta total, soft-thresholded."""

    def __init__(self, *, l1_schedule="constant", **options):
        super().__init__(**options)
        self.schedule = l1_schedule

    @property
    def w(self):
        eta = self.learning_rate
        return soft(-eta * self.total, threshold(self.schedule, self.l1, eta, self.rounds + 1))


def DualAveraging(*, l1_schedule="constant", **options):  # noqa: N802
    """The library has RDA and FSOL in one class."""
    if l1_schedule == "rda":
        return RDA(**options)
    return FSOL(l1_schedule=l1_schedule, **options)


class SSOL(Averaging):
    """Algorithms 4 and 5 (7 with costs): FSOL in the geometry of all rows, the present one too.

    `run` absorbs a row before it is scored. Later scores are those of the frozen weights, or with
    transductive=True those after absorbing the row to be scored.
    """

    def __init__(
        self,
        *,
        regularization=1.0,
        covariance="diagonal",
        diag_rule="shared",
        l1_schedule="inverse",
        transductive=False,
        **options,
    ):
        super().__init__(**options)
        self.regularization = regularization
        self.covariance = covariance
        self.update = woodbury
        if covariance == "diagonal":
            self.update = {"coordinate": coordinate, "shared": shared}[diag_rule]
        self.schedule = l1_schedule
        self.transductive = transductive

    def start(self, d):
        super().start(d)
        self.sigma = np.eye(d) if self.covariance == "full" else np.ones(d)

    def absorb(self, x):
        self.sigma = self.update(self.sigma, x, self.regularization)

    @property
    def w(self):
        eta = self.learning_rate
        u = times(self.sigma, -eta * self.total)
        return soft(u, threshold(self.schedule, self.l1, eta, self.rounds + 1))

    def decision(self, x):
        frozen = self.sigma
        if self.transductive:
            self.absorb(x)
        score = super().decision(x)
        self.sigma = frozen
        return score
