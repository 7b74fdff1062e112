"""A sample of what tests/fire/run.py gives the decoders: damaged input is read or refused."""

from __future__ import annotations

import numpy as np
import pytest

from fire.decoders import fuzz, seeds
from fire.fuzz import blindly
from fire.targets import TARGETS
from lopsided.data import open_reader
from lopsided.data.sets.downloads import find
from lopsided.errors import LopsidedError

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


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_fuzzers_of_decoders(name):
    blindly(name, runs=60)


def test_an_npz_file_whose_texts_are_none(tmp_path):
    path = tmp_path / "d.npz"
    for arrays in (
        {"format": np.array(["csr", "csr"])},
        {"X": np.ones((1, 1)), "y": np.array([b"\xff"])},
        {"X": np.ones((1, 1)), "y": [0], "feature_names": np.array([b"\xff"])},
        {"X": np.ones((1, 1)), "y": np.array([1 << 30], np.uint32).view("<U1")},
    ):
        np.savez(path, **arrays)
        with pytest.raises(LopsidedError, match=r"csr, csr|not UTF-8|characters"):
            open_reader(str(path))


def test_milliseconds_are_no_times_in_a_column_of_numbers(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,t,label\n1,1700000000,0\n2,1700000000000,1\n")
    with pytest.raises(LopsidedError, match=r"line 3.*1700000000000"):
        list(open_reader(str(path), time_features="t"))
