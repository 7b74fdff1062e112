"""The store of finished runs: what is found again, and what is not."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pytest

from lopsided.comparison import make_plan, run_plan
from lopsided.papers.store import Store

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.where(X[:, 0] > 0.3, 1, -1)
GRID = {"learning_rate": [0.1, 1.0]}


def a_plan(**changed):
    options = {"grid": {"COG-I": GRID}, "permutations": 3, **changed}
    return make_plan(["Perceptron", "COG-I"], X, Y, **options)


def ran(path, plan, rows="rows"):
    """Return how many runs were not in the store, and the results."""
    finished = Store(path).of(plan, rows)
    known = len(finished.runs)
    results = run_plan(plan, jobs=1, finished=finished)
    assert len(Store(path).of(plan, rows).runs) == len(results.runs)
    return len(results.runs) - known, results


def test_what_is_the_same_is_found(tmp_path):
    path = tmp_path / "a.runs"
    count, first = ran(path, a_plan())
    assert count == 9
    assert ran(path, a_plan())[0] == 0
    assert ran(path, a_plan(permutations=5))[0] == 6  # the two orders that are new
    assert ran(path, a_plan(grid={"COG-I": {"learning_rate": [1.0, 3.0, 0.1]}}))[0] == 3
    one = make_plan(["COG-I"], X, Y, grid={"COG-I": GRID}, permutations=3)
    assert ran(path, one)[0] == 0
    assert ran(path, a_plan(metric="cost", fn=0.5))[0] == 0  # made of the same counts
    again = ran(path, a_plan())[1]
    assert again.runs == first.runs  # times too
    assert again.earlier > 0


@pytest.mark.parametrize(
    "changed",
    [
        {"seed": 1},
        {"points": 3},
        {"known_counts": False},
        {"grid": {"COG-I": {"learning_rate": [0.2, 2.0]}, "Perceptron": {"intercept": [True]}}},
    ],
    ids=repr,
)
def test_what_differs_is_run(changed, tmp_path):
    path = tmp_path / "a.runs"
    ran(path, a_plan())
    assert ran(path, a_plan(**changed))[0] == 9


def test_other_rows_are_run(tmp_path):
    path = tmp_path / "a.runs"
    ran(path, a_plan())
    assert ran(path, a_plan(), rows="others")[0] == 9


def test_what_is_chosen_by_a_metric_is_not_shared_between_metrics(tmp_path):
    path = tmp_path / "a.runs"
    folds = {"permutations": None, "folds": 2, "inner": 2}
    assert ran(path, a_plan(**folds))[0] == 6
    assert ran(path, a_plan(**folds))[0] == 0
    assert ran(path, a_plan(**folds, metric="auc"))[0] == 6
    assert ran(path, a_plan(**folds, alpha=0.3))[0] == 6


def test_a_line_that_was_cut_off_or_altered_is_run_again(tmp_path):
    path = tmp_path / "a.runs"
    whole = ran(path, a_plan())[1]
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    assert ran(path, a_plan())[0] == 1
    assert ran(path, a_plan())[0] == 0  # what was appended to the cut line is found
    path.write_bytes(content.replace(b'"value"', b'"Value"', 1))
    count, again = ran(path, a_plan())
    assert count == 1
    plain = [dataclasses.replace(run, seconds=0.0) for run in again.runs]
    assert plain == [dataclasses.replace(run, seconds=0.0) for run in whole.runs]


def test_several_write_at_once(tmp_path):
    path = tmp_path / "a.runs"
    stores = [Store(path) for _ in range(4)]

    def write(k):
        for i in range(50):
            stores[k].put(f"{k} {i}", {"value": [i] * 1000})

    threads = [threading.Thread(target=write, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = Store(path)
    assert all(found.get(f"{k} {i}") == {"value": [i] * 1000} for k in range(4) for i in range(50))
    assert found.get("4 0") is None
