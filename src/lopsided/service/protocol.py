"""HTTP of uvicorn, with one system call for an answer instead of two."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


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
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Write what is there, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._parts:
            data, self._parts = b"".join(self._parts), []
            self._transport.write(data)


class Protocol(HttpToolsProtocol):
    """A connection whose answers are written at once."""

    def connection_made(self, transport: Any) -> None:
        """Begin."""
        joining: Any = Joining(transport, self.loop)
        super().connection_made(joining)
