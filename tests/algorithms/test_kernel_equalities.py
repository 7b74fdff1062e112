"""Equalities and invariants that the formulas of the kernel and AUC learners imply."""

from __future__ import annotations

import numpy as np
import pytest
from streams import stream

import lopsided

GAMMA = 0.4


def gram(X, Z):
    return np.exp(-GAMMA * np.sum((X[:, None] - Z) ** 2, axis=2))


def steps(model, X, y):
    """The model after each row."""
    for x, label in zip(X, y, strict=True):
        yield model.partial_fit(x[None], [label], classes=[-1, 1])


def test_opauc_goes_down_the_mean_square_loss_of_all_pairs():
    X, y = stream(1, 60, 6)
    rate, shrink = 0.05, 0.3
    model = lopsided.OPAUC(learning_rate=rate, regularization=shrink, scaling="none", positive=1)
    w = np.zeros(6)
    for t, now in enumerate(steps(model, X, y)):
        z = y[t] * (X[t] - X[:t][y[:t] != y[t]])
        if len(z):
            w = w - rate * (shrink * w - np.mean((1 - z @ w)[:, None] * z, axis=0))
        np.testing.assert_allclose(now.coef_, w, rtol=0, atol=1e-9)
    assert np.abs(w).max() > 0.1


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_koil_with_all_rows_kept_is_its_functional_recursion(loss):
    X, y = stream(2, 40, 3)
    rate, C, k = 0.1, 0.5, 4
    K = gram(X, X)
    model = lopsided.KOIL(
        policy="infinite",
        loss=loss,
        C=C,
        learning_rate=rate,
        n_neighbors=k,
        gamma=GAMMA,
        scaling="none",
        positive=1,
    )
    f, kept = np.zeros(40), []
    for t, now in enumerate(steps(model, X, y)):
        others = [i for i in kept if y[i] != y[t]]
        near = sorted(others, key=lambda i: -K[t, i])[:k]
        loses = {i: 1 - y[t] * (f[t] - f[i]) for i in near}
        slopes = {i: 1.0 if loss == "hinge" else 2 * h for i, h in loses.items() if h > 0}
        pull = sum((s * y[t] * (K[t] - K[i]) for i, s in slopes.items()), np.zeros(40))
        alone = not others or not (slopes or any(y[i] == y[t] for i in kept))
        if alone:
            pull = y[t] * K[t]
        f = (1 - rate) * f + rate * C * pull
        if alone or slopes:
            kept.append(t)
        np.testing.assert_allclose(now.decision_function(X), f, rtol=0, atol=1e-9)
    assert sum(now.n_support_) == len(kept) > 20


def test_a_forgetron_does_not_forget_more_than_its_mistakes_allow():
    X, y = stream(3, 400, 3)
    y = np.where(np.random.default_rng(0).random(400) < 0.3, -y, y)
    model = lopsided.Forgetron(buffer_size=10, gamma=GAMMA, scaling="none", positive=1)
    largest = 0.0
    for now in steps(model, X, y):
        state = now.fitted.core.state()
        largest = max(largest, state["forgetron.Q"] / max(1, state["forgetron.mistakes"]))
        assert state["forgetron.Q"] <= 15 / 32 * state["forgetron.mistakes"] * (1 + 1e-12)
    assert largest > 0.9 * 15 / 32  # the limit is reached


def test_the_factor_of_a_projectron_is_that_of_its_gram_matrix():
    X, y = stream(4, 400, 3)
    model = lopsided.Projectron(tolerance=0.3, gamma=GAMMA, scaling="none", positive=1).fit(X, y)
    kept = model.support_vectors_
    factor = np.zeros((len(kept), len(kept)))
    factor[np.tril_indices(len(kept))] = model.fitted.core.state()["kept.factor"]
    assert 10 < len(kept) < 100
    np.testing.assert_allclose(factor @ factor.T, gram(kept, kept), rtol=0, atol=1e-12)


@pytest.mark.parametrize("apart", [True, False])
def test_a_fitted_threshold_parts_the_rows_kept(apart):
    X, y = stream(5, 200, 2)
    if apart:
        X[:, 0] = 3 * y + 0.1 * X[:, 0]
    plain, fitted = (
        lopsided.KOIL(
            C=100.0, gamma=GAMMA, buffer_size=30, fit_threshold=fit, scaling="none", positive=1
        ).fit(X, y)
        for fit in (False, True)
    )
    moved = plain.decision_function(X) - fitted.decision_function(X)
    threshold = moved[0]
    np.testing.assert_allclose(moved, threshold, rtol=0, atol=1e-12)
    scores = gram(plain.support_vectors_, plain.support_vectors_) @ plain.dual_coef_
    negative, positive = np.split(scores, [plain.n_support_[0]])
    assert (positive.min() >= negative.max()) == apart
    if apart:
        assert threshold == pytest.approx((positive.min() + negative.max()) / 2)
        return

    def right(at):
        return np.sum(positive >= at) + np.sum(negative < at)

    between = np.linspace(positive.min(), negative.max(), 501)[1:-1]
    assert right(threshold) >= max(right(at) for at in between)
