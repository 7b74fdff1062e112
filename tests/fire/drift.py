"""Ten million rows for each linear learner: sums that run on stay those of exact arithmetic.

    python tests/fire/drift.py [--rows N] [LEARNER ...]

The stream repeats itself, so that what a learner keeps as a running sum (the counts of classes,
means and variances of columns, tallies) is known exactly; scores stay finite.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

import lopsided

LEARNERS = ("COG-II", "PA-I", "AROW-diag", "ACOG-II-diag", "FOBOS", "Ada-RDA", "SSOL", "SSACOG-II")
BLOCK = 100_000


def drift(name: str, rows: int) -> dict[str, float]:
    """Return the largest relative errors of sums after a long stream."""
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, [1e-3, 1.0, 1e3, 1.0, 1.0], size=(BLOCK, 5))
    y = np.where(X[:, 1] + rng.normal(size=BLOCK) > 4.5, 1, -1)
    weight = rng.choice([0.1, 1.0, 1e3], size=BLOCK)
    model = lopsided.make(name, scaling="standard")
    for _ in range(rows // BLOCK):
        model.partial_fit(X, y, sample_weight=weight)
    assert np.isfinite(model.decision_function(X)).all()
    state, times = model.fitted.core.state(), rows // BLOCK
    wanted = {"rounds": float(rows)}
    for label, entry in ((1, "cost.positives"), (-1, "cost.negatives")):
        wanted[entry] = times * math.fsum(weight[y == label])
    return {k: abs(state[k] - v) / v for k, v in wanted.items() if k in state}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("learners", nargs="*", default=LEARNERS)
    given = parser.parse_args()
    print("| learner | rows | largest relative error of a sum |")
    print("|---|---:|---:|")
    for name in given.learners:
        worst = max(drift(name, given.rows).values())
        assert worst < 1e-9, (name, worst)
        print(f"| {name} | {given.rows:,} | {worst:.1e} |", flush=True)


if __name__ == "__main__":
    main()
