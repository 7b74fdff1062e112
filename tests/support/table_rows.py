"""Blocks of tables as plain rows, to compare with."""

from __future__ import annotations

from lopsided.data.block import Dense


def rows_of(reader):
    """All rows: features by name, label, weight, line."""
    rows = []
    for block in reader:
        names = block.X.names
        for i, line in enumerate(block.lines.tolist()):
            if isinstance(block.X, Dense):
                features = dict(zip(names, block.X.array[i].tolist(), strict=True))
            else:
                part = slice(block.X.indptr[i], block.X.indptr[i + 1])
                features = dict(
                    zip(
                        [names[j] for j in block.X.indices[part]],
                        block.X.data[part].tolist(),
                        strict=True,
                    )
                )
            label = None if block.y is None else block.y[i].item()
            weight = None if block.weight is None else block.weight[i].item()
            rows.append((features, label, weight, line))
    return rows
