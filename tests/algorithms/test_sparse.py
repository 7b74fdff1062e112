"""Sparse learners: lazy shrinks equal eager ones, and the model is a sparse object."""

from __future__ import annotations

import collections
import functools
import json
import math

import numpy as np
import pytest
import scipy.sparse as sp
from streams import chunks, csr, events

import lopsided
from lopsided import _container, persist
from lopsided.catalog import CATALOG
from lopsided.cli import main
from lopsided.data.generators import sparse_paper, zipf
from lopsided.errors import ModelFileError
from lopsided.persist import to_bytes

SPARSE = [e.name for e in CATALOG if e.family == "sparse" and not e.name.startswith("CS-")]

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


# What shrinks do not depend on ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["STG", "FOBOS", "Ada-FOBOS"])
def test_rate_and_shrink_changed_in_mid_stream_leave_what_is_owed_alone(name):
    X, y, _ = sparse_stream(rows=60)
    lazy = lopsided.make(name, scaling="none", l1=0.01, learning_rate=0.5).partial_fit(csr(X), y)
    before = lazy.coef_.toarray()
    lazy.set_params(l1=0.0, learning_rate=1e-300)
    lazy.partial_fit(csr(X[:1]), y[:1])
    np.testing.assert_allclose(lazy.coef_, before, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", SPARSE)
def test_clip_is_seen_in_the_finished_model_only(name):
    X, y, _ = sparse_stream(rows=200)
    plain, clipped = (lopsided.make(name, scaling="none", clip=c) for c in (0.0, 0.1))
    ours, theirs = (lopsided.progressive(m, csr(X), y) for m in (plain, clipped))
    assert ours.scores.tobytes() == theirs.scores.tobytes()
    w = plain.coef_.toarray()
    w[np.abs(w) < 0.1] = 0
    assert clipped.coef_.tolist() == w.tolist()
    assert clipped.nnz_ < plain.nnz_
    np.testing.assert_allclose(clipped.decision_function(X), X @ w, rtol=0, atol=1e-12)


def test_rda_with_constant_beta_is_fsol_with_a_growing_shrink():
    X, y, weights = sparse_stream()
    rda = lopsided.make("RDA", beta="constant", learning_rate=0.3, l1=0.01, scaling="none")
    theta, scores = np.zeros(FEATURES), []
    for t, (x, label, weight) in enumerate(zip(X, y, weights, strict=True)):
        scores.append(soft(theta, 0.3 * 0.01 * t) @ x)
        theta = theta + 0.3 * weight * label * x * (label * scores[-1] < 1)
    got = lopsided.progressive(rda, csr(X), y, sample_weight=weights).scores
    np.testing.assert_allclose(got, scores, rtol=0, atol=1e-9)


def test_full_ssol_holds_the_inverse_of_the_sum_of_squares():
    X, y, _ = sparse_stream(rows=100, d=20)
    for intercept in (False, True):
        model = lopsided.make("SSOL-full", scaling="none", regularization=0.7, intercept=intercept)
        rows = np.hstack([np.ones((100, 1)), X]) if intercept else X
        want = np.linalg.inv(np.eye(rows.shape[1]) + rows.T @ rows / 0.7)
        np.testing.assert_allclose(model.fit(X, y).covariance_, want, rtol=0, atol=1e-9)


def test_diagonal_memory_stays_above_zero_where_rows_are_far_larger_than_r():
    X = np.full((200, 2), 1e6)
    model = lopsided.SSOL(scaling="none", regularization=1e-12).fit(X, np.tile([1, 0], 100))
    assert (model.covariance_ > 0).all()
    assert np.isfinite(model.decision_function(X)).all()


# A wanted sparsity ---------------------------------------------------------------------------


def whole(made):
    (block,) = made
    X = block.X
    return sp.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape), block.y


@functools.cache
def paper(rows):
    return whole(sparse_paper(rows, block_rows=rows))


@functools.cache
def words(rows):
    made = zipf(rows, features=5000, nonzeros=30, positive=0.3, seed=4, block_rows=rows)
    return whole(made)


@pytest.mark.parametrize("name", [n for n in SPARSE if not n.endswith("full")])
@pytest.mark.parametrize("wanted", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("data", [paper, words])
def test_target_sparsity_is_reached_within_two_points(name, wanted, data):
    X, y = data(3000)
    model = lopsided.make(name, target_sparsity=wanted)
    for rows in (slice(0, 1500), slice(1500, None)):
        model.partial_fit(X[rows], y[rows])
        seen = np.unique(X[: rows.stop].indices)
        least = wanted if data is paper else max(wanted, 1 - len(seen) / X.shape[1])
        assert abs(model.sparsity_ - least) < 0.02


def test_target_sparsity_of_full_ssol_is_exact():
    X, y = paper(1024)
    X = X[:300, :120].toarray()
    model = lopsided.make("SSOL-full", target_sparsity=0.75).fit(X, y[:300])
    assert model.nnz_ == 30


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("form", [np.asarray, csr])
def test_target_sparsity_gives_the_same_bits_in_any_chunking_and_from_a_file(name, form, tmp_path):
    X, y, _ = sparse_stream(rows=200)
    rows = form(X)
    want = lopsided.make(name, target_sparsity=0.6).partial_fit(rows, y)
    model = lopsided.make(name, target_sparsity=0.6)
    for part in chunks(len(y), seed=1):
        model.partial_fit(rows[part], y[part]).save(tmp_path / "model")
        if part.start % 2:
            model = lopsided.load(tmp_path / "model")
    assert to_bytes(model) == to_bytes(want)


@pytest.mark.parametrize("name", SPARSE)
def test_target_sparsity_does_not_depend_on_when_names_come(name):
    X, y, _ = sparse_stream(rows=80)
    batch, single = (lopsided.make(name, target_sparsity=0.6) for _ in range(2))
    batch.partial_fit(events(X), y)
    for x, label in zip(events(X), y, strict=True):
        single.learn_one(x, label)
    assert to_bytes(batch) == to_bytes(single)


@pytest.mark.parametrize("name", ["STG", "FSOL"])
def test_target_sparsity_can_come_and_go_in_mid_stream(name):
    X, y, _ = sparse_stream()
    model = lopsided.make(name, scaling="none", l1=0.0).partial_fit(csr(X[:300]), y[:300])
    assert model.nnz_ == FEATURES
    model.set_params(l1=None, target_sparsity=0.8).partial_fit(csr(X[300:450]), y[300:450])
    assert model.nnz_ <= 0.2 * FEATURES
    model.set_params(l1=0.0, target_sparsity=None).partial_fit(csr(X[450:]), y[450:])
    assert model.nnz_ > 0.2 * FEATURES


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("FSOL", {"l1": 0.1, "target_sparsity": 0.5}, "one of the two"),
        ("FSOL", {"target_sparsity": 1.0}, "target_sparsity"),
        ("FSOL", {"target_sparsity": 0}, "target_sparsity"),
        ("FSOL", {"l1": -1}, "l1"),
        ("FSOL", {"clip": -1}, "clip"),
        ("FSOL", {"beta": "sqrt"}, "beta"),
        ("FSOL", {"enhancement": 0.1}, "enhancement"),
        ("FSOL", {"l1_schedule": "rda", "target_sparsity": 0.5}, "l1_schedule"),
        ("FSOL", {"l1_schedule": np.sqrt}, "l1_schedule"),
        ("RDA", {"enhancement": 0.1, "target_sparsity": 0.5}, "enhancement"),
        ("SSOL", {"l1_schedule": "rda", "target_sparsity": 0.5}, "l1_schedule"),
        ("SSOL", {"regularization": 0}, "regularization"),
        ("SSOL-full", {"diag_rule": "coordinate"}, "diag_rule"),
        ("Ada-RDA", {"offset": 2}, "offset"),
        ("Ada-RDA", {"offset": 1, "target_sparsity": 0.5}, "offset"),
        ("Ada-FOBOS", {"delta": 0}, "delta"),
        ("STG", {"period": 0}, "period"),
        ("STG", {"period": 2.5}, "period"),
        ("STG", {"ceiling": 0}, "ceiling"),
    ],
)
def test_impossible_or_idle_options_are_refused(name, options, match):
    X, y, _ = sparse_stream(rows=10)
    with pytest.raises(ValueError, match=match):
        lopsided.make(name, **options).fit(X, y)


# The model as an object ----------------------------------------------------------------------


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("intercept", [False, True])
def test_coef_is_a_sparse_vector(name, intercept):
    X, y, _ = sparse_stream(rows=100)
    X[:, 10:20] = 0
    model = lopsided.make(name, intercept=intercept, scaling="none").fit(csr(X), y)
    coef = model.coef_
    assert coef.shape == (FEATURES,)
    assert coef.size == len(coef) == FEATURES
    assert (coef.values != 0).all()
    assert (np.diff(coef.indices) > 0).all()
    assert coef.nnz == model.nnz_ == len(coef.values) == np.count_nonzero(coef)
    assert model.sparsity_ == 1 - model.nnz_ / FEATURES
    assert coef.tocsr().toarray()[0].tolist() == coef.toarray().tolist() == coef.tolist()
    scores = X @ coef.toarray() + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=0, atol=1e-12)
    assert intercept or model.intercept_ == 0


@pytest.mark.parametrize("name", SPARSE)
def test_named_weights_are_those_other_than_zero(name):
    X, y, _ = sparse_stream(rows=100)
    model = lopsided.make(name, target_sparsity=0.8).partial_fit(events(X), y)
    named = model.named_coef()
    assert len(named) == model.nnz_ > 0
    assert all(weight != 0 for weight in named.values())
    assert list(named.values()) == sorted(named.values(), key=abs, reverse=True)
    assert model.names_bytes_ > sum(len(name) for name in model.feature_names_in_)


@pytest.mark.parametrize("name", [n for n in SPARSE if not n.endswith("full")])
def test_file_holds_touched_features_only(name):
    X, y, _ = sparse_stream(rows=20)
    wide = csr(X)
    wide.resize((20, 10**7))
    model = lopsided.make(name).fit(wide, y)
    assert model.coef_.size == 10**7
    assert len(to_bytes(model)) < 6000


def test_collisions_of_hashed_features_are_estimated(tmp_path, capsys):
    rng = np.random.default_rng(0)
    names = [f"word {k}" for k in range(300)]
    model = lopsided.make("FSOL", hash_bits=10, scaling="none")
    for k in range(0, 300, 3):
        model.learn_one({name: rng.uniform(1, 2) for name in names[k : k + 3]}, k % 2)
    model.save(tmp_path / "m")
    main(["inspect", str(tmp_path / "m"), "--json"], standalone_mode=False)
    about = json.loads(capsys.readouterr().out)
    columns = collections.Counter(lopsided._core.hash_name(name, 10) for name in names)
    shared = sum(count for count in columns.values() if count > 1) / 300
    assert about["collisions"]["columns"] <= len(columns)
    assert abs(about["collisions"]["share"] - shared) < 0.06
    assert about["sparsity"] == model.sparsity_
    assert about["nonzero"] == model.nnz_


def test_a_sparse_vector_acts_like_its_array():
    model = lopsided.DualAveraging(scaling="none", learning_rate=0.5, l1=0.5)
    weights = model.fit([[2.0, 0.0], [0.0, 0.5], [3.0, 1.0]], [1, 0, 1]).coef_
    assert (weights == 0).tolist() == [False, True]
    assert (weights != 0).tolist() == [True, False]
    assert weights[0] == 0.75
    assert list(weights) == [0.75, 0.0]


def test_a_model_without_features_has_no_sparsity():
    assert math.isnan(lopsided.SSOL(positive=1).learn_one({}, 1).sparsity_)


@pytest.mark.parametrize(
    "model",
    [
        lopsided.TruncatedGradient(target_sparsity=0.5, ceiling=0.01),
        lopsided.SSOL(transductive=True, clip=0.1),
    ],
)
def test_pairs_of_options_that_cannot_both_hold_are_refused(model):
    with pytest.raises(ValueError, match=r"ceiling|clip"):
        model.fit([[2.0, 0.0], [0.0, 0.5]], [1, 0])


@pytest.mark.parametrize(
    ("name", "state", "value"),
    [
        ("DualAveraging", "target.reach", 10**9),
        ("DualAveraging", "target.chosen", -1.0),
        ("TruncatedGradient", "due", -1.0),
        ("AdaFOBOS", "due", -1.0),
        ("SSOL", "target.reach", 10**9),
    ],
)
def test_a_file_with_impossible_state_is_refused(name, state, value):
    model = getattr(lopsided, name)(target_sparsity=0.5)
    model.fit([[2.0, 0.0], [0.0, 0.5], [3.0, 1.0]], [1, 0, 1])
    about, arrays = _container.from_file(to_bytes(model), persist.FORMAT)
    about["state"][state] = persist._pack(value)
    with pytest.raises(ModelFileError, match="do not fit together"):
        persist.from_bytes(_container.to_file(about, arrays))
