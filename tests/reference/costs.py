"""The cost ratio rho, and the two cost-sensitive hinge losses."""

from __future__ import annotations

import numpy as np


def rho_of(y, rho):
    """rho_y: what a mistake on class y costs, in mistakes on the negative class."""
    return rho if y > 0 else 1.0


def known_ratio(y, weights, sensitivity_weight):
    """rho = (alpha_p T_n) / (alpha_n T_p) from the whole pass; T + 1 when a class is missing."""
    positives = np.sum(weights[y > 0])
    negatives = np.sum(weights[y < 0])
    if positives == 0 or negatives == 0:
        return laplace_ratio(positives, negatives, sensitivity_weight)
    return sensitivity_weight / (1 - sensitivity_weight) * negatives / positives


def laplace_ratio(positives, negatives, sensitivity_weight):
    """rho_t = (alpha_p / alpha_n) (t_n + 1) / (t_p + 1) from the labels seen so far."""
    return sensitivity_weight / (1 - sensitivity_weight) * (negatives + 1) / (positives + 1)


def hinge(y, p):
    """max(0, 1 - y p)."""
    return max(0.0, 1.0 - y * p)


def slope(loss, y, p, rho_y, weight, weight_mode):
    """kappa of the subgradient -kappa y x of a cost-sensitive hinge loss; 0 where the loss is 0.

    Wang, Zhao, Hoi 2012: l^I = max(0, rho_y - y p), where the cost moves the margin, and
    l^II = rho_y max(0, 1 - y p), where it changes the slope. The weight of an example multiplies
    whatever the cost does; with weight_mode="slope" it always multiplies the slope.
    """
    if loss == "II":
        return weight * rho_y if rho_y * hinge(y, p) > 0 else 0.0
    if weight_mode == "margin":
        return 1.0 if weight * rho_y - y * p > 0 else 0.0
    return weight if rho_y - y * p > 0 else 0.0
