"""An application that is called without sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json

from lopsided.service.app import App
from lopsided.service.auth import Guard, new_token
from lopsided.service.commands.admin import put_stream
from lopsided.service.driver import Driver
from lopsided.service.log import Journal
from lopsided.service.sequencer import Sequencer
from lopsided.service.storage import Storage
from lopsided.service.stream import digest
from service import CONFIG, NoWitness


class Quiet:
    def write(self, text):
        pass

    def flush(self):
        pass


class Wire:
    """An application that is called without a network."""

    def __init__(self, *, tokens=(), body=100_000, rate=0.0, queue=4096, patience=30.0):
        self.storage = Storage(":memory:")
        self.sequencer = Sequencer(self.storage, NoWitness())
        self.now = 1_000_000.0
        self.sequencer.run([lambda tx: put_stream(tx, "pay", CONFIG)], self.now)
        self.sequencer.commit()
        self.storage.begin()
        self.tokens = {role: new_token(self.storage, role, role, self.now) for role in tokens}
        self.storage.commit()
        self.app = App(
            lambda: Driver(self.sequencer, Journal(Quiet()), queue=queue, clock=lambda: self.now),
            Guard(self.storage, rate),
            Journal(Quiet()),
            body=body,
            patience=patience,
        )

    def digest(self):
        return digest(self.sequencer.streams["pay"].snapshot())

    async def call(self, method, path, body=None, *, role=None, headers=(), chunks=None):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {b"content-type": b"application/json", b"host": b"127.0.0.1:8080", **dict(headers)}
        if role is not None:
            given[b"authorization"] = b"Bearer " + self.tokens.get(role, role).encode()
        path, _, query = path.partition("?")
        scope = {
            "type": "http", "method": method, "path": path, "raw_path": path.encode(),
            "query_string": query.encode(), "headers": list(given.items()),
        }  # fmt: skip
        parts = [data] if chunks is None else list(chunks)
        sent = []

        async def receive():
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message):
            sent.append(message)

        await self.app(scope, receive, send)
        text = b"".join(message.get("body", b"") for message in sent[1:])
        self.headers = dict(sent[0]["headers"])
        with contextlib.suppress(ValueError):
            return sent[0]["status"], json.loads(text)
        return sent[0]["status"], text


def run(scenario, **options):
    """Run a scenario between the start and the end of an application."""

    async def main():
        wire = Wire(**options)
        wire.app.driver = wire.app._make()
        try:
            return await scenario(wire)
        finally:
            await wire.app.driver.stop()

    return asyncio.run(main())
