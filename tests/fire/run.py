"""Strike commands at every call that writes, damage the input of decoders, print what came of it.

    python tests/fire/run.py [--stride N] [--inputs N]

The outcome are the tables in docs/reliability.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fire.decoders import fuzz, seeds
from fire.scenarios import DIE, FULL, SCENARIOS, started, strike


def main() -> None:
    """Print tables of what was tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stride", type=int, default=1, help="every how many calls")
    parser.add_argument("--inputs", type=int, default=20_000, help="damaged inputs per decoder")
    given = parser.parse_args()
    strike_all(given.stride)
    decode_all(given.inputs)


def strike_all(stride: int) -> None:
    """Print a table of commands that were struck."""
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
    print(f"\n{total} strikes; the first that breaks something ends this with an error.\n")


def decode_all(inputs: int) -> None:
    """Print a table of decoders that were given damaged input."""
    print("| input | damaged | refused | read | other errors |")
    print("|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, data in seeds(Path(folder)).items():
            refused = fuzz(name, data, Path(folder), inputs, seed=1)
            print(f"| `{name}` | {inputs} | {refused} | {inputs - refused} | 0 |", flush=True)


if __name__ == "__main__":
    main()
