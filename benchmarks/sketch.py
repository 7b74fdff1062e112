"""Sketched second order: time against the number of features, and what it is worth.

`python -m benchmarks --only sketch` measures time. `python -m benchmarks.sketch` prints balanced
accuracy on real data sets beside the published figures, by the protocol of the paper: unit rows,
20 permutations, rates 10 ** -5 to 10 ** 5, and those in between, since the paper's whole powers of
ten miss the best of some learners; the best rate as the paper has it, and one chosen on other
permutations; then what Vowpal Wabbit's sketch answers with its defaults, if it is installed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import lopsided
from lopsided import papers

from . import data, peers
from .harness import Contender, Group

BASE = "ACOG-II diagonal"

LEARNERS = (
    *("COG-I", "COG-II", "ACOG-I-diag", "ACOG-II-diag", "SACOG-I", "SACOG-II"),
    *("SSACOG-I", "SSACOG-II", "ACOG-I", "ACOG-II"),
)
SETS = ("usps", "dna", "w8a")


def published(name: str) -> dict[str, float]:
    """What "Adaptive cost-sensitive online classification" prints for "sum", in per cent."""
    return {
        learner: row[0].mean
        for table in ("acog-table-5", "acog-table-6", "acog-table-8")
        for part in papers.find(table).parts
        if (part.set, part.metric) == (name, "sum")
        for learner, row in part.printed.items()
    }


def groups(quick: bool) -> Iterator[Group]:
    for features in (100, 1000, 10_000, 100_000):
        rows = min(20_000, 20_000_000 // features) // (5 if quick else 1)
        X, y = data.table(rows, features)
        kinds = ("diagonal", "sketch", "dense-sketch", *(("full",) if features <= 1000 else ()))
        yield _group(f"dense pass, {rows:,} rows of {features:,} features", X, y, kinds)
    rows = 20_000 if quick else 100_000
    for features in (10_000, 100_000, 1_000_000, 10_000_000):
        X, y = data.zipf(rows, features)
        title = f"CSR pass, {rows:,} rows of 75 of {features:,} features, all met before"
        yield _group(title, X, y, ("diagonal", "sketch"))


def _group(title: str, X: Any, y: Any, kinds: tuple[str, ...]) -> Group:
    contenders = []
    for kind in kinds:
        model = lopsided.ACOG(covariance=kind, scaling="unit")
        goal = 0.25 if kind == "sketch" and "CSR" in title else None
        run = lambda model=model: model.partial_fit(X, y)  # noqa: E731
        contenders.append(Contender(f"ACOG-II {kind}", run, X.shape[0], goal=goal))
    return Group(title, "ns/row", contenders, BASE)


def main() -> None:
    for name in SETS:
        _quality(name, published(name))
    _vowpal_wabbit()


def _quality(name: str, published: dict[str, float]) -> None:
    from lopsided.data.sets import downloads as cache

    from .quality import load

    found = cache.find(name)
    if found is None or found.kind != "prepared":
        print(f"{name}: not on this machine\n")
        return
    X, y = load(found.paths, found.dataset.features)
    names = list(LEARNERS)
    learners = {n: lopsided.make(n, scaling="unit") for n in names}
    grid = {n: {"learning_rate": [10.0 ** (k / 2) for k in range(-10, 11)]} for n in names}
    runs = 20 if X.shape[0] < 10_000 else 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best, honest = (
            lopsided.compare(learners, X, y, grid=grid, permutations=runs, select=select)
            for select in ("best", "honest")
        )
    print(f"| {name}, {runs} permutations | published | best rate | rate chosen on others | s |")
    print("|---|---|---|---|---|")
    other = {row.name: row for row in honest.rows}
    for row in sorted(best.rows, key=lambda row: names.index(row.name)):
        theirs = published.get(row.name)
        print(
            f"| {row.name} | {'-' if theirs is None else f'{theirs:.2f}'} "
            f"| {100 * row.mean['metric']:.2f} ± {100 * row.std['metric']:.2f} "
            f"| {100 * other[row.name].mean['metric']:.2f} | {row.mean['seconds']:.3f} |"
        )
    print(flush=True)


def _vowpal_wabbit() -> None:
    """Count the scores of its sketch that are no numbers, beside ours."""
    X, y = data.zipf(5000)
    ours = lopsided.progressive(lopsided.ACOG(covariance="sketch", sketch_size=10), X, y).scores
    found = {"SSACOG-II": ours}
    if peers.present("vowpalwabbit"):
        from vowpalwabbit import Workspace

        workspace = Workspace("--OjaNewton --sketch_size 10 --quiet")
        theirs = []
        for i, label in enumerate(y):
            first, last = X.indptr[i : i + 2]
            pairs = zip(X.indices[first:last], X.data[first:last], strict=True)
            example = f"{2 * label - 1} | " + " ".join(f"{j}:{v}" for j, v in pairs)
            theirs.append(workspace.predict(example))
            workspace.learn(example)
        workspace.finish()
        found["Vowpal Wabbit --OjaNewton"] = theirs
    for name, scores in found.items():
        print(f"{name}: {np.mean(~np.isfinite(scores)):.1%} of the scores are not finite")


if __name__ == "__main__":
    main()
