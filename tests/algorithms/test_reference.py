"""Two ways to write one learner agree: the references of the sketched and of the sparse learners.

The library is not used here. The papers give the sketch in a dense and in a sparse form; the sparse
learners can wait with a weight until its feature occurs again.
"""

from __future__ import annotations

import numpy as np
import pytest

from reference import run
from reference.second_order import coordinate
from reference.sketch import SACOG, SSACOG, Oja, SparseOja, WithoutK, cholesky, qr
from reference.sparse import FSOL, RDA, SSOL, AdaFOBOS, AdaRDA, TruncatedGradient, soft, threshold

GAMMAS = [1.0, 0.01]
RHO = 3.0
by_gamma = pytest.mark.parametrize("gamma", GAMMAS)
by_loss = pytest.mark.parametrize("loss", ["I", "II"])


def sparse_stream(rows, d, s, seed=0):
    """Unit rows of s random features each, with noisy linear labels."""
    rng = np.random.default_rng(seed)
    X = np.zeros((rows, d))
    for x in X:
        x[rng.choice(d, size=s, replace=False)] = rng.normal(size=s)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X @ rng.normal(size=d) + 0.3 * rng.normal(size=rows) > 0.3, 1, -1)
    return X, y


def random_directions(m, d, seed=1):
    return qr(np.random.default_rng(seed).normal(size=(m, d)))


def scores(oracle, X, y):
    return run(oracle, X, y, class_weight=RHO).scores


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


def with_sketch(learner, sketch):
    """The learner with another form of its sketch."""
    return type(learner.__name__, (learner,), {"sketch_type": sketch})


# The sketch.

SPACES = {"virtual": {}, "given": {"directions": random_directions(5, 45)}}
by_space = pytest.mark.parametrize("space", SPACES)


@by_space
@by_gamma
@by_loss
@pytest.mark.parametrize(
    "options",
    [{}, {"sketch_every": 5}, {"sketch_on": "loss"}, {"weight_state": True}],
    ids=["plain", "every", "on-loss", "weight-state"],
)
def test_sparse_sketch_is_the_dense_one(options, loss, gamma, space):
    X, y = sparse_stream(200, 60, 8)
    weights = np.random.default_rng(2).uniform(0.2, 2, size=len(y))
    shared = {"loss": loss, "regularization": gamma, "learning_rate": 1.0, **SPACES[space]}
    dense, sparse = (
        run(form(**shared, **options), X, y, class_weight=RHO, weights=weights)
        for form in (SACOG, SSACOG)
    )
    close(sparse.scores, dense.scores)
    close(sparse.oracle.w, dense.oracle.w)
    close(sparse.oracle.sketch.lam, dense.oracle.sketch.lam)
    close(sparse.oracle.sketch.V, dense.oracle.sketch.V)
    assert 0 < dense.updates < len(y) - 5


@by_loss
def test_rebasing_changes_nothing(loss):
    X, y = sparse_stream(200, 60, 8)
    options = {"loss": loss, "regularization": 0.1}
    plain, rebased = SSACOG(rebase=np.inf, **options), SSACOG(rebase=10.0, **options)
    close(scores(rebased, X, y), scores(plain, X, y))
    close(rebased.sketch.V, plain.sketch.V)
    assert rebased.rebased > 1


def test_without_rebasing_a_small_gamma_loses_the_directions():
    X, y = sparse_stream(200, 60, 8)
    for rebase, fine in ((1e4, True), (np.inf, False)):
        oracle = SSACOG(rebase=rebase, regularization=0.01)
        scores(oracle, X, y)
        error = np.max(np.abs(oracle.sketch.V @ oracle.sketch.V.T - np.eye(5)))
        assert (error < 1e-12) == fine


@by_loss
@pytest.mark.parametrize(("gamma", "drift"), [(1.0, 0.01), (0.01, 10.0)])
def test_printed_rule_for_rounds_without_loss_drifts(gamma, drift, loss):
    # Z moves on every round, so a mean of rest + Z'b moves too unless rest makes up for it.
    X, y = sparse_stream(800, 60, 8)
    options = {"loss": loss, "regularization": gamma, "learning_rate": 1.0}
    exact = scores(SACOG(**options), X, y)
    printed = scores(SSACOG(literal=True, **options), X, y)
    assert np.max(np.abs(printed - exact)) > drift


@by_gamma
def test_gram_schmidt_is_qr_up_to_signs(gamma):
    class ByQR(Oja):
        orth = staticmethod(qr)

    X, y = sparse_stream(200, 60, 8)
    # All features are in from the start: the column of one that enters has signs of its own.
    options = {"regularization": gamma, "directions": random_directions(5, 60)}
    close(scores(with_sketch(SACOG, ByQR)(**options), X, y), scores(SACOG(**options), X, y))


@by_space
@by_gamma
def test_decompose_is_cholesky_and_needs_no_k(gamma, space):
    class ByCholesky(SparseOja):
        decompose = staticmethod(cholesky)

    X, y = sparse_stream(300, 60, 8)
    options = {"regularization": gamma, **SPACES[space]}
    want = SSACOG(**options)
    expected = scores(want, X, y)
    for form in (ByCholesky, WithoutK):
        other = with_sketch(SSACOG, form)(**options)
        close(scores(other, X, y), expected)
        close(other.sketch.V, want.sketch.V)


@by_space
@by_gamma
def test_directions_stay_orthonormal(gamma, space):
    X, y = sparse_stream(800, 60, 8)
    for form in (SACOG, SSACOG, with_sketch(SSACOG, WithoutK)):
        oracle = form(regularization=gamma, **SPACES[space])
        scores(oracle, X, y)
        V = oracle.sketch.V
        close(V @ V.T, np.eye(5))


def test_features_enter_once_and_in_the_order_of_the_row():
    X = np.array([[0.0, 2.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]])
    oracle = SACOG(sketch_size=3, seed=5)
    run(oracle, X, np.array([1, -1, 1]))
    assert oracle.sketch.entered.tolist() == [True, True, False, True]
    assert not oracle.sketch.directions()[:, 2].any()
    close(oracle.sketch.V @ oracle.sketch.V.T, np.eye(3))


def test_a_long_stream_in_one_direction_is_learnt():
    # Oja's rule finds the direction, and its share of the squares is the eigenvalue.
    rng = np.random.default_rng(3)
    u = rng.normal(size=20)
    u /= np.linalg.norm(u)
    X = np.outer(rng.choice([-1.0, 1.0], size=4000), u)
    sketch = Oja(20, size=2)
    for x in X:
        sketch.update(x)
    assert abs(sketch.directions()[0] @ u) > 0.999
    assert sketch.lam[0] > 0.9
    assert sketch.lam[1] < 0.01
    assert u @ sketch.covariance() @ u < 0.01


# Sparse learners. `lazy` learners below touch only the features of the row and settle at the end.


class Lazy:
    """Weights with what they owe: `catch_up` settles the features of a row, `finish` all."""

    def __init__(self, learning_rate, l1):
        self.learning_rate, self.l1 = learning_rate, l1

    def start(self, d):
        self.w = np.zeros(d)
        self.last = np.zeros(d)
        self.rounds = 0
        self.begin()

    def begin(self):
        pass

    def run(self, X, y):
        self.start(X.shape[1])
        out = np.zeros(len(y))
        for t, (x, label) in enumerate(zip(X, y, strict=True)):
            on = np.flatnonzero(x)
            self.catch_up(on)
            out[t] = self.w[on] @ x[on]
            self.rounds += 1
            cost = RHO if label > 0 else 1.0
            self.step(on, -cost * label * x[on] if label * out[t] < 1 else 0 * x[on])
        self.catch_up(np.arange(X.shape[1]))
        return out


class LazyTruncatedGradient(Lazy):
    def __init__(self, learning_rate, l1, schedule, period, ceiling):
        super().__init__(learning_rate, l1)
        self.schedule, self.period, self.ceiling = schedule, period, ceiling

    def begin(self):
        self.gravity = self.settled = 0.0

    def catch_up(self, on):
        w = self.w[on]
        shrunk = soft(w, self.settled - self.last[on])
        self.w[on] = np.where(np.abs(w) <= self.ceiling, shrunk, w)
        self.last[on] = self.settled

    def step(self, on, g):
        eta = self.learning_rate / (np.sqrt(self.rounds) if self.schedule == "sqrt" else 1.0)
        self.w[on] -= eta * g
        self.gravity += eta * self.l1
        if self.rounds % self.period == 0:
            self.settled = self.gravity


class LazyAdaFOBOS(Lazy):
    delta = 1.0

    def begin(self):
        self.squares = np.zeros_like(self.w)

    def rate(self, on):
        return self.learning_rate / (self.delta + np.sqrt(self.squares[on]))

    def catch_up(self, on):
        self.w[on] = soft(self.w[on], self.l1 * self.rate(on) * (self.rounds - self.last[on]))
        self.last[on] = self.rounds

    def step(self, on, g):
        self.squares[on] += g**2
        self.w[on] -= self.rate(on) * g
        # `last` is the round before this one, so the shrink of this round is owed.


class LazyAdaRDA(LazyAdaFOBOS):
    def begin(self):
        super().begin()
        self.total = np.zeros_like(self.w)

    def catch_up(self, on):
        self.w[on] = -self.rate(on) * soft(self.total[on], self.l1 * self.rounds)

    def step(self, on, g):
        self.total[on] += g
        self.squares[on] += g**2


class LazySSOL(Lazy):
    def __init__(self, learning_rate, l1, r, rule):
        super().__init__(learning_rate, l1)
        self.r, self.rule = r, rule

    def begin(self):
        self.total, self.a = np.zeros_like(self.w), np.ones_like(self.w)

    def run(self, X, y):
        self.rows = X
        return super().run(X, y)

    def catch_up(self, on):
        if self.rounds < len(self.rows):
            a, squares = self.a[on], self.rows[self.rounds, on] ** 2
            shared = np.sum(a * squares)
            self.a[on] = a - a**2 * squares / (
                self.r + (a * squares if self.rule == "coordinate" else shared)
            )
        u = -self.learning_rate * self.a[on] * self.total[on]
        self.w[on] = soft(u, self.l1 / (self.rounds + 1))

    def step(self, on, g):
        self.total[on] += g


def check_lazy(lazy, eager, X, y):
    want = run(eager, X, y, class_weight=RHO)
    close(lazy.run(X, y), want.scores)
    close(lazy.w, want.oracle.w)
    np.testing.assert_array_equal(lazy.w == 0, want.oracle.w == 0)
    zeros = np.sum(lazy.w == 0)
    assert 0 < zeros < X.shape[1]


TRUNCATIONS = {"FOBOS": (1, np.inf), "STG": (10, np.inf), "STG with ceiling": (7, 0.3)}


@pytest.mark.parametrize("schedule", ["constant", "sqrt"])
@pytest.mark.parametrize("name", TRUNCATIONS)
def test_truncation_can_wait(name, schedule):
    period, ceiling = TRUNCATIONS[name]
    X, y = sparse_stream(600, 50, 5)
    options = {"learning_rate": 0.5, "l1": 0.05, "schedule": schedule}
    options |= {"period": period, "ceiling": ceiling}
    check_lazy(LazyTruncatedGradient(**options), TruncatedGradient(**options), X, y)


def test_adaptive_truncation_can_wait():
    X, y = sparse_stream(600, 50, 5)
    options = {"learning_rate": 0.5, "l1": 0.03}
    check_lazy(LazyAdaFOBOS(**options), AdaFOBOS(delta=1.0, **options), X, y)


def test_dual_averaging_needs_only_the_features_of_the_row():
    X, y = sparse_stream(600, 50, 5)
    options = {"learning_rate": 0.5, "l1": 0.01}
    check_lazy(LazyAdaRDA(**options), AdaRDA(delta=1.0, **options), X, y)


@pytest.mark.parametrize("rule", ["shared", "coordinate"])
def test_diagonal_ssol_needs_only_the_features_of_the_row(rule):
    X, y = sparse_stream(600, 50, 5)
    lazy = LazySSOL(0.5, 50.0, 0.7, rule)
    eager = SSOL(learning_rate=0.5, l1=50.0, regularization=0.7, diag_rule=rule)
    check_lazy(lazy, eager, X, y)


def test_fsol_with_a_growing_threshold_is_rda():
    X, y = sparse_stream(600, 50, 5)
    options = {"learning_rate": 0.5, "l1": 0.01}
    fsol, rda = FSOL(l1_schedule="rda", **options), RDA(beta="constant", **options)
    close(scores(fsol, X, y), scores(rda, X, y))
    close(fsol.w, rda.w)
    assert 0 < np.sum(fsol.w == 0) < 50


def test_ssol_full_inverts_the_summed_outer_products():
    X, y = sparse_stream(600, 50, 5)
    oracle = SSOL(covariance="full", regularization=0.7)
    scores(oracle, X, y)
    close(oracle.sigma, np.linalg.inv(np.eye(50) + X.T @ X / 0.7))


def test_ssol_full_is_its_diagonal_where_rows_hold_one_feature():
    X, y = sparse_stream(300, 20, 1)
    X *= np.random.default_rng(4).uniform(0.5, 2, size=(300, 1))
    options = {"learning_rate": 0.5, "l1": 0.2, "regularization": 0.7}
    full = scores(SSOL(covariance="full", **options), X, y)
    for rule in ("shared", "coordinate"):
        close(scores(SSOL(diag_rule=rule, **options), X, y), full)
    a = coordinate(np.ones(20), X[0], 0.7)
    close(a, 1 / (1 + X[0] ** 2 / 0.7))


def test_ssol_with_a_vast_regularization_is_fsol():
    X, y = sparse_stream(300, 20, 4)
    fsol = scores(FSOL(learning_rate=0.5, l1=0.2, l1_schedule="inverse"), X, y)
    for covariance in ("diagonal", "full"):
        ssol = SSOL(learning_rate=0.5, l1=0.2, regularization=1e13, covariance=covariance)
        close(scores(ssol, X, y), fsol)


def test_thresholds_of_the_papers():
    assert threshold("constant", 0.5, 0.1, 7) == pytest.approx(0.05)
    assert threshold("rda", 0.5, 0.1, 7) == pytest.approx(0.3)
    assert threshold("inverse", 0.5, 0.1, 7) == pytest.approx(0.5 / 7)
