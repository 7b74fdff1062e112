"""Events come in: each is decided once, however often it is sent."""

from __future__ import annotations

import itertools
import math

import msgspec

from ..sequencer import Transaction
from ..stream import Stream
from ..types import Answer, Event, Failure, Refusal, encode, read_answer, seconds
from .labels import join


class AddEvents:
    """A request to decide on events; those that wait at the same time are decided together."""

    ahead = True  # it needs no more of the database than keys, unless labels wait for events

    def __init__(self, name: str, events: list[Event], *, each: bool = False) -> None:
        self.name, self.events, self.each = name, events, each
        self.kind, self.size = (AddEvents, name), len(events)

    def __call__(self, tx: Transaction) -> list[bytes]:
        """Take the events: all or none, or with `each` those that are good."""
        try:
            return add_events(tx, self.name, self.events)
        except Refusal as error:
            if not self.each or error.status != 422:
                raise
        return [self._one(tx, event) for event in self.events]

    def _one(self, tx: Transaction, event: Event) -> bytes:
        try:
            return add_events(tx, self.name, [event])[0]
        except Refusal as error:
            return encode(Failure(error.error))

    @staticmethod
    def together(tx: Transaction, requests: list[AddEvents]) -> list[list[bytes]]:
        """Take the events of several requests: all of them or none."""
        every = [event for request in requests for event in request.events]
        found = add_events(tx, requests[0].name, every)
        if len(found) == len(requests):
            return [[one] for one in found]
        rest = iter(found)
        return [list(itertools.islice(rest, request.size)) for request in requests]


def add_events(tx: Transaction, name: str, events: list[Event]) -> list[bytes]:
    """Take events, all of them or none; return the answers in order, as JSON."""
    stream = tx.stream(name)
    known = tx.answers(stream.id, [event.key for event in events])
    new: dict[str, Event] = {}
    for event in events:
        if event.key not in known:
            new.setdefault(event.key, event)
    if len(new) == len(events):
        return _decide(tx, stream, events)
    if new:
        known.update(zip(new, _decide(tx, stream, list(new.values())), strict=True))
    return [known[event.key] for event in events]


def _decide(tx: Transaction, stream: Stream, events: list[Event]) -> list[bytes]:
    """Meet events that are new, and log them."""
    times = []
    for event in events:
        event.time = seconds(event.time, tx.now)
        if not math.isfinite(event.time):
            raise Refusal(422, f"event {event.key!r}: the time is not a number")
        times.append(event.time)
    answers = stream.meet(events, times, tx.next)
    out = tx.log_events(stream.id, events, answers)
    for event, answer in zip(events, answers, strict=True):
        if answer.asked:
            _ask(tx, stream, event, answer)
    if tx.labels_wait:
        join(tx, stream, {answer.key: answer.seq for answer in answers})
    return out


def _ask(tx: Transaction, stream: Stream, event: Event, answer: Answer) -> None:
    """Put a question into the queue; those where most is at stake come first."""
    costs = event.costs or stream.config.costs
    sure = answer.probability
    if sure is None:
        sure = 0.5 * (1 + math.tanh(answer.score / 2))
    tx.unwritten.add_question(answer.seq, stream.id, event.key, sure * costs.miss)


def score_unstored(tx: Transaction, name: str, events: list[Event]) -> list[bytes]:
    """Answer about events without storing them, when the disk takes nothing."""
    stream = tx.stream(name)
    known = tx.answers(stream.id, [event.key for event in events])
    out = []
    for event in events:
        if event.key in known:
            out.append(known[event.key])
            continue
        found = stream.score(event.features, event.costs)
        out.append(
            encode(
                Answer(
                    key=event.key, seq=0, id=-1, score=found.score, flag=found.flag, asked=False,
                    ask_probability=0.0, model=stream.state.champion,
                    probability=found.probability, stored=False,
                )
            )
        )  # fmt: skip
    return out


def history(tx: Transaction, name: str, key: str) -> dict[str, object]:
    """Return everything that is known of an event."""
    stream, storage = tx.stream(name), tx.storage
    row = storage.event(stream.id, key)
    labels = storage.all(
        "select log.seq, log.time, log.kind, log.body from log where stream = ? and key = ? "
        "and kind <> 'event' order by seq", stream.id, key,
    )  # fmt: skip
    if row is None and not labels:
        raise Refusal(404, f"nothing is known of {key!r}")
    question = storage.all(
        "select state, by, until from question where stream = ? and key = ?", stream.id, key
    )
    return {
        "key": key,
        "event": None if row is None else msgspec.json.decode(row.body),
        "answer": None if row is None or row.out is None else read_answer(row.out),
        "received": None if row is None else row.time,
        "question": dict(zip(("state", "by", "until"), question[0], strict=True))
        if question
        else None,
        "history": [
            {"seq": seq, "time": time, "kind": kind, **msgspec.json.decode(body)}
            for seq, time, kind, body in labels
        ],
    }
