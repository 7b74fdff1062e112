"""A sample of what tests/fire/run.py gives the decoders: damaged input is read or refused."""

from __future__ import annotations

import pytest

from fire.decoders import fuzz, seeds
from lopsided.data.sets.downloads import find

NAMES = ["d.svm", "d.csv", "d.jsonl", "d.npz", "d.lopc", "d.lop", "d.journal", "MANIFEST.csv"]


@pytest.mark.parametrize("name", NAMES)
def test_damaged_input_is_read_or_refused(name, tmp_path):
    made = seeds(tmp_path)
    assert list(made) == NAMES
    refused = fuzz(name, made[name], tmp_path, runs=150)
    assert refused > 10 or name == "MANIFEST.csv"  # which is only a help


def test_a_manifest_with_a_name_that_no_file_can_have(tmp_path):
    (tmp_path / "MANIFEST.csv").write_bytes(b"file,name,sha256\na9\x00.txt,a9a,00ff\n")
    found = find("a9a", [str(tmp_path)])  # raises nothing
    assert found is None or all(tmp_path not in path.parents for path in found.paths)
