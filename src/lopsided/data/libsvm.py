"""LIBSVM text, parsed by the core while the model learns from what came before."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import cycle

from .. import _core
from .block import BadLines, Block, DataError
from .files import PACKED, ByteStream, open_bytes

MAX_FEATURES = 50_000_000
_PIECE = 1 << 20  # bytes of text a block
_PARSERS = 2  # threads that parse
_AHEAD = 4  # pieces that are read, parsed or ready while one is learned from


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
        with (
            closing(self.stream),
            ThreadPoolExecutor(_PARSERS) as parsers,
            ThreadPoolExecutor(1) as reader,
            self._abandoning(),
        ):
            pieces = self._parsed(parsers)
            coming = deque(reader.submit(next, pieces, None) for _ in range(_AHEAD))
            while (parsing := coming.popleft().result()) is not None:
                parsed = parsing.result()
                coming.append(reader.submit(next, pieces, None))
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

    @contextmanager
    def _abandoning(self) -> Iterator[None]:
        """Let no thread wait for bytes once the blocks are no longer asked for."""
        try:
            yield
        finally:
            self.stream.abandon()

    def _parsed(self, parsers: ThreadPoolExecutor) -> Iterator[Future[_core.LibsvmBlock]]:
        for piece in self._pieces():
            if piece[:8] == PACKED:
                raise DataError(
                    self.stream.name,
                    expected="this is a cache: name it as a plain file, by its own name",
                )
            if self.base is None:  # read as if from 0: does index 0 occur?
                block = self._parse(piece, 0, self._max_features + 1)
                if block.columns:
                    self.base = 0 if block.has_zero else 1
            yield parsers.submit(self._parse_once, piece, self.base or 0)

    def _parse(self, piece: memoryview, base: int, limit: int) -> _core.LibsvmBlock:
        return _core.parse_libsvm(piece, 1, base, limit, self._labelled, self.bad.allowed)

    def _parse_once(self, piece: memoryview, base: int) -> _core.LibsvmBlock:
        with piece:  # gives the buffer back before anybody knows of the result
            return self._parse(piece, base, self._max_features)

    def _pieces(self) -> Iterator[memoryview]:
        """Yield the text in pieces of whole lines, each good until `_AHEAD` more are asked for."""
        rest = b""
        for buffer in cycle([bytearray(self._piece) for _ in range(_AHEAD)]):
            buffer[: len(rest)] = rest
            filled, end = len(rest), 0
            while end == 0 or (filled < len(buffer) and self.stream.waiting()):
                taken = self._fill(buffer, filled)
                if taken == 0:  # the last line may lack its newline
                    end = filled
                    break
                end = max(end, buffer.rfind(b"\n", filled, filled + taken) + 1)
                filled += taken
            if end == 0:
                return
            rest = bytes(memoryview(buffer)[end:filled])
            yield memoryview(buffer)[:end]

    def _fill(self, buffer: bytearray, filled: int) -> int:
        if filled == len(buffer):  # a line longer than the buffer
            buffer.extend(bytes(len(buffer)))
        with memoryview(buffer)[filled:] as free:
            return self.stream.readinto(free)
