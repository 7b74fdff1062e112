"""What the pages about a stream ask for: figures of a period, live; models, snapshots, changes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from .commands import admin
from .desk import cookie
from .figures import stream_figures
from .http import Request, Response, Send, reply
from .ledger import WINDOWS, Ledger, count_ledger, keep_ledger, load_ledger
from .types import Refusal, encode

if TYPE_CHECKING:
    from .app import App

_EVERY = 1.0  # seconds between two messages
_SOON = 0.05  # the same while the log is being counted
_ALIVE = 15  # turns after which a silent connection says that it is there
_LISTENERS = 32
_PATIENCE = 0.3  # seconds of counting before what there is is shown


class Desk:
    """Figures by period of all streams; counted once however many look."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._ledgers: dict[str, Ledger] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self.listeners = 0

    async def look(self, name: str, window: str) -> dict[str, Any]:
        """Return the figures of a stream; `counted` is the share of the log that is in them."""
        app, started = self._app, time.monotonic()
        app.stream(name)
        async with self._locks.setdefault(name, asyncio.Lock()):
            until = app.driver.sequencer.witness.seq  # what is acknowledged
            if name not in self._ledgers:
                self._ledgers[name] = await app.run(load_ledger, name, until, reads=True)
            ledger = self._ledgers[name]
            while not await app.run(count_ledger, name, ledger, until, reads=True):
                if time.monotonic() - started > _PATIENCE:
                    break
            if ledger.due:
                with contextlib.suppress(Refusal):  # nothing can be written now
                    await app.run(keep_ledger, name, ledger)
        found: dict[str, Any] = await app.run(stream_figures, name, reads=True)
        config = app.stream(name).config
        return {
            **found,
            "window": ledger.window(window, app.driver.clock(), config.costs, config.hidden),
            "counted": min(1.0, ledger.seq / max(1, until)),
        }


class Live:
    """Server-sent events: the figures whenever something has changed."""

    status = 200

    def __init__(self, app: App, desk: Desk, request: Request, window: str) -> None:
        self._app, self._desk, self._request, self._window = app, desk, request, window

    async def __call__(self, send: Send) -> None:
        """Tell the figures until somebody leaves."""
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        gone = asyncio.ensure_future(self._request.gone())
        self._desk.listeners += 1
        before, silent = None, 0
        try:
            while True:
                found = await self._desk.look(self._request.arguments[0], self._window)
                now = (found["seq"], found["window"]["seq"], found["window"]["time"][-1])
                body = b"data: " + encode(found) + b"\n\n" if now != before else b""
                silent = 0 if body else silent + 1
                if not body and silent % _ALIVE == 0:
                    body = b": quiet\n\n"
                if body:
                    await send({"type": "http.response.body", "body": body, "more_body": True})
                before = now
                pause = _EVERY if found["counted"] == 1 else _SOON
                await asyncio.wait([gone], timeout=pause)
                if gone.done() or self._app.stopping():
                    break
                self._app.guard.admit(self._request, "any", cookie(self._request))
        except Refusal:  # the server stops, or the token is no longer valid
            pass
        finally:
            self._desk.listeners -= 1
            gone.cancel()
        await send({"type": "http.response.body", "body": b""})


def add_routes(app: App) -> None:
    """Add the calls."""
    desk = Desk(app)

    def window(request: Request) -> str:
        name = request.option("window") or "day"
        if name not in WINDOWS:
            raise Refusal(422, f"window must be one of {', '.join(WINDOWS)}")
        return name

    async def look(request: Request) -> Response:
        """Return the figures of a stream with those of the last hour, day or month."""
        return reply(await desk.look(request.arguments[0], window(request)))

    async def live(request: Request) -> Any:
        """Send the same as server-sent events, whenever something changes."""
        app.stream(request.arguments[0])
        if desk.listeners >= _LISTENERS:
            raise Refusal(429, "too many listen already", **{"retry-after": "10"})
        return Live(app, desk, request, window(request))

    async def model(request: Request) -> Response:
        """Return what is in a model: learner, parameters, prices, strongest features."""
        return reply(await app.run(admin.model_contents, *request.arguments, reads=True))

    async def changes(request: Request) -> Response:
        """Return the changes of settings and models, the newest first."""
        found = await app.run(admin.changes, *request.arguments, reads=True)
        return reply({"changes": found})

    async def snapshots(request: Request) -> Response:
        """Return the snapshots that there are."""
        found = await app.run(admin.snapshots, *request.arguments, reads=True)
        return reply({"snapshots": found})

    async def snapshot(request: Request) -> Response:
        """Write a snapshot of all streams now."""
        return reply(await app.run(admin.take_snapshot, *request.arguments))

    app.routes.add("GET", "/v1/{stream}/desk", "any", look)
    app.routes.add("GET", "/v1/{stream}/live", "any", live)
    app.routes.add("GET", "/v1/{stream}/models/{name}", "label", model)
    app.routes.add("GET", "/v1/{stream}/changes", "label", changes)
    app.routes.add("GET", "/v1/{stream}/snapshots", "label", snapshots)
    app.routes.add("POST", "/v1/{stream}/snapshots", "admin", snapshot)
