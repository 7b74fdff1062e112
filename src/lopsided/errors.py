"""The errors of the package: what is wrong, where it is and what to do, as fields.

All derive from `LopsidedError`, and from the built-in class (ValueError, TypeError, ...) that
scikit-learn and plain Python code expect in their place. `str(error)` words the fields for Python;
`error.text(words)` words them for somebody else, as the command line does with its options.

Examples
--------
>>> import lopsided
>>> from lopsided.errors import LopsidedError, ParameterError
>>> try:
...     lopsided.COG(learning_rate=-1).fit([[1.0], [2.0]], [0, 1])
... except ParameterError as error:
...     print(error.parameter, error.value, isinstance(error, LopsidedError))
learning_rate -1 True
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar

_SHOWN = 60  # characters of an offending text
_ABSENT = object()  # a value that is not given; None is one
E = TypeVar("E", bound="LopsidedError")


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter that a remedy names, perhaps with a value for it."""

    name: str
    value: str | None = None


@dataclasses.dataclass(frozen=True)
class Method:
    """A method that a remedy names: there is none outside Python."""

    name: str


Text = str | tuple[str | Parameter | Method, ...]


class Words:
    """How errors name parameters and methods: here as Python does."""

    def subject(self, parameter: str) -> str:
        """Return a parameter as the subject of a sentence."""
        return parameter

    def given(self, parameter: str, value: Any) -> str:
        """Return a parameter together with the value that it was given."""
        return f"{parameter}={value!r}"

    def part(self, part: str | Parameter | Method) -> str | None:
        """Return a part of a text, None if there are no words for it."""
        if isinstance(part, Parameter):
            return f"{part.name}=" + ("" if part.value is None else f'"{part.value}"')
        return part.name if isinstance(part, Method) else part

    def sentence(self, text: Text) -> str | None:
        """Return a text, None if there are no words for a part of it."""
        parts = [self.part(part) for part in ((text,) if isinstance(text, str) else text)]
        return None if None in parts else "".join(map(str, parts))


PYTHON = Words()


class LopsidedError(Exception):
    """The parent of all errors of the package.

    Parameters
    ----------
    what : str
        What is wrong.
    where : str
        The place, empty if it is not known.
    remedy : sequence of texts
        What to do about it: alternatives. A text is a str, or a tuple of str, `Parameter` and
        `Method`.
    """

    def __init__(self, what: str, *, where: str = "", remedy: Sequence[Text] = ()) -> None:
        self.what, self.where, self.remedy = what, where, tuple(remedy)
        super().__init__(self.text())

    def fault(self, words: Words = PYTHON) -> str:
        """Return what is wrong, without the place and the remedy."""
        return self.what

    def advice(self, words: Words = PYTHON) -> str:
        """Return what to do, empty if nobody knows."""
        return " or ".join(s for s in map(words.sentence, self.remedy) if s is not None)

    def text(self, words: Words = PYTHON) -> str:
        """Return the error as one line: place, fault and remedy."""
        text = "; ".join(part for part in (self.fault(words), self.advice(words)) if part)
        return f"{self.where}: {text}" if self.where else text

    def within(self: E, place: str) -> E:
        """Return the error with a place around its own."""
        error = copy.copy(self)
        error.where = f"{place}: {self.where}" if self.where else place
        error.args = (error.text(),)
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(cls: type[E], args: tuple[Any, ...], fields: dict[str, Any]) -> E:
    error = cls.__new__(cls, *args)
    error.__dict__.update(fields)
    return error


class InputError(LopsidedError, ValueError):
    """Rows, labels, weights or other values that cannot be used as they are given.

    Attributes
    ----------
    row, column : int, optional
        Where the fault is.
    """

    def __init__(
        self,
        what: str,
        *,
        row: int | None = None,
        column: int | None = None,
        where: str = "",
        remedy: Sequence[Text] = (),
    ) -> None:
        self.row, self.column = row, column
        super().__init__(what, where=where, remedy=remedy)


class InputTypeError(LopsidedError, TypeError):
    """A value of a type that cannot be used."""


class BadRowError(InputError):
    """A row that cannot be used; nothing was learned."""

    row: int

    def __init__(
        self, what: str, row: int, *, column: int | None = None, remedy: Sequence[Text] = ()
    ) -> None:
        super().__init__(what, row=row, column=column, where=f"row {row}", remedy=remedy)

    def text(self, words: Words = PYTHON) -> str:
        """Return the error as one line."""
        return f"{super().text(words)}; nothing was learned"


class LabelError(InputError):
    """A label that cannot be used, and its row if that is known.

    Attributes
    ----------
    strange : list of int
        All rows with a label beyond the first two; empty where that is not the fault.
    known : list
        The labels known before.
    named_by : str
        The parameter that names them.
    """

    strange: Sequence[int] = ()
    known: Sequence[Any] = ()
    named_by: str = ""

    def __init__(self, what: str, row: int | None = None, *, remedy: Sequence[Text] = ()) -> None:
        where = "" if row is None else f"row {row}"
        super().__init__(what, row=row, where=where, remedy=remedy)


class ParameterError(LopsidedError, ValueError):
    """A parameter that cannot be as it is.

    Parameters
    ----------
    parameter : str
        Its name.
    what : str
        What is wrong, as a sentence whose subject is the parameter.
    value : object, optional
        The value that it was given.
    owner : str, optional
        The class that it belongs to.
    remedy : sequence of texts
        What to do about it.

    Examples
    --------
    >>> print(ParameterError("k", "must be at least 1", value=0))
    k=0 must be at least 1
    """

    def __init__(
        self,
        parameter: str,
        what: str,
        *,
        value: Any = _ABSENT,
        owner: str = "",
        remedy: Sequence[Text] = (),
    ) -> None:
        self.parameter, self.owner = parameter, owner
        self.has_value = value is not _ABSENT
        self.value = value if self.has_value else None
        super().__init__(what, where=owner, remedy=remedy)

    def fault(self, words: Words = PYTHON) -> str:
        """Return what is wrong, with the parameter as the subject."""
        if not self.has_value:
            return f"{words.subject(self.parameter)} {self.what}"
        return f"{words.given(self.parameter, self.value)} {self.what}"


class UnknownNameError(LopsidedError, LookupError, ValueError):
    """A name that nothing has.

    Parameters
    ----------
    kind : str
        What there is none of: a learner, a metric, ...
    name : object
        The name that was given.
    hint : str
        Which names there are, or which one was probably meant.
    """

    def __init__(self, kind: str, name: Any, hint: str, *, where: str = "") -> None:
        self.kind, self.name, self.hint = kind, name, hint
        super().__init__(f"there is no {kind} {name!r}: {hint}", where=where)


class UnknownDatasetError(UnknownNameError):
    """A name that no data set has."""

    def __init__(self, name: str, hint: str) -> None:
        super().__init__("data set", name, hint)


class UnknownParameterError(UnknownNameError, TypeError):
    """A name that no parameter of an estimator has."""

    def __init__(self, owner: str, name: str, hint: str) -> None:
        self.owner = owner
        super().__init__("parameter", name, hint)

    def fault(self, words: Words = PYTHON) -> str:
        """Return who has no such parameter."""
        return f"{self.owner} has no parameter {self.name!r}: {self.hint}"


class DivergedError(LopsidedError, ValueError):
    """A model whose scores or weights are no longer finite.

    The row is not to blame: learn anew with scaled features or a smaller step. A model that is
    large beside the batch may have learned from the rows before this one, unless values are beyond
    1e50: then it is unchanged.
    """

    def __init__(self, what: str, row: int | None = None) -> None:
        self.row = row
        super().__init__(what, where="" if row is None else f"row {row}")


class NotFittedError(LopsidedError, ValueError, AttributeError):
    """A model that has not learned anything yet."""


class DataError(LopsidedError, ValueError):
    """A fault in the data: where it is, what stands there, what was expected.

    Parameters
    ----------
    file : str
        The file.
    line : int, optional
        Its line (or row, see `unit`), from 1.
    column : int or str, optional
        The column, by number or by name.
    found : str, optional
        What stands there.
    expected : str
        What should stand there; without `found` what is wrong.
    unit : str
        What `line` counts.
    parameter : str, optional
        The parameter that does not fit the data.
    remedy : sequence of texts
        What to do about it.

    Examples
    --------
    >>> print(DataError("events.csv", 7, "amount", "abc", "a number"))
    events.csv, line 7, column "amount": found "abc", expected a number
    """

    def __init__(
        self,
        file: str,
        line: int | None = None,
        column: int | str | None = None,
        found: str | None = None,
        expected: str = "",
        unit: str = "line",
        *,
        parameter: str | None = None,
        remedy: Sequence[Text] = (),
    ) -> None:
        self.file, self.line, self.column = file, line, column
        self.parameter = parameter
        self.found, self.expected, self.unit = found, expected, unit
        what = expected
        if found is not None:
            shown = found if len(found) <= _SHOWN else found[:_SHOWN] + "…"
            what = f'found "{shown}", expected {expected}'
        where = file if line is None else f"{file}, {unit} {line}"
        if column is not None:
            where += f', column "{column}"' if isinstance(column, str) else f", column {column}"
        super().__init__(what, where=where, remedy=remedy)

    def fault(self, words: Words = PYTHON) -> str:
        """Return what is wrong, behind the parameter that is."""
        return (
            self.what if self.parameter is None else f"{words.subject(self.parameter)}: {self.what}"
        )

    @classmethod
    def of(cls, error: LopsidedError, file: str, line: int) -> DataError:
        """Return what is wrong with a row as a fault of the line that it comes from."""
        return cls(file, line, expected=error.fault(), remedy=error.remedy)


class ModelFileError(LopsidedError, ValueError):
    """A file that is not a complete and sound model."""

    def __init__(self, what: str, file: str = "") -> None:
        self.file = file
        super().__init__(what, where=file)


class AbsentDataError(LopsidedError, LookupError):
    """A data set that is not on this machine; the message says how to get it."""


class FetchError(LopsidedError, RuntimeError):
    """A download that failed: which address, what happened, what to do.

    Examples
    --------
    >>> print(FetchError("http://host/a9a", "404 Not Found", "look at the page of the set"))
    http://host/a9a: 404 Not Found; look at the page of the set
    """

    def __init__(self, address: str, happened: str, advice: str) -> None:
        self.address = address
        super().__init__(happened, where=address, remedy=(advice,))


class InterruptedReadError(LopsidedError):
    """Reading was given up while it waited for more bytes of a pipe."""

    def __init__(self) -> None:
        super().__init__("reading was interrupted")
