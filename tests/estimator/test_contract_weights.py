"""What every learner of the catalog promises of weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from every_learner import WIDER, X, Y, by_scaling, each, learned, make, numbers
from streams import csr, events

import lopsided
from lopsided.persist import to_bytes

# Weights cannot change the steps of these.
FULL_STEP = ("ROMMA", "aROMMA", "PA", "CPA", "Forgetron", "Projectron++")


@each
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_weights_of_one_change_nothing(name, method):
    plain, ones = (getattr(make(name), method) for _ in range(2))
    assert to_bytes(plain(X, Y)) == to_bytes(ones(X, Y, sample_weight=np.ones(len(Y))))


@each
@by_scaling
def test_events_of_weight_zero_are_as_if_left_out(name, scaling):
    keep = np.arange(len(Y)) % 3 > 0
    for method in ("fit", "partial_fit"):
        model, want = make(name, scaling), make(name, scaling)
        getattr(model, method)(X, Y, sample_weight=keep.astype(float))
        assert to_bytes(model) == to_bytes(getattr(want, method)(X[keep], Y[keep]))


@each
def test_zero_weight_event_leaves_model_unchanged(name):
    model, named = learned(name, "standard"), make(name)
    for x, y in zip(events(X), Y, strict=True):
        named.learn_one(x, y)
    before, named_before = to_bytes(model), to_bytes(named)
    nothing = np.zeros(len(Y))
    model.partial_fit(X, Y, sample_weight=nothing).learn_one(X[0], 1, weight=0)
    model.partial_fit(WIDER, Y, sample_weight=nothing).learn_one(WIDER[0], 1, weight=0)
    model.partial_fit(csr(WIDER), Y, sample_weight=nothing)
    assert to_bytes(model) == before
    named.learn_one({"new": 1.0, "colour": "red"}, 1, weight=0)
    assert to_bytes(named) == named_before


@each
def test_zero_weight_rows_with_new_column_names_leave_model_unchanged(name):
    columns = [f"f{j}" for j in range(9)]
    model = make(name).partial_fit(pd.DataFrame(X, columns=columns[:7]), Y)
    before = to_bytes(model)
    wider, nothing = pd.DataFrame(WIDER, columns=columns), np.zeros(len(Y))
    assert to_bytes(model.partial_fit(wider, Y, sample_weight=nothing)) == before
    fresh = make(name).partial_fit(wider, Y, sample_weight=nothing)
    assert not hasattr(fresh, "n_features_in_")
    assert to_bytes(fresh.partial_fit(wider[columns[:7]], Y)) == before


@each
@pytest.mark.parametrize("begun", [False, True])
def test_events_of_weight_zero_have_no_score(name, begun):
    how = {"sample_weight": np.zeros(len(Y)), "resume": True}
    model = learned(name) if begun else make(name)
    alone = lopsided.progressive(model, X, Y, **how)
    (banked,) = lopsided.progressive_bank([model], X, Y, **how)
    for run in (alone, banked):
        assert np.isnan(run.scores).all()
        assert run.probabilities is None or np.isnan(run.probabilities).all()
        assert run.asked is None or not run.asked.any()


@each
def test_zero_weight_event_teaches_no_label(name):
    model = make(name).partial_fit(X[:3], [1, 1, 1])
    before = to_bytes(model)
    model.partial_fit(X[:1], [-1], sample_weight=[0.0]).learn_one(X[0], -1, weight=0)
    assert to_bytes(model) == before


@each
def test_zero_weight_event_does_not_begin_a_model(name):
    model = make(name, "auto")
    model.learn_one(X[0], 1, weight=0).partial_fit(X, Y, sample_weight=np.zeros(len(Y)))
    want = make(name, "auto").partial_fit(csr(X), Y)
    assert to_bytes(model.partial_fit(csr(X), Y)) == to_bytes(want)


@each
def test_weights_matter_or_are_refused(name):
    weights = np.where(np.arange(len(Y)) % 2, 3.0, 0.5)
    if name in FULL_STEP:
        with pytest.raises(ValueError, match="full step"):
            make(name).fit(X, Y, sample_weight=weights)
        with pytest.raises(ValueError, match="full step"):
            make(name).learn_one(X[0], 1, weight=2.0)
    else:
        model = make(name, "none").fit(X, Y, sample_weight=weights)
        assert numbers(model) != numbers(make(name, "none").fit(X, Y))


@each
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_impossible_weight_is_an_error_and_leaves_model_unchanged(name, weight):
    model = learned(name)
    before = to_bytes(model)
    weights = np.ones(len(Y))
    weights[-1] = weight
    for method in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="weight"):
            method(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match="weight"):
        model.learn_one(X[0], 1, weight=weight)
    assert to_bytes(model) == before
