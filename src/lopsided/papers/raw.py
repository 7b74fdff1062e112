"""Reading published files that are not LIBSVM text."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.readers.files import open_bytes
from ..errors import DataError

_PIXELS = 3072
Rows = tuple[NDArray[np.float64], NDArray[Any]]


def text_of(path: Path) -> str:
    """Return the text of a file, decompressed."""
    with open_bytes(str(path)) as stream:
        return bytes(stream.read()).decode("utf-8", "replace")


def commas(path: Path) -> tuple[NDArray[np.float64], NDArray[Any], int]:
    """Read a CSV file without header whose last column is the class.

    Returns rows, labels and the number of rows that were left out because of missing values (?).
    """
    rows, labels, dropped = [], [], 0
    for at, line in enumerate(text_of(path).splitlines(), start=1):
        if not line.strip():
            continue
        *cells, label = (cell.strip() for cell in line.split(","))
        if "?" in cells:
            dropped += 1
            continue
        try:
            rows.append([float(cell) for cell in cells])
        except ValueError:
            raise DataError(str(path), at, None, line, "numbers and a class") from None
        labels.append(label)
    if len({len(row) for row in rows}) != 1:
        raise DataError(str(path), expected="rows, all of the same length")
    return np.array(rows), np.array(labels), dropped


def kddcup08_folder(folder: Path) -> Path | None:
    """Return the folder with Features.txt and Info.txt: this one, or kddcup08 in it."""
    for place in (folder, folder / "kddcup08"):
        if (place / "Features.txt").is_file() and (place / "Info.txt").is_file():
            return place
    return None


def kddcup08(place: Path) -> Rows:
    """Return the rows of Features.txt and the labels, the first column of Info.txt."""
    X = np.loadtxt(place / "Features.txt", ndmin=2)
    y = np.loadtxt(place / "Info.txt", usecols=0, ndmin=1)
    if len(X) != len(y):
        what = f"it has {len(y)} rows but Features.txt has {len(X)}"
        raise DataError(str(place / "Info.txt"), expected=what)
    return X, y


def cifar10(path: Path) -> Rows:
    """Return the training images of the binary version: a byte for the class, then 3072 pixels."""
    parts = []
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            if Path(member.name).name.startswith("data_batch"):
                file = archive.extractfile(member)
                data = np.frombuffer(file.read() if file else b"", np.uint8)
                if len(data) % (1 + _PIXELS):
                    raise DataError(f"{path}, {member.name}", expected="images of 3073 bytes")
                parts.append(data.reshape(-1, 1 + _PIXELS))
    if not parts:
        raise DataError(str(path), expected="there is no data_batch in it")
    images = np.concatenate(parts)
    return images[:, 1:].astype(np.float64), images[:, 0].astype(np.int64)


def documents(path: Path, topic: str) -> NDArray[np.int64]:
    """Return the ids of the documents with a topic, from lines of topic, id and 1."""
    cells = (line.split() for line in text_of(path).splitlines())
    return np.array([int(line[1]) for line in cells if line and line[0] == topic], np.int64)
