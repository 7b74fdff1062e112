"""Streams, models and settings."""

from __future__ import annotations

from typing import Any

import msgspec

from ..recovery import read_config, read_model
from ..replaying import feed
from ..sequencer import Transaction
from ..stream import Stream
from ..types import NewModel, Promotion, Refusal, StreamConfig, encode

FIRST = "first"


def put_stream(
    tx: Transaction, name: str, config: StreamConfig, model: bytes = b""
) -> dict[str, Any]:
    """Make a stream, or change its settings."""
    config = read_config(encode(config))  # as it will be read from the log: 60 becomes 60.0
    found = tx.streams.get(name)
    if found is not None:
        if encode(config) != encode(found.config):
            found.configure(config)
            tx.log(found.id, "config", None, encode(config), None)
        return {"stream": name, "result": "changed"}
    if type(config.positive) is not type(config.negative) or config.positive == config.negative:
        raise Refusal(422, "positive and negative must be two labels of the same type")
    tx.touch()
    tx.storage.do("insert into stream(name) values (?)", name)
    number = tx.storage.all("select id from stream where name = ?", name)[0][0]
    stream = Stream(number, name, config)
    spec = NewModel(name=FIRST, learner=config.learner, parameters=config.parameters)
    try:
        stream.add(spec, model, tx.next + 1)
    except Refusal:
        tx.storage.do("delete from stream where id = ?", number)
        raise
    tx.log(number, "config", None, encode(config), None)
    tx.log(number, "model", None, encode(spec), model or None)
    tx.streams[name] = stream
    return {"stream": name, "result": "created"}


def add_model(tx: Transaction, name: str, spec: NewModel, blob: bytes = b"") -> dict[str, Any]:
    """Add a challenger, perhaps one that has learned from the log."""
    stream, spec = tx.stream(name), read_model(encode(spec))
    if spec.name in stream.learners:
        raise Refusal(409, f"there is a model {spec.name} already")
    if spec.replay and not blob:
        blob = _learned(tx, stream, spec)
    stream.add(spec, blob, tx.next)
    seq = tx.log(stream.id, "model", None, encode(spec), blob or None)
    return {"model": spec.name, "result": "added", "seq": seq}


def _learned(tx: Transaction, stream: Stream, spec: NewModel) -> bytes:
    """Return a model that has learned from all labels that the log has."""
    silent = msgspec.structs.replace(stream.config, budget=0)
    other = Stream(stream.id, stream.name, silent)
    other.add(spec, b"", 0)
    feed(tx.storage, other)
    return other.champion.blob()


def promote(tx: Transaction, name: str, promotion: Promotion) -> dict[str, Any]:
    """Let another model decide."""
    stream = tx.stream(name)
    if stream.state.champion == promotion.name:
        return {"champion": promotion.name, "result": "repeated"}
    before = stream.state.champion
    stream.promote(promotion.name)
    seq = tx.log(stream.id, "promote", None, encode(promotion), None)
    return {"champion": promotion.name, "before": before, "result": "promoted", "seq": seq}


def remove_model(tx: Transaction, name: str, promotion: Promotion) -> dict[str, Any]:
    """Drop a challenger."""
    stream = tx.stream(name)
    stream.remove(promotion.name)
    seq = tx.log(stream.id, "remove", None, encode(promotion), None)
    return {"model": promotion.name, "result": "removed", "seq": seq}
