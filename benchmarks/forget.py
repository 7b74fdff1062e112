"""What forget= is worth after a change: python -m benchmarks.forget [--rows N] [--seeds N,...].

Generated payments whose rules are replaced by others in the middle of the stream. Mean AUC over the
streams: from the first eighth to the change, in the two eighths after it, and in the last quarter.
The logarithms of amounts are given. Learners have their defaults but for an intercept and balanced
classes.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from lopsided import ACOG, AROW, AdaFOBOS, progressive
from lopsided.metrics import auc

from .quality.generated import generate

LEARNERS: dict[str, Any] = {"AROW-diag": AROW, "ACOG-II-diag": ACOG, "Ada-FOBOS": AdaFOBOS}
HALF_LIVES = (None, 5000, 1000, 200)
PARTS = ((0.125, 0.5), (0.5, 0.625), (0.625, 0.75), (0.75, 1.0))


def stream(rows: int, seed: int) -> tuple[Any, Any]:
    """Return the rows and labels of a stream."""
    made = generate("abrupt", rows, seed)
    X = made.rows.csr.copy()
    X.data = np.where(X.data == 1, 1.0, np.log(X.data))
    return X, made.y


def course(model: Any, X: Any, y: Any) -> list[float]:
    """Return the AUC in each part of a stream."""
    scores = progressive(model, X, y, resume=True, points=0).scores
    cuts = [(round(a * len(y)), round(b * len(y))) for a, b in PARTS]
    return [auc(y[a:b], scores[a:b]) for a, b in cuts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=80_000)
    parser.add_argument("--seeds", default="21,22,23")
    given = parser.parse_args()
    streams = [stream(given.rows, int(seed)) for seed in given.seeds.split(",")]
    print("| learner | `forget` | before | first eighth after | second eighth | last quarter |")
    print("|---|---|---|---|---|---|")
    for name, learner in LEARNERS.items():
        for forget in HALF_LIVES:
            options = {"intercept": True, "class_weight": "balanced", "forget": forget}
            found = np.mean([course(learner(**options), X, y) for X, y in streams], axis=0)
            cells = " | ".join(f"{value:.3f}" for value in found)
            print(f"| {name} | {forget or 'None'} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
