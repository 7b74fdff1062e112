"""Servers that are killed under load, for real.

A parent that has imported everything forks a server whenever it is told to, so that a start takes
milliseconds. Run as a program for many kills: python tests/support/killing.py 1000 FOLDER SECONDS
(the folder is a temporary one if it is not given; a server lives for 0.25 seconds at most).
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import lopsided
from lopsided.service.recovery import recover
from lopsided.service.storage import Storage
from lopsided.service.stream import digest
from lopsided.service.types import encode

_NURSERY = """
import os, signal, sys
from lopsided.service.server import Settings, serve
from lopsided.service.types import Costs, StreamConfig

config = StreamConfig(positive="fraud", negative="fine", costs=Costs(60.0, 3.0),
                      learner="AROW-diag", budget="20/100", hold=0.05)
settings = Settings(folder=sys.argv[1], port=int(sys.argv[2]), stream="pay", config=config,
                    snapshot_every=int(sys.argv[3]))
import uvicorn, uvloop, httptools  # before the fork, not after each
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        serve(settings, lambda address, app: os.write(1, b"up\\n"))
        os._exit(0)
    sys.stdin.readline()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.write(1, b"down\\n")
"""


class Nursery:
    """Starts and kills servers."""

    def __init__(self, folder, port, every):
        root = str(Path(lopsided.__file__).parent.parent)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _NURSERY, str(folder), str(port), str(every)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": root},
        )  # fmt: skip

    def turn(self, answer):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == f"{answer}\n"

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Caller(threading.Thread):
    """A client that repeats what was not answered, and remembers what was."""

    def __init__(self, number, port):
        super().__init__(daemon=True)
        self.number, self.port = number, port
        self.rng = random.Random(number)
        self.events, self.labels, self.answers = {}, {}, {}
        self.repeated = 0
        self.stopping = False
        self.failure = None

    def run(self):
        try:
            at = 0
            while not self.stopping:
                at += 1
                self.one(at)
        except Exception as failure:
            self.failure = failure

    def one(self, at):
        key, rng = f"c{self.number}-{at}", self.rng
        x = {"a": rng.gauss(0, 1), "b": rng.gauss(0, 1), "shop": f"s{rng.randrange(3)}"}
        event = {"key": key, "features": x, "time": float(at)}
        if rng.random() < 0.1:  # many at once share a row of the log
            batch = [event, *({**event, "key": f"{key}+{i}"} for i in range(20))]
            found = self.call("POST", "events", {"events": batch})
            self.events.update((one["key"], one) for one in (found or {}).get("answers", ()))
        else:
            found = self.call("POST", "events", event)
            if found is not None:
                self.events[key] = found
        if rng.random() < 0.4:
            label = "fraud" if x["a"] > 1 else "fine"
            body = {"key": key, "label": label, "id": key}
            done = self.call("POST", "labels", body)
            if done is not None:
                self.labels[key] = label
        if rng.random() < 0.1:
            for question in (self.call("GET", "questions?n=2") or {}).get("questions", ()):
                body = {"key": question["key"], "lease": question["lease"], "label": "fine"}
                done = self.call("POST", "answers", body)
                if done is not None and done["result"] in ("held", "repeated"):
                    self.answers[question["key"]] = "fine"

    def call(self, method, path, body=None):
        """Call until there is an answer; None for a refusal or at the end."""
        data = None if body is None else json.dumps(body)
        while not self.stopping:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            try:
                connection.request(
                    method, f"/v1/pay/{path}", data, {"content-type": "application/json"}
                )
                response = connection.getresponse()
                found = json.loads(response.read())
            except (OSError, http.client.HTTPException, ValueError):
                self.repeated += 1
                time.sleep(0.01)
                continue
            finally:
                connection.close()
            if response.status == 200:
                return found
            assert response.status in (404, 409), (response.status, found)
            return None
        return None


def killed(folder, kills, *, callers=4, every=300, seed=0, longest=0.25):
    """Kill a server so many times under load; check; return counts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    nursery = Nursery(folder, port, every)
    threads = [Caller(i, port) for i in range(callers)]
    rng = random.Random(seed)
    try:
        for kill in range(kills):
            nursery.turn("up")
            if kill == 0:
                for thread in threads:
                    thread.start()
            time.sleep(rng.uniform(0.02, longest))
            if kill == kills - 1:
                break
            nursery.turn("down")
        for thread in threads:
            thread.stopping = True
        for thread in threads:
            thread.join(30)
        nursery.turn("down")
    finally:
        nursery.close()
    for thread in threads:
        if thread.failure is not None:
            raise thread.failure
    return check(folder, threads)


def check(folder, threads):
    """Everything that was acknowledged is there, once, as it was said, and the bits are equal."""
    storage = Storage(Path(folder) / "lopsided.db")
    try:
        found = [answer for _, answer in storage.events()]
        outs = {answer.key: json.loads(encode(answer)) for answer in found}
        assert len(outs) == len(found), "an event twice"
        told = 0
        for thread in threads:
            for key, answer in thread.events.items():
                assert outs.get(key) == answer, f"acknowledged and lost, or another: {key}"
            for key, label in thread.labels.items():
                rows = storage.all("select body from log where kind='label' and key=?", key)
                assert label in [json.loads(b)["label"] for (b,) in rows], f"lost label: {key}"
            for key in thread.answers:
                states = storage.all("select state from question where key = ?", key)
                assert states[0][0] in ("held", "closed"), f"lost answer: {key}"
            told += len(thread.events) + len(thread.labels) + len(thread.answers)
        others = storage.all("select count(*) from log where kind not in ('event', 'events')")
        assert others[0][0] + len(found) == storage.seq, "a hole in the log"
        streams, _, replayed = recover(storage)
        first = digest(streams["pay"].snapshot())
        storage.do("delete from snapshot")
        streams, _, whole = recover(storage)
        assert digest(streams["pay"].snapshot()) == first
        blocks = {}
        for answer in outs.values():
            blocks[answer["id"] // 100] = blocks.get(answer["id"] // 100, 0) + answer["asked"]
        assert max(blocks.values()) <= 20, "overspent"
    finally:
        storage.close()
    return {"acknowledged": told, "rows": whole, "replayed": replayed,
            "repeated": sum(t.repeated for t in threads)}  # fmt: skip


if __name__ == "__main__":
    place = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    longest = float(sys.argv[3]) if len(sys.argv) > 3 else 0.25
    print(killed(place, int(sys.argv[1]), seed=int(time.time()), longest=longest))
    if len(sys.argv) <= 2:
        shutil.rmtree(place)
