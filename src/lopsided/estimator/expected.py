"""Events held against what a model knows: nothing that differs passes in silence."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from ..errors import PYTHON, BadRowError, InputError, Parameter, Text
from .frames import FrameEvents, category_text, frame_names, moments
from .schema import Schema
from .times import clock_names, clock_of, seconds

Event = dict[str, Any]

MISSING = "(missing)"  # the category of an empty cell
A_VALUE = "a value"  # what is expected where nothing stands
TOLERATE_MISSING: Sequence[Text] = (
    (
        Parameter("missing", "zero"),
        " or ",
        Parameter("missing", "drop"),
        " tolerates missing cells",
    ),
)
_NUMBER, _FLAG, _TEXT, _ANY, _OPTIONAL = 0, 1, 2, 3, 4  # as the core has them


class MemberError(Exception):
    """A member of an event that a model cannot take: its name, what was found and expected."""

    def __init__(
        self, name: Any, found: str | None, expected: str, *, remedy: Sequence[Text] = ()
    ) -> None:
        super().__init__(name, found, expected)
        self.remedy = remedy

    def within(self, row: int | None) -> InputError:
        """Return the error for users of Python, who may have given several rows."""
        name, found, expected = self.args
        text = expected if found is None else f"found {found}, expected {expected}"
        text = f'feature "{name}": {text}'
        return InputError(text) if row is None else BadRowError(text, row)


class Expected:
    """What the members of events are by the schema of a model.

    Parameters
    ----------
    schema : Schema
        That of the model; without features nothing is checked.
    missing : str
        What to do about a member that is null, or absent where the model knows it.

    Attributes
    ----------
    unknown : Counter
        The members met that the model does not know.
    """

    def __init__(self, schema: Schema, missing: str) -> None:
        self.schema, self._missing = schema, missing
        self.kinds: dict[str, type] = {
            **dict.fromkeys(schema.numbers, float),
            **dict.fromkeys(schema.flags, bool),
            **dict.fromkeys(schema.categories, str),
            **dict.fromkeys(set(schema.numbers).intersection(schema.categories), object),
        }
        self.wanted = schema.features.difference(schema.optional)
        self.sums = dict(schema.means)  # sum and number of the cells so far
        self.unknown: Counter[str] = Counter()

    def codes(self) -> dict[str, int] | None:
        """Return the kinds for the core, None where nothing is checked."""
        if not self.kinds:
            return None
        codes = {float: _NUMBER, bool: _FLAG, str: _TEXT, object: _ANY}
        return {
            name: codes[kind] + _OPTIONAL * (name not in self.wanted)
            for name, kind in self.kinds.items()
        }

    def checked(self, event: Event, learning: bool) -> Event | None:
        """Return the members of an event as the model knows them, None if it must be left out."""
        lacking = self.wanted - event.keys()
        if lacking:
            if self._missing == "error":
                raise MemberError(
                    min(lacking), None, "this object has no such member, which the model knows"
                )
            filled = self.without_nulls({**event, **dict.fromkeys(sorted(lacking))})
            if filled is None:
                return None
            event = filled
        return self._typed(event, learning) if self.kinds else event

    def without_nulls(self, event: Event) -> Event | None:
        """Return an event without nulls, None if it must be left out."""
        if self._missing == "drop":
            return None
        if self._missing == "error":
            name = next(name for name, value in event.items() if value is None)
            raise MemberError(name, "null", A_VALUE, remedy=TOLERATE_MISSING)
        if self._missing == "indicate":
            return {name: MISSING if value is None else value for name, value in event.items()}
        return {name: value for name, value in event.items() if value is not None}

    def filled(self, event: Event, names: Callable[[], Container[str]] | None) -> Event:
        """Return an event with means for missing numbers, as a table of numbers has them.

        `names` returns the features of a model that cannot learn others.
        """
        if not self.sums or MISSING not in event.values():
            return event
        known = None if names is None else names()
        filled = dict(event)
        for name, value in event.items():
            if value.__class__ is str and value == MISSING and name in self.sums:
                total, count = self.sums[name]
                filled[name], sign = total / max(count, 1), f"{name}={MISSING}"
                if known is None or sign in known:
                    filled[sign] = 1.0
        return filled

    def _typed(self, event: Event, learning: bool) -> Event:
        """Return an event whose categories are texts; raise where a number is not one."""
        strange = []
        for name, value in event.items():
            known, kind = self.kinds.get(name), value.__class__
            if known is None:
                strange.append(name)
            elif known is str:
                if kind is not str:
                    event = {**event, name: category_text(value)}
            elif known is object:
                continue
            elif (kind is str and value != MISSING) or (is_flag(value) and known is not bool):
                raise MemberError(name, _shown(value), "a number, as the model knows it")
        return self._without(strange, event, learning) if strange else event

    def _without(self, strange: list[str], event: Event, learning: bool) -> Event:
        """Return an event without the members that the model does not know and cannot learn."""
        if self.schema.unknown == "error":
            raise MemberError(
                strange[0],
                None,
                "the model does not know it",
                remedy=[(Parameter("unknown", "ignore"), " leaves such members out")],
            )
        self.unknown.update(strange)
        if learning and self.schema.unknown != "ignore":
            return event
        return {name: value for name, value in event.items() if name not in strange}


class ExpectedOfModel(Expected):
    """What events given to the methods of a model have to be.

    Columns that are not features (ids, labels, times) are left out, NaN is a missing value as None
    is, and the first of each unknown member is a warning.
    """

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema, schema.missing)
        self._aside = schema.aside - schema.features

    def of_user(
        self, event: Event, names: Callable[[], Container[str]] | None, row: int | None = None
    ) -> Event:
        """Return the features of an event; raise where it is not what the model knows.

        `names` returns the features of a model that is not to learn from it, or is None.
        """
        learning = names is None
        met = len(self.unknown)
        event = self._with_clock(event, row)
        event = {name: value for name, value in event.items() if name not in self._aside}
        try:
            found: Event | None = event
            if any(map(is_null, event.values())):
                found = self.without_nulls({n: None if is_null(v) else v for n, v in event.items()})
            found = None if found is None else self.checked(found, learning)
            if found is None:
                absent = next((n for n, v in event.items() if is_null(v)), None)
                name = min(self.wanted - event.keys()) if absent is None else absent
                raise MemberError(name, None, "it is missing, and missing values leave events out")
        except MemberError as error:
            raise error.within(row) from None
        if len(self.unknown) > met:
            self._warn(list(self.unknown)[met:], learning)
        return self.filled(found, names)

    def _with_clock(self, event: Event, row: int | None) -> Event:
        """Return an event with the hour and weekday of its time, where they are features."""
        column = self.schema.time_features
        if column is None or column not in event:
            return event
        time = seconds(event[column])
        if time is None:
            raise MemberError(column, _shown(event[column]), "a time").within(row)
        return {**event, **dict(zip(clock_names(column), clock_of(time), strict=True))}

    def _warn(self, names: list[str], learning: bool) -> None:
        learned = learning and self.schema.unknown != "ignore"
        if self.schema.unknown is None:
            what = "new to the model, and learned from" if learned else "unknown to the model, and"
            _warn(
                f"{', '.join(map(repr, names))}: {what}{'' if learned else ' ignored'} from now "
                "on; Schema.unknown says what to do"
            )


def is_null(value: Any) -> bool:
    """Say whether a value stands for a missing one: None, NaN, or NA and NaT of pandas."""
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def is_flag(value: Any) -> bool:
    """Say whether a value is true or false, of NumPy too."""
    return value.__class__ is bool or getattr(getattr(value, "dtype", None), "kind", "") == "b"


def _shown(value: Any) -> str:
    return json.dumps(value) if isinstance(value, (str, bool)) else str(value)


def frame_as_known(X: Any, schema: Schema, learning: bool) -> Any:
    """Return a data frame as a model of a schema takes it: as events, unless it has numbers only.

    Columns that are not features, and unknown ones to be ignored, are left out.
    """
    if not len(X):
        return X
    names = list(X[0]) if isinstance(X, FrameEvents) else frame_names(X) or []
    clock = schema.time_features if schema.time_features in names else None
    left_out = schema.aside - schema.features - {clock}
    if schema.unknown == "ignore" or (schema.unknown == "learn" and not learning):
        left_out |= {name for name in names if name not in schema.features and name != clock}
    if left_out.intersection(names):
        names = [name for name in names if name not in left_out]
        X = _selected(X, names)
    texts, flags = (X.schema.categories, X.schema.flags) if isinstance(X, FrameEvents) else ((), ())
    if not isinstance(X, FrameEvents):
        if not schema.categories and schema.missing != "indicate":
            return X
        values = {name: np.asarray(X[name].to_numpy()) for name in names}
        flags = tuple(name for name in names if values[name].dtype.kind == "b")
        cells = [moments(column) or column.tolist() for column in values.values()]
        X = [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]
    made = () if clock is None else clock_names(clock)
    columns = [*(name for name in names if name != clock), *made]
    for note in schema.compare("X", columns, texts, flags, learning=learning):
        _warn(str(PYTHON.sentence(note)))
    return X


def _selected(X: Any, names: list[str]) -> Any:
    """Return some columns of a data frame."""
    if isinstance(X, FrameEvents):
        return FrameEvents(({name: row[name] for name in names} for row in X), X.schema)
    return X.select(names) if hasattr(X, "column_names") else X[names]


def check_frame(frame: Schema, schema: Schema, learning: bool) -> Schema:
    """Return the schema of a model that has learned from a frame of numbers; raise for unlike ones.

    Whether the columns of the model are there was checked.
    """
    known = [name for name in frame.numbers if name in schema.features]
    columns = frame.numbers if learning else (*schema.numbers, *schema.categories)
    flags = [name for name in frame.flags if name in known]
    schema.compare("X", columns, (), flags, learning=True)
    new = [name for name in columns if name not in schema.features]
    return schema.extended({name: name in frame.flags or 1.0 for name in new}) if new else schema


def warn_of_new(before: Schema | None, now: Schema | None) -> None:
    """Warn of columns that a model has learned from for the first time."""
    if before is None or now is None or before.unknown is not None:
        return
    for note in before.compare("X", (*now.numbers, *now.categories), (), learning=True):
        _warn(str(PYTHON.sentence(note)))


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=6)
