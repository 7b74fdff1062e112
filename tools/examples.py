"""Run the examples and keep what they print beside them, for the tutorials of the site.

python tools/examples.py            writes examples/output/*.txt
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
OUTPUT = EXAMPLES / "output"
SCRIPTS = sorted(p for p in EXAMPLES.glob("*.*") if p.name != "messy_payments.py")


def run(script: Path, folder: Path) -> str:
    """Run an example in a folder and return what it prints, but for speeds."""
    here = str(Path(sys.executable).parent)
    done = subprocess.run(
        [sys.executable if script.suffix == ".py" else "bash", str(script)],
        cwd=folder,
        env={**os.environ, "PATH": here + os.pathsep + os.environ["PATH"], "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return re.sub(r"[\d,]+ rows/s", "… rows/s", done.stdout)


def main() -> None:
    """Write the output of every example."""
    OUTPUT.mkdir(exist_ok=True)
    for script in SCRIPTS:
        with tempfile.TemporaryDirectory() as folder:
            (OUTPUT / f"{script.stem}.txt").write_text(run(script, Path(folder)))


if __name__ == "__main__":
    main()
