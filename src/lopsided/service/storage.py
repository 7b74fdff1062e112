"""The folder of a service: one SQLite file with the log, what follows from it, and snapshots."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .._atomic import sync_folder
from ..errors import LopsidedError

FORMAT = 1
_SCHEMA = """
create table meta(key text primary key, value) without rowid;
create table stream(id integer primary key, name text unique not null);
-- The truth, append only: an operation and its answer.
create table log(seq integer primary key, stream integer not null, kind text not null,
  time real not null, first integer not null, key text, body blob not null, out blob);
create unique index event on log(stream, key) where kind = 'event';
-- What follows from the log.
create table label(seq integer primary key, stream integer not null, key text not null,
  label blob not null, event integer not null, id text);
create index label_key on label(stream, key);
create unique index label_id on label(stream, id) where id is not null;
create index label_waiting on label(stream, key) where event = 0;
create table question(event integer primary key, stream integer not null, key text not null,
  state text not null, priority real not null, lease text, until real, by text, answer integer);
create unique index question_key on question(stream, key);
create index question_open on question(stream, priority desc) where state = 'open';
create index log_key on log(stream, key) where kind <> 'event' and key is not null;
create index question_held on question(until) where state = 'held';
create table snapshot(stream integer not null, model text not null, seq integer not null,
  blob blob not null, sha256 text not null, primary key(stream, model, seq));
create table token(id text primary key, name text not null, salt blob not null, hash blob not null,
  role text not null, created real not null, expires real) without rowid;
"""


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
        self.db = self._connect(path)
        if self.db.execute("pragma user_version").fetchone()[0] == 0:
            self.db.executescript(f"begin; {_SCHEMA} pragma user_version = {FORMAT}; commit;")
        found = self.db.execute("pragma user_version").fetchone()[0]
        if found != FORMAT:
            raise FolderError(f"{os.fspath(path)} has format {found}, this program reads {FORMAT}")
        self.seq = self.last_seq()

    @classmethod
    def reading(cls, path: str | os.PathLike[str]) -> Storage:
        """Open a file only to read it, also one that a server writes."""
        if not Path(path).is_file():
            raise FolderError(f"there is no {os.fspath(path)}")
        self = cls.__new__(cls)
        self.db = sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True, timeout=5)
        self.db.isolation_level = None
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
        self.seq = self.last_seq()

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    # The log --------------------------------------------------------------------------------------

    def last_seq(self) -> int:
        """Return the number of the newest row; numbers of deleted rows are not used again."""
        return int(self.db.execute("select coalesce(max(seq), 0) from log").fetchone()[0])

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows that are numbered from `seq` + 1 on."""
        self.db.executemany("insert into log values (?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def row(self, seq: int) -> Row | None:
        """Return a row by number."""
        found = self.db.execute("select * from log where seq = ?", (seq,)).fetchone()
        return found and Row(*found)

    def rows(self, after: int = 0, stream: int | None = None) -> Iterator[Row]:
        """Yield the rows after a number, in order; none may be added meanwhile."""
        which, values = ("", ()) if stream is None else (" and stream = ?", (stream,))
        query = f"select * from log where seq > ?{which} order by seq"
        for row in self.db.execute(query, (after, *values)):
            yield Row(*row)

    def event(self, stream: int, key: str) -> Row | None:
        """Return the event of a key."""
        found = self.db.execute(
            "select * from log where kind = 'event' and stream = ? and key = ?", (stream, key)
        ).fetchone()
        return found and Row(*found)

    def answers(self, stream: int, keys: list[str]) -> dict[str, bytes]:
        """Return the answers that events got when they came first, by key."""
        marks = ",".join("?" * len(keys))
        query = f"select key, out from log where kind='event' and stream=? and key in ({marks})"
        return dict(self.db.execute(query, (stream, *keys)))

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
            os.fdatasync(self._file)
        self.seq = seq

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
