"""The AUC of a stream as it runs, against all pairs, the batch measure and scikit-learn's."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from streams import stream

import lopsided
from lopsided.metrics import RunningAUC, auc
from reference.auc import pairwise_auc

scores = st.sampled_from([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, 5e-324]) | st.floats(-2, 2)
events = st.lists(st.tuples(st.booleans(), scores, st.sampled_from([0.0, 0.1, 0.7, 1.0, 3.0])))


def made(seed, rows=2000, ties=True):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(rows) < 0.1, 1, -1)
    found = rng.normal(size=rows) + 0.7 * y
    return y, np.round(found, 1) if ties else found, rng.uniform(0.1, 3, rows)


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


@settings(max_examples=60, deadline=None)
@given(events, st.none() | st.integers(1, 6))
def test_value_is_the_share_of_pairs_in_order(stream, window):
    running, counted = RunningAUC(window=window), []
    for positive, score, weight in stream:
        running.add(1 if positive else -1, score, weight)
        if weight:
            counted.append((1 if positive else -1, score, weight))
        last = counted[-window:] if window else counted
        y, found, weights = map(np.array, zip(*last, strict=True)) if last else ([], [], [])
        assert running.value == pytest.approx(
            pairwise_auc(found, y, weights), rel=1e-12, nan_ok=True
        )


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("window", [None, 1, 100])
def test_every_value_has_the_bits_of_the_batch_measure(ties, window):
    y, found, _ = made(0, 700, ties)
    running = RunningAUC(window=window)
    for k in range(len(y)):
        running.add(y[k], found[k])
        last = slice(max(0, k + 1 - window) if window else 0, k + 1)
        assert same(running.value, auc(y[last], found[last]))


@pytest.mark.parametrize("window", [None, 500])
def test_weights(window):
    y, found, weights = made(1)
    running = RunningAUC(window=window)
    running.add_many(y, found, sample_weight=weights)
    last = slice(-window if window else None, None)
    want = roc_auc_score(y[last], found[last], sample_weight=weights[last])
    assert running.value == pytest.approx(want, rel=1e-12)
    assert running.error == 0


def test_one_by_one_or_many_at_once_gives_the_same_bits():
    y, found, weights = made(2, ties=False)
    for params in ({}, {"window": 300}, {"limit": 50}, {"window": 300, "limit": 50}):
        one, many = RunningAUC(**params), RunningAUC(**params)
        for event in zip(y, found, weights, strict=True):
            one.add(*event)
        for part in np.array_split(np.arange(len(y)), 7):
            many.add_many(y[part], found[part], sample_weight=weights[part])
        assert one.value == many.value
        assert one.error == many.error


@pytest.mark.parametrize("limit", [None, 3000, 30_000])
@pytest.mark.parametrize("ties", [True, False])
def test_whether_somebody_looks_changes_no_bit(limit, ties):
    y, found, weights = made(8, 60_000, ties)
    watched, unwatched = RunningAUC(limit=limit), RunningAUC(limit=limit)
    for k in range(0, len(y), 77):
        part = slice(k, k + 77)
        watched.add_many(y[part], found[part], sample_weight=weights[part])
        assert 0 <= watched.error < 0.01
    unwatched.add_many(y, found, sample_weight=weights)
    assert unwatched.value == watched.value
    assert unwatched.error == watched.error
    assert unwatched.__getstate__() == watched.__getstate__()


@pytest.mark.parametrize("limit", [4, 50, 1000])
@pytest.mark.parametrize("window", [None, 1500])
def test_limit_holds_and_the_error_is_within_what_is_said(limit, window):
    y, found, weights = made(3, 5000, ties=False)
    found[::7] *= 1e-200
    running = RunningAUC(limit=limit, window=window)
    for k in range(0, 5000, 50):
        part = slice(k, k + 50)
        running.add_many(y[part], found[part], sample_weight=weights[part])
        assert running._core.size <= limit
        last = slice(max(0, k + 50 - window) if window else 0, k + 50)
        want = auc(y[last], found[last], sample_weight=weights[last])
        assert abs(running.value - want) <= running.error + 1e-12
    assert 0 < running.error < 8 / limit


def test_below_the_limit_nothing_is_lost():
    y, found, _ = made(4)
    running = RunningAUC(limit=len(np.unique(found)))
    running.add_many(y, found)
    assert running.value == auc(y, found)
    assert running.error == 0


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
@pytest.mark.parametrize("params", [{}, {"window": 100}, {"limit": 60}], ids=str)
def test_a_copy_goes_on_with_the_same_bits(duplicate, params):
    y, found, weights = made(5)
    running = RunningAUC(**params)
    running.add_many(y[:1000], found[:1000], sample_weight=weights[:1000])
    other = duplicate(running)
    for one in (running, other):
        one.add_many(y[1000:], found[1000:], sample_weight=weights[1000:])
    assert running.value == other.value
    assert running.error == other.error


def test_nothing_drifts_as_events_come_and_go():
    y, found, weights = made(6, 20000)
    running, fresh = RunningAUC(window=200), RunningAUC()
    running.add_many(y, found, sample_weight=weights)
    fresh.add_many(y[-200:], found[-200:], sample_weight=weights[-200:])
    assert running.value == pytest.approx(fresh.value, rel=1e-13)


def test_value_is_nan_while_a_class_is_absent():
    running = RunningAUC(window=2)
    assert math.isnan(running.value)
    for label, value in ((1, math.nan), (-1, 0.5), (-1, math.nan), (1, 0.5)):
        running.add(label, 0.0)
        assert same(running.value, value)


def test_bad_input_adds_nothing():
    running = RunningAUC()
    running.add_many([1, -1], [2.0, 1.0])
    for y, found, weights in (
        ([1, -1], [1.0, math.nan], None),
        ([1], [1.0, 2.0], None),
        ([1, 1], [1.0, 2.0], [1.0, -1.0]),
        ([1, 1], [1.0, 2.0], [1.0, math.inf]),
    ):
        with pytest.raises(ValueError, match=r"scores|weights"):
            running.add_many(y, found, sample_weight=weights)
    with pytest.raises(ValueError, match="NaN"):
        running.add(1, math.nan)
    with pytest.raises(ValueError, match="weights"):
        running.add(1, 1.0, -1.0)
    running.add(1, math.nan, 0.0)
    assert running.value == 1
    assert running._core.size == 2


@pytest.mark.parametrize("params", [{"window": 0}, {"window": 1.5}, {"limit": 3}, {"limit": "9"}])
def test_impossible_parameters(params):
    with pytest.raises(ValueError, match=next(iter(params))):
        RunningAUC(**params)


def test_curve_of_a_progressive_pass():
    X, y = stream(0, 200, 5)
    weights = np.random.default_rng(0).integers(0, 3, 200).astype(float)
    for given_weights in (None, weights):
        result = lopsided.progressive(lopsided.COG(), X, y, sample_weight=given_weights, points=10)
        assert len(result.auc_curve) == len(result.curve) == 10
        for k, value in enumerate(result.auc_curve, 1):
            part = slice(20 * k)
            w = None if given_weights is None else weights[part]
            want = auc(y[part], result.scores[part], sample_weight=w)
            assert value == pytest.approx(want, rel=1e-12, nan_ok=True)
        assert result.auc_curve[-1] == pytest.approx(result.auc, rel=1e-12)
    assert lopsided.progressive(lopsided.COG(), X, y, points=0).auc_curve == ()
