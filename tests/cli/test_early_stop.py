"""Ctrl-C while a command is still being loaded."""

import subprocess
import sys
from pathlib import Path

import pytest

import lopsided


@pytest.mark.parametrize("module", ["click", "lopsided.errors", "numpy", "lopsided.cli.learners"])
def test_control_c_while_modules_are_loaded(module):
    code = f"""
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["lopsided", "learners"]
from lopsided.__main__ import entry
entry()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr.strip() == ""


def test_nothing_is_imported_before_control_c_is_taken():
    code = """
import os, sys
sys.path.insert(0, "SOURCE")
before = set(sys.modules)
import lopsided.__main__
print(*sorted(set(sys.modules) - before))
"""
    source = Path(lopsided.__file__).parents[1]
    words = [sys.executable, "-S", "-c", code.replace("SOURCE", str(source))]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["__future__", "lopsided", "lopsided.__main__"]
