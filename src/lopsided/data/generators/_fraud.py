"""A stream of simulated fraud whose best attainable cost is known."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError, ParameterError
from ._blocks import Best, Events, SyntheticStream, check_ranges

Floats = NDArray[np.float64]
_DAY = 86400.0  # seconds
_GRID = 512  # points in time over which expectations are averaged

_Function = Callable[[Floats], Floats]
# The continuous features: name, shift of frauds (scaled to the separation), and the monotone map
# from the underlying Gaussian to the column and back.
_AMOUNT = (3.5, 1.2)  # mean and standard deviation of the logarithm
_CONTINUOUS: tuple[tuple[str, float, _Function, _Function], ...] = (
    (
        "amount",
        0.8,
        lambda z: np.exp(_AMOUNT[0] + _AMOUNT[1] * z),
        lambda x: (np.log(x) - _AMOUNT[0]) / _AMOUNT[1],
    ),
    ("balance", -0.3, lambda z: 2e4 * z, lambda x: x / 2e4),
    ("velocity", 1.0, lambda z: z**3, np.cbrt),
    ("distance", 0.6, lambda z: np.exp(2 * z), lambda x: np.log(x) / 2),
    ("score_gap", -0.7, lambda z: 1e-3 * z, lambda x: x / 1e-3),
    ("age", 0.4, lambda z: 40 + 12 * z, lambda x: (x - 40) / 12),
    ("hours", 0.0, lambda z: np.sinh(z), np.arcsinh),
    ("clicks", 0.0, lambda z: 100 * z, lambda x: x / 100),
)
_CORRELATION = 0.3  # between adjacent features; it decays geometrically
# The discrete features: the columns (one-hot if several) and the probabilities of each value for
# frauds and for the rest. A single column is 1 with the first probability, else 0.
_DISCRETE: tuple[tuple[tuple[str, ...], tuple[float, ...], tuple[float, ...]], ...] = (
    (("foreign",), (0.45, 0.55), (0.10, 0.90)),
    (("night",), (0.50, 0.50), (0.25, 0.75)),
    (
        tuple(f"shop={kind}" for kind in ("food", "fuel", "travel", "games", "other")),
        (0.10, 0.10, 0.25, 0.40, 0.15),
        (0.40, 0.20, 0.10, 0.05, 0.25),
    ),
)


def fraud(
    rows: int = 100_000,
    *,
    seed: int = 0,
    rate: float = 0.01,
    drift: float = 1.0,
    period: float = 30.0,
    per_day: float = 5000.0,
    separation: float = 2.5,
    noise: tuple[float, float] = (0.05, 0.001),
    delay: tuple[float, float] = (7.0, 1.0),
    block_rows: int = 1024,
) -> Fraud:
    """Return a stream with rare positives whose best attainable cost is known.

    The time of event i is uniform in the i-th of `per_day` slots of each day. It is a fraud with
    probability p(t), where logit p(t) = logit(rate) + drift sin(2 pi t / period), t in days. The 8
    continuous columns derive from a correlated Gaussian vector, with the same covariance S for both
    classes and means 0 and m, where m' S^-1 m = separation^2. Each column is a monotone
    function of one coordinate, so scales and tails differ (amounts are log-normal, speeds are
    cubes, gaps are thousandths, balances tens of thousands) but nothing is lost. Two binary columns
    and a kind of shop (5 one-hot columns) are independent of these within a class. So the log-odds
    of fraud are logit p(t) plus a linear function of the vector plus a term for each discrete
    value, and the expected cost of any threshold is a finite sum of normal probabilities.

    Parameters
    ----------
    rows : int
        Number of events.
    seed : int
        Seed of the rows; the model is always the same.
    rate : float
        Share of frauds in the middle of a drift period.
    drift : float
        Amplitude of the log-odds of a fraud over time; 0: a constant ratio.
    period : float
        Days of one oscillation.
    per_day : float
        Events per day.
    separation : float
        Distance of the classes in the continuous columns, in standard deviations.
    noise : pair of floats
        Probability that a fraud is reported as fine, and that a fine event is reported as fraud.
    delay : pair of floats
        Mean days until the label is known, for events reported as fraud and as fine.
    block_rows : int
        Rows per block; it does not change the rows.

    Returns
    -------
    Fraud
        Iterate over it for blocks of :class:`Events`, whose weight is the amount. It has the
        methods `best(fn, fp)` and `best_sum(alpha)`.

    Examples
    --------
    >>> stream = fraud(50_000)
    >>> sum(int((block.y > 0).sum()) for block in stream)
    1064
    >>> best = stream.best(fn=0.9, fp=0.1)
    >>> round(best.cost, 1), round(best.sensitivity, 3), round(best.specificity, 3)
    (303.8, 0.783, 0.98)
    >>> round(stream.best_sum().sum(), 3)
    0.91
    """
    check_ranges(
        rows=(rows, 1, 1e12),
        seed=(seed, 0, 2**63),
        rate=(rate, 1e-9, 1 - 1e-9),
        drift=(drift, 0, 20),
        period=(period, 1e-6, 1e12),
        per_day=(per_day, 1e-6, 1e12),
        separation=(separation, 1e-6, 100),
        noise_of_frauds=(noise[0], 0, 0.499),
        noise_of_fine=(noise[1], 0, 0.499),
        delay_of_frauds=(delay[0], 0, 1e9),
        delay_of_fine=(delay[1], 0, 1e9),
        block_rows=(block_rows, 1, 1e9),
    )
    return Fraud(rows, seed, rate, drift, period, per_day, separation, noise, delay, block_rows)


@dataclasses.dataclass(eq=False)
class Fraud(SyntheticStream):
    """What :func:`fraud` returns: iterate over it for blocks of events."""

    rows: int
    seed: int
    rate: float
    drift: float
    period: float
    per_day: float
    separation: float
    noise: tuple[float, float]
    delay: tuple[float, float]
    block_rows: int

    def __post_init__(self) -> None:
        size = len(_CONTINUOUS)
        apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        covariance = _CORRELATION**apart
        direction = np.array([shift for _, shift, _, _ in _CONTINUOUS])
        length = math.sqrt(direction @ np.linalg.solve(covariance, direction))
        self._shift = direction * (self.separation / length)
        self._root = np.linalg.cholesky(covariance)
        self._slope = np.linalg.solve(covariance, self._shift)
        columns = [name for names, _, _ in _DISCRETE for name in names]
        self.names = [name for name, *_ in _CONTINUOUS] + columns

    def log_odds(self, time: ArrayLike) -> Floats:
        """Return the prior log-odds of a fraud at some times."""
        return self._log_odds(np.asarray(time, dtype=float) / _DAY)

    def _log_odds(self, days: Floats) -> Floats:
        phase = 2 * np.pi * days / self.period
        return np.asarray(math.log(self.rate / (1 - self.rate)) + self.drift * np.sin(phase))

    def score(self, X: ArrayLike, time: ArrayLike) -> Floats:
        """Return the log-odds of a fraud given all features: the optimal score."""
        X = np.asarray(X, dtype=float)
        backs = [back for *_, back in _CONTINUOUS]
        latent = np.column_stack([back(X[:, j]) for j, back in enumerate(backs)])
        total = self.log_odds(time) + latent @ self._slope - self.separation**2 / 2
        column = len(_CONTINUOUS)
        for names, p, q in _DISCRETE:
            values = np.log(np.divide(p, q))
            here = X[:, column : column + len(names)]
            total += here @ values if len(names) > 1 else np.where(here[:, 0] > 0, *values)
            column += len(names)
        return np.asarray(total)

    def best(
        self, fn: float = 0.9, fp: float = 0.1, *, weighted: bool = False, truth: bool = False
    ) -> Best:
        """Return the result of the rule with the lowest expected cost.

        Parameters
        ----------
        fn, fp : float
            The cost of a missed positive and of a false alarm.
        weighted : bool
            Weight each event by its amount.
        truth : bool
            Count by the true classes instead of the reported labels.
        """
        if not (fn >= 0 and fp >= 0 and 0 < fn + fp < math.inf):
            raise InputError(f"fn={fn!r}, fp={fp!r}: prices must be numbers of at least 0")
        true_p, false_p, p, n = self._expected(fp / (fn + fp), weighted, truth)
        cost = self.rows * (fn * (p - true_p) + fp * false_p)
        return Best(cost=cost, sensitivity=true_p / p, specificity=1 - false_p / n)

    def best_sum(self, alpha: float = 0.5, *, weighted: bool = False, truth: bool = False) -> Best:
        """Return the result of the rule with the largest sum of sensitivity and specificity.

        With alpha 0.5 the sum is the balanced accuracy. The cost is 1 minus the sum.
        """
        if not 0 < alpha < 1:
            raise ParameterError("alpha", "is invalid: it must be between 0 and 1", value=alpha)
        *_, p, n = self._expected(0.5, weighted, truth)
        best = self.best(alpha / p, (1 - alpha) / n, weighted=weighted, truth=truth)
        return dataclasses.replace(best, cost=1 - best.sum(alpha))

    def _expected(
        self, limit: float, weighted: bool, truth: bool
    ) -> tuple[float, float, float, float]:
        """Return expected true positives, false positives, positives and negatives per event.

        The rule raises an alarm if the probability of a positive is at least `limit`.
        """
        lost, wrong = (0.0, 0.0) if truth else self.noise
        # reported positives: a probability that grows linearly with that of a true positive
        chance = (limit - wrong) / (1 - lost - wrong)
        threshold = _logit(min(max(chance, 0.0), 1.0))
        slots = (np.arange(_GRID) + 0.5) / _GRID
        odds = self._log_odds(slots * self.rows / self.per_day)
        prior = 1 / (1 + np.exp(-odds))
        alarm, mass = {}, {}
        for fraud in (True, False):
            middle = self.separation**2 / 2 * (1 if fraud else -1)
            mass[fraud], tilt = self._amount(fraud) if weighted else (1.0, 0.0)
            alarm[fraud] = np.zeros(_GRID)
            for chance_of, evidence in _combinations(fraud):
                margin = middle + tilt + evidence + odds - threshold
                alarm[fraud] += chance_of * _phi(margin / self.separation)
        frauds, others = prior * mass[True], (1 - prior) * mass[False]
        reported = (1 - lost) * frauds, wrong * others
        denied = lost * frauds, (1 - wrong) * others
        return (
            float(np.mean(reported[0] * alarm[True] + reported[1] * alarm[False])),
            float(np.mean(denied[0] * alarm[True] + denied[1] * alarm[False])),
            float(np.mean(reported[0] + reported[1])),
            float(np.mean(denied[0] + denied[1])),
        )

    def _amount(self, fraud: bool) -> tuple[float, float]:
        """Return the mean amount of a class, and how much weighting by it shifts the score."""
        mean, deviation = _AMOUNT
        shift = self._shift[0] if fraud else 0.0
        return math.exp(mean + deviation * shift + deviation**2 / 2), deviation * self._shift[0]

    def _draw(self, batch: int, rows: int) -> dict[str, Any]:
        rng = np.random.default_rng([self.seed, batch])
        days = (batch * rows + np.arange(rows) + rng.random(rows)) / self.per_day
        truth = rng.random(rows) < 1 / (1 + np.exp(-self._log_odds(days)))
        latent = rng.standard_normal((rows, len(_CONTINUOUS))) @ self._root.T
        latent += np.outer(truth, self._shift)
        columns = [there(latent[:, j]) for j, (*_, there, _) in enumerate(_CONTINUOUS)]
        for names, p, q in _DISCRETE:
            edges = np.where(truth[:, None], np.cumsum(p), np.cumsum(q))[:, :-1]
            value = (rng.random(rows)[:, None] >= edges).sum(axis=1)
            columns += [(value == k).astype(float) for k in range(len(names))]
        flip = rng.random(rows) < np.where(truth, *self.noise)
        reported = truth ^ flip
        return {
            "X": np.column_stack(columns),
            "y": np.where(reported, 1, -1),
            "time": _DAY * days,
            "delay": _DAY * rng.exponential(1.0, rows) * np.where(reported, *self.delay),
            "truth": np.where(truth, 1, -1),
        }

    def _block(self, columns: dict[str, Any], first: int) -> Events:
        lines = np.arange(first + 1, first + len(columns["y"]) + 1)
        weight = columns["X"][:, 0].copy()
        return Events(**columns, weight=weight, lines=lines, file="fraud")


def _combinations(fraud: bool) -> list[tuple[float, float]]:
    """Return probability and log-likelihood ratio of all combinations of discrete values."""
    found = []
    for values in itertools.product(*(range(len(p)) for _, p, _ in _DISCRETE)):
        p = math.prod(_DISCRETE[j][1][k] for j, k in enumerate(values))
        q = math.prod(_DISCRETE[j][2][k] for j, k in enumerate(values))
        found.append((p if fraud else q, math.log(p / q)))
    return found


def _logit(chance: float) -> float:
    if chance in (0.0, 1.0):
        return -math.inf if chance == 0 else math.inf
    return math.log(chance / (1 - chance))


def _phi(x: Floats) -> Floats:
    """Return the standard normal distribution function."""
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x.ravel()]).reshape(x.shape)
