"""Calls about streams and their models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from .. import figures
from ..commands import admin
from ..http import Request, Response, decoded, reply
from ..sequencer import Transaction
from ..types import Name, NewModel, Promotion, Refusal, StreamConfig, encode

if TYPE_CHECKING:
    from ..app import App

_CONFIG, _NAME = msgspec.json.Decoder(StreamConfig), msgspec.json.Decoder(Name)
_MODEL, _PROMOTION = msgspec.json.Decoder(NewModel), msgspec.json.Decoder(Promotion)
_ANY = msgspec.json.Decoder()


def add_routes(app: App) -> None:
    """Add the calls."""

    async def streams(request: Request) -> Response:
        """List the streams, and say who asks and what they may do."""
        names = sorted(app.driver.sequencer.streams)
        return reply({"streams": names, "who": request.who, "role": request.role})

    async def state(request: Request) -> Response:
        """Return counts, budget, estimates, calibration, drift and models of a stream."""
        return reply(await app.run(figures.stream_figures, *request.arguments, reads=True))

    async def configure(request: Request) -> Response:
        """Make a stream or change its settings; what is not given keeps its value."""
        (name,) = request.arguments
        body = await request.body()
        decoded(_NAME, encode(name))

        def put(tx: Transaction) -> Any:  # other settings may have changed until its turn comes
            found = tx.streams.get(name)
            given = body if found is None else _merged(found.config, body)
            return admin.put_stream(tx, name, decoded(_CONFIG, given), b"", request.who)

        return reply(await app.driver.submit(put))

    async def add_model(request: Request) -> Response:
        """Add a challenger."""
        (name,) = request.arguments
        spec = decoded(_MODEL, await request.body())
        spec.by = request.who
        return reply(await app.run(admin.add_model, name, spec))

    async def remove_model(request: Request) -> Response:
        """Drop a challenger."""
        name, model = request.arguments
        return reply(await app.run(admin.remove_model, name, Promotion(model), request.who))

    async def promote(request: Request) -> Response:
        """Let another model decide."""
        (name,) = request.arguments
        promotion = decoded(_PROMOTION, await request.body())
        return reply(await app.run(admin.promote, name, promotion, request.who))

    async def model_file(request: Request) -> Response:
        """Return a model as a file."""
        name, model = request.arguments
        learner = app.stream(name).learners.get(model)
        blob = b"" if learner is None else learner.blob()
        if not blob:
            raise Refusal(404, f"there is no model {model} that has met an event")
        return Response(blob, kind=b"application/octet-stream")

    add = app.routes.add
    add("GET", "/v1", "any", streams)
    add("GET", "/v1/{stream}", "any", state)
    add("PUT", "/v1/{stream}", "admin", configure)
    add("POST", "/v1/{stream}/models", "admin", add_model)
    add("DELETE", "/v1/{stream}/models/{name}", "admin", remove_model)
    add("GET", "/v1/{stream}/models/{name}/file", "admin", model_file)
    add("PUT", "/v1/{stream}/champion", "admin", promote)


def _merged(config: StreamConfig, body: bytes) -> bytes:
    """Return settings with those that a body changes."""
    changed = decoded(_ANY, body)
    if not isinstance(changed, dict):
        raise Refusal(422, "the settings must be an object")
    return encode({**msgspec.to_builtins(config), **changed})
