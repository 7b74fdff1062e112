"""Lines in, lines out: events as they come, and an answer to each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import msgspec

from .http import NDJSON, Request, Send, decoded, refusal
from .types import Event, Refusal, quick

_EVENT = msgspec.json.Decoder(Event)
_GROUP = 1000
_AHEAD = 16  # groups of lines that wait for their answers
Decide = Callable[[list[Event]], Awaitable[list[bytes]]]
Ahead = asyncio.Queue["asyncio.Future[list[bytes]] | None"]


class Lines:
    """An answer that grows with the request: lines in, lines out."""

    status = 200

    def __init__(self, decide: Decide, request: Request) -> None:
        self._answers, self._request = decide, request

    async def __call__(self, send: Send) -> None:
        """Decide on lines as they come in; a bad line is answered by an error."""
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", NDJSON)]}
        )
        ahead: Ahead = asyncio.Queue(_AHEAD)
        reader = asyncio.create_task(self._read(ahead))
        try:
            while (found := await ahead.get()) is not None:
                await _send_line(send, b"\n".join(await found))
        except Refusal as error:
            await _send_line(send, refusal(error).body)
        finally:
            reader.cancel()
            while not ahead.empty():
                if (found := ahead.get_nowait()) is not None:
                    found.cancel()
        await send({"type": "http.response.body", "body": b""})

    async def _read(self, ahead: Ahead) -> None:
        """Read on while earlier lines wait for their answers, which come in order."""
        try:
            async for text in self._request.lines():
                for found in _read_lines(text):
                    await ahead.put(asyncio.create_task(self._decide(found)))
        except Exception as error:
            failed = asyncio.get_running_loop().create_future()
            failed.set_exception(error)
            await ahead.put(failed)
        await ahead.put(None)

    async def _decide(self, lines: list[Event | bytes]) -> list[bytes]:
        """Return a line for each line; bad ones are refused, the others decided."""
        events = [line for line in lines if isinstance(line, Event)]
        answers = await self._answers(events) if events else []
        if len(answers) == len(lines):
            return answers
        found = iter(answers)
        return [next(found) if isinstance(line, Event) else line for line in lines]


def _read_lines(text: bytes) -> Iterator[list[Event | bytes]]:
    """Yield the events of lines in groups; instead of a bad line what is said about it."""
    lines: list[Event | bytes] = quick.lines(text)
    if lines is None:
        lines = [_read_line(line) for line in text.split(b"\n") if line.strip()]
    for at in range(0, len(lines), _GROUP):
        yield lines[at : at + _GROUP]


def _read_line(line: bytes) -> Event | bytes:
    try:
        return quick.one(line, True) or decoded(_EVENT, line)
    except Refusal as error:
        return refusal(error).body


async def _send_line(send: Send, line: bytes) -> None:
    await send({"type": "http.response.body", "body": line + b"\n", "more_body": True})
