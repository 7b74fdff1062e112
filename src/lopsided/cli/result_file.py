"""Result files, put in place when they are complete."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from .._atomic import PREFIX, TEMPORARY, put_in_place, resolved, temporary_file
from .._text import visible
from ..errors import DataError

_KEPT = ".part"  # the end of the name of a file that a checkpoint refers to
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets take for the start of a formula


class ResultFile:
    """A text file under a temporary name until it is complete; pipes and devices are written as is.

    Parameters
    ----------
    path : str
        Where it shall be; "-" for standard output.
    header : str
        Its first line.
    kept : list of str and int, optional
        Name and bytes of the unfinished file of an interrupted run, as `sync` returned them.
    """

    def __init__(self, path: str, header: str, kept: Any = None) -> None:
        self.path, self._part = path, Path()
        self._target: Path | None = None
        if path == "-":
            self._file: IO[str] = sys.stdout
        elif os.path.exists(path) and not os.path.isfile(path):
            self._file = open(path, "w", encoding="utf-8")  # noqa: SIM115
        else:
            self._target = resolved(path)
            self._file = self._again(kept) if kept else self._anew()
        if not kept:
            self.write([header])

    def _anew(self) -> IO[str]:
        assert self._target is not None
        handle, self._part = temporary_file(self._target)
        return open(handle, "w", encoding="utf-8")

    def _again(self, kept: Any) -> IO[str]:
        assert self._target is not None
        if not isinstance(kept, list) or [type(k) for k in kept] != [str, int]:
            raise DataError(
                self.path, expected="the checkpoint is of an earlier version; start over"
            )
        name, size = kept
        part = _part_beside(self._target, name)
        if part.exists():
            handle = os.open(part, os.O_RDWR | os.O_NOFOLLOW)
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            file: IO[str] = open(handle, "r+", encoding="utf-8")  # noqa: SIM115
            self._part = part
        else:  # an interrupted run had put it in its place
            file = self._anew()
            if self._target.exists():
                shutil.copyfile(self._target, self._part)
            self._keep()
        if os.path.getsize(self._part) < size:
            file.close()
            raise DataError(
                self.path,
                expected="the interrupted run had written more to it than is there now",
                remedy=("start over without --resume",),
            )
        file.seek(size)
        file.truncate()
        return file

    def write(self, lines: Iterable[str]) -> None:
        """Write lines."""
        try:
            lines = on_screen(lines) if self.path == "-" else lines
            self._file.writelines(f"{line}\n" for line in lines)
        except OSError as error:
            raise self._named(error) from None

    def sync(self) -> list[Any] | None:
        """Put what was written on the disk; return what a checkpoint needs to resume from it."""
        if self._target is None:
            return None
        self._file.flush()
        os.fsync(self._file.fileno())
        if self._part.suffix == TEMPORARY:
            self._keep()
        return [self._part.name, self._file.tell()]

    def _keep(self) -> None:
        """Give the file a name under which it stays when this process is killed."""
        assert self._target is not None
        unique = self._part.name.removeprefix(PREFIX).removesuffix(TEMPORARY)
        self._part = self._part.rename(f"{self._target}.{unique}{_KEPT}")

    def close(self, *, whole: bool, keep: bool = False) -> None:
        """Close the file; a complete one is put in place, another is removed unless it is kept."""
        keep = keep and self._part.suffix == _KEPT
        try:
            self._file.flush()
            if self._target is not None and whole:
                os.fsync(self._file.fileno())
                put_in_place(self._file.fileno(), self._part, self._target)
        except OSError as error:
            whole = False
            raise self._named(error) from None
        finally:
            if self._target is not None and not whole and not keep:
                self._part.unlink(missing_ok=True)
            if self.path != "-":
                with suppress(OSError):  # the same error as above
                    self._file.close()

    def _named(self, error: OSError) -> OSError:
        name = "standard output" if self.path == "-" else self.path
        return OSError(error.errno, error.strerror, name)


def _part_beside(target: Path, name: str) -> Path:
    """Return the unfinished file that a checkpoint names: it is one of ours, beside its target."""
    if os.path.basename(name) != name or not _is_part(name, target):
        raise DataError(name, expected="this is not the name of an unfinished file of results")
    return target.parent / name


def _is_part(name: str, target: Path) -> bool:
    return name.startswith(f"{target.name}.") and name.endswith(_KEPT)


def discard(path: str, kept: Any) -> None:
    """Remove the unfinished file of an interrupted run that is not resumed."""
    with suppress(OSError, DataError, TypeError, ValueError):
        name, _ = kept
        _part_beside(resolved(path), name).unlink(missing_ok=True)


def on_screen(lines: Iterable[str]) -> Iterable[str]:
    """Return lines for standard output: a terminal is not sent control characters of the data."""
    is_terminal = getattr(sys.stdout, "isatty", bool)()
    return map(visible, lines) if is_terminal else lines


def cell(value: Any, *, safe: bool = False) -> str:
    """Return a value as a cell of CSV; a `safe` one is not a formula for a spreadsheet."""
    text = str(value)
    if safe and isinstance(value, str) and text.startswith(_FORMULA):
        text = f"'{text}"
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
