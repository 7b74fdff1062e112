"""LIBSVM text, parsed by the core while the model learns from earlier blocks."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from typing import cast

from ... import _core
from ...errors import DataError, ParameterError
from ..block import BadLines, Block
from .base import CHUNK_BYTES, MAX_LINE_BYTES, Reader, too_long
from .files import ROW_CACHE_MAGIC, ByteStream, open_bytes

DEFAULT_MAX_FEATURES = 50_000_000
_MOST_FEATURES = 2**31 - 2  # that the core can number


def _threads() -> int:
    """Return how many threads read and parse."""
    return min(4, _core.threads_allowed())


class LibsvmReader(Reader):
    """Read LIBSVM text as a stream of blocks.

    Parameters
    ----------
    path : str
        A file, plain or compressed, or "-".
    base : {0, 1}, optional
        Index of the first column. Default: 0 if index 0 occurs in the first block, else 1.
    max_features : int
        A larger index is an error instead of a huge allocation.
    labelled : bool
        Whether every line must have a label.
    bad : BadLines, optional
        Tolerated bad lines.
    chunk_bytes : int
        Bytes of text per block.
    max_line_bytes : int
        A longer line is an error instead of a huge allocation.
    """

    def __init__(
        self,
        path: str,
        *,
        base: int | None = None,
        max_features: int = DEFAULT_MAX_FEATURES,
        labelled: bool = True,
        bad: BadLines | None = None,
        chunk_bytes: int = CHUNK_BYTES,
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        super().__init__(labelled=labelled, bad=bad)
        if not 1 <= max_features <= _MOST_FEATURES:
            raise ParameterError(
                "max_features", f"is a number from 1 to {_MOST_FEATURES}", value=max_features
            )
        self.stream: ByteStream = open_bytes(path)
        self.base = base
        self._max_features = max_features
        self._chunk_bytes, self._max_line_bytes = chunk_bytes, max_line_bytes

    def __iter__(self) -> Iterator[Block]:
        """Yield blocks; the next ones are read and parsed while this one is used."""
        rows = before = 0
        chunks = _Chunks(self.stream, self._chunk_bytes, self._max_line_bytes)
        parse = self._one_by_one if _threads() == 1 else self._ahead
        with closing(self.stream), closing(parse(chunks)) as blocks:
            while (parsed := self._next(blocks, before)) is not None:
                for line, column, text, expected in parsed.faults:
                    shown = text.decode("utf-8", "backslashreplace")
                    place = before + line, column
                    self.bad.add(DataError(self.stream.name, *place, shown, expected))
                lines = parsed.lines + before
                before += parsed.lines_read
                rows += len(lines)
                if len(lines):
                    labels = parsed.labels if parsed.labelled else None
                    yield Block(parsed, labels, None, lines, self.stream.name)
        if rows == 0:
            raise DataError(self.stream.name, expected="there are no rows in it")

    def _next(self, blocks: Iterator[_core.LibsvmBlock], before: int) -> _core.LibsvmBlock | None:
        """Return the next block; an endless line is the first one after those before."""
        try:
            return next(blocks, None)
        except _LongLineError as error:
            raise too_long(
                self.stream.name, before + 1, error.start, self._max_line_bytes
            ) from None

    def _one_by_one(self, chunks: _Chunks) -> Generator[_core.LibsvmBlock, None, None]:
        """On a single core, parse a chunk when it is needed: it is still in the cache then."""
        while (chunk := chunks.take(self._look)) is not None:
            yield self._parse(chunks, chunk)

    def _ahead(self, chunks: _Chunks) -> Generator[_core.LibsvmBlock, None, None]:
        """Read and parse chunks in threads; yield the blocks in the order of the text.

        While the next block is not ready this thread parses too, unless it might have to wait for
        a pipe.
        """
        helps = self.stream.size is not None
        others = _threads() - helps
        turn = count()
        made: dict[int, _core.LibsvmBlock | Exception | None] = {}
        lock = threading.Lock()

        def work() -> None:
            chunk: memoryview | None = None
            with lock:  # chunks are numbered in the order they are read
                number = next(turn)
                try:
                    chunk = chunks.take(self._look)
                except Exception as error:
                    made[number] = error
                    chunks.end()
                    return
            try:
                made[number] = None if chunk is None else self._parse(chunks, chunk)
            except Exception as error:
                made[number] = error

        with ThreadPoolExecutor(others) as pool:
            try:
                coming = deque(pool.submit(work) for _ in range(2 * (others + helps)))
                for number in count():
                    while number not in made:
                        if helps and coming[-1].cancel():
                            coming.pop()
                            work()
                        else:  # another thread may have taken it
                            coming.popleft().result()
                    while coming and coming[0].done():
                        coming.popleft()
                    parsed = made.pop(number)
                    if parsed is None:
                        return
                    if isinstance(parsed, Exception):
                        raise parsed
                    coming.append(pool.submit(work))
                    yield parsed
            finally:  # the consumer has stopped: no thread may wait for bytes
                self.stream.abandon()
                pool.shutdown(cancel_futures=True)

    def _look(self, chunk: memoryview) -> None:
        """Detect the index of the first column."""
        if chunk[:7] == ROW_CACHE_MAGIC[:7]:  # the magic ends with a newline
            raise DataError(
                self.stream.name,
                expected="this is a cache: give the plain file, not a pipe or a compressed copy",
            )
        if self.base is None:  # parse as if it were 0: does index 0 occur?
            block = self._read(chunk, 0, self._max_features + 1)
            if block.columns:
                self.base = 0 if block.has_zero else 1

    def _parse(self, chunks: _Chunks, chunk: memoryview) -> _core.LibsvmBlock:
        block = self._read(chunk, self.base or 0, self._max_features)
        chunks.give_back(chunk)
        return block

    def _read(self, chunk: memoryview, base: int, limit: int) -> _core.LibsvmBlock:
        return _core.parse_libsvm(chunk, 1, base, limit, self._labelled, self.bad.allowed)


class _LongLineError(Exception):
    """A line without an end in sight."""

    def __init__(self, start: bytes) -> None:
        super().__init__()
        self.start = start


class _Chunks:
    """Text in chunks of complete lines, in recycled buffers."""

    def __init__(self, stream: ByteStream, size: int, max_line: int) -> None:
        self._stream = stream
        self._size, self._max_line = size, max_line
        self._free: list[bytearray] = []
        self._rest = b""
        self._ended = False

    def take(self, look: Callable[[memoryview], None]) -> memoryview | None:
        """Return the next chunk after calling `look` with it, or None at the end."""
        if self._ended:
            return None
        buffer = self._free.pop() if self._free else bytearray(self._size)
        filled, end = len(self._rest), 0
        buffer[:filled] = self._rest
        while end == 0 or (filled < len(buffer) and self._stream.waiting()):
            taken = self._fill(buffer, filled)
            if taken == 0:  # the last line may lack its newline
                end, self._ended = filled, True
                break
            end = max(end, buffer.rfind(b"\n", filled, filled + taken) + 1)
            filled += taken
        if end == 0:
            return None
        self._rest = bytes(memoryview(buffer)[end:filled])
        chunk = memoryview(buffer)[:end]
        look(chunk)
        return chunk

    def give_back(self, chunk: memoryview) -> None:
        """Recycle the buffer of a chunk."""
        buffer = chunk.obj
        chunk.release()
        self._free.append(cast(bytearray, buffer))

    def end(self) -> None:
        """Return no more chunks."""
        self._ended = True

    def _fill(self, buffer: bytearray, filled: int) -> int:
        if filled == len(buffer):  # a line longer than the buffer
            if filled > self._max_line:
                raise _LongLineError(bytes(memoryview(buffer)[:200]))
            buffer.extend(bytes(len(buffer)))
        with memoryview(buffer)[filled:] as free:
            return self._stream.readinto(free)
