"""Files of results: they take their place when they are whole."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from typing import IO, Any

from ..errors import DataError


class ResultFile:
    """A text file that is FILE.part until it is whole; standard output, pipes and devices as is.

    Parameters
    ----------
    path : str
        Where it shall be; "-" for standard output.
    header : str
        Its first line.
    kept : int, optional
        Go on with the file of an interrupted run behind this many bytes.
    """

    def __init__(self, path: str, header: str, kept: int | None = None) -> None:
        self.path, self._part = path, ""
        if path == "-":
            self._file: IO[str] = sys.stdout
        elif os.path.exists(path) and not os.path.isfile(path):
            self._file = open(path, "w", encoding="utf-8")  # noqa: SIM115
        else:
            self._part = os.path.realpath(path) + ".part"
            self._file = self._again(kept) if kept else self._anew()
        if not kept:
            self.write([header])

    def _anew(self) -> IO[str]:
        return open(self._part, "w", encoding="utf-8")

    def _again(self, kept: int) -> IO[str]:
        if not os.path.exists(self._part) and os.path.exists(self.path):
            shutil.copyfile(self.path, self._part)  # an interrupted run had put it in its place
        if not os.path.exists(self._part) or os.path.getsize(self._part) < kept:
            raise DataError(
                self.path,
                expected="the interrupted run had written more to it than is there now",
                remedy=("start over without --resume",),
            )
        file = open(self._part, "r+", encoding="utf-8")  # noqa: SIM115
        file.seek(kept)
        file.truncate()
        return file

    def write(self, lines: Iterable[str]) -> None:
        """Write lines."""
        try:
            self._file.writelines(f"{line}\n" for line in lines)
        except OSError as error:
            raise self._named(error) from None

    def sync(self) -> int | None:
        """Put what was written on the disk; return how much it is, if that can be known."""
        if not self._part:
            return None
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self, *, whole: bool, keep: bool = False) -> None:
        """Close the file; a whole one takes its place, another goes unless it is to be kept."""
        try:
            self._file.flush() if self.path == "-" else self._file.close()
            if self._part and whole:
                os.replace(self._part, self._part.removesuffix(".part"))
        except OSError as error:
            whole = False
            raise self._named(error) from None
        finally:
            if self._part and not whole and not keep and os.path.exists(self._part):
                os.unlink(self._part)

    def _named(self, error: OSError) -> OSError:
        name = "standard output" if self.path == "-" else self.path
        return OSError(error.errno, error.strerror, name)


def cell(value: Any) -> str:
    """Return a value as a cell of CSV."""
    text = str(value)
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
