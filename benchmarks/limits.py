"""What the machine and the interpreter allow at best: python -m benchmarks.limits.

Prints the best of many short rounds: the memory that a row of 75 words or a full covariance has to
touch, a look at every byte of a text, memory read in order, a Python call that does nothing, a call
into the core that does nothing, and the walk over a dict. Builds a small program with cmake.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

import numpy as np

import lopsided

from . import data
from .instructions import ROOT, built

FEATURES = 30
CALLS = 2000


def best(run: Callable[[], object], rounds: int) -> float:
    """Return the seconds of the fastest round."""
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)


def bytes_a_second() -> float:
    numbers = np.ones(2**24)  # 128 MB, more than any cache
    return numbers.nbytes / best(lambda: np.dot(numbers, numbers), 30)


def of_a_call(function: Callable[..., object], *arguments: object) -> float:
    def run() -> None:
        for _ in range(CALLS):
            function(*arguments)

    return best(run, 200) / CALLS


def main() -> None:
    subprocess.run([built(ROOT / "build" / "bench", "core_limits")], check=True)
    events = data.events(100, FEATURES)
    model = lopsided.COG(scaling="none")
    for x, y in events:
        model.learn_one(x, y)
    core = model.fitted.core
    dicts = [x for x, _ in events]
    print(f"memory read in order: {bytes_a_second() / 1e9:.1f} GB/s")
    print(f"a Python call that does nothing: {1e9 * of_a_call(lambda x, y: None, 1, 2):.0f} ns")
    print(f"a call into the core that does nothing: {1e9 * of_a_call(core.forget, 0):.0f} ns")
    print(f"score of an empty event: {1e9 * of_a_call(model.score_one, {}):.0f} ns")
    reading = best(lambda: core.event_rows(dicts), 2000) / len(dicts)
    print(f"a dict of {FEATURES} names read into a row: {1e9 * reading:.0f} ns")


if __name__ == "__main__":
    main()
