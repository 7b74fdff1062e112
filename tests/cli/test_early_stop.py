"""Ctrl-C while a command is still being loaded."""

import subprocess
import sys

import pytest


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
