"""Instructions of one event, given as a dict of 30 floats, counted by callgrind.

    python -m benchmarks.event_instructions

It measures the module that is installed, to compare builds of it where times are too noisy.
"""

from __future__ import annotations

import re
import subprocess
import sys

FEWER, MORE = 2, 12  # passes: what comes before them cancels out
EVENTS = 200
WAYS = {
    "step_one": "for x, y in stream: model.step_one(x, y)",
    "score_one and learn_one": "for x, y in stream: model.score_one(x); model.learn_one(x, y)",
    "partial_fit, batches of 100": "for X, Y in batches: model.partial_fit(X, Y)",
}
CODE = """
import random
import lopsided
draw = random.Random(0)
names = [f"feature{{i}}" for i in range(30)]
events = [{{n: draw.gauss(0, 1) for n in names}} for _ in range({events})]
stream = [(x, int(k % 10 == 0)) for k, x in enumerate(events)]
batches = [tuple(map(list, zip(*stream[k : k + 100]))) for k in range(0, {events}, 100)]
model = lopsided.COG(scaling="none")
for x, y in stream: model.learn_one(x, y)
for _ in range({passes}):
    {way}
"""


def count(way: str, passes: int) -> int:
    """Return the instructions of a process that makes some passes."""
    code = CODE.format(events=EVENTS, passes=passes, way=way)
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run([*tool, sys.executable, "-c", code], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        raise SystemExit(done.stderr)
    return int(found[1])


def main() -> None:
    for name, way in WAYS.items():
        each = (count(way, MORE) - count(way, FEWER)) / (MORE - FEWER) / EVENTS
        print(f"{name:30}{each:10,.0f} instructions per event")


if __name__ == "__main__":
    main()
