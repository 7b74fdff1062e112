"""Standard deviation and tests of paired differences."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_EXACT = 25  # up to this many differences the Wilcoxon test is exact


def paired_t(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of the paired t-test; NaN for fewer than two pairs.

    Examples
    --------
    >>> round(paired_t(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 2.0])), 4)
    0.0572
    """
    d = a - b
    n = len(d)
    if n < 2 or not np.isfinite(d).all():
        return math.nan
    if (d == d[0]).all():
        return 1.0 if d[0] == 0 else 0.0
    t = float(d.mean()) / (float(d.std(ddof=1)) / math.sqrt(n))
    return _incomplete_beta((n - 1) / 2, 0.5, (n - 1) / (n - 1 + t * t))


def wilcoxon(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of the signed-rank test; NaN for fewer than two pairs.

    Equal pairs are left out. Exact for up to 25 differences, including tied ones; beyond that the
    normal approximation with tie correction.

    Examples
    --------
    >>> wilcoxon(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 0.0]))
    0.25
    """
    d = a - b
    if len(d) < 2 or not np.isfinite(d).all():
        return math.nan
    d = d[d != 0]
    n = len(d)
    if n == 0:
        return 1.0
    _, at, counts = np.unique(np.abs(d), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[at]
    above = float(ranks[d > 0].sum())
    low = min(above, n * (n + 1) / 2 - above)
    if n <= _EXACT:
        return min(1.0, 2 * float(_rank_sums(ranks)[: round(2 * low) + 1].sum()) / 2.0**n)
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((counts**3 - counts).sum()) / 48
    z = (low - n * (n + 1) / 4) / math.sqrt(variance)
    return math.erfc(-z / math.sqrt(2))


def std(values: NDArray[np.float64]) -> float:
    """Return the sample standard deviation; NaN for one value."""
    return float(values.std(ddof=1)) if len(values) > 1 else math.nan


def _rank_sums(ranks: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of subsets of the ranks with each sum: at 2 s those with sum s."""
    doubled = np.rint(2 * ranks).astype(int)  # tied ranks may be half-integers
    ways = np.zeros(doubled.sum() + 1, np.int64)
    ways[0] = 1
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
    return ways


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # where the fraction converges slowly
        return 1 - _incomplete_beta(b, a, 1 - x)
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log + a * math.log(x) + b * math.log1p(-x)) / a
    return front * _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1 / _nonzero(1 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, 500):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _nonzero(1 + term * d, tiny)
            c = _nonzero(1 + term / c, tiny)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _nonzero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
