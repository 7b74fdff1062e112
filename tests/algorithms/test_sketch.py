"""Sketches: two forms of the same numbers, their start, their options and their size."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from streams import csr
from streams import stream as short_stream

import lopsided
from lopsided import ACOG
from lopsided.persist import to_bytes

FORMS = ("sketch", "dense-sketch")
by_form = pytest.mark.parametrize("form", FORMS)
by_loss = pytest.mark.parametrize("loss", ["I", "II"])


def stream(rows=3000, d=200, nonzeros=10, seed=0):
    """Unit rows with a few values each, a third of them positive."""
    rng = np.random.default_rng(seed)
    X = np.zeros((rows, d))
    for x in X:
        x[rng.choice(d, nonzeros, replace=False)] = rng.normal(size=nonzeros)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    signal = X @ rng.normal(size=d) + 0.3 * rng.normal(size=rows)
    return X, np.where(signal > np.quantile(signal, 0.65), 1, -1)


def orthonormal(m, d, seed=1):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, m)))[0].T


def make(form, **params):
    usual = {"scaling": "none", "class_weight": {1: 3.0, -1: 1.0}, "learning_rate": 0.5}
    return ACOG(covariance=form, **{**usual, **params})


X, Y = stream()


@by_loss
@pytest.mark.parametrize("gamma", [1.0, 0.01])
@pytest.mark.parametrize("every", [1, 5])
@pytest.mark.parametrize("given", [False, True])
def test_both_forms_give_the_same_scores(loss, gamma, every, given):
    params = {"loss": loss, "regularization": gamma, "sketch_every": every}
    params["directions"] = orthonormal(5, 200) if given else None
    sparse, dense = (make(form, **params) for form in FORMS)
    ours = lopsided.progressive(sparse, csr(X), Y).scores
    theirs = lopsided.progressive(dense, X, Y).scores
    assert np.abs(theirs).max() > 0.5
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
    np.testing.assert_allclose(sparse.directions_, dense.directions_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(sparse.eigenvalues_, dense.eigenvalues_, rtol=1e-9)


@by_form
@pytest.mark.parametrize("gamma", [1.0, 0.01, 1e-4])
def test_given_directions_stay_orthonormal(form, gamma):
    model = make(form, regularization=gamma, directions=orthonormal(5, 200)).fit(X, Y)
    rows = model.directions_
    np.testing.assert_allclose(rows @ rows.T, np.eye(5), rtol=0, atol=1e-9)
    assert np.abs(rows - orthonormal(5, 200)).max() > 0.01


@by_form
def test_sketch_finds_the_strongest_direction(form):
    rng = np.random.default_rng(2)
    strong = orthonormal(1, 50)[0]
    rows = 0.1 * rng.normal(size=(5000, 50)) + rng.normal(size=(5000, 1)) * strong
    model = make(form, sketch_size=2).fit(rows, np.where(rows @ np.ones(50) > 0, 1, -1))
    assert abs(model.directions_[0] @ strong) > 0.99
    assert model.eigenvalues_[0] == pytest.approx(((rows @ strong) ** 2).sum(), rel=0.05)
    energy = model.eigenvalues_
    sigma = np.eye(50) - model.directions_.T @ np.diag(energy / (1 + energy)) @ model.directions_
    np.testing.assert_allclose(model.covariance_, np.diag(sigma), rtol=0, atol=1e-12)


@by_form
def test_rows_without_loss_move_the_sketch_but_not_the_mean(form):
    model = make(form).fit(X[:500], Y[:500])
    mean, directions = model.coef_, model.directions_
    sure = X[np.abs(X @ mean) > 1e-3][:50] * 1e6
    model.partial_fit(sure, np.where(sure @ mean > 0, 1, -1))
    np.testing.assert_allclose(model.coef_, mean, rtol=0, atol=1e-9)
    assert np.abs(model.directions_ - directions).max() > 0.01


def literal_scores(X, y, V, gamma, rate, rho):
    """SSACOG-II to the letter of the paper: w and b stay where they are when there is no loss."""
    m, d = V.shape
    energy, F, Z = np.zeros(m), np.eye(m), V.copy()
    w, b, scores = np.zeros(d), np.zeros(m), []
    for n, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        p = (w + Z.T @ b) @ x
        scores.append(p)
        z, xh = Z @ x / np.sqrt(gamma), x / np.sqrt(gamma)
        energy += (F @ z) ** 2
        delta = z / n
        old = b.copy()
        Z = Z + np.outer(delta, xh)
        F = np.linalg.solve(np.linalg.cholesky(F @ Z @ Z.T @ F.T), F)
        if label * p < 1:
            g = -(rho if label > 0 else 1) * label * x
            h = energy / (1 + energy)
            w = w - rate * g - (delta @ old) * xh
            b = b + rate * F.T @ (h * (F @ (Z @ g)))
    return np.array(scores)


@pytest.mark.parametrize("gamma", [1.0, 0.01])
def test_printed_rule_for_rows_without_loss_drifts_away(gamma):
    V = orthonormal(5, 200)
    model = make("sketch", regularization=gamma, directions=V)
    scores = lopsided.progressive(model, csr(X), Y).scores
    literal = literal_scores(X, Y, V, gamma, 0.5, 3.0)
    assert np.abs(scores - literal).max() > 1e-3


# Features ------------------------------------------------------------------------------------


@by_form
def test_order_of_values_in_an_event_does_not_matter(form):
    one, two = (make(form, hash_bits=8) for _ in range(2))
    for x, y in zip(X[:100], Y[:100], strict=True):
        event = {f"f{j}": float(x[j]) for j in np.flatnonzero(x)}
        one.learn_one(event, y)
        two.learn_one(dict(reversed(event.items())), y)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=0, atol=1e-12)


@by_form
def test_seed_decides_where_features_enter(form):
    a, b, c = (make(form, seed=seed).fit(X, Y) for seed in (0, 0, 1))
    assert to_bytes(a) == to_bytes(b)
    assert np.abs(a.directions_ - c.directions_).max() > 0.01


@by_form
def test_given_directions_with_an_intercept_have_its_column_in_front(form):
    V = orthonormal(3, 201)
    model = make(form, sketch_size=3, directions=V, intercept=True, sketch_on="loss")
    model.partial_fit(np.zeros((1, 200)), [1], sample_weight=[1.0])
    assert model.directions_.shape == (3, 201)
    with pytest.raises(ValueError, match="199 features, but the directions given are those of 200"):
        make(form, sketch_size=3, directions=V, intercept=True).fit(X[:, :199], Y)


@by_form
def test_given_directions_may_be_of_the_intercept_alone(form):
    model = make(form, sketch_size=1, directions=[[1.0]], intercept=True)
    model.partial_fit([[1.0, 2.0]], [1], classes=[-1, 1])
    assert model.directions_.shape == (1, 3)
    assert np.linalg.norm(model.directions_) == pytest.approx(1, abs=1e-12)
    assert np.isfinite(model.coef_).all()


@by_form
def test_feature_without_a_step_has_no_weight(form):
    X, y = short_stream(2231244, 55, 4, density=0.3)
    model = ACOG(covariance=form, loss="I", learning_rate=1.0, sketch_size=1, scaling="standard")
    scores = lopsided.progressive(model, csr(X), y).scores
    assert scores[5] < -1
    assert scores[6] == 0


@by_form
def test_features_beyond_given_directions_enter(form, tmp_path):
    V = orthonormal(3, 150)
    model = make(form, sketch_size=3, directions=V).fit(X, Y)
    assert model.n_features_in_ == 200
    assert np.abs(model.directions_[:, 150:]).min(axis=1).max() > 0
    part = make(form, sketch_size=3, directions=V).partial_fit(X[:700], Y[:700])
    part.save(tmp_path / "model")
    again = lopsided.load(tmp_path / "model").partial_fit(X[700:], Y[700:])
    whole = make(form, sketch_size=3, directions=V).partial_fit(X, Y)
    np.testing.assert_array_equal(again.coef_, whole.coef_)
    np.testing.assert_array_equal(again.directions_, whole.directions_)


@by_form
def test_waiting_rows_are_saved(form, tmp_path):
    whole, part = (make(form, sketch_every=7, weight_state=True) for _ in range(2))
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(Y))
    whole.partial_fit(X, Y, sample_weight=weights)
    for cut in (slice(0, 10), slice(10, 11), slice(11, 500), slice(500, None)):
        part.partial_fit(X[cut], Y[cut], sample_weight=weights[cut]).save(tmp_path / "model")
        part = lopsided.load(tmp_path / "model")
    assert to_bytes(part) == to_bytes(whole)


def test_memory_is_taken_for_features_that_occur():
    code = """
        import resource
        import numpy as np, scipy.sparse as sp
        import lopsided
        rng = np.random.default_rng(0)
        columns = rng.integers(20_000_000, size=(300, 100))
        columns.sort(axis=1)
        indices = np.array([np.unique(c)[:90] for c in columns]).ravel().astype(np.int32)
        parts = rng.normal(size=27_000), indices, np.arange(301) * 90
        X = sp.csr_matrix(parts, (300, 20_000_000))
        y = rng.integers(2, size=300)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        model = lopsided.ACOG(covariance="sketch").fit(X, y)
        model.partial_fit(X[:2], y[:2])
        model.decision_function(X)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print((after - before) // 1024)
    """
    out = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert int(out.stdout) < 400  # MB; the whole table would be 1280, the pages met are about 105


# Extremes ------------------------------------------------------------------------------------


@by_form
@by_loss
def test_no_rate_or_regularization_of_the_papers_overflows(form, loss):
    rows = csr(X[:400])
    for rate in 10.0 ** np.arange(-5, 6):
        for gamma in 10.0 ** np.arange(-4, 5):
            model = make(form, loss=loss, learning_rate=rate, regularization=gamma)
            scores = lopsided.progressive(model, rows, Y[:400], points=0).scores
            assert np.isfinite(scores).all()
            assert np.isfinite(model.coef_).all()


@by_form
@pytest.mark.parametrize("size", [1, 2, 7, 8, 64])
def test_more_directions_than_features_and_other_sizes(form, size):
    model = make(form, sketch_size=size).fit(X[:300, :20], Y[:300])
    assert model.directions_.shape == (size, 20)
    assert np.isfinite(model.coef_).all()
    assert np.linalg.norm(model.directions_, 2) < 1 + 1e-9


# Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize(
    "option",
    [
        {"sketch_size": 3},
        {"sketch_every": 2},
        {"sketch_on": "loss"},
        {"seed": 1},
        {"directions": np.eye(5)},
    ],
    ids=str,
)
def test_options_of_a_sketch_without_a_sketch_are_errors(covariance, option):
    with pytest.raises(ValueError, match=f"{next(iter(option))} has an effect only with"):
        ACOG(covariance=covariance, **option).fit(X, Y)


@by_form
@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"sigma": "old"}, "sigma has an effect only"),
        ({"diag_rule": "shared"}, "diag_rule has an effect only"),
        ({"sketch_size": 0}, "whole number from 1 to 64"),
        ({"sketch_size": 65}, "whole number from 1 to 64"),
        ({"sketch_every": 0}, "whole number from 1"),
        ({"seed": -1}, "whole number from 0"),
        ({"sketch_on": "never"}, "one of 'always', 'loss'"),
        ({"directions": "abc"}, "must be an array of numbers"),
        ({"directions": np.eye(4)}, "it must have sketch_size=5 rows"),
        ({"directions": np.ones((5, 9))}, "not orthonormal"),
        ({"directions": np.full((5, 9), np.nan)}, "not orthonormal"),
    ],
    ids=str,
)
def test_impossible_options_of_a_sketch_are_errors(form, option, words):
    with pytest.raises(ValueError, match=words):
        ACOG(covariance=form, **option).fit(X, Y)


@by_form
@pytest.mark.parametrize(
    "change", [{"sketch_size": 4}, {"seed": 3}, {"sketch_every": 2}, {"directions": np.eye(5, 200)}]
)
def test_shape_of_a_sketch_cannot_change_in_mid_stream(form, change):
    model = make(form).fit(X[:50], Y[:50])
    before = to_bytes(model)
    with pytest.raises(ValueError, match=f"{next(iter(change))} cannot change"):
        model.set_params(**change).partial_fit(X[50:60], Y[50:60])
    model.set_params(**{name: getattr(ACOG, name) for name in change})
    assert to_bytes(model) == before


def test_directions_belong_to_models_with_a_sketch():
    model = ACOG().fit(X, Y)
    assert not hasattr(model, "directions_")
    assert not hasattr(model, "eigenvalues_")
