"""Comparisons: what is reported, and in which formats."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
import scipy.stats
from comparisons import small

from lopsided import compare
from lopsided.comparison.statistics import wilcoxon


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
