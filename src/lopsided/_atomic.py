"""Atomic writes: a file has its old or its new content, never a part.

New content goes to a temporary file beside the target: of a unique name, created exclusively, and
locked for as long as its process lives. What a killed process leaves is removed by the next one
that writes to the same folder.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PREFIX = ".lopsided."
TEMPORARY = ".tmp"  # the end of the name of a file that is worth nothing once its process is dead
_swept: set[Path] = set()


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace a file atomically."""
    target = resolved(path)
    if target.exists() and not target.is_file() and not target.is_dir():
        target.write_bytes(data)  # a pipe or a device cannot be replaced
        return
    with atomic_file(path) as file:
        file.write(data)


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` when the block succeeds, else is removed."""
    target = resolved(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, not a file", os.fspath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to save in", os.fspath(path))
    handle, temporary = temporary_file(target)
    try:
        with os.fdopen(os.dup(handle), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        put_in_place(handle, temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)  # only now may others take it for a leftover
    sync_folder(target.parent)


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return the file behind symbolic links, so that a link stays a link."""
    try:
        return Path(path).resolve()
    except RuntimeError:  # Python up to 3.12
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path)) from None


def temporary_file(target: Path) -> tuple[int, Path]:
    """Return a new file beside `target`, open and locked, and its path."""
    sweep(target.parent)
    while True:
        handle, name = tempfile.mkstemp(TEMPORARY, PREFIX, target.parent)
        with suppress(OSError):  # a file system without locks has no leftovers removed either
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.path.exists(name):  # else it was taken for a leftover before it was locked
            return handle, Path(name)
        os.close(handle)


def put_in_place(handle: int, temporary: Path, target: Path) -> None:
    """Let a temporary file, which is on disk, replace its target."""
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask()
    os.fchmod(handle, mode)
    os.replace(temporary, target)


def sweep(folder: Path) -> None:
    """Remove the temporary files of dead processes from a folder, once per process."""
    if folder in _swept:
        return
    _swept.add(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.name.endswith(TEMPORARY):
                _remove_dead(entry.path)


def _remove_dead(path: str) -> None:
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process lives
                os.unlink(path)
        finally:
            os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def sync_folder(folder: Path) -> None:
    """Flush the directory entries of a folder to disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
