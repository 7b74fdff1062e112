"""One writer: apply, log the request and its answer, commit all that waited, then answer.

The sequencer is synchronous and knows neither sockets nor clocks, so that a test can drive it and
let anything fail.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
from collections.abc import Callable
from typing import Any, NamedTuple

from .packing import LEAST, MOST, pack_answers, pack_events
from .recovery import CutLogError, recover
from .storage import PACKED, Row, Storage, Witness
from .stream import Stream, digest
from .types import Answer, Event, Refusal, encode

Command = Callable[["Transaction"], Any]
_FAULTS = (sqlite3.IntegrityError, sqlite3.ProgrammingError)  # the disk has no part in these


class Outcome(NamedTuple):
    """What became of a command: a value, or the reason why not."""

    value: Any
    refusal: Refusal | None


class Transaction:
    """What a command may use: the streams, the storage and the time of the group."""

    def __init__(self, sequencer: Sequencer, now: float) -> None:
        self._sequencer = sequencer
        self._storage, self.streams = sequencer.storage, sequencer.streams
        self._rows: list[Row] = []  # not in the database yet: one statement for all is quicker
        self._keys: list[tuple[int, str, int]] = []  # of the events among them
        self.fresh: dict[tuple[int, str], bytes] = {}  # the answers to events among them
        self.now = now
        self.written = False
        self.read_only = None if sequencer.read_only is None else sequencer.read_only.error

    @property
    def storage(self) -> Storage:
        """The database, with everything that was logged so far."""
        if self._rows:
            self.flush()
        return self._storage

    def flush(self) -> None:
        """Write the rows that were logged into the database."""
        if self._rows:
            self._storage.append(self._rows, self._keys)
            self._rows, self._keys = [], []
            self.fresh.clear()

    @property
    def next(self) -> int:
        """The number that the next row will have."""
        return self._storage.seq + 1

    def log(self, stream: int, kind: str, key: str | None, body: bytes, out: bytes | None) -> int:
        """Append a row and return its number."""
        seq = self.next
        self._log([Row(seq, stream, kind, self.now, seq, key, body, out)])
        return seq

    def log_events(self, stream: int, events: list[Event], answers: list[Answer]) -> list[bytes]:
        """Append events that were applied together; return their answers as JSON."""
        out = list(map(encode, answers))
        first, now = answers[0].seq, self.now
        if len(events) < LEAST:
            self._log(
                [
                    Row(first + i, stream, "event", now, first, event.key, encode(event), text)
                    for i, (event, text) in enumerate(zip(events, out, strict=True))
                ]
            )
        else:
            for at in range(0, len(events), MOST):
                part = answers[at : at + MOST]
                body = pack_events(events[at : at + MOST])
                last = part[-1].seq
                row = Row(last, stream, PACKED, now, first, None, body, pack_answers(part))
                self._log([row])
        self._keys += [(stream, answer.key, answer.seq) for answer in answers]
        self.fresh.update(((stream, a.key), text) for a, text in zip(answers, out, strict=True))
        return out

    def _log(self, rows: list[Row]) -> None:
        self.touch()
        self._rows += rows
        self._storage.seq = rows[-1].seq

    def touch(self) -> None:
        """Begin to write, if that has not happened in this group."""
        if not self.written:
            self._storage.begin()
            self.written = True

    def snapshot(self) -> None:
        """Write a snapshot of every stream into this group."""
        self.touch()
        self._sequencer.write_snapshot(self)

    def answers(self, stream: int, keys: list[str]) -> dict[str, bytes]:
        """Return the answers that events got when they came first, by key."""
        found = self._storage.answers(stream, keys)
        if self.fresh:
            found |= {k: self.fresh[stream, k] for k in keys if (stream, k) in self.fresh}
        return found

    @property
    def labels_wait(self) -> bool:
        """Whether some label may wait for its event."""
        return self._sequencer.labels_wait

    @labels_wait.setter
    def labels_wait(self, wait: bool) -> None:
        self._sequencer.labels_wait = wait

    def stream(self, name: str) -> Stream:
        """Return a stream by name."""
        found = self.streams.get(name)
        if found is None:
            raise Refusal(404, f"there is no stream {name}")
        return found


def _kind(command: Command) -> object:
    """Return what commands have in common that may be done together; else the command."""
    return getattr(command, "kind", command)


def _done(transaction: Transaction, commands: list[Command]) -> list[Outcome]:
    """Do commands of a kind: together if that is possible and none is refused."""
    together = getattr(commands[0], "together", None)
    if together is not None and len(commands) > 1:
        with contextlib.suppress(Refusal):  # which of them it was is found one by one
            return [Outcome(value, None) for value in together(transaction, commands)]
    outcomes = []
    for command in commands:
        try:
            outcomes.append(Outcome(command(transaction), None))
        except Refusal as refusal:  # noqa: PERF203
            outcomes.append(Outcome(None, refusal))
    return outcomes


class Sequencer:
    """Applies commands in groups and makes them durable.

    Parameters
    ----------
    storage, witness
        Where everything is kept.
    snapshot_every : int
        Rows of the log between two snapshots.
    accept_loss : bool
        Start although the witness has seen rows that the log no longer has.
    path : path, optional
        The folder, to say how much room there is.

    Attributes
    ----------
    read_only : Refusal or None
        Why nothing can be written.
    """

    def __init__(
        self,
        storage: Storage,
        witness: Witness,
        *,
        snapshot_every: int = 50_000,
        accept_loss: bool = False,
        path: str | os.PathLike[str] | None = None,
    ) -> None:
        self._path = path
        self.storage, self.witness = storage, witness
        self.snapshot_every = snapshot_every
        self.read_only: Refusal | None = None
        self.fault: Exception | None = None
        self.groups = self.commands = self.failures = 0
        if witness.seq > storage.seq:
            if not accept_loss:
                raise CutLogError(storage.seq, witness.seq)
            witness.write(storage.seq, sync=True)
        self.recover()

    def recover(self) -> None:
        """Build the streams from the disk."""
        self.streams, self.snapshot_seq, self.replayed = recover(self.storage)
        self.labels_wait = self.storage.any_waiting()

    def free_bytes(self) -> float | None:
        """Return how much room the disk has, if there is one."""
        if self._path is None:
            return None
        room = os.statvfs(self._path)
        return float(room.f_bavail * room.f_frsize)

    # A group --------------------------------------------------------------------------------------

    def run(self, commands: list[Command], now: float) -> tuple[list[Outcome], bool]:
        """Apply commands. Return what to answer, and whether to commit before that."""
        transaction = Transaction(self, now)
        outcomes: list[Outcome] = []
        try:
            for _, alike in itertools.groupby(commands, _kind):
                outcomes += _done(transaction, list(alike))
            transaction.flush()
            if transaction.written and self.due:
                self.write_snapshot(transaction)
                transaction.flush()
        except Exception as error:
            disk = error if isinstance(error, sqlite3.Error) else None
            if isinstance(error, _FAULTS):
                disk = None
            if disk is None:  # a fault of this program: forget the group
                self.fault = error
            return [Outcome(None, self.fail(disk))] * len(commands), False
        self.groups += transaction.written
        self.commands += len(commands)
        return outcomes, transaction.written

    def commit(self, *, sync: bool = False) -> None:
        """Make the group durable. May run in another thread, while nothing else runs here."""
        self.storage.commit()
        self.witness.write(self.storage.seq, sync=sync)

    def fail(self, error: sqlite3.Error | OSError | None) -> Refusal:
        """Forget what was not committed: models go back to what the disk has."""
        self.failures += 1
        self.storage.rollback()
        self.recover()
        full = error is not None and ("full" in str(error) or "No space" in str(error))
        if error is None:
            return Refusal(500, "the request failed")
        what = "the disk is full" if full else "the disk cannot be written"
        self.read_only = Refusal(507 if full else 503, f"{what}: nothing was stored")
        return self.read_only

    def probe(self) -> bool:
        """Find out whether the disk can be written again."""
        if self.read_only is None:
            return True
        try:
            self.storage.begin()
            for i in range(16):  # as much as a group may need
                self.storage.do("insert into meta values (?, zeroblob(65536))", f"probe {i}")
            self.storage.do("delete from meta where key like 'probe %'")
            self.storage.commit()
        except sqlite3.Error:
            self.storage.rollback()
            return False
        self.read_only = None
        return True

    # Snapshots ------------------------------------------------------------------------------------

    @property
    def due(self) -> bool:
        """Whether it is time for a snapshot."""
        return self.storage.seq - self.snapshot_seq >= self.snapshot_every

    def write_snapshot(self, transaction: Transaction) -> None:
        """Write a snapshot of every stream, with its digest in the log."""
        storage = self.storage
        for stream in self.streams.values():
            parts = stream.snapshot()
            body = encode({"sha256": digest(parts)})
            seq = transaction.log(stream.id, "snapshot", None, body, None)
            for name, blob in parts.items():
                storage.do(
                    "insert into snapshot values (?, ?, ?, ?, ?)",
                    stream.id, name, seq, blob, digest({name: blob}),
                )  # fmt: skip
            kept = storage.all(
                "select distinct seq from snapshot where stream = ? order by seq desc limit 2",
                stream.id,
            )
            storage.do("delete from snapshot where stream = ? and seq < ?", stream.id, kept[-1][0])
        self.snapshot_seq = storage.seq

    def snapshot(self, now: float) -> None:
        """Write a snapshot now, if anything came since the last one."""
        if self.read_only is None and self.storage.seq > self.snapshot_seq:
            transaction = Transaction(self, now)
            self.write_snapshot(transaction)
            transaction.flush()
            self.commit(sync=True)
