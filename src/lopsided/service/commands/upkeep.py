"""What is done from time to time: assumed labels and old rows."""

from __future__ import annotations

import itertools
from bisect import bisect_left

from ..sequencer import Transaction
from ..storage import PACKED, Row, Storage
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
    due = _met_since(storage, stream, done, tx.now - policy.after)
    for key in itertools.chain.from_iterable(keys for _, keys in due):
        if storage.newest_label(stream.id, key) is None:
            add_label(tx, stream, Label(key=key, label=policy.label, source="assumed"))
    if due:
        tx.touch()
        tx.storage.do("insert or replace into meta values (?, ?)", name, due[-1][0])
    return sum(len(keys) for _, keys in due)


def _met_since(
    storage: Storage, stream: Stream, after: int, time: float
) -> list[tuple[int, list[str]]]:
    """Return the next rows of events before a time, and the keys in them."""
    found: list[tuple[int, list[str]]] = []
    n = 0
    for row in storage.some_events(stream.id, after, storage.last_before(time), time):
        found.append((row.seq, row.pack().keys if row.kind == PACKED else [row.key or ""]))
        n += len(found[-1][1])
        if n >= _ROWS:
            break
    return found


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
    oldest, time = snapshots[0][0], tx.now - 86400 * keep
    last = min(oldest - 1, storage.last_before(time))
    needed = _needed(storage, stream, oldest, last)
    gone: list[Row] = []
    n = 0
    for row in storage.some_events(stream.id, 0, last, time):
        first = storage.first_in(row)
        at = bisect_left(needed, first)
        if at < len(needed) and needed[at] <= row.seq:
            continue
        gone.append(row)
        n += row.seq - first + 1
        if n >= _ROWS:
            break
    if gone:
        tx.touch()
    for row in gone:
        storage.forget(row, oldest)
    return n


def _needed(storage: Storage, stream: Stream, oldest: int, last: int) -> list[int]:
    """Return the numbers of old events that have an open question or were labelled lately."""
    found = storage.all(
        "select event from label where seq >= ?2 and stream = ?1 and event between 1 and ?3 union "
        "select event from question where event <= ?3 and stream = ?1 and state in ('open', 'held')"
        " order by 1", stream.id, oldest, last,
    )  # fmt: skip
    return [event for (event,) in found]
