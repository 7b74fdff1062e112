"""Which labels are bought, and what is learned from them, against the oracles."""

from __future__ import annotations

import numpy as np
import pytest
from active_learners import (
    BUDGETS,
    DAYS,
    LEARNERS,
    QUERIES,
    ROWS,
    TOLERANCE,
    X,
    Y,
    active,
    time_for,
    weights_of,
)
from streams import csr, stream

import lopsided
from lopsided import COG, Active, progressive
from reference import ORACLES
from reference.active import run_active, uniforms


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


def test_explore_is_a_floor():
    model = Active(COG(scaling="unit"), delta=1e-9, explore=0.1)
    p = progressive(model, X, Y).probabilities
    assert p.min() >= 0.1
    assert p[1:].max() < 0.11


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


@pytest.mark.parametrize("name", [e.name for e in lopsided.catalog.CATALOG if e.family != "active"])
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
