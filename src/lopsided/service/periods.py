"""Sums over the events of some time, and the figures that they give."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable

from msgspec import Struct, field

from ..algorithms.estimate import estimate_from
from .account import Account
from .types import Answer, Costs, Event, Features

_EDGES = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)  # of probabilities
_FEW = 4.5  # labels that say too little about a share
_PLAIN = (
    "events", "flagged", "asked", "labels", "scores", "judged", "probabilities", "nobody",
    "everybody",
)  # fmt: skip
_SUMS = ("positives", "negatives", "false_negatives", "false_positives")
_NOTHING = (0.0, 0.0, 0.0)


def inputs(features: Features) -> Iterable[tuple[str, float]]:
    """Yield the numbers that models see, by name."""
    for name, value in features.items():
        yield (f"{name}={value}", 1.0) if isinstance(value, str) else (name, float(value))


class Period(Struct):
    """Sums over the events of some time."""

    events: int = 0
    flagged: int = 0
    asked: int = 0
    labels: int = 0
    scores: float = 0.0
    judged: int = 0  # events with a probability
    probabilities: float = 0.0
    nobody: float = 0.0
    everybody: float = 0.0
    models: dict[str, Account] = field(default_factory=dict)
    bought: dict[str, float] = field(default_factory=dict)  # sums of 1 / probability
    bins: list[list[float]] = field(default_factory=lambda: [[0.0] * 5 for _ in _EDGES])
    inputs: dict[str, tuple[float, float, float]] = field(default_factory=dict)

    def meet(self, event: Event, answer: Answer, known: list[tuple[str, float]]) -> None:
        """Count a decision; `known` are the inputs whose means are kept."""
        self.events += 1
        self.flagged += answer.flag
        self.asked += answer.asked
        self.scores += math.tanh(answer.score)
        if answer.probability is not None:
            self.judged += 1
            self.probabilities += answer.probability
        sums = self.inputs
        for name, x in known:
            n, total, squares = sums.get(name, _NOTHING)
            sums[name] = (n + 1, total + x, squares + x * x)

    def learn(self, answer: Answer, positive: bool, costs: Costs, times: float) -> None:
        """Count a label of an event, or with times=-1 take it back."""
        self.nobody += times * costs.miss * positive
        self.everybody += times * costs.alarm * (not positive)
        for name, flag in {**(answer.shadow or {}), answer.model: answer.flag}.items():
            account = self.models.setdefault(name, Account())
            account.add(flag, answer.flag, positive, costs, times)
        if not answer.asked or not answer.ask_probability:
            return
        weight = 1 / answer.ask_probability
        kinds = ["positives" if positive else "negatives"]
        if positive != answer.flag:
            kinds.append("false_negatives" if positive else "false_positives")
        for kind in kinds:
            self.bought[kind] = self.bought.get(kind, 0.0) + times * weight
            spread = f"{kind}.spread"
            self.bought[spread] = self.bought.get(spread, 0.0) + times * weight * weight
        if answer.probability is not None:
            at = bisect_right(_EDGES, answer.probability) - 1
            square = weight * weight
            sums = (weight, weight * answer.probability, weight * positive, square,
                    square * positive)  # fmt: skip
            self.bins[at] = [a + times * b for a, b in zip(self.bins[at], sums, strict=True)]

    def add(self, other: Period) -> None:
        """Add the sums of another period."""
        for name in _PLAIN:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name, account in other.models.items():
            _add(self.models.setdefault(name, Account()), account)
        for name, value in other.bought.items():
            self.bought[name] = self.bought.get(name, 0.0) + value
        for mine, theirs in zip(self.bins, other.bins, strict=True):
            mine[:] = [a + b for a, b in zip(mine, theirs, strict=True)]
        for name, sums in other.inputs.items():
            n, total, squares = self.inputs.get(name, _NOTHING)
            self.inputs[name] = (n + sums[0], total + sums[1], squares + sums[2])


def _add(account: Account, other: Account) -> None:
    for name in Account.__struct_fields__:
        setattr(account, name, getattr(account, name) + getattr(other, name))


# Figures ------------------------------------------------------------------------------------------


class Sum(Struct):
    """The weights of some labels and their squares."""

    weight: float
    squares: float

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.weight + other.weight, self.squares + other.squares)

    def __sub__(self, other: Sum) -> Sum:
        return Sum(self.weight - other.weight, self.squares - other.squares)

    def usual(self) -> float:
        """Return the weight that one more such label would have."""
        return self.squares / self.weight if self.weight > 0 and self.squares > 0 else 1.0


def _share(right: Sum, wrong: Sum, one_right: float, one_wrong: float) -> tuple[float, float]:
    """Return the share of `right` among weighted labels and its standard error.

    The error is that of one label more on either side, of the given weights: labels that all agree
    do not say that none ever differs, least of all where each of them stands for many events.
    """
    total = right.weight + wrong.weight
    if total <= 0:
        return math.nan, math.nan
    more = total + one_right + one_wrong
    share = (right.weight + one_right) / more
    spread = (right.squares + one_right**2) * (1 - share) ** 2
    spread += (wrong.squares + one_wrong**2) * share**2
    return min(1.0, max(0.0, right.weight / total)), math.sqrt(max(0.0, spread)) / more


def estimated(total: Period, costs: Costs) -> dict[str, float | None]:
    """Return how good decisions were, from the labels asked for, with standard errors."""
    kinds = [*_SUMS, *(f"{kind}.spread" for kind in _SUMS)]
    sums = {kind: total.bought.get(kind, 0.0) for kind in kinds}
    found = estimate_from({**sums, "open": float(total.events)}, costs.miss, costs.alarm)
    positives, negatives, missed, alarms = (Sum(sums[k], sums[f"{k}.spread"]) for k in _SUMS)
    hits, passed = positives - missed, negatives - alarms
    flagged, unflagged = (hits + alarms).usual(), (passed + missed).usual()
    out = {"cost": found.normalised_cost, "cost_error": found.normalised_cost_error}
    for name, share in (
        ("sensitivity", _share(hits, missed, flagged, unflagged)),
        ("specificity", _share(passed, alarms, unflagged, flagged)),
        ("precision", _share(hits, alarms, flagged, flagged)),
    ):
        out[name], out[f"{name}_error"] = share
    return {name: value if math.isfinite(value) else None for name, value in out.items()}


def calibration(total: Period) -> list[dict[str, float]]:
    """Return predicted and observed shares of positives, by predicted probability."""
    out = []
    for weight, predicted, positives, squares, positive_squares in total.bins:
        if weight <= 0 or squares <= 0 or weight * weight / squares < _FEW:
            continue
        every, true = Sum(weight, squares), Sum(positives, positive_squares)
        share, error = _share(true, every - true, every.usual(), every.usual())
        out.append({"predicted": predicted / weight, "observed": share, "error": error,
                    "labels": weight * weight / squares})  # fmt: skip
    return out


def shifts(
    now: Period, before: Period, hidden: Collection[str]
) -> list[tuple[str, float, float, float]]:
    """Return features with the mean now, the usual mean and their distance in deviations.

    Values that are missing count as 0, as they do for linear models.
    """
    found = []
    for name in {*now.inputs, *before.inputs}:
        (_, a, aa), (_, b, bb) = (p.inputs.get(name, _NOTHING) for p in (now, before))
        if now.events < 2 or before.events < 2 or name.partition("=")[0] in hidden:
            continue
        new, usual, n = a / now.events, b / before.events, now.events + before.events
        spread = math.sqrt(max(0.0, (aa + bb) / n - ((a + b) / n) ** 2))
        if spread > 1e-12 * (abs(new) + abs(usual)):
            found.append((name, new, usual, (new - usual) / spread))
    return sorted(found, key=lambda shift: (-abs(shift[3]), shift[0]))[:10]
