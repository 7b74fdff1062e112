"""Runs over blocks: whole blocks in order, parts of blocks, rows that are bad."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from lopsided import COG
from lopsided.data.block import BadLines, Block
from lopsided.errors import BadRowError
from lopsided.evaluation.stream import StreamRun

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=60) > 0.8, 1, -1)


class Recording(COG):
    """Notes the rows each pass is told to visit."""

    def pass_over(self, *args, **kwargs):
        ORDERS.append(kwargs["order"])
        RANGES.append(kwargs["rows"])
        return super().pass_over(*args, **kwargs)


ORDERS: list = []
RANGES: list = []


def run(size, stops=(), x=X, allowed=0):
    ORDERS.clear()
    RANGES.clear()
    found = StreamRun(Recording(), stops=stops, bad=BadLines(allowed))
    parts = [slice(at, at + size) for at in range(0, 60, size)]
    lines = np.arange(60) + 1
    blocks = [Block(x[part], Y[part], None, lines[part], "made") for part in parts]
    slices = list(found.over(blocks))
    return found, np.concatenate([one.scores for one in slices])


def test_whole_blocks_are_visited_in_order_without_a_permutation():
    run(20)
    assert ORDERS == [None] * 3


def test_parts_of_blocks_are_visited_by_their_first_and_last_row():
    run(20, stops=(15,))
    assert ORDERS == [None] * 6
    assert RANGES == [(0, 15), (15, 20), (0, 10), (10, 20), (0, 5), (5, 20)]


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
    assert ORDERS[:2] == [None, None]  # all rows, then those before the bad one
    assert RANGES[:2] == [(0, 60), (0, 7)]
    after = [
        row
        for order, rows in zip(ORDERS[2:], RANGES[2:], strict=True)
        for row in (range(*rows) if order is None else order.tolist())
    ]
    assert after == list(range(8, 60))
    assert np.flatnonzero(np.isnan(scores)).tolist() == [7]
    model = COG().partial_fit(np.delete(X, 7, 0), np.delete(Y, 7))
    assert (found.model.coef_ == model.coef_).all()


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, csr_matrix, np.float32])
def test_a_range_of_rows_is_the_order_of_its_rows(form):
    """The same bits as the rows by number, and faults at the same places."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 2, 60)
    by_range, by_order = COG(), COG()
    for first, last in ((0, 20), (20, 21), (21, 50), (50, 60), (7, 30)):
        ranged = by_range.pass_over(
            form(X), y, None, classes=[0, 1], rows=(first, last), scores=True
        )
        order = np.arange(first, last)
        ordered = by_order.pass_over(form(X), y, None, classes=[0, 1], order=order, scores=True)
        assert ranged["scores"].tolist() == ordered["scores"].tolist()
        assert ranged["labels"][first:last].tolist() == ordered["labels"][first:last].tolist()
    assert by_range.coef_.tolist() == by_order.coef_.tolist()
    X[33, 2] = np.nan
    before = by_range.coef_.tolist()
    with pytest.raises(BadRowError, match="row 33"):
        by_range.pass_over(form(X), y, None, rows=(30, 40))
    assert by_range.coef_.tolist() == before
    by_range.pass_over(form(X), y, None, rows=(0, 33))  # what is outside is not looked at
