"""The members of JSON objects: what they are, and whether a model knows them so."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ...errors import Parameter, Text
from ...estimator.expected import MISSING, Event, Expected, MemberError
from ...estimator.schema import Schema

Means = dict[str, tuple[float, int]]

__all__ = ["Event", "Keys", "MemberError"]

_MOST = 10_000  # members that are told apart; beyond that they are taken for an open vocabulary
_SHAPES = 1_000  # events of other names or kinds that are remembered
_SHOWN = 10  # members in notes


class Keys:
    """What the members of events are, met so far or known to a model.

    Parameters
    ----------
    schema : Schema or None
        That of the model: events are checked against it.
    missing : str
        What to do about a member that is null, or absent where the model knows it.
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
        self._learning = learning
        self._expected = Expected(Schema() if schema is None else schema, missing)
        self.without_nulls = self._expected.without_nulls
        self._known = self._expected.kinds
        self._kinds = dict(self._known)  # object: of several kinds
        self._shapes: set[tuple[object, ...]] = set()  # of events met: names and kinds
        fixed = None if learning or names is None else frozenset(names)
        self._names = None if fixed is None else lambda: fixed
        self._always: set[str] | None = set(self._expected.wanted) if self._known else None
        self._is_open = False  # too many members to tell
        self.begin()

    def begin(self) -> None:
        """Begin a block of events."""
        self._before, self._met = dict(self._expected.sums), list[Event]()

    def means_after(self, rows: int) -> Means:
        """Return sum and number of the cells of numbers after some events of the block."""
        found = dict(self._before)
        for event in self._met[:rows]:
            _add(found, event)
        return found

    @property
    def means(self) -> Means:
        """Sum and number of the cells of numbers so far."""
        return dict(self._expected.sums)

    def checked(self, event: Event, *, counts: bool = True) -> Event | None:
        """Return the features of an event as the model knows them, None if it must be left out.

        `counts` says whether its cells add to the means.
        """
        if self._known:
            found = self._expected.checked(event, self._learning)
            if found is None:
                return None
            event = found
        self._meet(event)
        found = self._expected.filled(event, self._names)
        if self._learning and self._expected.sums:
            self._met.append(event if counts else {})
            _add(self._expected.sums, self._met[-1])
        return found

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
        rule, unknown = self._expected.schema.unknown, self._expected.unknown
        learned = self._learning and rule != "ignore"
        if learned and rule == "learn":
            return []
        what, done = (
            ("new to the model", "learned from")
            if learned
            else ("which the model does not know", "ignored")
        )
        notes: list[Text] = [
            (
                f'"{name}", {what}, is {done} in {count:,} event{"s" * (count > 1)}; ',
                Parameter("drop"),
                " leaves it out",
            )
            for name, count in itertools.islice(unknown.items(), _SHOWN)
        ]
        more = len(unknown) - _SHOWN
        if more > 0:
            notes.append(f"and {more:,} more, {what}: {done}")
        return notes


def _add(sums: Means, event: Event) -> None:
    """Add the numbers of an event to the sums of their columns."""
    for name, (total, count) in sums.items():
        value = event.get(name, MISSING)
        if not isinstance(value, str):
            sums[name] = total + value, count + 1


def _joined(one: type | None, other: type) -> type:
    """Return the kind of a member that has values of two kinds."""
    if other is int:
        other = float
    if one is None or one is other:
        return other
    return bool if {one, other} == {bool, float} else object
