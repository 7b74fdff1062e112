"""Calls about events: decide, score, look at one."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ..commands import questions
from ..commands.events import AddEvents, history, score_unstored
from ..http import NDJSON, Request, Response, decoded, refusal, reply
from ..ndjson import Lines
from ..sequencer import Outcome
from ..types import MOST_EVENTS, Event, Events, Refusal, ToScore, Unkeyed, quick

if TYPE_CHECKING:
    from ..app import App

_EVENT, _EVENTS = msgspec.json.Decoder(Event), msgspec.json.Decoder(Events)
_ONE, _MANY = msgspec.json.Decoder(Unkeyed), msgspec.json.Decoder(ToScore)
_SEVERAL = re.compile(rb'\s*\{\s*"events"')  # a list of them, not one
Done = Callable[[Response], None]


class _Decided:
    """Waits for the answers about events; when the disk is full they are scored only."""

    __slots__ = ("_app", "_done", "_events", "_name", "_several")

    def __init__(self, app: App, name: str, events: list[Event], several: bool, done: Done) -> None:
        self._app, self._name, self._events = app, name, events
        self._several, self._done = several, done

    def __call__(self, outcome: Outcome) -> None:
        """Answer, or score instead."""
        if outcome.refusal is None or outcome.refusal.status != 507:
            self._answer(outcome)
            return
        name, events = self._name, self._events
        try:
            self._app.driver.post(
                lambda tx: score_unstored(tx, name, events), self._answer, reads=True
            )
        except Refusal as error:
            self._done(refusal(error))

    def _answer(self, outcome: Outcome) -> None:
        answers, error = outcome
        if error is None:
            self._done(Response(_joined(answers) if self._several else answers[0]))
        else:
            self._done(refusal(error))


def add_routes(app: App) -> None:
    """Add the calls."""

    def decide_now(request: Request, body: bytes, done: Done) -> None:
        """Decide on one event or several."""
        (name,) = request.arguments
        several = _SEVERAL.match(body) is not None
        if several:
            events = quick.several(body, True, MOST_EVENTS) or decoded(_EVENTS, body).events
        else:
            events = [quick.one(body, True) or decoded(_EVENT, body)]
        app.driver.post(AddEvents(name, events), _Decided(app, name, events, several, done))

    async def decide(name: str, events: list[Event]) -> list[bytes]:
        """Return the answers about events of which a bad one is answered by an error."""
        try:
            found: list[bytes] = await app.driver.submit(AddEvents(name, events, each=True))
        except Refusal as error:
            if error.status != 507:
                raise
            found = await app.run(score_unstored, name, events, reads=True)
        return found

    async def events(request: Request) -> Any:
        """Decide on one event, several, or a stream of lines; each key is decided once."""
        if request.kind == NDJSON:
            return Lines(functools.partial(decide, request.arguments[0]), request)
        return await app.awaited(decide_now, request)

    def score_now(request: Request, body: bytes, done: Done) -> None:
        """Score one event or several."""
        stream = app.stream(request.arguments[0])
        reasons = request.option("reasons") in ("1", "true")
        if not _SEVERAL.match(body):
            one = quick.one(body, False) or decoded(_ONE, body)
            return done(reply(stream.score(one.features, one.costs, reasons=reasons)))
        events = quick.several(body, False, MOST_EVENTS) or decoded(_MANY, body).events
        found = [stream.score(e.features, e.costs, reasons=reasons) for e in events]
        for score, event in zip(found, events, strict=True):
            score.key = event.key
        return done(reply({"scores": found}))

    async def score(request: Request) -> Response:
        """Score events; nothing is stored or learned."""
        return await app.awaited(score_now, request)

    async def event(request: Request) -> Response:
        """Return everything that is known of an event; hidden features only to an admin."""
        found = await app.run(history, *request.arguments, reads=True)
        if request.role != "admin" and found["event"] is not None:
            event, answer = found["event"], found["answer"]
            event["features"], answer.reasons = questions.visible(
                app.stream(request.arguments[0]).config, event["features"], answer.reasons
            )
        return reply(found)

    add = app.routes.add
    add("POST", "/v1/{stream}/events", "score", events, now=decide_now)
    add("POST", "/v1/{stream}/score", "score", score, now=score_now)
    add("GET", "/v1/{stream}/events/{key}", "label", event)


def _joined(answers: list[bytes]) -> bytes:
    return b'{"answers":[' + b",".join(answers) + b"]}"
