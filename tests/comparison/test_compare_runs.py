"""Comparisons: what is run, on which rows, by which learners."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from comparisons import RATES, small, timeless
from streams import csr, events

import lopsided
from lopsided import compare
from lopsided.comparison import run as running
from lopsided.comparison.measures import MEASURES
from lopsided.estimator import batch as _data


def test_a_run_is_a_progressive_pass():
    X, y = small()
    weights = np.random.default_rng(2).random(len(y))
    orders = np.array([np.random.default_rng(k).permutation(len(y)) for k in range(3)])
    result = compare(
        ["COG-II"], X, y, grid={}, permutations=orders, sample_weight=weights, metric="auc"
    )
    for run, order in zip(result.runs, orders, strict=True):
        model = lopsided.make("COG-II")
        expected = lopsided.progressive(model, X, y, order=order, sample_weight=weights)
        assert run.value == expected.auc
        assert run.counts.cost() == expected.cost()
        assert run.counts.updates == expected.updates
        assert run.curve == expected.curve
        assert (run.nnz, run.sparsity) == (7, 0)


@pytest.mark.parametrize("metric", [*MEASURES, "precision_at_7"])
def test_every_metric_is_that_of_the_pass(metric):
    X, y = small()
    order = np.random.default_rng(0).permutation(len(y))
    result = compare(["CPA"], X, y, permutations=2, metric=metric, fn=3.0, fp=2.0, alpha=0.3)
    expected = lopsided.progressive(lopsided.make("CPA"), X, y, order=order)
    of = {
        "sum": expected.sum(0.3),
        "cost": expected.cost(3.0, 2.0),
        "cost_per_thousand": expected.cost_per_thousand(3.0, 2.0),
        "precision_at_7": expected.precision_at_k(7),
    }
    assert result.runs[0].value == (of[metric] if metric in of else getattr(expected, metric))
    assert result.larger_is_better == (not metric.startswith("cost"))
    assert metric in result.table()


def test_running_class_counts_are_those_of_a_resumed_pass():
    X, y = small()
    known, running = (
        compare(["COG-II"], X, y, grid={}, permutations=2, known_counts=k) for k in (True, False)
    )
    order = np.random.default_rng(0).permutation(len(y))
    expected = lopsided.progressive(lopsided.make("COG-II"), X, y, order=order, resume=True)
    assert running.runs[0].value == expected.sum()
    assert known.runs[0].value != expected.sum()


def test_held_out_rows_are_scored_after_the_pass():
    X, y = small(200)
    order = np.arange(150)[::-1]
    result = compare(
        ["AROW-diag"],
        X[:150],
        y[:150],
        grid={},
        permutations=[order],
        held_out=(X[150:], y[150:]),
    )
    model = lopsided.make("AROW-diag").fit(X[:150][order], y[:150][order])
    predicted = model.predict(X[150:])
    counts = result.runs[0].counts
    assert counts.false_negatives == np.sum((predicted < 0) & (y[150:] > 0))
    assert counts.false_positives == np.sum((predicted > 0) & (y[150:] < 0))
    assert counts.events == 50


class Watched(lopsided.COG):
    """Notes how many rows it is asked to score."""

    asked: ClassVar[list[int]] = []

    def score_many(self, X):
        scores = super().score_many(X)
        self.asked.append(len(scores))
        return scores


def test_only_held_out_rows_are_scored():
    X, y = small(100)
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    dicts = [dict(zip(frame.columns, row, strict=True)) for row in X.tolist()]
    found = []
    for rows in (X, X.tolist(), csr(X), sp.csc_array(X), frame, dicts):
        Watched.asked.clear()
        result = compare({"it": Watched(scaling="none")}, rows, y, folds=np.arange(100) % 4)
        assert Watched.asked == [25] * 4
        found.append([run.value for run in result.runs])
    assert found == [found[0]] * len(found)


def test_folds_are_learned_from_in_the_order_of_the_rows():
    X, y = small(100)
    folds = np.stack([np.arange(100) % 3, np.arange(100) % 4], axis=1)
    result = compare(["COG-I"], X, y, grid={}, folds=folds, metric="auc")
    assert len(result.runs) == 7
    held = folds[:, 1] == 2
    model = lopsided.make("COG-I").fit(X[~held], y[~held])
    scores = model.decision_function(X[held])
    assert result.runs[5].value == lopsided.metrics.auc(y[held], scores)


def test_random_folds_spread_the_classes_evenly():
    X, y = small(100)
    result = compare(["Perceptron"], X, y, folds=5)
    positives = [run.counts.positives for run in result.runs]
    assert sum(positives) == np.sum(y > 0)
    assert max(positives) - min(positives) <= 1


def test_in_order_of_time_the_first_third_is_for_choosing():
    X, y = small(90)
    result = compare(["COG-II"], X, y, grid=RATES, order="time")
    for run, rate in zip(result.sweep, RATES["learning_rate"], strict=True):
        model = lopsided.make("COG-II", learning_rate=rate)
        scores = lopsided.progressive(model, X, y, resume=True).scores
        right = (scores >= 0) == (y > 0)
        for value, part in ((run.choice, slice(30)), (run.value, slice(30, None))):
            shares = [right[part][y[part] == label].mean() for label in (1, -1)]
            assert value == pytest.approx(np.mean(shares))
    assert result.runs[0].choice == max(run.choice for run in result.sweep)
    assert compare(["COG-II"], X, y, grid={}, order="time").runs[0].counts.events == 90


def test_what_a_learner_draws_at_random_is_not_the_luck_of_every_run():
    X, y = small(300)
    orders = [np.random.default_rng(k).permutation(len(y)) for k in range(3)]
    sketch = {"covariance": "sketch", "sketch_size": 2}
    learners = {"sketch": lopsided.ACOG(**sketch, seed=2**32 - 2), "diagonal": lopsided.ACOG()}
    result = compare(learners, X, y, permutations=orders, known_counts=False)
    for seed, run in zip((2**32 - 2, 2**32 - 1, 0), result.sweep[:3], strict=True):
        model = lopsided.ACOG(**sketch, seed=seed)
        alone = lopsided.progressive(model, X, y, order=orders[run.split], resume=True)
        assert run.value == alone.sum()
    same = compare(learners, X, y, permutations=orders[:1] * 3, known_counts=False)
    values = [run.value for run in same.sweep]
    assert len(set(values[:3])) > 1
    assert len(set(values[3:])) == 1


@pytest.mark.parametrize("form", [csr, events, pd.DataFrame, np.asfortranarray, np.ndarray.tolist])
def test_any_form_of_rows_will_do(form):
    X, y = small()
    X = form(X)
    result = compare(["COG-II"], X, y, grid=RATES, permutations=2)
    order = np.random.default_rng(0).permutation(len(y))
    expected = lopsided.progressive(lopsided.make("COG-II", learning_rate=0.01), X, y, order=order)
    assert result.sweep[0].value == expected.sum()


def test_rows_are_looked_at_once(monkeypatch):
    X, y = small()
    calls = []
    real = _data.frame_array
    monkeypatch.setattr(_data, "frame_array", lambda X: calls.append(1) or real(X))
    compare(["COG-II", "CPA"], pd.DataFrame(X), y, permutations=3, held_out=(pd.DataFrame(X), y))
    assert len(calls) == 2


def test_learners_may_be_names_estimators_or_both():
    X, y = small()
    mine = {"plain": lopsided.COG(), "second": "acog-ii", "third": lopsided.CPA()}
    result = compare(mine, X, y, permutations=2)
    assert [row.name for row in result.rows] == ["plain", "second", "third"]
    assert [len({r.point for r in result.sweep if r.learner == n}) for n in mine] == [1, 11, 1]
    result = compare([lopsided.COG(learning_rate=3), "cs-ogd"], X, y, grid={}, permutations=2)
    assert [row.name for row in result.rows] == ["COG(learning_rate=3)", "COG-II"]


def test_a_grid_is_for_the_learners_that_have_the_parameter():
    X, y = small()
    result = compare(["PA-I", "COG-II"], X, y, grid={**RATES, "intercept": [True]}, permutations=2)
    points = {name: [r.parameters for r in result.sweep if r.learner == name and r.split == 0]
              for name in ("PA-I", "COG-II")}  # fmt: skip
    assert points["PA-I"] == [{"intercept": True}]
    assert points["COG-II"] == [
        {"learning_rate": rate, "intercept": True} for rate in RATES["learning_rate"]
    ]
    result = compare(["PA-I", "COG-II"], X, y, grid={"PA-I": {"C": [1, 2]}}, permutations=2)
    assert len(result.sweep) == 2 * (2 + 11)


def test_the_number_of_threads_does_not_matter():
    X, y = small(300)
    learners = ["Perceptron", "COG-II", "ACOG-I"]
    one, two, five = (
        timeless(compare(learners, X, y, grid=RATES, permutations=4, jobs=jobs))
        for jobs in (1, 2, 5)
    )
    assert one == two == five


@pytest.mark.parametrize(("jobs", "threads"), [(None, 3), (2, 2)])
def test_a_comparison_takes_the_threads_that_are_allowed(jobs, threads, monkeypatch):
    taken = []

    def pool(threads):
        taken.append(threads)
        return ThreadPoolExecutor(threads)

    monkeypatch.setenv("LOPSIDED_THREADS", "3")
    monkeypatch.setattr(running, "ThreadPoolExecutor", pool)
    compare(["Perceptron"], *small(), permutations=2, jobs=jobs)
    assert taken == [threads]
