"""At most so many alarms in a period: of the highest gain, spread over it, never too many."""

from __future__ import annotations

import numpy as np
import pytest

import lopsided
from lopsided.errors import InputError, ParameterError
from lopsided.persist import from_bytes, to_bytes

RNG = np.random.default_rng(0)
N = 12_000
X = RNG.normal(size=(N, 3))
Y = (RNG.uniform(size=N) < 1 / (1 + np.exp(3 - X @ [1.5, 1.0, 0]))).astype(int)
COSTS = {"miss": 20, "alarm": 1}
TIMES = np.datetime64("2026-03-01T00:00:00") + (np.arange(N) * 86.4).astype("timedelta64[s]")


def model(**params):
    return lopsided.COG(intercept=True, **params)


def per_period(alarms, size):
    return alarms.reshape(-1, size).sum(axis=1)


@pytest.mark.parametrize("costs", [None, COSTS])
def test_never_more_than_the_capacity_and_nearly_all_of_it(costs):
    free = lopsided.progressive(model(costs=costs), X, Y)
    assert (per_period(free.alarms, 1000) > 40).all()
    result = lopsided.progressive(model(costs=costs, capacity="20/1000"), X, Y)
    spent = per_period(result.alarms, 1000)
    assert (spent <= 20).all()
    assert (spent[1:] >= 14).all()
    assert not (result.alarms & ~free.alarms).any()
    assert result.scores.tobytes() == free.scores.tobytes()


def test_alarms_are_spread_over_the_period():
    result = lopsided.progressive(model(costs=COSTS, capacity="20/1000"), X, Y)
    quarters = result.alarms.reshape(-1, 4, 250).sum(axis=2)
    assert (quarters[:, 0] <= 8).all()
    assert (quarters[2:].sum(axis=0) >= 0.12 * quarters[2:].sum()).all()


def test_the_capacity_is_spent_on_the_highest_gains():
    free = lopsided.progressive(model(costs=COSTS), X, Y)
    result = lopsided.progressive(model(costs=COSTS, capacity="20/1000"), X, Y)
    first = np.zeros(N, bool)
    for period in range(0, N, 1000):
        first[period + np.flatnonzero(free.alarms[period : period + 1000])[:20]] = True
    late = slice(3000, None)
    chosen = Y[late][result.alarms[late]].mean()
    assert chosen > Y[late][first[late]].mean() + 0.2
    assert (
        result.money < lopsided.progressive(model(costs={"miss": 20, "alarm": 20}), X, Y).money + N
    )


def test_expected_gain_counts_not_the_odds_alone():
    amounts = RNG.lognormal(3, 1.5, N)
    costs = {"miss": amounts, "alarm": 1}
    result = lopsided.progressive(model(capacity="10/1000"), X, Y, costs=costs)
    free = lopsided.progressive(model(), X, Y, costs=costs)
    late = slice(3000, None)
    assert amounts[late][result.alarms[late]].mean() > 2 * amounts[late][free.alarms[late]].mean()


def test_days():
    result = lopsided.progressive(model(costs=COSTS, capacity="30/day"), X, Y, time=TIMES)
    spent = per_period(result.alarms, 1000)
    assert (spent <= 30).all()
    assert (spent[1:] >= 20).all()
    assert (per_period(result.alarms[:1000], 250) <= 14).all()  # the first day goes by the clock
    with pytest.raises(InputError, match="needs the times"):
        lopsided.progressive(model(capacity="30/day"), X, Y)


def test_any_cut_gives_the_same_decisions():
    params = {"costs": COSTS, "capacity": "20/1000"}
    whole = lopsided.progressive(model(**params), X[:4000], Y[:4000], resume=True)
    one, parts = model(**params), []
    for first in range(0, 4000, 333):
        part = slice(first, min(first + 333, 4000))
        parts.append(lopsided.progressive(one, X[part], Y[part], resume=True).alarms)
        one = from_bytes(to_bytes(one))
    np.testing.assert_array_equal(np.concatenate(parts), whole.alarms)


def test_ask_keeps_to_it_too():
    asker = lopsided.Active(model(costs=COSTS, capacity="5/200"), query="always", max_pending=10)
    asker.partial_fit(X[:1000], Y[:1000])
    flagged = np.array([asker.ask(x).predicted == 1 for x in X[1000:2000]])
    many = lopsided.Active(model(costs=COSTS, capacity="5/200"), query="always", max_pending=10)
    many.partial_fit(X[:1000], Y[:1000])
    np.testing.assert_array_equal(many.ask_many(X[1000:2000]).predicted == 1, flagged)
    assert (per_period(flagged, 200) <= 5).all()
    assert flagged.sum() >= 10


def test_it_may_change_on_a_trained_model():
    one = model(costs=COSTS).partial_fit(X[:1000], Y[:1000])
    one.set_params(capacity="3/500")
    result = lopsided.progressive(one, X[1000:4000], Y[1000:4000], resume=True)
    assert (per_period(result.alarms, 500) <= 3).all()
    one.set_params(capacity=None)
    result = lopsided.progressive(one, X[1000:2000], Y[1000:2000], resume=True)
    assert result.alarms.sum() > 20


@pytest.mark.parametrize("capacity", ["50", "0/day", "1/0", "a/day", 50, "5/week"])
def test_what_is_no_capacity(capacity):
    with pytest.raises(ParameterError, match="50/day"):
        model(capacity=capacity).fit(X[:10], Y[:10])


def test_paced_labels_by_events():
    for pace in (False, True):
        asker = lopsided.Active(model(), query="always", budget="20/1000", pace=pace)
        asked = lopsided.progressive(asker, X[:3000], Y[:3000]).asked.reshape(3, 1000)
        assert (asked.sum(axis=1) == 20).all()
        quarters = asked.reshape(3, 4, 250).sum(axis=2)
        assert (quarters == (5 if pace else [20, 0, 0, 0])).all()


def test_paced_labels_by_the_time_of_day():
    for saving in (False, True):
        budget = lopsided.Budget(labels=24, per="day", saving=saving)
        asker = lopsided.Active(model(), query="margin", budget=budget, pace=True, delta=10.0)
        asked = lopsided.progressive(asker, X[:3000], Y[:3000], time=TIMES[:3000]).asked
        assert np.cumsum(asked.reshape(3, 1000).sum(axis=1)).tolist() == [24, 48, 72]
        assert (per_period(asked, 250) >= 5).all()
        assert (per_period(asked, 250) <= 7).all()


def test_a_paced_budget_is_saved_with_its_place_in_the_period():
    parts = lopsided.Active(model(), query="always", budget="20/1000", pace=True)
    whole = lopsided.Active(model(), query="always", budget="20/1000", pace=True)
    lopsided.progressive(whole, X[:1500], Y[:1500], resume=True)
    for first in range(0, 1500, 70):
        parts.partial_fit(X[first : min(first + 70, 1500)], Y[first : min(first + 70, 1500)])
        parts = from_bytes(to_bytes(parts))
    assert to_bytes(parts) == to_bytes(whole)


def test_pace_needs_periods():
    with pytest.raises(ParameterError, match="with a period"):
        lopsided.Active(model(), budget=100, pace=True).fit(X, Y)


def test_alarms_of_one_gain_are_spread_over_the_period():
    x = (RNG.uniform(size=(N, 1)) < 0.3).astype(float)  # two gains only
    y = ((x[:, 0] > 0) & (RNG.uniform(size=N) < 0.5)).astype(int)
    result = lopsided.progressive(model(costs=COSTS, capacity="20/1000"), x, y)
    quarters = result.alarms.reshape(-1, 4, 250).sum(axis=2)[2:]
    assert (quarters.sum(axis=1) >= 18).all()
    assert (quarters >= 3).all()
    assert (quarters <= 7).all()
