"""Errors in the words of the command line: options where Python has parameters."""

from __future__ import annotations

import errno
from typing import Any

from .._text import visible
from ..errors import LopsidedError, Method, Parameter, Words

# The option that sets a parameter, where its name differs.
_RENAMED = {
    "form": "--format",
    "header": "--no-header",
    "held_out": "--test",
    "key": "--id",
    "label_time": "--label-time",
    "max_bytes": "--max-bytes",
    "max_features": "--max-features",
    "max_line_bytes": "--max-line-bytes",
    "max_pending": "--max-pending",
    "sample_weight": "--weight",
    "time_features": "--time-features",
}
_SAME = (
    *("alpha", "base", "budget", "categorical", "delimiter", "drop", "empty", "folds", "inner"),
    *("jobs", "keep", "label", "metric", "missing", "order", "permutations", "positive", "query"),
    *("search", "select", "since", "time", "unknown", "weight"),
)
OPTIONS = {**{name: f"--{name}" for name in _SAME}, **_RENAMED}
_PYTHON_ONLY = ("classes",)


class ShellWords(Words):
    """How the command line names parameters: by options, those of learners by --set."""

    def subject(self, parameter: str) -> str:
        """Return a parameter as the subject of a sentence."""
        return OPTIONS.get(parameter, parameter)

    def given(self, parameter: str, value: Any) -> str:
        """Return a parameter together with the value that it was given."""
        if parameter not in OPTIONS:
            return super().given(parameter, value)
        return f"{OPTIONS[parameter]}: {value!r}"

    def part(self, part: str | Parameter | Method) -> str | None:
        """Return a part of a text, None if it says nothing in a shell."""
        if isinstance(part, str):
            return part
        if isinstance(part, Method) or part.name in _PYTHON_ONLY:
            return None
        option = OPTIONS.get(part.name)
        if option is None:
            return f"--set {part.name}={part.value or 'VALUE'}"
        return option if part.value is None else f"{option} {part.value}"


SHELL = ShellWords()


def worded(error: BaseException) -> str:
    """Return an error as one line for people at a shell."""
    return visible(_text(error))


def _text(error: BaseException) -> str:
    if isinstance(error, LopsidedError):
        return error.text(SHELL)
    if isinstance(error, OSError) and error.strerror:
        if error.errno == errno.EBADF:
            return "standard output is closed"
        return f"{error.filename or 'writing failed'}: {error.strerror}"
    return str(error) or type(error).__name__
