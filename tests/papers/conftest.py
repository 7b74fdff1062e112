"""Only the data that a test names, whatever the machine has."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _nothing_else(monkeypatch, tmp_path):
    monkeypatch.delenv("LOPSIDED_DATA", raising=False)
    monkeypatch.setenv("LOPSIDED_CACHE", str(tmp_path / "none"))
