"""Eleven values of a parameter: a pass for each, and one pass for all.

Also over real sets, short or wide ones among them, where `lopsided data list` finds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import lopsided
from lopsided.data.sets import downloads as cache

from . import data, peers
from .harness import Contender, Group
from .quality import load

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


REAL = ("w8a", "news20_mc", "smsspam", "url_day0-5_first200")


def groups(quick: bool) -> Iterator[Group]:
    rows = 50_000 if quick else 200_000
    yield from _groups(f"{rows:,} rows of 75 of 100,000 features", *data.zipf(rows))
    yield from _groups(f"{rows:,} rows of 14 of 123 features", *data.categories(rows))
    if not peers.present("scikit-learn"):
        return
    for found in filter(None, map(cache.find, REAL)):
        X, y = load(found.paths[:1], found.dataset.features)
        order = np.random.default_rng(0).permutation(len(y))
        yield from _groups(found.dataset.name, X[order], y[order], aimed=False)


def _groups(what: str, X: Any, y: Any, aimed: bool = True) -> Iterator[Group]:
    for name, (parameter, values, most) in BANKS.items():
        title = f"{name}, eleven values of {parameter}, {what}"
        goal = round(1 / most, 3) if aimed else None
        yield _group(title, name, parameter, values, goal, X, y)


def _group(
    title: str,
    name: str,
    parameter: str,
    values: tuple[float, ...],
    goal: float | None,
    X: Any,
    y: Any,
) -> Group:
    def models() -> list[Any]:
        return [lopsided.make(name, scaling="none", **{parameter: value}) for value in values]

    def apart() -> None:
        for model in models():
            lopsided.progressive(model, X, y)

    def looked_at() -> list[int]:
        banked = models()
        lopsided.progressive_bank(banked, X, y)
        return [model.fitted.core.updates for model in banked]  # each takes what it learned over

    one, rows = "one model, mean of eleven passes", X.shape[0]
    contenders = [
        Contender(one, apart, rows * len(values)),
        Contender(
            "bank of eleven", lambda: lopsided.progressive_bank(models(), X, y), rows, goal=goal
        ),
        Contender("bank of eleven, every model looked at", looked_at, rows),
    ]
    return Group(title, "ns/row", contenders, one)
