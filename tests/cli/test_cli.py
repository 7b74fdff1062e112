"""Commands as users type them: every case in tests/cli/*.toml is run in a real process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lopsided._toml import tomllib

CASES = [
    pytest.param(case, id=f"{path.stem}: {case['name']}")
    for path in sorted(Path(__file__).parent.glob("*.toml"))
    for case in tomllib.loads(path.read_text())["case"]
]


def prepare(case, folder):
    for name, text in case.get("files", {}).items():
        (folder / name).write_bytes(text.encode() if isinstance(text, str) else bytes(text))
    for command in case.get("before", []):
        subprocess.run(["bash", "-c", command], cwd=folder, env=environment(), check=True)


def environment():
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "NO_COLOR": "1", "LOPSIDED_CACHE": "cache"}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.promise("one line")
def test_command(case, tmp_path):
    prepare(case, tmp_path)
    untouched = {p: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}
    done = subprocess.run(
        ["bash", "-c", case["command"]],
        cwd=tmp_path,
        env=environment(),
        input=case.get("stdin", ""),
        capture_output=True,
        text=True,
        timeout=60,
    )
    told = f"\n--- stdout\n{done.stdout}\n--- stderr\n{done.stderr}"
    assert done.returncode == case.get("exit", 0), told
    for text in case.get("stdout", []):
        assert text in done.stdout, told
    for text in case.get("stderr", []):
        assert text in done.stderr, told
    for name in case.get("absent", []):
        assert not (tmp_path / name).exists(), name
    assert "Traceback" not in done.stderr, told
    if done.returncode:
        assert done.stdout == "" or done.returncode in (130, 143), told
        assert {p: p.read_bytes() for p in untouched} == untouched, "a failed command changed files"
    if done.returncode == 1:
        assert done.stderr.count("\n") == 1, "an error is one line" + told


def test_the_command_is_installed():
    assert shutil.which("lopsided", path=str(Path(sys.executable).parent))


def test_the_package_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "lopsided", "learners", "PAA-1"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "lopsided: there is no learner 'PAA-1': did you mean 'PAA'?\n"
