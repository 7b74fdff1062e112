"""A real server under load that forgets what is old: python tests/support/retention.py 60.

Batches of 100 events come for so many seconds, and events are kept for ten. Prints what the folder
and the memory hold meanwhile, and the longest time that a batch had to wait.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from server_process import ServerProcess

KEEP = 10.0  # seconds


def resident(pid):
    """Return the memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main(seconds):
    """Feed events and print figures."""
    rng = random.Random(0)
    rows = [{f"feature_{j}": rng.gauss(0, 1) for j in range(30)} for _ in range(500)]
    with tempfile.TemporaryDirectory() as folder:
        it = ServerProcess(folder, "--snapshot-every", "5000")
        with it.client() as client:
            client.configure(costs={"miss": 60, "alarm": 3}, keep_days=KEEP / 86400)
            started, worst, shown = time.monotonic(), 0.0, 0.0
            for n in itertools.count():
                began = time.monotonic()
                keys = range(100 * n, 100 * n + 100)
                found = client.events([{"key": f"e{k}", "features": rows[k % 500]} for k in keys])
                asked = [answer["key"] for answer in found if answer["asked"]]
                if asked:  # what is asked for is kept until somebody answers
                    client.labels([{"key": key, "label": "fine"} for key in asked])
                worst = max(worst, time.monotonic() - began)
                passed = time.monotonic() - started
                if passed > shown:
                    shown += seconds / 10
                    db = sqlite3.connect(f"file:{folder}/lopsided.db?mode=ro", uri=True)
                    ((kept,),) = db.execute("select count(*) from event").fetchall()
                    db.close()
                    size = sum(file.stat().st_size for file in Path(folder).iterdir())
                    print(
                        json.dumps(
                            {
                                "seconds": round(passed),
                                "sent": 100 * n + 100,
                                "kept": kept,
                                "disk_mb": round(size / 1e6, 1),
                                "memory_mb": round(resident(it.process.pid), 1),
                                "longest_wait_ms": round(1e3 * worst),
                            }
                        ),
                        flush=True,
                    )
                if passed > seconds:
                    break
        it.stop()


if __name__ == "__main__":
    main(float(sys.argv[1]))
