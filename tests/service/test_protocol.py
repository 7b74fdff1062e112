"""The shorter way of HTTP, over sockets: the same answers in the same order."""

from __future__ import annotations

import asyncio
import json

import pytest
from wire import run

uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("httptools")

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol  # noqa: E402
from uvicorn.server import ServerState  # noqa: E402

from lopsided.service.protocol import Protocol, Quick  # noqa: E402


class Connection:
    """A connection to an application, and how many of its requests went the shorter way."""

    def __init__(self, wire, monkeypatch, **options):
        self.wire, self.quick = wire, 0
        serve = Quick.serve

        def counted(cycle, body):
            self.quick += 1
            serve(cycle, body)

        monkeypatch.setattr(Quick, "serve", counted)
        self.config = uvicorn.Config(
            wire.app, log_level="critical", ws="none", proxy_headers=False, **options
        )
        self.config.load()

    async def __aenter__(self):
        loop, state = asyncio.get_running_loop(), ServerState()
        made = lambda: Protocol(self.config, state, {}, loop)  # noqa: E731
        self.server = await loop.create_server(made, "127.0.0.1", 0)
        self.read, self.write = await asyncio.open_connection(*self.server.sockets[0].getsockname())
        return self

    async def __aexit__(self, *_):
        self.write.close()
        self.server.close()

    def send(self, body, path="/v1/pay/events", method="POST", *more):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [
            f"{method} {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json",
            f"Content-Length: {len(data)}", *more, "", "",
        ]  # fmt: skip
        self.write.write("\r\n".join(lines).encode() + data)

    async def answer(self):
        """Return status, headers and body of the next answer."""
        head = await asyncio.wait_for(self.read.readuntil(b"\r\n\r\n"), 60)
        first, *lines = head.decode().lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines if line)
        body = await self.read.readexactly(int(headers["content-length"]))
        return int(first.split()[1]), headers, json.loads(body)


def event(key, **features):
    return {"key": key, "features": features or {"a": 1.5}}


def connected(monkeypatch, scenario, *, settings=None, **options):
    async def inside(wire):
        async with Connection(wire, monkeypatch, **(settings or {})) as connection:
            await scenario(connection)

    run(inside, **options)


def test_requests_of_both_ways_are_answered_in_order(monkeypatch):
    async def scenario(it):
        for _ in range(3):
            it.send(event("e0"))
        it.send({"events": [event("e1"), event("e0")]})
        it.send(b"", "/v1/pay", "GET")
        it.send({"labels": [{"key": "e1", "label": "fraud"}]}, "/v1/pay/labels")
        it.send({"features": {"a": 1.0}}, "/v1/pay/score")
        found = [await it.answer() for _ in range(7)]
        assert [status for status, _, _ in found] == [200] * 7
        bodies = [body for _, _, body in found]
        assert bodies[0] == bodies[1] == bodies[2] == bodies[3]["answers"][1]
        assert bodies[4]["events"] == 2
        assert bodies[5]["results"][0]["result"] == "learned"
        assert "score" in bodies[6]
        it.send({"features": {"a": 1.0}}, "/v1/pay/score")
        assert await it.answer() == found[6]
        assert it.quick >= 2
        assert it.wire.app.counts == {("POST", 200): 7, ("GET", 200): 1}

    connected(monkeypatch, scenario)


def test_both_ways_say_the_same(monkeypatch):
    async def scenario(it):
        for body in (event("e1"), {"events": [event("e2")]}, {"events": []}, b"{", event("", a=1)):
            it.send(body)
            quick = await it.answer()
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            status, slow = await it.wire.call("POST", "/v1/pay/events", data)
            headers = {k.decode(): v.decode() for k, v in it.wire.headers.items()}
            assert quick == (status, headers, slow)
        assert it.quick == 5

    connected(monkeypatch, scenario)


def test_a_body_in_pieces_and_one_that_does_not_come(monkeypatch):
    async def scenario(it):
        data = json.dumps({"events": [event(f"e{i}", a=i / 7) for i in range(900)]}).encode()
        it.send(data)
        assert len((await it.answer())[2]["answers"]) == 900
        it.write.write(
            b"POST /v1/pay/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n"
            b"Content-Type: application/json\r\n\r\n{"
        )
        status, headers, body = await it.answer()
        assert (status, headers["connection"], body) == (
            408, "close", {"error": "the body did not come"},
        )  # fmt: skip
        assert await it.read.read() == b""
        assert it.quick == 1

    connected(monkeypatch, scenario, patience=2.0)


@pytest.mark.parametrize(
    ("body", "more", "status"),
    [
        (event("e"), ["Connection: close"], 200),
        (event("e"), ["Expect: 100-continue"], 200),
        (b'{"key":"' + b"x" * 100_000 + b'"}', [], 413),
        (event("e"), ["Origin: http://elsewhere.example"], 403),
        (event("e"), ["Content-Type: text/plain"], 415),
    ],
)
def test_what_is_unusual_takes_the_longer_way(monkeypatch, body, more, status):
    async def scenario(it):
        it.send(body, "/v1/pay/events", "POST", *more)
        if "Expect: 100-continue" in more:
            assert (await it.read.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100")
        assert (await it.answer())[0] == status
        assert it.quick == 0

    connected(monkeypatch, scenario)


def test_an_old_version_that_wants_to_stay_takes_the_longer_way(monkeypatch):
    async def scenario(it):
        data = json.dumps(event("e")).encode()
        it.write.write(
            b"POST /v1/pay/events HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data) + data
        )
        assert (await it.answer())[0] == 200
        assert await asyncio.wait_for(it.read.read(), 60) == b""  # closed: that is its end
        assert it.quick == 0

    connected(monkeypatch, scenario)


def test_tokens_are_asked_for(monkeypatch):
    async def scenario(it):
        for role, status in (("score", 200), ("label", 403)):
            it.send(event("e"), "/v1/pay/events", "POST",
                    f"Authorization: Bearer {it.wire.tokens[role]}")  # fmt: skip
            assert (await it.answer())[0] == status
        it.send(event("e"))
        assert (await it.answer())[0] == 401
        assert it.quick == 1

    connected(monkeypatch, scenario, tokens=("score", "label"))


def test_headers_that_are_known_are_not_parsed_again(monkeypatch):
    async def scenario(it):
        parsed = []
        slow = HttpToolsProtocol.data_received
        monkeypatch.setattr(
            HttpToolsProtocol, "data_received", lambda self, d: (parsed.append(d), slow(self, d))
        )
        for i in range(5):
            it.send(event(f"e{i}"))
            status, _, body = await it.answer()
            assert (status, body["key"]) == (200, f"e{i}")
        assert (len(parsed), it.quick, len(it.wire.app.heads)) == (1, 5, 1)
        it.send(event("longer"))  # another length, so other headers
        assert (await it.answer())[2]["key"] == "longer"
        assert len(parsed) == 2

    connected(monkeypatch, scenario)


def test_known_headers_with_another_body_than_they_say(monkeypatch):
    """Pieces, and requests that come together: the parser finds where each ends."""

    async def scenario(it):
        it.send(event("e0"))
        await it.answer()
        for i in (1, 2):
            it.send(event(f"e{i}"))  # in one piece
        assert [(await it.answer())[2]["key"] for _ in range(2)] == ["e1", "e2"]
        data = json.dumps(event("e3")).encode()
        (head,) = it.wire.app.heads
        for at in (0, 10, len(data)):
            it.write.write(head + data[:at])
            await it.write.drain()
            await asyncio.sleep(0.05)
            it.write.write(data[at:])
            assert (await it.answer())[2]["key"] == "e3"
        it.write.write(head[:30])
        await asyncio.sleep(0.05)
        it.write.write(head[30:] + data)
        assert (await it.answer())[2]["key"] == "e3"
        # Here the empty line is one of the body: these are no headers to remember.
        bare = head.replace(b"\r\n", b"\n") + data[:-1] + b"\r\n\r\n"
        it.write.write(bare)
        await asyncio.wait_for(it.read.read(1), 60)
        assert list(it.wire.app.heads) == [head]

    connected(monkeypatch, scenario)


def test_known_headers_are_no_pass(monkeypatch):
    async def scenario(it):
        token = f"Authorization: Bearer {it.wire.tokens['score']}"
        it.send(event("e0"), "/v1/pay/events", "POST", token)
        assert (await it.answer())[0] == 200
        assert len(it.wire.app.heads) == 1
        statuses = []
        for i in range(1, 9):  # more than the limit of a second
            it.send(event(f"e{i}"), "/v1/pay/events", "POST", token)
            statuses.append((await it.answer())[0])
        assert 429 in statuses
        it.wire.app.guard.rate = 0.0
        it.wire.app.guard.tokens = {"another": None}  # it was dropped
        it.send(event("e9"), "/v1/pay/events", "POST", token)
        assert (await it.answer())[0] == 401

    connected(monkeypatch, scenario, tokens=("score",), rate=5.0)


def test_headers_that_a_token_let_in_are_asked_again_when_tokens_have_gone(monkeypatch):
    async def scenario(it):
        more = f"Authorization: Bearer {it.wire.tokens['score']}", "Origin: http://elsewhere"
        it.send(event("e0"), "/v1/pay/events", "POST", *more)
        assert (await it.answer())[0] == 200
        assert len(it.wire.app.heads) == 1
        it.wire.app.driver.sequencer.storage.do("delete from token")
        it.wire.app.reload_tokens()
        for _ in range(2):
            it.send(event("e1"), "/v1/pay/events", "POST", *more)
            assert (await it.answer())[0] == 403

    connected(monkeypatch, scenario, tokens=("score",))


def test_headers_that_are_remembered_are_few_and_short(monkeypatch):
    async def scenario(it):
        monkeypatch.setattr("lopsided.service.protocol._HEADS", 4)
        for i in range(11):
            it.send(event("e" * (i + 1)))
            assert (await it.answer())[0] == 200
            assert len(it.wire.app.heads) <= 4
        before = dict(it.wire.app.heads)
        it.send(event("e"), "/v1/pay/events", "POST", f"X-Long: {'x' * 3000}")
        assert (await it.answer())[0] == 200
        assert it.wire.app.heads == before

    connected(monkeypatch, scenario)


def test_a_connection_that_is_idle_is_closed(monkeypatch):
    async def scenario(it):
        it.send(event("e"))
        assert (await it.answer())[0] == 200
        assert await asyncio.wait_for(it.read.read(), 60) == b""

    connected(monkeypatch, scenario, settings={"timeout_keep_alive": 1})


def test_a_full_disk_is_said_by_both_ways(monkeypatch):
    async def scenario(it):
        for i in range(20):
            await it.wire.call("POST", "/v1/pay/events", event(f"t{i}", a=float(i % 5)))
            label = {"key": f"t{i}", "label": "fraud" if i % 5 > 2 else "fine"}
            await it.wire.call("POST", "/v1/pay/labels", label)
        pages = it.wire.storage.all("pragma page_count")[0][0]
        it.wire.storage.do(f"pragma max_page_count = {pages}")
        for i in range(100):
            it.send({"events": [event(f"{i}-{j}") for j in range(100)]})
            status, _, body = await it.answer()
            assert status == 200
            if not body["answers"][0].get("stored", True):
                break
        assert body["answers"][0]["stored"] is False
        it.wire.storage.do("pragma max_page_count = 1000000")

    connected(monkeypatch, scenario)
