"""The calls of the service, over HTTP."""

from __future__ import annotations

import asyncio
import functools
import re
import time
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from . import console, desk, figures, inference, pages
from .auth import Guard, new_token
from .commands import admin, questions
from .commands.events import AddEvents, history, score_unstored
from .commands.labels import add_labels
from .driver import Driver
from .http import (
    JSON,
    NDJSON,
    Handler,
    Immediate,
    Patience,
    Request,
    Response,
    Routes,
    Send,
    decoded,
    refusal,
    reply,
)  # fmt: skip
from .log import Journal
from .ndjson import Lines
from .sequencer import Outcome, Transaction
from .types import (
    Event,
    Events,
    Label,
    Labels,
    Name,
    NewModel,
    Promotion,
    Refusal,
    StreamConfig,
    ToScore,
    Unkeyed,
    Verdict,
    encode,
)  # fmt: skip

_EVENT, _EVENTS = msgspec.json.Decoder(Event), msgspec.json.Decoder(Events)
_ONE, _MANY = msgspec.json.Decoder(Unkeyed), msgspec.json.Decoder(ToScore)
_LABEL, _LABELS = msgspec.json.Decoder(Label), msgspec.json.Decoder(Labels)
_VERDICT, _CONFIG = msgspec.json.Decoder(Verdict), msgspec.json.Decoder(StreamConfig)
_MODEL, _PROMOTION = msgspec.json.Decoder(NewModel), msgspec.json.Decoder(Promotion)
_NAME, _ANY = msgspec.json.Decoder(Name), msgspec.json.Decoder()
_SEVERAL = re.compile(rb'\s*\{\s*"(events|labels)"')  # a list of them, not one


class NewToken(msgspec.Struct, forbid_unknown_fields=True):
    """A token to make."""

    name: str
    role: str
    days: float | None = None


_TOKEN = msgspec.json.Decoder(NewToken)


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
        self._patience = Patience(patience)
        self.background: list[Callable[[App], Coroutine[Any, Any, None]]] = []
        self.stopping: Callable[[], bool] = lambda: False  # set by the server
        self.counts: dict[tuple[str, int], int] = {}
        self.routes = Routes()
        self._immediate: dict[Handler, Immediate] = {
            self.events: self.decide_now,
            self.score: self.score_now,
        }
        self._add_routes()

    def _add_routes(self) -> None:
        add = self.routes.add
        add("POST", "/v1/{stream}/events", "score", self.events)
        add("POST", "/v1/{stream}/score", "score", self.score)
        add("POST", "/v1/{stream}/labels", "label", self.labels)
        add("GET", "/v1/{stream}/questions", "label", self.questions)
        add("GET", "/v1/{stream}/aside", "label", self.aside)
        add("GET", "/v1/{stream}/questions/{key}/same", "label", self.same)
        add("POST", "/v1/{stream}/leases/{key}", "label", self.renew)
        add("DELETE", "/v1/{stream}/leases/{key}", "label", self.release)
        add("POST", "/v1/{stream}/answers", "label", self.answer)
        add("DELETE", "/v1/{stream}/answers/{key}", "label", self.undo)
        add("GET", "/v1/{stream}/events/{key}", "label", self.event)
        add("GET", "/v1", "any", self.streams)
        add("GET", "/v1/{stream}", "any", self.state)
        add("PUT", "/v1/{stream}", "admin", self.configure)
        add("POST", "/v1/{stream}/models", "admin", self.add_model)
        add("DELETE", "/v1/{stream}/models/{name}", "admin", self.remove_model)
        add("GET", "/v1/{stream}/models/{name}/file", "admin", self.model_file)
        add("PUT", "/v1/{stream}/champion", "admin", self.promote)
        add("POST", "/tokens", "admin", self.new_token)
        add("DELETE", "/tokens/{name}", "admin", self.drop_token)
        add("GET", "/metrics", "any", self.metrics)
        add("GET", "/openapi.json", "", self.openapi)
        add("GET", "/docs", "", self.docs)
        inference.add_routes(self)
        desk.add_routes(self)
        console.add_routes(self)

    # ASGI -----------------------------------------------------------------------------------------

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Send) -> None:
        """Serve a request, or start and stop with the server."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._serve(Request(scope, receive, self._body, self._patience), send)
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
                request.who = self.guard.check(request, role, desk.cookie(request))
            response = await handler(request)
        except Exception as error:
            response = self._failed(error)
        await response(send)
        self._note(request, getattr(response, "status", 200), started)

    def _failed(self, error: Exception) -> Response:
        """Return what a client is told about an error."""
        if isinstance(error, Refusal):
            return refusal(error)
        self.journal.fault(error)
        return refusal(Refusal(500, "the request failed"))

    def _note(self, request: Request, status: int, started: float) -> None:
        self.counts[request.method, status] = self.counts.get((request.method, status), 0) + 1
        seconds = time.perf_counter() - started
        self.journal.request(request.method, request.path, status, seconds, request.who)

    # Without a task: what is called most ----------------------------------------------------------

    def find_immediate(self, scope: dict[str, Any]) -> tuple[Request, Immediate, Patience] | None:
        """Return a request and its handler if it can be served as soon as its body is there.

        Everything else, including what is refused, is left to ASGI.
        """
        request = Request(scope, _nothing, self._body, self._patience)
        size = request.headers.get(b"content-length", b"")
        if not size.isdigit() or int(size) > self._body or request.kind != JSON:
            return None
        try:
            handler, role, request.arguments = self.routes.find(request.method, request.path)
            immediate = self._immediate.get(handler)
            if immediate is None:
                return None
            request.who = self.guard.check(request, role, desk.cookie(request))
        except Refusal:
            return None
        return request, immediate, self._patience

    def serve_now(
        self, request: Request, handler: Immediate, body: bytes, send: Callable[[Response], None]
    ) -> None:
        """Serve a request whose body is there; the response may come later."""
        started = time.perf_counter()

        def done(response: Response) -> None:
            send(response)
            self._note(request, response.status, started)

        try:
            handler(request, body, done)
        except Exception as error:
            done(self._failed(error))

    async def _awaited(self, handler: Immediate, request: Request) -> Response:
        """Serve a request by a handler that calls back."""
        body = await request.body()
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()

        def done(response: Response) -> None:
            if not future.done():
                future.set_result(response)

        handler(request, body, done)
        return await future

    async def run(self, command: Any, *arguments: Any, reads: bool = False) -> Any:
        """Run a command in the next group."""
        return await self.driver.submit(lambda tx: command(tx, *arguments), reads=reads)

    def stream(self, name: str) -> Any:
        """Return a stream by name."""
        return self.driver.sequencer.stream(name)

    # Events ---------------------------------------------------------------------------------------

    async def events(self, request: Request) -> Any:
        """Decide on one event, several, or a stream of lines; each key is decided once."""
        if request.kind == NDJSON:
            decide = functools.partial(self.decide, request.arguments[0], each=True)
            return Lines(decide, request)
        return await self._awaited(self.decide_now, request)

    def decide_now(self, request: Request, body: bytes, done: Callable[[Response], None]) -> None:
        """Decide on one event or several."""
        (name,) = request.arguments
        several = _SEVERAL.match(body)
        events = decoded(_EVENTS, body).events if several else [decoded(_EVENT, body)]

        def answer(outcome: Outcome) -> None:
            answers, error = outcome
            if error is not None:
                done(refusal(error))
            else:
                done(Response(_joined(answers) if several else answers[0]))

        def decided(outcome: Outcome) -> None:
            if outcome.refusal is None or outcome.refusal.status != 507:
                return answer(outcome)
            try:
                self._post_unstored(name, events, answer)
            except Refusal as error:
                done(refusal(error))
            return None

        self.driver.post(AddEvents(name, events), decided)

    def _post_unstored(
        self, name: str, events: list[Event], answer: Callable[[Outcome], None]
    ) -> None:
        """Score events that cannot be stored, as the disk is full."""
        self.driver.post(lambda tx: score_unstored(tx, name, events), answer, reads=True)

    async def decide(self, name: str, events: list[Event], *, each: bool = False) -> list[bytes]:
        """Return the answers about events; when the disk is full they are scored only.

        With `each` a bad event is answered by an error; otherwise none is taken then.
        """
        try:
            found: list[bytes] = await self.driver.submit(AddEvents(name, events, each=each))
        except Refusal as error:
            if error.status != 507:
                raise
            found = await self.run(score_unstored, name, events, reads=True)
        return found

    async def score(self, request: Request) -> Response:
        """Score events; nothing is stored or learned."""
        return await self._awaited(self.score_now, request)

    def score_now(self, request: Request, body: bytes, done: Callable[[Response], None]) -> None:
        """Score one event or several."""
        stream = self.stream(request.arguments[0])
        reasons = request.option("reasons") in ("1", "true")
        if not _SEVERAL.match(body):
            one = decoded(_ONE, body)
            return done(reply(stream.score(one.features, one.costs, reasons=reasons)))
        events = decoded(_MANY, body).events
        found = [stream.score(e.features, e.costs, reasons=reasons) for e in events]
        for score, event in zip(found, events, strict=True):
            score.key = event.key
        return done(reply({"scores": found}))

    async def event(self, request: Request) -> Response:
        """Return everything that is known of an event; hidden features only to an admin."""
        found = await self.run(history, *request.arguments, reads=True)
        if request.role != "admin" and found["event"] is not None:
            event, answer = found["event"], found["answer"]
            event["features"], answer.reasons = questions.visible(
                self.stream(request.arguments[0]).config, event["features"], answer.reasons
            )
        return reply(found)

    # Labels and questions -------------------------------------------------------------------------

    async def labels(self, request: Request) -> Response:
        """Take labels by key, in any order; each has its own result."""
        (name,) = request.arguments
        body = await request.body()
        several = _SEVERAL.match(body)
        labels = decoded(_LABELS, body).labels if several else [decoded(_LABEL, body)]
        for label in labels:
            label.by = label.by or request.who
        return reply({"results": await self.run(add_labels, name, labels)})

    async def questions(self, request: Request) -> Response:
        """Lease questions: nobody else gets them until the lease ends."""
        (name,) = request.arguments
        n = int(request.number("n", 1, 1, 100))
        lease = request.number("lease", 0, 0, 86400) or None
        by = (request.option("by") or request.who)[:64]
        return reply({"questions": await self.run(questions.lease_questions, name, n, lease, by)})

    async def aside(self, request: Request) -> Response:
        """Return the questions that were escalated or left as unsure."""
        found = await self.run(questions.set_aside, *request.arguments, reads=True)
        return reply({"questions": found})

    async def same(self, request: Request) -> Response:
        """Return the waiting questions whose features are those of an event."""
        keys = await self.run(questions.identical, *request.arguments, reads=True)
        return reply({"count": len(keys), "keys": keys[:20]})

    async def renew(self, request: Request) -> Response:
        """Keep a question for longer."""
        return await self._lease(request, release=False)

    async def release(self, request: Request) -> Response:
        """Give a question back."""
        return await self._lease(request, release=True)

    async def _lease(self, request: Request, *, release: bool) -> Response:
        name, key = request.arguments
        lease = request.option("lease") or ""
        return reply(await self.run(questions.renew_lease, name, key, lease, release))

    async def answer(self, request: Request) -> Response:
        """Take the answer to a leased question; it can be undone for a moment."""
        (name,) = request.arguments
        verdict = decoded(_VERDICT, await request.body())
        verdict.by = verdict.by or request.who
        done = await self.run(questions.answer_question, name, verdict)
        if done.result == "held":
            self.driver.settle_in(max(0.0, done.until - self.driver.clock()))
        return reply(done)

    async def undo(self, request: Request) -> Response:
        """Take an answer back that has not been learned yet."""
        lease = request.option("lease") or ""
        return reply(await self.run(questions.undo_answer, *request.arguments, lease))

    # Streams and models ---------------------------------------------------------------------------

    async def streams(self, request: Request) -> Response:
        """List the streams, and say who asks and what they may do."""
        names = sorted(self.driver.sequencer.streams)
        return reply({"streams": names, "who": request.who, "role": request.role})

    async def state(self, request: Request) -> Response:
        """Return counts, budget, estimates, calibration, drift and models of a stream."""
        return reply(await self.run(figures.stream_figures, *request.arguments, reads=True))

    async def configure(self, request: Request) -> Response:
        """Make a stream or change its settings; what is not given keeps its value."""
        (name,) = request.arguments
        body = await request.body()
        decoded(_NAME, encode(name))

        def put(tx: Transaction) -> Any:  # other settings may have changed until its turn comes
            found = tx.streams.get(name)
            given = body if found is None else _merged(found.config, body)
            return admin.put_stream(tx, name, decoded(_CONFIG, given), b"", request.who)

        return reply(await self.driver.submit(put))

    async def add_model(self, request: Request) -> Response:
        """Add a challenger."""
        (name,) = request.arguments
        spec = decoded(_MODEL, await request.body())
        spec.by = request.who
        return reply(await self.run(admin.add_model, name, spec))

    async def remove_model(self, request: Request) -> Response:
        """Drop a challenger."""
        name, model = request.arguments
        return reply(await self.run(admin.remove_model, name, Promotion(model), request.who))

    async def promote(self, request: Request) -> Response:
        """Let another model decide."""
        (name,) = request.arguments
        promotion = decoded(_PROMOTION, await request.body())
        return reply(await self.run(admin.promote, name, promotion, request.who))

    async def model_file(self, request: Request) -> Response:
        """Return a model as a file."""
        name, model = request.arguments
        learner = self.stream(name).learners.get(model)
        blob = b"" if learner is None else learner.blob()
        if not blob:
            raise Refusal(404, f"there is no model {model} that has met an event")
        return Response(blob, kind=b"application/octet-stream")

    # Tokens, figures, pages -----------------------------------------------------------------------

    async def new_token(self, request: Request) -> Response:
        """Make a token; it is shown once."""
        given = decoded(_TOKEN, await request.body())

        def make(tx: Transaction) -> str:
            tx.touch()
            return new_token(tx.storage, given.name, given.role, tx.now, given.days)

        token = await self.driver.submit(make)
        self.guard.reload(self.driver.sequencer.storage)
        return reply({"name": given.name, "role": given.role, "token": token})

    async def drop_token(self, request: Request) -> Response:
        """Make the tokens of a name invalid."""
        (name,) = request.arguments

        def drop(tx: Transaction) -> int:
            tx.touch()
            return tx.storage.do("delete from token where name = ?", name)

        dropped = await self.driver.submit(drop)
        self.guard.reload(self.driver.sequencer.storage)
        return reply({"dropped": dropped})

    async def metrics(self, request: Request) -> Response:
        """Return figures for Prometheus."""
        text = figures.metrics(self.driver, self.counts)
        return Response(text.encode(), kind=b"text/plain; version=0.0.4")

    async def openapi(self, request: Request) -> Response:
        """Describe the calls as OpenAPI."""
        return Response(pages.openapi(self.routes))

    async def docs(self, request: Request) -> Response:
        """Describe the calls on a page."""
        return pages.docs(self.routes)


async def _nothing() -> dict[str, Any]:
    return {"type": "http.disconnect"}


def _joined(answers: list[bytes]) -> bytes:
    return b'{"answers":[' + b",".join(answers) + b"]}"


def _merged(config: StreamConfig, body: bytes) -> bytes:
    """Return settings with those that a body changes."""
    changed = decoded(_ANY, body)
    if not isinstance(changed, dict):
        raise Refusal(422, "the settings must be an object")
    return encode({**msgspec.to_builtins(config), **changed})
