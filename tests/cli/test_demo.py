"""The demo, as someone meets it who has nothing but the package."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lopsided.cli import _COMMANDS, demo

LOPSIDED = str(Path(sys.executable).parent / "lopsided")


def run(folder, *options, hide=None):
    env = {**os.environ, "NO_COLOR": "1"}
    if hide is not None:
        blocked = folder / "blocked" / hide
        blocked.mkdir(parents=True, exist_ok=True)
        (blocked / "__init__.py").write_text("raise ImportError('hidden')\n")
        path = [str(blocked.parent), os.environ.get("PYTHONPATH", "")]
        env["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    return subprocess.run(
        [LOPSIDED, "demo", *options], cwd=folder, env=env, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Return what the demo prints, as it comes and as JSON, and its report."""
    folder = tmp_path_factory.mktemp("demo")
    text, told = run(folder), run(folder, "--json")
    for done in (text, told):
        assert (done.returncode, done.stderr) == (0, "")
    return text.stdout, json.loads(told.stdout), (folder / "report.html").read_text()


def test_the_table_says_what_json_says(shown):
    text, told, _ = shown
    assert max(map(len, text.splitlines())) <= 80
    assert f"{told['events']:,} payments" in text
    for learner in told["learners"]:
        line = next(x for x in text.splitlines() if x.startswith(learner["learner"]))
        figures = [float(f.replace(",", "")) for f in re.findall(r" €?([\d,]+)(?= |$)", line)][-5:]
        cost = learner["cost"]
        assert figures == [
            learner["positives"] - learner["false_negatives"],
            learner["false_negatives"],
            learner["false_positives"],
            round(learner["cost_per_thousand"]),
            cost,
        ]
        assert cost == (
            told["price_of_a_miss"] * learner["false_negatives"]
            + told["price_of_a_false_alarm"] * learner["false_positives"]
        )


def test_it_shows_what_knowing_the_costs_is_worth(shown):
    text, told, _ = shown
    cost = {learner["learner"]: learner["cost"] for learner in told["learners"]}
    ours = cost.pop(demo.OURS)
    assert told["best_expected_cost"] < ours < min(cost.values())
    words = " ".join(text.split())
    for name, what, _ in demo.LEARNERS:
        if name != demo.OURS:
            assert f"{1 - ours / cost[name]:.0%} less than {name} ({what})" in words


def test_the_report_has_the_same_figures(shown):
    _, told, html = shown
    assert "lopsided demo" in html
    for learner in told["learners"]:
        row = re.search(rf'<th scope="row">{learner["learner"]}</th>(.*?)</tr>', html)[1]
        assert f"<td>€{learner['cost']:,.0f}</td>" in row
    assert html.count("<svg") == 6


def test_what_it_says_to_type_next_exists(shown):
    text, _, _ = shown
    named = re.findall(r"^  lopsided (\w+)", text, re.MULTILINE)
    assert named
    assert set(named) <= set(_COMMANDS)


def test_it_is_the_same_each_time_and_another_with_another_seed(shown, tmp_path):
    _, told, _ = shown
    quick = {"hide": "matplotlib"}
    again = json.loads(run(tmp_path, "--json", **quick).stdout)
    assert again == {**told, "report": None}
    other = json.loads(run(tmp_path, "--json", "--seed", "1", **quick).stdout)
    assert other["learners"] != told["learners"]


def test_without_matplotlib_the_table_is_there(shown, tmp_path):
    done = run(tmp_path, hide="matplotlib")
    assert (done.returncode, done.stderr) == (0, "")
    assert "pip install matplotlib" in done.stdout
    assert done.stdout.splitlines()[:12] == shown[0].splitlines()[:12]
    assert not (tmp_path / "report.html").exists()


def test_what_the_next_step_needs_is_said_where_it_is_not_there(shown, tmp_path):
    assert "pip install" not in shown[0]
    done = run(tmp_path, hide="pyarrow")
    assert "your own data:\n  pip install pyarrow " in done.stdout


def test_a_file_that_is_no_report_is_not_replaced(tmp_path):
    (tmp_path / "report.html").write_text("mine")
    done = run(tmp_path)
    assert done.returncode == 2
    assert "choose another --output" in done.stderr
    assert (tmp_path / "report.html").read_text() == "mine"
