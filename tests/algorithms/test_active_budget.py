"""Budgets: how many labels are bought, and when."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from active_learners import BUDGETS, DAYS, ROWS, SECONDS, TOLERANCE, X, Y, active, time_for
from streams import chunks

from lopsided import COG, Active, Budget, progressive
from lopsided.persist import from_bytes, to_bytes


@pytest.mark.parametrize("budget", [b for b in BUDGETS if b != "none"])
@pytest.mark.promise("budgets")
def test_budget_is_spent_and_never_overspent_however_the_stream_is_cut(budget):
    want = progressive(
        active(query="always", budget=budget), X, Y, time=time_for(budget), resume=True
    )
    assert want.events == ROWS
    model, asked = active(query="always", budget=budget), []
    for part in chunks(ROWS, seed=2):
        times = None if time_for(budget) is None else SECONDS[part]
        got = progressive(model, X[part], Y[part], time=times, resume=True)
        model = from_bytes(to_bytes(model))  # a restart
        asked.extend(got.asked)
    assert np.array_equal(asked, want.asked)
    assert model.queries_ == want.queries < ROWS
    given, total = BUDGETS[budget], np.cumsum(asked)
    period = (
        DAYS - DAYS[0] if given.get("per") == "day" else np.arange(ROWS) // given.get("per", 10**9)
    )
    if "fraction" in given:
        allowed = np.floor(given["fraction"] * np.arange(1, ROWS + 1))
        assert np.array_equal(total, allowed)
        assert model.budget_left_ == 0
    elif given.get("saving"):
        assert (total <= given["labels"] * (period + 1)).all()
        assert model.budget_left_ == given["labels"] * (period[-1] + 1) - total[-1]
    else:
        spent = np.bincount(period, weights=asked)
        assert spent.max() == given["labels"]
        assert model.budget_left_ == given["labels"] - spent[period[-1]]


def test_saved_labels_are_spent_later():
    quiet, labels = np.zeros((40, 2)), np.ones(40, int)
    quiet[30:, 0] = 1.0
    saving, strict = (
        Active(COG(scaling="none"), query="random", probability=1e-12,
               budget=Budget(labels=1, per=10, saving=saving))
        for saving in (True, False)
    )  # fmt: skip
    for model in (saving, strict):
        model.partial_fit(quiet[:30], labels[:30], classes=[-1, 1])
        assert model.queries_ == 0
        model.set_params(query="always", probability=None).partial_fit(quiet[30:], labels[30:])
    assert (saving.queries_, strict.queries_) == (4, 1)


EVENTS = np.ones((1000, 2))
TEN_DAYS = np.arange(1000) * 864.0


def bought(model, time=None):
    """Ask about a thousand events; return how many labels that takes."""
    before = model.queries_
    model.ask_many(EVENTS, time=time)
    return model.queries_ - before


@pytest.mark.parametrize(
    ("before", "then", "now", "later", "wanted"),
    [
        ("3/10", None, "3/100", None, 30),
        ("5/day", TEN_DAYS, "3/10", None, 300),
        ("3/10", None, "5/day", TEN_DAYS, 50),
        (10, None, Budget(labels=5, per="day", saving=True), TEN_DAYS + 86400 * 20000, 50),
        ("5%", None, "3/100", None, 30),
        ("3/10", None, Budget(labels=3, per=10, saving=True), None, 300),
        ("3/100", None, 100, None, 70),
        (100, None, 150, None, 50),
        (100, None, "50%", None, 900),
    ],
)
def test_another_budget_counts_labels_and_begins_with_periods_of_its_own(
    before, then, now, later, wanted
):
    model = Active(COG(), query="always", budget=before)
    bought(model, then)
    model.set_params(budget=now)
    model = from_bytes(to_bytes(model))
    left = model.budget_left_
    assert bought(model, later) == wanted
    assert left <= wanted


def test_nothing_is_saved_of_periods_before_there_was_saving():
    model = Active(COG(), query="random", probability=1e-300, budget="3/10")
    bought(model)
    model.set_params(budget=Budget(labels=3, per=10, saving=True))
    assert model.budget_left_ == 3
    model.set_params(query="always", probability=None)
    assert model.ask_many(EVENTS[:10]).asked.sum() == 6  # of the last period and of the present one


@pytest.mark.parametrize(
    ("budget", "wanted"),
    [
        (Budget(money=1, price=1.5, per="day", saving=True), 6),
        (Budget(money=100, price=30, per="day", saving=True), 33),
        (Budget(money=100, price=30, per="day"), 30),
        (Budget(money=0.1, price=0.3, per=10, saving=True), 33),
    ],
)
def test_money_that_pays_for_no_whole_label_is_saved(budget, wanted):
    time = TEN_DAYS if budget.per == "day" else None
    assert bought(Active(COG(), query="always", budget=budget), time) == wanted


@pytest.mark.parametrize("share", [0.29, 0.57, 0.58, 1e-3, 0.999])
def test_a_share_is_what_it_says(share):
    model = Active(COG(), query="always", budget=share)
    assert bought(model) == round(1000 * share)


@pytest.mark.parametrize(
    ("budget", "left"),
    [(None, np.inf), (7, 7), ("5%", 0), ("20/100", 20), (Budget(money=10, price=3), 3)],
)
def test_what_is_left_is_known_before_the_first_event(budget, left):
    model = Active(COG(), budget=budget)
    assert (model.budget_left_, model.queries_, model.events_, model.pending_) == (left, 0, 0, [])


def test_fewer_may_wait_than_do():
    model = Active(COG(), query="always")
    model.ask_many(EVENTS[:80])
    model.set_params(max_pending=10)
    assert model.pending_ == list(range(70, 80))
    assert from_bytes(to_bytes(model)).ask(EVENTS[0]).forgotten == 70


def test_labels_that_are_forgotten_before_they_come_are_told_of():
    model = Active(COG(), query="always", max_pending=5)
    with pytest.warns(UserWarning, match=f"{ROWS - 5:,} labels were bought and forgotten"):
        assert progressive(model, X, Y, delay=10).updates == 0


def test_milliseconds_are_not_taken_for_seconds():
    model = Active(COG(), budget="5/day")
    for time in (1.7e12, 1e30):
        with pytest.raises(ValueError, match=r"^the time .* give seconds, not milliseconds"):
            model.ask(EVENTS[0], time=time)
    with pytest.raises(ValueError, match=r"^row 3: the time .* nothing was learned"):
        model.ask_many(EVENTS[:5], time=[0, 0, 0, 1.7e12, 0])
    assert model.events_ == 0


def test_money_buys_as_many_labels_as_it_pays_for():
    assert Budget(money=0.3, price=0.1).options() == {"budget": 3.0}
    model = Active("COG-II", query="always", budget=Budget(money=100, price=1.5))
    assert progressive(model, X, Y).queries == 66
    assert progressive(Active("COG-II", query="always", budget="100EUR@1.5"), X, Y).queries == 66


def test_share_of_a_known_length_may_be_spent_at_once():
    model = Active("COG-II", query="always", budget=Budget(fraction=0.29, length=100))
    assert np.flatnonzero(progressive(model, X, Y).asked).tolist() == list(range(29))


def test_late_event_counts_for_the_present_day():
    times = np.array(
        ["2026-01-02", "2026-01-01", "2026-01-02T23:59", "2026-01-03"], "datetime64[s]"
    )
    model = Active("COG-II", query="always", budget="1/day")
    assert progressive(model, X[:4], Y[:4], time=times).asked.tolist() == [True, False, False, True]


def test_times_of_every_kind_are_the_same_days():
    zone = timezone(timedelta(hours=3))
    moments = [datetime(2026, 3, 1, 12) + timedelta(hours=7 * k) for k in range(30)]
    kinds = [
        np.array(moments, "datetime64[ns]"),
        moments,
        [m.isoformat() for m in moments],
        [m.replace(tzinfo=timezone.utc).timestamp() for m in moments],
        [m.replace(tzinfo=timezone.utc).astimezone(zone) for m in moments],
    ]
    asked = [
        progressive(Active("COG-II", query="always", budget="1/day"), X[:30], Y[:30], time=t).asked
        for t in kinds
    ]
    assert all(np.array_equal(a, asked[0]) for a in asked)
    assert asked[0].sum() == len({m.date() for m in moments})


def test_daily_budget_works_event_by_event():
    whole, single = (Active("COG-II", budget="2/day", delta=0.3) for _ in range(2))
    whole.partial_fit(X, Y, time=SECONDS)
    for x, y, t in zip(X, Y, SECONDS, strict=True):
        single.learn_one(x, y, time=t)
    assert to_bytes(whole) == to_bytes(single)


@pytest.mark.parametrize("budget", ["count", "per 25", "fraction"])
def test_threads_that_share_a_model_share_its_budget(budget):
    model = active(query="always", budget=budget).partial_fit(X[:1], Y[:1], classes=[-1, 1])

    def work(k):
        if k % 2:
            return model.partial_fit(X, Y)
        for x, y in zip(X[:100], Y[:100], strict=True):
            model.learn_one(x, y) if k % 4 else model.ask(x)
        return model

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(12)))
    assert model.events_ == 1 + 6 * ROWS + 6 * 100
    allowed = {
        "count": 40,
        "per 25": 3 * (model.events_ // 25) + min(3, model.events_ % 25),
        "fraction": np.floor(0.11 * model.events_),
    }
    assert model.queries_ == allowed[budget]


def test_after_the_budget_the_model_predicts_and_no_longer_learns():
    model = Active(COG(scaling="unit"), query="always", budget=50)
    got = progressive(model, X, Y)
    assert (got.events, got.queries, model.budget_left_) == (ROWS, 50, 0)
    half = COG(scaling="unit", class_weight={1: 1.0, -1: 1.0})
    model = Active(half, query="always", budget=50).fit(X, Y)
    half.fit(X[:50], Y[:50])
    assert model.coef_.tobytes() == half.coef_.tobytes()


def test_scaling_sees_events_whose_labels_are_not_bought():
    model = Active(COG(scaling="standard"), query="always", budget=10).fit(X, Y)
    state = model.fitted.core.state()
    assert state["scaling.rows"] == ROWS
    np.testing.assert_allclose(state["scaling.mean"], X.mean(axis=0), **TOLERANCE)


TEXTS = {
    "1000": Budget(labels=1000),
    "5%": Budget(fraction=0.05),
    "2.5 %": Budget(fraction=0.025),
    "20/1000": Budget(labels=20, per=1000),
    "50/day": Budget(labels=50, per="day"),
    "300EUR@1.5": Budget(money=300, price=1.5),
    "300 € @ 2/day": Budget(money=300, price=2, per="day"),
}


@pytest.mark.parametrize("text", TEXTS)
def test_budget_from_text(text):
    assert Budget.parse(text) == TEXTS[text]
    assert eval(repr(TEXTS[text])) == TEXTS[text]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Budget(), "one of labels"),
        (lambda: Budget(labels=3, fraction=0.1), "one of labels"),
        (lambda: Budget(labels=-1), "labels=-1"),
        (lambda: Budget(labels=1.5), "labels=1.5"),
        (lambda: Budget(fraction=1.5), "fraction=1.5"),
        (lambda: Budget(labels=1, per="week"), "per='week'"),
        (lambda: Budget(labels=1, per=0), "per=0"),
        (lambda: Budget(labels=1, saving=True), "saving has no effect"),
        (lambda: Budget(fraction=0.1, per=10), "per has no effect"),
        (lambda: Budget(labels=1, length=10), "length has no effect"),
        (lambda: Budget(money=10), "needs price"),
        (lambda: Budget(labels=10, price=2), "price has no effect"),
        (lambda: Budget.parse("many"), "'many' is not a budget"),
        (lambda: Budget.parse("5%/day"), "not a budget"),
        (lambda: Budget.parse("1.5"), "whole number"),
    ],
)
def test_impossible_budget_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
