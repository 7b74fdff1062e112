"""Row caches: the rows of LIBSVM text in a binary file that is memory-mapped.

A file has a header of 64 bytes, blocks of rows (`cpp/core/input/row_cache.hpp`), and a description
in JSON, to which the header points. Header, blocks and description have a checksum each.
"""

from __future__ import annotations

import dataclasses
import json
import mmap
import os
import stat
import struct
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ... import _core
from ..._atomic import atomic_file
from ...errors import DataError
from ..block import BadLines, Block
from .base import Reader
from .files import ROW_CACHE_MAGIC, is_row_cache, open_raw
from .libsvm import DEFAULT_MAX_FEATURES, LibsvmReader

_VERSION = 1
_HEAD = struct.Struct("<8sIIQQQ16xQ")  # magic, version, 0, place, size and sum of the description


@dataclasses.dataclass
class SourceText:
    """The text that a cache was made from, as it was at that time."""

    name: str
    size: int | None = None
    mtime_ns: int | None = None

    @classmethod
    def of(cls, path: str, cache: str) -> SourceText:
        """Describe a file, relative to its cache; of a pipe only the name is known."""
        if path == "-":
            return cls("standard input")
        info = os.stat(path)
        if not stat.S_ISREG(info.st_mode):
            return cls(path)
        name = os.path.relpath(os.path.realpath(path), os.path.dirname(os.path.realpath(cache)))
        return cls(name, info.st_size, info.st_mtime_ns)

    def state(self, cache: str) -> str:
        """Say whether the text is unchanged since the cache was made."""
        if self.size is None:
            return "not known any more"
        path = os.path.join(os.path.dirname(os.path.realpath(cache)), self.name)
        if not os.path.isfile(path):
            return "no longer there"
        return "unchanged" if SourceText.of(path, cache) == self else "changed"


@dataclasses.dataclass
class Description:
    """What a cache holds."""

    rows: int
    nonzeros: int
    columns: int
    blocks: int
    left_out: int
    source: SourceText

    @classmethod
    def of(cls, text: bytes) -> Description:
        """Parse a description; raise some error if it is malformed."""
        about = json.loads(text)
        about["source"] = SourceText(**about["source"])
        made = cls(**about)
        numbers = (made.rows, made.nonzeros, made.columns, made.blocks, made.left_out)
        times = (made.source.size or 0, made.source.mtime_ns or 0)
        if not all(type(n) is int for n in numbers + times) or type(made.source.name) is not str:
            raise TypeError
        return made

    def table(self, path: str) -> list[tuple[str, str]]:
        """Return the description as rows of a table."""
        source, rows = self.source, [("rows", f"{self.rows:,}")]
        rows += [("non-zeros", f"{self.nonzeros:,}"), ("columns", f"{self.columns:,}")]
        rows += [("bad lines left out", f"{self.left_out:,}"), ("source", source.name)]
        if source.size is not None and source.mtime_ns is not None:
            when = datetime.fromtimestamp(source.mtime_ns / 1e9)
            rows += [("its size", f"{source.size:,} bytes")]
            rows += [("its last change", f"{when:%Y-%m-%d %H:%M:%S}")]
        return [*rows, ("it is", source.state(path))]


def write_row_cache(
    path: str, out: str, *, bad: BadLines | None = None, **options: Any
) -> Description:
    """Write the rows of a LIBSVM file into a cache, atomically."""
    if os.path.exists(out) and not os.path.isfile(out):
        raise DataError(out, expected="this is not a plain file; name one")
    if is_row_cache(path):
        raise DataError(path, expected="this is a cache already")
    reader = LibsvmReader(path, bad=bad, **options)
    about = Description(0, 0, 0, 0, 0, SourceText.of(path, out))
    with atomic_file(out) as file:
        file.write(bytes(_HEAD.size))
        for block in reader:
            file.write(_core.pack(block.X, int(block.lines[0] - block.X.lines[0])))
            about.rows += len(block.lines)
            about.nonzeros += block.X.stored
            about.columns = max(about.columns, block.X.columns)
            about.blocks += 1
        if about.source != SourceText.of(path, out):
            raise DataError(path, expected="this file changed while it was read; try again")
        about.left_out = len(reader.bad.found)
        text = json.dumps(dataclasses.asdict(about)).encode()
        place = file.tell()
        file.write(text)
        file.seek(0)
        file.write(_head(place, len(text), _core.checksum(text)))
    return about


def _head(place: int, size: int, total: int) -> bytes:
    head = _HEAD.pack(ROW_CACHE_MAGIC, _VERSION, 0, place, size, total, 0)[:-8]
    return head + struct.pack("<Q", _core.checksum(head))


@dataclasses.dataclass
class _Place:
    """How much of a file was read, for progress."""

    name: str
    size: int
    position: int = 0

    def abandon(self) -> None:
        """Do nothing: reading a file does not block."""


class RowCacheReader(Reader):
    """Read a cache as a stream of blocks.

    The file is memory-mapped: it must not be modified in place while it is read. Replacing it by
    another file is safe.

    Parameters
    ----------
    path : str
        A file written by `lopsided data cache`.
    max_features : int
        More columns are an error.
    labelled : bool
        Whether every row must have a label.
    fresh : bool
        Whether it is an error if the text has changed since the cache was made.
    bad : BadLines, optional
        Tolerated rows that cannot be learned from; bad lines are not in a cache.
    """

    def __init__(
        self,
        path: str,
        *,
        max_features: int = DEFAULT_MAX_FEATURES,
        labelled: bool = True,
        fresh: bool = True,
        bad: BadLines | None = None,
    ) -> None:
        super().__init__(labelled=labelled, bad=bad)
        self._path = path
        with open_raw(path) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise self._error("a cache is read where it stands in memory: name a plain file")
            self._size = os.fstat(file.fileno()).st_size
            if self._size < _HEAD.size:
                raise self._error("this is no cache, or it is cut short")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.stream: _Place = _Place(path, self._size)
        self._end, self.about = self._described()
        if self.about.columns > max_features:
            raise self._error(
                f"it has {self.about.columns:,} columns and the limit is {max_features:,} "
                "(the limit is max_features)"
            )
        if fresh and self.about.source.state(path) == "changed":
            raise self._error(
                f"{self.about.source.name} is not as it was when this cache was made; write it "
                "again with `lopsided data cache`"
            )

    def __iter__(self) -> Iterator[Block]:
        """Yield the same blocks as the reader of the text."""
        place, rows = _HEAD.size, 0
        while place < self._end:
            try:
                block = _core.PackedBlock(memoryview(self._map)[: self._end], place)
            except ValueError as error:
                raise self._error(f"{error} (byte {place}); write it again") from None
            if block.columns > self.about.columns:  # which are within the limit
                raise self._error(
                    f"a block has {block.columns:,} columns and the cache should have "
                    f"{self.about.columns:,} (byte {place}); write it again"
                )
            lines = block.lines
            if self._labelled and not block.labelled:
                raise DataError(self._path, int(lines[0]), expected="a label on every row")
            self.stream.position = place + block.size
            yield Block(block, block.labels if block.labelled else None, None, lines, self._path)
            place += block.size
            rows += len(lines)
        if rows != self.about.rows:
            raise self._error(f"it has {rows:,} rows and should have {self.about.rows:,}")

    def _error(self, what: str) -> DataError:
        return DataError(self._path, expected=what)

    def _described(self) -> tuple[int, Description]:
        head = self._map[: _HEAD.size]
        magic, version, _, place, size, total, own = _HEAD.unpack(head)
        if magic != ROW_CACHE_MAGIC:
            raise self._error("this is no cache: wrong first bytes")
        if own != _core.checksum(head[:-8]):
            raise self._error("the checksum of its head is wrong; write it again")
        if version != _VERSION:
            raise self._error(f"it has format {version} and this version reads format {_VERSION}")
        if place + size != self._size:
            raise self._error(f"it should have {place + size:,} bytes and has {self._size:,}")
        text = self._map[place : place + size]
        if _core.checksum(text) != total:
            raise self._error("the checksum of its description is wrong; write it again")
        try:
            return place, Description.of(text)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise self._error("its description is not one of a cache; write it again") from None
