"""Labels nobody asked for, models that begin to ask, and budgets that change hands."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import lopsided
from lopsided import Active
from lopsided.persist import to_bytes

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
Y = np.where(X[:, 0] > 1, "bad", "good")
EVENTS = [{"a": float(a), "b": float(b), "c": float(c)} for a, b, c in X]


@pytest.mark.parametrize("learner", ["COG-II", "AROW-diag", "PA-I", "Recommended", "CS-SSOL"])
@pytest.mark.parametrize("scaling", ["none", "standard+unit"])
def test_free_labels_teach_what_told_ones_do(learner, scaling):
    """Told at once, a row is the same as it was: so are the steps."""
    exact = scaling == "none" and learner != "Recommended"
    free = Active(lopsided.make(learner, scaling=scaling, positive="bad"), budget=0)
    told = Active(lopsided.make(learner, scaling=scaling, positive="bad"), query="always")
    for x, y in zip(EVENTS, Y, strict=True):
        free.ask(x)
        told.tell(told.ask(x).id, y)
        free.teach(x, y)
        if exact:
            assert free.score_one(EVENTS[0]) == told.score_one(EVENTS[0])
    assert free.queries_ == 0
    assert free.fitted.core.rounds == told.fitted.core.rounds == 120
    if not exact:  # scaled as if it came once more
        scores = np.array([[m.score_one(x) for x in EVENTS] for m in (free, told)])
        assert np.corrcoef(scores)[0, 1] > 0.99
        state = free.fitted.core.state()
        assert all(state[k] == 120 for k in ("scaling.rows", "rows") if k in state)


@pytest.mark.parametrize("learner", ["COG-II", "AROW-diag", "PA-I", "CS-SSOL"])
def test_labels_that_another_model_bought_count_for_probabilities(learner):
    make = partial(lopsided.make, learner, positive="bad", scaling="none")
    asker = Active(make(), query="random", probability=0.5)
    taught, unsure = (Active(make(), budget=0) for _ in range(2))
    for x, y in zip(EVENTS, Y, strict=True):
        found = asker.ask(x)
        taught.ask(x)
        unsure.ask(x)
        if found.asked:
            asker.tell(found.id, y)
            taught.teach(x, y, probability=found.probability)
            unsure.teach(x, y)
    scores = np.linspace(-2, 2, 9)
    np.testing.assert_array_equal(taught.probabilities(scores), asker.probabilities(scores))
    with pytest.raises(ValueError, match="label"):
        unsure.probabilities(scores)
    before = to_bytes(taught)
    for chance in (0, 1.5, -1, "x", np.nan):
        with pytest.raises(ValueError, match="probability"):
            taught.teach(EVENTS[0], "bad", probability=chance)
    assert to_bytes(taught) == before


def test_a_free_label_changes_neither_budget_nor_estimate():
    model = Active(lopsided.make("COG-II", positive="bad"), budget=5, query="always")
    for x in EVENTS[:10]:
        model.ask(x)
    before = dict(model._asking())
    model.teach(EVENTS[3], "good").teach(np.array([1.0, 2.0, 3.0]), "bad", 2.0)
    assert model._asking() == before
    assert model.pending_ == [0, 1, 2, 3, 4]


def test_a_bad_free_label_changes_nothing():
    model = Active("COG-II", budget=5)
    with pytest.raises(ValueError, match="ask"):
        model.teach(EVENTS[0], 1)
    model.ask(EVENTS[0])
    model.teach(EVENTS[0], 1).teach(EVENTS[1], 0)
    before = to_bytes(model)
    for x, y, weight in (({"a": np.nan}, 1, 1), (EVENTS[0], 7, 1), (EVENTS[0], 1, -1)):
        with pytest.raises(ValueError, match=r"NaN|7|weight"):
            model.teach(x, y, weight)
    assert to_bytes(model) == before
    model.teach(EVENTS[0], 1, 0)
    assert to_bytes(model) == before


@pytest.mark.parametrize("learner", ["Recommended", "ACOG-II", "CS-FSOL", "KOIL-RS++"])
def test_a_model_that_has_learned_begins_to_ask(learner):
    plain = lopsided.make(learner, positive="bad")
    for x, y in zip(EVENTS, Y, strict=True):
        plain.learn_one(x, y)
    before = to_bytes(plain)
    model = Active.around(plain, budget=3, query="always")
    assert [model.score_one(x) for x in EVENTS] == [plain.score_one(x) for x in EVENTS]
    assert [model.ask(x).asked for x in EVENTS[:5]] == [True] * 3 + [False] * 2
    model.tell(0, "bad")
    assert to_bytes(plain) == before
    empty = Active.around(lopsided.make(learner), budget=1)
    assert empty.ask(EVENTS[0]).id == 0


def test_a_budget_changes_hands():
    first = Active("COG-II", budget="5/50", query="always")
    for x in EVENTS[:30]:
        first.ask(x)
    second = Active("PA-I", budget="5/50", query="always").take_budget(first)
    assert (second.queries_, second.events_, second.budget_left_) == (5, 30, 0)
    answers = [second.ask(x) for x in EVENTS[30:70]]
    assert [a.id for a in answers] == list(range(30, 70))
    assert [a.id for a in answers if a.asked] == [50, 51, 52, 53, 54]
    third = Active("PA-I", budget=7).take_budget(Active("COG-II", budget=9))
    assert (third.queries_, third.events_) == (0, 0)
