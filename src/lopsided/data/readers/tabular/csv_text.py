"""CSV text split into rows, with their lines and cells.

The rules are those of RFC 4180 as Arrow implements it: a quote opens a quoted part only at the
start of a cell, a doubled quote is a quote, and a row ends at a line feed, a carriage return or
both.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .... import _core
from ....errors import DataError
from ..base import BOM, CHUNK_BYTES, MAX_LINE_BYTES, too_long
from ..files import ByteStream

_LINE_END = re.compile(rb"\r\n|\n|\r")
_LF, _CR = 10, 13


@dataclasses.dataclass
class Rows:
    """Consecutive rows of text. `ends` are the offsets after each line end."""

    text: bytes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    lines: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    def cut(self, first: int, last: int) -> Rows:
        """Return rows first to last - 1."""
        part = slice(first, last)
        return Rows(self.text, self.starts[part], self.ends[part], self.lines[part])

    def take(self, keep: list[int]) -> Rows:
        """Return some of the rows, with a text of their own."""
        parts = [self.text[int(self.starts[i]) : int(self.ends[i])] for i in keep]
        ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        return Rows(b"".join(parts), starts, ends, self.lines[keep])

    def joined(self) -> bytes:
        """Return the text of all rows."""
        return self.text[int(self.starts[0]) : int(self.ends[-1])] if len(self) else b""

    def row(self, i: int) -> bytes:
        """Return the text of one row, without its line end."""
        return self.text[int(self.starts[i]) : int(self.ends[i])].rstrip(b"\r\n")


class CsvText:
    """The rows of a stream of CSV text, chunk by chunk, in bounded memory.

    Parameters
    ----------
    stream : ByteStream
        The bytes.
    delimiter : str
        The character between cells.
    fault : callable
        Called with the error for a row that has no end.
    chunk_bytes : int
        Bytes read at once.
    max_row_bytes : int
        A longer row is an error: perhaps a quote was never closed.
    """

    def __init__(
        self,
        stream: ByteStream,
        delimiter: str,
        fault: Callable[[DataError], None],
        chunk_bytes: int = CHUNK_BYTES,
        max_row_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        self._max_row_bytes = max_row_bytes
        self._stream = stream
        self._chunk_bytes = chunk_bytes
        self._delimiter = delimiter
        self._fault = fault
        self._within_bad = False
        self._between = delimiter.encode()
        between = re.escape(delimiter).encode()
        # `\Z` inside the quotes: an unclosed quote extends to the end.
        self._cell = re.compile(
            rb'(?:"([^"]*(?:""[^"]*)*)(?:"|\Z))?([^' + between + rb"\r\n]*)"
            rb"(" + between + rb"|\r\n|\n|\r|\Z)"
        )

    def cells(self, row: bytes) -> list[bytes]:
        """Return the cells of one row, without their quotes."""
        if b'"' not in row and b"\r" not in row and b"\n" not in row:
            return row.split(self._between)
        cells = []
        for match in self._cell.finditer(row):
            quoted, plain, end = match.groups()
            cells.append(plain if quoted is None else quoted.replace(b'""', b'"') + plain)
            if not end:
                break
        return cells

    def __iter__(self) -> Iterator[Rows]:
        """Yield the rows that have arrived; on a pipe that may be few at a time."""
        buffer, line, ended = b"", 1, False
        while buffer or not ended:
            if not ended:
                got = self._stream.read_available(max(self._chunk_bytes, len(buffer)))
                ended = not got
                first = line == 1 and not buffer
                buffer += got.removeprefix(BOM) if first else got
            if self._within_bad:  # the rest of a row that was left out, up to its line end
                end = _LINE_END.search(buffer)
                buffer, self._within_bad = (buffer[end.start() :], False) if end else (b"", True)
            if ended and buffer and buffer[-1] not in (_LF, _CR):
                buffer += b"\n"
            rows, taken, lines_taken = self._rows(buffer, line, ended)
            if len(rows):
                yield rows
            buffer, line = buffer[taken:], line + lines_taken
            if buffer and (ended or len(buffer) > self._max_row_bytes):
                buffer, line = self._pass_over(buffer, line)

    def _rows(self, text: bytes, line: int, ended: bool) -> tuple[Rows, int, int]:
        """Return the complete rows of a text, and their number of bytes and lines."""
        starts, ends, lines, taken, lines_taken = _core.csv_rows(text, self._delimiter, line, ended)
        return Rows(text, starts, ends, lines), taken, lines_taken

    def _pass_over(self, buffer: bytes, line: int) -> tuple[bytes, int]:
        """Report a row without an end; continue with its second line."""
        match = _LINE_END.search(buffer)
        start = buffer[: match.start() if match else 200]
        error = too_long(self._stream.name, line, start, self._max_row_bytes)
        if b'"' in buffer:
            shown = start.decode("utf-8", "backslashreplace")
            error = DataError(self._stream.name, line, None, shown, 'a closing quote (")')
        self._fault(error)
        self._within_bad = match is None
        return (buffer[match.end() :], line + 1) if match else (b"", line)
