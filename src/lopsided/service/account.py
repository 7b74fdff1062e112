"""What the decisions of models have cost on the labels that came, and whether scores drift."""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct, field

from .types import Costs

_BINS = 10
_FAST, _SLOW = 1 / 500, 1 / 20_000
_SETTLED = 20_010  # values after which the rates no longer change


class Account(Struct):
    """Mistakes and hits of one model on labelled events."""

    positives: float = 0.0
    negatives: float = 0.0
    missed: float = 0.0
    alarms: float = 0.0
    cost: float = 0.0
    decided: float = 0.0  # cost of the model that decided, on the same events

    def add(
        self, flag: bool, decided: bool, positive: bool, costs: Costs, times: float = 1.0
    ) -> None:
        """Count a decision on an event whose label has come; with times=-1 take it back."""
        if positive != decided:
            self.decided += times * (costs.miss if positive else costs.alarm)
        if positive:
            self.positives += times
            if not flag:
                self.missed += times
                self.cost += times * costs.miss
        else:
            self.negatives += times
            if flag:
                self.alarms += times
                self.cost += times * costs.alarm


class Calibration(Struct):
    """How often events of about the same probability were positive."""

    events: list[float] = field(default_factory=lambda: [0.0] * _BINS)
    predicted: list[float] = field(default_factory=lambda: [0.0] * _BINS)
    positives: list[float] = field(default_factory=lambda: [0.0] * _BINS)

    def add(self, probability: float | None, positive: bool, weight: float) -> None:
        """Count a label by 1 / the probability of asking for it; take it back if negative."""
        if probability is None:
            return
        at = min(_BINS - 1, int(probability * _BINS))
        self.events[at] += weight
        self.predicted[at] += weight * probability
        self.positives[at] += weight * positive

    def error(self) -> float | None:
        """Return the expected calibration error."""
        total = sum(self.events)
        if total <= 0:
            return None
        gaps = (abs(p - q) for p, q in zip(self.predicted, self.positives, strict=True))
        return sum(gaps) / total


class Drift(Struct):
    """Running means of a quantity, recent and usual, and how far apart they are."""

    events: int = 0
    recent: float = 0.0
    usual: float = 0.0
    square: float = 0.0

    def add(self, values: Iterable[float]) -> None:
        """Meet values, one after the other."""
        n, recent, usual, square = self.events, self.recent, self.usual, self.square
        for value in values:
            n += 1
            if n > _SETTLED:
                recent += _FAST * (value - recent)
                usual += _SLOW * (value - usual)
                square += _SLOW * (value * value - square)
                continue
            recent += (_FAST if n * _FAST > 1 else 1 / n) * (value - recent)
            rate = _SLOW if n * _SLOW > 1 else 1 / n
            usual += rate * (value - usual)
            square += rate * (value * value - square)
        self.events, self.recent, self.usual, self.square = n, recent, usual, square

    def shift(self) -> float | None:
        """Return the distance of the recent mean in its own standard errors; None initially."""
        variance = self.square - self.usual**2
        if self.events < 2 / _FAST or not variance > 0:
            return None
        return (self.recent - self.usual) / math.sqrt(variance * _FAST / 2)
