"""Comparisons in which labels come late."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.linear_model import SGDClassifier

import lopsided
from lopsided.cli import main

rng = np.random.default_rng(1)
X = rng.normal(size=(300, 3))
Y = (X[:, 0] + 0.4 * rng.normal(size=300) > 1).astype(int)
TIME = np.arange(300) * 10.0
KNOWN = TIME + rng.integers(0, 900, size=300)


@pytest.mark.parametrize(
    "late", [{"delay": 40}, {"delay": np.arange(300) % 50}, {"time": TIME, "label_time": KNOWN}]
)
def test_each_run_is_a_pass_with_late_labels(late):
    learners = {"COG": lopsided.COG(), "SGD": SGDClassifier(random_state=0)}
    result = lopsided.compare(learners, X, Y, order="time", metric="auc", **late)
    for run, model in zip(result.runs, learners.values(), strict=True):
        options = {"resume": True} if run.learner == "COG" else {}
        alone = lopsided.progressive(model, X, Y, **options, **late)
        assert run.value == alone.auc
        assert run.counts.false_negatives == alone.false_negatives


def test_permutations_have_their_own_delays():
    orders = [rng.permutation(300) for _ in range(2)]
    result = lopsided.compare(["PA-I"], X, Y, permutations=orders, grid={}, metric="auc", delay=30)
    at_once = lopsided.compare(["PA-I"], X, Y, permutations=orders, grid={}, metric="auc")
    for run, order, other in zip(result.runs, orders, at_once.runs, strict=True):
        alone = lopsided.progressive(lopsided.make("PA-I"), X, Y, order=order, delay=30)
        assert run.value == alone.auc != other.value


def test_label_times_come_before_the_first_event_that_is_not_earlier():
    time = np.array([0.0, 10, 20, 15, 30, 40])
    known = np.array([10.0, 21, np.nan, 10, 99, 40])
    model, other = lopsided.COG(positive=1), lopsided.COG(positive=1)
    delays = [0, 2, np.inf, 0, np.inf, 0]
    found = lopsided.progressive(model, X[:6], Y[:6], time=time, label_time=known, resume=True)
    expected = lopsided.progressive(other, X[:6], Y[:6], delay=delays, resume=True)
    np.testing.assert_array_equal(found.scores, expected.scores)
    dates = (
        [np.datetime64(int(t), "s") for t in time],
        ["" if t != t else str(np.datetime64(int(t), "s")) for t in known],
    )
    model = lopsided.COG(positive=1)
    again = lopsided.progressive(
        model, X[:6], Y[:6], time=dates[0], label_time=dates[1], resume=True
    )
    np.testing.assert_array_equal(again.scores, expected.scores)


def test_a_journal_is_of_one_delay(tmp_path):
    options = {"permutations": 2, "grid": {}, "resume": tmp_path / "journal"}
    lopsided.compare(["PA-I"], X, Y, delay=30, **options)
    with pytest.raises(ValueError, match="late labels"):
        lopsided.compare(["PA-I"], X, Y, delay=31, **options)


def test_one_positive_label_for_all():
    names = np.where(Y > 0, "a", "b")
    result = lopsided.compare(["PA-I", "COG-II"], X, names, positive="a", permutations=2, grid={})
    assert {run.counts.positives for run in result.runs} == {Y.sum()}
    with pytest.raises(ValueError, match="another positive label"):
        lopsided.compare([lopsided.COG(positive="b")], X, names, positive="a")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"delay": 3, "time": TIME, "label_time": KNOWN, "order": "time"}, "contradict"),
        ({"time": TIME, "label_time": KNOWN}, "order='time'"),
        ({"label_time": KNOWN, "order": "time"}, "needs time"),
        ({"time": TIME}, "only with label_time"),
        ({"delay": -1}, "delay"),
    ],
)
def test_what_does_not_fit_is_refused(options, text):
    with pytest.raises(ValueError, match=text):
        lopsided.compare(["PA-I"], X, Y, **options)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["when", "known", "a", "b", "c", "label"])
        out.writerows(zip(TIME, KNOWN, *X.T, Y, strict=True))
    return str(path)


def test_in_the_shell(table):
    given = ["compare", table, "--learners", "COG-II", "--grid", "none", "--order", "time"]
    given += ["--metric", "auc", "--json", "-q"]
    late = CliRunner().invoke(
        main, [*given, "--time", "when", "--label-time", "known"], catch_exceptions=False
    )
    model = lopsided.make("COG-II")
    alone = lopsided.progressive(model, X, Y, time=TIME, label_time=KNOWN, resume=True)
    assert f'"value": {alone.auc!r}' in late.stdout or f"{alone.auc!r}" in late.stdout
    drop = ["--drop", "when", "--drop", "known", "--delay", "40"]
    by_events = CliRunner().invoke(main, [*given, *drop], catch_exceptions=False)
    alone = lopsided.progressive(lopsided.make("COG-II"), X, Y, delay=40, resume=True)
    assert f"{alone.auc!r}" in by_events.stdout
    for options in (["--label-time", "known"], ["--time", "when"]):
        refused = CliRunner().invoke(main, [*given, *options])
        assert refused.exit_code == 2
