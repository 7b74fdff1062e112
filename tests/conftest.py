"""What tests of several files are given."""

from __future__ import annotations

import pytest

collect_ignore = ["files"]  # kept for their bytes; the script beside them runs with old versions


@pytest.fixture
def write(tmp_path, request):
    """Write a file and return its path; it is called as the tests' FILE says, unless told."""

    def write(content, name=request.module.FILE):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write
