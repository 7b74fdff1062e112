"""Balanced accuracy of the learners as they come, on real data sets: python -m benchmarks.quality.

Data sets are looked for where `lopsided data list` looks. Each stream is shuffled once (creditcard
is kept in its order of time), seen once, and judged before it is learned; ratios are estimated on
the way.
"""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np

import lopsided
from lopsided.data import cache

# Name, whether to hand it over as a dense table, whether its order is that of time.
SETS = (
    ("german", True, False),
    ("mammography", True, False),
    ("usps", True, False),
    ("smsspam", False, False),
    ("a9a", False, False),
    ("w8a", False, False),
    ("covtype", True, False),
    ("creditcard", True, True),
)
LEARNERS = ("Perceptron", "PA-I", "AROW-diag", "COG-II", "ACOG-II-diag")


def load(paths, features):
    from scipy import sparse
    from sklearn.datasets import load_svmlight_file

    parts = []
    for path in map(Path, paths):
        with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
            parts.append(load_svmlight_file(file, n_features=features))
    X = sparse.vstack([X for X, _ in parts], format="csr")
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, np.concatenate([y for _, y in parts])


def main():
    print("| data | rows | negatives per positive | " + " | ".join(LEARNERS) + " |")
    print("|---" * (3 + len(LEARNERS)) + "|")
    for name, dense, in_time in SETS:
        found = cache.find(name)
        if found is None or found.kind != "prepared":
            print(f"| {name} | not on this machine |")
            continue
        X, y = load(found.paths, found.dataset.features)
        order = None if in_time else np.random.default_rng(0).permutation(len(y))
        rows = X.toarray() if dense else X
        figures = []
        for learner in LEARNERS:
            run = lopsided.progressive(lopsided.make(learner), rows, y, order=order, resume=True)
            figures.append(f"{run.sum():.1%}")
        ratio = (y < 0).sum() / (y > 0).sum()
        print(f"| {name} | {len(y):,} | {ratio:.3g} | {' | '.join(figures)} |", flush=True)


if __name__ == "__main__":
    main()
