"""Decoders given damaged input: they read it or refuse it with an error of the package."""

from __future__ import annotations

import io
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

import lopsided
from lopsided.comparison.journal import Journal
from lopsided.data import open_reader
from lopsided.data.block import BadLines
from lopsided.data.readers.row_cache import write_row_cache
from lopsided.data.sets.downloads import find
from lopsided.errors import LopsidedError
from lopsided.persist import load

_INTERESTING = (
    *(b"\x00", b"\xff", b"\n", b'"', b",", b":", b"{", b"["),
    *(b"1e999", b"-1", b"nan", b"9" * 20),
)


def seeds(folder: Path) -> dict[str, bytes]:
    """Return a sound input of each decoder, by file name."""
    text = "1 1:0.5 3:2\n-1 2:1e3\n1 1:-4 2:0 # comment\n-1 7:1\n"
    (folder / "seed.svm").write_text(text)
    write_row_cache(str(folder / "seed.svm"), str(folder / "seed.lopc"))
    arrays = io.BytesIO()
    np.savez_compressed(arrays, X=np.arange(12.0).reshape(4, 3), y=[0, 1, 0, 1])
    lopsided.COG().fit([{"a": 1.0}, {"b": 2.0}], ["no", "yes"]).save(folder / "seed.lop")
    Journal(folder / "seed.journal", {"data": "d"}).close()
    return {
        "d.svm": text.encode(),
        "d.csv": b'a,b,label\n1,"x, y",0\n2.5,z,1\n',
        "d.jsonl": b'{"a": 1, "b": "x", "label": 0}\n{"a": 2.5, "label": 1}\n',
        "d.npz": arrays.getvalue(),
        "d.lopc": (folder / "seed.lopc").read_bytes(),
        "d.lop": (folder / "seed.lop").read_bytes(),
        "d.journal": (folder / "seed.journal").read_bytes(),
        "MANIFEST.csv": b"file,name,sha256\na9a.txt,a9a,00ff\n",
    }


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return an input with a few changes."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, size = rng.randrange(len(out) + 1), rng.randint(1, 8)
        kind = rng.randrange(5)
        if kind == 0 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            out[at:at] = rng.choice(_INTERESTING)
        elif kind == 2:
            del out[at : at + size]
        elif kind == 3:
            out[at:at] = out[at : at + size] * rng.randint(1, 40)
        else:
            out[at : at + size] = rng.randbytes(size)
    return bytes(out)


def _read(path: Path) -> None:
    options = {"categorical": "auto"} if path.suffix == ".csv" else {}
    for _ in open_reader(str(path), bad=BadLines(2), **options):
        pass


def _journal(path: Path) -> None:
    Journal(path, {"data": "d"}).close()


_DECODERS: dict[str, Callable[[Path], object]] = {
    ".lop": load,
    ".journal": _journal,
    "MANIFEST.csv": lambda path: find("a9a", [str(path.parent)]),
}


def fuzz(name: str, data: bytes, folder: Path, runs: int, seed: int = 0) -> int:
    """Decode damaged inputs; return how many were refused. Any other error is a fault."""
    rng = random.Random(zlib.crc32(name.encode()) + seed)
    decode = _DECODERS.get(name) or _DECODERS.get(Path(name).suffix, _read)
    path, refused = folder / name, 0
    for _ in range(runs):
        given = damaged(data, rng)
        path.write_bytes(given)
        try:
            decode(path)
        except LopsidedError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"{name}: {given!r}") from error
    return refused
