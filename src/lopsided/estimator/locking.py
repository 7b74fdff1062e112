"""One thread at a time builds or replaces what an estimator has learned."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_first = threading.Lock()


def lock_of(owner: Any) -> threading.RLock:
    """Return the lock of an estimator."""
    if not hasattr(owner, "_lock"):
        with _first:
            if not hasattr(owner, "_lock"):
                object.__setattr__(owner, "_lock", threading.RLock())
    lock: threading.RLock = owner._lock
    return lock


def locked(method: Callable[P, R]) -> Callable[P, R]:
    """Let one thread at a time run a method of an estimator."""

    @functools.wraps(method)
    def alone(*args: P.args, **kwargs: P.kwargs) -> R:
        with lock_of(args[0]):
            return method(*args, **kwargs)

    return alone
