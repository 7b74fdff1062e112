"""Sweeps of the shrink."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from streams import stream

import lopsided
from lopsided.estimator import bank as _bank
from lopsided.evaluation import progressive as evaluation
from lopsided.papers import sweeps
from lopsided.papers.sweeps import sparsity_sweep, tuned

X, Y = stream(rows=200, d=20)


def test_a_sweep_says_what_single_runs_say():
    points = sparsity_sweep(["FSOL", "CS-SSOL"], X, Y, l1=[0.0, 2.0])
    assert [(p.learner, p.value) for p in points] == [
        ("FSOL", 0.0),
        ("FSOL", 2.0),
        ("CS-SSOL", 0.0),
        ("CS-SSOL", 2.0),
    ]
    model = lopsided.make("FSOL", l1=2.0)
    run = lopsided.progressive(model, X, Y)
    assert points[1].sparsity == model.sparsity_ > 0
    assert (points[1].error, points[1].balanced) == (1 - run.accuracy, run.sum())


def test_a_sweep_judges_finished_models_on_test_rows():
    (point,) = sparsity_sweep(["SSOL"], X, Y, target_sparsity=[0.5], test=(X[:50], Y[:50]))
    model = lopsided.make("SSOL", target_sparsity=0.5).fit(X, Y)
    assert point.error == pytest.approx(1 - model.score(X[:50], Y[:50]))


def test_permutations_are_averaged_and_fixed_by_the_seed():
    one, again, other = (
        sparsity_sweep(["FSOL"], X, Y, l1=[0.1], permutations=3, seed=s)[0].error for s in (1, 1, 2)
    )
    assert one == again != other


def test_tuning_finds_the_best_of_the_grid():
    rates = lopsided.catalog.find("FSOL").grid["learning_rate"]
    errors = {
        r: -lopsided.progressive(lopsided.make("FSOL", learning_rate=r, l1=0.0), X, Y).accuracy
        for r in rates
    }
    assert tuned("FSOL", X, Y) == {"learning_rate": min(errors, key=errors.get)}


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize(("name", "passes"), [("FSOL", 1), ("COG-II", 1), ("ACOG-I", 11)])
def test_tuning_shares_a_pass_where_it_can(name, passes, balanced, monkeypatch):
    found = []

    def seen(*args, **kwargs):
        found.append(_bank.learn_together(*args, **kwargs))
        return found[-1]

    def chosen(learn):
        monkeypatch.setattr(evaluation, "learn_together", learn)
        return tuned(name, 1e3 * X, Y, balanced=balanced)

    assert chosen(seen) == chosen(lambda *args, **kwargs: None)
    assert len(found) == passes
    assert (found[0] is not None) == (passes == 1)


def test_tuning_passes_over_rates_at_which_scores_overflow(monkeypatch):
    grid, preset = {"learning_rate": (1e308, 1.0, 1e307)}, {"scaling": "none"}
    entry = dataclasses.replace(lopsided.catalog.find("COG-II"), grid=grid, preset=preset)
    monkeypatch.setattr(sweeps, "find", lambda name: entry)
    assert tuned("COG-II", 1e3 * X, Y) == {"learning_rate": 1.0}


def test_bad_rows_are_an_error_of_tuning():
    bad = X.copy()
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match="row 7"):
        tuned("FSOL", bad, Y)


@pytest.mark.parametrize(
    ("learners", "values", "match"),
    [
        (["FSOL"], {}, "l1 or target_sparsity"),
        (["FSOL"], {"l1": [0.1], "target_sparsity": [0.5]}, "l1 or target_sparsity"),
        (["Perceptron"], {"l1": [0.1]}, "Perceptron"),
    ],
)
def test_what_cannot_be_swept_is_refused(learners, values, match):
    with pytest.raises((TypeError, ValueError), match=match):
        sparsity_sweep(learners, X, Y, **values)
