"""What is done from time to time: assumed labels and old rows."""

from __future__ import annotations

from ..sequencer import Transaction
from ..stream import Stream
from ..types import Label
from .labels import add_label

_ROWS = 1000  # at a time, so that nobody waits long


def upkeep(tx: Transaction) -> int:
    """Do what is due in all streams; return how many rows that were."""
    return sum(_assume(tx, stream) + _forget(tx, stream) for stream in tx.streams.values())


def _assume(tx: Transaction, stream: Stream) -> int:
    """Label events that have had no label for as long as the policy of the stream says.

    The labels are rows of the log like all others, with the source "assumed".
    """
    policy, storage = stream.config.assume, tx.storage
    if policy is None:
        return 0
    name = f"assumed {stream.id}"
    known = storage.all("select value from meta where key = ?", name)
    done = known[0][0] if known else 0
    due = storage.all(
        "select seq, key from log where seq > ? and stream = ? and kind = 'event' and time <= ? "
        "order by seq limit ?", done, stream.id, tx.now - policy.after, _ROWS,
    )  # fmt: skip
    for _, key in due:
        if storage.newest_label(stream.id, key) is None:
            add_label(tx, stream, Label(key=key, label=policy.label, source="assumed"))
    if due:
        tx.touch()
        tx.storage.do("insert or replace into meta values (?, ?)", name, due[-1][0])
    return len(due)


def _forget(tx: Transaction, stream: Stream) -> int:
    """Delete events that are older than the stream keeps them, with their labels and questions.

    What a restart may replay stays: rows behind the older snapshot, and events that they label.
    """
    keep, storage = stream.config.keep_days, tx.storage
    snapshots = storage.all(
        "select distinct seq from snapshot where stream = ? order by seq", stream.id
    )
    if keep is None or len(snapshots) < 2:
        return 0
    oldest = snapshots[0][0]
    gone = storage.all(
        "select seq, key from log where stream = ?1 and kind = 'event' and seq < ?2 and time < ?3 "
        "and not exists (select 1 from label where label.stream = ?1 and label.key = log.key "
        "and label.seq >= ?2) and not exists (select 1 from question where event = log.seq and "
        "state in ('open', 'held')) order by seq limit ?4",
        stream.id, oldest, tx.now - 86400 * keep, _ROWS,
    )  # fmt: skip
    if gone:
        tx.touch()
    for seq, key in gone:
        storage.do("delete from question where event = ?", seq)
        storage.do("delete from label where stream = ? and key = ?", stream.id, key)
        storage.do(
            "delete from log where stream = ? and key = ? and seq < ?", stream.id, key, oldest
        )
    return len(gone)
