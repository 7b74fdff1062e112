"""One writer: apply, log the request and its answer, commit all that waited, then answer.

The sequencer is synchronous and knows neither sockets nor clocks, so that a test can drive it and
let anything fail.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .recovery import CutLogError, recover
from .storage import Row, Storage, Witness
from .stream import Stream, digest
from .types import Answer, Event, Refusal, encode
from .unwritten import Unwritten

Command = Callable[["Transaction"], Any]
_FAULTS = (sqlite3.IntegrityError, sqlite3.ProgrammingError)  # the disk has no part in these


class Outcome(NamedTuple):
    """What became of a command: a value, or the reason why not."""

    value: Any
    refusal: Refusal | None


class Transaction:
    """What a command may use: the streams, the storage and the time of the group.

    While it is `ahead` the group before it is still being written: the database is the other
    thread's then, and commands may only look for keys and log events.
    """

    def __init__(self, sequencer: Sequencer, now: float) -> None:
        self._sequencer = sequencer
        self._storage, self.streams = sequencer.storage, sequencer.streams
        self.unwritten = Unwritten()
        self.now = now
        self.ahead = self.written = self._begun = False
        self.seq = sequencer.storage.seq  # of the newest row
        self.outcomes: list[Outcome] = []
        self.error: Exception | None = None  # why the group cannot be committed
        self.read_only = None if sequencer.read_only is None else sequencer.read_only.error

    @property
    def storage(self) -> Storage:
        """The database, with everything that was logged so far."""
        if self.ahead:
            raise RuntimeError("the database is in use by the group before this one")
        self.flush()
        return self._storage

    def flush(self) -> None:
        """Write the rows that were logged into the database."""
        if self.unwritten.rows:
            self._begin()
            self.unwritten.write(self._storage)

    def commit(self, witness: Witness, *, sync: bool = False) -> None:
        """Make the group durable. May run in another thread, one group after the other."""
        self._begin()
        self.flush()
        self._storage.commit()
        witness.write(self.seq, sync=sync)

    @property
    def next(self) -> int:
        """The number that the next row will have."""
        return self._storage.seq + 1

    def log(self, stream: int, kind: str, key: str | None, body: bytes, out: bytes | None) -> int:
        """Append a row and return its number."""
        seq = self.next
        self.unwritten.rows.append(Row(seq, stream, kind, self.now, seq, key, body, out))
        self._logged(seq)
        return seq

    def log_events(self, stream: int, events: list[Event], answers: list[Answer]) -> list[bytes]:
        """Append events that were applied together; return their answers as JSON."""
        out = self.unwritten.add_events(stream, events, answers, self.now)
        self._logged(answers[-1].seq)
        return out

    def _logged(self, seq: int) -> None:
        self.written = True
        self.seq = self._storage.seq = seq

    def touch(self) -> None:
        """Begin to write something other than rows of the log."""
        self.written = True
        self._begin()

    def _begin(self) -> None:
        if not self._begun:
            self._storage.begin()
            self._begun = True

    def snapshot(self) -> None:
        """Write a snapshot of every stream into this group."""
        self.touch()
        self._sequencer.write_snapshot(self)

    def answers(self, stream: int, keys: list[str]) -> dict[str, bytes]:
        """Return the answers that events got when they came first, by key."""
        found = self._storage.answers(stream, keys, committed=self.ahead)
        before = self._sequencer.committing
        if before is not None:
            found |= before.unwritten.known(stream, keys)
        return found | self.unwritten.known(stream, keys)

    @property
    def labels_wait(self) -> bool:
        """Whether some label may wait for its event."""
        return self._sequencer.labels_wait

    @labels_wait.setter
    def labels_wait(self, wait: bool) -> None:
        self._sequencer.labels_wait = wait

    def stream(self, name: str) -> Stream:
        """Return a stream by name."""
        return self._sequencer.stream(name)


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
        self.group: Transaction | None = None  # what commands are added to
        self.committing: Transaction | None = None
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

    def stream(self, name: str) -> Stream:
        """Return a stream by name."""
        found = self.streams.get(name)
        if found is None:
            raise Refusal(404, f"there is no stream {name}")
        return found

    # A group --------------------------------------------------------------------------------------

    def run(self, commands: Sequence[Command], now: float) -> tuple[list[Outcome], bool]:
        """Apply commands. Return what to answer, and whether to commit before that.

        Commands that were applied ahead are in the same group, and their outcomes come first.
        """
        group = self._opened(now)
        size = len(group.outcomes) + len(commands)
        try:
            if group.error is not None:
                raise group.error
            self._apply(group, commands)
            if group.written and self.due:
                self.write_snapshot(group)
        except Exception as error:
            return [Outcome(None, self.fail(error))] * size, False
        self.groups += group.written
        if not group.written:
            self.group = None
        return group.outcomes, group.written

    def can_run_ahead(self, command: Command) -> bool:
        """Say whether a command can be applied while another group is being committed."""
        return (
            getattr(command, "ahead", False)
            and not (self.labels_wait or self.due or self.read_only)
            and (self.group is None or self.group.error is None)
        )

    def run_ahead(self, commands: Sequence[Command], now: float) -> None:
        """Apply commands that can be, while another group is being committed.

        They are part of the next group; it is given up if the one before cannot be committed.
        """
        group = self._opened(now)
        group.ahead = True
        try:
            self._apply(group, commands)
        except Exception as error:  # the models are wrong until the next turn goes back to the disk
            group.error = error
            group.outcomes += [Outcome(None, None)] * len(commands)
        group.ahead = False

    def _opened(self, now: float) -> Transaction:
        """Return the group that commands are added to."""
        if self.group is None:
            self.group = Transaction(self, now)
        self.group.now = now
        return self.group

    def _apply(self, group: Transaction, commands: Sequence[Command]) -> None:
        outcomes: list[Outcome] = []
        for _, alike in itertools.groupby(commands, _kind):
            outcomes += _done(group, list(alike))
        group.outcomes += outcomes
        self.commands += len(commands)

    def close_group(self) -> Transaction:
        """Return the group to commit; later commands go into the next one."""
        assert self.group is not None
        self.committing, self.group = self.group, None
        return self.committing

    def commit(self, *, sync: bool = False) -> None:
        """Make the group durable."""
        self.close_group().commit(self.witness, sync=sync)
        self.committing = None

    def complete(
        self, commands: Sequence[Command], now: float, *, sync: bool = False
    ) -> list[Outcome]:
        """Apply commands and make them durable, where there is nothing else to do meanwhile."""
        outcomes, written = self.run(commands, now)
        if written:
            try:
                self.commit(sync=sync)
            except (sqlite3.Error, OSError) as error:
                return [Outcome(None, self.fail(error))] * len(outcomes)
        return outcomes

    def fail(self, error: Exception) -> Refusal:
        """Forget what was not committed: models go back to what the disk has."""
        self.failures += 1
        self.group = self.committing = None
        self.storage.rollback()
        self.recover()
        if isinstance(error, _FAULTS) or not isinstance(error, (sqlite3.Error, OSError)):
            self.fault = error  # of this program
            return Refusal(500, "the request failed")
        full = "full" in str(error) or "No space" in str(error)
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
            transaction.flush()
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
            self.write_snapshot(self._opened(now))
            self.commit(sync=True)
