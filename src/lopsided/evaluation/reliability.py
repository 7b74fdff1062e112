"""How good probabilities are: log loss, calibration error, and the diagram of both."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_NEAREST = 1e-12  # to 0 and 1 that a probability counts
_WIDTH = 1 / 16  # of a bin, in log odds
_HALF = 448  # bins on each side of even odds: beyond 28 there are no others
_PARTS = 20  # of about the same weight, for the calibration error


class Part(NamedTuple):
    """Events of about the same probability.

    Attributes
    ----------
    probability : float
        Their mean probability.
    share : float
        The share of positives among them.
    weight : float
        How many they are.
    """

    probability: float
    share: float
    weight: float


class Reliability:
    """Compares probabilities with what was true, as events come, in constant memory.

    Probabilities are counted in narrow bins of log odds, each with its mean. The sums do not depend
    on how the events are divided into calls.

    Examples
    --------
    >>> found = Reliability()
    >>> found.add(np.array([0.1, 0.1, 0.8, 0.8]), np.array([False, False, True, False]))
    >>> found.parts(2)
    [Part(probability=0.1, share=0.0, weight=2.0), Part(probability=0.8, share=0.5, weight=2.0)]
    >>> round(found.log_loss, 4), round(found.error, 4)
    (0.5108, 0.2)
    """

    def __init__(self) -> None:
        self._bins = np.zeros((2 * _HALF, 3))  # weight, probability, positives
        self._loss = np.zeros(1)

    def add(
        self,
        chances: NDArray[np.float64],
        positive: NDArray[np.bool_],
        sample_weight: NDArray[np.float64] | None = None,
    ) -> None:
        """Add the probabilities of events and what was true; a weight of 0 leaves one out."""
        weights = np.ones(len(chances)) if sample_weight is None else sample_weight
        used = weights > 0
        if not used.all():
            chances, positive, weights = chances[used], positive[used], weights[used]
        p = np.clip(chances, _NEAREST, 1 - _NEAREST)
        at = np.floor(np.log(p / (1 - p)) / _WIDTH).astype(np.int64) + _HALF
        at = np.clip(at, 0, 2 * _HALF - 1)
        sums = np.stack([weights, weights * chances, weights * positive], axis=1)
        np.add.at(self._bins, at, sums)  # one by one, so that calls may be divided anyhow
        loss = -weights * np.log(np.where(positive, p, 1 - p))
        np.add.at(self._loss, np.zeros(len(loss), np.int64), loss)

    @property
    def weight(self) -> float:
        """The weight of all events."""
        return float(self._bins[:, 0].sum())

    @property
    def log_loss(self) -> float:
        """The mean of -ln of the probability that the label had; NaN without events."""
        return float(self._loss[0] / self.weight) if self.weight else math.nan

    @property
    def error(self) -> float:
        """How far probability and share of positives are apart, on average over the parts."""
        parts = self.parts()
        if not parts:
            return math.nan
        return sum(p.weight * abs(p.probability - p.share) for p in parts) / self.weight

    def parts(self, most: int = _PARTS) -> list[Part]:
        """Return events by probability, in parts of about the same weight."""
        used = self._bins[self._bins[:, 0] > 0]
        if not len(used):
            return []
        middle = np.cumsum(used[:, 0]) - used[:, 0] / 2
        part = np.minimum((middle / self.weight * most).astype(np.int64), most - 1)
        first = np.flatnonzero(np.r_[True, np.diff(part) > 0])
        sums = np.add.reduceat(used, first, axis=0)
        return [Part(p / w, y / w, w) for w, p, y in sums.tolist()]

    def state(self) -> dict[str, Any]:
        """Return what a resumed run needs."""
        return {"bins": self._bins.ravel().tolist(), "loss": float(self._loss[0])}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self._bins = np.array(state["bins"]).reshape(-1, 3)
        self._loss = np.array([state["loss"]])
