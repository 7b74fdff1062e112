"""Equalities that the papers' formulas imply, for the oracles and for the library."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import lopsided
from reference import ORACLES, run
from reference.published import german, prepare_acog

by_implementation = pytest.mark.parametrize("implementation", ["oracle", "library"])
RHO = 3.0
GAMMA = 0.7
FULL = {"covariance": "full", "learning_rate": 1.0, "regularization": GAMMA}


def random_stream(rows, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, d))
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=rows) > 0, 1, -1)
    return X, y


def oracle_steps(name, X, y, **parameters):
    oracle = ORACLES[name](**parameters)
    oracle.start(X.shape[1])
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        before = oracle.w, getattr(oracle, "sigma", None)
        oracle.learn(x, label, oracle.score(x), RHO, 1.0, t)
        yield x, label, before, (oracle.w, getattr(oracle, "sigma", None))


def library_steps(name, X, y, **parameters):
    if name != "ROMMA":
        parameters["class_weight"] = {1: RHO, -1: 1.0}
    model = getattr(lopsided, name)(scaling="none", positive=1, **parameters)
    d = X.shape[1]
    before = np.zeros(d), np.eye(d) if parameters.get("covariance") == "full" else np.ones(d)
    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1, 1])
        covariance = getattr(model, "covariance_", None)
        after = model.coef_.copy(), None if covariance is None else covariance.copy()
        yield X[i], y[i], before, after
        before = after


def steps(implementation, name, X, y, **parameters):
    """(x, y, state before, state after) of every round; a state is (mean, covariance or None)."""
    walk = oracle_steps if implementation == "oracle" else library_steps
    return walk(name, X, y, **parameters)


def loss_is_positive(loss, y, p):
    rho_y = RHO if y > 0 else 1.0
    return y * p < (rho_y if loss == "I" else 1.0)


@by_implementation
@pytest.mark.parametrize("loss", ["I", "II"])
def test_full_covariance_is_the_inverse_of_the_summed_outer_products(implementation, loss):
    X, y = random_stream(400, 30)
    precision = np.eye(30)
    taken = 0
    walk = list(steps(implementation, "ACOG", X, y, loss=loss, **FULL))
    for x, label, (w, _), _ in walk:
        if loss_is_positive(loss, label, w @ x):
            taken += 1
            precision += np.outer(x, x) / GAMMA
    assert 30 < taken < 400
    _, sigma = walk[-1][-1]
    np.testing.assert_allclose(sigma, np.linalg.inv(precision), rtol=0, atol=1e-9)


@by_implementation
@pytest.mark.parametrize("loss", ["I", "II"])
def test_new_covariance_times_x_is_a_multiple_of_the_old_one(implementation, loss):
    X, y = random_stream(400, 30)
    walk = steps(implementation, "ACOG", X, y, loss=loss, **FULL)
    for x, label, (w, sigma), (new_w, new_sigma) in walk:
        if not loss_is_positive(loss, label, w @ x):
            assert np.array_equal(new_w, w)
            assert np.array_equal(new_sigma, sigma)
            continue
        u = sigma @ x
        shrunk = GAMMA / (GAMMA + x @ u) * u
        kappa = RHO if loss == "II" and label > 0 else 1.0
        np.testing.assert_allclose(new_sigma @ x, shrunk, rtol=0, atol=1e-9)
        np.testing.assert_allclose(new_w, w + kappa * label * shrunk, rtol=0, atol=1e-9)


@by_implementation
@pytest.mark.parametrize("loss", ["I", "II"])
@pytest.mark.parametrize("rule", ["shared", "coordinate"])
def test_diagonal_rules_are_the_two_diagonals_of_the_full_step(implementation, rule, loss):
    X, y = random_stream(60, 50)
    walk = steps(implementation, "ACOG", X, y, loss=loss, diag_rule=rule, regularization=GAMMA)
    taken = 0
    for x, label, (w, sigma), (_, new_sigma) in walk:
        if not loss_is_positive(loss, label, w @ x):
            assert np.array_equal(new_sigma, sigma)
            continue
        taken += 1
        if rule == "shared":
            expected = np.diag(np.linalg.inv(np.diag(1 / sigma) + np.outer(x, x) / GAMMA))
        else:
            expected = 1 / (1 / sigma + x**2 / GAMMA)
        np.testing.assert_allclose(new_sigma, expected, rtol=0, atol=1e-9)
    assert taken > 10


@by_implementation
@pytest.mark.parametrize("aggressive", [False, True])
def test_romma_step_meets_both_constraints(implementation, aggressive):
    X, y = random_stream(300, 8)
    taken = 0
    for x, label, (w, _), (new_w, _) in steps(implementation, "ROMMA", X, y, aggressive=aggressive):
        if np.array_equal(new_w, w) or not w.any():
            continue
        taken += 1
        # |w| grows without bound on a stream that no w separates: compare relative to it.
        size = max(1.0, w @ w)
        assert label * new_w @ x == pytest.approx(1, abs=1e-9 * size)
        assert new_w @ w == pytest.approx(w @ w, abs=1e-9 * size)
    assert taken > 20


def oracle_scores(name, X, y, order, **parameters):
    return run(ORACLES[name](**parameters), X, y, class_weight="balanced", order=order).scores


def library_scores(name, X, y, order, **parameters):
    model = getattr(lopsided, name)(
        class_weight="balanced", scaling="none", positive=1, **parameters
    )
    return lopsided.progressive(model, X, y, order=order).scores


def check_paum_is_cog(implementation, X, y, orders):
    scores = oracle_scores if implementation == "oracle" else library_scores
    for order in orders:
        paum = scores("PAUM", X, y, order, learning_rate=1.0)
        cog = scores("COG", X, y, order, loss="I", learning_rate=1.0)
        assert np.array_equal(paum, cog)


@by_implementation
def test_paum_without_bias_is_cog_one_at_rate_one(implementation):
    X, y = random_stream(500, 12)
    check_paum_is_cog(implementation, X, y, [np.arange(500), np.arange(500)[::-1].copy()])


@by_implementation
def test_paum_without_bias_is_cog_one_at_rate_one_on_german(implementation):
    data = german()
    if data is None:
        pytest.skip("german is neither in $LOPSIDED_DATA nor in ../shared/data")
    X, y, orders = data
    check_paum_is_cog(implementation, prepare_acog(X), y, orders)


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("power", [-495, -40, 40, 495])
def test_standard_scores_have_the_same_bits_in_any_unit(power, centred):
    X, y = random_stream(60, 3)
    other = X * np.array([1.0, 2.0**power, 1.0])
    found = [
        lopsided.progressive(
            lopsided.COG(scaling="standard"), rows if centred else csr_array(rows), y
        ).scores
        for rows in (X, other)
    ]
    np.testing.assert_array_equal(*found)
