"""Ctrl-C and SIGTERM."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

_STOPS = (signal.SIGINT, signal.SIGTERM)


def stop_by_exception() -> None:
    """Let Ctrl-C and SIGTERM raise KeyboardInterrupt, with the exit code."""

    def stop(number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt(128 + number)

    for number in _STOPS:
        signal.signal(number, stop)


@contextlib.contextmanager
def not_stopped() -> Iterator[None]:
    """Put off Ctrl-C and SIGTERM until the end of the block."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
