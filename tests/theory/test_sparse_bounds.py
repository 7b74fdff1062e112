"""The theorems of Wang et al. (SOL) about FSOL and SSOL hold on real runs.

As `test_bounds`: corrected bounds on many streams against many comparators, and for each printed
form that fails a counterexample.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from bound_streams import (
    STREAMS,
    blind_comparators,
    hinge_minimiser,
    majority_hides_minority,
    powers_of_ten,
    short_streams,
    stream,
    unit_rows,
    vectors,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import lopsided
from lopsided.theory.sparse_bounds import (
    record,
    sol_theorem2,
    sol_theorem3,
    sol_theorem5,
    sol_theorem6,
)

KINDS = ["FSOL", "full", "coordinate", "shared"]
SECOND_ORDER = KINDS[1:]
RATES = [1e-3, 1e-2, 0.1, 1.0, 10.0, 1e3]


def learner(kind, rate, l1=0.0, rho=1.0, regularization=1.0):
    shared = {
        "learning_rate": rate,
        "l1": l1,
        "class_weight": {1: rho, -1: 1.0},
        "scaling": "none",
    }
    if kind == "FSOL":
        return lopsided.DualAveraging(l1_schedule="constant", **shared)
    memory = {"covariance": "full"} if kind == "full" else {"diag_rule": kind}
    return lopsided.SSOL(regularization=regularization, **memory, **shared)


def bounds_of(run, u, form="any-rate"):
    """All bounds that speak about this run; theorems 2 and 3 only without costs."""
    first_order = run.regularization is None
    plain, weighted = (sol_theorem2, sol_theorem5) if first_order else (sol_theorem3, sol_theorem6)
    theorems = [plain, weighted] if run.rho == 1 else [weighted]
    return [theorem(run, u, form=form) for theorem in theorems]


def comparators(run, rng):
    yield from blind_comparators(run, rng)
    steps = (run.weights * run.y * run.updates) @ run.X * run.learning_rate
    good = [
        np.linalg.lstsq(run.X, run.y, rcond=None)[0],
        hinge_minimiser(run),
        run.last,
        steps,
        steps / np.diag(run.geometry[0]) if run.geometry[0].ndim == 2 else steps / run.geometry[0],
    ]
    for u in good:
        yield from (u, 0.5 * u, -u, 1e3 * u)


def check_all(run, rng):
    forms = ["any-rate"]
    if run.rho <= 1 and run.memory != "shared":
        forms.append("printed")
    for u in comparators(run, rng):
        for form in forms:
            for bound in bounds_of(run, u, form):
                assert bound.holds, (bound, u)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_on_each_stream(kind, name):
    rng = np.random.default_rng([7, KINDS.index(kind), STREAMS.index(name)])
    X, y = stream(name, rng)
    for rate in RATES:
        rho = rng.choice([0.02, 0.5, 1.0, 3.0, 50.0])
        l1 = rng.choice([0.0, 1e-3, 0.1, 1.0, 10.0])
        regularization = rng.choice([1e-3, 1.0, 1e3])
        check_all(record(learner(kind, rate, l1, rho, regularization), X, y), rng)


@pytest.mark.parametrize("rho", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_when_every_label_contradicts_the_learner(kind, rho):
    rng = np.random.default_rng(11)
    X = unit_rows(rng, 20, 2)
    X[10:] = X[:10]
    for rate, l1 in ((1e-2, 0.1), (0.3, 0.01), (1.0, 0.2), (10.0, 1.0)):
        model = learner(kind, rate, l1, rho)
        y = []
        for t in range(len(X)):
            # The score of a round does not depend on its label: ask with any, then contradict.
            score = record(model, X[: t + 1], [*y, 1]).scores[-1]
            y.append(-1 if score >= 0 else 1)
        run = record(model, X, y)
        assert run.weighted_mistakes == pytest.approx(run.weights.sum())
        check_all(run, rng)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_bounds_hold_on_any_stream(data):
    X, y = data.draw(short_streams(), label="stream")
    tens = powers_of_ten(data, rate=(-3, 3), l1=(-4, 1), rho=(-2, 2), r=(-3, 3))
    u = data.draw(vectors(X.shape[1]), label="u")
    rng = np.random.default_rng(0)
    for kind in KINDS:
        run = record(learner(kind, tens["rate"], tens["l1"], tens["rho"], tens["r"]), X, y)
        for bound in bounds_of(run, u):
            assert bound.holds, bound
        check_all(run, rng)


# How sharp the corrected forms are: a smaller constant in any of them would fail here.


@pytest.mark.parametrize("rho", [0.2, 5.0])
def test_first_order_bound_is_an_equality_against_the_learners_own_last_weights(rho):
    X, y = stream("noise", np.random.default_rng(3))
    # At this rate no margin is ever reached, so every loss is linear between w_t and u.
    run = record(learner("FSOL", 1e-4, rho=rho), X, y)
    bound = sol_theorem5(run, run.last)
    assert bound.slack == pytest.approx(0.0, abs=1e-9)
    assert bound.holds


@pytest.mark.parametrize("rho", [0.2, 5.0])
@pytest.mark.parametrize("kind", SECOND_ORDER)
def test_second_order_bound_is_an_equality_after_one_row(kind, rho):
    run = record(learner(kind, 0.01, rho=rho, regularization=0.5), [[0.6, -0.8]], [1])
    A = run.geometry[0] if kind == "full" else np.diag(run.geometry[0])
    own = np.linalg.solve(A, 0.01 * rho * run.X[0])
    assert sol_theorem6(run, own).slack == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_little_of_the_threshold_term_is_to_spare(kind):
    X, y = stream("repeated row", np.random.default_rng(5))
    run = record(learner(kind, 0.01, l1=1e-4, regularization=1e9), X, y)
    shrinks = (run.thresholds * np.abs(run.X).sum(axis=1))[run.updates]
    own = 0.01 * y @ X
    for bound in bounds_of(run, own):
        # In the first round the weights are zero, and no threshold takes anything away.
        assert 0 <= bound.slack < 1.01 * shrinks[0]
        assert shrinks.sum() > 3 * shrinks[0]


# Counterexamples: the printed form fails, the corrected one holds.


def assert_fails(run, u, form="printed"):
    for printed, corrected in zip(bounds_of(run, u, form), bounds_of(run, u), strict=True):
        assert not printed.holds, printed
        assert corrected.holds, corrected


@pytest.mark.parametrize("kind", KINDS)
def test_counterexample_regret_against_the_best_is_not_bounded_by_terms_of_any_u(kind):
    # Printed: R = sum l(w_t) - min_w sum l(w) <= terms of u, for any u. At u = 0 a small rate
    # makes the terms small, but the learner stays bad and the best model is perfect.
    run = record(learner(kind, 1e-3), *majority_hides_minority(60))
    best, zero = np.array([1.0, 2.0]), np.zeros(2)
    terms = bounds_of(run, zero, "printed")[0].right - run.comparator_loss(zero)
    assert run.learner_loss - run.comparator_loss(best) > terms
    assert bounds_of(run, best)[0].holds


def test_counterexample_theorem2_tuned_fails_at_another_rate_than_its_own():
    run = record(learner("FSOL", 1e-4), *majority_hides_minority(120))
    assert_fails(run, [1.0, 2.0], "tuned")


@pytest.mark.parametrize("norm", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("l1", [0.0, 0.5])
def test_theorem2_tuned_holds_at_its_own_rate(l1, norm):
    rng = np.random.default_rng(9)
    for name in STREAMS:
        X, y = stream(name, rng)
        largest = np.abs(X).sum(axis=1).max()
        if largest == 0:
            continue
        own_rate = norm / math.sqrt((largest**2 + 2 * l1 * largest) * len(y))
        run = record(learner("FSOL", own_rate, l1), X, y)
        for u in comparators(run, rng):
            if u.any():
                u = norm * u / np.linalg.norm(u)
                assert sol_theorem2(run, u, form="tuned").holds


@pytest.mark.parametrize("form", ["printed", "tuned"])
def test_counterexample_theorem5_needs_the_square_of_the_cost(form):
    # One positive of cost 4, u = 0.1, at the rate of the theorem, u / sqrt(4).
    run = record(learner("FSOL", 0.05, rho=4.0), [[1.0]], [1])
    printed, corrected = sol_theorem5(run, [0.1], form=form), sol_theorem5(run, [0.1])
    assert (printed.left, printed.right) == pytest.approx((4.0, 3.8))
    assert corrected.right == pytest.approx(4 * 0.9 + 0.1 + 0.05 / 2 * 16)
    assert_fails(run, [0.1], form)


@pytest.mark.parametrize("kind", SECOND_ORDER)
def test_counterexample_theorem6_needs_the_square_of_the_cost(kind):
    # As above with r = 1000, so that A is nearly 1: r log(1 + 1 / r) is below 1 for all r.
    run = record(learner(kind, 0.05, rho=4.0, regularization=1e3), [[1.0]], [1])
    printed = sol_theorem6(run, [0.1], form="printed")
    assert (printed.left, printed.right) == pytest.approx((4.0, 3.8), abs=1e-3)
    assert_fails(run, [0.1])


def test_counterexample_theorem3_is_not_for_the_shared_rule():
    # One row: the two features share what A would grow by, so x'A^-1 x exceeds r log|A|.
    X, r, eta = np.ones((1, 2)), 1e-3, 1e-3
    for kind in SECOND_ORDER:
        run = record(learner(kind, eta, regularization=r), X, [1])
        A = run.geometry[0]
        own = eta * (np.linalg.solve(A, X[0]) if A.ndim == 2 else X[0] / A)
        assert sol_theorem3(run, own).slack == pytest.approx(0.0, abs=1e-12)
        assert sol_theorem3(run, own, form="printed").holds == (kind != "shared")


@pytest.mark.parametrize("kind", SECOND_ORDER)
def test_counterexample_regret_of_ssol_is_not_logarithmic(kind):
    # One row for ever: A grows with every round, theta by eta, so that the score stays below
    # eta r = 1/2. u = 1 is perfect, and the learner loses more than 1/2 a round.
    for rounds in (50, 200):
        X, y = np.ones((rounds, 1)), np.ones(rounds, dtype=int)
        run = record(learner(kind, 1.0, regularization=0.5), X, y)
        assert run.comparator_loss([1.0]) == 0
        assert run.learner_loss > rounds / 2
        assert sol_theorem3(run, [1.0]).holds


# The material of a run.


@pytest.mark.parametrize("kind", SECOND_ORDER)
def test_geometry_is_the_learners_own(kind):
    X, y = stream("linear", np.random.default_rng(19))
    model = learner(kind, 0.5, l1=0.1, rho=2.0, regularization=0.3)
    run = record(model, X, y)
    model.set_params(positive=1).fit(X, y)
    covariance = np.asarray(model.covariance_)
    A, lengths = run.geometry
    np.testing.assert_allclose(np.linalg.inv(A) if A.ndim == 2 else 1 / A, covariance, atol=1e-12)
    last = X[-1] @ (covariance @ X[-1] if A.ndim == 2 else covariance * X[-1])
    assert lengths[-1] == pytest.approx(last)


def test_record_starts_anew_and_leaves_the_model_alone():
    X, y = stream("linear", np.random.default_rng(23))
    model = learner("coordinate", 1.0).partial_fit(X, y, classes=[-1, 1])
    before = np.array(model.coef_)
    np.testing.assert_array_equal(record(model, X, y).last, before)
    np.testing.assert_array_equal(np.array(model.coef_), before)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: lopsided.DualAveraging(class_weight="balanced", scaling="none"), "known rho"),
        (lambda: lopsided.DualAveraging(class_weight=None), "scaling"),
        (lambda: lopsided.DualAveraging(scaling="none", l1_schedule="rda"), "l1_schedule"),
        (lambda: lopsided.DualAveraging(scaling="none", intercept=True), "intercept"),
        (lambda: lopsided.SSOL(scaling="none", l1_schedule="constant"), "l1_schedule"),
        (lambda: lopsided.DualAveraging(scaling="none", schedule="sqrt"), "schedule='constant'"),
        (lambda: lopsided.SSOL(scaling="none", schedule="sqrt"), "schedule='constant'"),
        (lambda: lopsided.SSOL(scaling="none"), "given l1"),
    ],
)
def test_record_refuses_a_learner_the_theorems_do_not_speak_about(model, message):
    with pytest.raises(ValueError, match=message):
        record(model(), [[1.0]], [1])


def test_bounds_refuse_what_they_do_not_speak_about():
    fsol = record(learner("FSOL", 1.0), [[1.0]], [1])
    ssol = record(learner("full", 1.0, rho=2.0), [[1.0]], [1])
    with pytest.raises(ValueError, match="about SSOL"):
        sol_theorem3(fsol, [0.0])
    with pytest.raises(ValueError, match="about FSOL"):
        sol_theorem5(ssol, [0.0])
    with pytest.raises(ValueError, match="use theorem 6"):
        sol_theorem3(ssol, [0.0])
    with pytest.raises(ValueError, match="form"):
        sol_theorem6(ssol, [0.0], form="tuned")
    with pytest.raises(ValueError, match="1 finite numbers"):
        sol_theorem2(fsol, [0.0, 1.0])
    with pytest.raises(ValueError, match=r"-1 and \+1"):
        record(learner("FSOL", 1.0), [[1.0]], [2])
    with pytest.raises(TypeError, match="not for COG"):
        record(lopsided.COG(), [[1.0]], [1])
