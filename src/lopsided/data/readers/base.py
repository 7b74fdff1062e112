"""What all readers share: a reader is an iterable of blocks."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Literal, Protocol

from ...errors import DataError, InputError, Parameter, ParameterError, Text
from ...estimator.schema import Schema
from ..block import BadLines, Block

Missing = Literal["error", "indicate", "zero", "drop"]
MISSING = ("error", "indicate", "zero", "drop")
# Cells of numeric columns and labels that mean "missing"; in a column of text only "" does.
MISSING_WORDS = ("", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "?")
BLOCK_ROWS = 4096
CHUNK_BYTES = 1 << 20  # of text read at once
MAX_LINE_BYTES = 1 << 24
BOM = b"\xef\xbb\xbf"


class ByteSource(Protocol):
    """Where the bytes of a reader come from, as far as progress and interruption need it."""

    @property
    def name(self) -> str:
        """What to call it in messages."""

    @property
    def size(self) -> int | None:
        """Bytes of the file; None for a pipe."""

    @property
    def position(self) -> int:
        """Bytes of the file consumed so far."""

    def abandon(self) -> None:
        """Raise InterruptedReadError in whatever waits for more bytes."""


class Reader(abc.ABC):
    """A stream of blocks.

    Parameters
    ----------
    labelled : bool
        Whether every row must have a label.
    bad : BadLines, optional
        Tolerated bad rows. Whoever uses the blocks adds the rows that it has to reject.

    Attributes
    ----------
    stream : ByteSource or None
        Where the bytes come from; None if the file is read by a library.
    notes : list of texts
        What may not be as intended, for the user.
    """

    stream: ByteSource | None = None

    def __init__(self, *, labelled: bool, bad: BadLines | None) -> None:
        self.bad = BadLines() if bad is None else bad
        self.notes: list[Text] = []
        self._labelled = labelled
        self._dropped = 0
        self._used = False

    @classmethod
    def options(cls) -> frozenset[str]:
        """Return the names of the keyword parameters."""
        return frozenset(cls.__init__.__kwdefaults__ or ())

    def schema(self) -> Schema | None:
        """Return how the data is read, for a model that learns from it; None if nothing says it."""
        return None

    @property
    def dropped(self) -> int:
        """Rows left out so far because a value is missing."""
        return self._dropped

    @abc.abstractmethod
    def __iter__(self) -> Iterator[Block]:
        """Yield blocks."""

    def _use(self) -> None:
        """Raise at the second attempt to read a stream that can be read only once."""
        if self._used:
            raise InputError("a reader is used once; make another to read again")
        self._used = True


def too_long(file: str, line: int, start: bytes, most: int) -> DataError:
    """Return the error for a line that takes more memory than it may."""
    shown = start[:200].decode("utf-8", "backslashreplace")
    remedy = (("raise ", Parameter("max_line_bytes")),)
    return DataError(file, line, None, shown, f"a line of at most {most} bytes", remedy=remedy)


def check_options(missing: str, block_rows: int) -> None:
    """Raise if an option that readers share is wrong."""
    if missing not in MISSING:
        raise ParameterError(
            "missing", f"is one of {', '.join(map(repr, MISSING))}, not {missing!r}"
        )
    if block_rows < 1:
        raise ParameterError("block_rows", f"is 1 or more, not {block_rows}")
