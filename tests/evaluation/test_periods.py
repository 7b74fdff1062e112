"""Measures of periods: those of their events alone, however the stream is cut into pieces."""

import dataclasses
import json

import numpy as np
import pytest

from lopsided import COG, Recommended, progressive
from lopsided.data.block import Block
from lopsided.evaluation.periods import PeriodLog, Periods
from lopsided.evaluation.stream import StreamRun
from lopsided.metrics import Counts, RunningAUC, auc, average_precision, levels

RNG = np.random.default_rng(5)
ROWS = 1_500
X = RNG.normal(size=(ROWS, 3))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=ROWS) > 1.2, 1, -1)
WEIGHTS = RNG.integers(0, 3, ROWS).astype(float)
# Days with gaps, one event that comes a day late, and a last day of a single event.
DAYS = [*np.sort(RNG.choice([3, 4, 7, 8], ROWS - 1)).tolist(), 9]
DAYS[1_000] = 3
TIMES = np.array(DAYS) * 86_400.0 + RNG.integers(0, 86_400, ROWS)


def stream(size, log, *, blocks=500, resume_after=None, times=TIMES):
    """Return the log of a run over blocks, perhaps resumed from its state on the way."""
    run = StreamRun(COG(), stops=(size,))
    run.periods = log
    parts = [slice(first, first + blocks) for first in range(0, ROWS, blocks)]
    cut = [Block(X[p], Y[p], WEIGHTS[p], np.arange(ROWS)[p] + 1, "made", times[p]) for p in parts]
    for _ in run.over(cut):
        if resume_after is not None and run.rows >= resume_after:
            state, model = run.state(), run.model
            run = StreamRun(model, stops=(size,), state=state)
            list(run.over(cut))
            break
    run.periods.close()
    return run.periods


def spans(size):
    if size == "day":
        latest = np.maximum.accumulate(DAYS)
        return [np.flatnonzero(latest == day) for day in np.unique(latest)]
    return [np.arange(first, min(ROWS, first + size)) for first in range(0, ROWS, size)]


@pytest.mark.parametrize("size", ["day", 700, 40])
def test_each_period_has_the_measures_of_its_events(size):
    whole = progressive(COG(), X, Y, sample_weight=WEIGHTS, time=TIMES)
    found = whole.periods(size, cost=(3, 2))
    expected = spans(size)
    assert [one.rows for one in found] == [len(rows) for rows in expected]
    for one, rows in zip(found, expected, strict=True):
        y, w, s, a = Y[rows], WEIGHTS[rows], whole.scores[rows], whole.alarms[rows]
        assert one.positives == w[y > 0].sum()
        assert one.alarms == w[a].sum()
        assert one.events == np.count_nonzero(w)
        missed, false = w[(y > 0) & ~a].sum(), w[(y < 0) & a].sum()
        assert found.paid(one) == 3 * missed + 2 * false
        assert np.array_equal([one.auc], [auc(y, s, sample_weight=w)], equal_nan=True)
        assert np.array_equal(
            [one.average_precision], [average_precision(y, s, sample_weight=w)], equal_nan=True
        )
    assert sum((Counts.of(one) for one in found), Counts()).false_negatives == whole.false_negatives
    if size == "day":
        names = [one.name for one in found]
        assert names == ["1970-01-04", "1970-01-05", "1970-01-08", "1970-01-09", "1970-01-10"]


@pytest.mark.parametrize("size", ["day", 700, 64])
@pytest.mark.parametrize("blocks", [17, 499, ROWS])
def test_a_run_in_pieces_has_the_periods_of_a_pass(size, blocks):
    whole = progressive(COG(), X, Y, sample_weight=WEIGHTS, time=TIMES, resume=True)
    found = stream(100, PeriodLog(size), blocks=blocks).finished
    found = [dataclasses.replace(one, updates=0) for one in found]  # not known of a pass
    assert repr(found) == repr(list(whole.periods(size)))


@pytest.mark.parametrize("size", ["day", 700, "auto"])
def test_a_resumed_run_has_the_same_periods(size):
    whole = stream(100, PeriodLog(size)).finished
    for after in (100, 900):
        found = stream(100, PeriodLog(size), resume_after=after).finished
        assert repr(found) == repr(whole)


def test_automatic_periods_become_longer_and_stay_exact():
    log = PeriodLog("auto")
    rng = np.random.default_rng(1)
    y, scores = np.where(rng.random(60_000) < 0.1, 1, -1), rng.normal(size=60_000)
    at = 0
    while at < len(y):
        rows = log.room(min(5_000, len(y) - at), None)
        part = slice(at, at + rows)
        counts = Counts.tally(y[part] > 0, scores[part] >= 0)
        log.add(counts, y[part], scores[part], None)
        log.pass_rows(rows)
        at += rows
    log.close()
    found = log.finished
    assert 16 <= len(found) <= 32
    assert len({one.rows for one in found[:-1]}) == 1
    first = 0
    for one in found:
        part = slice(first, first + one.rows)
        assert one.name == f"{first + 1}-{first + one.rows}"
        assert one.auc == auc(y[part], scores[part])
        first += one.rows
    assert first == len(y)


def test_only_the_latest_periods_are_kept():
    log = PeriodLog(2)
    for _ in range(1_100):
        log.room(2, None)
        log.add(Counts(events=2), np.array([1, -1]), np.array([0.5, 0.2]), None)
        log.pass_rows(2)
    assert log.closed == 1_100
    assert len(log.finished) == 1_000
    assert log.finished[-1].name == "2199-2200"
    json.dumps(Periods(log.finished).records())


def test_money_of_periods_is_what_the_pass_paid():
    costs = {"miss": np.abs(X[:, 1]) * 10 + 1, "alarm": 1.0, "hit": 0.5}
    whole = progressive(Recommended(), X, Y, costs=costs)
    found = whole.periods(400)
    assert found.cost is None
    assert np.isclose(sum(one.money for one in found), whole.money, rtol=1e-12)
    order = np.random.default_rng(0).permutation(ROWS)
    turned = progressive(Recommended(), X, Y, costs=costs, order=order)
    assert np.isclose(sum(one.money for one in turned.periods(400)), turned.money, rtol=1e-12)


@pytest.mark.parametrize("size", [0, -3, "week", 1.5, True, None])
def test_other_sizes_are_refused(size):
    with pytest.raises(ValueError, match="is invalid: it must be 'day' or a number of events"):
        progressive(COG(), X, Y).periods(size)


def test_days_need_times():
    with pytest.raises(ValueError, match="time is needed"):
        progressive(COG(), X, Y).periods("day")


def test_levels_of_a_running_auc_are_those_of_its_events():
    rng = np.random.default_rng(2)
    scores = np.round(rng.normal(size=500), 1)
    scores[:5] = [0.0, -0.0, 1e300, -1e300, 5e-324]
    y = np.where(rng.random(500) < 0.3, 1, -1)
    running = RunningAUC()
    running.add_many(y, scores)
    for a, b in zip(running.levels, levels(y, scores), strict=True):
        assert np.array_equal(a, b)


def test_days_are_not_made_of_milliseconds():
    with pytest.raises(ValueError, match="not milliseconds"):
        PeriodLog("day").room(3, np.array([1.7e9, 1.7e9, 1.7e12]))
