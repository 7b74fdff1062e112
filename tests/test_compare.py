"""Comparisons: what is run, what is chosen, what is reported."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from typing import ClassVar

import click
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import scipy.stats
from click.testing import CliRunner

import lopsided
from lopsided import _data, compare
from lopsided._parameters import integer
from lopsided.cli import main
from lopsided.cli.compare import _learners
from lopsided.cli.compare import command as compare_command
from lopsided.comparison.grids import learners_of
from lopsided.comparison.journal import Journal
from lopsided.comparison.measures import MEASURES
from lopsided.comparison.splits import folded
from lopsided.comparison.statistics import wilcoxon
from lopsided.linear import Perceptron
from reference.published import TABLE, disagreements, german, prepare_acog
from streams import csr, events, stream

RATES = {"learning_rate": [0.01, 1.0, 100.0]}


def small(rows=120, seed=0):
    return stream(seed, rows)


def timeless(result):
    """A comparison as a dict, without what the clock says."""

    def without(value):
        if isinstance(value, dict):
            return {k: without(v) for k, v in value.items() if k != "seconds"}
        return [without(v) for v in value] if isinstance(value, list) else value

    return without(result.to_dict())


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

    def _pass(self, X, y, sample_weight, *, order=None, **rest):
        result = super()._pass(X, y, sample_weight, order=order, **rest)
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


# Honest choice -----------------------------------------------------------------------------------


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


def test_one_permutation_leaves_nothing_to_choose_on():
    X, y = small()
    with pytest.raises(ValueError, match="leaves no other to choose"):
        compare(["COG-II"], X, y, permutations=1)
    alone = compare(["COG-II"], X, y, permutations=1, grid={})
    assert math.isnan(alone.rows[0].std["metric"])
    assert "±" not in alone.table()


# What is run -------------------------------------------------------------------------------------


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
    real = _data._from_frame
    monkeypatch.setattr(_data, "_from_frame", lambda X: calls.append(1) or real(X))
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


# Threads and journals ----------------------------------------------------------------------------


def test_the_number_of_threads_does_not_matter():
    X, y = small(300)
    learners = ["Perceptron", "COG-II", "ACOG-I"]
    one, two, five = (
        timeless(compare(learners, X, y, grid=RATES, permutations=4, jobs=jobs))
        for jobs in (1, 2, 5)
    )
    assert one == two == five


class Stop(Exception):  # noqa: N818
    pass


def interrupted_after(runs, calls):
    def progress(done, total):
        calls.append(done)
        if len(calls) == runs:
            raise Stop

    return progress


def test_an_interrupted_comparison_goes_on_to_the_same_result(tmp_path):
    X, y = small(100)
    journal = tmp_path / "journal"
    asked = {"grid": RATES, "permutations": 3, "metric": "auc"}
    whole = compare(["Perceptron", "COG-II"], X, y, **asked)
    for _ in range(2):
        with pytest.raises(Stop):
            compare(
                ["Perceptron", "COG-II"],
                X,
                y,
                **asked,
                resume=journal,
                progress=interrupted_after(3, []),
            )
        with journal.open("a") as file:
            file.write('{"task": [0, 0, 0], "val' + 20000 * "1")  # the power went
    calls = []
    again = compare(
        ["Perceptron", "COG-II"],
        X,
        y,
        **asked,
        resume=journal,
        progress=lambda done, total: calls.append((done, total)),
    )
    assert calls == [(7, 12), (8, 12), (9, 12), (10, 12), (11, 12), (12, 12)]
    assert timeless(again) == timeless(whole)
    assert len([json.loads(line) for line in journal.read_text().splitlines()]) == 13
    kept = compare(["Perceptron", "COG-II"], X, y, **asked, resume=journal)
    assert kept.to_dict() == again.to_dict()  # times too: they are from the journal


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"X": lambda X: X + 1e-9}, "other data"),
        ({"X": csr}, "other data"),
        ({"y": lambda y: -y}, "other labels"),
        ({"learners": ["COG-I"]}, "other learners: COG-II = .*, not COG-I = "),
        ({"grid": {"learning_rate": [2.0]}}, r"other grids: .*1\.0.*, not .*2\.0"),
        ({"permutations": 3}, "2 permutations, not 3 permutations"),
        ({"seed": 1}, "other runs"),
        ({"metric": "cost"}, "other metric: sum, not cost"),
        ({"fn": 5.0}, "other prices: .*0.9.*, not .*5.0"),
        ({"sample_weight": np.full(60, 2.0)}, "other weights"),
        ({"points": 3}, "other points: 15, not 3"),
    ],
)
def test_a_journal_of_another_comparison_is_refused(change, what, tmp_path):
    X, y = small(60)
    asked = {
        "learners": ["COG-II"], "X": X, "y": y, "grid": {"learning_rate": [1.0]}, "permutations": 2,
        "resume": tmp_path / "journal",
    }  # fmt: skip
    compare(**asked)
    before = asked["resume"].read_bytes()
    other = {k: v(asked[k]) if callable(v) else v for k, v in change.items()}
    with pytest.raises(ValueError, match=what):
        compare(**{**asked, **other})
    assert asked["resume"].read_bytes() == before


def test_a_file_that_is_no_journal_is_left_alone(tmp_path):
    X, y = small(60)
    file = tmp_path / "precious.csv"
    for text in ("no newline", "a,b\n1,2\n", '{"kind": "x"}\n', "[]\n"):
        file.write_text(text)
        with pytest.raises(ValueError, match=r"precious\.csv is not the journal"):
            compare(["CPA"], X, y, permutations=2, resume=file)
        assert file.read_text() == text


def test_a_spoilt_line_of_a_journal_is_named(tmp_path):
    X, y = small(60)
    file = tmp_path / "journal"
    compare(["CPA"], X, y, permutations=3, resume=file)
    lines = file.read_text().splitlines()
    lines[2] = "spoilt"
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match="line 3: this is not a run"):
        compare(["CPA"], X, y, permutations=3, resume=file)


# What is reported --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result():
    X, y = small(300)
    return compare(["Perceptron", "PA-I", "COG-II", "AROW-diag"], X, y, permutations=6)


def test_rows_sum_up_the_runs(result):
    for row in result.rows:
        mine = [run for run in result.runs if run.learner == row.name]
        assert row.mean["metric"] == np.mean([run.counts.sum() for run in mine])
        assert row.std["cost"] == np.std([run.counts.cost() for run in mine], ddof=1)
        assert row.mean["updates"] == np.mean([run.counts.updates for run in mine])
        assert [run.parameters for run in mine] == list(row.chosen)
        assert row.parameters in row.chosen


def test_significance_is_that_of_scipy(result):
    values = {
        row.name: np.array([run.value for run in result.runs if run.learner == row.name])
        for row in result.rows
    }
    best = max(values, key=lambda name: values[name].mean())
    for row in result.rows:
        assert row.best == (row.name == best)
        wins = losses = 0
        for other in values:
            if other != row.name:
                test = scipy.stats.ttest_rel(values[row.name], values[other])
                wins += test.pvalue < 0.05 and test.statistic > 0
                losses += test.pvalue < 0.05 and test.statistic < 0
        assert (row.wins, row.losses) == (wins, losses)
        assert row.wins + row.ties + row.losses == 3
        if not row.best:
            pair = values[row.name], values[best]
            assert row.t_test == pytest.approx(scipy.stats.ttest_rel(*pair).pvalue)
            assert row.wilcoxon == wilcoxon(*pair)
            assert row.worse == (row.t_test < 0.05)
    assert any(row.worse for row in result.rows)


def test_curves_are_means_along_the_pass(result):
    mine = [run for run in result.runs if run.learner == "COG-II"]
    curve = result.curves["COG-II"]
    assert curve["events"][-1] == 300
    assert len(curve["sum"]) == len(curve["queries"]) == len(mine[0].curve)
    assert curve["cost"][4] == pytest.approx(np.mean([run.curve[4].cost() for run in mine]))


def test_the_sweep_gives_the_metric_against_a_parameter(result):
    rows = result.sweep_table("learning_rate")
    assert [row["value"] for row in rows] == [10.0**k for k in range(-5, 6)]
    values = [run.value for run in result.sweep if run.parameters == {"learning_rate": 1.0}]
    assert len(values) == 6
    assert rows[5]["mean"] == np.mean(values)
    assert rows[5]["std"] == np.std(values, ddof=1)
    assert rows[5]["nnz"] == 7
    with pytest.raises(ValueError, match="did you mean 'learning_rate'"):
        result.sweep_table("learningrate")


def test_csv_has_a_line_a_learner(result):
    rows = list(csv.DictReader(io.StringIO(result.table("csv"))))
    assert [row["learner"] for row in rows] == [row.name for row in result.rows]
    assert float(rows[2]["metric_mean"]) == result.rows[2].mean["metric"]
    assert json.loads(rows[2]["parameters"]) == result.rows[2].parameters
    assert sum(row["best"] == "true" for row in rows) == 1


def test_json_has_everything(result):
    found = json.loads(result.table("json"), parse_constant=pytest.fail)
    assert found == result.to_dict()
    assert len(found["sweep"]) == 6 * (1 + 11 + 11 + 11)
    assert found["rows"][0]["mean"]["cost"] == result.rows[0].mean["cost"]
    assert found["about"]["rows"] == 300


def test_latex_is_balanced_and_escaped():
    X, y = small(60)
    result = compare({"a_b & 50 % {x} #1 \\~^$": "CPA", "c": "COG-II"}, X, y, permutations=3)
    text = result.table("latex")
    bare = text.replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")
    assert text.count(r"\begin{") == text.count(r"\end{") == 2
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    columns = text.split(r"\begin{tabular}{")[1].split("}")[0]
    assert {line.replace(r"\&", "").count("&") for line in body} == {len(columns) - 1}
    assert r"a\_b \& 50 \% \{x\} \#1 \textbackslash{}\textasciitilde{}\textasciicircum{}\$" in text
    assert text.count(r"\textbf{") == 1


def test_markdown_has_as_many_cells_in_every_line():
    X, y = small(60)
    text = compare({"a|b": "CPA", "c": "COG-II"}, X, y, permutations=3).table("markdown")
    lines = [line.replace(r"\|", "") for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1
    assert text.count("**") == 4  # the best, and the word in the legend


def test_text_has_its_columns_below_each_other(result):
    header, *rows = result.table("text").splitlines()[2:7]
    end = header.index("specificity %") + len("specificity %")
    assert all(row[end] == " " and row[end - 1].isdigit() for row in rows)
    row = next(row for row in result.rows if row.best)
    assert f"{100 * row.mean['metric']:.3f}±{100 * row.std['metric']:.3f}*" in "".join(rows)


@pytest.mark.parametrize("form", ["text", "csv", "json", "latex", "markdown"])
def test_every_format_says_how_parameters_were_chosen(form, result):
    X, y = small(60)
    best = compare(["COG-II"], X, y, permutations=2, select="best")
    assert "the very runs reported" in best.table(form)
    assert "on other permutations than the one reported" in result.table(form)


def test_a_table_is_saved_by_its_ending(result, tmp_path):
    for ending, form in {".md": "markdown", ".tex": "latex", ".json": "json"}.items():
        path = tmp_path / f"t{ending}"
        result.save(path)
        assert path.read_text() == result.table(form)
    with pytest.raises(ValueError, match=r"name it \.txt"):
        result.save(tmp_path / "t.xlsx")


# Bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"learners": ["COGII"]}, "there is no learner 'COGII'"),
        ({"learners": []}, "no learner"),
        ({"learners": ["CPA", "cpa"]}, "two learners are called 'CPA'"),
        ({"learners": [3]}, "a name or an estimator"),
        ({"learners": [lopsided.COG(positive=1), lopsided.CPA()]}, "different positive labels"),
        ({"learners": [lopsided.COG().fit([[1.0], [2.0]], [0, 1])]}, "has learned already"),
        ({"grid": {"learning_rate": []}}, "learning_rate has no values"),
        ({"grid": {"learning_rate": "1"}}, "must have a list of values"),
        ({"grid": {"learning_rat": [1]}}, "did you mean 'learning_rate'"),
        ({"grid": {"learning_rate": [1, -1]}}, "learning_rate=-1 is not possible"),
        ({"grid": {"COG": {"learning_rate": [1]}}}, "no learner is called 'COG'"),
        ({"grid": {"COG-II": {"C": [1]}}}, "COG-II has no parameter 'C'"),
        ({"grid": [1]}, "grid must be a dict"),
        ({"metric": "acuracy"}, "did you mean 'accuracy'"),
        ({"metric": "precision_at_0"}, "did you mean 'precision_at_K'"),
        ({"metric": "precision_at_61", "grid": {}}, "k=61 is not possible"),
        ({"select": "lucky"}, "select='lucky'"),
        ({"order": "tim"}, "order='tim'"),
        ({"jobs": 0}, "jobs=0"),
        ({"points": -1}, "points=-1"),
        ({"permutations": 0}, "permutations=0"),
        ({"permutations": [[0, 1, 60]]}, r"order\[2\] is 60"),
        ({"permutations": np.arange(60)}, "one order a row"),
        ({"permutations": 3, "order": "time"}, "leave one of the two out"),
        ({"permutations": 3, "folds": 3}, "leave out permutations"),
        ({"folds": 1}, "folds=1"),
        ({"folds": 40}, "fold .* has only the class"),
        ({"folds": np.zeros(60, int)}, "nothing is left to learn from"),
        ({"folds": np.arange(59) % 2}, "60 rows but folds has 59"),
        ({"folds": np.ones(60) / 2}, "whole numbers"),
        ({"folds": 3, "inner": 1}, "inner=1"),
        ({"folds": 3, "inner": 30}, "too few for 30 inner folds"),
        ({"folds": 3, "inner": 3, "grid": {}}, "inner is for"),
        ({"folds": 3, "inner": 3, "select": "best"}, "inner is for"),
        ({"inner": 3}, "inner is for"),
        ({"search": "wide"}, "search='wide'"),
        ({"search": "coarse"}, "take folds"),
        ({"search": "coarse", "folds": 3, "grid": {}}, "no learner has one"),
        ({"search": "coarse", "folds": 3, "select": "best"}, "select='honest'"),
        ({"held_out": ([[1.0] * 7], [1])}, "what is held out has only the class"),
        ({"held_out": ([[1.0] * 7] * 2, [1, 5])}, "found the label 5"),
        ({"held_out": 3}, "held_out must be a tuple"),
        ({"held_out": (np.ones((2, 3)), [1, -1])}, "X has 3 features"),
        ({"y": np.ones(60)}, "has only the class"),
        ({"y": np.arange(60)}, "Only binary classification"),
        ({"y": np.ones(59)}, "X has 60 rows but y has 59"),
        ({"X": np.full((60, 2), np.nan)}, "^row .*: Input X contains NaN in column 0"),
        ({"sample_weight": -np.ones(60)}, "a weight must be finite"),
        ({"learners": ["PA"], "sample_weight": np.arange(60.0)}, "^PA, permutation 0: "),
    ],
)
def test_bad_input_is_an_error_that_says_what(change, what):
    X, y = small(60)
    with pytest.raises((ValueError, TypeError), match=what):
        compare(**{"learners": ["COG-II"], "X": X, "y": y, "jobs": 1, **change})


def test_one_class_in_the_first_third_is_an_error_in_order_of_time():
    X, y = small(60)
    with pytest.raises(ValueError, match="the first third of the rows"):
        compare(["COG-II"], X, np.sort(y), order="time")


@pytest.mark.parametrize(
    "options",
    [
        "--order time --seed 3",
        "--order time --permutations 3",
        "--folds 3 --permutations 3",
        "--folds 3 --test e.svm",
        "--folds 3 --order time",
        "--folds folds.txt --seed 3",
        "--folds 3 --inner 3",
        "--learners COG-II --inner 3",
        "--learners COG-II --search coarse",
        "--learners COG-II --folds 3 --search coarse --sweep learning_rate",
        "--json --table csv",
        "--set foo=1",
        "--sweep learning_rate",
        "--grid C",
        "--metric acuracy",
        "--output missing/table.txt",
        "--resume german",
    ],
)
def test_options_without_effect_are_wrong_usage(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "german").write_text("1 1:1\n0 2:1\n")
    with pytest.raises(click.UsageError):
        main.main(
            ["compare", "german", "--learners", "CPA", *options.split()], standalone_mode=False
        )


# Published figures -------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["sum", "cost"])
def test_published_figures_of_german(metric):
    found = german()
    if found is None:
        pytest.skip("german is neither in $LOPSIDED_DATA nor in ../shared/data")
    X, y, orders = found
    rows = [
        row for row in TABLE
        if row.paper == "ACOG" and row.metric == metric and row.learner in ("COG-II", "ACOG-II")
    ]  # fmt: skip
    for row in rows:
        rate = row.parameters["learning_rate"]
        weight = "balanced" if metric == "sum" else {1: row.rho, -1: 1.0}
        model = lopsided.make(row.learner, scaling="none", positive=1, class_weight=weight)
        result = compare(
            {row.learner: model},
            prepare_acog(X),
            y,
            grid={"learning_rate": [rate]},
            permutations=orders,
            metric=metric,
            select="best",
        )
        passes = [(r.value, r.counts.sensitivity, r.counts.specificity) for r in result.runs]
        assert disagreements(row, passes) == []
        if metric == "sum":
            assert row.published[0] in result.table()


def test_two_comparisons_do_not_share_a_journal_at_once(tmp_path):
    first = Journal(tmp_path / "jj", {"data": "a"})
    with pytest.raises(ValueError, match="another comparison is using"):
        Journal(tmp_path / "jj", {"data": "a"})
    first.close()
    Journal(tmp_path / "jj", {"data": "a"}).close()


def test_a_journal_cut_in_its_first_line_starts_anew(tmp_path):
    path = tmp_path / "jj"
    Journal(path, {"data": "a"}).close()
    whole = path.read_bytes()
    for size in (0, 5, len(whole) - 1):
        path.write_bytes(whole[:size])
        Journal(path, {"data": "a"}).close()
        assert path.read_bytes() == whole


@pytest.mark.parametrize("given", [{"alpha": 7}, {"alpha": math.nan}, {"fn": -1}, {"fp": math.inf}])
def test_prices_are_checked(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        compare("COG-II", *small(), grid={}, **given)


@pytest.mark.parametrize("permutations", [True, 2.5])
def test_permutations_that_are_no_number_are_refused(permutations):
    with pytest.raises(ValueError, match="whole number"):
        compare("COG-II", *small(), grid={}, permutations=permutations)


@pytest.mark.parametrize(
    "options",
    [
        ["--learners", "COG-II,COG-II"],
        ["--grid", "learning_rate=1", "--grid", "learning_rate=2"],
        ["--output", "x.docx"],
    ],
)
def test_options_that_would_be_passed_over_are_errors(options):
    found = CliRunner().invoke(compare_command, ["missing.csv", *options])
    assert found.exit_code == 2
    assert "twice" in found.output or "name it" in found.output


def test_a_parameter_that_is_set_is_not_in_the_grid():
    options = {"learners": "COG-II", "settings": ("learning_rate=5",), "positive": None, "grid": ()}
    models, grid = _learners(options)
    assert models["COG-II"].learning_rate == 5
    assert "learning_rate" not in grid["COG-II"]


def test_all_values_of_the_papers_are_tried_on_demand():
    names = ["OA3", "PAA", "COG-II"]
    few, all_of_them = ([len(x.points) for x in learners_of(names, g)] for g in (None, "paper"))
    assert (few, all_of_them) == ([45, 15, 11], [1331, 121, 11])
    options = {"learners": "OA3", "settings": ("delta_neg=1",), "positive": None}
    sizes = [
        {k: len(v) for k, v in _learners({**options, "grid": given})[1]["OA3"].items()}
        for given in ((), ("paper",))
    ]
    assert sizes == [{"learning_rate": 5, "delta_pos": 3}, {"learning_rate": 11, "delta_pos": 11}]
