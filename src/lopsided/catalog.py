"""The named learners. Everything that lists learners reads this; the rows are in catalog_data."""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Mapping
from typing import Any

from .catalog_data import OTHER_KINDS, ROWS
from .estimator.base import OnlineClassifier
from .estimator.parameters import nearest


@dataclasses.dataclass(frozen=True)
class Entry:
    """One named learner.

    Attributes
    ----------
    name : str
        What users call it.
    home : str
        The class, as "module:Class", the module below lopsided.
    purpose : str
        What it is for, in one line.
    paper : str
        Where it comes from.
    kind : str
        The learner in the core.
    memory : str
        How many bytes a model takes at most, as `memory` returns it.
    preset : mapping
        Parameters that make the class this learner.
    grid : mapping
        The values to try, by parameter.
    all_values : mapping
        The values that its paper tries, where they are too many for everyday use.
    aliases : tuple of str
        Other names for it.
    """

    name: str
    home: str
    purpose: str
    paper: str
    kind: str
    memory: str
    preset: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    grid: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    all_values: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    aliases: tuple[str, ...] = ()

    @property
    def paper_grid(self) -> Mapping[str, tuple[Any, ...]]:
        """The values that its paper tries, by parameter."""
        return self.all_values or self.grid

    @property
    def family(self) -> str:
        """The module of its class: "linear", "sparse", "ranking", "kernel", "active" ..."""
        return self.home.partition(":")[0].rpartition(".")[2]

    @property
    def cls(self) -> type[OnlineClassifier]:
        """The estimator class."""
        module, name = self.home.split(":")
        found: type[OnlineClassifier] = getattr(importlib.import_module(f"lopsided.{module}"), name)
        return found

    def make(self, **params: Any) -> OnlineClassifier:
        """Return the estimator; `params` override the preset."""
        return self.cls.made(**{**self.preset, **params})


CATALOG: tuple[Entry, ...] = tuple(Entry(**row) for row in ROWS)

_MEMORY: dict[str, str] = {row["kind"]: row["memory"] for row in (*ROWS, *OTHER_KINDS)}
_BY_NAME = {name.casefold(): entry for entry in CATALOG for name in (entry.name, *entry.aliases)}


def memory(model: OnlineClassifier) -> str:
    """Return how many bytes a model takes at most; scaling and waiting events come on top.

    Parameters
    ----------
    model : estimator
        Fitted or not: its parameters decide.

    Returns
    -------
    str
        A formula. d: features, m: sketch_size, R: rows kept, r: bytes per row kept, P: the rows
        kept per class, rounded up to a power of two, K: kernels.

    Examples
    --------
    >>> memory(make("AROW")), memory(make("AROW", covariance_dtype="float32"))
    ('4 d d + 40 d', '2 d d + 48 d')
    """
    return _MEMORY[model._kind()]


def learners() -> list[str]:
    """Return the names of all learners.

    Examples
    --------
    >>> "COG-II" in learners()
    True
    """
    return [entry.name for entry in CATALOG]


def find(name: str) -> Entry:
    """Return the entry of a learner.

    Parameters
    ----------
    name : str
        Its name or an alias; case does not matter.
    """
    entry = _BY_NAME.get(str(name).casefold())
    if entry is None:
        # Variants have Roman numerals.
        roman = re.sub(r"-?([12])(?=-|$)", lambda m: "-" + "I" * int(m[1]), str(name))
        meant = _BY_NAME.get(roman.casefold())
        known = [n for e in CATALOG for n in (e.name, *e.aliases)]
        hint = f"did you mean {meant.name!r}?" if meant else nearest(str(name), known)
        raise ValueError(f"there is no learner {name!r}: {hint}")
    return entry


def make(name: str, **params: Any) -> OnlineClassifier:
    """Return a new estimator by the name of a learner.

    Parameters
    ----------
    name : str
        A name or alias of `learners()`; case does not matter.
    **params
        Parameters of the learner.

    Examples
    --------
    >>> make("acog-ii", learning_rate=100)
    ACOG(covariance='full', learning_rate=100)
    """
    return find(name).make(**params)
