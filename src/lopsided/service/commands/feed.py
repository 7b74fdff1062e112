"""Events and labels that come in one stream: lines of a file, messages of Kafka."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from ..sequencer import Transaction
from ..types import (
    Answer,
    Event,
    Failure,
    Label,
    StreamConfig,
    as_dict,
    encode,
    quick,
    read_answer,
    read_event,
)  # fmt: skip
from .events import AddEvents
from .labels import add_label
from .questions import visible

_TABLES = (
    "create table if not exists place(stream integer, topic text, part integer, "
    "next integer not null, primary key(stream, topic, part)) without rowid",
    "create table if not exists outbox(id integer primary key, kind text not null, "
    "key text not null, value blob not null)",
)


class Message(NamedTuple):
    """An event or a label as JSON, and where it came from."""

    topic: str
    part: int
    offset: int
    key: str | None
    value: bytes

    @property
    def place(self) -> str | None:
        """What stands for a key that is missing; None where places are not for ever."""
        if self.key is not None or not self.topic:
            return self.key
        return f"{self.topic}/{self.part}/{self.offset}"


class Bad(NamedTuple):
    """A message that says nothing, and why."""

    error: str


def read(message: Message) -> Event | Label | Bad:
    """Return what a message says; one without a key has that of the message or its place."""
    try:
        return quick.one(message.value, True) or read_event(message.value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass  # a label, without a key, or neither
    try:
        given = msgspec.json.decode(message.value)
        if not isinstance(given, dict):
            return Bad("not an object")
        if "key" not in given and message.place is not None:
            given["key"] = message.place
        if "label" in given:
            return msgspec.convert(given, Label)
        return msgspec.convert(given, Event)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Bad(str(error))


def take(tx: Transaction, name: str, messages: Sequence[Message]) -> list[bytes]:
    """Take events and labels in order; return an answer, result or error for each, as JSON."""
    out: list[bytes] = []
    stream = tx.stream(name)
    for kind, some in itertools.groupby(map(read, messages), type):
        if kind is Event:
            events: list[Event] = list(some)  # type: ignore[arg-type]
            out += AddEvents(name, events, each=True)(tx)
        elif kind is Label:
            out += (encode(add_label(tx, stream, label)) for label in some)  # type: ignore[arg-type]
        else:
            out += (encode(Failure(bad.error)) for bad in some)  # type: ignore[union-attr]
    return out


def consume(tx: Transaction, name: str, messages: Sequence[Message]) -> dict[tuple[str, int], int]:
    """Take messages once: their places are noted in the same transaction as what they say.

    What has to be sent waits in the table `outbox`: decisions, questions, and messages that were
    refused. Returns the next offset of each part of a topic.
    """
    known = places(tx, name)
    new = [m for m in messages if m.offset >= known.get((m.topic, m.part), 0)]
    if not new:
        return known
    found = take(tx, name, new)
    stream = tx.stream(name)
    told = zip(new, found, strict=True)
    rows = [row for message, out in told for row in _sent(stream.config, message, out)]
    tx.storage.db.executemany("insert into outbox(kind, key, value) values (?, ?, ?)", rows)
    for message in new:
        known[message.topic, message.part] = message.offset + 1
    tx.storage.db.executemany(
        "insert or replace into place values (?, ?, ?, ?)",
        [(stream.id, *at, n) for at, n in known.items()],
    )
    return known


def places(tx: Transaction, name: str) -> dict[tuple[str, int], int]:
    """Return the next offset of each part of a topic that a stream reads."""
    tx.touch()
    storage, stream = tx.storage, tx.stream(name).id
    for table in _TABLES:
        storage.do(table)
    if storage.all("select 1 from sqlite_master where name = 'source'"):
        # A folder that did not note the stream: the first one that reads is the one that did.
        storage.do("insert into place select ?, topic, part, next from source", stream)
        storage.do("drop table source")
    rows = storage.all("select topic, part, next from place where stream = ?", stream)
    return {(topic, part): n for topic, part, n in rows}


def waiting(tx: Transaction, most: int) -> list[tuple[int, str, str, bytes]]:
    """Return the oldest rows to send: number, kind, key and value."""
    return tx.storage.all("select * from outbox order by id limit ?", most)


def sent(tx: Transaction, last: int) -> None:
    """Forget rows that were sent."""
    tx.touch()
    tx.storage.do("delete from outbox where id <= ?", last)


def _sent(config: StreamConfig, message: Message, out: bytes) -> Iterable[tuple[str, str, bytes]]:
    """Return what to send about a message."""
    said = read(message)
    if out.startswith(b'{"error"') or b'"result":"refused"' in out:
        place = {"topic": message.topic, "part": message.part, "offset": message.offset}
        text = message.value.decode("utf-8", "replace")
        yield "refused", message.key or "", encode({**place, "why": _why(out), "value": text})
    elif isinstance(said, Event):
        yield "decision", said.key, out
        answer = read_answer(out)
        if answer.asked:
            yield "question", said.key, _question(config, said, answer)


def _why(out: bytes) -> str:
    return str(msgspec.json.decode(out)["error"])


def _question(config: StreamConfig, event: Event, answer: Answer) -> bytes:
    features, answer.reasons = visible(config, as_dict(event.features), answer.reasons)
    return encode({**msgspec.to_builtins(answer), "features": features, "show": event.show})
