"""Strike commands at every call that writes, damage the input of decoders, print what came of it.

    python tests/fire/run.py [--stride N] [--rounds N] [--inputs N]

The outcome are the tables in docs/reliability.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fire.at_once import PAIRS, Together
from fire.decoders import fuzz, seeds
from fire.scenarios import AHEAD, BACK, DIE, FULL, INTERRUPT, SCENARIOS, TERMINATE, started, strike

_MODES = {
    "killed": DIE,
    "disk full": FULL,
    "interrupted": INTERRUPT,
    "terminated": TERMINATE,
    "clock back": BACK,
    "clock ahead": AHEAD,
}


def main() -> None:
    """Print tables of what was tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stride", type=int, default=1, help="every how many calls")
    parser.add_argument("--inputs", type=int, default=20_000, help="damaged inputs per decoder")
    parser.add_argument("--rounds", type=int, default=20, help="of each pair of commands")
    given = parser.parse_args()
    strike_all(given.stride)
    pair_all(given.rounds)
    decode_all(given.inputs)


def strike_all(stride: int) -> None:
    """Print a table of commands that were struck."""
    print("| command | " + " | ".join(_MODES) + " | broken |")
    print("|---|" + "---:|" * (len(_MODES) + 1))
    total = 0
    with tempfile.TemporaryDirectory() as folder, started(Path(folder)) as commands:
        for at, one in enumerate(SCENARIOS):
            counts = []
            for mode in _MODES.values():
                place = Path(folder) / f"{at}-{mode}"
                place.mkdir()
                counts.append(strike(commands, place, one, mode, stride).struck)
            total += sum(counts)
            print(f"| `{one.name}` | {' | '.join(map(str, counts))} | 0 |", flush=True)
    print(f"\n{total} strikes; the first that breaks something ends this with an error.\n")


def pair_all(rounds: int) -> None:
    """Print a table of commands that ran at the same time in one folder."""
    codes: Counter[tuple[int, ...]] = Counter()
    with tempfile.TemporaryDirectory() as folder, started(Path(folder)) as commands:
        for at, (one, other) in enumerate(PAIRS):
            place = Path(folder) / str(at)
            place.mkdir()
            pair = Together(commands, place, one, other)
            codes.update(tuple(sorted(pair.run())) for _ in range(rounds))
    print("| pairs | run | both succeeded | one refused | not as one after the other |")
    print("|---:|---:|---:|---:|---:|")
    print(
        f"| {len(PAIRS)} | {codes.total()} | {codes[0, 0]} | {codes.total() - codes[0, 0]} | 0 |\n"
    )


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
