"""What every learner of the catalog promises of features and classes that come later."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from every_learner import (
    NAMES,
    TAKES_IN,
    X,
    Y,
    by_scaling,
    each,
    is_linear,
    learned,
    make,
    numbers,
    rounding,
    where_known,
)
from streams import csr, events, growing

import lopsided
from lopsided.persist import to_bytes

# Shrinks that go on without features, and means over rounds: with this they stand still.
STILL = {"l1": 0.0, "beta": "constant"}


@each
@by_scaling
@pytest.mark.parametrize("form", [np.asarray, csr])
def test_growing_features_equals_knowing_them_all(name, scaling, form):
    wide, y = growing()
    want = make(name, scaling).partial_fit(form(wide), y)
    model = make(name, scaling).partial_fit(form(wide[:20, :4]), y[:20])
    assert model.n_features_in_ == 4
    assert to_bytes(model.partial_fit(form(wide[20:]), y[20:])) == to_bytes(want)


@each
@by_scaling
def test_new_names_in_events_equal_csr_rows_with_all_columns(name, scaling):
    wide, labels = growing()
    params = where_known(name, TAKES_IN)
    want, model = (make(name, scaling, **params) for _ in range(2))
    scores = lopsided.progressive(want, csr(wide), labels, resume=True).scores
    for i, (x, y) in enumerate(zip(events(wide), labels, strict=True)):
        unforeseen = i == 0 or (params and i == 20)  # a score takes in what is known, not new names
        assert unforeseen or model.score_one(x) == scores[i]
        model.learn_one(x, y)
    assert model.feature_names_in_.tolist() == [f"f{j}" for j in range(7)]
    assert numbers(model) == numbers(want)


@each
def test_hashed_events(name, tmp_path):
    model, backwards = (make(name, hash_bits=6) for _ in range(2))
    for x, y in zip(events(X), Y, strict=True):
        model.learn_one(x, y)
        backwards.learn_one(dict(reversed(x.items())), y)
    assert model.n_features_in_ == 64
    if is_linear(name):
        assert 0 < np.count_nonzero(model.coef_) <= 7
    for a, b in zip(numbers(model), numbers(backwards), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=rounding(name, 1e-12))
    model.save(tmp_path / "hashed")
    again = lopsided.load(tmp_path / "hashed")
    for x, y in zip(events(X), Y, strict=True):
        assert again.score_one(x) == model.score_one(x)
        again.learn_one(x, y)
        model.learn_one(x, y)
    assert to_bytes(again) == to_bytes(model)


@each
@pytest.mark.parametrize("hash_bits", [None, 10])
def test_string_is_the_feature_name_equals_value(name, hash_bits):
    words, ones = (make(name, hash_bits=hash_bits) for _ in range(2))
    for i, y in enumerate(Y):
        colour = ["red", "grün", ""][i % 3]
        words.learn_one({"colour": colour, "size": float(i)}, y)
        ones.learn_one({f"colour={colour}": 1, "size": float(i)}, y)
    assert to_bytes(words) == to_bytes(ones)
    if hash_bits is None:
        names = ["colour=red", "size", "colour=grün", "colour="]
        assert words.feature_names_in_.tolist() == names


@pytest.mark.parametrize("name", [name for name in NAMES if is_linear(name)])
@pytest.mark.parametrize("scaling", ["none", "unit"])
def test_zero_row_moves_nothing(name, scaling):
    model = learned(name, scaling, intercept=False, **where_known(name, STILL))
    before = numbers(model)
    assert model.decision_function(np.zeros((1, 7))).tolist() == [0.0]
    for y in (-1, 1):
        model.partial_fit(np.zeros((2, 7)), [y, y]).learn_one(np.zeros(7), y)
        model.partial_fit(sp.csr_matrix((2, 7)), [y, y])
    assert numbers(model) == before


@each
@by_scaling
@pytest.mark.parametrize("label", [-1, 1])
def test_one_class_only_so_far(name, scaling, label):
    model = make(name, scaling).fit(X[:5], [label] * 5)
    assert np.isfinite(model.decision_function(X)).all()
    assert set(model.predict(X).tolist()) <= {-1, 1}
    model.partial_fit(X, Y)
    assert model.classes_.tolist() == [-1, 1]
    named = make(name, scaling).partial_fit(X[:5], ["bad"] * 5, classes=["bad", "good"])
    assert named.partial_fit(X[5:6], ["good"]).classes_.tolist() == ["bad", "good"]
