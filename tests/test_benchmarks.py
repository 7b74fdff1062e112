"""The benchmarks: what they make of their measurements."""

from __future__ import annotations

import json

import pytest
from benchmarks import instructions, plot
from benchmarks.harness import Contender, Group, Result, Turn
from benchmarks.instructions import Counts, compare

MADE = {"compiler": "12.2", "instruction set": "AVX2"}
BEFORE = Counts(MADE, {"COG": 1000, "PA": 2000})


@pytest.mark.parametrize("count", [1, 999, 1000, 1050])
def test_counts_that_stay_or_fall_or_grow_little_are_fine(count):
    said, wrong = compare(Counts(MADE, {"COG": count, "PA": 2000}), BEFORE)
    assert not wrong
    assert [line.partition(":")[0] for line in said] == ["COG", "PA"]


def test_a_count_that_grew_is_named():
    _, wrong = compare(Counts(MADE, {"COG": 1051, "PA": 2000}), BEFORE)
    assert wrong == ["COG: 1,051 instructions, +5.1%"]


def test_work_that_came_or_went_is_named():
    _, wrong = compare(Counts(MADE, {"COG": 1000, "SSOL": 7}), BEFORE)
    assert wrong == ["SSOL: no count to compare with; --accept", "PA: gone"]


def test_another_compiler_is_said_and_nothing_fails():
    said, wrong = compare(Counts({**MADE, "compiler": "13.1"}, {"COG": 9000}), BEFORE)
    assert said == ["not compared: compiler 13.1, not 12.2"]
    assert not wrong


def test_the_counts_kept_can_be_read():
    kept = Counts(**json.loads(instructions.BASELINE.read_text()))
    assert all(count > 0 for count in kept.instructions.values())
    assert set(kept.made_by) == set(MADE)


def test_ratios_are_drawn(tmp_path):
    peer, ours = Contender("peer", print, ours=False), Contender("ours", print)
    turns = {"peer": [Turn(9.0, 0.0)] * 2, "ours": [Turn(1.0, 0.0)] * 2}
    alone = Result(Group("alone", "ms", [ours]), {"ours": turns["ours"]})
    plot.ratios(
        [Result(Group("work", "ms", [peer, ours], "peer"), turns), alone], tmp_path / "a.svg"
    )
    assert "<!-- 9 × -->" in (tmp_path / "a.svg").read_text()
    with pytest.raises(SystemExit, match="no peer"):
        plot.ratios([alone], tmp_path / "b.svg")
