"""Several threads: the same bits, the same errors, and no row is lost."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from every_learner import X, Y, each, learned, make
from streams import csr, stream

import lopsided
from lopsided.catalog import CATALOG
from lopsided.estimator.batch import as_batch
from lopsided.persist import to_bytes

# Learning ---------------------------------------------------------------------------------------


def met(model):
    """How many events it has seen, whether it learned from them or not."""
    state = model.fitted.core.state()
    return state.get("budget.events", state["rounds"])


@each
def test_threads_with_models_of_their_own_give_the_same_bits(name):
    want = to_bytes(learned(name, "standard"))
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda _: learned(name, "standard"), range(8)))
    assert all(to_bytes(model) == want for model in models)


@each
@pytest.mark.promise("threads")
def test_threads_with_one_model_learn_every_row(name):
    model = make(name).partial_fit(X[:1], Y[:1])

    def work(k):
        if k % 2:
            model.partial_fit(X, Y)
        else:
            for x, y in zip(X, Y, strict=True):
                model.learn_one(x, y)
        model.decision_function(X)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(20)))
    assert met(model) == 1 + 20 * len(Y)
    assert np.isfinite(model.decision_function(X)).all()


@each
def test_threads_that_begin_a_model_together_learn_every_row(name):
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            model = make(name)
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda _, m=model: m.partial_fit(X, Y), range(8)))
            assert met(model) == 8 * len(Y)
    finally:
        sys.setswitchinterval(usual)


# Scoring ----------------------------------------------------------------------------------------

ROWS, WIDTH = 44_000, 20  # 7 MB: enough for three threads


@pytest.fixture(scope="module")
def many():
    X, _ = stream(1, 2000, WIDTH, density=0.9)
    return np.ascontiguousarray(np.tile(X, (ROWS // 2000, 1)) * np.linspace(0.5, 2, ROWS)[:, None])


@pytest.mark.parametrize("form", [np.asarray, csr])
@pytest.mark.parametrize("name", [entry.name for entry in CATALOG])
def test_scores_have_the_same_bits_on_any_number_of_threads(name, form, many, monkeypatch):
    X, y = stream(0, 150, WIDTH)
    model = lopsided.make(name).fit(form(X), y)
    rows = form(many)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LOPSIDED_THREADS", threads)
        found.append(model.decision_function(rows))
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    some = np.r_[0:5, ROWS // 2 - 2 : ROWS // 2 + 2, ROWS - 5 : ROWS]
    assert model.decision_function(rows[some]).tobytes() == found[0][some].tobytes()


@pytest.mark.parametrize("bad", [(7,), (ROWS - 3,), (ROWS - 3, 20)])
def test_the_first_bad_row_is_named(bad, many, monkeypatch):
    monkeypatch.setenv("LOPSIDED_THREADS", "3")
    X, y = stream(0, 150, WIDTH)
    model = lopsided.COG().fit(X, y)
    rows = many.copy()
    rows[list(bad), 3] = np.nan
    with pytest.raises(ValueError, match=f"^row {min(bad)}: .* in column 3"):
        model.decision_function(rows)


@pytest.mark.parametrize("threads", ["0", "-1", "two", "2.5"])
def test_a_number_of_threads_that_is_none(threads, many, monkeypatch):
    X, y = stream(0, 150, WIDTH)
    model = lopsided.COG().fit(X, y)
    monkeypatch.setenv("LOPSIDED_THREADS", threads)
    with pytest.raises(ValueError, match=f"LOPSIDED_THREADS must be a whole number .* '{threads}'"):
        model.decision_function(many)


def test_another_thread_cannot_change_the_indices_that_were_checked():
    X, y = stream(0, 150, WIDTH)
    matrix = csr(X)
    others = threading.active_count() > 1  # left by other tests
    alone = as_batch(matrix)
    with ThreadPoolExecutor(1) as pool:
        owned = pool.submit(as_batch, matrix).result()
    wanted = lopsided.COG().partial_fit(csr(X), y)
    matrix.indices[:] = 0
    changed = lopsided.COG().partial_fit(alone, y)  # no other thread, no copy
    assert others or not np.array_equal(changed.coef_, wanted.coef_)
    found = lopsided.COG().partial_fit(owned, y)
    assert (found.coef_ == wanted.coef_).all()
