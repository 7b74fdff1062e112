"""One thread at a time builds or replaces what an estimator has learned."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_first = threading.Lock()
_generation = 0  # of this process: one more in each child


def _in_child() -> None:
    """Forget locks that threads of the parent held, which are not there to release them."""
    global _first, _generation
    _first = threading.Lock()
    _generation += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def lock_of(owner: Any) -> threading.RLock:
    """Return the lock of an estimator."""
    made = getattr(owner, "_lock", None)
    if made is None or made[0] != _generation:
        with _first:
            made = getattr(owner, "_lock", None)
            if made is None or made[0] != _generation:
                made = _generation, threading.RLock()
                object.__setattr__(owner, "_lock", made)
    lock: threading.RLock = made[1]
    return lock


def locked(method: Callable[P, R]) -> Callable[P, R]:
    """Let one thread at a time run a method of an estimator."""

    @functools.wraps(method)
    def alone(*args: P.args, **kwargs: P.kwargs) -> R:
        with lock_of(args[0]):
            return method(*args, **kwargs)

    return alone
