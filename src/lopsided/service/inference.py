"""The Open Inference Protocol, for scoring and health: what gateways and probes speak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct

from .http import Request, Response, decoded, reply
from .types import Features, Refusal

if TYPE_CHECKING:
    from .app import App


class Tensor(Struct):
    """An input: features as JSON objects in strings."""

    name: str
    shape: list[int]
    datatype: str
    data: Annotated[list[Any], Meta(max_length=1000)]


class Infer(Struct):
    """A request to score."""

    inputs: Annotated[list[Tensor], Meta(min_length=1, max_length=1)]
    id: str | None = None


_INFER = msgspec.json.Decoder(Infer)
_FEATURES = msgspec.json.Decoder(Features)


def add_routes(app: App) -> None:
    """Add the routes of the protocol."""

    async def live(request: Request) -> Response:
        """Say that the server is there."""
        return reply({"live": True})

    async def ready(request: Request) -> Response:
        """Say that the server takes events; 503 while nothing can be written."""
        readable = app.driver.sequencer.read_only is None
        return reply({"ready": readable}, 200 if readable else 503)

    async def server(request: Request) -> Response:
        """Return the name of the server."""
        return reply({"name": "lopsided", "version": "1", "extensions": []})

    async def model(request: Request) -> Response:
        """Describe the model of a stream."""
        (name,) = request.arguments
        state = app.stream(name).state
        outputs = [("score", "FP64"), ("probability", "FP64"), ("flag", "BOOL")]
        return reply(
            {
                "name": name,
                "versions": [state.champion],
                "platform": "lopsided",
                "inputs": [{"name": "features", "datatype": "BYTES", "shape": [-1]}],
                "outputs": [{"name": n, "datatype": t, "shape": [-1]} for n, t in outputs],
            }
        )

    async def model_ready(request: Request) -> Response:
        """Say whether the model of a stream has learned something."""
        (name,) = request.arguments
        learned = app.stream(name).champion.ready
        return reply({"name": name, "ready": learned}, 200 if learned else 503)

    async def infer(request: Request) -> Response:
        """Score events; nothing is stored or learned."""
        (name,) = request.arguments
        given = decoded(_INFER, await request.body())
        tensor = given.inputs[0]
        if tensor.name != "features" or tensor.datatype != "BYTES":
            raise Refusal(422, "the input must be features, BYTES: a JSON object in each string")
        if tensor.shape != [len(tensor.data)]:
            raise Refusal(422, f"the shape {tensor.shape} is not that of the data")
        stream = app.stream(name)
        texts = [d if isinstance(d, str) else "" for d in tensor.data]
        found = [stream.score(decoded(_FEATURES, text.encode())) for text in texts]
        outputs = {
            "score": ("FP64", [s.score for s in found]),
            "flag": ("BOOL", [s.flag for s in found]),
        }
        if all(s.probability is not None for s in found):
            outputs["probability"] = ("FP64", [s.probability for s in found])
        return reply(
            {
                "model_name": name,
                "model_version": stream.state.champion,
                "id": given.id,
                "outputs": [
                    {"name": n, "datatype": t, "shape": [len(found)], "data": data}
                    for n, (t, data) in outputs.items()
                ],
            }
        )

    add = app.routes.add
    add("GET", "/v2/health/live", "", live)
    add("GET", "/v2/health/ready", "", ready)
    add("GET", "/v2", "any", server)
    add("GET", "/v2/models/{stream}", "any", model)
    add("GET", "/v2/models/{stream}/ready", "any", model_ready)
    add("POST", "/v2/models/{stream}/infer", "score", infer)
