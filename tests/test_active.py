"""Labels on a budget: which are bought, what is learned from them, and what they tell."""

from __future__ import annotations

import copy
import dataclasses
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from sklearn.base import clone

import lopsided
from lopsided import ACOG, COG, Active, Budget, PassiveAggressive, Recommended, progressive
from lopsided.persist import from_bytes, to_bytes
from reference import ORACLES
from reference.active import run_active, uniforms
from streams import chunks, csr, events, stream

TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}
ROWS = 300
X, Y = stream(seed=8, rows=ROWS, d=9)
DAYS = np.cumsum(np.arange(ROWS) % 17 == 0) * 3
SECONDS = DAYS * 86400.0 + 3600

# Learner of the library and its oracle.
LEARNERS = {
    "PA-I": (PassiveAggressive(C=0.5), "PassiveAggressive", {"C": 0.5}),
    "PA-I loss I": (
        PassiveAggressive(loss="I", class_weight="balanced"),
        "PassiveAggressive",
        {"loss": "I"},
    ),
    "COG": (COG(learning_rate=0.3), "COG", {"learning_rate": 0.3}),
    "COG-I": (COG(loss="I", learning_rate=1.0), "COG", {"loss": "I", "learning_rate": 1.0}),
    "AROW": (lopsided.AROW(class_weight=None), "AROW", {}),
    **{
        f"ACOG {covariance}": (
            ACOG(learning_rate=2.0, regularization=0.7, covariance=covariance),
            "SACOG" if "sketch" in covariance else "ACOG",
            {"learning_rate": 2.0, "regularization": 0.7}
            | ({} if "sketch" in covariance else {"covariance": covariance}),
        )
        for covariance in ("diagonal", "full", "sketch", "dense-sketch")
    },
}
QUERIES = {
    "always": {},
    "random": {"probability": 0.3},
    "margin": {"delta": 0.2},
    "asymmetric": {"delta_pos": 0.5, "delta_neg": 0.05},
    "confidence": {"delta": 0.3},
    "confidence by class": {"delta_pos": 0.5, "delta_neg": 0.05},
}
BUDGETS = {
    "none": None,
    "count": {"labels": 40},
    "fraction": {"fraction": 0.11},
    "per 25": {"labels": 3, "per": 25},
    "per 25, saving": {"labels": 3, "per": 25, "saving": True},
    "per day": {"labels": 2, "per": "day"},
    "per day, saving": {"labels": 1, "per": "day", "saving": True},
}


def active(learner="COG", query="margin", budget="none", **params):
    given = BUDGETS[budget]
    return Active(
        LEARNERS[learner][0],
        query=query.partition(" ")[0],
        budget=None if given is None else Budget(**given),
        **{**QUERIES[query], **params},
    )


def weights_of(model):
    kernel = hasattr(model, "dual_coef_")
    return np.asarray(model.dual_coef_ if kernel else model.coef_).tobytes()


def time_for(budget):
    return SECONDS if "day" in budget else None


def replayed(learner, query, budget, *, rows=X, labels=Y, **more):
    _, name, options = LEARNERS[learner]
    deltas = QUERIES[query]
    params = {
        "delta_pos": deltas.get("delta_pos", deltas.get("delta", 1.0)),
        "delta_neg": deltas.get("delta_neg", deltas.get("delta", 1.0)),
        "probability": deltas.get("probability", 1.0),
        "days": DAYS,
        "class_weight": getattr(LEARNERS[learner][0], "class_weight", None),
        "scaling": "standard+unit",
        **more,
    }
    return run_active(
        ORACLES[name](**options),
        rows,
        labels,
        query=query.partition(" ")[0],
        budget=BUDGETS[budget],
        **params,
    )


def agree(model, got, want):
    np.testing.assert_array_equal(got.asked, want.asked)
    np.testing.assert_allclose(got.probabilities, want.probabilities, **TOLERANCE)
    np.testing.assert_allclose(got.scores, want.scores, **TOLERANCE)
    np.testing.assert_allclose(model.coef_, want.oracle.coef[-X.shape[1] :], **TOLERANCE)
    assert (got.queries, got.updates) == (want.asked.sum(), want.updates)
    assert model.pending_ == want.waiting


# The oracle ----------------------------------------------------------------------------------


def cases():
    for learner in LEARNERS:
        unsure = learner.startswith(("ACOG", "AROW"))
        for k, query in enumerate(QUERIES):
            if unsure or not query.startswith("confidence"):
                for budget in list(BUDGETS)[k % 3 :: 3]:
                    yield pytest.param(learner, query, budget, id=f"{learner}-{query}-{budget}")


@pytest.mark.parametrize(("learner", "query", "budget"), list(cases()))
def test_library_equals_its_oracle(learner, query, budget):
    explore = 0.0 if query == "always" else 0.05
    model = active(learner, query, budget, explore=explore, seed=7)
    got = progressive(model, X, Y, time=time_for(budget))
    agree(model, got, replayed(learner, query, budget, explore=explore, seed=7))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("delay", [0, 5, ("geometric", 20), np.inf, "mixed"], ids=str)
def test_delayed_labels_equal_the_oracle(learner, delay):
    if delay == "mixed":
        delay = np.where(np.arange(ROWS) % 3, np.arange(ROWS) % 40, np.inf)
    model = active(learner, "margin", "count", seed=3)
    got = progressive(model, X, Y, delay=delay, resume=True)
    delays = np.broadcast_to(delay, ROWS) if not isinstance(delay, tuple) else None
    if delays is None:
        delays = np.random.default_rng(3).geometric(1 / 21, size=ROWS) - 1
    agree(
        model, got, replayed(learner, "margin", "count", seed=3, delays=delays, known_counts=False)
    )


@pytest.mark.parametrize("learner", ["PA-I loss I", "ACOG diagonal", "ACOG sketch"])
def test_weights_costs_sparse_rows_and_intercept_equal_the_oracle(learner):
    weights = np.where(np.arange(ROWS) % 5, np.arange(ROWS) % 4 / 2, 0.0)
    query = "confidence" if "ACOG" in learner else "margin"
    model = active(learner, query, "per 25").set_params(intercept=True, scaling="unit")
    got = progressive(model, csr(X), Y, sample_weight=weights, resume=True)
    want = replayed(
        learner,
        query,
        "per 25",
        weights=weights,
        intercept=True,
        scaling="unit",
        known_counts=False,
    )
    agree(model, got, want)
    assert model.rho_ == pytest.approx(want.final_rho)  # from bought labels only


def test_a_question_does_not_become_more_sure_of_itself_when_positives_are_cheap():
    # rho_max is 1 where rho is less.
    model = active("ACOG diagonal", "confidence").set_params(class_weight={1: 0.2, -1: 1.0})
    got = progressive(model, X, Y)
    agree(model, got, replayed("ACOG diagonal", "confidence", "none", class_weight=0.2))


def test_random_numbers_are_uniform():
    draws = uniforms(5)
    u = np.array([next(draws) for _ in range(20000)])
    counts = np.histogram(u, bins=50, range=(0, 1))[0]
    assert ((counts - 400) ** 2 / 400).sum() < 95  # 49 degrees of freedom
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 0.03


@pytest.mark.parametrize("query", [q for q in QUERIES if q != "always"])
def test_questions_are_as_frequent_as_the_formula_says(query):
    rows, labels = stream(seed=1, rows=20000, d=6)
    model = active("ACOG diagonal", query, explore=0.02)
    got = progressive(model, rows, labels)
    p = got.probabilities
    deviation = np.sum(got.asked - p) / np.sqrt(np.sum(p * (1 - p)))
    assert abs(deviation) < 4.5
    assert 0.02 < got.asked.mean() < 0.98
    if query != "random":
        scores = np.abs(got.scores)
        assert scores[got.asked].mean() < scores[~got.asked].mean()


def test_dense_and_sparse_sketch_ask_for_the_same_labels():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 120)) * (rng.random((3000, 120)) < 0.1)
    labels = np.where(rows @ rng.normal(size=120) > 1, 1, -1)
    directions = np.linalg.qr(rng.normal(size=(120, 5)))[0].T
    runs = []
    for name in ("SOA3", "SSOA3"):
        model = lopsided.make(name, budget=1000, scaling="unit", directions=directions, seed=4)
        runs.append(progressive(model, csr(rows), labels))
    np.testing.assert_array_equal(runs[0].asked, runs[1].asked)
    np.testing.assert_allclose(runs[0].scores, runs[1].scores, rtol=0, atol=1e-9)
    np.testing.assert_allclose(runs[0].probabilities, runs[1].probabilities, rtol=0, atol=1e-9)
    assert runs[0].queries == 1000


@pytest.mark.parametrize(
    "name", [e.name for e in lopsided.catalog.CATALOG if not e.home.startswith("active:")]
)
def test_who_asks_for_every_label_learns_what_the_learner_learns(name):
    plain, asking = lopsided.make(name), Active(name, query="always")
    late = Active(name, query="always")
    want = progressive(plain, X, Y)
    for model, delay in ((asking, None), (late, 0)):
        got = progressive(model, X, Y, delay=delay)
        assert got.scores.tobytes() == want.scores.tobytes()
        assert got.asked.all()
        assert weights_of(model) == weights_of(plain)
        assert model.decision_function(X).tobytes() == plain.decision_function(X).tobytes()


# Budgets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [b for b in BUDGETS if b != "none"])
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
    state = model._fitted().state()
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


# Labels that come later ----------------------------------------------------------------------


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
    assert model._fitted().state().keys() == whole._fitted().state().keys()
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
    got = sparse.ask_many(csr(X))
    assert [d.id for d in got] == [d.id for d in want]
    named = lopsided.make("OA3", budget=30, positive=1)
    assert len(named.ask_many(events(X))) == ROWS
    assert to_bytes(one) == to_bytes(many)


def test_the_label_teaches_the_event_as_it_was_to_the_model_as_it_is():
    model = Active(COG(scaling="standard", learning_rate=1.0, class_weight=None), query="always")
    first = model.ask(X[0])
    scaled = model._fitted().state()["pending.events"][8:].copy()
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
    native = model._fitted()
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
        other, _ = model._make(model._labels, model._made_with["scaling"])
        state = {**good, "pending.events": change(good["pending.events"].copy())}
        with pytest.raises(ValueError, match=r"pending\.events"):
            other.restore(9, state, [])


# What bought labels tell ---------------------------------------------------------------------


@pytest.mark.parametrize("budget", [None, 150, "3/20"])
@pytest.mark.parametrize("query", ["random", "margin", "confidence"])
def test_estimates_are_free_of_bias_and_know_their_error(query, budget):
    rows, labels = stream(seed=5, rows=600, d=4)
    given = {"probability": 0.25} if query == "random" else {"delta": 0.1}
    errors, claimed, shares = [], [], []
    for seed in range(250):
        model = Active(
            ACOG(scaling="unit"), query=query, budget=budget, explore=0.15, seed=seed, **given
        )
        got = progressive(model, rows, labels, points=0)
        could = got.probabilities > 0
        alarm = got.scores >= 0
        cost = 0.9 * np.sum(could & ~alarm & (labels > 0)) + 0.1 * np.sum(
            could & alarm & (labels < 0)
        )
        found = model.estimate()
        assert found.events == could.sum()
        errors.append([found.cost - cost, found.normalised_cost - cost])
        claimed.append([found.cost_error, found.normalised_cost_error])
        sensitivity = np.mean(alarm[could & (labels > 0)])
        if found.sensitivity_error > 0:
            shares.append((found.sensitivity - sensitivity) / found.sensitivity_error)
    bias = np.mean(errors, axis=0) / (np.std(errors, axis=0) / np.sqrt(len(errors)))
    assert abs(bias[0]) < 4
    rms = np.sqrt(np.mean(np.square(errors), axis=0))
    calibration = np.sqrt(np.mean(np.square(claimed), axis=0)) / rms
    assert ((calibration > 0.8) & (calibration < 1.25)).all()
    assert 0.7 < np.sqrt(np.mean(np.square(shares))) < 1.5


def test_estimate_from_all_labels_is_exact():
    model = Active("COG-II", query="always")
    got = progressive(model, X, Y)
    found = model.estimate(fn=3, fp=2)
    assert found.sensitivity == pytest.approx(got.sensitivity)
    assert found.specificity == pytest.approx(got.specificity)
    assert found.cost == found.normalised_cost == pytest.approx(got.cost(3, 2))
    assert found.cost_error == found.sensitivity_error == found.specificity_error == 0


def test_estimate_weighs_events_as_the_counts_do():
    weights = np.where(np.arange(ROWS) % 5, np.arange(ROWS) % 4 / 2, 0.0)
    model = Active("COG-II", query="always")
    got = progressive(model, X, Y, sample_weight=weights)
    found = model.estimate(fn=3, fp=2)
    assert found.events == found.labels == pytest.approx(weights.sum())
    assert found.cost == pytest.approx(got.cost(3, 2))


# Parameters ----------------------------------------------------------------------------------


def test_parameters_of_the_learner_are_reached_by_both_names():
    given = COG(learning_rate=0.5)
    model = Active(given)
    assert model.get_params()["learner__learning_rate"] == model.learning_rate == 0.5
    model.set_params(learner__learning_rate=2.0, scaling="none", delta=3.0)
    assert (model.learner.learning_rate, model.scaling, model.delta) == (2.0, "none", 3.0)
    assert given.learning_rate == 0.5
    model.learning_rate = 4.0
    assert model.learner.learning_rate == 4.0
    with pytest.raises(ValueError, match="did you mean 'learning_rate'"):
        model.set_params(lerning_rate=1.0)
    with pytest.raises(TypeError, match="did you mean 'budget'"):
        Active("COG-II", buget=3)


def test_clone_is_independent():
    model = Active(COG(), budget=Budget(labels=5), query="margin").fit(X, Y)
    other = clone(model)
    assert other.learner is not model.learner
    assert not hasattr(other, "coef_")
    assert to_bytes(other.fit(X, Y)) == to_bytes(model)
    assert repr(other) == "Active(learner=COG(), budget=Budget(labels=5))"
    assert to_bytes(copy.deepcopy(model)) == to_bytes(model)


def test_rule_and_budget_may_change_in_mid_stream():
    model = Active("COG-II", query="always", budget=10).partial_fit(X, Y)
    assert model.queries_ == 10
    model.set_params(budget=25).partial_fit(X, Y)
    assert (model.queries_, model.budget_left_) == (25, 0)
    model.set_params(budget=20).partial_fit(X, Y)
    assert (model.queries_, model.budget_left_) == (25, 0)
    model.set_params(learner="PA-I")
    with pytest.raises(ValueError, match="learner cannot change"):
        model.partial_fit(X, Y)


def test_comparison_chooses_among_parameters_of_both():
    grid = {"delta": [0.1, 1.0], "learning_rate": [0.1, 1.0], "C": [1.0], "budget": [30]}
    given = {"PAA": lopsided.make("PAA"), "SOAL": lopsided.make("SOAL")}
    found = lopsided.compare(given, X, Y, grid=grid, permutations=3, jobs=1)
    chosen = {row.name: row.parameters for row in found.rows}
    assert chosen["PAA"].keys() == {"delta", "C", "budget"}
    assert chosen["SOAL"].keys() == {"delta", "learning_rate", "budget"}
    assert all(row.mean["queries"] <= 30 for row in found.rows)


IMPOSSIBLE = [
    ({"query": "guess"}, "query='guess'"),
    ({"query": "always", "delta": 1.0}, "delta has no effect on query='always'"),
    ({"query": "always", "explore": 0.1}, "explore has no effect"),
    ({"query": "margin", "delta_pos": 1.0, "delta_neg": 1.0}, "delta_pos has no effect"),
    ({"query": "margin", "probability": 0.5}, "probability has no effect"),
    ({"query": "margin", "delta": 0.0}, "delta=0.0"),
    ({"query": "random"}, "needs probability"),
    ({"query": "random", "probability": 1.5}, "probability=1.5"),
    ({"query": "asymmetric"}, "both delta_pos and delta_neg"),
    ({"query": "asymmetric", "delta_pos": 1.0}, "both delta_pos and delta_neg"),
    ({"query": "confidence"}, "ACOG and AROW"),
    ({"explore": 1.5}, "explore=1.5"),
    ({"explore": np.nan}, "explore=nan"),
    ({"seed": -1}, "seed=-1"),
    ({"max_pending": 0}, "max_pending=0"),
    ({"budget": -3}, "labels=-3"),
    ({"budget": 2.5}, "budget=2.5"),
    ({"budget": "all"}, "'all' is not a budget"),
    ({"learner": 3}, "learner=3"),
    ({"learner": "COGG"}, "did you mean 'COG-I'"),
    ({"learner": "PAA"}, "asks for labels already"),
    ({"budget": "5/day"}, "give time="),
]


@pytest.mark.parametrize(("params", "words"), IMPOSSIBLE, ids=str)
def test_impossible_parameters_are_refused(params, words):
    model = Active(**{"learner": "COG-II", **params})
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=words):
            call(X, Y)
    with pytest.raises(ValueError, match=words):
        model.ask(X[0])


@pytest.mark.parametrize("delay", [-1, 0.5, np.nan, "late", [1, 2], ("geometric", -1)], ids=str)
def test_impossible_delay_is_refused(delay):
    with pytest.raises(ValueError, match="delay"):
        progressive(Active("COG-II"), X, Y, delay=delay)


def test_learners_that_do_not_ask_know_no_delays():
    with pytest.raises(ValueError, match="use Active"):
        progressive(Recommended(), X, Y, delay=3)
    with pytest.raises(ValueError, match="daily"):
        progressive(Recommended(), X, Y, time=SECONDS)


def test_daily_budget_works_event_by_event():
    whole, single = (Active("COG-II", budget="2/day", delta=0.3) for _ in range(2))
    whole.partial_fit(X, Y, time=SECONDS)
    for x, y, t in zip(X, Y, SECONDS, strict=True):
        single.learn_one(x, y, time=t)
    assert to_bytes(whole) == to_bytes(single)


def test_explore_is_a_floor():
    model = Active(COG(scaling="unit"), delta=1e-9, explore=0.1)
    p = progressive(model, X, Y).probabilities
    assert p.min() >= 0.1
    assert p[1:].max() < 0.11
