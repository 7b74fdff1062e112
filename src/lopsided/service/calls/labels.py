"""Calls of those who know labels: labels, questions, answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from ..commands import questions
from ..commands.labels import add_labels
from ..http import Request, Response, decoded, reply
from ..types import Label, Labels, Verdict

if TYPE_CHECKING:
    from ..app import App

_LABEL, _LABELS = msgspec.json.Decoder(Label), msgspec.json.Decoder(Labels)
_VERDICT = msgspec.json.Decoder(Verdict)
_SEVERAL = re.compile(rb'\s*\{\s*"labels"')  # a list of them, not one


def add_routes(app: App) -> None:
    """Add the calls."""

    async def labels(request: Request) -> Response:
        """Take labels by key, in any order; each has its own result."""
        (name,) = request.arguments
        body = await request.body()
        several = _SEVERAL.match(body)
        given = decoded(_LABELS, body).labels if several else [decoded(_LABEL, body)]
        for label in given:
            label.by = label.by or request.who
        return reply({"results": await app.run(add_labels, name, given)})

    async def lease(request: Request) -> Response:
        """Lease questions: nobody else gets them until the lease ends."""
        (name,) = request.arguments
        n = int(request.number("n", 1, 1, 100))
        seconds = request.number("lease", 0, 0, 86400) or None
        by = (request.option("by") or request.who)[:64]
        return reply({"questions": await app.run(questions.lease_questions, name, n, seconds, by)})

    async def aside(request: Request) -> Response:
        """Return the questions that were escalated or left as unsure."""
        found = await app.run(questions.set_aside, *request.arguments, reads=True)
        return reply({"questions": found})

    async def same(request: Request) -> Response:
        """Return the waiting questions whose features are those of an event."""
        keys = await app.run(questions.identical, *request.arguments, reads=True)
        return reply({"count": len(keys), "keys": keys[:20]})

    async def renew(request: Request) -> Response:
        """Keep a question for longer."""
        return await change(request, release=False)

    async def release(request: Request) -> Response:
        """Give a question back."""
        return await change(request, release=True)

    async def change(request: Request, *, release: bool) -> Response:
        name, key = request.arguments
        given = request.option("lease") or ""
        return reply(await app.run(questions.renew_lease, name, key, given, release))

    async def answer(request: Request) -> Response:
        """Take the answer to a leased question; it can be undone for a moment."""
        (name,) = request.arguments
        verdict = decoded(_VERDICT, await request.body())
        verdict.by = verdict.by or request.who
        done = await app.run(questions.answer_question, name, verdict)
        if done.result == "held":
            app.driver.settle_in(max(0.0, done.until - app.driver.clock()))
        return reply(done)

    async def undo(request: Request) -> Response:
        """Take an answer back that has not been learned yet."""
        given = request.option("lease") or ""
        return reply(await app.run(questions.undo_answer, *request.arguments, given))

    add = app.routes.add
    add("POST", "/v1/{stream}/labels", "label", labels)
    add("GET", "/v1/{stream}/questions", "label", lease)
    add("GET", "/v1/{stream}/aside", "label", aside)
    add("GET", "/v1/{stream}/questions/{key}/same", "label", same)
    add("POST", "/v1/{stream}/leases/{key}", "label", renew)
    add("DELETE", "/v1/{stream}/leases/{key}", "label", release)
    add("POST", "/v1/{stream}/answers", "label", answer)
    add("DELETE", "/v1/{stream}/answers/{key}", "label", undo)
