"""HTTP of uvicorn, with a shorter way for the calls that come most often."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from .http import JSON, Call, Response, late, refusal

_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
    b"cache-control: no-store\r\nx-content-type-options: nosniff\r\n\r\n"
)
_HEADS = 1024  # that are remembered; lengths of bodies are part of them
_LONGEST_HEAD = 2048


class Joining:
    """A transport that writes what comes in one turn of the event loop together.

    uvicorn writes the head of an answer and then its body, and each write wakes the client.
    """

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write soon."""
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(data)

    def write_now(self, data: bytes) -> None:
        """Write what is there, and this."""
        self.flush()
        self._transport.write(data)

    def close(self) -> None:
        """Write what is there, and close."""
        self.flush()
        self._transport.close()

    def flush(self) -> None:
        """Write what is there."""
        if self._parts:
            data, self._parts = b"".join(self._parts), []
            self._transport.write(data)


class _Nobody:
    def set(self) -> None:
        """Wake nobody."""


class Quick:
    """A request and its response without ASGI: no task, no messages, one write.

    It stands where uvicorn has its own cycle, which makes later requests of the connection wait.
    """

    __slots__ = (
        "_protocol", "_started", "call", "disconnected", "keep_alive", "parts", "response_complete",
    )  # fmt: skip
    message_event = _Nobody()

    def __init__(self, protocol: Protocol, call: Call) -> None:
        self._protocol, self.call = protocol, call
        self.response_complete = self.disconnected = False
        self.keep_alive = True
        self.parts: list[bytes] = []

    def wait(self) -> None:
        """Wait for the body, but not for ever."""
        self._protocol.app.patience.wait(self, self._late)

    def complete(self) -> None:
        """Serve the request: its body is there."""
        self._protocol.app.patience.done(self)
        self.serve(self.parts[0] if len(self.parts) == 1 else b"".join(self.parts))

    def serve(self, body: bytes) -> None:
        """Serve the request; the response may come later."""
        self._started = time.perf_counter()
        call = self.call
        try:
            call.handler(call.request, body, self._answer)
        except Exception as error:
            self._answer(self._protocol.app.failed(error))

    def _answer(self, response: Response) -> None:
        self._send(response)
        self._protocol.app.note(self.call.request, response.status, self._started)

    def _late(self) -> None:
        self._protocol.app.patience.done(self)
        self.keep_alive = False
        self._send(refusal(late()))

    def _send(self, response: Response) -> None:
        self.response_complete = True
        protocol = self._protocol
        transport = protocol.joining
        if self.disconnected or transport.is_closing():
            return
        if response.status == 200 and response.kind is JSON and self.keep_alive:
            head = _HEAD % len(response.body)
        else:
            lines = [b"%b: %b\r\n" % header for header in response.all_headers()]
            if not self.keep_alive:
                lines.append(b"connection: close\r\n")
            head = STATUS_LINE[response.status] + b"".join(lines) + b"\r\n"
        transport.write_now(head + response.body)
        if not self.keep_alive:
            transport.close()
        protocol.on_response_complete()


class Protocol(HttpToolsProtocol):
    """A connection whose answers are written at once.

    Clients send the same headers again and again. What the parser found in them is remembered with
    their bytes, so that a request which comes in one piece is parsed once, not each time.
    """

    joining: Joining
    app: Any
    cycle: Any
    _idle = math.inf  # since when nothing has come
    _inside = False  # whether a part of a request has come

    def connection_made(self, transport: Any) -> None:
        """Begin."""
        self.joining = joining = Joining(transport, self.loop)
        super().connection_made(joining)  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        """Serve a request whose headers are known, else let the parser look at it."""
        if self._inside or not self._free():
            super().data_received(data)
            return
        end = data.find(b"\r\n\r\n") + 4
        head, app = data[:end], self.app
        call = app.heads.get(head)
        if call is None:
            super().data_received(data)
            self._remember(head, len(data) - end)
        elif len(data) - end != call.length or not (app.guard.is_open or app.admits(call)):
            super().data_received(data)
        else:
            self._idle = math.inf
            self.cycle = quick = Quick(self, call)
            quick.serve(data[end:])

    def _remember(self, head: bytes, rest: int) -> None:
        """Remember headers if all behind them was the body of a request without ASGI."""
        quick, heads = self.cycle, self.app.heads
        if self._inside or not isinstance(quick, Quick) or len(head) > _LONGEST_HEAD:
            return
        if sum(map(len, quick.parts)) == rest == quick.call.length:
            if len(heads) >= _HEADS:
                heads.clear()
            heads[head] = quick.call

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._inside = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Take the shorter way if it is open, else that of ASGI."""
        quick = self._quick()
        if quick is None:
            super().on_headers_complete()
        else:
            self.cycle = quick
            quick.wait()

    def _free(self) -> bool:
        """Say whether a request would be the only one, and its response could be written."""
        before = self.cycle
        return (
            (before is None or before.response_complete)
            and not self.pipeline
            and not self.flow.write_paused
            and len(self.connections) < (self.limit_concurrency or math.inf)
        )

    def _quick(self) -> Quick | None:
        parser = self.parser
        if not self._free() or self.expect_100_continue or b"?" in self.url:
            return None
        if parser.get_method() != b"POST" or parser.get_http_version() != "1.1":
            return None
        if not parser.should_keep_alive():
            return None
        scope: Any = self.scope
        scope["method"], scope["raw_path"], scope["query_string"] = "POST", self.url, b""
        call = self.app.find_call(scope)
        return None if call is None else Quick(self, call)

    def on_body(self, body: bytes) -> None:
        """Collect the body."""
        if isinstance(self.cycle, Quick):
            self.cycle.parts.append(body)
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Serve the request."""
        self._inside = False
        if not isinstance(self.cycle, Quick):
            super().on_message_complete()
        elif not self.cycle.response_complete:
            self.cycle.complete()

    # Idle connections: one timer that is late, as setting one for each request is expensive -------

    def on_response_complete(self) -> None:
        """Begin the next request, if there is one."""
        if self.pipeline or self.transport.is_closing():
            super().on_response_complete()
            return
        self.server_state.total_requests += 1
        self.flow.resume_reading()
        self._idle = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self._look_later(self.timeout_keep_alive)

    def _look_later(self, seconds: float) -> None:
        later = self.loop.call_later(seconds, self.timeout_keep_alive_handler)
        self.timeout_keep_alive_task = later

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection if nothing has come for too long."""
        left = self._idle + self.timeout_keep_alive - self.loop.time()
        if left <= 0:
            super().timeout_keep_alive_handler()
        else:
            self._look_later(min(left, self.timeout_keep_alive))

    def _unset_keepalive_if_required(self) -> None:
        self._idle = math.inf

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
        super().connection_lost(exc)
