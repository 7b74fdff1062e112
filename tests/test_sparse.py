"""Sparse learners: lazy shrinks equal eager ones, and the model is a sparse object."""

from __future__ import annotations

import numpy as np
import pytest

import lopsided
from streams import csr

COSTS = {1: 3.0, -1: 1.0}
ROWS, FEATURES = 600, 50


def sparse_stream(seed=0, rows=ROWS, d=FEATURES, s=5):
    """Rows with s features other than 0, labels by a noisy rule, and weights."""
    rng = np.random.default_rng(seed)
    X = np.zeros((rows, d))
    for x in X:
        x[rng.choice(d, s, replace=False)] = rng.normal(size=s)
    y = np.where(X @ rng.normal(size=d) + 0.3 * rng.normal(size=rows) > 0, 1, -1)
    return X, y, rng.uniform(0.5, 2, size=rows)


def soft(v, a):
    return np.sign(v) * np.maximum(np.abs(v) - a, 0)


# Every learner once more, eagerly: all features in every round. Each is a generator that gives the
# weights of round t, is sent the gradient y c x (0 without loss), and gives the next weights.


def eager_truncated(d, rate, l1, period=1, ceiling=np.inf):
    w, gravity, t = np.zeros(d), 0.0, 0
    while True:
        g = yield w
        t += 1
        w = w + rate(t) * g
        gravity += rate(t) * l1
        if t % period == 0:
            w = np.where(np.abs(w) <= ceiling, soft(w, gravity), w)
            gravity = 0.0


def eager_ada_fobos(d, eta, l1, delta):
    w, q = np.zeros(d), np.zeros(d)
    while True:
        g = yield w
        q = q + g * g
        h = delta + np.sqrt(q)
        w = soft(w + eta * g / h, eta * l1 / h)


def eager_ada_rda(d, eta, l1, delta, offset=0):
    u, q, t = np.zeros(d), np.zeros(d), 1
    while True:
        g = yield eta * soft(u, l1 * (t - 1 + offset)) / (delta + np.sqrt(q))
        u, q, t = u + g, q + g * g, t + 1


def eager_dual(d, eta, shrink, divisor=lambda rounds: 1.0):
    theta, t = np.zeros(d), 1
    while True:
        g = yield soft(theta, shrink(t)) / max(divisor(t - 1), 1)
        theta, t = theta + eta * g, t + 1


def eager_ssol(d, eta, shrink, r, rule):
    """Give the frozen weights, then take in x and give those of the round."""
    memory = np.eye(d) if rule == "full" else np.ones(d)
    theta, t = np.zeros(d), 1

    def weights():
        return soft(memory @ theta if rule == "full" else memory * theta, shrink(t))

    while True:
        x = yield weights()
        if rule == "full":
            k = memory @ x
            memory = memory - np.outer(k, k) / (r + x @ k)
        elif rule == "shared":
            memory = memory - memory**2 * x**2 / (r + np.sum(memory * x**2))
        else:
            memory = 1 / (1 / memory + x**2 / r)
        g = yield weights()
        theta, t = theta + eta * g, t + 1


CASES = {
    f"{name} {schedule}": (
        lopsided.TruncatedGradient(learning_rate=0.4, l1=0.1, schedule=schedule, **options),
        eager_truncated(FEATURES, rate, 0.1, **options),
    )
    for schedule, rate in (("constant", lambda t: 0.4), ("sqrt", lambda t: 0.4 / np.sqrt(t)))
    for name, options in {
        "FOBOS": {},
        "STG 10": {"period": 10},
        "STG 7, ceiling 1": {"period": 7, "ceiling": 1.0},
    }.items()
} | {
    "Ada-FOBOS": (
        lopsided.AdaFOBOS(learning_rate=2, l1=0.02, delta=1.5),
        eager_ada_fobos(FEATURES, 2, 0.02, 1.5),
    ),
    "Ada-RDA": (
        lopsided.AdaRDA(learning_rate=2, l1=0.02, delta=1.5),
        eager_ada_rda(FEATURES, 2, 0.02, 1.5),
    ),
    "Ada-RDA, offset 1": (
        lopsided.AdaRDA(learning_rate=2, l1=0.02, delta=1.5, offset=1),
        eager_ada_rda(FEATURES, 2, 0.02, 1.5, 1),
    ),
    "FSOL": (lopsided.DualAveraging(l1=0.8), eager_dual(FEATURES, 1, lambda t: 0.8)),
    "FSOL inverse": (
        lopsided.DualAveraging(learning_rate=0.2, l1=300, l1_schedule="inverse"),
        eager_dual(FEATURES, 0.2, lambda t: 300 / t),
    ),
    "RDA constant": (
        lopsided.DualAveraging(learning_rate=0.2, l1=0.02, l1_schedule="rda"),
        eager_dual(FEATURES, 0.2, lambda t: 0.2 * 0.02 * (t - 1)),
    ),
    "RDA sqrt, enhanced": (
        lopsided.DualAveraging(
            learning_rate=2, l1=0.01, l1_schedule="rda", beta="sqrt", enhancement=0.3
        ),
        eager_dual(FEATURES, 2, lambda t: 2 * 0.01 * (t - 1) + 0.3 * np.sqrt(t - 1), np.sqrt),
    ),
    "RDA linear": (
        lopsided.DualAveraging(learning_rate=9, l1=0.01, l1_schedule="rda", beta="linear"),
        eager_dual(FEATURES, 9, lambda t: 9 * 0.01 * (t - 1), lambda rounds: rounds),
    ),
    "SSOL": (
        lopsided.SSOL(l1=100, regularization=0.7),
        eager_ssol(FEATURES, 1, lambda t: 100 / t, 0.7, "shared"),
    ),
    "SSOL coordinate, constant": (
        lopsided.SSOL(
            learning_rate=2,
            l1=0.1,
            l1_schedule="constant",
            regularization=0.7,
            diag_rule="coordinate",
        ),
        eager_ssol(FEATURES, 2, lambda t: 0.2, 0.7, "coordinate"),
    ),
    "SSOL full": (
        lopsided.SSOL(l1=100, regularization=0.7, covariance="full"),
        eager_ssol(FEATURES, 1, lambda t: 100 / t, 0.7, "full"),
    ),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.replace(" ", "-"))
def test_lazy_equals_eager_in_weights_and_zeros(case):
    model, eager = CASES[case]
    model.set_params(scaling="none", class_weight=COSTS)
    X, y, weights = sparse_stream()
    scores, w = [], next(eager)
    for x, label, weight in zip(X, y, weights, strict=True):
        if case.startswith("SSOL"):
            w = eager.send(x)
        scores.append(w @ x)
        loss = label * scores[-1] < 1
        w = eager.send(loss * COSTS[label] * weight * label * x)
    for rows in (csr(X), X):
        progress = lopsided.progressive(model, rows, y, sample_weight=weights)
        np.testing.assert_allclose(progress.scores, scores, rtol=0, atol=1e-9)
        np.testing.assert_allclose(model.coef_, w, rtol=0, atol=1e-9)
        assert model.coef_.indices.tolist() == np.flatnonzero(w).tolist()
        np.testing.assert_allclose(model.decision_function(rows), X @ w, rtol=0, atol=1e-9)
    assert 0 < model.nnz_ < FEATURES
