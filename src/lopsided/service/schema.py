"""The tables of a folder, and how those of an older format become the present ones."""

from __future__ import annotations

import sqlite3

FORMAT = 2
CHANGES = "kind in ('config', 'model', 'promote', 'remove', 'snapshot')"  # rows of settings
_EVENT = """
-- Where the event of a key is: in the row of this number, or in the next one, which has many.
create table event(stream integer not null, key text not null, seq integer not null,
  primary key(stream, key)) without rowid;
"""
_SCHEMA = f"""
create table meta(key text primary key, value) without rowid;
create table stream(id integer primary key, name text unique not null);
-- The truth, append only: an operation and its answer.
create table log(seq integer primary key, stream integer not null, kind text not null,
  time real not null, first integer not null, key text, body blob not null, out blob);
{_EVENT}-- What follows from the log.
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
_FROM_1 = f"""
drop index event;
{_EVENT}
insert into event select stream, key, seq from log where kind = 'event';
"""


def make_current(db: sqlite3.Connection) -> int:
    """Make the tables, or bring them to the present format; return the format that is there."""
    found = int(db.execute("pragma user_version").fetchone()[0])
    steps = {0: _SCHEMA, 1: _FROM_1}
    if found in steps:
        db.executescript(f"begin; {steps[found]} pragma user_version = {FORMAT}; commit;")
        found = FORMAT
    if found == FORMAT:
        db.execute(f"create index if not exists log_change on log(stream, seq) where {CHANGES}")
    return found
