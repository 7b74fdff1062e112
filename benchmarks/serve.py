"""The service and a bare one of FastAPI and river: processor time of the server for a request.

Ours stores every event durably (SQLite, synchronous=FULL) unless it only scores; the other one
keeps nothing. The load comes from the same machine; the time is that of the server process alone,
so it holds on a machine that others use too.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from . import peers
from .harness import Contender, Group
from .load import answered, cpu_seconds, echoed, streamed

FEATURES = 30
RIVER = """
import random, sys, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from river import linear_model, preprocessing

class Event(BaseModel):
    features: dict[str, float]

class Labelled(Event):
    label: bool

app = FastAPI()
model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
for i in range(200):
    model.learn_one({{f"feature_{{j}}": random.gauss(0, 1) for j in range({features})}}, i % 3 == 0)

@app.post("/score")
async def score(event: Event):
    return {{"probability": model.predict_proba_one(event.features)[True]}}

@app.post("/learn")
async def learn(event: Labelled):
    found = model.predict_proba_one(event.features)[True]
    model.learn_one(event.features, event.label)
    return {{"probability": found}}

uvicorn.run(app, port=int(sys.argv[1]), log_level="critical", access_log=False)
"""
NOTHING = """
import asyncio, sys, uvloop

class Answering(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
    def data_received(self, data):
        self.transport.write(b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}")

async def main():
    loop = asyncio.get_running_loop()
    await (await loop.create_server(Answering, "127.0.0.1", int(sys.argv[1]))).serve_forever()

uvloop.run(main())
"""
DAEMON = """
import vowpalwabbit
vowpalwabbit.Workspace(
    "--quiet --daemon --foreground --num_children 1 --port {port} --loss_function logistic"
).run_parser()
"""


def groups(quick: bool) -> Iterator[Group]:
    if not (peers.present("uvicorn") and Path("/proc/self/stat").exists()):
        return
    seconds = 0.5 if quick else 3.0
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        port = _free_port()
        ours = _started(
            stack, port, "-m", "lopsided", "serve", folder, "--port", str(port), "--stream", "pay",
            "--costs", "60", "3", "--budget", "20/1000",
        )  # fmt: skip
        bodies = Bodies()
        _teach(port, bodies)
        theirs, other = 0, _free_port()
        if peers.present("fastapi") and peers.present("river"):
            theirs = _started(stack, other, "-c", RIVER.format(features=FEATURES), str(other))
        daemon, vw = 0, _free_port()
        if peers.present("vowpalwabbit"):
            daemon = _started(stack, vw, "-c", DAEMON.format(port=vw))
        floor = 0
        if peers.present("uvloop"):
            floor = _free_port()
            _started(stack, floor, "-c", NOTHING, str(floor))
        yield from _groups(seconds, ours, port, theirs, other, daemon, vw, floor, bodies, folder)


def _groups(
    seconds: float, ours: int, port: int, theirs: int, other: int, daemon: int, vw: int,
    floor: int, bodies: Bodies, folder: str,
) -> Iterator[Group]:  # fmt: skip
    def contender(
        name: str, pid: int, where: int, path: str, body: Callable[[], bytes], **more: int
    ) -> Contender:
        connections, work = more.get("connections", 16), more.get("work", 1)

        def run() -> float:
            before = cpu_seconds(pid)
            count = answered(where, path, body, connections, seconds)
            return (cpu_seconds(pid) - before) / count

        return Contender(name, run, work, ours=pid == ours)

    score = [contender("lopsided serve", ours, port, "/v1/pay/score", bodies.unkeyed)]
    store = [
        contender("lopsided serve, durable", ours, port, "/v1/pay/events", bodies.event),
        contender(
            "the same, 64 connections", ours, port, "/v1/pay/events", bodies.event, connections=64
        ),
        contender(
            "the same, batches of 100", ours, port, "/v1/pay/events", bodies.batch, work=100,
            connections=8,
        ),
    ]  # fmt: skip
    if theirs:
        name = "FastAPI + river, in memory"
        score.append(contender(name, theirs, other, "/score", bodies.unkeyed))
        store.append(contender(name, theirs, other, "/learn", bodies.labelled))
        score[0].goal = 3.0
    baseline = "FastAPI + river, in memory" if theirs else None
    title = f"a request to a server, {FEATURES} named features"
    yield Group(f"score: {title}", "µs/event", score, baseline, note="processor time")
    yield Group(f"decide or learn: {title}", "µs/event", store, baseline, note="processor time")
    yield _rates(seconds, port, floor, bodies, folder)
    yield from _lines(seconds, ours, port, daemon, vw, bodies)


def _lines(
    seconds: float, ours: int, port: int, daemon: int, vw: int, bodies: Bodies
) -> Iterator[Group]:
    """Yield the groups of a single client that sends lines, against Vowpal Wabbit's daemon.

    The daemon learns from each line and answers with its prediction; it stores nothing, and others
    wait while a client is connected. Ours decides and stores every event before it answers.
    """
    n = int(8000 * seconds)
    rows = bodies.vw(n)
    runs: dict[str, tuple[int, Callable[[], float]]] = {
        "lopsided serve, lines over one connection, durable": (
            ours,
            lambda: streamed(port, "/v1/pay/events", bodies.lines(n)),
        )
    }
    baseline = None
    if daemon:
        baseline = "Vowpal Wabbit's daemon, in memory"
        runs[baseline] = daemon, lambda: echoed(vw, rows, n)

    def used(pid: int, run: Callable[[], float]) -> float:
        before = cpu_seconds(pid)
        run()
        return cpu_seconds(pid) - before

    title = f"a stream of events from one client, {FEATURES} named features"
    for note in ("processor time", "wall time"):
        contenders = [
            Contender(
                name,
                partial(used, pid, run) if note == "processor time" else run,
                n,
                ours=pid == ours,
                goal=1.0 if baseline and pid == ours else None,
            )
            for name, (pid, run) in runs.items()
        ]
        yield Group(title, "µs/event", contenders, baseline, note=note)


def _rates(seconds: float, port: int, floor: int, bodies: Bodies, folder: str) -> Group:
    """Return the group that compares what is stored in a second with commits of the machine.

    At `floor` is a server that says the same to everything: no service can answer sooner.
    """

    def commits() -> float:
        db = sqlite3.connect(Path(folder) / "commits.db", isolation_level=None)
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = full")
        db.execute("create table if not exists t(a)")
        count, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            db.execute("insert into t values (1)")
            count += 1
        db.close()
        return seconds / count

    def events(
        connections: int, body: Callable[[], bytes], where: int = port
    ) -> Callable[[], float]:
        return lambda: seconds / answered(where, "/v1/pay/events", body, connections, seconds)

    contenders = [
        Contender("a commit of SQLite, one after the other", commits, ours=False),
        Contender("lopsided serve, 64 connections", events(64, bodies.event), goal=40.0),
        Contender("batches of 100, 8 connections", events(8, bodies.batch), 100),
    ]
    if floor:
        name = "a server that answers and does nothing, 64 connections"
        contenders.append(Contender(name, events(64, bodies.event, floor), ours=False))
    return Group(
        "time for an event to be stored durably",
        "µs/event",
        contenders,
        "a commit of SQLite, one after the other",
        note="wall time, the load from the same machine",
    )


class Bodies:
    """Requests that are made beforehand, but for their keys."""

    def __init__(self) -> None:
        rng = random.Random(0)
        rows = [[rng.gauss(0, 1) for _ in range(FEATURES)] for _ in range(500)]
        self.labels = [row[0] > 1 for row in rows]
        self._texts = [
            json.dumps({f"feature_{j}": value for j, value in enumerate(row)}) for row in rows
        ]
        self._count = itertools.count()

    def event(self) -> bytes:
        return self._event().encode()

    def _event(self) -> str:
        n = next(self._count)
        return f'{{"key":"tx-{n}","features":{self._texts[n % 500]}}}'

    def batch(self) -> bytes:
        return f'{{"events":[{",".join(self._event() for _ in range(100))}]}}'.encode()

    def lines(self, n: int) -> bytes:
        return "\n".join(self._event() for _ in range(n)).encode()

    def vw(self, n: int) -> bytes:
        found = []
        for i in range(n):
            row = json.loads(self._texts[i % 500])
            text = " ".join(f"{name}:{value}" for name, value in row.items())
            found.append(f"{1 if self.labels[i % 500] else -1} | {text}\n")
        return "".join(found).encode()

    def unkeyed(self) -> bytes:
        return f'{{"features":{self._texts[next(self._count) % 500]}}}'.encode()

    def labelled(self) -> bytes:
        n = next(self._count) % 500
        return f'{{"label":{json.dumps(self.labels[n])},"features":{self._texts[n]}}}'.encode()


def _teach(port: int, bodies: Bodies) -> None:
    from lopsided.client import Client

    with Client(f"http://127.0.0.1:{port}", stream="pay") as client:
        for _ in range(2):
            events = json.loads(bodies.batch())["events"]
            client.events(events)
            numbers = [int(event["key"][3:]) % 500 for event in events]
            client.labels(
                [
                    {"key": event["key"], "label": int(bodies.labels[n])}
                    for event, n in zip(events, numbers, strict=True)
                ]
            )


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _started(stack: contextlib.ExitStack, port: int, *command: str) -> int:
    """Start a server and wait until it listens; return its process."""
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    stack.callback(process.wait)
    stack.callback(os.killpg, process.pid, signal.SIGKILL)  # the daemon has a child
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return process.pid
        time.sleep(0.1)
    raise RuntimeError("a server did not start")
