"""The folder of a service: one SQLite file with the log, what follows from it, and snapshots."""

from __future__ import annotations

import fcntl
import itertools
import os
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .._atomic import sync_folder
from ..errors import LopsidedError
from .packing import MOST, Pack
from .schema import FORMAT, make_current
from .types import Answer, Event, encode, read_answer, read_event

PACKED = "events"  # a row with many events, whose number is that of the last one
EVENTS = ("event", PACKED)
_PACKS = 64  # that are kept decoded
_AT_ONCE = 64  # rows that one statement inserts


class Row(NamedTuple):
    """A row of the log."""

    seq: int
    stream: int
    kind: str
    time: float
    first: int  # of the rows that were applied together
    key: str | None
    body: bytes
    out: bytes | None

    def pack(self) -> Pack:
        """Return the events of a row that has many."""
        assert self.out is not None
        return Pack(self.body, self.out)

    def events(self) -> list[tuple[Event, Answer]]:
        """Return the events of a row and what was answered to them."""
        if self.kind == PACKED:
            pack = self.pack()
            return [(pack.event(at), pack.answer(at)) for at in range(len(pack))]
        assert self.out is not None
        return [(read_event(self.body), read_answer(self.out))]


def _read_only(path: str | os.PathLike[str]) -> sqlite3.Connection:
    name = f"{Path(path).resolve().as_uri()}?mode=ro"
    return sqlite3.connect(name, uri=True, timeout=5, isolation_level=None, check_same_thread=False)


class FolderError(LopsidedError):
    """A folder that cannot be served as it is."""


class Storage:
    """A SQLite file that only one process writes.

    Parameters
    ----------
    path : path or ":memory:"
        The file; it is made if there is none.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._packs: dict[int, Pack] = {}
        self._path = os.fspath(path)
        self._second: sqlite3.Connection | None = None  # to read while another thread writes
        self.db = self._connect(path)
        found = make_current(self.db)
        if found != FORMAT:
            raise FolderError(f"{os.fspath(path)} has format {found}, this program reads {FORMAT}")
        self.seq = self.last_seq()

    @classmethod
    def reading(cls, path: str | os.PathLike[str]) -> Storage:
        """Open a file only to read it, also one that a server writes."""
        if not Path(path).is_file():
            raise FolderError(f"there is no {os.fspath(path)}")
        self = cls.__new__(cls)
        self._packs, self._path, self._second = {}, os.fspath(path), None
        self.db = _read_only(path)
        self.seq = self.last_seq()
        return self

    @staticmethod
    def _connect(path: str | os.PathLike[str]) -> sqlite3.Connection:
        # Statements run on one thread and commits on another, never both at once.
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5)
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = full")
        db.execute("pragma journal_size_limit = 67108864")
        db.execute("pragma cache_size = -32768")
        db.execute("pragma wal_autocheckpoint = 4000")  # pages: many are written only once then
        return db

    # Transactions ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin a transaction."""
        self.db.execute("begin immediate")

    def commit(self) -> None:
        """Make the transaction durable: when this returns the disk has it."""
        self.db.execute("commit")

    def rollback(self) -> None:
        """Drop what was not committed."""
        if self.db.in_transaction:
            self.db.execute("rollback")
        self._packs.clear()  # their numbers are used again
        self.seq = self.last_seq()

    def close(self) -> None:
        """Close the file."""
        if self._second is not None:
            self._second.close()
        self.db.close()

    # The log --------------------------------------------------------------------------------------

    def last_seq(self) -> int:
        """Return the number of the newest row; numbers of deleted rows are not used again."""
        return int(self.db.execute("select coalesce(max(seq), 0) from log").fetchone()[0])

    def append(
        self,
        rows: Sequence[Row],
        keys: Iterable[tuple[int, int, list[str]]] = (),
        questions: Sequence[tuple[int, int, str, float]] = (),
    ) -> None:
        """Add rows, the keys of the events in them, and questions about some of these.

        Keys come as a stream, the number of the first event and the keys of it and those after it.
        Few statements do it: another thread may take Python's lock whenever one ends.
        """
        self._insert("insert into log values", "(?, ?, ?, ?, ?, ?, ?, ?)", rows)
        for stream, first, some in keys:
            given = encode(some).decode()
            if "\\u0000" in given:  # where SQLite cuts text of JSON
                one_by_one = ((stream, key, first + i) for i, key in enumerate(some))
                self.db.executemany("insert into event values (?, ?, ?)", one_by_one)
            else:
                query = "insert into event select ?, value, ? + key from json_each(?)"
                self.db.execute(query, (stream, first, given))
        query = "insert into question(event, stream, key, priority, state) values"
        self._insert(query, "(?, ?, ?, ?, 'open')", questions)

    def _insert(self, query: str, marks: str, rows: Sequence[tuple[Any, ...]]) -> None:
        for at in range(0, len(rows), _AT_ONCE):
            some = rows[at : at + _AT_ONCE]
            values = ", ".join([marks] * len(some))
            self.db.execute(f"{query} {values}", list(itertools.chain.from_iterable(some)))

    def row(self, seq: int, *, committed: bool = False) -> Row | None:
        """Return a row by number; an event that shares its row with others as one of its own."""
        query = "select * from log where seq >= ? order by seq limit 1"
        found = self._reader(committed).execute(query, (seq,)).fetchone()
        if found is None:
            return None
        row = Row(*found)
        if row.kind == PACKED:
            return self._unpacked(row, seq)
        return row if row.seq == seq else None

    def _reader(self, committed: bool) -> sqlite3.Connection:
        """Return a connection to read by, if need be while another thread writes."""
        if not committed or self._path == ":memory:":
            return self.db
        if self._second is None:
            self._second = _read_only(self._path)
        return self._second

    def _unpacked(self, row: Row, seq: int) -> Row | None:
        """Return one of the events of a row."""
        pack = self._packs.get(row.seq)
        if pack is None:
            if len(self._packs) >= _PACKS:
                self._packs.clear()
            pack = self._packs[row.seq] = row.pack()
        at = seq - pack.first
        if at < 0:
            return None
        body, out = encode(pack.event(at)), encode(pack.answer(at))
        return Row(seq, row.stream, "event", row.time, row.first, pack.keys[at], body, out)

    def rows(self, after: int = 0, stream: int | None = None) -> Iterator[Row]:
        """Yield the rows after a number, in order, as they are; none may be added meanwhile."""
        which, values = ("", ()) if stream is None else (" and stream = ?", (stream,))
        query = f"select * from log where seq > ?{which} order by seq"
        for row in self.db.execute(query, (after, *values)):
            yield Row(*row)

    def event(self, stream: int, key: str) -> Row | None:
        """Return the event of a key."""
        query = "select seq from event where stream = ? and key = ?"
        found = self.db.execute(query, (stream, key)).fetchone()
        return None if found is None else self.row(found[0])

    def answers(self, stream: int, keys: list[str], *, committed: bool = False) -> dict[str, bytes]:
        """Return the answers that events got when they came first, by key.

        With `committed` only what is durable is found, and another thread may write meanwhile.
        """
        given, db = encode(keys).decode(), self._reader(committed)
        found = db.execute(
            "select event.key, event.seq from json_each(?) as given cross join event "
            "on event.stream = ? and event.key = given.value",
            (given, stream),
        ).fetchall()
        if "\\u0000" in given:  # where SQLite cuts text of JSON
            query = "select key, seq from event where stream = ? and key = ?"
            for key in keys:
                found += db.execute(query, (stream, key)) if "\0" in key else ()
        rows = ((key, self.row(seq, committed=committed)) for key, seq in found)
        return {key: row.out for key, row in rows if row is not None and row.out is not None}

    def events(self, stream: int | None = None) -> Iterator[tuple[Event, Answer]]:
        """Yield all events and what was answered to them."""
        for row in self.rows(stream=stream):
            if row.kind in EVENTS:
                yield from row.events()

    def last_before(self, time: float) -> int:
        """Return the number up to which rows are older than that, if the clock never went back."""
        low, high = 0, self.seq + 1
        while low + 1 < high:
            middle = (low + high) // 2
            query = "select time from log where seq >= ? order by seq limit 1"
            found = self.db.execute(query, (middle,)).fetchone()
            if found is not None and found[0] < time:
                low = middle
            else:
                high = middle
        return low

    def some_events(self, stream: int, after: int, last: int, time: float) -> Iterator[Row]:
        """Yield the rows of events between two numbers that are older than a time."""
        query = (
            "select * from log where seq > ? and seq <= ? and stream = ? and time < ? "
            "and kind in ('event', 'events') order by seq"
        )
        for row in self.db.execute(query, (after, last, stream, time)):
            yield Row(*row)

    def first_in(self, row: Row) -> int:
        """Return the number of the first event of a row, which need not be decoded for that.

        It is behind the row before; if that was deleted, this may be a number that is gone, too.
        """
        if row.kind != PACKED:
            return row.seq
        query = "select max(seq) from log where seq < ?"
        (before,) = self.db.execute(query, (row.seq,)).fetchone()
        return max((before or 0) + 1, row.seq - MOST + 1)

    def forget(self, row: Row, before: int) -> None:
        """Delete a row of events, and everything about them before a number."""
        keys = row.pack().keys if row.kind == PACKED else [row.key]
        named = [(row.stream, key) for key in keys]
        first = row.seq - len(keys) + 1
        self.do("delete from question where event between ? and ?", first, row.seq)
        self.db.executemany("delete from label where stream = ? and key = ?", named)
        later = [(*one, before) for one in named]
        self.db.executemany(
            "delete from log where stream = ? and key = ? and kind <> 'event' and seq < ?", later
        )
        self.db.executemany("delete from event where stream = ? and key = ?", named)
        self.do("delete from log where seq = ?", row.seq)
        self._packs.clear()

    # Labels ---------------------------------------------------------------------------------------

    def newest_label(self, stream: int, key: str) -> tuple[int, bytes, int] | None:
        """Return seq, label and event of the label that counts for a key."""
        found = self.db.execute(
            "select seq, label, event from label where stream = ? and key = ? "
            "order by seq desc limit 1",
            (stream, key),
        ).fetchone()
        return found and (found[0], found[1], found[2])

    def label_with_id(self, stream: int, name: str) -> int | None:
        """Return the row of a label that its sender named."""
        query = "select seq from label where stream = ? and id = ?"
        found = self.db.execute(query, (stream, name)).fetchone()
        return None if found is None else int(found[0])

    def add_label(
        self, seq: int, stream: int, key: str, label: bytes, event: int, name: str | None
    ) -> None:
        """Note a label."""
        self.db.execute(
            "insert into label values (?, ?, ?, ?, ?, ?)", (seq, stream, key, label, event, name)
        )

    def waiting(self, stream: int, keys: list[str]) -> list[tuple[int, str]]:
        """Return seq and key of the newest label that waits for each event."""
        marks = ",".join("?" * len(keys))
        query = (
            "select max(seq), key from label where stream = ? and event = 0 "
            f"and key in ({marks}) group by key order by 1"
        )
        return list(self.db.execute(query, (stream, *keys)))

    def joined(self, stream: int, key: str, event: int) -> None:
        """Note that the event of waiting labels has come."""
        self.db.execute(
            "update label set event = ? where stream = ? and key = ? and event = 0",
            (event, stream, key),
        )

    def any_waiting(self) -> bool:
        """Say whether some label waits for its event."""
        return self.db.execute("select 1 from label where event = 0 limit 1").fetchone() is not None

    # Anything else --------------------------------------------------------------------------------

    def all(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self.db.execute(query, values).fetchall()

    def do(self, query: str, *values: Any) -> int:
        """Run a statement; return how many rows it changed."""
        return self.db.execute(query, values).rowcount


class Folder:
    """A folder that only one server at a time may have.

    Attributes
    ----------
    storage : Storage
    witness : Witness
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise FolderError(f"{self.path} is a file: name a folder, or one that does not exist")
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise FolderError(f"{self.path} is in use by another server") from None
        self.storage = Storage(self.path / "lopsided.db")
        self.witness = Witness(self.path / "witness")
        sync_folder(self.path)

    def close(self) -> None:
        """Give the folder back."""
        self.storage.close()
        self.witness.close()
        os.close(self._lock)


class Witness:
    """The highest number that was acknowledged, outside the log: it shows a log that was cut."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        held = os.pread(self._file, 16, 0)
        self.seq = 0
        if len(held) == 16:
            seq, check = struct.unpack("<QQ", held)
            self.seq = seq if seq ^ check == 2**64 - 1 else 0

    def write(self, seq: int, *, sync: bool) -> None:
        """Note a number; without `sync` it outlives the process, with it a power cut too."""
        os.pwrite(self._file, struct.pack("<QQ", seq, seq ^ (2**64 - 1)), 0)
        if sync:
            getattr(os, "fdatasync", os.fsync)(self._file)  # macOS has only the latter
        self.seq = seq

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
