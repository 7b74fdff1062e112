"""Calls about the server itself: tokens, figures for Prometheus, the description of the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from .. import figures, pages
from ..auth import new_token
from ..http import Request, Response, decoded, reply
from ..sequencer import Transaction

if TYPE_CHECKING:
    from ..app import App


class NewToken(msgspec.Struct, forbid_unknown_fields=True):
    """A token to make."""

    name: str
    role: str
    days: float | None = None


_TOKEN = msgspec.json.Decoder(NewToken)


def add_routes(app: App) -> None:
    """Add the calls."""

    async def make_token(request: Request) -> Response:
        """Make a token; it is shown once."""
        given = decoded(_TOKEN, await request.body())

        def make(tx: Transaction) -> str:
            tx.touch()
            return new_token(tx.storage, given.name, given.role, tx.now, given.days)

        token = await app.driver.submit(make)
        app.reload_tokens()
        return reply({"name": given.name, "role": given.role, "token": token})

    async def drop_token(request: Request) -> Response:
        """Make the tokens of a name invalid."""
        (name,) = request.arguments

        def drop(tx: Transaction) -> int:
            tx.touch()
            return tx.storage.do("delete from token where name = ?", name)

        dropped = await app.driver.submit(drop)
        app.reload_tokens()
        return reply({"dropped": dropped})

    async def metrics(request: Request) -> Response:
        """Return figures for Prometheus."""
        text = figures.metrics(app.driver, app.counts)
        return Response(text.encode(), kind=b"text/plain; version=0.0.4")

    async def openapi(request: Request) -> Response:
        """Describe the calls as OpenAPI."""
        return Response(pages.openapi(app.routes))

    async def docs(request: Request) -> Response:
        """Describe the calls on a page."""
        return pages.docs(app.routes)

    add = app.routes.add
    add("POST", "/tokens", "admin", make_token)
    add("DELETE", "/tokens/{name}", "admin", drop_token)
    add("GET", "/metrics", "any", metrics)
    add("GET", "/openapi.json", "", openapi)
    add("GET", "/docs", "", docs)
