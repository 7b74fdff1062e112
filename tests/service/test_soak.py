"""Memory and disk stay flat under load while old rows are deleted."""

from __future__ import annotations

from pathlib import Path

import pytest
from soak import soak


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_memory_and_disk_stay_flat_over_many_events(tmp_path):
    found = list(soak(tmp_path / "folder", 100_000))
    (_, memory, disk), (_, memory_then, disk_then) = found[4], found[-1]
    assert memory_then - memory < 20e6
    assert disk_then < 1.3 * disk
