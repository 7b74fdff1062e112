"""Measurements that need a process of their own."""

from __future__ import annotations

import subprocess
import sys


def number_printed_by(code: str) -> float:
    """Run Python code in a new process and return the number it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd="/"
    )
    return float(done.stdout)
