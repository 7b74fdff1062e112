"""A comparison in three steps: plan, run, summary."""

from __future__ import annotations

import numpy as np
import pytest
from comparisons import RATES, small, timeless

from lopsided import compare
from lopsided.comparison import make_plan, run_plan, summarize


@pytest.mark.parametrize(
    "how",
    [
        {"permutations": 2},
        {"folds": 2, "inner": 2},
        {"order": "time"},
        {"folds": 2, "search": "coarse", "grid": {"learning_rate": list(10.0 ** np.arange(-4, 5))}},
    ],
)
def test_a_comparison_is_the_summary_of_the_runs_of_a_plan(how):
    X, y = small()
    how = {"grid": RATES, **how}
    plan = make_plan(["Perceptron", "COG-II"], X, y, **how)
    assert timeless(summarize(run_plan(plan))) == timeless(
        compare(["Perceptron", "COG-II"], X, y, **how)
    )


def test_a_plan_can_be_run_twice():
    plan = make_plan(["COG-II"], *small(), grid=RATES, permutations=2)
    first, second = run_plan(plan), run_plan(plan)
    assert first.plan is plan
    assert [run.value for run in first.runs] == [run.value for run in second.runs]
    assert len(first.runs) == 3 * 2


def test_a_plan_says_how_parameters_are_chosen():
    X, y = small()

    def rule(**how):
        return make_plan(["COG-II"], X, y, **{"grid": RATES, **how}).rule

    assert rule(permutations=2) == "permutations"
    assert rule(permutations=2, select="best") == "best"
    assert rule(permutations=2, grid={}) == "none"
    assert rule(folds=2) == "inner"
    assert rule(folds=2, inner=0) == "folds"
    assert rule(order="time") == "time"
    assert rule(held_out=(X, y)) == "held out"
