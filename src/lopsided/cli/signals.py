"""Ctrl-C and SIGTERM: commands stop between rows, by an exception, or not in between."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType

_STOPS = (signal.SIGINT, signal.SIGTERM)


def _on_stop(handle: Callable[[int], None]) -> None:
    """Call `handle` with the exit code when the process is asked to stop."""

    def handler(number: int, _frame: FrameType | None) -> None:
        handle(128 + number)

    for number in _STOPS:
        signal.signal(number, handler)


def stop_by_exception() -> None:
    """Let Ctrl-C and SIGTERM raise KeyboardInterrupt, with the exit code."""

    def stop(code: int) -> None:
        raise KeyboardInterrupt(code)

    _on_stop(stop)


class StopRequest:
    """Remembers Ctrl-C or SIGTERM, for a loop that stops at its next safe point.

    Parameters
    ----------
    then : callable
        Called at once, for example to stop waiting for input.

    Attributes
    ----------
    code : int
        The exit code, 0 as long as nobody has asked to stop.
    """

    def __init__(self, then: Callable[[], None]) -> None:
        self.code = 0
        self._then = then
        _on_stop(self._remember)

    def _remember(self, code: int) -> None:
        if self.code:  # the second request is served at once
            os._exit(code)
        self.code = code
        self._then()


@contextlib.contextmanager
def not_stopped() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM until the end of the block."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
