"""CSV of payments to a trained model: processor time against reading alone by Arrow, and river."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import lopsided
from lopsided.data.readers.csv import CsvReader

from . import peers
from .harness import Contender, Group

ARROW, RIVER = "pyarrow.csv.read_csv, nothing learned", "river, iter_csv and LogisticRegression"
TEXTS = ("merchant", "country")


def groups(quick: bool) -> Iterator[Group]:
    rows = 5_000 if quick else 180_000
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/payments.csv"
        Path(path).write_text(_table(rows))
        title = f"CSV of {rows:,} payments to model, with texts, times and empty cells"
        ours = [
            Contender(name, _timed(lambda n=name: _learn(path, n)), rows)
            for name in ("COG-II", "Recommended")
        ]
        reading = Contender("read, nothing learned", _timed(lambda: _learn(path, None)), rows)
        arrow = Contender(ARROW, _timed(lambda: _arrow(path)), rows, ours=False)
        yield Group(title, "ns/row", [*ours, reading, arrow], ARROW)
        if peers.present("river"):
            river = Contender(RIVER, _timed(lambda: _river(path)), rows, ours=False)
            command = Contender("lopsided run, wall time of all", lambda: _command(path), rows)
            yield Group(title, "ns/row", [*ours, command, river], RIVER)


def _table(rows: int) -> str:
    rng = np.random.default_rng(7)
    amounts = rng.lognormal(3, 1, rows)
    countries = rng.choice(["DE", "FR", "PL", "XX", ""], rows)
    fraud = rng.random(rows) < 0.005 + 0.25 * (countries == "XX") * (amounts > 20)
    times = np.datetime64("2026-01-01") + (15 * np.arange(rows)).astype("timedelta64[s]")
    cells = [
        f"{a:.2f}" if u > 0.05 else "NA" for a, u in zip(amounts, rng.random(rows), strict=True)
    ]
    columns = (times, rng.integers(200, size=rows), countries, cells, rng.integers(5, size=rows))
    lines = zip(*columns, fraud.astype(int), strict=True)
    body = "".join(f"{t},m{m},{c},{a},{n},{y}\n" for t, m, c, a, n, y in lines)
    return f"when,merchant,country,amount,items,label\n{body}"


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    def run() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return run


def _learn(path: str, name: str | None) -> None:
    model = None if name is None else lopsided.make(name)
    for block in CsvReader(path, categorical=TEXTS, drop=["when"], missing="indicate"):
        if model is not None:
            model.partial_fit(block.X, block.y)


def _command(path: str) -> float:
    words = f"run {path} --label label --categorical auto --drop when --quiet".split()
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "lopsided", *words], check=True, capture_output=True)
    return time.perf_counter() - start


def _arrow(path: str) -> None:
    from pyarrow import csv

    csv.read_csv(path, csv.ReadOptions(use_threads=False))


def _river(path: str) -> None:
    from river import linear_model, preprocessing, stream

    model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    kinds = {"amount": lambda text: 0.0 if text == "NA" else float(text), "items": float}
    for x, y in stream.iter_csv(path, target="label", converters=kinds, drop=["when"]):
        event = {(f"{k}={v}" if k in TEXTS else k): 1.0 if k in TEXTS else v for k, v in x.items()}
        model.learn_one(event, y == "1")
