"""What fuzzers call, by name: each takes any bytes; what is not refused properly is an exception.

A decoder may raise a LopsidedError, the service may answer with a status below 500. Checksums are
made right where there are some, so that what lies behind them is reached.
"""

from __future__ import annotations

import asyncio
import io
import json
import math
import os
import struct
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from lopsided import persist
from lopsided._container import digest_of
from lopsided.data import open_reader
from lopsided.data.block import BadLines
from lopsided.errors import LopsidedError

warnings.simplefilter("error", RuntimeWarning)  # numbers that overflow on the way are a fault
_MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
_FOLDER = tempfile.TemporaryDirectory(prefix="lopsided-fuzz-", dir=_MEMORY)
_MAX_BYTES = 1 << 24


def _check_says(error: LopsidedError) -> None:
    assert str(error), "an error says nothing"


def _read(data: bytes, form: str, **options: Any) -> None:
    path = Path(_FOLDER.name) / f"input.{form}"
    path.write_bytes(data)
    try:
        for block in open_reader(str(path), form, bad=BadLines(2), **options):
            assert block.y is None or len(block.y) == len(block.lines)
    except LopsidedError as error:
        _check_says(error)


class _Choices:
    """The first bytes of an input, as decisions."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def one_of(self, *values: Any) -> Any:
        return values[self._byte() % len(values)]

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    @property
    def rest(self) -> bytes:
        return self._data[self._at :]


def libsvm(data: bytes) -> None:
    """Read LIBSVM text through the reader."""
    take = _Choices(data)
    base, labelled = take.one_of(None, 0, 1), take.one_of(True, False)
    most = take.one_of({}, {"max_features": 7}, {"max_line_bytes": 20})
    given = {} if base is None else {"base": base}
    _read(take.rest, "libsvm", labelled=labelled, **given, **most)


_NAMES = ("a", "b", "c", 0, -1, 7, "no such column")


def csv(data: bytes) -> None:
    """Read CSV text with options."""
    take = _Choices(data)
    options = {
        "label": take.one_of(None, "label", *_NAMES),
        "weight": take.one_of(None, None, None, *_NAMES),
        "time": take.one_of(None, None, None, *_NAMES),
        "time_features": take.one_of(None, None, None, *_NAMES),
        "since": take.one_of((), (), ("a",), ("b", "c")),
        "key": take.one_of(None, None, None, *_NAMES),
        "drop": take.one_of((), (), ("a",), (0, "b")),
        "keep": take.one_of((), (), ("a",), ("label",)),
        "categorical": take.one_of((), "auto", ("a",), ("b", "auto")),
        "missing": take.one_of("error", "indicate", "zero", "drop"),
        "empty": take.one_of(None, (), ("-", "1")),
        "delimiter": take.one_of(",", ";", "\t", " ", '"', "ä", ""),
        "header": take.one_of(True, False),
        "names": take.one_of(None, None, ["a", "b"], ["b=x", "c"]),
        "hash_bits": take.one_of(None, None, 3),
        "classes": take.one_of((), (0, 1), ("x", "y")),
        "labelled": take.one_of(True, False),
        "block_rows": take.one_of(1024, 1, 2),
        "chunk_bytes": take.one_of(1 << 20, 16, 64),
        "max_line_bytes": take.one_of(1 << 20, 40),
    }
    _read(take.rest, "csv", **options)


def jsonl(data: bytes) -> None:
    """Read JSON lines with options."""
    take = _Choices(data)
    options = {
        "label": take.one_of("label", "a", "b"),
        "weight": take.one_of(None, None, "a", "w"),
        "time": take.one_of(None, None, "t", "a"),
        "time_features": take.one_of(None, None, "t"),
        "since": take.one_of((), (), ("b",)),
        "key": take.one_of(None, None, "id"),
        "drop": take.one_of((), (), ("a",)),
        "keep": take.one_of((), (), ("b",)),
        "missing": take.one_of("error", "indicate", "zero", "drop"),
        "classes": take.one_of((), (0, 1)),
        "labelled": take.one_of(True, False),
        "block_rows": take.one_of(1024, 1),
        "chunk_bytes": take.one_of(1 << 20, 16),
        "max_line_bytes": take.one_of(1 << 20, 60),
    }
    _read(take.rest, "jsonl", **options)


_MEMBERS = ("X", "y", "data", "indices", "indptr", "shape", "weight", "feature_names", "format")
_TYPES = ("<f8", "<f4", "<i8", "<i4", "u1", "?", "<U2", "S2", ">f8", "<c16", "<M8[s]", "<f2", "O")


def npz(data: bytes) -> None:
    """Read an NPZ file: the bytes as they are, or arrays that they describe."""
    take = _Choices(data)
    options = {
        "missing": take.one_of("error", "zero", "drop"),
        "labelled": take.one_of(True, False),
        "names": take.one_of(None, None, ["a", "b"]),
        "classes": take.one_of((), (0, 1)),
        "max_bytes": take.one_of(_MAX_BYTES, 100),
    }
    if take.one_of("arrays", "arrays", "file") == "file":
        return _read(take.rest, "npz", **options)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", take.one_of(zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)) as file:
        for _ in range(take.one_of(1, 2, 3, 4, 5, 6)):
            name = take.one_of(*_MEMBERS) + take.one_of(".npy", ".npy", "")
            array = _array(take)
            if name not in file.NameToInfo:
                file.writestr(name, array)
    return _read(out.getvalue(), "npz", **options)


def _array(take: _Choices) -> bytes:
    """Return an array of the format NPY, whose header fits its values, mostly."""
    kind, ndim = take.one_of(*_TYPES), take.one_of(2, 1, 1, 0, 3)
    shape = tuple(take.one_of(0, 1, 2, 3, 4, 5) for _ in range(ndim))
    item = np.dtype(kind).itemsize
    body = take.take(math.prod(shape) * item).ljust(math.prod(shape) * item, b"\0")
    told = take.one_of(shape, shape, shape, (*shape, 2), (1 << 40,))
    order = take.one_of(False, False, True)
    header = repr({"descr": kind, "fortran_order": order, "shape": told}).encode() + b"\n"
    version = take.one_of(b"\1\0", b"\1\0", b"\1\0", b"\2\0", b"\3\0", b"\4\0")
    size = struct.pack("<H" if version == b"\1\0" else "<I", len(header))
    return b"\x93NUMPY" + version + size + header + body


def model(data: bytes) -> None:
    """Load a model file, whose length and checksum are made right if its header is JSON."""
    with_header = _repaired(data)
    for given in {data, with_header}:
        try:
            loaded = persist.from_bytes(given)
        except LopsidedError as error:
            _check_says(error)
            continue
        try:
            persist.from_bytes(persist.to_bytes(loaded, sound=True))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # about names
                scores = loaded.decision_function(np.ones((2, max(1, loaded.n_features_in_))))
            assert np.isfinite(scores).all()
        except (LopsidedError, ValueError, AttributeError):  # says what does not fit
            pass


def _repaired(data: bytes) -> bytes:
    try:
        size = struct.unpack_from("<Q", data)[0]
        header = json.loads(data[8 : 8 + size])
        about = json.loads(header.pop("__metadata__")["lopsided"])
        about.pop("sha256", None)
        body = data[8 + size :]
        about["sha256"] = digest_of(about, header, [body])
        header["__metadata__"] = {"lopsided": json.dumps(about)}
        text = json.dumps(header).encode()
    except (ValueError, KeyError, TypeError, AttributeError, struct.error, RecursionError):
        return data
    return struct.pack("<Q", len(text)) + text + body


class _Service:
    """An application in memory, made anew from time to time."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._calls = 0
        self._wire: Any = None

    def call(self, *arguments: Any, **options: Any) -> tuple[int, Any]:
        self._calls += 1
        found: tuple[int, Any] = self._loop.run_until_complete(self._call(arguments, options))
        return found

    async def _call(self, arguments: Any, options: Any) -> Any:
        from wire import Wire

        if self._calls % 300 == 1:
            if self._wire is not None:
                await self._wire.app.driver.stop()
            self._wire = Wire()
            self._wire.app.driver = self._wire.app._make()
            await self._wire.call("POST", "/v1/pay/events", {"key": "k", "features": {"a": 1}})
        return await self._wire.call(*arguments, **options)


_service = _Service()
_KINDS = (b"application/json", b"application/x-ndjson", b"text/plain", b"")
_PATHS = (
    *(("POST", f"/v1/pay/{name}") for name in ("events", "score", "labels", "answers")),
    *(("GET", "/v1/pay/questions"), ("PUT", "/v1/pay"), ("PUT", "/v1/new"), ("POST", "/tokens")),
    *(("POST", "/v1/pay/models"), ("PUT", "/v1/pay/champion"), ("POST", "/v1/pay/leases/k")),
    *(("GET", "/v1/pay/events/"), ("DELETE", "/v1/pay/answers/"), ("GET", "/")),
    *(("POST", "/v2/models/pay/infer"), ("GET", "/v1/pay/aside"), ("GET", "/metrics")),
)


def http(data: bytes) -> None:
    """Send a body to a route of the service, in one piece or two."""
    take = _Choices(data)
    method, path = take.one_of(*_PATHS)
    kind, cut = take.one_of(*_KINDS), take.one_of(None, None, 1, 20)
    if take.one_of(False, False, True):
        path += take.take(6).decode("latin-1").replace("\n", "")
    body = take.rest
    chunks = [body] if cut is None else [body[:cut], body[cut:]]
    status, _ = _service.call(
        method, path, body, headers={b"content-type": kind}.items(), chunks=chunks
    )
    assert 200 <= status < 500 or status == 507, f"{method} {path}: {status}"


def events(data: bytes) -> None:
    """Read an event, which must be the one that the decoder of all forms reads, if it is read."""
    from lopsided.service.types import Events, as_dict, quick, read_event

    def shown(event: Any) -> str:  # with the types and bits of numbers
        return repr((event.key, as_dict(event.features), event.time, event.costs, event.show))

    one = quick.one(data, True)
    assert one is None or shown(one) == shown(read_event(data))
    several = quick.several(data, True, 3)
    if several is not None:
        told = msgspec.json.decode(data, type=Events).events
        assert list(map(shown, several)) == list(map(shown, told))
    lines = quick.lines(data)
    if lines is not None:
        told = [read_event(line) for line in data.split(b"\n") if line.strip()]
        assert list(map(shown, lines)) == list(map(shown, told))


TARGETS: dict[str, Callable[[bytes], None]] = {
    "csv": csv,
    "events": events,
    "http": http,
    "jsonl": jsonl,
    "libsvm": libsvm,
    "model": model,
    "npz": npz,
}
