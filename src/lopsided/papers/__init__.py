"""Reproducing the five papers: their published figures next to ours."""

from __future__ import annotations

from ..errors import AbsentDataError
from .checks import contradictions
from .entries import Experiment, Part, experiments, find
from .results import Cell, Line, Result
from .running import reproduce

__all__ = [
    "AbsentDataError",
    "Cell",
    "Experiment",
    "Line",
    "Part",
    "Result",
    "contradictions",
    "experiments",
    "find",
    "reproduce",
]
