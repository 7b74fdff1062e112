"""Events and labels from a file of JSON lines, without a network."""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .commands.feed import Message, take
from .sequencer import Transaction

if TYPE_CHECKING:
    from .server import Service

_GROUP = 1000


def _take(stream: str, messages: list[Message], tx: Transaction) -> list[bytes]:
    return take(tx, stream, messages)


def take_lines(service: Service, stream: str, lines: Iterable[bytes]) -> Iterator[bytes]:
    """Take lines in groups; yield an answer, result or error for each, once it is durable.

    Lines may be taken again: what is known gets its first answer.

    Parameters
    ----------
    service : Service
        The folder.
    stream : str
        The name of the stream.
    lines : iterable of bytes
        Each an event or a label as JSON, with its key; empty ones are left out.
    """
    given = (line for line in lines if line.strip())
    while group := list(itertools.islice(given, _GROUP)):
        messages = [Message("", 0, 0, None, line) for line in group]
        yield from service.do(functools.partial(_take, stream, messages))
    service.sequencer.snapshot(time.time())
