"""Running scaling of rows, from all the rows seen so far."""

from __future__ import annotations

import numpy as np

MODES = ("none", "unit", "standard", "standard+unit")
LEAST = np.finfo(float).tiny  # of a variance: squares of smaller deviations lose their digits


def unit(x):
    """Row of length one; a zero row stays zero."""
    norm = np.sqrt(np.sum(x**2))
    return x / norm if norm > 0 else x


def z_score(x, rows):
    """Distance of x from the mean of the rows, in population standard deviations.

    A column that is constant so far gives 0. It is recognised by its range: the computed
    deviation of equal numbers need not be exactly zero.
    """
    mean = np.mean(rows, axis=0)
    deviation = np.sqrt(np.maximum(np.mean((rows - mean) ** 2, axis=0), LEAST))
    constant = np.ptp(rows, axis=0) == 0
    return np.where(constant, 0.0, (x - mean) / np.where(constant, 1.0, deviation))


def root_mean_square(x, rows):
    """x over the root mean square of each column; zeros stay zero, so sparse rows stay sparse."""
    deviation = np.sqrt(np.maximum(np.mean(rows**2, axis=0), LEAST))
    return np.where(x == 0, 0.0, x / np.where(x == 0, 1.0, deviation))


class Scaler:
    """Scales a row as if it came next; `absorb` makes it part of the statistics.

    Parameters
    ----------
    mode : one of MODES
    centred : bool
        Subtract the mean (dense input), or only divide (sparse input and dicts).
    """

    def __init__(self, mode, centred):
        if mode not in MODES:
            raise ValueError(f"scaling {mode!r} is not one of {MODES}")
        self.mode = mode
        self.centred = centred
        self.rows = []

    def absorb(self, x):
        self.rows.append(x)

    def scale(self, x):
        if self.mode.startswith("standard"):
            rows = np.array([*self.rows, x])
            x = z_score(x, rows) if self.centred else root_mean_square(x, rows)
        return unit(x) if self.mode.endswith("unit") else x
