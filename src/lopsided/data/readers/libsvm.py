"""LIBSVM text, parsed by the core while the model learns from what came before."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from typing import cast

from ... import _core
from ..block import BadLines, Block, DataError
from .files import PACKED, ByteStream, open_bytes

MAX_FEATURES = 50_000_000
_PIECE = 1 << 20  # bytes of text a block


def _threads() -> int:
    """Return how many threads read and parse."""
    return min(4, _core.threads_allowed())


class LibsvmReader:
    """Read LIBSVM text as a stream of blocks.

    Parameters
    ----------
    path : str
        A file, plain or compressed, or "-".
    base : {0, 1}, optional
        What the first column is called. Default: 0 if index 0 occurs in the first block.
    max_features : int
        An index beyond this is an error, not an attempt to make room for it.
    labelled : bool
        Whether every line must have a label.
    bad : BadLines, optional
        Tolerated bad lines.
    piece : int
        Bytes of text a block.
    """

    def __init__(
        self,
        path: str,
        *,
        base: int | None = None,
        max_features: int = MAX_FEATURES,
        labelled: bool = True,
        bad: BadLines | None = None,
        piece: int = _PIECE,
    ) -> None:
        self.stream: ByteStream = open_bytes(path)
        self.bad = BadLines() if bad is None else bad
        self.base = base
        self._max_features = max_features
        self._labelled = labelled
        self._piece = piece

    def __iter__(self) -> Iterator[Block]:
        """Yield blocks; the next ones are read and parsed while this one is used."""
        rows = before = 0
        pieces = _Pieces(self.stream, self._piece)
        parse = self._one_by_one if _threads() == 1 else self._ahead
        with closing(self.stream), closing(parse(pieces)) as blocks:
            for parsed in blocks:
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

    def _one_by_one(self, pieces: _Pieces) -> Generator[_core.LibsvmBlock, None, None]:
        """With a single processor a piece is parsed and used while it is still near."""
        while (piece := pieces.take(self._look)) is not None:
            yield self._parse(pieces, piece)

    def _ahead(self, pieces: _Pieces) -> Generator[_core.LibsvmBlock, None, None]:
        """Read and parse in threads, each its piece; the blocks come in the order of the text.

        This thread does so too when the next block is not there yet, if it is sure not to wait for
        the bytes of a pipe.
        """
        helps = self.stream.size is not None
        others = _threads() - helps
        turn = count()
        made: dict[int, _core.LibsvmBlock | Exception | None] = {}
        lock = threading.Lock()

        def work() -> None:
            piece: memoryview | None = None
            with lock:  # who comes first reads first
                number = next(turn)
                try:
                    piece = pieces.take(self._look)
                except Exception as error:
                    made[number] = error
                    pieces.end()
                    return
            try:
                made[number] = None if piece is None else self._parse(pieces, piece)
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
                        else:  # another thread may have been first
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
            finally:  # nobody waits for bytes once the blocks are no longer asked for
                self.stream.abandon()
                pool.shutdown(cancel_futures=True)

    def _look(self, piece: memoryview) -> None:
        """Find out from the first pieces what the first column is called."""
        if piece[:7] == PACKED[:7]:  # a whole line
            raise DataError(
                self.stream.name,
                expected="this is a cache: name it as a plain file, by its own name",
            )
        if self.base is None:  # read as if from 0: does index 0 occur?
            block = self._read(piece, 0, self._max_features + 1)
            if block.columns:
                self.base = 0 if block.has_zero else 1

    def _parse(self, pieces: _Pieces, piece: memoryview) -> _core.LibsvmBlock:
        block = self._read(piece, self.base or 0, self._max_features)
        pieces.give_back(piece)
        return block

    def _read(self, piece: memoryview, base: int, limit: int) -> _core.LibsvmBlock:
        return _core.parse_libsvm(piece, 1, base, limit, self._labelled, self.bad.allowed)


class _Pieces:
    """Text in pieces of whole lines, in buffers that are used again."""

    def __init__(self, stream: ByteStream, size: int) -> None:
        self._stream = stream
        self._size = size
        self._free: list[bytearray] = []
        self._rest = b""
        self._ended = False

    def take(self, look: Callable[[memoryview], None]) -> memoryview | None:
        """Return the next piece once it was looked at, or None at the end."""
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
        piece = memoryview(buffer)[:end]
        look(piece)
        return piece

    def give_back(self, piece: memoryview) -> None:
        """Let the buffer of a piece be used again."""
        buffer = piece.obj
        piece.release()
        self._free.append(cast(bytearray, buffer))

    def end(self) -> None:
        """Give no more pieces."""
        self._ended = True

    def _fill(self, buffer: bytearray, filled: int) -> int:
        if filled == len(buffer):  # a line longer than the buffer
            buffer.extend(bytes(len(buffer)))
        with memoryview(buffer)[filled:] as free:
            return self._stream.readinto(free)
