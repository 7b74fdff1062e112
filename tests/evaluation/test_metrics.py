"""The measures against scikit-learn's."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from sklearn import metrics as theirs

from lopsided import metrics
from lopsided.metrics import Counts


def made(seed, ties):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(200) < 0.2, 1, -1)
    scores = rng.normal(size=200) + 0.5 * y
    weights = rng.integers(0, 4, 200).astype(float)
    return y, np.round(scores, 1) if ties else scores, weights


def counts(y, scores, weights):
    positive, called = y > 0, scores >= 0
    return Counts(
        positives=weights[positive].sum(),
        negatives=weights[~positive].sum(),
        false_negatives=weights[positive & ~called].sum(),
        false_positives=weights[~positive & called].sum(),
    )


@pytest.mark.parametrize("seed", range(5))
def test_measures_of_counts(seed):
    y, scores, weights = made(seed, ties=False)
    ours, called = counts(y, scores, weights), np.where(scores >= 0, 1, -1)
    for name, function in {
        "precision": theirs.precision_score,
        "f1": theirs.f1_score,
        "mcc": theirs.matthews_corrcoef,
        "accuracy": theirs.accuracy_score,
    }.items():
        want = function(y, called, sample_weight=weights)
        assert getattr(ours, name) == pytest.approx(want, rel=1e-12), name
    per_event = ours.cost(5, 1) / weights.sum()
    assert ours.cost_per_thousand(5, 1) == pytest.approx(1000 * per_event)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [True, False])
def test_measures_of_scores(seed, ties):
    y, scores, weights = made(seed, ties)
    for given in (None, weights):
        ours = metrics.average_precision(y, scores, sample_weight=given)
        want = theirs.average_precision_score(y, scores, sample_weight=given)
        assert ours == pytest.approx(want, rel=1e-12)
        ours = metrics.auc(y, scores, sample_weight=given)
        assert ours == pytest.approx(theirs.roc_auc_score(y, scores, sample_weight=given))


def test_precision_at_k_is_what_k_looks_find():
    y, scores, _ = made(0, ties=False)
    best = np.argsort(-scores)
    for k in (1, 7, 200):
        assert metrics.precision_at_k(y, scores, k) == pytest.approx(np.mean(y[best[:k]] > 0))
    # Two of three events of one score: two thirds of them.
    assert metrics.precision_at_k([1, 1, -1, -1], [2, 1, 1, 1], 3) == pytest.approx((1 + 2 / 3) / 3)
    assert metrics.precision_at_k([1, -1], [2, 1], 3, sample_weight=[2, 2]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("k", [0, 5, -1, 1.5, None])
def test_precision_at_k_of_a_k_that_cannot_be(k):
    with pytest.raises(ValueError, match="k="):
        metrics.precision_at_k([1, -1], [2, 1], k)


def test_counts_are_tallied_and_added():
    positive, alarm = np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool)
    plain = Counts.tally(positive, alarm, queries=7)
    assert plain == Counts(
        positives=2, negatives=2, false_negatives=1, false_positives=1, events=4, queries=7
    )
    weighted = Counts.tally(positive, alarm, np.array([2.0, 3.0, 5.0, 0.0]))
    assert weighted == Counts(
        positives=5, negatives=5, false_negatives=3, false_positives=5, events=3
    )
    assert plain + weighted == Counts(
        positives=7, negatives=7, false_negatives=4, false_positives=6, events=7, queries=7
    )


def test_counts_come_from_a_mapping_or_an_object():
    counts = Counts(positives=1, negatives=2, false_negatives=0, events=3, updates=4)
    assert Counts.of(counts) == counts
    assert Counts.of({**dataclasses.asdict(counts), "seconds": 1.0}) == counts


def test_what_cannot_be_measured_is_nan():
    nothing, quiet = Counts(), Counts(positives=3, negatives=5, false_negatives=3)
    for value in (nothing.precision, nothing.f1, nothing.mcc, nothing.cost_per_thousand()):
        assert math.isnan(value)
    assert math.isnan(quiet.precision)
    assert quiet.f1 == 0
    assert quiet.mcc == 0
    assert math.isnan(metrics.average_precision([-1, -1], [1, 2]))
    assert math.isnan(metrics.auc([-1, -1], [1, 2]))
