"""The same work on one processor and on all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import lopsided

from . import data, peers
from .harness import Contender, Group
from .text import alone, timed

ONE, ALL = "one processor", "all processors"
GOAL = 1.7  # times as fast on two


def groups(quick: bool) -> Iterator[Group]:
    if not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2:
        return
    rows = 20_000 if quick else 100_000
    X, y = data.zipf(rows)
    small, few = data.zipf(rows // 5)
    table, labels = data.table(rows, 100)
    scorer = lopsided.COG().fit(X, y)
    work: dict[str, Callable[[], Any]] = {
        "compare of three learners, five permutations": lambda: lopsided.compare(
            ["COG-II", "PA-I", "ACOG-II-diag"], small, few, permutations=5
        ),
        "compare of three learners, five folds": lambda: lopsided.compare(
            ["COG-II", "PA-I", "ACOG-II-diag"], small, few, folds=5
        ),
        "decision_function, CSR": lambda: scorer.decision_function(X),
        "bank of 24 models": lambda: lopsided.progressive_bank(
            [lopsided.COG(learning_rate=2.0**k) for k in range(-12, 12)], X, y
        ),
        "compare of one learner with a full covariance": lambda: lopsided.compare(
            ["ACOG-II"], table[: rows // 20], labels[: rows // 20], permutations=4
        ),
    }
    if peers.present("scikit-learn"):
        from joblib import parallel_backend
        from sklearn.model_selection import cross_val_score

        def validated() -> Any:
            with parallel_backend("threading"):
                return cross_val_score(lopsided.ACOG(), X, y, cv=4, n_jobs=-1, scoring="roc_auc")

        work["cross_val_score of scikit-learn, which copies rows, on threads"] = validated
    goal = GOAL if len(os.sched_getaffinity(0)) == 2 else None
    for name, run in work.items():
        contenders = [
            Contender(ONE, timed(lambda run=run: alone(run))),
            Contender(ALL, timed(run), goal=goal if "scikit" not in name else None),
        ]
        yield Group(name, "ms", contenders, ONE, "wall time")
