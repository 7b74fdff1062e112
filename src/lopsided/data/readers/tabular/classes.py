"""The labels of a stream: of one kind, and not more than two."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import ParameterError

_NUMBER = re.compile(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*")
_EXACT = 2**53  # whole numbers below this are whole in float64 too


def as_number(text: str) -> float | int | None:
    """Parse a number, integers as int; None if it is not one."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < _EXACT else value


def label_of(text: str) -> Any:
    """Parse a label: a number, true or false, or else the text itself."""
    number = as_number(text)
    if number is not None:
        return number
    return {"true": True, "false": False}.get(text.strip().lower(), text)


class Classes:
    """Parses labels and checks that there are at most two, all of one kind.

    The first label decides the kind: after a number (or true or false) only numbers are labels,
    after a string every string is one.

    Parameters
    ----------
    classes : sequence or None
        Labels known before, at most two; None: any number of labels.
    written : bool
        Whether labels are text that may be a number.
    """

    def __init__(self, classes: Sequence[Any] | None = (), written: bool = True) -> None:
        self._many = classes is None
        known = () if classes is None else classes
        self._known: dict[Any, None] = dict.fromkeys(np.asarray(known).tolist())
        if len(self._known) > 2:
            raise ParameterError("classes", f"are at most two labels, not {len(self._known)}")
        self._written = written
        self._text: bool | None = isinstance(next(iter(self._known)), str) if self._known else None

    def read(self, value: Any) -> Any:
        """Parse a label."""
        return label_of(value) if self._written and self._text is not True else value

    def admit(self, value: Any) -> str:
        """Return what was expected instead of a label, or "" if it is fine."""
        if not self._written and value in self._known:
            return ""
        label = self.read(value)
        if isinstance(label, float) and not math.isfinite(label):
            return "a finite number as label"
        text = isinstance(label, str)
        if self._text is not None and text != self._text:
            kind = "text" if self._text else "a number"
            return f"{kind} as label, as before it" + self._known_ones()
        if not self._many and label not in self._known:
            if len(self._known) == 2:
                return "one of two labels" + self._known_ones()
            self._known[label] = None
        self._text = text
        return ""

    def _known_ones(self) -> str:
        return f" ({' or '.join(map(str, self._known))})" if self._known else ""

    def array(self, values: Iterable[Any]) -> NDArray[Any]:
        """Return admitted labels as an array of numbers, bools or texts."""
        return np.array([self.read(value) for value in values] if self._written else list(values))
