"""One pass over a dense table, fit() to fit()."""

from __future__ import annotations

from collections.abc import Iterator

import lopsided

from . import data, peers
from .csr import SGD, one_pass_sgd
from .harness import Contender, Group

LEARNERS = {"COG-II": lopsided.COG, "ACOG-II diagonal": lopsided.ACOG}
SCALINGS = {"none": "", "standard+unit": ", standard+unit scaling (default)"}


def groups(quick: bool) -> Iterator[Group]:
    for features, rows in ((30, 100_000), (300, 20_000)):
        yield _group(features, rows // (5 if quick else 1))


def _group(features: int, rows: int) -> Group:
    X, y = data.table(rows, features)
    contenders = []
    for name, learner in LEARNERS.items():
        for scaling, said in SCALINGS.items():
            model = learner(scaling=scaling)
            run = lambda model=model: model.fit(X, y)  # noqa: E731
            contenders.append(Contender(name + said, run, rows))
    for whole in (lopsided.Recommended(), lopsided.WeightedMajority()):
        name = type(whole).__name__
        contenders.append(Contender(name, lambda whole=whole: whole.fit(X, y), rows))
    if peers.present("scikit-learn"):
        sgd = one_pass_sgd()
        contenders.insert(1, Contender(SGD, lambda: sgd.fit(X, y), rows, ours=False))
    return Group(f"dense pass, {rows:,} rows of {features} features", "ns/row", contenders, SGD)
