"""lopsided explain."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from lopsided.cli import main

CSV = "amount,country,outcome\n" + "".join(
    f"{10 * k % 97},{'XX' if k % 9 == 0 else 'DE'},{'fraud' if k % 9 == 0 else 'fine'}\n"
    for k in range(1, 90)
)


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text(CSV)

    def run(*words):
        done = CliRunner().invoke(main, words, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    table = ("--label", "outcome", "--categorical", "country")
    run("run", "e.csv", *table, "--positive", "fraud", "--save", "m")
    return lambda *words: run("explain", "m", "e.csv", *table, *words)


def test_effects_of_a_row(call):
    shown = call("--limit", "2").splitlines()
    assert shown[0].startswith("line 2: score -")
    assert sum(line.startswith("line") for line in shown) == 2
    assert any(line.startswith("country=DE") for line in shown)


def test_as_json(call):
    first = json.loads(call("--json", "--limit", "1", "--top", "1"))
    assert first["line"] == 2
    (reason,) = first["reasons"]
    total = first["base"] + reason["effect"] + first["effect_of_others"]
    assert total == pytest.approx(first["score"])
    assert first["others"] >= 1


def test_numbered_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.svm").write_text("1 1:1 3:2\n-1 2:1\n1 1:2 3:1\n-1 2:3 3:1\n")
    run = CliRunner().invoke
    assert run(main, ["run", "e.svm", "--save", "m"]).exit_code == 0
    done = run(main, ["explain", "m", "e.svm", "--limit", "1"])
    assert done.exit_code == 0, done.output
    assert "\n0 " in done.output
