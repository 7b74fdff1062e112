"""From the disk to the streams: the older of two snapshots, and the rows behind it."""

from __future__ import annotations

import msgspec

from ..errors import LopsidedError
from .packing import pack_answers
from .storage import EVENTS, PACKED, Row, Storage
from .stream import Stream, digest
from .types import (
    LabelRow,
    NewModel,
    Promotion,
    Refusal,
    StreamConfig,
    encode,
    read_answer,
    read_event,
)  # fmt: skip

read_label = msgspec.json.Decoder(LabelRow).decode
read_config = msgspec.json.Decoder(StreamConfig).decode
read_model = msgspec.json.Decoder(NewModel).decode
_read_promotion = msgspec.json.Decoder(Promotion).decode
_SEQS = "select distinct seq from snapshot where stream = ? order by seq"
_NOTHING = ("answer", "undo", "note")  # rows that no model learns from


class CutLogError(LopsidedError):
    """A log that lacks rows which were acknowledged."""

    def __init__(self, seq: int, seen: int) -> None:
        super().__init__(
            f"the log ends at row {seq}, but row {seen} was acknowledged: {seen - seq} rows are "
            "missing. Restore a backup, or start with --accept-loss to continue without them"
        )


class ReplayError(LopsidedError):
    """A log whose rows do not give the answers that they gave."""


def recover(storage: Storage) -> tuple[dict[str, Stream], int, int]:
    """Return the streams by name, the row of the newest snapshot, and how many rows were replayed.

    The rows between the last two snapshots are replayed too, which proves the newer one.
    """
    streams: dict[int, Stream] = {}
    start, newest = {}, 0
    for number, name in storage.all("select id, name from stream order by id"):
        stream = streams[number] = Stream(number, name, StreamConfig())
        seqs = storage.all(_SEQS, number)
        start[number] = seqs[0][0] if seqs else 0
        newest = max(newest, seqs[-1][0] if seqs else 0)
        if seqs:
            stream.restore(_parts(storage, number, start[number]))
    replayed = replay(storage, streams, start)
    return {stream.name: stream for stream in streams.values()}, newest, replayed


def _parts(storage: Storage, stream: int, seq: int) -> dict[str, bytes]:
    query = "select model, blob, sha256 from snapshot where stream = ? and seq = ?"
    parts = {}
    for name, blob, known in storage.all(query, stream, seq):
        if digest({name: blob}) != known:
            raise ReplayError(f"the snapshot at row {seq} is damaged")
        parts[name] = blob
    return parts


def replay(storage: Storage, streams: dict[int, Stream], start: dict[int, int]) -> int:
    """Apply the rows behind the snapshots; return how many. Every answer must be the same."""
    count = 0
    group: list[Row] = []
    for row in storage.rows(min(start.values(), default=0)):
        if row.seq <= start.get(row.stream, row.seq):
            continue
        if group and row.first != group[0].first:
            count += apply_events(streams[group[0].stream], group)
            group = []
        if row.kind in EVENTS:
            group.append(row)
        else:
            count += 1
            apply_row(storage, streams[row.stream], row)
    if group:
        count += apply_events(streams[group[0].stream], group)
    return count


def apply_events(stream: Stream, rows: list[Row]) -> int:
    """Meet events again that came together; return how many."""
    held = [[event for event, _ in row.events()] for row in rows]
    events = [event for part in held for event in part]
    times = [event.time for event in events]
    first = rows[0].seq - len(held[0]) + 1
    try:
        answers = stream.meet(events, times, first)  # type: ignore[arg-type]
    except Refusal as error:
        raise ReplayError(f"row {rows[0].seq} was accepted once and now is not: {error}") from None
    at = 0
    for row, part in zip(rows, held, strict=True):
        found = answers[at : at + len(part)]
        at += len(part)
        if (pack_answers(found) if row.kind == PACKED else encode(found[0])) != row.out:
            raise ReplayError(
                f"row {row.seq} now has another answer than it had: the log was altered, or this "
                "program or machine computes otherwise than the one that wrote it"
            )
    return len(events)


def apply_row(storage: Storage, stream: Stream, row: Row) -> None:
    """Apply a row that is not an event."""
    if row.kind == "label":
        label = read_label(row.body)
        if label.event:
            event = storage.row(label.event)
            if event is None or event.out is None:
                raise ReplayError(f"row {label.event}, which row {row.seq} labels, is missing")
            stream.learn(label, read_event(event.body), read_answer(event.out))
    elif row.kind == "config":
        config = read_config(row.body)
        if stream.learners:
            stream.configure(config)
        else:
            stream.state.config = config
    elif row.kind == "model":
        stream.add(read_model(row.body), row.out or b"", row.seq)
    elif row.kind == "promote":
        stream.promote(_read_promotion(row.body).name)
    elif row.kind == "remove":
        stream.remove(_read_promotion(row.body).name)
    elif row.kind == "snapshot":
        known = msgspec.json.decode(row.body)["sha256"]
        if digest(stream.snapshot()) != known:
            raise ReplayError(
                f"the models at row {row.seq} are not those that were there: their digest differs"
            )
    elif row.kind not in _NOTHING:
        raise ReplayError(f"row {row.seq} is of a kind that is not known here: {row.kind}")
