"""Options of commands as frozen records, the lock of `ask`, and figures as text."""

from __future__ import annotations

import dataclasses
import math
import os
import subprocess
import sys

import click
import pytest

from lopsided import catalog
from lopsided._text import aligned, percent
from lopsided.cli import ask, compare, reproduce, run
from lopsided.cli.active_options import LearnerOptions
from lopsided.cli.ask import AskOptions
from lopsided.cli.compare_options import CompareOptions
from lopsided.cli.model_lock import asking_alone
from lopsided.cli.reproduce import ReproduceOptions
from lopsided.cli.run_options import RunOptions

RECORDS = [
    (run, RunOptions),
    (ask, AskOptions),
    (compare, CompareOptions),
    (reproduce, ReproduceOptions),
]
# What may differ between an interrupted run and the one that resumes it.
FREE = {
    *("data", "save_path", "checkpoint", "resume", "limit", "as_json", "quiet"),
    *("form", "skip_bad", "bad_lines"),
}


def given(module, *words):
    return module.command.make_context("lopsided", list(words)).params


@pytest.mark.parametrize(("module", "record"), RECORDS)
def test_the_record_of_a_command_has_a_field_for_each_option(module, record):
    exposed = {p.name for p in module.command.params if p.expose_value}
    fields = {field.name for field in dataclasses.fields(record)}
    assert fields - {"time"} == exposed - {"time"}
    assert record.__dataclass_params__.frozen


def test_the_fingerprint_of_a_run_has_every_option_that_changes_its_result(tmp_path):
    options = RunOptions(**given(run, "e.svm", "--report", str(tmp_path / "r.html")))
    names = {field.name.removesuffix("_path") for field in dataclasses.fields(options)}
    assert set(options.fingerprint) == names - {name.removesuffix("_path") for name in FREE}
    assert options.fingerprint["learner"] == "'Recommended'"
    assert options.fingerprint["every"] == "1000"


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (["--learner", "Recommended"], True),
        (["--limit", "5", "--quiet", "--skip-bad", "3"], True),
        (["--learner", "COG-II"], False),
        (["--set", "intercept=False"], False),
        (["--positive", "1"], False),
        (["--budget", "5"], False),
        (["--weight", "w"], False),
        (["--cost", "1", "1"], False),
    ],
)
def test_a_fingerprint_is_the_same_if_the_result_is(words, same):
    plain, other = (RunOptions(**given(run, "e.svm", *more)) for more in ([], words))
    assert (plain.fingerprint == other.fingerprint) is same


def options(**changed):
    names = [field.name for field in dataclasses.fields(LearnerOptions)]
    return LearnerOptions(**{**dict.fromkeys(names), "settings": (), "saving": False, **changed})


@pytest.mark.parametrize(
    "changed",
    [
        {"learner": "COG-II"},
        {"learner": "COG-II", "budget": "5"},
        {"learner": "OA3-diag", "budget": "5"},
        {"learner": "OA3-diag", "query": "always", "settings": ("learning_rate=2",)},
    ],
    ids=str,
)
def test_a_learner_is_made_once(changed, monkeypatch):
    made = []
    real = catalog.make

    def counted(name, **params):
        made.append(name)
        return real(name, **params)

    monkeypatch.setattr("lopsided.cli.active_options.make", counted)
    model = options(**changed).make()
    assert len(made) <= 1
    assert model.check_params() is None
    if "settings" in changed:
        assert model.learning_rate == 2


def test_an_ask_is_alone_with_its_model(tmp_path):
    model = str(tmp_path / "m")
    with asking_alone(model, "e.csv"):
        with (
            pytest.raises(click.UsageError, match=f"process {os.getpid()} is asking about e.csv"),
            asking_alone(model, "other.csv"),
        ):
            pass
        with asking_alone(str(tmp_path / "n"), "e.csv"):  # another model
            pass
    assert list(tmp_path.iterdir()) == []
    with asking_alone(model, "e.csv"):
        pass


def test_a_killed_ask_leaves_no_lock(tmp_path):
    code = (
        "import os, sys\n"
        "from lopsided.cli.model_lock import asking_alone\n"
        "with asking_alone(sys.argv[1], 'e.csv'): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "m")], check=False)
    assert (tmp_path / "m.asking").exists()
    with asking_alone(str(tmp_path / "m"), "e.csv"):
        assert f"process {os.getpid()} is" in (tmp_path / "m.asking").read_text()
    assert list(tmp_path.iterdir()) == []


def test_columns_are_aligned_and_shares_are_percentages():
    assert aligned([["a", "b", ""], ["long", "10", "x"]], right=[1]) == ["a      b", "long  10  x"]
    assert (percent(0.5), percent(0.125, 1), percent(math.nan)) == ("50.00%", "12.5%", "–")
    assert percent(math.nan, nan="none") == "none"
