"""Classifiers of scikit-learn as contenders of a comparison."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lopsided
from lopsided.comparison import make_plan, run_plan
from lopsided.comparison.sklearn_models import SklearnModel

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
Y = np.where(X[:, 0] + 0.3 * rng.normal(size=300) > 1, "fraud", "fine")
SGD = SGDClassifier(random_state=0)
LR = LogisticRegression()


def scores_by_hand(model, rows, y, chunk=100):
    """Scores before learning: one row, then as many as were seen, at most `chunk`."""
    scores, at = [0.0], 1
    model.partial_fit(rows[:1], y[:1], classes=np.unique(y))
    while at < len(y):
        part = slice(at, at + min(at, chunk))
        scores += model.decision_function(rows[part]).tolist()
        model.partial_fit(rows[part], y[part])
        at = part.stop
    return np.array(scores)


def test_partial_fit_is_scored_chunk_by_chunk_before_it_learns():
    order = np.random.default_rng(1).permutation(300)
    result = lopsided.compare([SGD], X, Y, permutations=[order], metric="auc")
    scores = scores_by_hand(clone(SGD), X[order], Y[order])
    positive = Y[order] == "fraud"
    assert result.runs[0].value == lopsided.metrics.auc(np.where(positive, 1, -1), scores)
    counts = result.runs[0].counts
    assert counts.false_negatives == np.count_nonzero(positive & (scores < 0))
    assert counts.false_positives == np.count_nonzero(~positive & (scores >= 0))
    assert (counts.events, counts.queries, counts.updates) == (300, 300, 300)
    last = result.runs[0].curve[-1]
    assert last == counts
    assert len(result.runs[0].curve) == 15


def test_fit_only_is_fitted_once_a_split_and_judged_on_what_is_held_out():
    fold = np.arange(300) % 3
    pipeline = make_pipeline(StandardScaler(), LogisticRegression(C=0.5))
    result = lopsided.compare({"LR": LR, "pipe": pipeline}, X, Y, folds=fold, metric="auc")
    for row, model in zip(result.rows, (LR, pipeline), strict=True):
        runs = [run for run in result.runs if run.learner == row.name]
        for k, run in enumerate(runs):
            train, test = fold != k, fold == k
            scores = clone(model).fit(X[train], Y[train]).decision_function(X[test])
            codes = np.where(Y[test] == "fraud", 1, -1)
            assert run.value == lopsided.metrics.auc(codes, scores)
            assert (run.counts.events, run.counts.updates) == (100, 200)
    assert "LR" in result.table()


@pytest.mark.parametrize("positive", ["fraud", "fine"])
@pytest.mark.parametrize("model", [SGD, GaussianNB()], ids=repr)
def test_scores_are_those_of_the_positive_class(model, positive):
    learners = {"ours": lopsided.COG(positive=positive), "other": model}
    result = lopsided.compare(learners, X, Y, permutations=2, metric="auc")
    assert result.rows[1].mean["metric"] > 0.8
    assert result.rows[1].mean["sensitivity"] > 0.3


def test_all_come_in_the_same_table_and_report(tmp_path):
    learners = {"COG": "COG-II", "SGD": SGD, "LR": LR}
    result = lopsided.compare(learners, X, Y, held_out=(X, Y), permutations=2, grid={})
    assert [row.name for row in result.rows] == ["COG", "SGD", "LR"]
    for form in ("text", "csv", "json", "latex", "markdown"):
        assert "LR" in result.table(form)
    pytest.importorskip("matplotlib")
    path = tmp_path / "report.html"
    lopsided.report.write(result, path)
    assert "LR" in path.read_text()


def test_grids_and_seeds():
    grid = {"SGD": {"alpha": [1e-4, 1.0]}, "LR": {"C": [1e-6, 1.0]}}
    learners = {"SGD": SGD, "LR": LR}
    result = lopsided.compare(learners, X, Y, folds=3, grid=grid, metric="auc", jobs=1)
    assert {run.parameters["C"] for run in result.sweep if run.learner == "LR"} == {1e-6, 1.0}
    again = lopsided.compare(learners, X, Y, folds=3, grid=grid, metric="auc", jobs=2)
    assert [run.value for run in again.sweep] == [run.value for run in result.sweep]
    assert (
        SklearnModel(make_pipeline(SGD)).fresh(3).get_params()["sgdclassifier__random_state"] == 3
    )
    assert SGD.random_state == 0
    assert not hasattr(SGD, "coef_")


def test_a_journal_is_resumed(tmp_path):
    options = {"permutations": 2, "resume": tmp_path / "journal"}
    first = lopsided.compare({"SGD": SGD}, X, Y, **options)
    again = lopsided.compare({"SGD": SGD}, X, Y, **options)
    assert again.runs[0].seconds == first.runs[0].seconds
    with pytest.raises(ValueError, match="learners"):
        lopsided.compare({"SGD": SGDClassifier(alpha=1, random_state=0)}, X, Y, **options)


def test_weights_reach_the_classifier_and_a_weight_of_zero_leaves_a_row_out():
    weights = rng.choice([0.0, 1.0, 5.0], size=300)
    order = [np.arange(300)]
    plan = make_plan([SGD], X, Y, permutations=order, sample_weight=weights, metric="auc")
    run = run_plan(plan).runs[0]
    used = weights > 0
    plan = make_plan(
        [SGD],
        X[used],
        Y[used],
        permutations=[np.arange(used.sum())],
        sample_weight=weights[used],
        metric="auc",
    )
    assert run_plan(plan).runs[0].value == run.value
    unweighted = make_plan([SGD], X, Y, permutations=order, metric="auc")
    assert run_plan(unweighted).runs[0].value != run.value


def test_rows_of_every_form():
    dicts = [dict(zip("abcd", row, strict=True)) for row in X.tolist()]
    pipeline = make_pipeline(DictVectorizer(), LogisticRegression())
    values = {}
    for name, rows, model in (
        ("dense", X, LR),
        ("csr", csr_matrix(X), LR),
        ("dict", dicts, pipeline),
    ):
        values[name] = (
            lopsided.compare({"m": model}, rows, Y, folds=np.arange(300) % 3).runs[0].value
        )
    assert len(set(values.values())) == 1
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    assert lopsided.compare({"m": SGD}, frame, Y, permutations=1).runs[0].value > 0.5


class NoScores(LogisticRegression):
    decision_function = predict_proba = property()


@pytest.mark.parametrize(
    ("learner", "options", "error", "words"),
    [
        (LR, {}, ValueError, "m has no partial_fit, so it cannot be scored while it learns"),
        (LR, {"order": "time"}, ValueError, "compare on folds or held_out"),
        (
            LR,
            {"held_out": (X, Y), "grid": {"C": [1, 2]}},
            ValueError,
            "its parameters cannot be chosen by the training pass",
        ),
        (LR, {"folds": 3, "grid": {"C": [1, 2]}, "inner": 0}, ValueError, "take folds with inner"),
        (LR, {"folds": 3, "grid": {"m": {"c": [1]}}}, ValueError, "grid: m has no parameter 'c'"),
        (LinearRegression(), {}, TypeError, "neither decision_function nor predict_proba"),
        (NoScores(), {}, TypeError, "neither decision_function nor predict_proba"),
        (SGDClassifier, {}, TypeError, "SGDClassifier is a class: give an instance"),
        (
            object(),
            {},
            TypeError,
            "a learner is a name or an estimator, of lopsided or a classifier of",
        ),
        (SGDClassifier().fit(X, Y), {}, ValueError, "has learned already"),
        (
            make_pipeline(LogisticRegression()).fit(X, Y),
            {"folds": 3},
            ValueError,
            "has learned already",
        ),
        (
            make_pipeline(LR),
            {"folds": 3, "sample_weight": np.ones(300)},
            ValueError,
            "m takes no sample_weight",
        ),
        (
            SGDClassifier(alpha=-1),
            {"permutations": 1},
            ValueError,
            "m, permutation 0: The 'alpha' parameter",
        ),
        (SGDClassifier(class_weight="balanced"), {}, ValueError, "'balanced' is not supported for"),
    ],
)
def test_what_cannot_be_compared(learner, options, error, words):
    with pytest.raises(error) as raised:
        lopsided.compare({"m": learner}, X, Y, **options)
    assert words in str(raised.value)


def test_scores_that_are_not_finite_are_a_divergence():
    class Wild(SGDClassifier):
        def decision_function(self, rows):
            return super().decision_function(rows) * np.nan

    with pytest.raises(ValueError, match="m, permutation 0: its scores are not finite"):
        lopsided.compare({"m": Wild()}, X, Y, permutations=1)
    grid = {"alpha": [1e-4, 1e-3]}  # a point that nobody would choose, as for our learners
    result = lopsided.compare({"m": Wild(random_state=0)}, X, Y, folds=2, grid=grid)
    assert all(np.isnan(run.value) for run in result.sweep)


def test_nothing_imports_scikit_learn():
    code = """
import sys, numpy as np, lopsided
X = np.random.default_rng(0).normal(size=(30, 2))
lopsided.compare(["COG-II"], X, X[:, 0] > 0, permutations=2, grid={})
assert "sklearn" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
