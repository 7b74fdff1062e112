"""Events by the short ways: in batches, read once for two calls, and what goes wrong there."""

from __future__ import annotations

import math
from collections import OrderedDict

import numpy as np
import pytest

from lopsided import COG, progressive
from lopsided.estimator.schema import Schema
from lopsided.persist import from_bytes, to_bytes


@pytest.mark.parametrize("parameters", [{}, {"hash_bits": 6}, {"scaling": "none"}])
def test_a_batch_of_events_is_learned_alike_whatever_holds_its_labels(parameters):
    rng = np.random.default_rng(3)
    events = [
        {**{f"n{j}": float(v) for j, v in enumerate(rng.normal(size=4))}, f"new{k // 7}": 1.0}
        for k in range(60)
    ]
    events[20]["kind"], events[33]["kind"] = "x", 2
    y = [int(v) for v in rng.random(60) < 0.3]
    listed, arrays = (COG(**parameters).learn_one(events[0], 1) for _ in range(2))
    for model in (listed, arrays):
        model.schema_ = Schema(unknown="learn")  # texts and numbers under one name
        model.learn_one(events[0], 0)
    for k in range(0, 60, 20):
        listed.partial_fit(events[k : k + 20], y[k : k + 20])
        arrays.partial_fit(events[k : k + 20], np.array(y[k : k + 20]))
    assert to_bytes(listed) == to_bytes(arrays)


def test_lists_of_numbers_are_learned_as_arrays_are():
    X, y = np.random.default_rng(1).normal(size=(30, 3)), [0, 1, 1] * 10
    listed, arrays = (COG().partial_fit(X[:9], y[:9]) for _ in range(2))
    listed.partial_fit(X[9:].tolist(), y[9:])
    arrays.partial_fit(X[9:], np.array(y[9:]))
    assert to_bytes(listed) == to_bytes(arrays)


@pytest.mark.parametrize(
    ("events", "labels", "fault"),
    [
        ([{"a": 1.0}, {"a": 2.0}], [0], "labels"),
        ([{"a": 1.0}, {"b": 2.0}], [0, 2], "2"),
        ([{"a": 1.0}, 5], [0, 1], "row 1 is not a dict"),
        ([{"a": 1.0}, {"b": float("nan")}], [0, 1], "row 1: feature 'b' is NaN"),
        ([{"a": 1.0}, {"b": None}], [0, 1], "row 1: feature 'b' is None"),
        ([{"a": 1.0}, {"b": 1e200}], [0, 1], "row 1"),
    ],
)
def test_a_bad_batch_of_events_leaves_the_model_as_it_was(events, labels, fault):
    model = COG().learn_one({"a": 1.0}, 1).learn_one({"a": -1.0}, 0)
    before = to_bytes(model)
    with pytest.raises((TypeError, ValueError), match=fault):
        model.partial_fit(events, labels)
    assert to_bytes(model) == before


class Odd:
    """A number that changes its mind."""

    value = 0.0

    def __float__(self):
        self.value += 1
        return self.value


@pytest.mark.parametrize("parameters", [{}, {"hash_bits": 6}, {"scaling": "none"}])
def test_an_event_that_changes_after_its_score_is_learned_as_it_is(parameters):
    def changes(event):
        yield
        event["a"] = 5.0
        yield
        del event["b"]
        yield
        event["new"] = "text"
        yield
        event.clear()
        yield
        event.update(a=2, c=True, odd=Odd())

    both, alone = (COG(**parameters).learn_one({"a": 1.0, "b": -1.0}, 1) for _ in range(2))
    scored, learned = {"a": 1.0, "b": 0.5}, {"a": 1.0, "b": 0.5}
    for _, _ in zip(changes(scored), changes(learned), strict=True):
        for label in (0, 1):
            score = both.score_one(scored)
            assert both.score_one(dict(scored)) == score or "odd" in scored
            both.learn_one(scored, label)
            if "odd" in learned:
                learned["odd"].value += 2
            alone.learn_one(dict(learned), label)
    assert to_bytes(both) == to_bytes(alone)


@pytest.mark.parametrize("bits", [None, 6])
def test_a_value_that_changes_its_mind_is_read_again(bits):
    both, alone = (COG(hash_bits=bits).learn_one({"a": 1.0}, 1) for _ in range(2))
    event = {"a": 1.0, "odd": Odd()}
    assert both.score_one(event) == alone.score_one({"a": 1.0, "odd": 1.0})
    assert both.step_one(event, 0) == alone.step_one({"a": 1.0, "odd": 2.0}, 0)
    assert to_bytes(both) == to_bytes(alone)


def test_an_event_is_read_again_when_others_have_brought_names():
    model = COG().learn_one({"a": 1.0}, 1)
    event = {"new": 1.0}
    before = model.score_one(event)
    model.partial_fit([{"a": 1.0}, {"other": 1.0}], [0, 1])
    assert model.score_one(event) == model.score_one({"new": 1.0}) == before
    assert model.score_one({"other": 1.0}) != before


@pytest.mark.parametrize("bits", [None, 6])
def test_dicts_of_other_kinds_are_read_again(bits):
    model = COG(hash_bits=bits).learn_one({"a": 1.0, "b": -1.0}, 1)
    event = OrderedDict(a=1.0)
    model.score_one(event)
    event["b"] = 3.0
    assert model.score_one(event) == model.score_one({"a": 1.0, "b": 3.0})


@pytest.mark.parametrize("bits", [None, 6])
def test_an_event_is_read_again_after_one_that_was_refused(bits):
    model = COG(hash_bits=bits).learn_one({"a": 1.0, "b": -1.0}, 1)
    event = {"a": 1.0, "b": 0.5}
    score = model.score_one(event)
    with pytest.raises(ValueError, match="NaN"):
        model.score_one({"b": 2.0, "a": math.nan})
    assert model.score_one(event) == score


class Cutting:
    """A number or a label that takes the last entry off a list when it is looked at."""

    def __init__(self, victim):
        self.victim = victim

    def __float__(self):
        return float(len(self.victim.pop()))

    def __hash__(self):
        if len(self.victim) > 1:
            self.victim.pop()
        return 1

    def __eq__(self, other):
        return other == 1


@pytest.mark.parametrize("of", ["events", "labels"])
def test_a_batch_of_events_that_changes_while_it_is_read_does_no_harm(of):
    model = COG().learn_one({"a": 1.0}, 1).learn_one({"a": -1.0}, 0)
    before = to_bytes(model)
    events, labels = [{"a": 1.0} for _ in range(3)], [1, 0, 1]
    if of == "events":
        events[0]["a"] = Cutting(events)
    else:
        labels[0] = Cutting(labels)
    with pytest.raises((TypeError, ValueError)):
        model.partial_fit(events, labels)
    assert to_bytes(model) == before


def test_labels_that_cannot_be_looked_up_are_refused():
    model = COG().learn_one({"a": 1.0}, 1).learn_one({"a": -1.0}, 0)
    with pytest.raises(ValueError, match="label"):
        model.partial_fit([{"a": 1.0}, {"a": 1.0}], [1, {}])


def test_events_of_weight_0_and_events_not_visited_bring_no_names():
    events, y = [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}], [1, 0, 0]
    model = COG().partial_fit(events, y, sample_weight=[1, 0, 1])
    assert model.feature_names_in_.tolist() == ["a", "c"]
    progressive(model, events, y, order=[2, 0], resume=True)
    assert model.feature_names_in_.tolist() == ["a", "c"]


@pytest.mark.parametrize("scaling", ["none", "unit", "standard", "standard+unit"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", ["array", "named", "hashed"])
@pytest.mark.parametrize("method", ["learn_one", "step_one"])
def test_an_event_whose_score_overflows_leaves_the_model_as_it_was(
    scaling, intercept, form, method
):
    bits = 8 if form == "hashed" else None
    model = COG(learning_rate=1e308, scaling=scaling, hash_bits=bits, intercept=intercept)
    rows = np.random.default_rng(0).normal(size=(40, 12)) + 1
    named = [{f"n{j}": v for j, v in enumerate(row)} for row in rows.tolist()]
    stream = list(rows) if form == "array" else named
    model.learn_one(stream[0], 0)
    with pytest.raises(ValueError, match="not finite"):  # noqa: PT012
        for k, x in enumerate(stream):
            before = to_bytes(model)
            getattr(model, method)(x, k % 2)
    assert to_bytes(model) == before


def test_a_step_of_weight_zero_is_a_score():
    model = COG(scaling="none")
    with pytest.raises(ValueError, match="has not learned"):
        model.step_one({"a": 1.0}, 1, 0.0)
    model.learn_one({"a": 1.0}, 1)
    before = to_bytes(model)
    assert model.step_one({"a": 2.0, "b": 1.0}, 0, 0) == model.score_one({"a": 2.0})
    assert to_bytes(model) == before


@pytest.mark.parametrize("bits", [None, 3, 18])
def test_how_names_came_before_does_not_matter(bits):
    """Names at their usual places are read by a short way: any mixture gives the same rows."""
    rng = np.random.default_rng(2)
    names = [f"n{j}" for j in range(12)]
    values = [1.5, -1.0, 2, -1, True, False, np.float64(0.5), np.float32(0.25), 2**53, "red", "n1"]
    model = COG(scaling="none", hash_bits=bits, learning_rate=0.5)
    model.schema_ = Schema(unknown="learn")  # texts and numbers under one name
    usual = dict.fromkeys(names, 1.0)
    model.learn_one(usual, 1)
    for k in range(300):
        event = {n: values[rng.integers(len(values))] for n in names[: rng.integers(1, 13)]}
        if rng.random() < 0.3:
            event = dict(sorted(event.items(), key=lambda pair: rng.random()))
        fresh = from_bytes(to_bytes(model))  # has met no event, so it knows no place
        copies = {"".join(list(n)): v for n, v in event.items()}  # other objects of the same text
        want = fresh.score_one(copies)
        assert model.score_one(event) == want
        assert model.step_one(event, k % 2) == fresh.step_one(copies, k % 2)
        model.score_one(usual)
    assert to_bytes(model) == to_bytes(fresh)


@pytest.mark.parametrize("bits", [None, 18])
@pytest.mark.parametrize("bad", [math.nan, math.inf, 10**400, None, "\ud800", [1.0]])
def test_a_bad_value_at_a_usual_place_is_refused(bits, bad):
    model = COG(hash_bits=bits)
    usual = {f"n{j}": float(j) for j in range(9)}
    for _ in range(3):
        model.step_one(usual, 1)
    before = to_bytes(model)
    event = {**usual, "n5": bad}
    if bad != "\ud800" or bits:
        with pytest.raises((ValueError, TypeError), match=r"n5|\\ud800"):
            model.step_one(event, 0)
        with pytest.raises((ValueError, TypeError), match=r"n5|\\ud800"):
            model.score_one(event)
    assert to_bytes(model) == before
    assert model.step_one(usual, 1) == from_bytes(before).step_one(usual, 1)
