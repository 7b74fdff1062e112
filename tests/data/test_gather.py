"""Streams as one block."""

import numpy as np
import pytest
import scipy.sparse as sp
from streams import csr, stream

from lopsided.data import open_reader
from lopsided.data.block import Block, Dense, Sparse
from lopsided.data.gather import gather, taken
from lopsided.data.readers.libsvm import LibsvmReader


def as_block(X, form):
    y, lines = np.arange(len(X)) % 2, np.arange(len(X)) + 1
    if form == "sparse":
        m = csr(X)
        X = Sparse(m.indptr, m.indices, m.data, m.shape)
    elif form == "dense":
        X = Dense(X, list("abcdefg"))
    elif form == "events":
        X = [{"a": float(v)} for v in X[:, 0]]
    return Block(X, y, y + 0.5, lines, "made")


def as_array(X):
    if isinstance(X, Sparse):
        return sp.csr_matrix((X.data, X.indices, X.indptr), X.shape).toarray()
    if isinstance(X, list):
        return np.array([[event["a"]] for event in X])
    return X.array if isinstance(X, Dense) else X


@pytest.mark.parametrize("form", ["sparse", "dense", "events", "array"])
def test_parts_together_are_the_whole(form):
    X, _ = stream(0, 40, density=0.3)
    whole = as_block(X, form)
    parts = [taken(whole, np.arange(a, b)) for a, b in ((0, 7), (7, 8), (8, 40))]
    again = gather(parts)
    np.testing.assert_array_equal(as_array(again.X), as_array(whole.X))
    for name in ("y", "weight", "lines"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))


@pytest.mark.parametrize("form", ["sparse", "dense", "events", "array"])
def test_rows_are_taken_in_any_order(form):
    X, _ = stream(1, 40, density=0.3, quirks=("zero rows",))
    whole = as_block(X, form)
    rows = np.random.default_rng(0).permutation(40)[:25]
    some = taken(whole, rows)
    np.testing.assert_array_equal(as_array(some.X), as_array(whole.X)[rows])
    np.testing.assert_array_equal(some.lines, whole.lines[rows])


def test_libsvm_text_in_pieces_is_one_matrix(tmp_path):
    rng = np.random.default_rng(0)
    X = sp.random(300, 50, 0.1, "csr", rng=rng)
    path = tmp_path / "rows.svm"
    lines = []
    for row in (X[i] for i in range(300)):
        pairs = zip((row.indices + 1).tolist(), row.data.tolist(), strict=True)
        lines.append(" ".join(["1", *(f"{j}:{v!r}" for j, v in pairs)]))
    path.write_text("\n".join(lines))
    found = gather(LibsvmReader(str(path), chunk_bytes=1000))
    assert found.X.shape[0] == 300
    np.testing.assert_array_equal(as_array(found.X), X.toarray()[:, : found.X.shape[1]])


def test_categories_that_come_later_are_0_before(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("c,y\n" + "a,0\n" * 5 + "b,1\n" * 5)
    reader = open_reader(str(path), label="y", categorical=["c"], block_rows=3)
    block = gather(reader)
    assert block.X.names == ["c=a", "c=b"]
    assert as_array(block.X).tolist() == [[1.0, 0.0]] * 5 + [[0.0, 1.0]] * 5
