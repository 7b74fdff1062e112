"""The framework of Wang et al. (SOL): lemma 1 and corollaries 1 and 4 hold on real runs."""

from __future__ import annotations

import numpy as np
import pytest
from bound_streams import STREAMS, stream
from hypothesis import given, settings
from hypothesis import strategies as st

import lopsided
from lopsided.theory.sparse_framework import follow, sol_corollary1, sol_corollary4, sol_lemma1


def fsol(rate, l1, rho):
    return lopsided.DualAveraging(
        learning_rate=rate, l1=l1, class_weight={1: rho, -1: 1.0}, scaling="none"
    )


def ssol(rate, l1, rho):
    return lopsided.SSOL(
        learning_rate=rate,
        l1=l1,
        regularization=0.5,
        covariance="full",
        class_weight={1: rho, -1: 1.0},
        scaling="none",
    )


@pytest.mark.parametrize("rho", [1.0, 7.0])
@pytest.mark.parametrize("make", [fsol, ssol])
@pytest.mark.parametrize("name", ["linear", "noise", "rare positives"])
def test_the_learners_are_the_framework_with_their_rates_and_thresholds(name, make, rho):
    X, y = stream(name, np.random.default_rng(1), rounds=60)
    rate, l1 = 0.3, 0.2
    if make is fsol:
        run = follow(X, y, rate=rate, threshold=rate * l1, rho=rho)
    else:
        run = follow(X, y, rate=rate, threshold=lambda t: l1 / t, rho=rho, regularization=0.5)
    scores = lopsided.progressive(make(rate, l1, rho), X, y.astype(int)).scores
    assert run.scores == pytest.approx(scores, abs=1e-9)


@pytest.mark.parametrize("make", [fsol, ssol])
def test_the_learners_take_any_rates_and_thresholds_row_by_row(make):
    X, y = stream("noise", np.random.default_rng(2), rounds=40)
    rates, thresholds = np.random.default_rng(3).uniform(0.1, 1, (2, len(y))) * [[1], [0.05]]
    model = make(1.0, 0.0, 1.0).set_params(l1_schedule="constant")
    for x, label, rate, threshold in zip(X, y.astype(int), rates, thresholds, strict=True):
        model.set_params(learning_rate=rate, l1=threshold / rate)
        model.partial_fit(x[None], [label], classes=[-1, 1])
    run = follow(  # a row of zeros, to see the model after the last one
        np.vstack([X, 0 * X[:1]]),
        [*y, 1],
        rate=lambda t: [*rates, 1][t - 1],
        threshold=lambda t: [*thresholds, thresholds[-1]][t - 1],
        regularization=None if make is fsol else 0.5,
    )
    assert np.asarray(model.coef_) == pytest.approx(run.models[-1], abs=1e-9)
    assert model.nnz_ > 0


@pytest.mark.parametrize("make", [fsol, ssol])
@pytest.mark.parametrize(("l1_schedule", "power"), [("sqrt", 0.5), ("inverse_sqrt", -0.5)])
def test_the_schedules_are_those_of_the_framework(make, l1_schedule, power):
    X, y = stream("noise", np.random.default_rng(4), rounds=60)
    model = make(0.5, 0.05, 3.0).set_params(schedule="sqrt", l1_schedule=l1_schedule)
    run = follow(
        X,
        y,
        rate=lambda t: 0.5 * t**-0.5,
        threshold=lambda t: 0.05 * t**power,
        rho=3.0,
        regularization=None if make is fsol else 0.5,
    )
    scores = lopsided.progressive(model, X, y.astype(int)).scores
    assert run.scores == pytest.approx(scores, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_lemma1_holds_at_any_rates_and_thresholds(data):
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    X, y = stream(data.draw(st.sampled_from(STREAMS)), rng, rounds=30)
    rates, thresholds = rng.lognormal(0, 2, len(y)), rng.choice([0.0, 0.1, 5.0], len(y))
    rho = data.draw(st.sampled_from([0.1, 1.0, 20.0]))
    run = follow(
        X,
        y,
        rate=lambda t: rates[t - 1],
        threshold=lambda t: thresholds[t - 1],
        rho=rho,
        regularization=data.draw(st.sampled_from([None, 0.1, 10.0])),
    )
    worst = np.linalg.solve(run.last, X.T @ (run.rates * y * run.updates))  # minimises the slack
    for u in (0 * worst, worst, rng.normal(size=len(worst))):
        assert sol_lemma1(run, u).holds


@pytest.mark.parametrize("rho", [1.0, 9.0])
@pytest.mark.parametrize("regularization", [None, 1.0])
@pytest.mark.parametrize("name", STREAMS)
def test_corollaries_hold(name, regularization, rho):
    rng = np.random.default_rng(5)
    X, y = stream(name, rng, rounds=50)
    for rate in (1e-2, 1.0, 30.0):
        run = follow(X, y, rate=rate, threshold=0.05, rho=rho, regularization=regularization)
        best = np.linalg.solve(run.last, X.T @ (run.rates * y * run.updates))
        for u in (0 * best, best, rng.normal(size=len(best))):
            assert sol_corollary4(run, u).holds
            if rho == 1:
                assert sol_corollary1(run, u).right == sol_corollary4(run, u).right


def test_lemma1_is_an_equality_after_one_row():
    # A smaller constant in the first two terms would fail here.
    run = follow([[2.0]], [-1], rate=0.7)
    assert sol_lemma1(run, [-1.4]).slack == pytest.approx(0.0)


def test_decreasing_rates_are_those_of_the_rounds():
    run = follow([[1.0]] * 3, [1, 1, 1], rate=lambda t: 0.5 / t**0.5, threshold=lambda t: 0.1 * t)
    assert run.scores.tolist() == pytest.approx([0.0, 0.3, 0.5 + 0.5 / 2**0.5 - 0.3])


def test_what_is_refused():
    with pytest.raises(ValueError, match="rates must be above 0"):
        follow([[1.0]], [1], rate=0.0)
    with pytest.raises(ValueError, match="must be constant"):
        sol_corollary1(follow([[1.0]] * 2, [1, 1], rate=lambda t: 1.0 / t), [0.0])
    with pytest.raises(ValueError, match="use corollary 4"):
        sol_corollary1(follow([[1.0]], [1], rho=2.0), [0.0])
