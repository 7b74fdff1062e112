"""The benchmarks: what they make of their measurements."""

from __future__ import annotations

import json

import pytest

import lopsided
from benchmarks import event_instructions, instructions, plain_code, plot, size
from benchmarks.harness import Contender, Group, Result, Turn, measure
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


@pytest.mark.parametrize(
    ("ours", "calm", "said"),
    [
        ([3.0, 3.2], True, "reached"),
        ([5.0, 5.0], True, "MISSED"),
        ([3.0, 3.2], False, "reached in every round"),
        ([5.0, 5.5], False, "MISSED in every round"),
        ([3.0, 5.0], False, "undecided, reached in 1 of 2 rounds, all disturbed"),
    ],
)
def test_a_goal_is_judged_by_undisturbed_turns_or_by_all_rounds(ours, calm, said):
    shaken = 0.0 if calm else 0.5
    group = Group("work", "ms", [Contender("peer", print), Contender("ours", print)], "peer")
    turns = {"peer": [Turn(9.0, shaken)] * 2, "ours": [Turn(v, shaken) for v in ours]}
    assert Result(group, turns).verdict("ours", 2) == said


def test_contenders_take_turns():
    order = []
    contenders = [Contender(name, lambda name=name: order.append(name)) for name in "ab"]
    result = measure(Group("work", "ms", contenders, "a"), 2)
    rounds = len(result.turns["a"])
    assert order == ["a", "b"] * (rounds + 1)  # one to warm up
    assert 2 <= rounds == len(result.turns["b"]) <= 6


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


def test_size_counts_lines_that_hold_code():
    python = '"""Says.\n"""\n\n# x\nx = """a\nb"""\n\ndef f():\n    "Says."\n    return x\n'
    assert size.lines_of_code("a.py", python) == 4
    cpp = '// why\n\n/* more\n   of it */ int a;\nconst char* s = "// code";  // so\n}\n'
    assert size.lines_of_code("a.hpp", cpp) == 3


def test_size_says_what_changed():
    now, before = {"cpp/core": 12, "src": 5}, {"cpp/core": 10, "old": 4, "src": 5}
    rows = [row.split() for row in size.table(now, before)]
    assert rows == [
        ["cpp/core", "12", "+2"],
        ["old", "0", "-4"],
        ["src", "5"],
        ["total", "17", "-2"],
    ]


def test_avx_outside_of_what_is_chosen_is_found():
    code = """
0000000000001000 <lopsided::avx2::Cog<double>::learn()>:
    1000:\tvaddpd %ymm0,%ymm1,%ymm2
0000000000002000 <lopsided::plain::Cog<double>::learn()>:
    2000:\taddpd  %xmm0,%xmm1
0000000000003000 <std::vector<double>::resize(unsigned long)>:
    3000:\tvmovsd %xmm0,(%rax)
    3004:\tvmovsd %xmm0,(%rbx)
"""
    assert list(plain_code.misplaced(code.splitlines())) == [
        "std::vector<double>::resize(unsigned long)"
    ]


@pytest.mark.parametrize("name", event_instructions.WAYS)
def test_what_is_counted_for_one_event_learns_from_each(name):
    code = event_instructions.CODE.format(events=200, passes=1, way=event_instructions.WAYS[name])
    names = {}
    exec(code, names)
    assert names["model"].n_features_in_ == 30
    twice = lopsided.COG(scaling="none")
    for x, y in 2 * names["stream"]:
        twice.learn_one(x, y)
    assert names["model"].coef_.tobytes() == twice.coef_.tobytes()
