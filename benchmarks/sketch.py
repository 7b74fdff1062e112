"""Sketched second order: time against the number of features, and what it is worth.

`python -m benchmarks --only sketch` measures time; `python -m benchmarks.sketch` prints balanced
accuracy on real data sets, at the default rates, in the order of one shuffle, and what Vowpal
Wabbit's sketch answers with its defaults, if it is installed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import lopsided

from . import data, peers
from .harness import Contender, Group

SETS = (("usps", True), ("dna", False), ("w8a", False))
BASE = "ACOG-II diagonal"


def groups(quick: bool) -> Iterator[Group]:
    for features in (100, 1000, 10_000, 100_000):
        rows = min(20_000, 20_000_000 // features) // (5 if quick else 1)
        X, y = data.table(rows, features)
        kinds = ("diagonal", "sketch", "dense-sketch", *(("full",) if features <= 1000 else ()))
        yield _group(f"dense pass, {rows:,} rows of {features:,} features", X, y, kinds)
    rows = 20_000 if quick else 100_000
    for features in (10_000, 100_000, 1_000_000, 10_000_000):
        X, y = data.zipf(rows, features)
        title = f"CSR pass, {rows:,} rows of 75 of {features:,} features"
        yield _group(title, X, y, ("diagonal", "sketch"))


def _group(title, X, y, kinds) -> Group:
    contenders = []
    for kind in kinds:
        model = lopsided.ACOG(covariance=kind, scaling="unit")
        goal = 0.25 if kind == "sketch" and "CSR" in title else None
        run = lambda model=model: model.fit(X, y)  # noqa: E731
        contenders.append(Contender(f"ACOG-II {kind}", run, X.shape[0], goal=goal))
    return Group(title, "ns/row", contenders, BASE)


def main() -> None:
    from lopsided.data import cache

    from .quality import load

    learners = ("ACOG-II-diag", "SSACOG-II", "ACOG-II")
    print("| data | " + " | ".join(learners) + " |")
    print("|---" * (1 + len(learners)) + "|")
    for name, dense in SETS:
        found = cache.find(name)
        if found is None or found.kind != "prepared":
            print(f"| {name} | not on this machine |")
            continue
        X, y = load(found.paths, found.dataset.features)
        order = np.random.default_rng(0).permutation(len(y))
        rows = X.toarray() if dense else X
        runs = (
            lopsided.progressive(lopsided.make(n), rows, y, order=order, resume=True)
            for n in learners
        )
        print(f"| {name} | {' | '.join(f'{run.sum():.1%}' for run in runs)} |", flush=True)
    if peers.present("vowpalwabbit"):
        _vowpal_wabbit()


def _vowpal_wabbit() -> None:
    """Count the scores of its sketch that are no numbers, beside ours."""
    from vowpalwabbit import Workspace

    X, y = data.zipf(5000)
    workspace = Workspace("--OjaNewton --sketch_size 10 --quiet")
    theirs = []
    for i, label in enumerate(y):
        first, last = X.indptr[i : i + 2]
        pairs = zip(X.indices[first:last], X.data[first:last], strict=True)
        example = f"{2 * label - 1} | " + " ".join(f"{j}:{v}" for j, v in pairs)
        theirs.append(workspace.predict(example))
        workspace.learn(example)
    workspace.finish()
    ours = lopsided.progressive(lopsided.ACOG(covariance="sketch", sketch_size=10), X, y).scores
    for name, scores in (("Vowpal Wabbit --OjaNewton", theirs), ("SSACOG-II", ours)):
        print(f"{name}: {np.mean(~np.isfinite(scores)):.1%} of the scores are not finite")


if __name__ == "__main__":
    main()
