"""LIBSVM text, parsed by the core while the model learns from what came before."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from .. import _core
from .block import BadLines, Block, DataError
from .files import ByteStream, open_bytes

MAX_FEATURES = 50_000_000
_PIECE = 1 << 21  # bytes of text a block


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
        self._base = base
        self._max_features = max_features
        self._labelled = labelled
        self._piece = piece

    def __iter__(self) -> Iterator[Block]:
        """Yield blocks; the next one is read and parsed while this one is used."""
        with ThreadPoolExecutor(1) as ahead:
            pieces = self._parsed()
            coming: Future[_core.LibsvmBlock | None] = ahead.submit(next, pieces, None)
            rows = 0
            while (parsed := coming.result()) is not None:
                coming = ahead.submit(next, pieces, None)
                for line, column, text, expected in parsed.faults:
                    shown = text.decode("utf-8", "backslashreplace")
                    self.bad.add(DataError(self.stream.name, line, column, shown, expected))
                lines = parsed.lines
                rows += len(lines)
                if len(lines):
                    yield Block(
                        parsed,
                        parsed.labels if parsed.labelled else None,
                        None,
                        lines,
                        self.stream.name,
                    )
            if rows == 0:
                raise DataError(self.stream.name, expected="there are no rows in it")

    def _parsed(self) -> Iterator[_core.LibsvmBlock]:
        line = 1
        for piece in self._pieces():
            block = self._parse(piece, line)
            line += block.lines_read
            yield block

    def _parse(self, piece: memoryview, line: int) -> _core.LibsvmBlock:
        base, limit = self._base, self._max_features
        if base is None:  # read as if from 0, and again from 1 if index 0 does not occur
            base, limit = 0, limit + 1
        block = _core.parse_libsvm(piece, line, base, limit, self._labelled, self.bad.allowed)
        if self._base is None and block.columns:
            self._base = 0 if block.has_zero else 1
            if self._base == 1:
                return self._parse(piece, line)
        return block

    def _pieces(self) -> Iterator[memoryview]:
        """Yield the text in pieces of whole lines, each good until the next is asked for."""
        buffer, filled = bytearray(self._piece), 0
        while taken := self._fill(buffer, filled):
            end = buffer.rfind(b"\n", filled, filled + taken) + 1
            filled += taken
            if end == 0:
                if filled == len(buffer):  # a line longer than the buffer
                    buffer.extend(bytes(len(buffer)))
                continue
            with memoryview(buffer)[:end] as piece:
                yield piece
            rest = filled - end
            buffer[:rest] = buffer[end:filled]
            filled = rest
        if filled:
            with memoryview(buffer)[:filled] as piece:
                yield piece

    def _fill(self, buffer: bytearray, filled: int) -> int:
        with memoryview(buffer)[filled:] as free:
            return self.stream.readinto(free)
