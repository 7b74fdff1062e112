"""Asking for labels that come later, and telling them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from active_learners import BUDGETS, ROWS, SECONDS, TOLERANCE, X, Y, active, time_for, weights_of
from streams import csr, events

import lopsided
from lopsided import COG, Active, Budget, PassiveAggressive, progressive
from lopsided.persist import from_bytes, to_bytes


def ask_and_tell(model, rows, labels, delays, restart=True):
    """The stream as it really runs, with a restart after every step."""
    coming, decisions = [], []
    for t, x in enumerate(rows):
        decisions.append(model.ask(x))
        if decisions[-1].asked:
            coming.append((t + delays[t], t))
        if restart:
            model = from_bytes(to_bytes(model))
        coming.sort()
        while coming and coming[0][0] <= t:
            _, event = coming.pop(0)
            model.tell(event, labels[event])
            if restart:
                model = from_bytes(to_bytes(model))
    return model, decisions


@pytest.mark.parametrize("form", ["rows", "dicts"])
@pytest.mark.parametrize("name", ["PAA", "OA3", "SSOA3", "Recommended", "CS-SSOL", "aROMMA"])
def test_asking_and_telling_is_the_delayed_pass(name, form):
    rows = X[:120] if form == "rows" else events(X[:120])
    delays = np.random.default_rng(0).integers(0, 30, size=120)

    def make():
        if name in ("PAA", "OA3", "SSOA3"):
            return lopsided.make(name, budget="30/50", delta=0.5, delta_pos=None, delta_neg=None)
        return Active(name, budget="30/50", delta=0.2)

    whole = make()
    if form == "rows":
        got = progressive(whole, rows, Y[:120], delay=delays, resume=True)
    else:
        got = progressive(whole, list(rows), Y[:120], delay=delays, resume=True)
    model, decisions = ask_and_tell(make(), rows, Y[:120], delays)
    assert [d.id for d in decisions] == list(range(120))
    assert [d.asked for d in decisions] == got.asked.tolist()
    assert [d.probability for d in decisions] == got.probabilities.tolist()
    assert [d.score for d in decisions] == got.scores.tolist()
    assert model.fitted.core.state().keys() == whole.fitted.core.state().keys()
    assert weights_of(model) == weights_of(whole)
    assert model.pending_ == whole.pending_ != []
    assert dataclasses.asdict(model.estimate()) == dataclasses.asdict(whole.estimate())


def test_many_questions_at_once_are_questions_one_by_one():
    one, many, sparse = (lopsided.make("OA3", budget=30, positive=1) for _ in range(3))
    want = [one.ask(x) for x in X]
    found = many.ask_many(X)
    assert found == want
    for name in ("id", "score", "predicted", "asked", "probability"):
        assert getattr(found, name).tolist() == [getattr(d, name) for d in want]
    assert found.predicted[0] == 1  # of score 0
    assert repr(found) == "<Decisions on 300 events: 30 labels wanted>"
    assert found[-1] == want[-1]
    got = sparse.ask_many(csr(X))
    assert [d.id for d in got] == [d.id for d in want]
    named = lopsided.make("OA3", budget=30, positive=1)
    assert len(named.ask_many(events(X))) == ROWS
    assert to_bytes(one) == to_bytes(many)


@pytest.mark.parametrize("scaling", ["none", "unit", "standard"])
@pytest.mark.parametrize("form", ["dense", "csr", "dicts"])
@pytest.mark.parametrize("learner", ["COG", "ACOG diagonal", "ACOG full", "ACOG sketch"])
@pytest.mark.parametrize("budget", BUDGETS)
def test_questions_do_not_depend_on_how_the_stream_is_cut(budget, learner, form, scaling):
    query = "margin" if learner == "COG" else "confidence"
    rows = {"dense": X, "csr": csr(X), "dicts": events(X)}[form]
    times = time_for(budget)

    def started():
        model = active(learner, query, budget, max_pending=20)
        model.set_params(learner__scaling=scaling)
        return model.partial_fit(rows[:50], Y[:50], time=None if times is None else SECONDS[:50])

    def asked(model, step):
        found = []
        for first in range(50, ROWS, step):
            part = slice(first, min(first + step, ROWS))
            time = None if times is None else SECONDS[part]
            found += list(model.ask_many(rows[part], time=time))
        return found

    whole, parts = started(), started()
    want = asked(whole, ROWS)
    assert 0 < sum(d.asked for d in want) < len(want)
    assert asked(parts, 1 if form == "dicts" else 7) == want
    assert to_bytes(parts) == to_bytes(whole)


@pytest.mark.parametrize(
    ("labels", "per", "saving"),
    [(9, 25, False), (7, 25, True), (6, "day", False), (2, "day", True)],
)
def test_labels_are_paid_in_the_period_of_their_event(labels, per, saving):
    """Where a period ends with something left, in the middle of a batch."""
    budget = Budget(labels=labels, per=per, saving=saving)
    one, many = (Active("COG-II", query="random", probability=0.3, budget=budget) for _ in range(2))
    times = SECONDS if per == "day" else [None] * ROWS
    want = [one.ask(x, time=time) for x, time in zip(X, times, strict=True)]
    assert 0 < sum(d.probability == 0 for d in want) < ROWS
    assert many.ask_many(X, time=SECONDS if per == "day" else None) == want
    assert to_bytes(many) == to_bytes(one)


def test_the_label_teaches_the_event_as_it_was_to_the_model_as_it_is():
    model = Active(COG(scaling="standard", learning_rate=1.0, class_weight=None), query="always")
    first = model.ask(X[0])
    scaled = model.fitted.core.state()["pending.events"][8:].copy()
    for x in X[1:20]:
        model.tell(model.ask(x).id, 1)
    before = model.coef_.copy()
    assert before @ scaled > -1
    model.tell(first.id, -1)
    np.testing.assert_allclose(model.coef_, before - scaled, **TOLERANCE)


def test_predicted_label_is_named_when_it_is_known():
    model = Active(PassiveAggressive(positive="bad", scaling="unit"), query="always")
    assert model.ask(X[0]).predicted == "bad"
    model.tell(0, "good")
    assert model.ask(X[0]).predicted == "good"
    assert Active("PA-I").ask(X[0]).predicted is None


def refuses(model, call, words, kind=ValueError):
    before = to_bytes(model)
    with pytest.raises(kind, match=words):
        call()
    assert to_bytes(model) == before


def test_labels_for_the_wrong_events_are_refused():
    model = Active("COG-II", query="random", probability=0.5, seed=1)
    decisions = [model.ask(x) for x in X[:20]]
    asked = [d.id for d in decisions if d.asked]
    silent = next(d.id for d in decisions if not d.asked)
    model.tell(asked[1], 1)
    model.forget(asked[2])
    refuses(model, lambda: model.tell(asked[1], 1), f"event {asked[1]} does not wait")
    refuses(model, lambda: model.tell(asked[2], 1), f"event {asked[2]} does not wait")
    refuses(model, lambda: model.forget(asked[2]), f"event {asked[2]} does not wait")
    refuses(model, lambda: model.tell(silent, 1), f"event {silent} does not wait")
    refuses(model, lambda: model.tell(20, 1), "no event 20: so far there are 20")
    refuses(model, lambda: model.tell(-1, 1), "no event -1")
    refuses(model, lambda: model.tell("a", 1), "event='a'")
    refuses(model, lambda: model.tell(asked[0], 7), "7")
    refuses(model, lambda: model.tell(asked[0], None), "None")
    refuses(model, lambda: model.tell(asked[0], 1, weight=-1), "weight=-1")
    refuses(model, lambda: model.tell(asked[0], 1, weight=np.nan), "weight=nan")
    model.tell(asked[0], -1)
    assert model.queries_ == len(asked)
    assert model.pending_ == asked[3:]


def test_bad_event_is_refused():
    model = Active("COG-II", query="always")
    model.ask(X[0])
    for bad in (np.full(9, np.nan), X[0, :3], X[:2], "x"):
        refuses(model, lambda bad=bad: model.ask(bad), ".", (ValueError, TypeError))
    rows = X.copy()
    rows[-1, 2] = np.inf
    refuses(model, lambda: model.ask_many(rows), "row 299: .* column 2")
    refuses(model, lambda: model.ask(X[0], time=5.0), "time has an effect only")


@pytest.mark.parametrize("learner", ["COG", "ACOG full", "ACOG sketch"])
@pytest.mark.parametrize("scaling", ["none", "standard"])
@pytest.mark.parametrize("budget", ["none", "count", "fraction", "per 25"])
def test_no_question_is_left_of_a_batch_with_a_bad_row(budget, scaling, learner):
    model = active(learner, "random", budget, max_pending=20)
    model.set_params(learner__scaling=scaling).partial_fit(X, Y)
    model.ask_many(X[:100])
    rows = X.copy()
    rows[-1, 2] = np.nan
    refuses(model, lambda: model.ask_many(rows), "row 299: .* column 2")
    refuses(model, lambda: model.ask_many(csr(rows)), "row 299: .* column 2")


def test_a_label_of_weight_zero_closes_its_event():
    model = Active("COG-II", query="always")
    model.ask(X[0])
    before = model.coef_.tolist()
    model.tell(0, 1, weight=0)
    assert model.pending_ == []
    assert model.coef_.tolist() == before
    assert model.estimate().labels == 0


def test_a_label_of_weight_zero_names_no_class():
    model = Active(PassiveAggressive(positive="bad"), query="always")
    model.tell(model.ask(X[0]).id, "oops", weight=0)
    model.tell(model.ask(X[1]).id, "good")
    assert model.classes_.tolist() == ["bad", "good"]


def test_which_label_is_positive_may_be_said_until_the_first_label():
    late, early = Active(COG(), budget=9), Active(COG(positive="fraud"), budget=9)
    for x in X[:3]:
        assert late.ask(x).asked
        early.ask(x)
    with pytest.raises(ValueError, match="'fraud': which class is positive is ambiguous"):
        late.tell(1, "fraud")
    late.set_params(positive="fraud")
    for event, label in ((1, "fraud"), (0, "fine")):
        late.tell(event, label)
        early.tell(event, label)
    assert to_bytes(late) == to_bytes(early)
    late.set_params(positive="fine")
    with pytest.raises(ValueError, match="positive cannot change in a model that has learned"):
        late.tell(2, "fine")


def test_the_oldest_is_forgotten_when_too_many_wait():
    model = Active("COG-II", query="always", max_pending=3)
    assert [model.ask(x).forgotten for x in X[:5]] == [None, None, None, 0, 1]
    many = Active("COG-II", query="always", max_pending=3).ask_many(X[:5])
    assert [decision.forgotten for decision in many] == [None, None, None, 0, 1]
    assert model.pending_ == [2, 3, 4]
    assert model.queries_ == 5
    refuses(model, lambda: model.tell(0, 1), "event 0 does not wait")


def test_labels_are_learned_at_their_own_weight():
    light, heavy = (Active("COG-II", query="always", seed=1) for _ in range(2))
    for model, weight in ((light, 1.0), (heavy, 3.0)):
        model.ask(X[0])
        model.tell(0, 1, weight=weight)
    np.testing.assert_allclose(heavy.coef_, 3 * light.coef_)


def test_a_weight_that_the_learner_cannot_use_is_refused():
    model = Active("PA", query="always")
    model.ask(X[0])
    refuses(model, lambda: model.tell(0, 1, weight=3.0), "weight")
    model.tell(0, 1, weight=1.0)


def test_damaged_pending_events_are_refused():
    model = Active("COG-II", query="always")
    model.ask(X[0])
    native = model.fitted.core
    good = native.state()
    for change in (
        lambda e: e[:-1],
        lambda e: np.append(e, 1.0),
        lambda e: np.append(e, e),
        lambda e: np.concatenate([[-1.0], e[1:]]),
        lambda e: np.concatenate([e[:6], [1e300], e[7:]]),
        lambda e: np.concatenate([e[:1], [0.0], e[2:]]),
        lambda e: np.concatenate([e[:6], [10.0], e[7:], [1.0]]),
    ):
        other = model._make(model.labels, model.fitted.scaling).core
        state = {**good, "pending.events": change(good["pending.events"].copy())}
        with pytest.raises(ValueError, match=r"pending\.events"):
            other.restore(9, state, [])
