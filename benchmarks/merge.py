"""What merging loses: models of shards, merged once or in rounds, against one pass.

python -m benchmarks.merge [--sets a9a] [--learners COG-II] [--ways "4, once"] [--rows M]

A fifth of the rows is held out. Random shards hold every K-th row of a random order; sorted shards
are stretches of the rows in the order of the file, which is that of time or of classes. A cell is
balanced accuracy / AUC in percent, the mean over seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lopsided
from lopsided.metrics import auc
from lopsided.papers import sets

from .quality.files import folders
from .quality.real import _csr

SETS = ("a9a", "w8a", "creditcard", "covtype", "news20_mc")
LEARNERS = (
    *("Recommended", "COG-II", "AROW-diag", "ACOG-II", "ACOG-II-diag"),
    *("CS-FSOL", "CS-SSOL", "SSACOG-II"),
)
# How a model is made: shards, rounds, whether they are stretches of the file.
WAYS = {
    "one pass": (1, 1, False),
    "4, once": (4, 1, False),
    "4, 8 rounds": (4, 8, False),
    "16, once": (16, 1, False),
    "16, 8 rounds": (16, 8, False),
    "one pass, sorted": (1, 1, True),
    "4 sorted, once": (4, 1, True),
    "4 sorted, 8 rounds": (4, 8, True),
    "16 sorted, once": (16, 1, True),
    "16 sorted, 8 rounds": (16, 8, True),
}
WIDEST_FULL = 2000  # features of a full covariance
Rows = NDArray[np.int64]


def shards_of(order: Rows, count: int, stretches: bool) -> list[Rows]:
    return np.array_split(order, count) if stretches else [order[k::count] for k in range(count)]


def slices(shards: list[Rows], rounds: int) -> Iterator[list[Rows]]:
    """Yield the rows of each shard in each round."""
    cut = [np.array_split(shard, rounds) for shard in shards]
    for k in range(rounds):
        yield [parts[k] for parts in cut]


def trained(name: str, X: Any, y: NDArray[Any], shards: list[Rows], rounds: int) -> Any:
    """Return one model that all shards have taught, in rounds of mixing."""
    model = None
    for rows in slices(shards, rounds):
        if model is None:
            parts = [lopsided.make(name) for _ in shards]
        else:
            parts = lopsided.split(model, len(shards))
        for part, own in zip(parts, rows, strict=True):
            part.partial_fit(X[own], y[own], classes=[0, 1])
        model = lopsided.merge(parts, base=model)
    return model


def quality(model: Any, X: Any, y: NDArray[Any]) -> tuple[float, float]:
    guessed = model.predict(X)
    hits = [np.mean(guessed[y == label] == label) for label in (0, 1)]
    return 100 * float(np.mean(hits)), 100 * float(auc(y, model.score_many(X)))


def results(
    name: str, learners: Sequence[str], ways: Sequence[str], seeds: int, rows: int | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    read = sets.load(name, [str(folder) for folder in folders()])
    X, y = _csr(read.X), (read.y > 0).astype(int)
    if X.shape[1] < 100:
        X = X.toarray()
    for learner in learners:
        if learner == "ACOG-II" and X.shape[1] > WIDEST_FULL:
            continue
        found: dict[str, Any] = {}
        for seed in range(seeds):
            order = np.random.default_rng(seed).permutation(len(y))[: rows or len(y)]
            test, train = np.split(order, [len(order) // 5])
            for way in ways:
                count, rounds, stretches = WAYS[way]
                shards = shards_of(np.sort(train) if stretches else train, count, stretches)
                model = trained(learner, X, y, shards, rounds)
                found.setdefault(way, []).append(quality(model, X[test], y[test]))
        yield learner, {way: np.mean(pairs, axis=0) for way, pairs in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.merge", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--learners", nargs="+", default=LEARNERS, choices=LEARNERS)
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, help="at most")
    options = parser.parse_args()
    for name in options.sets:
        print(f"\n| {name} | {' | '.join(options.ways)} |\n|---|{'---|' * len(options.ways)}")
        chosen = options.learners, options.ways, options.seeds, options.rows
        for learner, cells in results(name, *chosen):
            row = [f"{a:.1f} / {b:.1f}" for a, b in cells.values()]
            print(f"| {learner} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
