"""Memory and disk of a service under load, which also forgets what is old.

python tests/support/soak.py 10000000        # events
python tests/support/soak.py 10000000 1200   # stop after so many seconds
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np

from lopsided.service.commands.admin import put_stream
from lopsided.service.commands.events import AddEvents
from lopsided.service.commands.labels import add_labels
from lopsided.service.commands.upkeep import upkeep
from lopsided.service.sequencer import Sequencer
from lopsided.service.storage import Folder
from lopsided.service.types import Costs, Label, StreamConfig, quick

CONFIG = StreamConfig(costs=Costs(60.0, 3.0), budget="20/1000", keep_days=0.1)
NAMES = [f"feature_{i}" for i in range(30)]
BATCH = 100


def soak(folder, n, *, every=10_000, snapshot_every=5000):
    """Feed n events; yield (events, resident bytes, bytes of the folder) after each `every`."""
    held = Folder(folder)
    sequencer = Sequencer(held.storage, held.witness, snapshot_every=snapshot_every)
    now, rng = 1_000_000.0, np.random.default_rng(0)

    def do(*commands):
        outcomes, written = sequencer.run(list(commands), now)
        assert all(outcome.refusal is None for outcome in outcomes)
        if written:
            sequencer.commit()
        return [outcome.value for outcome in outcomes]

    do(lambda tx: put_stream(tx, "pay", CONFIG))
    rows = rng.normal(size=(1000, len(NAMES)))
    names = [dict(zip(NAMES, row, strict=True)) for row in rows.tolist()]
    texts = [f'"features":{msgspec.json.encode(features).decode()}' for features in names]
    for first in range(0, n, BATCH):
        now += 300.0  # so that what is older than 30 batches goes
        which = rng.integers(len(texts), size=BATCH).tolist()
        events = ",".join(f'{{"key":"e{first + i}",{texts[k]}}}' for i, k in enumerate(which))
        given = quick.several(f'{{"events":[{events}]}}'.encode(), True, BATCH)
        answers = map(msgspec.json.decode, do(AddEvents("pay", given))[0])
        asked = [a["seq"] and int(a["key"][1:]) - first for a in answers if a["asked"]]
        labels = [Label(f"e{first + i}", int(rows[which[i], 0] > 1)) for i in {0, *asked}]
        do(lambda tx, labels=labels: add_labels(tx, "pay", labels))
        if first % 1000 == 0:
            while do(upkeep)[0]:
                pass
        if (first + BATCH) % every == 0:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            size = sum(file.stat().st_size for file in Path(folder).iterdir())
            yield first + BATCH, pages * os.sysconf("SC_PAGE_SIZE"), size
    held.close()


if __name__ == "__main__":
    total, limit = int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else float("inf")
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        for events, memory, disk in soak(place, total, every=max(BATCH, total // 100)):
            seconds = time.perf_counter() - started
            print(
                f"{events:12,} events  {memory / 1e6:8.1f} MB of memory  {disk / 1e6:8.1f} MB of "
                f"disk  {events / seconds:8,.0f} events a second",
                flush=True,
            )
            if seconds > limit:
                break
