"""Comparisons: which parameters are chosen, and on what."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from comparisons import RATES, small

import lopsided
from lopsided import compare
from lopsided.algorithms.linear import Perceptron
from lopsided.comparison.splits import folded
from lopsided.estimator.parameters import integer


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class Guess(Perceptron):
    """Says anything; `luck` does not make it better, only different."""

    luck: int = integer(0, 0, 10**6)

    def _own_options(self):
        own = super()._own_options()
        own.pop("luck", None)
        return own

    def _scores(self, size, seed):
        return np.random.default_rng([self.luck, seed]).normal(size=size)

    def pass_over(self, X, y, sample_weight, *, order=None, **rest):
        result = super().pass_over(X, y, sample_weight, order=order, **rest)
        seen = slice(None) if order is None else order
        labels = result["labels"][seen]
        seed = 0 if order is None else int(np.dot(order, np.arange(len(order))))
        scores = self._scores(len(labels), seed)
        result["scores"] = scores
        result["false_negatives"] = float(np.sum((labels > 0) & (scores < 0)))
        result["false_positives"] = float(np.sum((labels < 0) & (scores >= 0)))
        self.__dict__["_seed"] = seed
        return result

    def score_many(self, X):
        return self._scores(len(super().score_many(X)), self._seed + 1)


@pytest.mark.parametrize(
    ("rows", "runs", "honest_rows", "best_rows"),
    [
        (60, {"permutations": 10}, 600, 600),
        (300, {"folds": 10}, 300, 300),
        (3000, {"order": "time"}, 2000, 3000),
    ],
)
def test_luck_looks_good_only_to_who_chooses_on_what_is_reported(
    rows, runs, honest_rows, best_rows
):
    X, y = small(rows, seed=1)
    grid = {"luck": list(range(100))}
    honest, best = (
        compare({"guess": Guess()}, X, y, grid=grid, select=select, **runs).rows[0].mean["metric"]
        for select in ("honest", "best")
    )
    share = np.mean(y > 0)
    error = math.sqrt(0.25 / share + 0.25 / (1 - share)) / 2  # of guessing at one row
    assert abs(honest - 0.5) < 2 * error / math.sqrt(honest_rows)
    assert best > 0.5 + 2 * error / math.sqrt(best_rows)


def test_parameters_are_chosen_on_the_other_permutations():
    X, y = small()
    result = compare(["COG-II"], X, y, grid=RATES, permutations=5)
    values = np.array([run.value for run in result.sweep]).reshape(3, 5)
    for i, run in enumerate(result.runs):
        others = [j for j in range(5) if j != i]
        assert run.split == i
        assert run.point == np.argmax(values[:, others].mean(axis=1))


def test_inside_folds_the_training_pass_may_decide():
    X, y = small()
    result = compare(["COG-II"], X, y, grid=RATES, folds=4, inner=0)
    choices = np.array([run.choice for run in result.sweep]).reshape(3, 4)
    assert [run.point for run in result.runs] == np.argmax(choices, axis=0).tolist()
    assert any(run.choice != run.value for run in result.sweep)


def test_inside_folds_inner_folds_decide():
    X, y = small()
    folds = np.arange(len(y)) % 4
    result = compare(["COG-II"], X, y, grid=RATES, folds=folds, metric="auc", inner=3)
    choices = np.array([run.choice for run in result.sweep]).reshape(3, 4)
    assert [run.point for run in result.runs] == np.argmax(choices, axis=0).tolist()
    assert "3 folds inside the training part" in result.selection
    # Of the first fold and rate: learned in the order of the rows, scored on each inner fold.
    train = np.flatnonzero(folds != 0)
    model = lopsided.make("COG-II", learning_rate=RATES["learning_rate"][0])
    splits = folded(folds, y, 0, 3).all[0].inner
    assert sorted(np.concatenate([test for _, test in splits])) == train.tolist()
    values = []
    for rows, test in splits:
        assert sorted([*rows, *test]) == train.tolist()
        assert (np.diff(rows) > 0).all()
        scores = model.fit(X[rows], y[rows]).decision_function(X[test])
        values.append(lopsided.metrics.auc(y[test], scores))
    assert result.sweep[0].choice == pytest.approx(np.mean(values))


def test_what_is_held_out_has_no_part_in_the_choice():
    X, y = small()
    folds = np.arange(len(y)) % 4
    other = X.copy()
    other[folds == 0] = np.random.default_rng(0).normal(size=other[folds == 0].shape)
    first, second = (
        compare(["COG-II"], rows, y, grid=RATES, folds=folds, metric="auc") for rows in (X, other)
    )
    choices = [[r.choice for r in c.sweep if r.split == 0] for c in (first, second)]
    assert choices[0] == choices[1]
    assert first.runs[0].value != second.runs[0].value


def test_a_coarse_search_finds_the_best_of_a_smooth_grid():
    X, y = small(200, seed=3)
    grid = {"learning_rate": [2.0**k for k in range(-10, 11)], "loss": ["I", "II"]}
    options = {"grid": grid, "folds": 3, "metric": "auc", "inner": 2}
    whole, coarse = (
        compare({"COG": lopsided.COG()}, X, y, search=search, **options)
        for search in ("all", "coarse")
    )
    known = {(run.point, run.split): run for run in whole.sweep}
    assert len(whole.sweep) == 126
    assert 36 < len(coarse.sweep) <= 60
    for run in coarse.sweep:
        assert run.value == known[run.point, run.split].value
    for at in range(3):
        mine = [run for run in coarse.sweep if run.split == at]
        best = max(run.choice for run in mine)
        assert coarse.runs[at].choice == best
        tried = {run.parameters["learning_rate"] for run in mine}
        assert {2.0**k for k in range(-10, 11, 4)} <= tried
        chosen = coarse.runs[at].parameters["learning_rate"]
        assert {chosen / 2, chosen * 2} & {2.0**k for k in range(-10, 11)} <= tried
    with pytest.raises(ValueError, match="a coarse search"):
        coarse.sweep_table("learning_rate")


def test_settings_that_diverge_are_not_chosen():
    X, y = small(200)
    model = lopsided.OPAUC(scaling="none")
    grid = {"learning_rate": [1e-2, 1e3]}
    for runs in ({"folds": 3}, {"permutations": 3}, {"folds": 3, "select": "best"}):
        result = compare({"it": model}, X, y, grid=grid, metric="auc", **runs)
        assert [run.point for run in result.runs] == [0] * 3
        assert math.isnan(result.sweep[-1].value)
        assert math.isnan(result.sweep_table("learning_rate")[1]["mean"])
        json.loads(result.table("json"))
    with pytest.raises(
        ValueError, match=r"it with learning_rate=1000.0, fold \d: row \d+: .*not finite"
    ):
        compare({"it": model}, X, y, grid={"learning_rate": [1e3]}, folds=3)


def test_the_smallest_cost_is_the_best():
    X, y = small()
    result = compare(["COG-II"], X, y, grid=RATES, permutations=3, metric="cost", select="best")
    means = np.array([run.value for run in result.sweep]).reshape(3, 3).mean(axis=1)
    assert {run.point for run in result.runs} == {np.argmin(means)}
    assert result.rows[0].mean["metric"] == pytest.approx(means.min())


def test_of_equal_settings_the_first_is_taken():
    X, y = small()
    result = compare({"p": Perceptron()}, X, y, grid={"intercept": [True, 1]}, permutations=3)
    assert {run.point for run in result.runs} == {0}
    assert not result.rows[0].varies


def test_one_permutation_leaves_nothing_to_choose_on():
    X, y = small()
    with pytest.raises(ValueError, match="leaves no other to choose"):
        compare(["COG-II"], X, y, permutations=1)
    alone = compare(["COG-II"], X, y, permutations=1, grid={})
    assert math.isnan(alone.rows[0].std["metric"])
    assert "±" not in alone.table()


@pytest.mark.parametrize("rates", [[1e-3, 1e200], [1e-3, 1e-2, 1e200]])
def test_settings_that_diverge_on_held_out_rows_only_are_not_chosen(rates):
    X, y = small(200)
    far = 1e120 * X[:50]  # small weights bear them
    learner = {"it": lopsided.COG(scaling="none", class_weight=None)}
    result = compare(
        learner, X, y, grid={"learning_rate": rates}, held_out=(far, y[:50]), permutations=2
    )
    value = {run.parameters["learning_rate"]: run.value for run in result.sweep}
    assert math.isnan(value.pop(1e200))
    assert all(map(math.isfinite, value.values()))
    assert {run.parameters["learning_rate"] for run in result.runs} <= set(rates[:-1])


def test_a_learner_that_diverges_does_not_stop_the_others():
    X, y = small(200)
    wild = lopsided.OPAUC(scaling="none", learning_rate=1e3)
    result = compare({"sound": Perceptron(), "wild": wild}, X, y, metric="auc", permutations=3)
    assert math.isnan(result.rows[1].mean["metric"])
    assert result.best.name == "sound"
    assert "wild failed in 3 of 3 runs: its scores were not finite" in result.table()
    for form in ("csv", "json", "latex", "markdown"):
        assert "wild" in result.table(form)
