"""A sample of what tests/fire/run.py tries at every call, and commands that run at once."""

from __future__ import annotations

import sys

import pytest

from fire.at_once import PAIRS, Together
from fire.scenarios import AHEAD, BACK, DIE, FULL, INTERRUPT, SCENARIOS, TERMINATE, started, strike

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs LD_PRELOAD")


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    with started(tmp_path_factory.mktemp("shim")) as commands:
        yield commands


@pytest.mark.parametrize("mode", [DIE, FULL], ids=["killed", "disk full"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
@pytest.mark.promise("whole files")
def test_a_command_that_is_struck_leaves_the_old_or_the_new(commands, tmp_path, scenario, mode):
    strike(commands, tmp_path, scenario, mode, stride=7)


@pytest.mark.parametrize("mode", [INTERRUPT, TERMINATE], ids=["interrupted", "terminated"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_a_command_that_is_told_to_stop_leaves_what_it_has_done(commands, tmp_path, scenario, mode):
    strike(commands, tmp_path, scenario, mode, stride=25)


@pytest.mark.parametrize("mode", [BACK, AHEAD], ids=["back", "ahead"])
@pytest.mark.parametrize("scenario", SCENARIOS[2:5], ids=lambda one: one.name)
def test_a_clock_that_jumps_changes_nothing(commands, tmp_path, scenario, mode):
    strike(commands, tmp_path, scenario, mode, stride=7)


@pytest.mark.parametrize(("one", "other"), PAIRS[::5], ids=lambda one: one.name)
@pytest.mark.promise("nothing is lost")
def test_two_commands_at_once_end_as_one_after_the_other(commands, tmp_path, one, other):
    Together(commands, tmp_path, one, other).run()
