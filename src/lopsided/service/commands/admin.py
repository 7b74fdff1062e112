"""Streams, models and settings."""

from __future__ import annotations

from typing import Any

import msgspec

from ..recovery import read_config, read_model
from ..replaying import feed
from ..schema import CHANGES
from ..sequencer import Transaction
from ..stream import Stream
from ..types import NewModel, Promotion, Refusal, StreamConfig, encode

FIRST = "first"


def put_stream(
    tx: Transaction, name: str, config: StreamConfig, model: bytes = b"", by: str | None = None
) -> dict[str, Any]:
    """Make a stream, or change its settings."""
    config = read_config(encode(config))  # as it will be read from the log: 60 becomes 60.0
    found = tx.streams.get(name)
    if found is not None:
        if encode(config) != encode(found.config):
            found.configure(config)
            tx.log(found.id, "config", None, encode(config), _who(by))
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
    tx.log(number, "config", None, encode(config), _who(by))
    tx.log(number, "model", None, encode(spec), model or None)
    tx.streams[name] = stream
    return {"stream": name, "result": "created"}


def _who(by: str | None) -> bytes | None:
    return None if by is None else encode({"by": by})


def add_model(tx: Transaction, name: str, spec: NewModel, blob: bytes = b"") -> dict[str, Any]:
    """Add a challenger, perhaps one that has learned from the log."""
    stream, spec = tx.stream(name), read_model(encode(spec))
    if spec.name in stream.learners:
        raise Refusal(409, f"there is a model {spec.name} already")
    if spec.snapshot is not None:
        blob = _kept(tx, stream, spec)
    elif spec.replay and not blob:
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


def _kept(tx: Transaction, stream: Stream, spec: NewModel) -> bytes:
    """Return a model as a snapshot has it."""
    rows = tx.storage.all(
        "select blob from snapshot where stream = ? and seq = ? and model = ?",
        stream.id, spec.snapshot, spec.of or stream.state.champion,
    )  # fmt: skip
    if not rows or not rows[0][0]:
        raise Refusal(404, f"there is no such model in a snapshot at row {spec.snapshot}")
    return bytes(rows[0][0])


def promote(
    tx: Transaction, name: str, promotion: Promotion, by: str | None = None
) -> dict[str, Any]:
    """Let another model decide."""
    stream = tx.stream(name)
    if stream.state.champion == promotion.name:
        return {"champion": promotion.name, "result": "repeated"}
    before = stream.state.champion
    stream.promote(promotion.name)
    seq = tx.log(stream.id, "promote", None, encode(promotion), _who(by))
    return {"champion": promotion.name, "before": before, "result": "promoted", "seq": seq}


def remove_model(
    tx: Transaction, name: str, promotion: Promotion, by: str | None = None
) -> dict[str, Any]:
    """Drop a challenger."""
    stream = tx.stream(name)
    stream.remove(promotion.name)
    seq = tx.log(stream.id, "remove", None, encode(promotion), _who(by))
    return {"model": promotion.name, "result": "removed", "seq": seq}


# What there is ------------------------------------------------------------------------------------


def model_contents(tx: Transaction, name: str, model: str) -> dict[str, Any]:
    """Return what is in a model."""
    stream = tx.stream(name)
    learner = stream.learners.get(model)
    if learner is None:
        raise Refusal(404, f"there is no model {model}")
    known = next(m for m in stream.state.models if m.name == model)
    return {
        "name": model,
        "role": "champion" if model == stream.state.champion else "challenger",
        "since": known.since,
        "failed": known.failed,
        **learner.summary(),
        "parameters": known.spec.parameters,
        "weights": learner.largest_weights(set(stream.config.hidden)),
    }


def changes(tx: Transaction, name: str) -> list[dict[str, Any]]:
    """Return changes of settings and models, the newest first."""
    rows = tx.storage.all(
        f"select seq, time, kind, body, case when kind = 'model' then null else out end from log "
        f"where {CHANGES} and stream = ? order by seq desc limit 100", tx.stream(name).id,
    )  # fmt: skip
    return [
        {
            "seq": seq,
            "time": time,
            "kind": kind,
            **({} if out is None else msgspec.json.decode(out)),
            "what": msgspec.json.decode(body),
        }
        for seq, time, kind, body, out in rows
    ]


def snapshots(tx: Transaction, name: str) -> list[dict[str, Any]]:
    """Return the snapshots of a stream, the newest first."""
    rows = tx.storage.all(
        "select snapshot.seq, log.time, model, length(blob), sha256 from snapshot "
        "join log on log.seq = snapshot.seq where snapshot.stream = ? and model <> '' "
        "order by snapshot.seq desc, model", tx.stream(name).id,
    )  # fmt: skip
    return [
        dict(zip(("seq", "time", "model", "bytes", "sha256"), row, strict=True)) for row in rows
    ]


def take_snapshot(tx: Transaction, name: str) -> dict[str, Any]:
    """Write a snapshot of all streams."""
    tx.stream(name)
    tx.snapshot()
    return {"stream": name, "result": "written", "seq": tx.next - 1}
