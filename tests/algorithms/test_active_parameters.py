"""Parameters of learners that ask for labels."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from active_learners import SECONDS, X, Y
from sklearn.base import clone

import lopsided
from lopsided import COG, Active, Budget, Recommended, progressive
from lopsided.persist import to_bytes


def test_parameters_of_the_learner_are_reached_by_both_names():
    given = COG(learning_rate=0.5)
    model = Active(given)
    assert model.get_params()["learner__learning_rate"] == model.learning_rate == 0.5
    model.set_params(learner__learning_rate=2.0, scaling="none", delta=3.0)
    assert (model.learner.learning_rate, model.scaling, model.delta) == (2.0, "none", 3.0)
    assert given.learning_rate == 0.5
    model.learning_rate = 4.0
    assert model.learner.learning_rate == 4.0
    with pytest.raises(ValueError, match="did you mean 'learning_rate'"):
        model.set_params(lerning_rate=1.0)
    with pytest.raises(TypeError, match="did you mean 'budget'"):
        Active("COG-II", buget=3)


def test_clone_is_independent():
    model = Active(COG(), budget=Budget(labels=5)).fit(X, Y)
    other = clone(model)
    assert other.learner is not model.learner
    assert not hasattr(other, "coef_")
    assert to_bytes(other.fit(X, Y)) == to_bytes(model)
    assert repr(other) == "Active(learner=COG(), budget=Budget(labels=5))"
    assert to_bytes(copy.deepcopy(model)) == to_bytes(model)


def test_rule_and_budget_may_change_in_mid_stream():
    model = Active("COG-II", query="always", budget=10).partial_fit(X, Y)
    assert model.queries_ == 10
    model.set_params(budget=25).partial_fit(X, Y)
    assert (model.queries_, model.budget_left_) == (25, 0)
    model.set_params(budget=20).partial_fit(X, Y)
    assert (model.queries_, model.budget_left_) == (25, 0)
    model.set_params(learner="PA-I")
    with pytest.raises(ValueError, match="learner cannot change"):
        model.partial_fit(X, Y)


def test_comparison_chooses_among_parameters_of_both():
    grid = {"delta": [0.1, 1.0], "learning_rate": [0.1, 1.0], "C": [1.0], "budget": [30]}
    given = {"PAA": lopsided.make("PAA"), "SOAL": lopsided.make("SOAL")}
    found = lopsided.compare(given, X, Y, grid=grid, permutations=3, jobs=1)
    chosen = {row.name: row.parameters for row in found.rows}
    assert chosen["PAA"].keys() == {"delta", "C", "budget"}
    assert chosen["SOAL"].keys() == {"delta", "learning_rate", "budget"}
    assert all(row.mean["queries"] <= 30 for row in found.rows)


IMPOSSIBLE = [
    ({"query": "guess"}, "query='guess'"),
    ({"query": "always", "delta": 1.0}, "delta has no effect on query='always'"),
    ({"query": "always", "explore": 0.1}, "explore has no effect"),
    ({"query": "margin", "delta_pos": 1.0, "delta_neg": 1.0}, "delta_pos has no effect"),
    ({"query": "margin", "probability": 0.5}, "probability has no effect"),
    ({"query": "margin", "delta": 0.0}, "delta=0.0"),
    ({"query": "random"}, "needs probability"),
    ({"query": "random", "probability": 1.5}, "probability=1.5"),
    ({"query": "asymmetric"}, "both delta_pos and delta_neg"),
    ({"query": "asymmetric", "delta_pos": 1.0}, "both delta_pos and delta_neg"),
    ({"query": "confidence"}, "ACOG and AROW"),
    ({"explore": 1.5}, "explore=1.5"),
    ({"explore": np.nan}, "explore=nan"),
    ({"seed": -1}, "seed=-1"),
    ({"max_pending": 0}, "max_pending=0"),
    ({"budget": -3}, "labels=-3"),
    ({"budget": 2.5}, "budget=2.5"),
    ({"budget": "all"}, "'all' is not a budget"),
    ({"learner": 3}, "learner=3"),
    ({"learner": "COGG"}, "did you mean 'COG-I'"),
    ({"learner": "PAA"}, "asks for labels already"),
    ({"budget": "5/day"}, "give time="),
]


@pytest.mark.parametrize(("params", "words"), IMPOSSIBLE, ids=str)
def test_impossible_parameters_are_refused(params, words):
    model = Active(**{"learner": "COG-II", **params})
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=words):
            call(X, Y)
    with pytest.raises(ValueError, match=words):
        model.ask(X[0])


@pytest.mark.parametrize("delay", [-1, 0.5, np.nan, "late", [1, 2], ("geometric", -1)], ids=str)
def test_impossible_delay_is_refused(delay):
    with pytest.raises(ValueError, match="delay"):
        progressive(Active("COG-II"), X, Y, delay=delay)


def test_learners_that_do_not_ask_keep_no_events_and_use_times_for_periods_only():
    with pytest.raises(ValueError, match="use Active"):
        Recommended().pass_over(X, Y, None, delay=3)
    timed = progressive(Recommended(), X, Y, time=SECONDS)
    np.testing.assert_array_equal(timed.scores, progressive(Recommended(), X, Y).scores)
    assert sum(period.rows for period in timed.periods("day")) == len(X)


def test_what_a_model_remembers_of_days_is_no_parameter():
    model = Active(COG(positive=1), budget="1/day", query="always")
    model.ask({"a": 1.0}, time="2026-01-01")
    assert not [name for name in model.get_params() if name.startswith("_")]
    to_bytes(model)
