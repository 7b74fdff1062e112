"""Kernel perceptrons and NORMA: what the contract and the oracles do not say."""

from __future__ import annotations

import numpy as np
import pytest
from streams import csr, stream

import lopsided
from lopsided import NORMA, RBP, Forgetron, KernelPerceptron, Projectron, progressive
from lopsided.persist import from_bytes, to_bytes
from reference.kernel import kernel

X, Y = stream(seed=8, rows=400, d=5)
PLAIN = {"scaling": "none", "gamma": 0.2}
BASELINES = ("KernelPerceptron", "NORMA", "RBP", "Forgetron", "Projectron", "Projectron++")


def state(model):
    return model.fitted.core.state()


def gram(model):
    k, rows = kernel(model.kernel, model.gamma_), model.support_vectors_
    return np.array([[k(a, b) for a in rows] for b in rows])


@pytest.mark.parametrize("size", [1, 5, 40])
@pytest.mark.parametrize("kind", ["gaussian", "laplacian"])
def test_forgetting_never_costs_more_than_15_32_of_the_mistakes(size, kind):
    model, shrunk = Forgetron(buffer_size=size, kernel=kind, **PLAIN), False
    for x, y in zip(X, Y, strict=True):
        model.learn_one(x, y)
        now = state(model)
        assert now["forgetron.Q"] <= 15 / 32 * now["forgetron.mistakes"] + 1e-9
        assert model.n_support_ <= size
        shrunk = shrunk or (np.abs(model.dual_coef_) < 1).any()
    assert shrunk
    assert now["forgetron.Q"] > 13 / 32 * now["forgetron.mistakes"] - 1


@pytest.mark.parametrize("tolerance", [0.05, 0.4])
@pytest.mark.parametrize("plus_plus", [False, True])
def test_the_factor_of_the_projectron_is_that_of_the_kernels(tolerance, plus_plus):
    model = Projectron(tolerance=tolerance, plus_plus=plus_plus, **PLAIN).fit(X, Y)
    n = model.n_support_
    assert 5 < n < progressive(KernelPerceptron(**PLAIN), X, Y).updates
    factor = np.zeros((n, n))
    factor[np.tril_indices(n)] = state(model)["kept.factor"]
    np.testing.assert_allclose(factor @ factor.T, gram(model), rtol=0, atol=1e-12)
    assert (np.diag(factor)[1:] > tolerance).all()


@pytest.mark.parametrize("params", [{"kernel": "polynomial", "degree": 2}, {"kernel": "linear"}])
def test_a_space_of_few_dimensions_needs_as_few_rows(params):
    model, want = Projectron(scaling="none", tolerance=1e-6, **params), 15 if len(params) > 1 else 5
    scores = progressive(model, X, Y).scores
    everything = progressive(KernelPerceptron(scaling="none", **params), X, Y).scores
    assert model.n_support_ <= want + 6
    np.testing.assert_allclose(scores, everything, rtol=1e-6, atol=1e-6)


def test_with_room_for_all_they_are_the_kernel_perceptron():
    want = progressive(KernelPerceptron(**PLAIN), X, Y)
    for model in (RBP(buffer_size=400, **PLAIN), Forgetron(buffer_size=400, **PLAIN)):
        assert progressive(model, X, Y).scores.tobytes() == want.scores.tobytes()
    for model in (RBP(buffer_size=20, **PLAIN), Forgetron(buffer_size=20, **PLAIN)):
        assert not np.allclose(progressive(model, X, Y).scores, want.scores)
        assert model.n_support_ == 20


def test_seed_chooses_the_row_that_makes_room():
    first, second = (RBP(buffer_size=5, seed=seed, **PLAIN).fit(X, Y) for seed in (0, 1))
    assert not np.array_equal(first.support_vectors_, second.support_vectors_)


def test_nu_is_about_the_share_of_rows_below_the_margin():
    for nu in (0.2, 0.6):
        model = NORMA(nu=nu, learning_rate=0.05, **PLAIN)
        rows, labels = stream(seed=9, rows=4000, d=5)
        assert abs(progressive(model, rows, labels).updates / 4000 - nu) < 0.03


def test_truncation_drops_what_is_old():
    old = NORMA(truncation=30, **PLAIN).fit(X, Y)
    assert 0 < old.n_support_ <= 30
    fresh = NORMA(**PLAIN).fit(X, Y)
    n = old.n_support_
    np.testing.assert_array_equal(old.support_vectors_, fresh.support_vectors_[-n:])
    np.testing.assert_allclose(old.dual_coef_, fresh.dual_coef_[-n:], rtol=1e-12)
    assert len(state(old)["kept.born"]) == n


def test_bias():
    model = NORMA(bias=True, **PLAIN).fit(X, np.where(np.arange(400) % 10, -1, 1))
    assert model.intercept_ < 0
    far = np.full((1, 5), 1e3)
    assert model.decision_function(far).tolist() == [model.intercept_]
    assert NORMA(**PLAIN).fit(X, Y).intercept_ == 0


def test_weights_fade_far_without_vanishing():
    model = NORMA(learning_rate=0.9, regularization=1.0, **PLAIN)
    model.fit(np.vstack([X] * 5), np.tile(Y, 5))
    assert 0 < state(model)["norma.scale"] <= 1
    weights = np.abs(model.dual_coef_)
    assert weights[-1] > 1e-9
    assert weights[0] == 0


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (Forgetron(kernel="linear"), "kernel"),
        (Forgetron(kernel="polynomial"), "kernel"),
        (NORMA(learning_rate=2.0, regularization=0.5), "regularization"),
        (NORMA(nu=1.5), "nu"),
        (NORMA(nu=0), "nu"),
        (NORMA(truncation=0), "truncation"),
        (RBP(buffer_size=(3, 4)), "buffer_size"),
        (Projectron(tolerance=0), "tolerance"),
        (KernelPerceptron(kernel="linear", gamma=1), "gamma"),
    ],
    ids=str,
)
def test_impossible_parameters(model, what):
    with pytest.raises(ValueError, match=what):
        model.fit(X, Y)


@pytest.mark.parametrize("change", [{"nu": 0.5}, {"bias": True}, {"truncation": 9}], ids=str)
def test_what_norma_is_cannot_change_in_mid_stream(change):
    model = NORMA().partial_fit(X, Y).set_params(**change)
    with pytest.raises(ValueError, match=next(iter(change))):
        model.partial_fit(X, Y)


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("form", [np.asarray, csr])
def test_a_model_goes_on_as_if_it_had_never_been_saved(name, form):
    params = {"buffer_size": 9} if name in ("RBP", "Forgetron") else {}
    params |= {"truncation": 40, "nu": 0.4, "bias": True} if name == "NORMA" else {}
    whole = lopsided.make(name, **params).partial_fit(form(X), Y)
    model = lopsided.make(name, **params)
    for k in range(0, 400, 80):
        model = from_bytes(to_bytes(model.partial_fit(form(X)[k : k + 80], Y[k : k + 80])))
    assert to_bytes(model) == to_bytes(whole)


IMPOSSIBLE = {
    "Projectron": [
        {"kept.factor": np.ones(3)},
        {"kept.factor": lambda v: np.r_[np.nan, v[1:]]},
        {"kept.factor": lambda v: np.r_[-v[0], v[1:]]},
    ],
    "NORMA": [
        {"norma.scale": 0.0},
        {"norma.scale": np.nan},
        {"norma.margin": np.inf},
        {"bias": np.nan},
        {"kept.born": np.ones(2)},
        {"kept.born": lambda v: v[::-1]},
        {"kept.born": lambda v: v - 1e6},
        {"kept.born": lambda v: np.r_[v[:-1], np.inf]},
    ],
    "Forgetron": [{"forgetron.Q": np.nan}, {"forgetron.Q": 1e9}],
    "RBP": [{"kept.kept.weights": lambda v: v * np.inf}],
}


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name, all_ in IMPOSSIBLE.items() for change in all_]
)
def test_impossible_state_in_a_file_is_refused(name, change):
    params = {"truncation": 50} if name == "NORMA" else {}
    native = lopsided.make(name, gamma=0.5, **params).fit(X, Y).fitted.core
    found = native.state()
    for key, value in change.items():
        found[key] = value(np.asarray(found[key])) if callable(value) else value
    with pytest.raises(ValueError, match="state"):
        native.restore(5, found, [])
