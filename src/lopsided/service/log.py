"""The server's own journal: JSON lines without anything of the events."""

from __future__ import annotations

import json
import sys
import time
import traceback
from typing import Any, TextIO


class Journal:
    """Writes one JSON object a line.

    Parameters
    ----------
    file : text file
        Where to, standard error if not given.
    requests : bool
        Also write a line for every request.
    """

    def __init__(self, file: TextIO | None = None, *, requests: bool = False) -> None:
        self._file = sys.stderr if file is None else file
        self.requests = requests

    def write(self, **fields: Any) -> None:
        """Write a line."""
        line = json.dumps({"time": round(time.time(), 3), **fields})
        try:
            self._file.write(f"{line}\n")
            self._file.flush()
        except (OSError, ValueError):  # nobody reads it: the service continues
            pass

    def say(self, text: str) -> None:
        """Write a message."""
        self.write(message=text)

    def fault(self, error: BaseException) -> None:
        """Write a fault of this program, with where it happened; values are left out."""
        places = [f"{f.filename}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)]
        self.write(fault=type(error).__name__, where=places[-6:])

    def request(self, method: str, path: str, status: int, seconds: float, who: str) -> None:
        """Write what became of a request."""
        if self.requests:
            self.write(method=method, path=path, status=status, ms=round(1e3 * seconds, 3), who=who)
