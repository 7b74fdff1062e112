"""Recommended: its vote against the oracles of its members, and what it promises beside."""

from __future__ import annotations

import numpy as np
import pytest

import lopsided
from lopsided.persist import from_bytes, to_bytes
from reference.recommended import Recommended
from streams import csr

FORMS = {"dense": np.asarray, "sparse": csr}


def made(d, rows=120, seed=0, density=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(1, 1, (rows, d)) * (rng.random((rows, d)) < density) * rng.uniform(0.1, 50, d)
    y = np.where(X @ (rng.normal(size=d) / 25) + rng.normal(size=rows) > 1, 1, -1)
    return X, y


def widening(rows=120):
    """Rows that stay below feature 64 for a while."""
    X, y = made(90, rows)
    X[: rows // 2, 40:] = 0
    return X, y


def expected(X, y, weights, rho=None, **options):
    oracle = Recommended(X.shape[1], **options)
    positives = negatives = 0.0
    scores = []
    for x, label, weight in zip(X, y, weights, strict=True):
        scores.append(oracle.meet(x))
        ratio = rho or (negatives + 1) / (positives + 1)
        oracle.learn(label, ratio, weight)
        positives += weight * (label > 0)
        negatives += weight * (label < 0)
    return np.array(scores)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "data", [made(6), made(90), widening()], ids=["narrow", "wide", "widening"]
)
@pytest.mark.parametrize("scaling", ["auto", "unit", "none", "standard+unit"])
@pytest.mark.parametrize("intercept", [True, False])
def test_votes_as_the_oracle_does(form, data, scaling, intercept):
    X, y = data
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    if scaling == "none":
        X = X / 100
    model = lopsided.Recommended(scaling=scaling, intercept=intercept)
    run = lopsided.progressive(model, FORMS[form](X), y, sample_weight=weights, resume=True)
    want = expected(X, y, weights, scaling=scaling, intercept=intercept, sparse=form == "sparse")
    np.testing.assert_allclose(run.scores, want, rtol=0, atol=1e-9)


def test_counts_the_cost_that_is_given():
    X, y = made(6)
    model = lopsided.Recommended(class_weight={1: 7, -1: 1})
    run = lopsided.progressive(model, X, y)
    np.testing.assert_allclose(run.scores, expected(X, y, np.ones(len(y)), 7.0), rtol=0, atol=1e-9)
    dear = lopsided.progressive(lopsided.Recommended(class_weight={1: 100, -1: 1}), X, y)
    assert dear.sensitivity > run.sensitivity


@pytest.mark.parametrize("cut", [1, 59, 60, 61, 100])
def test_goes_on_from_a_file_before_and_after_it_widens(cut):
    X, y = widening()
    rows = csr(X)
    whole = lopsided.Recommended()
    scores = lopsided.progressive(whole, rows, y, resume=True).scores
    part = lopsided.Recommended().partial_fit(rows[:cut], y[:cut], classes=[-1, 1])
    again = from_bytes(to_bytes(part))
    assert lopsided.progressive(again, rows[cut:], y[cut:], resume=True).scores.tobytes() == (
        scores[cut:].tobytes()
    )
    assert to_bytes(again) == to_bytes(whole)


def test_score_of_the_first_wide_row_is_what_it_gets_when_it_comes():
    X, y = widening()
    model = lopsided.Recommended().partial_fit(csr(X[:60]), y[:60])
    before = to_bytes(model)
    score = model.decision_function(csr(X[60:61]))
    assert to_bytes(model) == before
    assert lopsided.progressive(model, csr(X[60:61]), y[60:61], resume=True).scores == score


def test_dicts_are_seen_as_dense_rows_are():
    X, y = made(6, density=1)
    dense, events = lopsided.Recommended(), lopsided.Recommended()
    names = list("abcdef")
    for x, label in zip(X, y.tolist(), strict=True):
        dense.learn_one(x, label)
        events.learn_one(dict(zip(names, x.tolist(), strict=True)), label)
    np.testing.assert_allclose(dense.coef_, events.coef_, rtol=0, atol=1e-9)


def test_tells_its_members_and_who_leads():
    X, y = made(6)
    model = lopsided.Recommended().fit(X, y)
    assert len(model.members_) == 5
    assert model.leader_ in model.members_
    assert model.coef_.shape == (6,)
    costs = [m.missed * (y < 0).sum() / (y > 0).sum() + m.alarmed for m in model.members_]
    assert model.members_[int(np.argmin(costs))] == model.leader_
    wide = lopsided.Recommended().fit(csr(made(90)[0]), y)
    assert len(wide.members_) == 4
    assert [m.intercept for m in wide.members_] == [True, False, True, False]
    assert {m.scaling for m in lopsided.Recommended(scaling="unit").fit(X, y).members_} == {"unit"}


def test_is_not_lost_when_a_member_is():
    """Columns of very different scale: whoever sees raw values learns nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)) * [1, 1e6, 1, 1]
    y = X[:, 0] + X[:, 2] > 2
    run = lopsided.progressive(lopsided.Recommended(), X, y, resume=True)
    assert run.sum() > 0.85
    assert lopsided.progressive(lopsided.COG(scaling="unit"), X, y, resume=True).sum() < 0.6
