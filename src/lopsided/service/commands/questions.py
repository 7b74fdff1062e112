"""Questions to people: leased, answered, undone."""

from __future__ import annotations

import secrets
from typing import Any

import msgspec

from ..sequencer import Transaction
from ..stream import Stream
from ..types import (
    Features,
    Label,
    Question,
    Refusal,
    StreamConfig,
    Verdict,
    VerdictResult,
    encode,
    read_answer,
    read_event,
    seconds,
)  # fmt: skip
from .labels import add_label, is_label

_read_verdict = msgspec.json.Decoder(Verdict).decode
_COMPARED = 5000  # open questions among which identical events are looked for
# A lease that ends later than any may was given before the clock was set back.
_FREE = "state = 'open' and (lease is null or until <= ?2 or until > ?2 + 86400)"


def lease_questions(
    tx: Transaction, name: str, n: int, lease: float | None, by: str | None
) -> list[Question]:
    """Hand out the questions where most is at stake; nobody else gets them until they expire."""
    stream, storage = tx.stream(name), tx.storage
    length = min(lease or stream.config.lease, 86400.0)
    free = storage.all(
        f"select event, priority from question where stream = ?1 and {_FREE} "
        "order by priority desc limit ?3", stream.id, tx.now, n,
    )  # fmt: skip
    out = []
    for event, stake in free:
        token = secrets.token_hex(8)
        until = tx.now + length
        tx.touch()
        storage.do(
            "update question set lease = ?, until = ?, by = ? where event = ?",
            token, until, by, event,
        )  # fmt: skip
        question = _question(tx, stream, event)
        question.lease, question.until, question.stake = token, until, stake
        out.append(question)
    return out


def _question(tx: Transaction, stream: Stream, event: int) -> Question:
    row = tx.storage.row(event)
    assert row is not None
    assert row.out is not None
    met, answer = read_event(row.body), read_answer(row.out)
    features, reasons = visible(stream.config, met.features, answer.reasons)
    return Question(
        key=met.key,
        seq=row.seq,
        features=features,
        score=answer.score,
        flag=answer.flag,
        why=answer.why or "check",
        ask_probability=answer.ask_probability,
        lease="",
        until=0.0,
        time=seconds(met.time, row.time),
        show=met.show,
        probability=answer.probability,
        reasons=reasons,
        costs=met.costs or stream.config.costs,
    )


def visible(
    config: StreamConfig, features: Features, reasons: list[tuple[str, float]] | None
) -> tuple[Features, list[tuple[str, float]] | None]:
    """Return features and reasons without those that are hidden from people."""
    hidden = config.hidden

    def seen(name: str) -> bool:
        return not any(name == one or name.startswith(f"{one}=") for one in hidden)

    return (
        {name: value for name, value in features.items() if name not in hidden},
        reasons and [reason for reason in reasons if seen(reason[0])],
    )


def set_aside(tx: Transaction, name: str) -> list[dict[str, Any]]:
    """Return the questions that somebody left to others to decide, the newest first."""
    rows = tx.storage.all(
        "select question.key, log.time, log.body from question join log on log.seq = answer "
        "where question.stream = ? and state = 'aside' order by answer desc limit 100",
        tx.stream(name).id,
    )  # fmt: skip
    return [
        {"key": key, "time": time, "verdict": given.verdict, "by": given.by, "note": given.note}
        for key, time, given in ((key, time, _read_verdict(body)) for key, time, body in rows)
    ]


def identical(tx: Transaction, name: str, key: str) -> list[str]:
    """Return the keys of free questions about events with the same features as an event."""
    stream = tx.stream(name)
    event, *_ = _known(tx, stream, key)
    return [other for _, other in _identical(tx, stream, event)]


def _identical(tx: Transaction, stream: Stream, event: int) -> list[tuple[int, str]]:
    def features(seq: int) -> object:
        row = tx.storage.row(seq)
        assert row is not None
        given = read_event(row.body).features
        return {name: (type(value), value) for name, value in given.items()}  # True is not 1.0

    known = features(event)
    rows = tx.storage.all(
        f"select event, key from question where stream = ?1 and {_FREE} and event <> ?3 "
        "order by event desc limit ?4", stream.id, tx.now, event, _COMPARED,
    )  # fmt: skip
    return [(seq, key) for seq, key in rows if features(seq) == known]


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


def _newest(tx: Transaction, stream: Stream, key: str) -> tuple[int, Verdict] | None:
    """Return the newest answer about a key, None if it was undone."""
    rows = tx.storage.all(
        "select seq, kind, body from log where stream = ? and key = ? and kind <> 'event' "
        "and kind in ('answer', 'undo') order by seq desc limit 1", stream.id, key,
    )  # fmt: skip
    if not rows or rows[0][1] == "undo":
        return None
    return rows[0][0], _read_verdict(rows[0][2])


def answer_question(tx: Transaction, name: str, verdict: Verdict) -> VerdictResult:
    """Take an answer. A label is learned when the time to undo it is over."""
    stream = tx.stream(name)
    _check(stream, verdict)
    event, state, lease, until, *_ = _known(tx, stream, verdict.key)
    before = _newest(tx, stream, verdict.key)
    if before is not None:
        seq, given = before
        if (given.label, given.verdict, given.lease) == (
            verdict.label, verdict.verdict, verdict.lease
        ):  # fmt: skip
            until = until if state == "held" else None
            n = _answered_along(tx, seq, given) if given.same else 0
            return VerdictResult(verdict.key, "repeated", seq, until, n)
    if state != "open":
        raise Refusal(409, f"{verdict.key!r} is answered already")
    if lease != verdict.lease:
        raise Refusal(409, f"{verdict.key!r} is not leased to you: it expired and went to another")
    if verdict.verdict is not None:
        return _set_aside(tx, stream, event, verdict)
    until = tx.now + stream.config.hold
    same = _identical(tx, stream, event) if verdict.same else []
    seq = _hold(tx, stream, event, verdict, until)
    for other, key in same:
        _hold(tx, stream, other, msgspec.structs.replace(verdict, key=key), until)
    return VerdictResult(verdict.key, "held", seq, until, len(same))


def _answered_along(tx: Transaction, seq: int, given: Verdict) -> int:
    """Return how many identical events got an answer: their rows follow that of the first."""
    n = 0
    for row in tx.storage.rows(seq):
        if row.kind != "answer" or _read_verdict(row.body).lease != given.lease:
            break
        n += 1
    return n


def _check(stream: Stream, verdict: Verdict) -> None:
    if (verdict.label is None) == (verdict.verdict is None):
        raise Refusal(422, "an answer is either a label or a verdict")
    if verdict.label is not None and not is_label(verdict.label, stream):
        raise Refusal(
            422, f"the label must be {stream.config.positive!r} or {stream.config.negative!r}"
        )
    if verdict.same and verdict.label is None:
        raise Refusal(422, "only a label can be given to identical events")


def _hold(tx: Transaction, stream: Stream, event: int, verdict: Verdict, until: float) -> int:
    """Keep a label until it can no longer be undone."""
    seq = tx.log(stream.id, "answer", verdict.key, encode(verdict), None)
    tx.storage.do(
        "update question set state = 'held', lease = ?, until = ?, by = ?, answer = ? "
        "where event = ?", verdict.lease, until, verdict.by, seq, event,
    )  # fmt: skip
    return seq


def _set_aside(tx: Transaction, stream: Stream, event: int, verdict: Verdict) -> VerdictResult:
    """Leave a question to others: those in the queue, or those it is escalated to."""
    seq = tx.log(stream.id, "answer", verdict.key, encode(verdict), None)
    if verdict.verdict == "skip":
        tx.storage.do(
            "update question set lease = null, until = null, priority = priority / 2 "
            "where event = ?", event,
        )  # fmt: skip
        return VerdictResult(verdict.key, "skipped", seq)
    tx.storage.do(
        "update question set state = 'aside', lease = null, answer = ? where event = ?",
        seq, event,
    )  # fmt: skip
    return VerdictResult(verdict.key, "set aside", seq)


def undo_answer(tx: Transaction, name: str, key: str, lease: str) -> VerdictResult:
    """Take an answer back that was not learned yet; the question is leased again.

    Of identical events that were answered along with it the answers are taken back too.
    """
    stream = tx.stream(name)
    event, state, held, until, *_ = _known(tx, stream, key)
    before = _newest(tx, stream, key)
    if before is None and state == "open" and held == lease:
        return VerdictResult(key, "repeated")
    if state == "closed" or before is None:
        raise Refusal(409, f"{key!r} can no longer be undone: send a label to correct it")
    given = before[1]
    if given.lease != lease:
        raise Refusal(409, f"{key!r} was answered by somebody else")
    if state == "open" and held is not None and until > tx.now:
        raise Refusal(409, f"{key!r} was skipped and is with somebody else now")
    if given.same:
        _undo_same(tx, stream, event, lease)
    seq = tx.log(stream.id, "undo", key, encode({"key": key}), None)
    until = tx.now + stream.config.lease
    tx.storage.do(
        "update question set state = 'open', lease = ?, until = ?, answer = null, "
        "priority = priority * ? where event = ?",
        lease, until, 2 if given.verdict == "skip" else 1, event,
    )  # fmt: skip
    return VerdictResult(key, "undone", seq, until)


def _undo_same(tx: Transaction, stream: Stream, event: int, lease: str) -> None:
    """Open the questions again that were answered along with another one."""
    rows = tx.storage.all(
        "select event, key from question where state = 'held' and stream = ? and lease = ? "
        "and event <> ?", stream.id, lease, event,
    )  # fmt: skip
    for other, key in rows:
        _reopen(tx, stream.id, other, key)


def _reopen(tx: Transaction, stream: int, event: int, key: str) -> None:
    """Take an answer back and let anybody have the question."""
    tx.log(stream, "undo", key, encode({"key": key}), None)
    tx.storage.do(
        "update question set state = 'open', lease = null, until = null, answer = null "
        "where event = ?", event,
    )  # fmt: skip


def settle(tx: Transaction) -> float | None:
    """Learn from answers whose time to be undone is over; return when the next one is due."""
    due = tx.storage.all(
        "select stream, event, answer from question where state = 'held' "
        "and (until <= ?1 or until > ?1 + 3600) order by answer", tx.now,
    )  # fmt: skip
    by_id = {stream.id: stream for stream in tx.streams.values()}
    for number, event, answer in due:
        row = tx.storage.row(answer)
        assert row is not None
        given = _read_verdict(row.body)
        assert given.label is not None
        label = Label(key=given.key, label=given.label, source="review", by=given.by)
        if add_label(tx, by_id[number], label).result == "refused":
            _reopen(tx, number, event, given.key)
            continue
        tx.touch()
        tx.storage.do(
            "update question set state = 'closed', until = null where stream = ? and key = ?",
            number, given.key,
        )  # fmt: skip
    ((next_due,),) = tx.storage.all("select min(until) from question where state = 'held'")
    return None if next_due is None else float(next_due)
