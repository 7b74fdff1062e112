"""Bytes as they arrive: no waiting for more than is there, no small pieces while there is more."""

from __future__ import annotations

from .files import ByteStream


def read_some(stream: ByteStream, size: int) -> bytes:
    """Return up to `size` bytes, none at the end; of a pipe what it holds now, at least one."""
    first = stream.read(size) or b""
    if not first or len(first) >= size or stream.size is not None:
        return first
    parts, length = [first], len(first)
    while length < size and stream.waiting():
        more = stream.read(size - length) or b""
        if not more:
            break
        parts.append(more)
        length += len(more)
    return b"".join(parts)
