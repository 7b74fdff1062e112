"""Recommended: its scores against the oracle, and what it promises beside."""

from __future__ import annotations

import numpy as np
import pytest
from streams import csr

import lopsided
from lopsided import Recommended, progressive
from reference.additive_logistic import AdditiveLogistic


def made(rows, seed=0):
    """Numbers of several scales, sparse numbers, categories and a constant."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(2, 1, (rows, 3)) * [0.01, 1, 1000]
    rounded = rng.poisson(1.0, (rows, 2)).astype(float)
    rare = np.where(rng.random((rows, 3)) < 0.1, rng.gamma(2, [0.1, 10, 500], (rows, 3)), 0)
    categories = np.eye(40)[np.minimum(rng.geometric(0.15, rows), 39)] * 3.0
    X = np.hstack([dense, rounded, rare, categories, np.ones((rows, 1))])
    z = dense[:, 1] + (dense[:, 0] > 0.02) * (rounded[:, 0] > 1) * 2 + categories[:, 3] / 3
    y = np.where(rng.random(rows) < 1 / (1 + np.exp(4 - z)), 1, -1)
    return X, y


FORMS = {
    "array": np.asarray,
    "csr": csr,
    "dicts": lambda X: [{f"f{j}": float(v) for j, v in enumerate(x) if v} for x in X],
}


@pytest.mark.parametrize("form", FORMS)
def test_scores_as_the_oracle_does(form):
    X, y = made(1300)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    oracle = AdditiveLogistic(X.shape[1])
    expected = []
    for x, label, weight in zip(X, y, weights, strict=True):
        expected.append(oracle.observe(x))
        oracle.learn(label, weight)
    model = Recommended()
    found = progressive(model, FORMS[form](X), y, sample_weight=weights).scores
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    fresh, _ = made(50, seed=5)
    expected = [oracle.score(x) for x in fresh]
    np.testing.assert_allclose(model.score_many(FORMS[form](fresh)), expected, rtol=1e-9, atol=1e-9)
    losses = [member.loss for member in model.members_]
    np.testing.assert_allclose(losses, oracle.losses, rtol=1e-9)


def chosen(rows, seed=0):
    """Many categories at once, of which two decide."""
    rng = np.random.default_rng(seed)
    X = (rng.random((rows, 18)) < np.r_[0.3, 0.3, np.full(16, 0.8)]).astype(float)
    y = np.where(rng.random(rows) < np.where(X[:, 0] * X[:, 1] > 0, 0.9, 0.1), 1, -1)
    return X, y


def test_pairs_are_of_the_categories_that_say_the_most():
    X, y = chosen(700)
    oracle = AdditiveLogistic(X.shape[1])
    expected = []
    for x, label in zip(X, y, strict=True):
        expected.append(oracle.observe(x))
        oracle.learn(label)
    model = Recommended()
    found = progressive(model, X, y).scores
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    best = max(oracle.pairs, key=lambda pair: oracle.worth(*pair, member=5))
    assert best == ("pair", ("category", 0), ("category", 1))


def test_few_labels_of_a_class_make_nothing_nearly_sure():
    """Even where all labels so far were easily told apart."""
    X = np.tile([[1.0, 0.0], [0.0, 1.0]], (300, 1))
    y = np.tile([1, -1], 300)
    model = Recommended(positive=1)
    p = 1 / (1 + np.exp(-progressive(model, X, y).scores))
    seen = np.arange(len(y)) // 2  # labels of the rarer class
    odd = y < 0
    assert np.all(p[odd] >= 0.45 / (2 * seen[odd] + 2))
    assert np.all(1 - p[~odd] >= 0.45 / (2 * seen[~odd] + 2))
    assert p[odd][-1] < 0.01
    assert p[~odd][-1] > 0.99
    why = model.explain_one([0, 1])
    assert why.base + sum(one.effect for one in why.reasons) == pytest.approx(why.score)
    assert model.intercept_ == pytest.approx(model.score_one([0, 0]))


def test_a_score_is_that_of_the_next_event():
    X, y = made(600)
    model = Recommended().fit(X[:500], y[:500])
    for x, label in zip(X[500:], y[500:], strict=True):
        ahead = model.score_one(x)
        assert model.step_one(x, label) == ahead


def test_prices_change_no_score():
    X, y = made(800)
    runs = [progressive(Recommended(class_weight=w), X, y) for w in (None, {1: 1000, -1: 1})]
    assert np.array_equal(runs[0].scores, runs[1].scores)
    assert runs[1].false_negatives < runs[0].false_negatives


def test_a_rare_category_counts_as_a_frequent_one():
    """A category's first positive moves its score, whatever its share of the rows."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(3000, 2)), np.zeros((3000, 1))])
    y = np.where(rng.random(3000) < 0.02, 1, -1)
    X[1000:1006, 2], y[1000:1006] = 1, 1
    model = Recommended().fit(X, y)
    without, with_it = model.score_many([[0, 0, 0], [0, 0, 1]])
    assert with_it > without + 2


def test_follows_a_change():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4))
    z = 2.5 * X[:, 0] * np.where(np.arange(6000) < 3000, 1, -1) - 2
    y = np.where(rng.random(6000) < 1 / (1 + np.exp(-z)), 1, -1)
    run = progressive(Recommended(), X, y)
    late = slice(4500, None)
    assert lopsided.metrics.auc(run.labels[late], run.scores[late]) > 0.8


def test_learns_what_no_line_separates():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (8000, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0.25, 1, -1)
    run = progressive(Recommended(), X, y)
    assert lopsided.metrics.auc(run.labels[4000:], run.scores[4000:]) > 0.9


def test_members_share_the_mixture():
    X, y = made(700)
    model = Recommended().fit(X, y)
    assert sum(member.share for member in model.members_) == pytest.approx(1)
    assert model.leader_.loss == min(member.loss for member in model.members_)
