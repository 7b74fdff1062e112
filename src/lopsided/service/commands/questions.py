"""Questions to people: leased, answered, undone."""

from __future__ import annotations

import secrets
from typing import Any

import msgspec

from ..sequencer import Transaction
from ..stream import Stream
from ..types import (
    Label,
    Question,
    Refusal,
    Verdict,
    VerdictResult,
    encode,
    read_answer,
    read_event,
    seconds,
)  # fmt: skip
from .labels import add_label

_read_verdict = msgspec.json.Decoder(Verdict).decode


def lease_questions(
    tx: Transaction, name: str, n: int, lease: float | None, by: str | None
) -> list[Question]:
    """Hand out the questions where most is at stake; nobody else gets them until they expire."""
    stream, storage = tx.stream(name), tx.storage
    length = min(lease or stream.config.lease, 86400.0)
    free = storage.all(
        # A lease that ends later than any may was given before the clock was set back.
        "select event from question where stream = ?1 and state = 'open' and "
        "(lease is null or until <= ?2 or until > ?2 + 86400) order by priority desc limit ?3",
        stream.id, tx.now, n,
    )  # fmt: skip
    out = []
    for (event,) in free:
        token = secrets.token_hex(8)
        until = tx.now + length
        tx.touch()
        storage.do(
            "update question set lease = ?, until = ?, by = ? where event = ?",
            token, until, by, event,
        )  # fmt: skip
        out.append(_question(tx, stream, event, token, until))
    return out


def _question(tx: Transaction, stream: Stream, event: int, lease: str, until: float) -> Question:
    row = tx.storage.row(event)
    assert row is not None
    assert row.out is not None
    met, answer = read_event(row.body), read_answer(row.out)
    hidden = set(stream.config.hidden)
    return Question(
        key=met.key,
        seq=row.seq,
        features={k: v for k, v in met.features.items() if k not in hidden},
        score=answer.score,
        flag=answer.flag,
        why=answer.why or "check",
        ask_probability=answer.ask_probability,
        lease=lease,
        until=until,
        time=seconds(met.time, row.time),
        show=met.show,
        probability=answer.probability,
        reasons=answer.reasons and [r for r in answer.reasons if r[0].split("=")[0] not in hidden],
    )


def renew_lease(tx: Transaction, name: str, key: str, lease: str, release: bool) -> VerdictResult:
    """Keep a question for longer, or give it back."""
    stream = tx.stream(name)
    event, state, held, *_ = _known(tx, stream, key)
    if state != "open" or held != lease:
        raise Refusal(409, f"{key!r} is not leased to you")
    tx.touch()
    until = None if release else tx.now + stream.config.lease
    tx.storage.do(
        "update question set lease = ?, until = ? where event = ?",
        None if release else lease, until, event,
    )  # fmt: skip
    return VerdictResult(key, "released" if release else "renewed", until=until)


def _known(tx: Transaction, stream: Stream, key: str) -> tuple[Any, ...]:
    found = tx.storage.all(
        "select event, state, lease, until, by, answer from question where stream = ? and key = ?",
        stream.id, key,
    )  # fmt: skip
    if not found:
        raise Refusal(404, f"there is no question about {key!r}")
    return found[0]


def answer_question(tx: Transaction, name: str, verdict: Verdict) -> VerdictResult:
    """Take an answer. A label is learned when the time to undo it is over."""
    stream = tx.stream(name)
    if (verdict.label is None) == (verdict.verdict is None):
        raise Refusal(422, "an answer is either a label or a verdict")
    if verdict.label not in (None, stream.config.positive, stream.config.negative):
        raise Refusal(
            422, f"the label must be {stream.config.positive!r} or {stream.config.negative!r}"
        )
    event, state, lease, until, _, answer = _known(tx, stream, verdict.key)
    if state == "held" or (state == "closed" and answer):
        row = tx.storage.row(answer)
        if row is not None:
            given = _read_verdict(row.body)
            if (given.label, given.verdict, given.lease) == (
                verdict.label, verdict.verdict, verdict.lease
            ):  # fmt: skip
                return VerdictResult(verdict.key, "repeated", answer, until)
    if state != "open":
        raise Refusal(409, f"{verdict.key!r} is answered already")
    if lease != verdict.lease:
        raise Refusal(409, f"{verdict.key!r} is not leased to you: it expired and went to another")
    seq = tx.log(stream.id, "answer", verdict.key, encode(verdict), None)
    if verdict.verdict == "skip":  # to somebody else, later
        tx.storage.do(
            "update question set lease = null, until = null, priority = priority / 2 "
            "where event = ?", event,
        )  # fmt: skip
        return VerdictResult(verdict.key, "skipped", seq)
    if verdict.verdict is not None:
        tx.storage.do(
            "update question set state = 'aside', lease = null, answer = ? where event = ?",
            seq, event,
        )  # fmt: skip
        return VerdictResult(verdict.key, "set aside", seq)
    until = tx.now + stream.config.hold
    tx.storage.do(
        "update question set state = 'held', until = ?, answer = ? where event = ?",
        until, seq, event,
    )  # fmt: skip
    return VerdictResult(verdict.key, "held", seq, until)


def undo_answer(tx: Transaction, name: str, key: str, lease: str) -> VerdictResult:
    """Take an answer back that was not learned yet; the question is leased again."""
    stream = tx.stream(name)
    event, state, held, *_ = _known(tx, stream, key)
    if state == "open" and held == lease:
        return VerdictResult(key, "repeated")
    if state != "held":
        raise Refusal(409, f"{key!r} can no longer be undone: send a label to correct it")
    if held != lease:
        raise Refusal(409, f"{key!r} was answered by somebody else")
    seq = tx.log(stream.id, "undo", key, encode({"key": key}), None)
    until = tx.now + stream.config.lease
    tx.storage.do(
        "update question set state = 'open', until = ?, answer = null where event = ?",
        until, event,
    )  # fmt: skip
    return VerdictResult(key, "undone", seq, until)


def settle(tx: Transaction) -> float | None:
    """Learn from answers whose time to be undone is over; return when the next one is due."""
    due = tx.storage.all(
        "select stream, answer from question where state = 'held' "
        "and (until <= ?1 or until > ?1 + 3600) order by answer", tx.now,
    )  # fmt: skip
    by_id = {stream.id: stream for stream in tx.streams.values()}
    for number, answer in due:
        row = tx.storage.row(answer)
        assert row is not None
        given = _read_verdict(row.body)
        assert given.label is not None
        label = Label(key=given.key, label=given.label, source="review", by=given.by)
        add_label(tx, by_id[number], label)
        tx.touch()
        tx.storage.do(
            "update question set state = 'closed', until = null where stream = ? and key = ?",
            number, given.key,
        )  # fmt: skip
    ((next_due,),) = tx.storage.all("select min(until) from question where state = 'held'")
    return None if next_due is None else float(next_due)
