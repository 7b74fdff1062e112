"""One pass over a CSR matrix in memory, fit() to fit()."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import lopsided

from . import data, peers
from .harness import Contender, Group

SGD = "SGDClassifier"
FEW = 2000  # rows for peers that take them one at a time


def groups(quick: bool) -> Iterator[Group]:
    rows = 50_000 if quick else 200_000
    X, y = data.zipf(rows)
    yield _group(f"CSR pass, {rows:,} rows of 75 of 100,000 features", X, y, goals=(1.15, 0.8))
    X, y = data.categories(rows)
    yield _group(f"CSR pass, {rows:,} rows of 14 of 123 features", X, y, goals=(2.5, None))


def _group(title: str, X: Any, y: Any, goals: tuple[float, float | None]) -> Group:
    ours = {
        "COG-II": (lopsided.COG(scaling="none"), goals[0]),
        "COG-II, unit scaling (default)": (lopsided.COG(), None),
        "ACOG-II diagonal": (lopsided.ACOG(scaling="none"), goals[1]),
        "ACOG-II diagonal, unit scaling (default)": (lopsided.ACOG(), None),
        "ACOG-II diagonal, standard+unit scaling": (lopsided.ACOG(scaling="standard+unit"), None),
        "AROW diagonal": (lopsided.AROW(scaling="none"), None),
        "Recommended": (lopsided.Recommended(), None),
        "WeightedMajority": (lopsided.WeightedMajority(), None),
    }
    rows = X.shape[0]
    contenders = [
        Contender(name, lambda model=model: model.fit(X, y), rows, goal=goal)
        for name, (model, goal) in ours.items()
    ]
    if peers.present("scikit-learn"):
        sgd = one_pass_sgd()
        contenders.insert(1, Contender(SGD, lambda: sgd.fit(X, y), rows, ours=False))
    if peers.present("river"):
        contenders.append(_river(X, y))
    if peers.present("vowpalwabbit"):
        contenders.append(vowpal(X, y, "--loss_function hinge"))
    steps = {name: lopsided.progressive(m, X, y).updates / rows for name, (m, _) in ours.items()}
    note = "steps taken on " + ", ".join(f"{100 * s:.0f}" for s in steps.values()) + " % of rows"
    return Group(title, "ns/row", contenders, SGD, note)


def one_pass_sgd() -> Any:
    """Scikit-learn's fastest way through the rows as they come."""
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="hinge", shuffle=False, max_iter=1, tol=None)


def _river(X: Any, y: Any) -> Contender:
    from river.linear_model import LogisticRegression

    stream = list(zip(_dicts(X), y[:FEW].tolist(), strict=True))

    def run() -> None:
        model = LogisticRegression()
        for x, label in stream:
            model.learn_one(x, label)

    return Contender("river LogisticRegression, dicts made before", run, FEW, ours=False)


def vowpal(X: Any, y: Any, options: str) -> Contender:
    """Vowpal Wabbit with these options, line by line."""
    from vowpalwabbit import Workspace

    lines = [
        f"{2 * label - 1} | " + " ".join(f"{j}:{v:.6g}" for j, v in x.items())
        for x, label in zip(_dicts(X), y[:FEW].tolist(), strict=True)
    ]
    model = Workspace(f"--quiet {options}")

    def run() -> None:
        for line in lines:
            model.learn(line)

    return Contender(f"vowpalwabbit {options}, lines made before", run, FEW, ours=False)


def _dicts(X: Any) -> Iterator[dict[int, float]]:
    for first, last in zip(X.indptr[:FEW], X.indptr[1 : FEW + 1], strict=True):
        yield dict(zip(X.indices[first:last].tolist(), X.data[first:last].tolist(), strict=True))
