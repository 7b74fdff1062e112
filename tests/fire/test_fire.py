"""A sample of what tests/fire/run.py tries at every call: commands killed, disks that are full."""

from __future__ import annotations

import sys

import pytest

from fire.scenarios import DIE, FULL, SCENARIOS, started, strike

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
