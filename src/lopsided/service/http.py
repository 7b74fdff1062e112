"""Requests and responses: ASGI, a table of routes, limits."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qs, unquote

import msgspec

from .types import Failure, Refusal, encode

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]
T = TypeVar("T")
JSON = b"application/json"
NDJSON = b"application/x-ndjson"
_LATE = "late"


class Patience:
    """Ends requests whose bodies do not come. One timer for all: one for each is expensive."""

    def __init__(self, seconds: float = 30.0) -> None:
        self._seconds = seconds
        self._waiting: dict[Any, tuple[float, Callable[[], object]]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def wait(self, who: Any, late: Callable[[], object]) -> None:
        """Begin to wait; `late` is called if that takes too long."""
        loop = asyncio.get_running_loop()
        self._waiting[who] = loop.time(), late
        if self._timer is None:
            self._timer = loop.call_later(self._seconds / 4, self._look)

    def done(self, who: Any) -> None:
        """Stop waiting."""
        self._waiting.pop(who, None)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        for since, late in list(self._waiting.values()):
            if loop.time() - since > self._seconds:
                late()
        again = bool(self._waiting)
        self._timer = loop.call_later(self._seconds / 4, self._look) if again else None


class Request:
    """What a client wants."""

    def __init__(
        self, scope: Mapping[str, Any], receive: Receive, limit: int, patience: Patience
    ) -> None:
        self.method: str = scope["method"]
        raw: bytes | None = scope.get("raw_path")
        self.path: str = scope["path"] if raw is None else raw.decode("latin-1")
        self._query: bytes = scope["query_string"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.arguments: tuple[str, ...] = ()
        self.who = self.role = ""
        self._scheme = scope.get("scheme")
        self._receive, self._limit, self._patience = receive, limit, patience

    @property
    def secure(self) -> bool:
        """Whether the client speaks HTTPS, with this server or with a proxy in front of it."""
        return self._scheme == "https" or self.headers.get(b"x-forwarded-proto") == b"https"

    def option(self, name: str) -> str | None:
        """Return an option of the query, None if it is not given."""
        if not self._query:
            return None
        found = parse_qs(self._query.decode("latin-1"), max_num_fields=20).get(name)
        return found[0] if found else None

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """Return an option that is a number."""
        text = self.option(name)
        try:
            value = default if text is None else float(text)
        except ValueError:
            value = float("nan")
        if not low <= value <= high:
            raise Refusal(422, f"{name} must be a number from {low:g} to {high:g}")
        return value

    @property
    def kind(self) -> bytes:
        """The type of the body."""
        return self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()

    async def body(self) -> bytes:
        """Return the whole body."""
        if self.kind != JSON:
            raise Refusal(415, "the body must be application/json")
        first = await self._next()
        body: bytes = first.get("body", b"")
        if not first.get("more_body"):
            if len(body) > self._limit:
                raise self._too_large()
            return body
        parts, size = [body], len(body)
        while True:
            message = await self._next()
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._limit:
                raise self._too_large()
            if not message.get("more_body"):
                return b"".join(parts)

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of a body as they come in, those that came together as one text."""
        rest = b""
        while True:
            message = await self._next()
            whole, end, rest = (rest + message.get("body", b"")).rpartition(b"\n")
            if len(rest) > self._limit:
                raise self._too_large()
            last = not message.get("more_body")
            if text := (whole + end + rest if last else whole):
                yield text
            if last:
                return

    async def _next(self) -> dict[str, Any]:
        patience, task = self._patience, asyncio.current_task()
        assert task is not None
        patience.wait(task, functools.partial(task.cancel, _LATE))
        try:
            message = await self._receive()
        except asyncio.CancelledError as stop:
            if stop.args == (_LATE,):
                raise late() from None
            raise
        finally:
            patience.done(task)
        if message["type"] != "http.request":
            raise Refusal(499, "the client has gone")
        return message

    async def gone(self) -> None:
        """Wait until the client has gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def _too_large(self) -> Refusal:
        return Refusal(413, f"a body has at most {self._limit} bytes")


def late() -> Refusal:
    """Return what is said to a client whose body did not come."""
    return Refusal(408, "the body did not come")


def decoded(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """Return what a body says, if it is what is expected."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise Refusal(422, str(error)) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Refusal(400, f"not JSON: {error}") from None


class Response:
    """An answer that is there as a whole."""

    __slots__ = ("body", "headers", "kind", "status")

    def __init__(
        self, body: bytes, status: int = 200, kind: bytes = JSON, headers: Mapping[str, str] = {}
    ) -> None:
        self.body, self.status, self.kind, self.headers = body, status, kind, headers

    def all_headers(self) -> list[tuple[bytes, bytes]]:
        """Return the headers."""
        headers = [
            (b"content-type", self.kind),
            (b"content-length", str(len(self.body)).encode()),
            (b"cache-control", b"no-store"),
            (b"x-content-type-options", b"nosniff"),
        ]
        headers += [(k.encode(), v.encode("latin-1", "replace")) for k, v in self.headers.items()]
        return headers

    async def __call__(self, send: Send) -> None:
        """Send it."""
        start = {"type": "http.response.start", "status": self.status}
        await send({**start, "headers": self.all_headers()})
        await send({"type": "http.response.body", "body": self.body})


def reply(value: Any, status: int = 200) -> Response:
    """Return a value as JSON."""
    return Response(encode(value), status)


def refusal(error: Refusal) -> Response:
    """Return an error as every error looks."""
    return Response(encode(Failure(error.error)), error.status, headers=error.headers)


_REMEMBERED = 256
Handler = Callable[[Request], Awaitable[Any]]
Immediate = Callable[[Request, bytes, Callable[[Response], None]], None]  # calls back when done


class Call(NamedTuple):
    """A request whose handler needs no task, and the length that its body has."""

    request: Request
    handler: Immediate
    role: str
    length: int


class Routes:
    """Handlers by method and path; a segment in braces stands for anything."""

    def __init__(self) -> None:
        self._table: dict[tuple[str, int], list[tuple[list[str], Handler, str]]] = {}
        self._found: dict[tuple[str, str], tuple[Handler, str, tuple[str, ...]]] = {}
        self.listed: list[tuple[str, str, str, Handler]] = []
        self.immediate: dict[Handler, Immediate] = {}

    def add(
        self, method: str, path: str, role: str, handler: Handler, now: Immediate | None = None
    ) -> None:
        """Add a route and the role that it needs; the empty role needs no token.

        `now` does the same for a body of JSON that is there, without a task.
        """
        if now is not None:
            self.immediate[handler] = now
        parts = path.strip("/").split("/")
        self._table.setdefault((method, len(parts)), []).append((parts, handler, role))
        self.listed.append((method, path, role, handler))

    def find(self, method: str, path: str) -> tuple[Handler, str, tuple[str, ...]]:
        """Return the handler, its role and the segments in place of the braces."""
        found = self._found.get((method, path))
        if found is None:
            found = self._find(method, path)
            if len(self._found) < _REMEMBERED and path.count("/") < 4:  # not paths with keys
                self._found[method, path] = found
        return found

    def _find(self, method: str, path: str) -> tuple[Handler, str, tuple[str, ...]]:
        given = path.strip("/").split("/")
        for parts, handler, role in self._table.get((method, len(given)), ()):
            if all(p == g or p[:1] == "{" for p, g in zip(parts, given, strict=True)):
                found = (unquote(g) for p, g in zip(parts, given, strict=True) if p[:1] == "{")
                return handler, role, tuple(found)
        for other, size in self._table:
            if other != method and size == len(given):
                for parts, _, _ in self._table[other, size]:
                    if all(p == g or p[:1] == "{" for p, g in zip(parts, given, strict=True)):
                        raise Refusal(405, f"{method} is not allowed here")
        raise Refusal(404, "there is no such page")
