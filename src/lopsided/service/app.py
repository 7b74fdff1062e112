"""The service as an ASGI application; what it can be asked is in `calls`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from . import console, desk, inference
from .auth import Guard
from .calls import events, labels, models, server
from .driver import Driver
from .http import JSON, Call, Immediate, Patience, Request, Response, Routes, Send, refusal
from .log import Journal
from .types import Refusal


class App:
    """An ASGI application.

    Parameters
    ----------
    driver : callable
        Makes the driver once there is an event loop.
    guard : Guard
        Who may do what.
    journal : Journal
        Where requests are noted.
    body : int
        The largest body, in bytes.
    patience : float
        Seconds to wait for a body.
    """

    def __init__(
        self,
        driver: Callable[[], Driver],
        guard: Guard,
        journal: Journal,
        *,
        body: int = 1 << 20,
        patience: float = 30.0,
    ) -> None:
        self._make, self.guard, self.journal, self._body = driver, guard, journal, body
        self.driver: Driver
        self.patience = Patience(patience)
        self.background: list[Callable[[App], Coroutine[Any, Any, None]]] = []
        self.stopping: Callable[[], bool] = lambda: False  # set by the server
        self.counts: dict[tuple[str, int], int] = {}
        self.heads: dict[bytes, Call] = {}  # by the bytes of their headers
        self.routes = Routes()
        for part in (events, labels, models, server, inference, desk, console):
            part.add_routes(self)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Send) -> None:
        """Serve a request, or start and stop with the server."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._serve(Request(scope, receive, self._body, self.patience), send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _lifespan(self, receive: Any, send: Send) -> None:
        await receive()
        self.driver = self._make()
        tasks = [asyncio.create_task(task(self)) for task in self.background]
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for task in tasks:
            task.cancel()
        await self.driver.stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, request: Request, send: Send) -> None:
        started = time.perf_counter()
        try:
            handler, role, request.arguments = self.routes.find(request.method, request.path)
            if role:
                self._admit(request, role)
            response = await handler(request)
        except Exception as error:
            response = self.failed(error)
        await response(send)
        self.note(request, getattr(response, "status", 200), started)

    def _admit(self, request: Request, role: str) -> None:
        """Refuse a request of those who may not do what needs a role, or ask too often."""
        request.who = self.guard.check(request, role, desk.cookie(request))

    def failed(self, error: Exception) -> Response:
        """Return what a client is told about an error."""
        if isinstance(error, Refusal):
            return refusal(error)
        self.journal.fault(error)
        return refusal(Refusal(500, "the request failed"))

    def note(self, request: Request, status: int, started: float) -> None:
        """Count a request that was answered."""
        what = request.method, status
        self.counts[what] = self.counts.get(what, 0) + 1
        if self.journal.requests:
            seconds = time.perf_counter() - started
            self.journal.request(request.method, request.path, status, seconds, request.who)

    # Without a task: what is called most ----------------------------------------------------------

    def find_call(self, scope: dict[str, Any]) -> Call | None:
        """Return a request and its handler if it can be served as soon as its body is there.

        Everything else, including what is refused, is left to ASGI.
        """
        request = Request(scope, _nothing, self._body, self.patience)
        size = request.headers.get(b"content-length", b"")
        if not size.isdigit() or int(size) > self._body or request.kind != JSON:
            return None
        try:
            handler, role, request.arguments = self.routes.find(request.method, request.path)
        except Refusal:
            return None
        immediate = self.routes.immediate.get(handler)
        if immediate is None:
            return None
        call = Call(request, immediate, role, int(size))
        return call if self.admits(call) else None

    def admits(self, call: Call) -> bool:
        """Say whether who calls may do so now."""
        try:
            self._admit(call.request, call.role)
        except Refusal:
            return False
        return True

    def reload_tokens(self) -> None:
        """Read the tokens anew; those who were let in by others are asked again."""
        self.guard.reload(self.driver.sequencer.storage)
        self.heads.clear()

    async def awaited(self, handler: Immediate, request: Request) -> Response:
        """Serve a request by a handler that calls back."""
        body = await request.body()
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()

        def done(response: Response) -> None:
            if not future.done():
                future.set_result(response)

        handler(request, body, done)
        return await future

    # For the calls --------------------------------------------------------------------------------

    async def run(self, command: Any, *arguments: Any, reads: bool = False) -> Any:
        """Run a command in the next group."""
        return await self.driver.submit(lambda tx: command(tx, *arguments), reads=reads)

    def stream(self, name: str) -> Any:
        """Return a stream by name."""
        return self.driver.sequencer.stream(name)


async def _nothing() -> dict[str, Any]:
    return {"type": "http.disconnect"}
