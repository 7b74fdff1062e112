"""The members of JSON objects: what they are, and whether a model knows them so."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ...errors import Parameter, Text
from ...estimator.schema import Schema
from ..block import A_VALUE, TOLERATE_MISSING
from .tabular.columns import MISSING

Event = dict[str, Any]

_MOST = 10_000  # members that are told apart; beyond that they are taken for an open vocabulary
_SHAPES = 1_000  # events of other names or kinds that are remembered
_SHOWN = 10  # members in notes


class LineError(Exception):
    """Column, text found, what was expected."""

    def __init__(self, *fault: Any, remedy: Sequence[Text] = ()) -> None:
        super().__init__(*fault)
        self.remedy = remedy


class Keys:
    """What the members of events are, met so far or known to a model.

    Parameters
    ----------
    schema : Schema or None
        That of the model: events are checked against it.
    missing : str
        What is to be done about a member that is null, or absent where the model knows it.
    learning : bool
        Whether members that the model does not know are learned from.
    names : sequence of str, optional
        The features of the model.
    """

    def __init__(
        self,
        schema: Schema | None,
        missing: str,
        *,
        learning: bool,
        names: Sequence[str] | None = None,
    ) -> None:
        self._missing, self._learning = missing, learning
        known = Schema() if schema is None else schema
        self._known: dict[str, type] = {
            **dict.fromkeys(known.numbers, float),
            **dict.fromkeys(known.flags, bool),
            **dict.fromkeys(known.categories, str),
            **dict.fromkeys(set(known.numbers).intersection(known.categories), object),
        }
        self._kinds = dict(self._known)  # object: of several kinds
        self._shapes: set[tuple[object, ...]] = set()  # of events met: names and kinds
        self._names = None if learning or names is None else frozenset(names)
        self._means = {name: total / max(count, 1) for name, (total, count) in known.means.items()}
        self._is_checked = bool(known.features)
        self._wanted = known.features.difference(known.optional)
        self._always: set[str] | None = set(self._wanted) if self._is_checked else None
        self._is_open = False  # too many members to tell
        self._unknown: Counter[str] = Counter()

    def without_nulls(self, event: Event) -> Event | None:
        """Return an event without nulls, None if it must be left out."""
        if self._missing == "drop":
            return None
        if self._missing == "error":
            name = next(name for name, value in event.items() if value is None)
            raise LineError(name, "null", A_VALUE, remedy=TOLERATE_MISSING)
        if self._missing == "indicate":
            return {name: MISSING if value is None else value for name, value in event.items()}
        return {name: value for name, value in event.items() if value is not None}

    def checked(self, event: Event) -> Event | None:
        """Return the features of an event as the model knows them, None if it must be left out."""
        if self._is_checked:
            lacking = self._wanted - event.keys()
            if lacking:
                if self._missing == "error":
                    raise LineError(
                        min(lacking), None, "this object has no such member, which the model knows"
                    )
                filled = self.without_nulls({**event, **dict.fromkeys(sorted(lacking))})
                if filled is None:
                    return None
                event = filled
            event = self._typed(event)
        self._meet(event)
        return self._filled(event) if self._means and MISSING in event.values() else event

    def _filled(self, event: Event) -> Event:
        """Return an event with means for missing numbers, as a table of numbers has them."""
        filled = dict(event)
        for name, value in event.items():
            if value == MISSING and name in self._means:
                filled[name], sign = self._means[name], f"{name}={MISSING}"
                if self._names is None or sign in self._names:
                    filled[sign] = 1.0
        return filled

    def _typed(self, event: Event) -> Event:
        """Return an event whose categories are texts; raise where a number is not one."""
        strange = []
        for name, value in event.items():
            known, kind = self._known.get(name), value.__class__
            if known is None:
                strange.append(name)
            elif known is str:
                if kind is not str:
                    event = {**event, name: str(value)}
            elif known is object:
                continue
            elif (kind is str and value != MISSING) or (kind is bool and known is not bool):
                raise LineError(name, json.dumps(value), "a number, as the model knows it")
        if strange:
            self._unknown.update(strange)
            if not self._learning:
                event = {name: value for name, value in event.items() if name not in strange}
        return event

    def _meet(self, event: Event) -> None:
        """Record what the members of an event are."""
        shape = (*event, *map(type, event.values()))
        if shape in self._shapes:
            return
        keys = event.keys()
        if self._always is None:
            self._always = set(keys)
        elif not self._always <= keys:
            self._always.intersection_update(keys)
        if not self._is_open:
            for name, value in event.items():  # in their order
                if name not in self._known and value != MISSING:
                    self._kinds[name] = _joined(self._kinds.get(name), value.__class__)
            self._is_open = len(self._kinds) > _MOST
        if len(self._shapes) < _SHAPES and MISSING not in event.values():
            self._shapes.add(shape)

    def described(self) -> dict[str, tuple[str, ...]]:
        """Return the members for a schema, none if there are too many."""
        if self._is_open:
            return dict.fromkeys(("numbers", "flags", "categories", "optional"), ())
        kinds, always = self._kinds, self._always or ()
        return {
            "numbers": tuple(name for name, kind in kinds.items() if kind is not str),
            "flags": tuple(name for name, kind in kinds.items() if kind is bool),
            "categories": tuple(name for name, kind in kinds.items() if kind in (str, object)),
            "optional": tuple(name for name in kinds if name not in always),
        }

    def notes(self) -> list[Text]:
        """Return what differs from what the model knows, counted."""
        what, done = (
            ("new to the model", "learned from")
            if self._learning
            else ("which the model does not know", "ignored")
        )
        notes: list[Text] = [
            (
                f'"{name}", {what}, is {done} in {count:,} event{"s" * (count > 1)}; ',
                Parameter("drop"),
                " leaves it out",
            )
            for name, count in itertools.islice(self._unknown.items(), _SHOWN)
        ]
        more = len(self._unknown) - _SHOWN
        if more > 0:
            notes.append(f"and {more:,} more, {what}: {done}")
        return notes


def _joined(one: type | None, other: type) -> type:
    """Return the kind of a member that has values of two kinds."""
    if other is int:
        other = float
    if one is None or one is other:
        return other
    return bool if {one, other} == {bool, float} else object
