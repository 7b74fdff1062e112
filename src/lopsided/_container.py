"""The layout of model files, which is that of safetensors: a description and arrays.

Eight bytes give the length of a JSON header, the header names the arrays behind it. Under
"__metadata__" the header holds one string, "lopsided": the description, itself JSON, with a SHA-256
of all the rest. Nothing in a file is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import ModelFileError

_DTYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "U8": np.dtype("u1"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}


def to_file(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> bytes:
    """Return a file; its description gets the digest."""
    header: dict[str, Any] = {}
    bodies = []
    at = 0
    for name, array in arrays.items():
        body = np.ascontiguousarray(array).tobytes()
        code = _CODES[array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype]
        header[name] = {
            "dtype": code,
            "shape": list(array.shape),
            "data_offsets": [at, at + len(body)],
        }
        bodies.append(body)
        at += len(body)
    about["sha256"] = digest_of(about, header, bodies)
    header["__metadata__"] = {"lopsided": json.dumps(about)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *bodies])


def from_file(data: bytes, newest: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the description and the arrays of a file whose format is at most the newest."""
    if data[8:9] != b"{":  # a header of 128 bytes more than a multiple of 256 begins like a pickle
        if data[:1] == b"\x80":
            raise ModelFileError("it is a pickle, which could run code; it is not read")
        if len(data) < 8:
            raise ModelFileError("it is too short to be a model file")
        raise ModelFileError("it is not a model file")
    (size,) = struct.unpack("<Q", data[:8])
    if size > len(data) - 8:
        raise ModelFileError("it is cut off within its header")
    try:
        header = json.loads(data[8 : 8 + size])
        about = json.loads(header.pop("__metadata__")["lopsided"])
        version = about["format"]
        digest = about.pop("sha256")
        arrays, end = {}, 8 + size
        for name, entry in header.items():
            first, last = entry["data_offsets"]
            arrays[name] = (entry["dtype"], entry["shape"], 8 + size + first, 8 + size + last)
            end = max(end, 8 + size + last)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ModelFileError(
            "it is not a model of this program, or its header is damaged"
        ) from None
    if type(version) is not int or not 0 < version <= newest:
        raise ModelFileError(
            f"it has format {version}, this program reads up to {newest}: use a newer lopsided"
        )
    if len(data) < end:
        raise ModelFileError(f"it is cut off: {len(data)} bytes of {end}")
    if len(data) > end:
        raise ModelFileError(f"it has {len(data) - end} bytes too many")
    if digest != digest_of(about, header, [data[8 + size :]]):
        raise ModelFileError("it has been altered: its checksum is wrong")
    try:
        return about, {name: _array(data, 8 + size, *entry) for name, entry in arrays.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"its arrays do not fit together ({error})") from None


def _array(
    data: bytes, start: int, code: str, shape: list[int], first: int, last: int
) -> NDArray[Any]:
    dtype = _DTYPES[code]
    if not start <= first <= last or (last - first) % dtype.itemsize:
        raise ValueError(f"an array lies at {first} to {last}")
    return np.frombuffer(data, dtype, (last - first) // dtype.itemsize, first).reshape(shape)


def digest_of(about: dict[str, Any], header: dict[str, Any], bodies: list[bytes]) -> str:
    """Return the SHA-256 of all the rest of a file."""
    digest = hashlib.sha256(json.dumps([about, header], sort_keys=True).encode())
    for body in bodies:
        digest.update(body)
    return digest.hexdigest()
