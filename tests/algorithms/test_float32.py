"""A full covariance kept in float32: as in float64 up to roundings, however long the stream."""

from __future__ import annotations

import numpy as np
import pytest
from streams import csr, stream

import lopsided
from lopsided import ACOG, AROW, SSOL
from lopsided.persist import to_bytes
from reference import ORACLES, run

LEARNERS = {
    "AROW": {"regularization": 0.7},
    "ACOG": {"loss": "I", "learning_rate": 0.5, "sigma": "old"},
    "SSOL": {"learning_rate": 0.5, "l1": 0.02, "l1_schedule": "constant"},
}
HALF = {"covariance": "full", "covariance_dtype": "float32"}


@pytest.mark.parametrize("form", [np.asarray, csr])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
def test_library_equals_its_oracle_up_to_roundings(name, intercept, form):
    options = LEARNERS[name]
    for seed in range(8):
        X, y = stream(seed, 300, 5 + seed, density=0.5)
        oracle = ORACLES[name](covariance="full", **options)
        want = run(oracle, X, y, scaling="unit", intercept=intercept)
        model = getattr(lopsided, name)(
            scaling="unit", intercept=intercept, class_weight=None, **HALF, **options
        )
        done = lopsided.progressive(model, form(X), y)
        assert done.updates == want.updates
        np.testing.assert_allclose(done.scores, want.scores, rtol=0, atol=2e-5)
        np.testing.assert_allclose(model.coef_, oracle.coef[int(intercept) :], rtol=0, atol=2e-5)
        np.testing.assert_allclose(model.covariance_, oracle.sigma, rtol=0, atol=1e-6)


def rows(kind, n, d=20):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    if kind == "correlated":
        turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
        X = X * np.logspace(0, -3, d) @ turn
    elif kind == "one of each":
        X = np.zeros((n, d))
        for first in range(0, d, 5):
            X[np.arange(n), first + rng.integers(5, size=n)] = 1
    elif kind == "far away":
        X += 1e5
    elif kind == "magnitudes":
        X = X * 10.0 ** rng.integers(-3, 4, size=d) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    return X


def after(X, dtype, scaling="unit", **params):
    """ACOG that steps on every row."""
    model = ACOG(
        covariance="full",
        covariance_dtype=dtype,
        scaling=scaling,
        class_weight=None,
        learning_rate=1e-9,
        **params,
    )
    done = lopsided.progressive(model, X, np.arange(len(X)) % 2)
    assert done.updates == len(X)
    return model


def variances(model, X):
    return np.einsum("ij,jk,ik->i", X, model.covariance_, X)


def test_a_million_updates_are_those_of_float64():
    X = rows("independent", 1_000_000)
    half, whole = after(X, "float32"), after(X, "float64")
    ours, theirs = variances(half, X[:1000]), variances(whole, X[:1000])
    np.testing.assert_allclose(ours, theirs, rtol=1e-3)
    np.testing.assert_allclose(half.coef_, whole.coef_, rtol=0, atol=1e-3 * abs(whole.coef_).max())


@pytest.mark.parametrize("regularization", [1e-5, 1.0])
@pytest.mark.parametrize("scaling", ["unit", "none"])
@pytest.mark.parametrize("kind", ["correlated", "one of each", "far away", "magnitudes"])
def test_variance_stays_finite_and_positive(kind, scaling, regularization):
    X = rows(kind, 200_000)
    model = after(X, "float32", scaling, regularization=regularization)
    seen = X[-1000:] / np.linalg.norm(X[-1000:], axis=1)[:, None]
    found = variances(model, seen)
    assert np.isfinite(model.coef_).all()
    assert (found >= 0).all()
    assert (found <= 1).all()


def test_numbers_that_no_float_holds():
    X, y = stream(1, 60, 4)
    for size in (1e60, 1e-60):
        model = AROW(scaling="none", **HALF).fit(size * X, y)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.covariance_).all()


def test_file_has_half_the_size():
    X, y = stream(1, 40, 200)
    half = to_bytes(AROW(**HALF).fit(X, y))
    whole = to_bytes(AROW(covariance="full").fit(X, y))
    assert len(whole) - len(half) == pytest.approx(4 * 200 * 200, rel=0.01)


@pytest.mark.parametrize(
    "model",
    [
        AROW(covariance_dtype="float32"),
        ACOG(covariance_dtype="float32"),
        ACOG(covariance="sketch", covariance_dtype="float32"),
        SSOL(covariance_dtype="float32"),
        lopsided.make("OA3-diag", covariance_dtype="float32"),
    ],
    ids=str,
)
def test_without_a_full_covariance_it_is_an_error(model):
    X, y = stream()
    with pytest.raises(ValueError, match="covariance_dtype has an effect only with"):
        model.fit(X, y)
