"""Locks on model files: whoever changes a model has read what it writes over."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

import click

from .._atomic import resolved
from ..errors import DataError

_PATIENCE = 1.0  # seconds to wait before saying so


def lock_path(path: str) -> str:
    """Return the file whose lock is the one of a model."""
    model = resolved(path)
    return os.fspath(model.with_name(f".{model.name}.lock"))


@contextlib.contextmanager
def model_lock(path: str | None) -> Iterator[None]:
    """Keep other commands from changing a model file; wait for one that does.

    A pipe, a device or None needs no lock. A process that is killed leaves the lock file behind,
    but not the lock.
    """
    if path is None or (os.path.exists(path) and not os.path.isfile(path)):
        yield
        return
    place = lock_path(path)
    deadline, said = time.monotonic() + _PATIENCE, False
    while (lock := _locked(place)) is None:
        if time.monotonic() > deadline and not said:
            click.echo(f"waiting for {_holder(place)}, which is using {path}", err=True)
            said = True
        time.sleep(0.2 if said else 0.01)
    with _held(lock, place, f"process {os.getpid()} ({_command()})"):
        yield


@contextlib.contextmanager
def asking_alone(path: str, events: str) -> Iterator[None]:
    """Refuse to ask while another `ask` runs with the same model.

    The lock is on a file beside the model, FILE.asking.
    """
    place = f"{resolved(path)}.asking"
    lock = _locked(place)
    if lock is None:
        raise click.UsageError(f"{path}: {_holder(place)} with it")
    with _held(lock, place, f"process {os.getpid()} is asking about {events}"):
        yield


@contextlib.contextmanager
def _held(lock: int, place: str, who: str) -> Iterator[None]:
    try:
        os.truncate(lock, 0)
        os.write(lock, who.encode("utf-8", "surrogateescape"))
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)
        os.close(lock)


def _command() -> str:
    context = click.get_current_context(silent=True)
    return "lopsided" if context is None else context.command_path


def _holder(place: str) -> str:
    with contextlib.suppress(OSError):
        return Path(place).read_text(errors="replace").strip() or "another process"
    return "another process"


def _locked(place: str) -> int | None:
    """Return a locked file, None if another process has locked it."""
    while True:
        file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_ino == os.stat(place).st_ino:
                _check_ours(file, place)
                return file
        except BlockingIOError:
            os.close(file)
            return None
        except FileNotFoundError:  # whoever had locked it has removed it
            pass
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _check_ours(file: int, place: str) -> None:
    """Raise unless a file is a lock, perhaps one that a killed process has left."""
    if os.pread(file, 8, 0) not in (b"", b"process "):
        raise DataError(place, expected="this should be a lock file, but it holds something else")
