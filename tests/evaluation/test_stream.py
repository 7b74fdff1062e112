"""Runs over blocks: whole blocks in order, parts of blocks, rows that are bad."""

from __future__ import annotations

import numpy as np
import pytest

from lopsided import COG
from lopsided.data.block import BadLines, Block
from lopsided.evaluation.stream import StreamRun

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=60) > 0.8, 1, -1)


class Recording(COG):
    """Notes the rows each pass is told to visit."""

    def pass_over(self, *args, **kwargs):
        ORDERS.append(kwargs["order"])
        return super().pass_over(*args, **kwargs)


ORDERS: list = []


def run(size, stops=(), x=X, allowed=0):
    ORDERS.clear()
    found = StreamRun(Recording(), stops=stops, bad=BadLines(allowed))
    parts = [slice(at, at + size) for at in range(0, 60, size)]
    lines = np.arange(60) + 1
    blocks = [Block(x[part], Y[part], None, lines[part], "made") for part in parts]
    slices = list(found.over(blocks))
    return found, np.concatenate([one.scores for one in slices])


def test_whole_blocks_are_visited_in_order_without_a_permutation():
    run(20)
    assert ORDERS == [None] * 3


def test_parts_of_blocks_are_visited_by_row():
    run(20, stops=(15,))
    assert [None if order is None else order.tolist() for order in ORDERS] == [
        list(range(15)), list(range(15, 20)), list(range(10)),
        list(range(10, 20)), list(range(5)), list(range(5, 20)),
    ]  # fmt: skip


@pytest.mark.parametrize(("size", "stops"), [(20, ()), (60, (7,)), (1, ())])
def test_parts_and_whole_blocks_have_the_same_bits(size, stops):
    whole, expected = run(60)
    found, scores = run(size, stops)
    assert scores.tobytes() == expected.tobytes()
    assert found.counts == whole.counts
    assert found.auc.value == whole.auc.value
    assert (found.model.coef_ == whole.model.coef_).all()


def test_a_bad_row_leaves_the_others_in_order():
    bad = X.copy()
    bad[7, 1] = np.nan
    found, scores = run(60, x=bad, allowed=1)
    assert ORDERS[0] is None
    assert ORDERS[1].tolist() == [row for row in range(60) if row != 7]
    assert np.flatnonzero(np.isnan(scores)).tolist() == [7]
    model = COG().partial_fit(np.delete(X, 7, 0), np.delete(Y, 7))
    assert (found.model.coef_ == model.coef_).all()
