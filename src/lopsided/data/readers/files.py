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

from ...errors import DataError, InterruptedReadError

ROW_CACHE_MAGIC = b"\x89lopc\r\n\x1a"  # no text starts like this
_ZSTD_BYTES = 1024
_POLL_MILLISECONDS = 100  # how often a read from a pipe checks whether it was abandoned


class _ZstdFile:
    """Consecutive zstd frames; the library's own reader accepts a truncated file."""

    def __init__(self, raw: BinaryIO) -> None:
        import zstandard

        self._raw = raw
        self._start = zstandard.ZstdDecompressor().decompressobj
        self._frame = self._start()
        self._left = memoryview(b"")

    def read(self, size: int) -> bytes:
        while not self._left:
            if self._frame.eof:
                data = self._frame.unused_data or self._take()
                if not data:
                    return b""
                self._frame = self._start()
            else:
                data = self._take()
                if not data:
                    raise EOFError("the file ends within a frame")
            self._left = memoryview(self._frame.decompress(data))
        some, self._left = bytes(self._left[:size]), self._left[size:]
        return some

    def _take(self) -> bytes:
        """Return the next compressed bytes: few, for each may become 32 kB."""
        return self._raw.read1(_ZSTD_BYTES)  # type: ignore[attr-defined, no-any-return]


_OPENERS: dict[str, tuple[bytes, Callable[[Any], Any]]] = {
    ".gz": (b"\x1f\x8b", lambda raw: gzip.GzipFile(fileobj=raw)),
    ".bz2": (b"BZh", bz2.BZ2File),
    ".xz": (b"\xfd7zXZ\x00", lzma.LZMAFile),
    ".zst": (b"\x28\xb5\x2f\xfd", _ZstdFile),
}


def is_row_cache(path: str) -> bool:
    """Say whether a file is a row cache, by its first bytes."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe can be opened only once
            return False
        with open(path, "rb") as file:
            return file.read(8) == ROW_CACHE_MAGIC
    except OSError:
        return False


def plain_name(path: str) -> str:
    """Return the name of a file without the extension of its compression."""
    stem, extension = os.path.splitext(path)
    return stem if extension in _OPENERS else path


def open_raw(path: str) -> io.FileIO:
    """Open a file, or "-", without decompression."""
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


class _Source(io.RawIOBase):
    """The bytes of a file or pipe as they are: counted, and abandoned on request."""

    def __init__(self, path: str) -> None:
        self._raw = open_raw(path)
        info = os.fstat(self._raw.fileno())
        is_file = path != "-" and stat.S_ISREG(info.st_mode)
        self.size = info.st_size if is_file else None
        self.position = 0
        self.abandoned = False
        self._poll = select.poll()
        self._poll.register(self._raw, select.POLLIN)
        self._pushed_back = b""

    def readable(self) -> bool:
        return True

    def ready(self, milliseconds: int = 0) -> bool:
        return bool(self._poll.poll(milliseconds))

    def push_back(self, data: bytes) -> None:
        """Make these bytes the next ones to be read."""
        self._pushed_back = data + self._pushed_back

    def readinto(self, buffer: Any) -> int:
        if self._pushed_back:
            size = min(len(buffer), len(self._pushed_back))
            buffer[:size] = self._pushed_back[:size]
            self._pushed_back = self._pushed_back[size:]
            return size
        while not self.ready(_POLL_MILLISECONDS):
            if self.abandoned:
                raise InterruptedReadError
        size = self._raw.readinto(buffer) or 0
        self.position += size
        return size

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class ByteStream(io.RawIOBase):
    """The decompressed bytes of a file; an error says at which byte of the file it occurred."""

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == "-" else path
        self._source = _Source(path)
        self._buffered = cast(BinaryIO, io.BufferedReader(self._source, 1 << 18))
        extension = os.path.splitext(path)[1]
        magic, opener = _OPENERS.get(extension, (b"", None))
        if opener is not None:
            start = self._buffered.peek(8)[: len(magic)]  # type: ignore[attr-defined]
            if start != magic:
                what = "is empty" if not start else f"is not {extension[1:]}: wrong first bytes"
                raise DataError(self.name, expected=f"{what} (byte 0)")
        # Whether a pipe is compressed is known only once its first bytes have arrived.
        self._unknown = opener is None and self.size is None
        self._stream: Any = self._buffered if opener is None else opener(self._buffered)
        self._plain = opener is None

    @property
    def size(self) -> int | None:
        """Bytes of the file; None for a pipe."""
        return self._source.size

    @property
    def position(self) -> int:
        """Bytes of the file consumed so far, for progress."""
        return self._source.position

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; 0 at the end."""
        try:
            if self._unknown:
                self._detect_compression()
            if self._plain:
                return int(self._stream.readinto1(buffer))
            data = self._stream.read(len(buffer))
            buffer[: len(data)] = data
            return len(data)
        except (DataError, InterruptedReadError):
            raise
        except Exception as error:  # each kind of compression has its own errors
            if isinstance(error, MemoryError):
                raise
            reason = str(error) or "the data ends too early"
            raise DataError(
                self.name, expected=f"reading failed near byte {self.position}: {reason}"
            ) from None

    def read_available(self, size: int) -> bytes:
        """Return up to `size` bytes, none at the end.

        A pipe is not waited for once it has given a byte, but drained while it has more.
        """
        first = self.read(size) or b""
        if not first or len(first) >= size or self.size is not None:
            return first
        parts, length = [first], len(first)
        while length < size and self.waiting():
            more = self.read(size - length) or b""
            if not more:
                break
            parts.append(more)
            length += len(more)
        return b"".join(parts)

    def _detect_compression(self) -> None:
        """Tell by the first bytes of a pipe whether it is compressed."""
        self._unknown = False
        start = b""
        while any(m.startswith(start) and len(start) < len(m) for m, _ in _OPENERS.values()):
            some = bytearray(8)
            size = self._source.readinto(some)
            if not size:
                break
            start += some[:size]
        self._source.push_back(start)
        for magic, opener in _OPENERS.values():
            if start.startswith(magic):
                self._stream, self._plain = opener(self._buffered), False

    def waiting(self) -> bool:
        """Say whether bytes, or the end, can be read without waiting."""
        return self._source.ready()

    def abandon(self) -> None:
        """Raise InterruptedReadError in whatever waits for more bytes of a pipe."""
        self._source.abandoned = True

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._source.close()
        super().close()


def open_bytes(path: str) -> ByteStream:
    """Open a file, "-" for standard input, or a pipe; decompress by extension or first bytes."""
    return ByteStream(path)
