"""Decisions before labels of the positive class are known: by prices and what is known."""

import numpy as np
import pytest

import lopsided
from lopsided import Active

rng = np.random.default_rng(2)
X = rng.normal(size=(120, 3))
NAMES = ("Recommended", "COG-II", "AROW", "KOIL-FIFO++", "PA-I")


def decided(model, y, **options):
    return lopsided.progressive(model, X, y, resume=True, **options).alarms


def cheapest(costs):
    """Return whether an alarm costs no more than none, if one event in 100 is positive."""
    p = 1 / 100
    alarm = p * costs.get("hit", 0) + (1 - p) * costs["alarm"]
    return alarm <= p * costs["miss"] + (1 - p) * costs.get("pass", 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "costs",
    [
        {"miss": 60, "alarm": 3},
        {"miss": 500, "alarm": 1},
        {"miss": 98.5, "alarm": 1},
        {"miss": 99.5, "alarm": 1},
        {"miss": 99.5, "alarm": 1, "hit": 0.9},
        {"miss": 400, "alarm": 5, "pass": 1.5},
    ],
)
def test_with_no_knowledge_the_cheaper_constant_is_chosen(name, costs):
    model = lopsided.make(name, positive=1, costs=costs)
    y = np.arange(len(X)) % 2
    np.testing.assert_array_equal(decided(model, y, delay=np.inf), cheapest(costs))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("miss", [30.5, 110.5])
def test_negative_labels_make_positives_rarer(name, miss):
    model = lopsided.make(name, positive=1, costs={"miss": miss, "alarm": 1})
    alarms = decided(model, np.zeros(len(X), int), delay=10)
    known = np.maximum(np.arange(len(X)) - 10, 0)
    np.testing.assert_array_equal(alarms, np.where(known == 0, 99, known + 1) <= miss)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("miss", [1.5, 30.5])
def test_where_labels_are_at_hand_the_first_events_are_worth_an_alarm(name, miss):
    model = lopsided.make(name, positive=1, costs={"miss": miss, "alarm": 1})
    alarms = decided(model, np.zeros(len(X), int))
    np.testing.assert_array_equal(alarms, np.arange(len(X)) + 1 <= miss)


@pytest.mark.parametrize("name", NAMES)
def test_each_event_is_decided_at_its_own_price(name):
    amount = np.linspace(1, 1000, len(X))
    model = lopsided.make(name, positive=1)
    y = np.arange(len(X)) % 2
    alarms = decided(model, y, delay=np.inf, costs={"miss": amount, "alarm": 3})
    np.testing.assert_array_equal(alarms, amount >= 3 * 99)


def test_recommended_raises_no_alarm_while_it_knows_nothing():
    y = (X[:, 0] > 1).astype(int)
    late = decided(lopsided.Recommended(positive=1), y, delay=40)
    assert not late[:41].any()
    assert late[41:].any()
    for weight, share in (({1: 50, 0: 1}, 0), ({1: 100, 0: 1}, 1)):
        model = lopsided.Recommended(positive=1, class_weight=weight)
        assert decided(model, y, delay=np.inf).mean() == share
    for weight, share in ((0.4, 0), (0.5, 0), (0.6, 1)):
        model = lopsided.Recommended(positive=1, sensitivity_weight=weight)
        assert decided(model, y, delay=np.inf).mean() == share


@pytest.mark.parametrize("name", ["COG-II", "AROW", "PA-I"])
def test_without_prices_a_score_of_zero_is_positive_as_in_the_papers(name):
    y = np.arange(len(X)) % 2
    assert decided(lopsided.make(name, positive=1), y, delay=np.inf).all()


@pytest.mark.parametrize("name", ["Recommended", "COG-II"])
def test_ask_decides_alike_and_the_first_positive_label_ends_it(name):
    costs = {"miss": 60, "alarm": 3}
    model = Active(lopsided.make(name, positive=1, costs=costs), query="always")
    assert [model.ask(x).predicted for x in X[:5]] == [None] * 5
    model.tell(0, 0)
    assert [model.ask(x).predicted for x in X[5:8]] == [1] * 3  # one in three may be positive
    assert (model.predict(X) == 1).all()
    for event in range(2, 8):
        model.tell(event, 0)
    for x in X[8:24]:
        model.tell(model.ask(x).id, 0)
    assert model.ask(X[24]).predicted == 0  # one in 25
    assert (model.predict(X) == 0).all()
    model.tell(1, 1)
    margins = model.decision_function(X)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(margins, np.log(p / (1 - p)) - np.log(3 / 60), atol=1e-9)
