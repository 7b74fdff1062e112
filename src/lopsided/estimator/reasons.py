"""Why an event gets its score."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True)
class Reason:
    """What a feature, or two together, add to a score.

    Attributes
    ----------
    feature : str
        Its name, or its column where it has none; of two, both with the ranges of their values.
    value : float or None
        Its value in the event; None for a category, where it is missing, and for two.
    effect : float
        What it adds.
    """

    feature: str
    value: float | None
    effect: float


@dataclasses.dataclass(frozen=True)
class Explanation:
    """A score as a sum: `base` and the effects of all reasons.

    Attributes
    ----------
    score : float
        The score of the event.
    base : float
        What events without any feature get.
    reasons : tuple of Reason
        The strongest first.
    """

    score: float
    base: float
    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        width = max([len(r.feature) for r in self.reasons], default=0)
        lines = [f"{self.score:+.3f} score", f"{self.base:+.3f} base"]
        for reason in self.reasons:
            value = "" if reason.value is None else f"  {reason.value:g}"
            lines.append(f"{reason.effect:+.3f} {reason.feature:<{width}}{value}".rstrip())
        return "\n".join(lines)


def explanation(
    found: tuple[float, list[Any]], names: list[str], event: Mapping[str, Any] | Sequence[float]
) -> Explanation:
    """Return what the core found, with names, each feature once, the strongest first.

    Parameters
    ----------
    found : tuple
        The base and ((feature, from, below), the same of a second one, effect) of each input.
    names : list of str
        Of the features; empty if they have none.
    event : dict or array
        The event.
    """
    base, parts = found
    effects: dict[tuple[str, float | None], float] = {}

    def name(column: int) -> str:
        return names[column] if column < len(names) else str(column)

    def value(column: int) -> float | None:
        if isinstance(event, Mapping):
            given = event.get(name(column), 0.0)
            return None if given is None or isinstance(given, str) else float(given)
        return float(event[column]) if column < len(event) else 0.0

    for first, second, effect in parts:
        if second[0] < 0:
            text = name(first[0])
            category = isinstance(event, Mapping) and text not in event and "=" in text
            key = (text, None if category else value(first[0]))
        else:
            key = (f"{_within(name, *first)} and {_within(name, *second)}", None)
        effects[key] = effects.get(key, 0.0) + effect
    reasons = [Reason(*key, effect) for key, effect in effects.items() if effect]
    reasons.sort(key=lambda reason: -abs(reason.effect))
    return Explanation(base + math.fsum(r.effect for r in reasons), base, tuple(reasons))


def worded(parts: list[Any], names: list[str]) -> list[tuple[str, float]]:
    """Return feature and effect of reasons as the core has them, each feature or pair once."""

    def name(column: int) -> str:
        return names[column] if column < len(names) else str(column)

    def text(first: Any, second: Any) -> str:
        if second[0] < 0:
            return name(first[0])
        return f"{_within(name, *first)} and {_within(name, *second)}"

    return [(text(first, second), effect) for first, second, effect in parts]


def _within(name: Callable[[int], str], column: int, low: float, high: float) -> str:
    text = name(column)
    if low > -math.inf and high < math.inf:
        return f"{low:g} <= {text} < {high:g}"
    if low > -math.inf:
        return f"{text} >= {low:g}"
    return f"{text} < {high:g}" if high < math.inf else text
