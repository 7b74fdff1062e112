"""All rows of a stream as one block in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..estimator.batch import some_rows
from .block import Block, Dense, Sparse


def gather(blocks: Iterable[Block]) -> Block:
    """Return all rows as one block. Columns that appear later are 0 in earlier rows.

    Examples
    --------
    >>> rows = np.array([[1.0, 2.0]])
    >>> parts = [Block(rows, np.array([k]), None, np.array([k]), "made") for k in range(3)]
    >>> gather(parts).X.shape
    (3, 2)
    """
    parts = list(blocks)
    first = parts[0]
    weights = [block.weight for block in parts if block.weight is not None]
    return Block(
        _joined([block.X for block in parts]),
        None if first.y is None else np.concatenate([block.y for block in parts]),
        np.concatenate(weights) if weights else None,
        np.concatenate([block.lines for block in parts]),
        first.file,
        _all([block.time for block in parts]),
        label_time=_all([block.label_time for block in parts]),
    )


def _all(parts: Sequence[NDArray[np.float64] | None]) -> NDArray[np.float64] | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None


def _joined(parts: Sequence[Any]) -> Any:
    first = parts[0]
    if isinstance(first, list):
        return [event for part in parts for event in part]
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if isinstance(first, Dense):
        width = len(parts[-1].names)
        wide = [np.pad(p.array, ((0, 0), (0, width - p.array.shape[1]))) for p in parts]
        return Dense(np.concatenate(wide), parts[-1].names)
    blocks = _core.LibsvmBlock, _core.PackedBlock
    sparse = [_sparse(part) if isinstance(part, blocks) else part for part in parts]
    before = np.cumsum([0, *(part.indptr[-1] for part in sparse)])
    starts = [part.indptr[1:] + n for part, n in zip(sparse, before[:-1], strict=True)]
    shape = (sum(part.shape[0] for part in sparse), max(part.shape[1] for part in sparse))
    return Sparse(
        np.concatenate([[0], *starts]),
        np.concatenate([part.indices for part in sparse]),
        np.concatenate([part.data for part in sparse]),
        shape,
        sparse[-1].names,
        sparse[0].hashed,
    )


def _sparse(block: _core.LibsvmBlock | _core.PackedBlock) -> Sparse:
    indptr, indices, data = block.csr()
    return Sparse(indptr, indices, data, (len(indptr) - 1, block.columns))


def taken(block: Block, rows: NDArray[np.int64]) -> Block:
    """Return some rows of a block."""
    X = some_rows(block.X, rows)
    y, weight, time, label_time = (
        None if v is None else v[rows]
        for v in (block.y, block.weight, block.time, block.label_time)
    )
    kept = {name: [cells[row] for row in rows] for name, cells in block.kept.items()}
    return Block(X, y, weight, block.lines[rows], block.file, time, kept, label_time)
