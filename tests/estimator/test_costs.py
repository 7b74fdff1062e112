"""Decisions by price: the lowest expected cost, whatever the scores were learned for."""

from __future__ import annotations

import numpy as np
import pytest
from every_learner import NAMES, asks
from streams import csr, stream

import lopsided
from lopsided.errors import BadRowError, InputError, ParameterError
from lopsided.persist import to_bytes

X, Y = stream(seed=8, rows=1500, d=5)
SIGNS = np.where(Y > 0, 1, -1)
COSTS = {"miss": 20.0, "alarm": 3.0, "hit": -1.0, "pass": 0.5}


def log_odds(model, rows):
    p = model.predict_proba(rows)[:, 1]
    return np.log(p / (1 - p))


def money(y, alarms, costs):
    miss, alarm, hit, let_pass = (
        np.broadcast_to(costs.get(name, 0.0), len(y)) for name in ("miss", "alarm", "hit", "pass")
    )
    return np.where(y > 0, np.where(alarms, hit, miss), np.where(alarms, alarm, let_pass)).sum()


@pytest.mark.parametrize("name", NAMES)
def test_costs_decide_and_change_neither_scores_nor_what_is_learned(name):
    name, _, dtype = name.partition(" ")
    params = {"covariance_dtype": dtype} if dtype else {}
    plain, priced = lopsided.make(name, **params), lopsided.make(name, **params)
    priced.set_params(costs={"miss": 20, "alarm": 3})
    small, labels = X[:300], Y[:300]
    want = lopsided.progressive(plain, small, labels)
    found = lopsided.progressive(priced, small, labels)
    assert found.scores.tobytes() == want.scores.tobytes()
    priced.set_params(costs=None)
    if not asks(name):  # which estimate how good the decisions were
        assert to_bytes(priced) == to_bytes(plain)
    priced.set_params(costs={"miss": 20, "alarm": 3})
    margins = priced.decision_function(small)
    np.testing.assert_allclose(margins, log_odds(plain, small) - np.log(3 / 20), atol=1e-9)
    assert (priced.predict(small) == priced.classes_[(margins >= 0).astype(int)]).all()
    assert priced.predict_one(small[0]) == priced.predict(small[:1])[0]


def test_money_is_what_the_decisions_cost():
    result = lopsided.progressive(lopsided.COG(costs=COSTS), X, Y, points=3)
    assert result.money == pytest.approx(money(SIGNS, result.alarms, COSTS))
    assert result.false_negatives == np.sum((SIGNS > 0) & ~result.alarms)
    assert result.false_positives == np.sum((SIGNS < 0) & result.alarms)
    assert result.curve[-1].money == result.money
    assert (result.alarms != (result.scores >= 0)).any()


def test_decisions_of_a_pass_do_not_depend_on_how_it_is_cut():
    whole = lopsided.progressive(lopsided.COG(costs=COSTS), X, Y, resume=True)
    model, parts = lopsided.COG(costs=COSTS), []
    for first in range(0, len(X), 37):
        part = slice(first, first + 37)
        parts.append(lopsided.progressive(model, X[part], Y[part], resume=True))
        model.predict_proba(X[:3])
        model = lopsided.persist.from_bytes(to_bytes(model))
    np.testing.assert_array_equal(np.concatenate([p.alarms for p in parts]), whole.alarms)


def test_a_pass_decides_as_predict_one_would():
    result = lopsided.progressive(lopsided.COG(costs=COSTS), X[:400], Y[:400], resume=True)
    model = lopsided.COG(costs=COSTS).partial_fit(X[:1], Y[:1], classes=np.unique(Y))
    for x, y, alarm in zip(X[1:400], Y[1:400], result.alarms[1:], strict=True):
        assert (model.predict_one(x) == 1) == alarm
        model.learn_one(x, y)


def test_costs_lie_below_those_of_the_best_constant_answer():
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(20_000, 4))
    y = (rng.uniform(size=len(rows)) < 1 / (1 + np.exp(4 - rows @ [1, 1, 1, 0]))).astype(int)
    for ratio in (1, 10, 100):
        for name in ("COG-II", "PA-I", "AROW-diag"):
            costs = {"miss": float(ratio), "alarm": 1.0}
            result = lopsided.progressive(lopsided.make(name, intercept=True, costs=costs), rows, y)
            constant = min(ratio * y.sum(), (1 - y).sum())
            assert result.money < 1.02 * constant, (name, ratio)


AMOUNTS = np.random.default_rng(4).lognormal(2, 1, len(X))
ROWS = np.column_stack([X, AMOUNTS])
NAMED = [f"f{j}" for j in range(X.shape[1])] + ["amount"]


def frame(rows):
    import pandas as pd

    return pd.DataFrame(rows, columns=NAMED)


def dicts(rows):
    return [dict(zip(NAMED, row, strict=True)) for row in rows.tolist()]


@pytest.mark.parametrize("form", [frame, dicts])
@pytest.mark.parametrize("miss", ["amount", lambda event: 1.0 * event["amount"]])
def test_prices_of_each_event_by_name_or_function(form, miss):
    rows = form(ROWS)
    by_event = lopsided.progressive(lopsided.COG(costs={"miss": miss, "alarm": 3}), rows, Y)
    given = {"miss": AMOUNTS, "alarm": 3}
    by_array = lopsided.progressive(lopsided.COG(), rows, Y, costs=given)
    np.testing.assert_array_equal(by_event.alarms, by_array.alarms)
    assert by_event.money == by_array.money == pytest.approx(money(SIGNS, by_event.alarms, given))
    assert by_event.scores.tobytes() == by_array.scores.tobytes()


def test_rows_without_names_have_prices_by_function_or_array():
    for rows in (ROWS, csr(ROWS)):
        model = lopsided.COG(costs={"miss": lambda row: row[-1], "alarm": 3}).fit(rows, Y)
        want = model.predict(rows)
        model.set_params(costs=None)
        found = model.predict(rows, costs={"miss": AMOUNTS, "alarm": 3})
        np.testing.assert_array_equal(found, want)
        assert len(set(found)) == 2
    model.set_params(costs={"miss": "amount", "alarm": 3})
    with pytest.raises(InputError, match="have no names"):
        model.predict(ROWS)


def test_prices_may_change_on_a_trained_model():
    model = lopsided.COG(class_weight=None, intercept=True).fit(X, Y)
    alarms = []
    for miss in (0.01, 1, 20, 10_000):
        model.costs = {"miss": miss, "alarm": 1}
        alarms.append(int((model.predict(X) == 1).sum()))
    assert alarms == sorted(alarms)
    assert alarms[0] < alarms[-1]
    assert model.fitted.current


def test_what_is_worth_nothing_raises_no_alarm():
    model = lopsided.COG().fit(X, Y)
    free = np.zeros(len(X))
    assert (model.predict(X, costs={"miss": free, "alarm": 3}) != 1).all()
    assert (model.predict(X, costs={"miss": free + 1, "alarm": free}) == 1).all()


def test_ask_decides_by_price_and_estimates_its_decisions():
    model = lopsided.Active(lopsided.COG(costs={"miss": 50, "alarm": 1}), query="always")
    many = lopsided.Active(lopsided.COG(costs={"miss": 50, "alarm": 1}), query="always")
    flagged = wrong = 0
    for x, y in zip(X[:200], Y[:200], strict=True):
        decision = model.ask(x)
        flagged += decision.predicted == 1
        wrong += y != 1 and decision.predicted == 1
        model.tell(decision.id, y)
        (same,) = many.ask_many(x[None])
        many.tell(same.id, y)
        assert same == decision
    assert flagged > 20
    assert model.fitted.core.asking()["estimate.false_positives"] == wrong


@pytest.mark.parametrize(
    ("costs", "what"),
    [
        (3, "must be a dict"),
        ({"miss": 3}, "says nothing of 'alarm'"),
        ({"miss": 3, "alarm": 1, "hits": 1}, "did you mean 'hit'"),
        ({"miss": 3, "alarm": None}, "must be a number"),
        ({"miss": 3, "alarm": float("nan")}, "must be a number"),
        ({"miss": 1, "alarm": 1, "hit": 2}, "higher for 'miss' than for 'hit'"),
        ({"miss": 1, "alarm": 0}, "higher for 'alarm' than for 'pass'"),
    ],
)
def test_costs_that_cannot_be(costs, what):
    with pytest.raises(ParameterError, match=what):
        lopsided.COG(costs=costs).fit(X, Y)


def test_prices_that_cannot_be():
    model = lopsided.COG().fit(ROWS, Y)
    with pytest.raises(InputError, match="one 'miss' for each"):
        model.predict(ROWS, costs={"miss": AMOUNTS[:-1], "alarm": 3})
    with pytest.raises(BadRowError, match="row 0"):
        model.predict(ROWS, costs={"miss": np.full(len(X), np.inf), "alarm": 3})
    with pytest.raises(BadRowError, match="not a number"):
        model.predict(ROWS, costs={"miss": lambda row: "much", "alarm": 3})
