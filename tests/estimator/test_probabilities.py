"""Probabilities: calibrated by the scores that events had before their labels came."""

from __future__ import annotations

import numpy as np
import pytest
from every_learner import TAKES_IN, X, Y, asks, each, make, where_known
from streams import csr, stream

import lopsided
from lopsided.errors import InputError
from lopsided.persist import to_bytes
from reference.calibration import Calibration, bin_of, middle

LONG, LABELS = stream(seed=5, rows=3000, d=6)


def sigmoid(z):
    return 1 / (1 + np.exp(-np.asarray(z)))


def is_log_odds(model):
    """Say whether its scores are log odds already."""
    return not model.fitted.by_sign


def reference(result, weights=None):
    """The calibration of a progressive pass, and the log odds that it gave each event before."""
    table, said = Calibration(), []
    for i, (score, y) in enumerate(zip(result.scores, result.labels, strict=True)):
        said.append(table.log_odds(score))
        if result.asked is None or result.asked[i]:
            weight = 1.0 if weights is None else weights[i]
            asking = 1.0 if result.probabilities is None else result.probabilities[i]
            table.record(score, y, weight / asking)
    return table, np.array(said)


@pytest.mark.parametrize("name", ["COG-II", "PA-I", "AROW-diag", "Perceptron", "OPAUC"])
@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_those_of_the_reference(name, weighted):
    weights = np.random.default_rng(1).uniform(0.1, 3, len(LABELS)) if weighted else None
    model = lopsided.make(name)
    result = lopsided.progressive(model, LONG, LABELS, sample_weight=weights, resume=True)
    table, _ = reference(result, weights)
    want = sigmoid([table.log_odds(score) for score in model.score_many(LONG)])
    found = model.predict_proba(LONG)
    np.testing.assert_allclose(found[:, 1], want, rtol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-15)


def test_labels_that_were_asked_for_count_by_one_over_the_probability():
    model = lopsided.Active("COG-II", delta=0.5)
    result = lopsided.progressive(model, LONG, LABELS, resume=True)
    assert 0 < result.queries < len(LABELS)
    table, _ = reference(result)
    want = sigmoid([table.log_odds(score) for score in model.score_many(LONG)])
    np.testing.assert_allclose(model.predict_proba(LONG)[:, 1], want, rtol=1e-6)


def test_late_labels_count_with_the_score_at_the_time_of_asking():
    asking = {"query": "random", "probability": 0.5, "seed": 3}
    model = lopsided.Active("COG-II", **asking)
    table, waiting = Calibration(), []
    for x, y in zip(LONG[:400], LABELS[:400], strict=True):
        decision = model.ask(x)
        if decision.asked:
            waiting.append((decision, y))
        if len(waiting) > 20:
            old, label = waiting.pop(0)
            model.tell(old.id, label)
            table.record(old.score, label, 1 / old.probability)
    want = sigmoid([table.log_odds(score) for score in model.score_many(LONG)])
    np.testing.assert_allclose(model.predict_proba(LONG)[:, 1], want, rtol=1e-6)


@pytest.mark.parametrize("score", [0.0, -0.0, 1e-9, 2.0**-16, 0.3, 1.0, 1.24, -1.25, 7.9, -1e9])
def test_a_bin_holds_its_score(score):
    found = middle(bin_of(score))
    if 2.0**-16 <= abs(score) < 2.0**16:
        assert abs(found / score - 1) <= 1 / 8
    assert (found < 0) == (score < 0)


@each
def test_every_learner_has_probabilities(name):
    model = make(name, scaling="auto").fit(X, Y)
    found = model.predict_proba(X)
    assert found.shape == (len(X), 2)
    assert ((found >= 0) & (found <= 1)).all()
    order = np.argsort(model.score_many(X), kind="stable")
    assert (np.diff(found[order, 1]) >= 0).all()  # as the scores
    if len(set(model.score_many(X))) == len(X) and found[:, 1].std() > 0:
        assert len(set(found[:, 1])) == len(X)  # none pooled
    one = model.predict_proba_one(X[0])
    assert list(one) == sorted(one)
    np.testing.assert_array_equal(list(one.values()), found[0])


@each
@pytest.mark.parametrize("form", [np.asarray, csr])
def test_chunks_files_and_single_events_give_the_same_bits(name, form):
    rows = form(X)
    params = where_known(name, TAKES_IN)
    whole = make(name, **params).partial_fit(rows, Y)
    parts = make(name, **params)
    for part in (slice(0, 7), slice(7, 8), slice(8, 31), slice(31, 40)):
        parts.partial_fit(rows[part], Y[part])
        parts.predict_proba(rows)  # to look changes nothing
        parts = lopsided.persist.from_bytes(to_bytes(parts))
    want = whole.predict_proba(rows).tobytes()
    assert parts.predict_proba(rows).tobytes() == want
    if form is np.asarray and not asks(name):
        single = make(name, **params)
        for x, y in zip(X, Y, strict=True):
            single.learn_one(x, y)
        assert single.predict_proba(rows).tobytes() == want


def test_a_bank_calibrates_its_models_too():
    rates = (0.01, 0.1, 1.0)
    bank = [lopsided.COG(learning_rate=rate) for rate in rates]
    lopsided.progressive_bank(bank, LONG, LABELS)
    for model, rate in zip(bank, rates, strict=True):
        alone = lopsided.COG(learning_rate=rate)
        lopsided.progressive(alone, LONG, LABELS)
        assert to_bytes(model) == to_bytes(alone)
        assert model.predict_proba(LONG).tobytes() == alone.predict_proba(LONG).tobytes()


def test_probabilities_are_calibrated_under_class_weights_and_drift():
    rng = np.random.default_rng(0)
    n = 60_000
    X = rng.normal(size=(n, 3))
    odds = np.where(np.arange(n) < n // 3, -4.0, -1.5) + X @ [1.0, 1.0, 0.0]
    y = (rng.uniform(size=n) < sigmoid(odds)).astype(int)
    model = lopsided.COG(intercept=True, learning_rate=0.02, class_weight={0: 1, 1: 30})
    said = []
    for first in range(0, n, 500):
        part = slice(first, first + 500)
        if first:
            said.append(model.predict_proba(X[part])[:, 1])
        model.partial_fit(X[part], y[part])
    said, known = np.concatenate(said), y[500:]
    for stretch in (slice(5_000, 19_000), slice(45_000, 59_500)):
        share = known[stretch].mean()
        assert abs(said[stretch].mean() - share) < 0.15 * share


def test_before_the_first_label_there_are_none():
    model = lopsided.Active("COG-II")
    model.ask(X[0])
    with pytest.raises(InputError, match="learned from labels"):
        model.predict_proba(X)


def test_the_positive_label_may_come_first():
    turned = lopsided.COG(positive=0).partial_fit(X, 1 - (Y > 0))
    usual = lopsided.COG().partial_fit(X, (Y > 0).astype(int))
    np.testing.assert_array_equal(turned.predict_proba(X)[:, 0], usual.predict_proba(X)[:, 1])
    assert turned.predict_proba_one(X[0]) == dict(
        zip((1, 0), usual.predict_proba_one(X[0]).values(), strict=True)
    )


def test_one_label_is_certain():
    model = lopsided.COG(positive="fine").partial_fit(X[:1], ["fine"])
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    assert model.predict_proba_one(X[0]) == {"fine": 1.0}


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("calibration.labels", 10**6),
        ("calibration.checkpoint", 10**6),
        ("calibration.unit", 0.5),
        ("calibration.unit", float("nan")),
        ("calibration.mass", -1.0),
        ("calibration.now", np.array([1.0, 2.0])),
        ("calibration.now", np.array([256.0, 1.0, 1.0])),
        ("calibration.now", np.array([3.0, 1.0, 1.0, 3.0, 1.0, 1.0])),
        ("calibration.before", np.array([3.0, -1.0, 1.0])),
        ("calibration.before", np.array([3.0, np.inf, 1.0])),
    ],
)
def test_a_damaged_table_is_refused(entry, value):
    model = lopsided.COG().partial_fit(X, Y)
    features, state, names = model.fitted.core.snapshot()
    with pytest.raises(ValueError, match=entry.replace(".", r"\.")):
        model.fitted.core.restore(features, {**state, entry: value}, names)
    assert to_bytes(model) == to_bytes(lopsided.COG().partial_fit(X, Y))
