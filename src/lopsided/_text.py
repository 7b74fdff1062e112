"""Figures as text: aligned columns and percentages."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence


def aligned(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> list[str]:
    """Return rows as lines with aligned columns; those in `right` are flush right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def percent(share: float, digits: int = 2, nan: str = "–") -> str:
    """Return a share in per cent, or `nan` if there is none."""
    return nan if math.isnan(share) else f"{share:.{digits}%}"
