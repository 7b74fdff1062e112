"""A sample of what tests/fire/run.py gives the decoders: damaged input is read or refused."""

from __future__ import annotations

import pytest

from fire.decoders import fuzz, seeds

NAMES = ["d.svm", "d.csv", "d.jsonl", "d.npz", "d.lopc", "d.lop", "d.journal", "MANIFEST.csv"]


@pytest.mark.parametrize("name", NAMES)
def test_damaged_input_is_read_or_refused(name, tmp_path):
    made = seeds(tmp_path)
    assert list(made) == NAMES
    refused = fuzz(name, made[name], tmp_path, runs=150)
    assert refused > 10 or name == "MANIFEST.csv"  # which is only a help
