"""A real server in another process, to be killed."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from lopsided.client import Client

SOURCE = str(Path(__file__).parent.parent.parent / "src")
OPTIONS = (
    "--stream", "pay", "--positive", "fraud", "--negative", "fine", "--costs", "60", "3",
    "--budget", "20/100", "--learner", "AROW-diag",
)  # fmt: skip


class ServerProcess:
    """A server on a folder, on a port that is free."""

    def __init__(self, folder, *options, wait=True):
        import lopsided

        root = str(Path(lopsided.__file__).parent.parent)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lopsided", "serve", str(folder), "--port", "0",
             *OPTIONS, *map(str, options)],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": root},
        )  # fmt: skip
        self.url = ""
        self.said, self.clients = [], []
        if wait:
            self.wait()

    def wait(self):
        for line in self.process.stderr:
            self.said.append(line)
            if found := re.search(r"https?://\S+", line):
                self.url = found[0]
                return
        raise AssertionError(f"the server did not start: {self.said}")

    def client(self, **options):
        self.clients.append(Client(self.url, **{"stream": "pay", **options}))
        return self.clients[-1]

    def kill(self):
        self.process.kill()
        self._reap()

    def stop(self):
        """Ask the server to stop, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self._reap()

    def _reap(self):
        with contextlib.suppress(ValueError):
            self.said += self.process.stderr.read().splitlines()
        self.process.stderr.close()
        return self.process.wait(timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for client in self.clients:
            client.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.stderr.close()
        self.process.wait(timeout=60)
