"""Text for people: aligned columns, percentages, and no control characters."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Sequence
from html import escape


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


def html_rows(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """Return names and values as a table for a notebook."""
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return f"<table><thead><tr><th colspan=2>{escape(title)}</th></tr></thead>{cells}</table>"


# Control characters, and those that reorder or break lines: a terminal may obey them.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    r"""Return a text that shows its control characters instead of sending them to a terminal.

    Examples
    --------
    >>> print(visible("a\x1b[2Jb\n"))
    a\x1b[2Jb\n
    """
    return _UNSEEN.sub(_escaped, text)


def visible_lines(text: str) -> str:
    """Return a text of several lines with its other control characters shown."""
    return "\n".join(map(visible, text.split("\n")))


def _escaped(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
