"""What bought labels tell of all events."""

from __future__ import annotations

import numpy as np
import pytest
from active_learners import ROWS, X, Y
from streams import stream

from lopsided import ACOG, Active, progressive


@pytest.mark.parametrize("budget", [None, 150, "3/20"])
@pytest.mark.parametrize("query", ["random", "margin", "confidence"])
def test_estimates_are_free_of_bias_and_know_their_error(query, budget):
    rows, labels = stream(seed=5, rows=600, d=4)
    given = {"probability": 0.25} if query == "random" else {"delta": 0.1}
    errors, claimed, shares = [], [], []
    for seed in range(250):
        model = Active(
            ACOG(scaling="unit"), query=query, budget=budget, explore=0.15, seed=seed, **given
        )
        got = progressive(model, rows, labels, points=0)
        could = got.probabilities > 0
        alarm = got.scores >= 0
        cost = 0.9 * np.sum(could & ~alarm & (labels > 0)) + 0.1 * np.sum(
            could & alarm & (labels < 0)
        )
        found = model.estimate()
        assert found.events == could.sum()
        errors.append([found.cost - cost, found.normalised_cost - cost])
        claimed.append([found.cost_error, found.normalised_cost_error])
        sensitivity = np.mean(alarm[could & (labels > 0)])
        if found.sensitivity_error > 0:
            shares.append((found.sensitivity - sensitivity) / found.sensitivity_error)
    bias = np.mean(errors, axis=0) / (np.std(errors, axis=0) / np.sqrt(len(errors)))
    assert abs(bias[0]) < 4
    rms = np.sqrt(np.mean(np.square(errors), axis=0))
    calibration = np.sqrt(np.mean(np.square(claimed), axis=0)) / rms
    assert ((calibration > 0.8) & (calibration < 1.25)).all()
    assert 0.7 < np.sqrt(np.mean(np.square(shares))) < 1.5


def test_estimate_from_all_labels_is_exact():
    model = Active("COG-II", query="always")
    got = progressive(model, X, Y)
    found = model.estimate(fn=3, fp=2)
    assert found.sensitivity == pytest.approx(got.sensitivity)
    assert found.specificity == pytest.approx(got.specificity)
    assert found.cost == found.normalised_cost == pytest.approx(got.cost(3, 2))
    assert found.cost_error == found.sensitivity_error == found.specificity_error == 0


def test_estimate_weighs_events_as_the_counts_do():
    weights = np.where(np.arange(ROWS) % 5, np.arange(ROWS) % 4 / 2, 0.0)
    model = Active("COG-II", query="always")
    got = progressive(model, X, Y, sample_weight=weights)
    found = model.estimate(fn=3, fp=2)
    assert found.events == found.labels == pytest.approx(weights.sum())
    assert found.cost == pytest.approx(got.cost(3, 2))
