"""Rows in Parquet files, and rounds of mixing over them in one process."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import lopsided
from lopsided import sharding
from lopsided.data.block import Dense
from lopsided.persist import to_bytes

NAMES = ["f0", "f1", "f2"]


def rows(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0.8).astype(int)


X, Y = rows()


def write(folder, sizes=(500, 400, 300)):
    """Files of falling size, the order in which Spark makes partitions of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ends = np.cumsum([0, *sizes])
    for k, (first, last) in enumerate(pairwise(ends)):
        columns = {name: X[first:last, j] for j, name in enumerate(NAMES)}
        table = pa.table({**columns, "y": Y[first:last], "w": np.ones(last - first)})
        pq.write_table(table, folder / f"{k}.parquet", compression="none")
    return [slice(a, b) for a, b in pairwise(ends)]


def named(part):
    return Dense(X[part], NAMES)


def local(model, parts, rounds):
    """Rounds of mixing in this process."""
    for r in range(rounds):
        begun = sharding.start(model, len(parts))
        found = []
        for part in parts:
            one = lopsided.persist.from_bytes(to_bytes(begun)) if r else type(model)()
            own = slice(part.start + r, part.stop, rounds)
            one.partial_fit(named(own), Y[own], classes=[0, 1])
            found.append(to_bytes(one))
        model = sharding.merged(found, model, begun)
    return model
