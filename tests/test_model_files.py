"""Model files of format 1, written by an earlier version, load and learn with the same bits."""

from __future__ import annotations

import json
import zipfile

import pytest
from model_files import FILES, replay, sha256

import lopsided
from lopsided.persist import FORMAT, to_bytes

KEPT = json.loads((FILES / "expected.json").read_text())
each = pytest.mark.parametrize("name", KEPT["models"])


def extracted(name, folder):
    """Return the path of a kept file."""
    with zipfile.ZipFile(FILES / "models.zip") as archive:
        return archive.extract(f"{name}.lop", folder)


@each
def test_a_kept_model_resumes_with_the_same_bits(name, tmp_path):
    case = KEPT["models"][name]
    model = lopsided.load(extracted(name, tmp_path))
    model.save(tmp_path / "again.lop")
    for resumed in (model, lopsided.load(tmp_path / "again.lop")):
        found = replay(resumed, KEPT["stream"], case)
        assert found == case["answers"]


@each
@pytest.mark.skipif(FORMAT != 1, reason="later formats have other bytes")
def test_a_kept_model_is_saved_with_the_same_bytes(name, tmp_path):
    case = KEPT["models"][name]
    model = lopsided.load(extracted(name, tmp_path))
    assert sha256(to_bytes(model)) == case["sha256"]
    replay(model, KEPT["stream"], case)
    assert sha256(to_bytes(model)) == case["sha256_later"]
