"""Bytes from files, standard input and pipes, decompressed on the way."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import select
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..block import DataError

PACKED = b"\x89lopc\r\n\x1a"  # how a cache of rows begins: no text does
_PATIENCE = 100  # milliseconds between looks at whether anybody still wants the bytes of a pipe


class Interrupted(Exception):  # noqa: N818
    """Nobody wants the bytes of a pipe any more."""


class _ZstdFile:
    """Frames of zstd one after the other; the library's own reader takes a cut file for whole."""

    def __init__(self, raw: BinaryIO) -> None:
        import zstandard

        self._raw = raw
        self._start = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._start()
        self._left = b""

    def read(self, size: int) -> bytes:
        while not self._left:
            if self._frame.eof:
                data = self._frame.unused_data or self._raw.read(1 << 17)
                if not data:
                    return b""
                self._frame = self._start()
            else:
                data = self._raw.read(1 << 17)
                if not data:
                    raise EOFError("the file ends within a frame")
            self._left = self._frame.decompress(data)
        data, self._left = self._left[:size], self._left[size:]
        return data


_OPENERS: dict[str, tuple[bytes, Callable[[Any], Any]]] = {
    ".gz": (b"\x1f\x8b", lambda raw: gzip.GzipFile(fileobj=raw)),
    ".bz2": (b"BZh", bz2.BZ2File),
    ".xz": (b"\xfd7zXZ\x00", lzma.LZMAFile),
    ".zst": (b"\x28\xb5\x2f\xfd", _ZstdFile),
}


def is_packed(path: str) -> bool:
    """Say whether a file is a cache of rows, by its first bytes."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe can be opened only once
            return False
        with open(path, "rb") as file:
            return file.read(8) == PACKED
    except OSError:
        return False


def plain_name(path: str) -> str:
    """Return the name of a file without the ending of its compression."""
    stem, ending = os.path.splitext(path)
    return stem if ending in _OPENERS else path


def open_raw(path: str) -> io.FileIO:
    """Open the bytes of a file, or "-", as they are."""
    if path == "-":
        if sys.stdin is None:
            raise DataError("standard input", expected="it is closed; name a file")
        return io.FileIO(sys.stdin.fileno(), closefd=False)
    if Path(path).is_dir():
        raise DataError(path, expected="this is a folder; name a file in it")
    try:
        return io.FileIO(path)
    except FileNotFoundError:
        raise DataError(path, expected="there is no such file") from None
    except PermissionError:
        raise DataError(path, expected="this file may not be read") from None


class ByteStream(io.RawIOBase):
    """The decompressed bytes of a file; a fault says at which byte of the file it is."""

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == "-" else path
        self._raw = open_raw(path)
        self.size: int | None = None
        if path != "-":
            info = os.fstat(self._raw.fileno())
            if stat.S_ISREG(info.st_mode):
                self.size = info.st_size
        self._abandoned = False
        self._arrivals = select.poll()
        self._arrivals.register(self._raw, select.POLLIN)
        self._taken = 0
        self._ahead = b""  # taken but not handed on yet
        self._bytes = cast(BinaryIO, io.BufferedReader(_Counted(self), 1 << 18))
        ending = os.path.splitext(path)[1]
        magic, opener = _OPENERS.get(ending, (b"", None))
        if opener is not None:
            start = self._bytes.peek(8)[: len(magic)]  # type: ignore[attr-defined]
            if start != magic:
                what = "is empty" if not start else f"is not {ending[1:]}: wrong first bytes"
                raise DataError(self.name, expected=f"{what} (byte 0)")
        # A pipe says by its first bytes whether it is compressed, when they are there.
        self._unknown = opener is None and self.size is None
        self._stream: Any = self._bytes if opener is None else opener(self._bytes)
        self._plain = opener is None

    @property
    def position(self) -> int:
        """Bytes of the file taken so far, for progress."""
        return self._taken

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; 0 at the end."""
        try:
            if self._unknown:
                self._look()
            if self._plain:
                return int(self._stream.readinto1(buffer))
            data = self._stream.read(len(buffer))
            buffer[: len(data)] = data
            return len(data)
        except (DataError, Interrupted):
            raise
        except Exception as error:  # each kind of compression has errors of its own
            if isinstance(error, MemoryError):
                raise
            reason = str(error) or "the data ends too early"
            raise DataError(
                self.name, expected=f"reading failed near byte {self._taken}: {reason}"
            ) from None

    def _look(self) -> None:
        """Find out whether a pipe is compressed."""
        self._unknown = False
        start = b""
        while any(m.startswith(start) and len(start) < len(m) for m, _ in _OPENERS.values()):
            some = bytearray(8)
            taken = self._take(some)
            if not taken:
                break
            start += some[:taken]
        self._ahead = start
        for magic, opener in _OPENERS.values():
            if start.startswith(magic):
                self._stream, self._plain = opener(self._bytes), False

    def waiting(self) -> bool:
        """Say whether bytes, or the end, can be read at once."""
        return bool(self._arrivals.poll(0))

    def abandon(self) -> None:
        """Raise Interrupted in whatever waits for a pipe to give more."""
        self._abandoned = True

    def _take(self, buffer: Any) -> int:
        while not self._arrivals.poll(_PATIENCE):
            if self._abandoned:
                raise Interrupted
        taken = self._raw.readinto(buffer) or 0
        self._taken += taken
        return taken

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._raw.close()
        super().close()


class _Counted(io.RawIOBase):
    def __init__(self, owner: ByteStream) -> None:
        self._owner = owner

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        ahead = self._owner._ahead[: len(buffer)]
        if not ahead:
            return self._owner._take(buffer)
        buffer[: len(ahead)] = ahead
        self._owner._ahead = self._owner._ahead[len(ahead) :]
        return len(ahead)


def open_bytes(path: str) -> ByteStream:
    """Open a file, "-" for standard input, or a pipe, decompressed by ending or first bytes."""
    return ByteStream(path)
