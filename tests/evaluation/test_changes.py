"""Changes are found where there are some, nowhere else, and the same in one piece or in many."""

import math

import numpy as np
import pytest

from lopsided import ACOG, _core, progressive
from lopsided.evaluation.changes import Watch

DELTA = 0.002


def adwin(values, delta=DELTA, block=16, every=8):
    """Return where the window was cut, by the formula, with every value kept."""
    buckets, cuts, open_, blocks = [], [], [], 0
    for i, value in enumerate(values):
        open_.append(value)
        if len(open_) < block:
            continue
        buckets.append(open_)
        open_ = []
        last = len(buckets)
        while last > 0:  # more than five of a size: the two oldest of them become one
            size = len(buckets[last - 1])
            first = last
            while first > 0 and len(buckets[first - 1]) == size:
                first -= 1
            if last - first <= 5:
                break
            buckets[first : first + 2] = [buckets[first] + buckets[first + 1]]
            last = first + 1
        blocks += 1
        if blocks % every:
            continue
        gone = []
        while len(buckets) > 1 and _too_long(buckets, delta):
            gone += buckets.pop(0)
        if gone:
            cuts.append((i, np.mean(gone), np.mean(np.concatenate(buckets))))
    return cuts


def _too_long(buckets, delta):
    values = np.concatenate(buckets)
    n, v = len(values), values.var()
    c = math.log(2 * math.log(n) / delta)
    at = 0
    for bucket in buckets[:-1]:
        at += len(bucket)
        m = 1 / (1 / at + 1 / (n - at))
        apart = abs(values[:at].mean() - values[at:].mean())
        if apart > math.sqrt(2 * v * c / m) + 2 * c / (3 * m):
            return True
    return False


@pytest.mark.parametrize("seed", range(4))
def test_windows_are_cut_as_by_the_formula(seed):
    rng = np.random.default_rng(seed)
    rate = np.repeat(rng.choice([0.05, 0.2, 0.5], 4), 1500)
    values = (rng.random(len(rate)) < rate).astype(float)
    found = _core.ChangeDetector(DELTA, 16, 8).add_many(values)
    expected = adwin(values)
    assert [cut[0] for cut in found] == [cut[0] for cut in expected]
    assert np.allclose([cut[1:] for cut in found], [cut[1:] for cut in expected], rtol=1e-12)
    assert expected or len(set(rate)) == 1


def stream(events=20_000, change=10_000, rate=0.1, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(events) < rate
    scores = rng.normal(size=events)
    scores[:change] += 2 * positive[:change]
    return scores, positive


def test_a_fallen_auc_is_found_and_told_once():
    watch = Watch()
    watch.add(*stream())
    (change,) = watch.changes
    assert change.what == "AUC"
    assert 10_000 < change.event < 11_000
    assert change.before > 0.9
    assert str(change).startswith("AUC fell from 0.92")


def test_an_auc_that_rises_and_scores_on_another_scale_are_no_change():
    scores, positive = stream()
    watch = Watch()
    watch.add(-scores[::-1].copy(), ~positive[::-1])  # at first without any use
    assert not watch.changes
    scores, positive = stream(change=20_000)
    scores[10_000:] = 100 * scores[10_000:] - 7
    watch = Watch()
    watch.add(scores, positive)
    assert not watch.changes


def test_a_still_stream_has_no_change():
    for seed in range(10):
        watch = Watch()
        watch.add(*stream(50_000, 50_000, 0.02, seed))
        assert not watch.changes


def test_another_share_of_positives_is_found():
    rng = np.random.default_rng(3)
    positive = rng.random(40_000) < np.repeat([0.01, 0.03], 20_000)
    watch = Watch()
    watch.add(rng.normal(size=40_000), positive)
    (change,) = watch.changes
    assert change.what == "positives"
    assert 20_000 < change.event < 24_000
    assert "share of positives rose" in str(change)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_pieces_and_restored_states_find_the_same(size):
    scores, positive = stream(12_000, 6_000)
    whole = Watch()
    whole.add(scores, positive)
    watch = Watch()
    for first in range(0, 12_000, size):
        part = slice(first, first + size)
        watch.add(scores[part], positive[part])
        if size == 1000:
            restored = Watch()
            restored.restore(watch.state())
            watch = restored
    assert watch.changes == whole.changes != []


@pytest.mark.parametrize("at", range(8))
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, 1e300, 0.5])
def test_a_state_that_holds_anything_is_refused_or_works(at, value):
    detector = _core.ChangeDetector(DELTA, 16, 8)
    detector.add_many(np.zeros(1000))
    state = detector.state()
    state[at] = value
    before = detector.state().tobytes()
    try:
        detector.restore(state)
    except ValueError:
        assert detector.state().tobytes() == before
    detector.add_many(np.ones(1000))


def test_a_pass_tells_its_changes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    y = np.where(X[:, 0] * np.repeat([1, -1], 10_000) + rng.normal(size=20_000) > 1.8, 1, -1)
    (change,) = progressive(ACOG(), X, y).changes
    assert change.what == "AUC"
    assert 10_000 < change.event < 11_000
