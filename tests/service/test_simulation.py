"""The bad day, many times: nothing acknowledged is lost or done twice, and the bits are equal.

`python tests/support/simulation.py 0 10000` runs as many seeds as one likes.
"""

from __future__ import annotations

import pytest
from simulation import simulate

SEEDS, PARTS = 120, 6


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.promise("service")
def test_a_service_survives_crashes_full_disks_lost_answers_and_clocks_that_jump(part):
    crashes = 0
    for seed in range(part, SEEDS, PARTS):
        crashes += simulate(seed).crashes
    assert crashes > 0  # else nothing was tested
