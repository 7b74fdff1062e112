"""Eleven values of a parameter: a pass for each, and one pass for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import lopsided

from . import data
from .harness import Contender, Group

# Learner, the parameter and its values, and how many times as long as one model the bank may take.
_TENS = tuple(10.0**k for k in range(-5, 6))
_TWOS = tuple(2.0**k for k in range(-1, 10))
BANKS: dict[str, tuple[str, tuple[float, ...], float]] = {
    "COG-II": ("learning_rate", _TENS, 3),
    "PA-I": ("C", _TENS, 3),
    "PA-II": ("C", _TENS, 3),
    "FSOL": ("learning_rate", _TWOS, 3),
    "ACOG-II-diag": ("learning_rate", _TENS, 4),
    "SSOL": ("learning_rate", _TWOS, 4),
}


def groups(quick: bool) -> Iterator[Group]:
    rows = 50_000 if quick else 200_000
    for (X, y), what in (
        (data.zipf(rows), "75 of 100,000"),
        (data.categories(rows), "14 of 123"),
    ):
        for name, (parameter, values, most) in BANKS.items():
            title = f"{name}, eleven values of {parameter}, {rows:,} rows of {what} features"
            yield _group(title, name, parameter, values, most, X, y)


def _group(
    title: str,
    name: str,
    parameter: str,
    values: tuple[float, ...],
    most: float,
    X: Any,
    y: Any,
) -> Group:
    def models() -> list[Any]:
        return [lopsided.make(name, scaling="none", **{parameter: value}) for value in values]

    def apart() -> None:
        for model in models():
            lopsided.progressive(model, X, y)

    one, rows = "one model, mean of eleven passes", X.shape[0]
    contenders = [
        Contender(one, apart, rows * len(values)),
        Contender(
            "bank of eleven",
            lambda: lopsided.progressive_bank(models(), X, y),
            rows,
            goal=round(1 / most, 3),
        ),
    ]
    return Group(title, "ns/row", contenders, one)
