"""OAM and OPAUC: what the contract and the oracles do not say."""

from __future__ import annotations

import numpy as np
import pytest
from streams import csr, stream

import lopsided
from lopsided import OAM, OPAUC
from lopsided.persist import to_bytes
from reference import AUC_ORACLES, run

X, Y = stream(seed=4, rows=300, d=6)


@pytest.mark.parametrize("variant", ["seq", "gra"])
def test_dense_and_sparse_rows_can_be_mixed(variant):
    params = {"variant": variant, "scaling": "none", "buffer_size": (20, 7)}
    want, model = OAM(**params).partial_fit(X, Y), OAM(**params)
    for k in range(0, 300, 10):
        rows = slice(k, k + 10)
        model.partial_fit(X[rows] if k % 20 else csr(X)[rows], Y[rows])
    np.testing.assert_allclose(model.coef_, want.coef_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [5, (5, 5), [5, 5]])
def test_one_size_is_that_of_both_buffers(size):
    coef = OAM(buffer_size=size).fit(X, Y).coef_
    assert coef.tolist() == OAM(buffer_size=5).fit(X, Y).coef_.tolist()
    assert coef.tolist() != OAM(buffer_size=(5, 6)).fit(X, Y).coef_.tolist()


@pytest.mark.parametrize("size", [0, 1.5, (3,), (3, 0), (1, 2, 3), "10", None, True])
def test_impossible_buffer_size(size):
    with pytest.raises(ValueError, match="buffer_size"):
        OAM(buffer_size=size).fit(X, Y)


def test_buffers_and_seed_cannot_change_in_mid_stream():
    for change in ({"buffer_size": 50}, {"seed": 1}):
        model = OAM().partial_fit(X, Y).set_params(**change)
        with pytest.raises(ValueError, match=next(iter(change))):
            model.partial_fit(X, Y)


def test_seed_chooses_the_sample():
    first, second = (OAM(buffer_size=5, seed=seed).fit(X, Y).coef_ for seed in (0, 1))
    assert not np.allclose(first, second)


def test_there_is_no_intercept_and_no_class_weight():
    for cls in (OAM, OPAUC):
        for name in ("intercept", "class_weight"):
            with pytest.raises(TypeError, match=name):
                cls(**{name: True})
        assert cls().fit(X, Y).intercept_ == 0


def test_equal_rows_of_both_classes_move_nothing():
    model = OAM(scaling="none").fit(np.ones((4, 3)), [1, -1, 1, -1])
    assert model.coef_.tolist() == [0, 0, 0]


def test_opauc_refuses_more_features_than_it_has_room_for():
    model = OPAUC().partial_fit(csr(X), Y)
    before = to_bytes(model)
    wide = csr(X)
    wide.resize(300, 40001)
    with pytest.raises(ValueError, match="at most 40000 features: use OAM"):
        model.partial_fit(wide, Y)
    assert to_bytes(model) == before
    OAM().fit(wide, Y)


@pytest.mark.parametrize("cls", [OAM, OPAUC])
def test_features_may_come_one_by_one(cls):
    want = cls(scaling="none").partial_fit(np.tril(X[:6], 0), Y[:6])
    model = cls(scaling="none")
    for k in range(6):
        model.partial_fit(X[k : k + 1, : k + 1], Y[k : k + 1])
    assert to_bytes(model) == to_bytes(want)


def test_they_rank_a_lopsided_stream():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(3000) < 0.02, 1, -1)
    rows = rng.normal(size=(3000, 10)) + np.where(y > 0, 1.2, 0)[:, None]
    for name in ("OAM-seq", "OAM-gra", "OPAUC"):
        assert lopsided.progressive(lopsided.make(name), rows, y).auc > 0.9, name


IMPOSSIBLE = {
    "more rows than room": lambda s: np.tile(s, 200),
    "cut off": lambda s: s[:-1],
    "rest of a row": lambda s: s[:1],
    "negative length": lambda s: np.r_[-1.0, s[1:]],
    "too long": lambda s: np.r_[1e18, s[1:]],
    "not a number": lambda s: np.r_[s[:2], np.nan, s[3:]],
    "NaN length": lambda s: np.r_[np.nan, s[1:]],
    "no rows": lambda s: s[:0],
    "column that is not there": lambda s: np.r_[s[:-1], 6.0],
    "negative column": lambda s: np.r_[s[:-1], -1.0],
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_impossible_rows_in_a_file_are_refused(case):
    native = OAM(buffer_size=4).fit(csr(X), Y).fitted.core
    state = native.state()
    state["kept.positives"] = IMPOSSIBLE[case](state["kept.positives"])
    other = OAM(buffer_size=4).fit(csr(X), Y).fitted.core
    with pytest.raises(ValueError, match=r"kept|seen"):
        other.restore(6, state, [])


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_impossible_weight_of_a_class_in_a_file_is_refused(weight):
    native = OPAUC().fit(X, Y).fitted.core
    with pytest.raises(ValueError, match="weight"):
        native.restore(6, native.state() | {"positives.weight": weight}, [])


def test_large_weights_count_as_many_events_in_the_statistics():
    weights = np.random.default_rng(1).integers(1, 4, size=60).astype(float)
    model = OPAUC(scaling="none").fit(X[:60], Y[:60], sample_weight=weights)
    state = model.fitted.core.state()
    for sign, name in ((-1, "negatives"), (1, "positives")):
        rows, w = X[:60][Y[:60] == sign], weights[Y[:60] == sign]
        np.testing.assert_allclose(state[f"{name}.mean"], np.average(rows, axis=0, weights=w))
        want = np.cov(rows.T, fweights=w.astype(int), ddof=0)
        np.testing.assert_allclose(state[f"{name}.scatter"] / w.sum(), want, atol=1e-12)


@pytest.mark.parametrize("name", sorted(AUC_ORACLES))
def test_library_equals_its_oracle(name):
    weights = np.random.default_rng(2).uniform(0.2, 3, size=300)
    params = {"buffer_size": (9, 6), "C": 0.1} if name == "OAM" else {"learning_rate": 0.1}
    for rows in (X, csr(X)):
        model = getattr(lopsided, name)(scaling="unit", **params)
        got = lopsided.progressive(model, rows, Y, sample_weight=weights)
        want = run(AUC_ORACLES[name](**params), X, Y, weights=weights, scaling="unit")
        np.testing.assert_allclose(got.scores, want.scores, rtol=0, atol=1e-9)
        np.testing.assert_allclose(model.coef_, want.oracle.coef, rtol=0, atol=1e-9)
