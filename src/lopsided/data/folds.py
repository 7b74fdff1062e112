"""Files that say which fold each row is in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .readers.files import open_bytes


def read_folds(path: str, rows: int) -> NDArray[np.int64]:
    """Read a file with one line of fold numbers per row, separated by blanks."""
    with open_bytes(path) as stream:
        lines = stream.read().decode("utf-8", "replace").rstrip().split("\n")
    width = len(lines[0].split())
    folds = np.empty((len(lines), width), np.int64)
    for at, line in enumerate(lines):
        cells = line.split()
        if len(cells) != width or not width:
            expected = f"{width} fold numbers" if width else "a fold number"
            raise DataError(path, at + 1, None, line, expected)
        for cell in cells:
            if not cell.isdecimal() or len(cell) > 18:
                raise DataError(path, at + 1, None, cell, "a fold number")
        folds[at] = [int(cell) for cell in cells]
    if len(folds) != rows:
        at = min(len(folds), rows)
        raise DataError(path, at, expected=f"it has {len(folds)} lines but there are {rows} rows")
    return folds
