"""The journal of a comparison: finished runs are not run again."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from ..errors import DataError, InputError
from ..estimator.frames import as_frame, frame_array

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_KIND = "journal of a lopsided comparison"
_SUM = "crc32"  # of the rest of the line
Task = tuple[int, int, int]  # learner, point of its grid, split


class Journal:
    """A file of finished runs, one per line, after a line that identifies the comparison.

    Parameters
    ----------
    path : path
        An existing file is resumed.
    facts : mapping of str to str
        Identifies the comparison; the journal of another one is an error.
    """

    def __init__(self, path: str | os.PathLike[str], facts: Mapping[str, str]) -> None:
        self.runs: dict[Task, dict[str, Any]] = {}
        name = os.fspath(path)
        if os.path.exists(name) and not os.path.isfile(name):
            raise DataError(name, expected="a journal is a plain file; name one")
        self._file = open(name, "a+b")  # noqa: SIM115
        try:
            self._start(name, facts)
        except BaseException:
            self._file.close()
            raise

    def _start(self, name: str, facts: Mapping[str, str]) -> None:
        _lock(self._file, name)
        self._file.seek(0)
        text = self._file.read()
        complete = text[: text.rfind(b"\n") + 1]  # the last line may be truncated
        start = json.dumps({"kind": _KIND}).encode()[:-1]
        is_new = not complete and (text.startswith(start) or start.startswith(text))
        if not is_new:
            self._read(name, complete, facts)
        self._file.truncate(len(complete))
        if is_new:
            self._write({"kind": _KIND, "facts": dict(facts)})

    def _read(self, name: str, text: bytes, facts: Mapping[str, str]) -> None:
        first, *lines = text.splitlines() or [b""]
        try:
            head = sound(first)
            known = head["facts"] if head["kind"] == _KIND else None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            known = None
        if known is None:
            raise InputError(f"{name} is not the journal of a comparison: name another file")
        for fact in [*facts, *known]:
            was, now = known.get(fact), facts.get(fact)
            if was != now:
                shown = f": {was}, not {now}" if "sha256:" not in f"{was}{now}" else ""
                raise InputError(
                    f"{name} is the journal of another comparison, with other {fact}{shown}",
                    remedy=("give the same again", "name another file"),
                )
        at = 1
        try:
            for at, line in enumerate(lines, start=2):  # noqa: B007
                run = sound(line)
                self.runs[tuple(run.pop("task"))] = run
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise DataError(
                name, at, expected="this is not a run, or it was altered; remove the line"
            ) from None

    def add(self, task: Task, run: Mapping[str, Any]) -> None:
        """Write a finished run."""
        self._write({"task": task, **run})

    def _write(self, value: Mapping[str, Any]) -> None:
        self._file.write(sealed(value))
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def sealed(value: Mapping[str, Any]) -> bytes:
    """Return an object as a line with a checksum."""
    return json.dumps({**value, _SUM: _sum(value)}).encode() + b"\n"


def sound(line: bytes) -> dict[str, Any]:
    """Return the object on a line; raise a ValueError if it is not as it was written."""
    value: dict[str, Any] = json.loads(line)
    if value.pop(_SUM) != _sum(value):
        raise ValueError
    return value


def _sum(value: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(value).encode())


def _lock(file: IO[bytes], name: str) -> None:
    """Lock the file against other comparisons until it is closed."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DataError(
            name,
            expected="another comparison is using this journal",
            remedy=("wait for it", "name another file"),
        ) from None


def digest(value: Any) -> str:
    """Return a short fingerprint of rows, labels or orders."""
    found = hashlib.sha256()
    for part in _parts(value):
        found.update(part)
    return f"sha256:{found.hexdigest()[:16]}"


def _parts(value: Any) -> Iterator[bytes]:
    if value is None or isinstance(value, dict):
        yield repr(value).encode()
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _parts(part)
    elif hasattr(value, "indptr") or hasattr(value, "tocsr"):
        matrix = value if getattr(value, "format", "csr") == "csr" else value.tocsr()
        yield repr((matrix.shape, getattr(matrix, "names", None))).encode()
        yield from _parts([matrix.indptr, matrix.indices, matrix.data])
    elif hasattr(value, "columns") or hasattr(value, "column_names"):
        value = as_frame(value)
        if isinstance(value, list):
            yield from _parts(value)
            return
        array, names, _ = frame_array(value)
        yield repr(names).encode()
        yield from _parts(array)
    elif hasattr(value, "array") and hasattr(value, "names"):
        yield repr(value.names).encode()
        yield from _parts(value.array)
    else:
        array = np.asarray(value)
        yield f"{array.shape} {array.dtype}".encode()
        yield repr(array.tolist()).encode() if array.dtype.kind == "O" else array.tobytes()
