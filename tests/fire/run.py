"""Strike every command that writes at every call that writes, and print what came of it.

    python tests/fire/run.py [--stride N]

The outcome is the table in docs/reliability.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fire.scenarios import DIE, FULL, SCENARIOS, started, strike


def main() -> None:
    """Print a table of what was tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stride", type=int, default=1, help="every how many calls")
    stride = parser.parse_args().stride
    print("| command | calls that write | killed at each | disk full at each | broken |")
    print("|---|---:|---:|---:|---:|")
    total = 0
    with tempfile.TemporaryDirectory() as folder, started(Path(folder)) as commands:
        for at, one in enumerate(SCENARIOS):
            found = []
            for mode in (DIE, FULL):
                place = Path(folder) / f"{at}-{mode}"
                place.mkdir()
                found.append(strike(commands, place, one, mode, stride))
            killed, filled = found
            total += killed.struck + filled.struck
            counts = f"{killed.calls} | {killed.struck} | {filled.struck} | 0"
            print(f"| `{one.name}` | {counts} |", flush=True)
    print(f"\n{total} strikes; the first that breaks something ends this with an error.")


if __name__ == "__main__":
    main()
