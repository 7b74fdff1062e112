"""The named learners. Everything that lists learners reads this; the rows are in catalog_data."""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from .catalog_data import OTHER_KINDS, ROWS
from .errors import InputError, InputTypeError, UnknownNameError
from .estimator.base import OnlineClassifier
from .estimator.parameters import nearest


@dataclasses.dataclass(frozen=True, eq=False)
class Entry:
    """One named learner.

    Attributes
    ----------
    name : str
        What users call it.
    home : str
        The class, as "module:Class", the module below lopsided unless it was registered.
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
    note : str
        What to know before its results are quoted.
    aliases : tuple of str
        Other names for it.
    registered : class, optional
        The class itself, if the learner was registered.
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
    note: str = ""
    aliases: tuple[str, ...] = ()
    registered: type[OnlineClassifier] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and its aliases."""
        return (self.name, *self.aliases)

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
        if self.registered is not None:
            return self.registered
        module, name = self.home.split(":")
        found: type[OnlineClassifier] = getattr(importlib.import_module(f"lopsided.{module}"), name)
        return found

    def make(self, **params: Any) -> OnlineClassifier:
        """Return the estimator; `params` override the preset."""
        return self.cls.made(**{**self.preset, **params})


CATALOG: tuple[Entry, ...] = tuple(Entry(**row) for row in ROWS)

_MEMORY: dict[str, str] = {row["kind"]: row["memory"] for row in (*ROWS, *OTHER_KINDS)}
_BY_NAME = {name.casefold(): entry for entry in CATALOG for name in entry.names}
_REGISTERED: dict[str, Entry] = {}


def memory(model: OnlineClassifier) -> str:
    """Return how many bytes a model takes at most; scaling and waiting events come on top.

    Parameters
    ----------
    model : estimator
        Fitted or not: its parameters decide.

    Returns
    -------
    str
        A formula. d: features, m: sketch_size or rank, R: rows kept, r: bytes per row kept, P: the
        rows kept per class, rounded up to a power of two, K: kernels.

    Examples
    --------
    >>> memory(make("AROW")), memory(make("AROW", covariance_dtype="float32"))
    ('4 d d + 40 d', '2 d d + 48 d')
    """
    return _MEMORY[model.core_kind()]


def matrix_bytes(model: OnlineClassifier, features: int) -> int:
    """Return how many bytes of a model grow with the square of the number of features.

    Examples
    --------
    >>> matrix_bytes(make("OPAUC"), 18_000), matrix_bytes(make("COG-II"), 18_000)
    (2592000000, 0)
    """
    found = re.search(r"(\d+) d d", _MEMORY.get(model.core_kind(), ""))
    return int(found[1]) * features**2 if found else 0


def entries() -> tuple[Entry, ...]:
    """Return all learners: those of the package, then those that were registered."""
    return (*CATALOG, *_REGISTERED.values())


def learners() -> list[str]:
    """Return the names of all learners, those that were registered last.

    Examples
    --------
    >>> "COG-II" in learners()
    True
    """
    return [entry.name for entry in entries()]


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
        known = [name for each in entries() for name in each.names]
        hint = f"did you mean {meant.name!r}?" if meant else nearest(str(name), known)
        raise UnknownNameError("learner", name, hint)
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


def class_named(name: Any) -> type[OnlineClassifier] | None:
    """Return the class of this name among those of all learners. Nothing else is imported."""
    for entry in entries():
        if entry.home.rpartition(":")[2].rpartition(".")[2] == name:
            return entry.cls
    return None


C = TypeVar("C", bound=type[OnlineClassifier])


def register(
    cls: C,
    name: str | None = None,
    *,
    preset: Mapping[str, Any] | None = None,
    purpose: str = "",
    paper: str = "",
    grid: Mapping[str, Iterable[Any]] | None = None,
    aliases: Iterable[str] = (),
) -> C:
    """Add a learner of your own: it can be made by name, listed, compared, saved and loaded.

    Call it where the class is defined, or use it as a decorator: model files name the class only,
    so it must be registered before such a file is loaded.

    Parameters
    ----------
    cls : class
        A subclass of an estimator of this package, or such an estimator itself.
    name : str, optional
        The name of the learner. Default: that of the class.
    preset : dict, optional
        Parameters that make the class this learner. A class may be registered several times, with
        different names and presets.
    purpose : str
        What it is for, in one line.
    paper : str
        Where it comes from.
    grid : dict, optional
        The values that a comparison tries, by parameter.
    aliases : sequence of str
        Other names for it.

    Returns
    -------
    class
        The class itself.

    Examples
    --------
    >>> @lopsided.register  # doctest: +SKIP
    ... class Eager(lopsided.COG):
    ...     pass
    >>> lopsided.make("eager", learning_rate=2)  # doctest: +SKIP
    Eager(learning_rate=2)
    """
    if not (isinstance(cls, type) and issubclass(cls, OnlineClassifier)):
        raise InputTypeError(
            f"register takes a subclass of an estimator of lopsided, not {cls!r}; "
            "compare takes scikit-learn classifiers without registration"
        )
    model = cls.made(**(preset or {}))
    kind = _kind_of(model)
    entry = Entry(
        name=cls.__name__ if name is None else str(name),
        home=f"{cls.__module__}:{cls.__qualname__}",
        purpose=purpose or (cls.__doc__ or "").partition("\n")[0].rstrip("."),
        paper=paper,
        kind=kind,
        memory=_MEMORY[kind],
        preset=dict(preset or {}),
        grid={parameter: tuple(values) for parameter, values in (grid or {}).items()},
        aliases=tuple(aliases),
        registered=cls,
    )
    _check_grid(entry, model.parameter_names())
    _check_names(entry)
    _put(entry)
    return cls


def _kind_of(model: OnlineClassifier) -> str:
    """Return the learner in the core of a model with valid parameters."""
    model.check_params()
    try:
        kind: str | None = model.core_kind()
    except AttributeError:  # a class that names none
        kind = None
    if kind is None or kind not in _MEMORY:
        raise InputError(
            f"{type(model).__name__}: _core_name must be a learner of the core, not {kind!r}: "
            "derive the class from a learner, or see CONTRIBUTING.md"
        )
    return kind


def _check_grid(entry: Entry, known: list[str]) -> None:
    for parameter in entry.grid:
        if parameter not in known:
            hint = nearest(parameter, known)
            raise InputError(f"grid: {entry.name} has no parameter {parameter!r}: {hint}")


def _check_names(entry: Entry) -> None:
    """Raise if a name of a learner, or that of its class, belongs to another one."""
    for name in entry.names:
        other = _BY_NAME.get(name.casefold())
        if other is not None and not (other.home == entry.home and other.name == entry.name):
            raise InputError(
                f"there is already a learner {other.name!r} ({other.home}): choose another name"
            )
    known = class_named(entry.cls.__name__)
    if known is not None and known is not entry.cls:
        home = f"{known.__module__}:{known.__qualname__}"
        if home != entry.home:
            raise InputError(
                f"there is already a class {known.__name__} ({home}), and model files name classes "
                "only: choose another name for the class"
            )


def _put(entry: Entry) -> None:
    """Keep the entry; entries of an earlier definition of its class get the new one."""
    for other in list(_REGISTERED.values()):
        if other.home == entry.home:
            _REGISTERED[other.name] = dataclasses.replace(other, registered=entry.registered)
    _REGISTERED[entry.name] = entry
    _BY_NAME.update({name.casefold(): each for each in _REGISTERED.values() for name in each.names})
