"""Comparisons: what cannot be compared, in Python and on the command line."""

from __future__ import annotations

import math

import click
import numpy as np
import pytest
from click.testing import CliRunner
from comparisons import small

import lopsided
from lopsided import compare
from lopsided.cli import main
from lopsided.cli.compare import _learners
from lopsided.cli.compare import command as compare_command
from lopsided.cli.compare_options import CompareOptions
from lopsided.comparison.grids import learners_of


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
        ({"grid": {"learning_rate": [1, -1]}}, "learning_rate=-1 is invalid"),
        ({"grid": {"COG": {"learning_rate": [1]}}}, "no learner is called 'COG'"),
        ({"grid": {"COG-II": {"C": [1]}}}, "COG-II has no parameter 'C'"),
        ({"grid": [1]}, "grid must be a dict"),
        ({"metric": "acuracy"}, "did you mean 'accuracy'"),
        ({"metric": "precision_at_0"}, "did you mean 'precision_at_K'"),
        ({"metric": "precision_at_61", "grid": {}}, "k=61 is invalid"),
        ({"alpha": 7}, "alpha must be .*not 7"),
        ({"alpha": math.nan}, "alpha must be .*not nan"),
        ({"fn": -1}, "fn must be .*not -1"),
        ({"fp": math.inf}, "fp must be .*not inf"),
        ({"select": "lucky"}, "select='lucky'"),
        ({"order": "tim"}, "order='tim'"),
        ({"jobs": 0}, "jobs=0"),
        ({"points": -1}, "points=-1"),
        ({"permutations": 0}, "permutations=0"),
        ({"permutations": True}, "permutations=True.*whole number"),
        ({"permutations": 2.5}, r"permutations=2\.5.*whole number"),
        ({"permutations": [[0, 1, 60]]}, r"order\[2\] is 60"),
        ({"permutations": np.arange(60)}, "one order per row"),
        ({"permutations": 3, "order": "time"}, "leave one of the two out"),
        ({"permutations": 3, "folds": 3}, "leave out permutations"),
        ({"folds": 1}, "folds=1"),
        ({"folds": 40}, "fold .* has only the class"),
        ({"folds": np.zeros(60, int)}, "none are left to learn from"),
        ({"folds": np.arange(59) % 2}, "60 rows but folds has 59"),
        ({"folds": np.ones(60) / 2}, "an integer per row"),
        ({"folds": 3, "inner": 1}, "inner=1"),
        ({"folds": 3, "inner": 30}, "too few for 30 inner folds"),
        ({"folds": 3, "inner": 3, "grid": {}}, "inner is for"),
        ({"folds": 3, "inner": 3, "select": "best"}, "inner is for"),
        ({"inner": 3}, "inner is for"),
        ({"search": "wide"}, "search='wide'"),
        ({"search": "coarse"}, "take folds"),
        ({"search": "coarse", "folds": 3, "grid": {}}, "no learner has one"),
        ({"search": "coarse", "folds": 3, "select": "best"}, "select='honest'"),
        ({"held_out": ([[1.0] * 7], [1])}, "held_out has only the class"),
        ({"held_out": ([[1.0] * 7] * 2, [1, 5])}, "found the label 5"),
        ({"held_out": 3}, "held_out must be a tuple"),
        ({"held_out": (np.ones((2, 3)), [1, -1])}, "X has 3 features"),
        ({"y": np.ones(60)}, "has only the class"),
        ({"y": np.sort(small(60)[1]), "order": "time"}, "the first third of the rows"),
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


def given(*words):
    context = compare_command.make_context("compare", ["e.csv", *words])
    return CompareOptions(**context.params)


def test_a_parameter_that_is_set_is_not_in_the_grid():
    models, grid = _learners(given("--learners", "COG-II", "--set", "learning_rate=5"))
    assert models["COG-II"].learning_rate == 5
    assert "learning_rate" not in grid["COG-II"]


def test_all_values_of_the_papers_are_tried_on_demand():
    names = ["OA3", "PAA", "COG-II"]
    few, all_of_them = ([len(x.points) for x in learners_of(names, g)] for g in (None, "paper"))
    assert (few, all_of_them) == ([45, 15, 11], [1331, 121, 11])
    words = ("--learners", "OA3", "--set", "delta_neg=1")
    sizes = [
        {k: len(v) for k, v in _learners(given(*words, *more))[1]["OA3"].items()}
        for more in ((), ("--grid", "paper"))
    ]
    assert sizes == [{"learning_rate": 5, "delta_pos": 3}, {"learning_rate": 11, "delta_pos": 11}]


def test_held_out_columns_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    X, y = small()
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    turned = frame[frame.columns[::-1]]
    with pytest.raises(ValueError, match="feature names"):
        compare(["COG-II"], frame, y, held_out=(turned, y), permutations=2)
