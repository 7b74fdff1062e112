"""Learners whose state is a weight vector.

`learn` gets the score computed before the round and says whether a step was taken.
"""

from __future__ import annotations

import numpy as np

from .costs import hinge, rho_of, slope


def is_mistake(y, p):
    """The prediction is +1 for p >= 0, so at p = 0 only a negative is a mistake."""
    return (1 if p >= 0 else -1) != y


class Linear:
    """w = 0 at the start, and the score w . x.

    `absorb` may look at a row before it is scored in a pass; `decision` scores a row after it, with
    the weights `coef`. `parts` names the state that is rounded on the way.
    """

    b = 0.0
    parts = ("w", "b", "sigma")

    def start(self, d):
        self.w = np.zeros(d)

    def absorb(self, x):
        pass

    def score(self, x):
        return float(np.dot(self.w, x))

    @property
    def coef(self):
        return self.w

    def decision(self, x):
        return self.score(x)


class Perceptron(Linear):
    """Rosenblatt 1958."""

    def learn(self, x, y, score, rho, weight, t):
        if not is_mistake(y, score):
            return False
        self.w = self.w + rho_of(y, rho) * weight * y * x
        return True


class ROMMA(Linear):
    """Li and Long 1999: the shortest w' with y w'.x = 1 and w'.w = |w|^2."""

    def __init__(self, *, aggressive=False, eps=1e-12):
        self.aggressive = aggressive
        self.eps = eps

    def learn(self, x, y, score, rho, weight, t):
        triggered = hinge(y, score) > 0 if self.aggressive else is_mistake(y, score)
        xx = np.dot(x, x)
        ww = np.dot(self.w, self.w)
        if not triggered or xx == 0:
            return False
        if ww == 0:
            self.w = self.w + y * x
            return True
        det = xx * ww - score**2
        if det <= self.eps * xx * ww:  # x is parallel to w
            return False
        self.w = (xx * ww - y * score) / det * self.w + ww * (y - score) / det * x
        return True


class PassiveAggressive(Linear):
    """Crammer et al. 2006; costs are the margin (loss I) or multiply C (loss II)."""

    def __init__(self, *, variant="PA-I", loss="II", C=1.0):
        self.variant = variant
        self.loss = loss
        self.C = C

    def learn(self, x, y, score, rho, weight, t):
        cost = rho_of(y, rho)
        loss = max(0.0, cost - y * score) if self.loss == "I" else hinge(y, score)
        xx = np.dot(x, x)
        if loss == 0 or xx == 0:
            return False
        C = weight * self.C * (1.0 if self.loss == "I" else cost)
        if self.variant == "PA":
            tau = loss / xx
        elif self.variant == "PA-I":
            tau = min(C, loss / xx)
        elif self.variant == "PA-II":
            tau = loss / (xx + 1 / (2 * C))
        self.w = self.w + tau * y * x
        return True


class PAUM(Linear):
    """Perceptron with uneven margins, Li et al. 2002; the only trigger that is not strict."""

    def __init__(
        self,
        *,
        learning_rate=1.0,
        margin_pos=1.0,
        margin_neg=1.0,
        bias=False,
        radius=None,
        weight_mode="margin",
    ):
        self.learning_rate = learning_rate
        self.margin_pos = margin_pos
        self.margin_neg = margin_neg
        self.bias = bias
        self.radius = radius
        self.weight_mode = weight_mode

    def start(self, d):
        super().start(d)
        self.b = 0.0
        self.R = 0.0 if self.radius is None else self.radius

    def score(self, x):
        return float(np.dot(self.w, x) + self.b)

    def learn(self, x, y, score, rho, weight, t):
        if self.radius is None:
            self.R = max(self.R, np.sqrt(np.dot(x, x)))
        tau = (self.margin_pos if y > 0 else self.margin_neg) * rho_of(y, rho)
        eta = self.learning_rate
        if self.weight_mode == "margin":
            tau = tau * weight
        else:
            eta = eta * weight
        if y * score > tau:
            return False
        self.w = self.w + eta * y * x
        if self.bias:
            self.b = self.b + eta * y * self.R**2
        return True


class CPA(Linear):
    """Prediction-based cost-sensitive passive-aggressive learner, Crammer et al. 2006.

    "strict" is the paper's rule for two classes: a step on a mistake only. "hinge", the form
    behind the tables of Wang, Zhao, Hoi 2012, has the trigger of the plain hinge loss and
    "max-loss" that of its own loss.
    """

    def __init__(self, *, variant="hinge", C=None):
        self.variant = variant
        self.C = C

    def learn(self, x, y, score, rho, weight, t):
        root = np.sqrt(rho_of(y, rho))
        if self.variant == "strict":
            loss = abs(score) + root if is_mistake(y, score) else 0.0
        elif self.variant == "hinge":
            loss = max(0.0, root - y * score) if hinge(y, score) > 0 else 0.0
        elif self.variant == "max-loss":
            loss = max(0.0, root - y * score)
        xx = np.dot(x, x)
        if loss == 0 or xx == 0:
            return False
        tau = loss / xx
        if self.C is not None:
            tau = min(tau, self.C * weight)
        self.w = self.w + tau * y * x
        return True


class COG(Linear):
    """Cost-sensitive online gradient descent, Wang, Zhao, Hoi 2012, algorithm 1."""

    def __init__(self, *, loss="II", learning_rate=0.1, schedule="constant", weight_mode="margin"):
        self.loss = loss
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.weight_mode = weight_mode

    def learn(self, x, y, score, rho, weight, t):
        kappa = slope(self.loss, y, score, rho_of(y, rho), weight, self.weight_mode)
        if kappa == 0:
            return False
        eta = self.learning_rate / (np.sqrt(t) if self.schedule == "sqrt" else 1.0)
        self.w = self.w + eta * kappa * y * x
        return True
