"""Labels come in: early, late, twice, corrected, asked for or not."""

from __future__ import annotations

import msgspec

from ..recovery import read_label
from ..sequencer import Transaction
from ..storage import Row
from ..stream import Stream
from ..types import Label, LabelResult, LabelRow, Refusal, encode, read_answer, read_event

_value = msgspec.json.decode


def add_labels(tx: Transaction, name: str, labels: list[Label]) -> list[LabelResult]:
    """Take labels; each has its own result."""
    stream = tx.stream(name)
    return [add_label(tx, stream, label) for label in labels]


def add_label(tx: Transaction, stream: Stream, label: Label) -> LabelResult:
    """Take one label, and learn from it if its event has come."""
    storage, config = tx.storage, stream.config
    if not is_label(label.label, stream):
        wanted = f"{config.positive!r} or {config.negative!r}"
        return LabelResult(label.key, "refused", error=f"the label must be {wanted}")
    if label.id is not None:
        seq = storage.label_with_id(stream.id, label.id)
        if seq is not None:
            return LabelResult(label.key, "repeated", seq)
    newest = storage.newest_label(stream.id, label.key)
    before = None if newest is None else _value(newest[1])
    if newest is not None and before == label.label:
        return LabelResult(label.key, "repeated", newest[0])
    event = storage.event(stream.id, label.key)
    result = "waiting" if event is None else "learned" if newest is None else "corrected"
    row = LabelRow(
        key=label.key,
        label=label.label,
        event=0 if event is None else event.seq,
        result=result,
        weight=label.weight,
        source=label.source,
        by=label.by,
        id=label.id,
        before=None if event is None else before,
    )
    try:
        return LabelResult(label.key, result, _log(tx, stream, row, event))
    except Refusal as refusal:
        return LabelResult(label.key, "refused", error=refusal.error)


def is_label(value: object, stream: Stream) -> bool:
    """Say whether a value is one of the labels of a stream, of the same type too."""
    config = stream.config
    return any(
        value == one and type(value) is type(one) for one in (config.positive, config.negative)
    )


def _log(tx: Transaction, stream: Stream, row: LabelRow, event: Row | None) -> int:
    """Learn from a label and write it down."""
    if event is not None:
        assert event.out is not None
        stream.learn(row, read_event(event.body), read_answer(event.out))
    seq = tx.log(stream.id, "label", row.key, encode(row), None)
    tx.storage.add_label(seq, stream.id, row.key, encode(row.label), row.event, row.id)
    if event is None:
        tx.labels_wait = True
    else:
        tx.storage.do(
            "update question set state = 'closed', until = null, lease = null "
            "where event = ? and state in ('open', 'held', 'aside')", event.seq,
        )  # fmt: skip
    return seq


def join(tx: Transaction, stream: Stream, events: dict[str, int]) -> None:
    """Learn from labels that came before their events."""
    for seq, key in tx.storage.waiting(stream.id, list(events)):
        early = tx.storage.row(seq)
        assert early is not None
        label = read_label(early.body)
        label.event, label.result, label.id = events[key], "learned", None
        tx.storage.joined(stream.id, key, events[key])
        _log(tx, stream, label, tx.storage.row(events[key]))
