"""Learners with a mean w and a covariance sigma, a (d, d) matrix or its (d,) diagonal.

With weight_state the covariance sees sqrt(weight) x; the mean still sees x.
"""

from __future__ import annotations

import numpy as np

from .costs import hinge, rho_of, slope
from .first_order import Linear


class SecondOrder(Linear):
    """w = 0 and sigma = I at the start."""

    def start(self, d):
        super().start(d)
        self.sigma = np.eye(d) if self.covariance == "full" else np.ones(d)


def times(sigma, x):
    """Sigma x, for a matrix or a diagonal."""
    return sigma @ x if sigma.ndim == 2 else sigma * x


def woodbury(sigma, x, r):
    """(Sigma^-1 + x x' / r)^-1."""
    u = sigma @ x
    return sigma - np.outer(u, u) / (r + np.dot(x, u))


def coordinate(sigma, x, r):
    """Every coordinate for itself: 1 / sigma_i grows by x_i^2 / r."""
    return sigma - sigma**2 * x**2 / (r + sigma * x**2)


def shared(sigma, x, r):
    """The diagonal of the Woodbury step: one denominator for all coordinates."""
    return sigma - sigma**2 * x**2 / (r + np.sum(sigma * x**2))


class AROW(SecondOrder):
    """Crammer et al. 2009; a cost divides r, or multiplies the step of the mean."""

    def __init__(
        self, *, covariance="diagonal", regularization=1.0, weight_state=False, cost_in="r"
    ):
        self.cost_in = cost_in
        self.covariance = covariance
        self.regularization = regularization
        self.weight_state = weight_state

    def learn(self, x, y, score, rho, weight, t):
        loss = hinge(y, score)
        if loss == 0:
            return False
        cost = rho_of(y, rho)
        r = self.regularization / (cost if self.cost_in == "r" else 1)
        step = weight * (1 if self.cost_in == "r" else cost)
        u = times(self.sigma, x)
        beta = 1 / (np.dot(x, u) + r)
        self.w = self.w + step * loss * beta * y * u  # the old sigma
        update = woodbury if self.covariance == "full" else coordinate
        seen = np.sqrt(weight) * x if self.weight_state else x
        self.sigma = update(self.sigma, seen, r)
        return True


class ACOG(SecondOrder):
    """Adaptive cost-sensitive online gradient descent, Zhao et al. 2018, algorithm 1.

    The paper gives no formula for the diagonal; diag_rule="coordinate" is the one that gives
    its table.
    """

    def __init__(
        self,
        *,
        loss="II",
        covariance="diagonal",
        learning_rate=0.1,
        regularization=1.0,
        diag_rule="coordinate",
        sigma="new",
        weight_mode="margin",
        weight_state=False,
    ):
        self.loss = loss
        self.covariance = covariance
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.update = woodbury
        if covariance == "diagonal":
            self.update = {"coordinate": coordinate, "shared": shared}[diag_rule]
        self.mean_step = sigma  # the attribute sigma is the state
        self.weight_mode = weight_mode
        self.weight_state = weight_state

    def learn(self, x, y, score, rho, weight, t):
        kappa = slope(self.loss, y, score, rho_of(y, rho), weight, self.weight_mode)
        if kappa == 0:
            return False
        g = -kappa * y * x
        seen = np.sqrt(weight) * x if self.weight_state else x
        new = self.update(self.sigma, seen, self.regularization)
        used = new if self.mean_step == "new" else self.sigma
        self.w = self.w - self.learning_rate * times(used, g)
        self.sigma = new
        return True
