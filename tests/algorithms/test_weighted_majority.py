"""WeightedMajority: its vote against the oracles of its members, and what it promises beside."""

from __future__ import annotations

import numpy as np
import pytest
from streams import csr

import lopsided
from lopsided import _container, persist
from lopsided.errors import ModelFileError
from lopsided.persist import from_bytes, to_bytes
from reference.weighted_majority import WeightedMajority

FORMS = {"dense": np.asarray, "sparse": csr}


def made(d, rows=120, seed=0, density=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(1, 1, (rows, d)) * (rng.random((rows, d)) < density) * rng.uniform(0.1, 50, d)
    y = np.where(X @ (rng.normal(size=d) / 25) + rng.normal(size=rows) > 1, 1, -1)
    return X, y


def widening(after=60):
    """Rows that stay below feature 64 for a while."""
    X, y = made(90)
    X[:after, 40:] = 0
    return X, y


DATA = {
    "narrow": made(6),
    "wide": made(90),
    "wide soon": widening(20),
    "wide late": widening(60),
}


def expected(X, y, weights, rho=None, **options):
    oracle = WeightedMajority(X.shape[1], **options)
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
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("scaling", ["auto", "unit", "none", "standard+unit"])
@pytest.mark.parametrize("intercept", [True, False])
def test_votes_as_the_oracle_does(form, data, scaling, intercept):
    X, y = DATA[data]
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    if scaling == "none":
        X = X / 100
    model = lopsided.WeightedMajority(scaling=scaling, intercept=intercept)
    run = lopsided.progressive(model, FORMS[form](X), y, sample_weight=weights, resume=True)
    want = expected(X, y, weights, scaling=scaling, intercept=intercept, sparse=form == "sparse")
    np.testing.assert_allclose(run.scores, want, rtol=0, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("seed", "stay"), [(0, 0), (3, 1)])
def test_of_the_full_covariances_only_the_leader_stays(form, seed, stay, monkeypatch):
    monkeypatch.setattr("lopsided.algorithms.weighted_majority._TRIAL", 250)
    X, y = made(6, seed=seed)
    model = lopsided.WeightedMajority()
    run = lopsided.progressive(model, FORMS[form](X), y, resume=True)
    want = expected(X, y, np.ones(len(y)), sparse=form == "sparse", trial=250)
    np.testing.assert_allclose(run.scores, want, rtol=0, atol=1e-9)
    assert [m.learner for m in model.members_].count("AROW") == stay
    again = from_bytes(to_bytes(model))
    more = [lopsided.progressive(m, FORMS[form](X), y, resume=True).scores for m in (model, again)]
    assert more[0].tobytes() == more[1].tobytes()


def test_counts_the_cost_that_is_given():
    X, y = made(6)
    model = lopsided.WeightedMajority(class_weight={1: 7, -1: 1})
    run = lopsided.progressive(model, X, y)
    np.testing.assert_allclose(run.scores, expected(X, y, np.ones(len(y)), 7.0), rtol=0, atol=1e-9)
    dear = lopsided.progressive(lopsided.WeightedMajority(class_weight={1: 100, -1: 1}), X, y)
    assert dear.sensitivity > run.sensitivity


@pytest.mark.parametrize("cut", [1, 59, 60, 61, 100])
def test_goes_on_from_a_file_before_and_after_it_widens(cut):
    X, y = widening()
    rows = csr(X)
    whole = lopsided.WeightedMajority()
    scores = lopsided.progressive(whole, rows, y, resume=True).scores
    part = lopsided.WeightedMajority().partial_fit(rows[:cut], y[:cut], classes=[-1, 1])
    again = from_bytes(to_bytes(part))
    assert lopsided.progressive(again, rows[cut:], y[cut:], resume=True).scores.tobytes() == (
        scores[cut:].tobytes()
    )
    assert to_bytes(again) == to_bytes(whole)


def test_rows_of_either_kind_are_scored_alike():
    """What it learned from dense rows holds for the same rows as a sparse matrix."""
    for X, y in (made(6), made(90)):
        for learned, other in ((np.asarray, csr), (csr, np.asarray)):
            model = lopsided.WeightedMajority().fit(learned(X), y)
            np.testing.assert_allclose(
                model.decision_function(learned(X)), model.decision_function(other(X)), atol=1e-9
            )


def test_a_stream_that_widens_goes_on_where_it_was():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 60)) + 3
    y = X[:, 0] + X[:, 1] > 7.5
    wide = np.hstack([X, np.ones((len(X), 10))])
    wide[:2000, 60:] = 0
    scores = lopsided.progressive(lopsided.WeightedMajority(), csr(wide), y).scores
    before, soon, later = (
        (np.mean(scores[part][y[part]] >= 0) + np.mean(scores[part][~y[part]] < 0)) / 2
        for part in (slice(1000, 2000), slice(2000, 2500), slice(3000, 4000))
    )
    assert before > 0.9
    assert soon > 0.85  # ten features that never occurred before weigh heavily in their rows
    assert later > 0.9


def test_wide_rows_are_scored_before_the_model_has_widened():
    X, y = widening()
    model = lopsided.WeightedMajority().partial_fit(csr(X[:60]), y[:60])
    before = to_bytes(model)
    assert np.isfinite(model.decision_function(csr(X))).all()
    assert to_bytes(model) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [("narrow", 6), ("wide", 10**6), ("missed.0", -1.0), ("rho", 0.0)],
)
def test_a_file_with_impossible_state_is_refused(name, value):
    X, y = made(6)
    model = lopsided.WeightedMajority().fit(X, y)
    about, arrays = _container.from_file(to_bytes(model), persist.FORMAT)
    about["state"][name] = persist._pack(value)
    with pytest.raises(ModelFileError, match="do not fit together"):
        from_bytes(_container.to_file(about, arrays))


def test_weights_are_of_all_features():
    X, y = made(6)
    wide = csr(np.hstack([X, np.zeros((len(X), 94))]))
    assert lopsided.WeightedMajority().fit(wide, y).coef_.shape == (100,)


def test_dicts_are_seen_as_dense_rows_are():
    X, y = made(6, density=1)
    dense, events = lopsided.WeightedMajority(), lopsided.WeightedMajority()
    names = list("abcdef")
    for x, label in zip(X, y.tolist(), strict=True):
        dense.learn_one(x, label)
        events.learn_one(dict(zip(names, x.tolist(), strict=True)), label)
    np.testing.assert_allclose(dense.coef_, events.coef_, rtol=0, atol=1e-9)


def test_tells_its_members_and_who_leads():
    X, y = made(6)
    model = lopsided.WeightedMajority().fit(X, y)
    assert len(model.members_) == 6
    assert model.leader_ in model.members_
    assert model.coef_.shape == (6,)
    costs = [m.missed * (y < 0).sum() / (y > 0).sum() + m.alarmed for m in model.members_]
    assert model.members_[int(np.argmin(costs))] == model.leader_
    wide = lopsided.WeightedMajority().fit(csr(made(90)[0]), y)
    assert len(wide.members_) == 4
    assert [m.intercept for m in wide.members_] == [False, False, True, False]
    assert {m.scaling for m in lopsided.WeightedMajority(scaling="unit").fit(X, y).members_} == {
        "unit"
    }


def test_is_not_lost_when_a_member_is():
    """Columns of very different scale: whoever sees raw values learns nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)) * [1, 1e6, 1, 1]
    y = X[:, 0] + X[:, 2] > 2
    run = lopsided.progressive(lopsided.WeightedMajority(), X, y, resume=True)
    assert run.sum() > 0.85
    assert lopsided.progressive(lopsided.COG(scaling="unit"), X, y, resume=True).sum() < 0.6
