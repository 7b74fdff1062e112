"""Parameters of estimators, declared together with their ranges."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import math
import numbers
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ..errors import ParameterError, UnknownParameterError
from .docstrings import document_parameters

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform

T = TypeVar("T")
Check = Callable[[Any], bool]


def parameter(
    default: Any, wanted: str, check: Check = lambda _: True, *, kw_only: bool = True
) -> Any:
    """Return a parameter that must pass a check; `wanted` says in words what passes."""
    about = {"wanted": wanted, "check": check}
    return dataclasses.field(default=default, metadata=about, kw_only=kw_only)


def is_number(value: Any) -> bool:
    """Say whether a value is a finite number."""
    if type(value) is float:  # the common case
        return math.isfinite(value)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def same(a: Any, b: Any) -> bool:
    """Say whether two values of a parameter are equal; they may be arrays."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, tuple) or isinstance(b, tuple):  # a file gives lists
        a, b = (list(v) if isinstance(v, tuple) else v for v in (a, b))
    return bool(a == b)


def positive(default: float | None, *, optional: bool = False) -> Any:
    """Return a parameter that must be a number above 0 (or None)."""
    wanted = "a positive number" + (" or None" if optional else "")
    return parameter(
        default, wanted, lambda v: (optional and v is None) or (is_number(v) and v > 0)
    )


def number(
    default: float | None,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    optional: bool = False,
) -> Any:
    """Return a parameter that must be a finite number in a closed range (or None)."""
    wanted = "a finite number"
    if math.isfinite(low):
        wanted = f"a number of at least {low:g}"
        if math.isfinite(high):
            wanted = f"a number from {low:g} to {high:g}"
    return parameter(
        default,
        wanted + (" or None" if optional else ""),
        lambda v: (optional and v is None) or (is_number(v) and low <= v <= high),
    )


def fraction(default: float | None, *, optional: bool = False) -> Any:
    """Return a parameter that must lie strictly between 0 and 1 (or be None)."""
    return parameter(
        default,
        "a number between 0 and 1, both excluded" + (", or None" if optional else ""),
        lambda v: (optional and v is None) or (is_number(v) and 0 < v < 1),
    )


def integer(default: int | None, low: int, high: int, *, optional: bool = False) -> Any:
    """Return a parameter that must be a whole number in a closed range (or None)."""
    wanted = f"a whole number from {low} to {high}" + (" or None" if optional else "")

    def check(v: Any) -> bool:
        if v is None:
            return optional
        return is_number(v) and v == int(v) and low <= v <= high

    return parameter(default, wanted, check)


# The learners with the parameter `forget`.
FORGETTING = ("ACOG", "AROW", "AdaFOBOS", "OPAUC")


def forgetting() -> Any:
    """Return the parameter `forget` of a learner in FORGETTING: a half-life in labels."""
    return integer(None, 1, 2**31 - 1, optional=True)


def parameter_hint(name: str, known: Iterable[str]) -> str:
    """Say which parameter was probably meant, or which learners have it."""
    return f"{', '.join(FORGETTING)} have it" if name == "forget" else nearest(name, known)


def sizes(default: int) -> Any:
    """Return a parameter that is a size, or a pair of sizes for the negative and positive class."""
    one = integer(default, 1, 10**6).metadata["check"]
    return parameter(
        default,
        "a whole number from 1 to 1000000, or a pair of them",
        lambda v: all(map(one, v)) and len(v) == 2 if isinstance(v, (tuple, list)) else one(v),
    )


def choice(default: str, *choices: str) -> Any:
    """Return a parameter that must be one of some words."""
    return parameter(
        default,
        "one of " + ", ".join(repr(c) for c in choices),
        lambda v: isinstance(v, str) and v in choices,
    )


def switch(default: bool) -> Any:
    """Return a parameter that is true or false."""
    return parameter(
        default,
        "True or False",
        lambda v: isinstance(v, (bool, np.bool_)) or (type(v) is int and v in (0, 1)),
    )


# The fields of a class, cached: dataclasses collects them on every call.
Fields = tuple[dataclasses.Field[Any], ...]
fields_of: Callable[[Any], Fields] = functools.cache(dataclasses.fields)


def check_parameters(estimator: Any) -> None:
    """Raise a ValueError that names the first parameter out of its range."""
    for field in fields_of(type(estimator)):
        value = getattr(estimator, field.name)
        check = field.metadata.get("check")
        if check is not None and not check(value):
            raise ParameterError(
                field.name,
                f"is invalid: it must be {field.metadata['wanted']}",
                value=value,
                owner=type(estimator).__name__,
            )


def nearest(word: str, known: Iterable[str]) -> str:
    """Say which known word was probably meant, as the tail of an error message."""
    by_fold = {k.casefold(): k for k in known}
    found = difflib.get_close_matches(word.casefold(), by_fold, n=1, cutoff=0.5)
    if found:
        return f"did you mean {by_fold[found[0]]!r}?"
    return "there are " + ", ".join(sorted(by_fold.values()))


if TYPE_CHECKING:

    @dataclass_transform(kw_only_default=True, eq_default=False)
    def estimator(cls: type[T]) -> type[T]:
        """Make the annotated fields of a learner its parameters, and document all of them."""
else:  # type checkers do not look through this

    def estimator(cls):
        """Make the annotated fields of a learner its parameters, and document all of them."""
        text = cls.__doc__
        made = dataclasses.dataclass(kw_only=True, eq=False, repr=False)(cls)
        made.__doc__ = text  # and not a signature where there is none
        document_parameters(made)
        return made


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class Parameterised:
    """A class whose annotated fields are its parameters, with the interface of scikit-learn."""

    def __new__(cls, *_args: Any, **params: Any) -> Self:
        """Say which parameter was probably meant when there is none of that name."""
        known = cls._own_names()
        for name in params:
            if name not in known:
                raise UnknownParameterError(cls.__name__, name, parameter_hint(name, known))
        return super().__new__(cls)

    @classmethod
    def _own_names(cls) -> list[str]:
        return [f.name for f in fields_of(cls) if f.init]

    @classmethod
    def made(cls, **params: Any) -> Self:
        """Return an estimator with these parameters."""
        return cls(**params)

    def parameter_names(self) -> list[str]:
        """Return the names that set_params takes."""
        return list(self.get_params())

    def described(self) -> list[tuple[str, Any, str]]:
        """Return the name, value and range of each parameter."""
        fields = (f for f in dataclasses.fields(self) if f.init)
        return [(f.name, getattr(self, f.name), f.metadata.get("wanted", "")) for f in fields]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {f.name: getattr(self, f.name) for f in fields_of(type(self)) if f.init}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise UnknownParameterError(repr(self), name, parameter_hint(name, known))
        for name, value in params.items():
            setattr(self, name, value)
        return self

    _always_shown: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        defaults = {f.name: f.default for f in dataclasses.fields(self)}
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if name in self._always_shown or not same(value, defaults[name])
        )
        return f"{type(self).__name__}({', '.join(changed)})"
