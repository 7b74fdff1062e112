"""Ctrl-C at every call on a file while a command starts: where does Python print a traceback?

    python tests/fire/start.py [--stride N] [WORD ...]

From the first moment of the process on. The words are those of the command, `lopsided --help` if
there are none.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fire.scenarios import INTERRUPT, SIGNALS, compiled

COMMAND = str(Path(sys.executable).with_name("lopsided"))
STAGES = ("no traceback", "traceback: Python's own start", "traceback: lopsided")
_FRAME = re.compile(r'^  File "(.*)", line', re.MULTILINE)


def interrupted(shim: Path, folder: Path, words: list[str], call: int) -> str | None:
    """Return what came of a signal at a call, None if the command ended before."""
    mark = folder / ".fired"
    mark.unlink(missing_ok=True)
    env = {**os.environ, "LD_PRELOAD": str(shim), "FIRE": f"{INTERRUPT} {call}"}
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True)
    if not mark.exists():
        return None
    if "Traceback" not in done.stderr:
        assert done.returncode in (0, *SIGNALS[INTERRUPT]), done.returncode
        return STAGES[0]
    ours = any("lopsided" in Path(file).parent.parts for file in _FRAME.findall(done.stderr))
    return STAGES[2 if ours else 1]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stride", type=int, default=1, help="every how many calls")
    parser.add_argument("words", nargs="*", default=[COMMAND, "--help"])
    given = parser.parse_args()
    met: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder, call = Path(name), 0
        shim = compiled(folder)
        while (what := interrupted(shim, folder, given.words, call)) is not None:
            met[what] += 1
            call += given.stride
    print("| Ctrl-C at | " + " | ".join(STAGES) + " |")
    print("|---:|" + "---:|" * len(STAGES))
    print(f"| {met.total()} calls | " + " | ".join(str(met[one]) for one in STAGES) + " |")


if __name__ == "__main__":
    main()
