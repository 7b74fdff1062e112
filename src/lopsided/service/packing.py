"""Many events in one row of the log: columns instead of texts, names of features once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from .._core import Numbers
from .types import Answer, Costs, Event

LEAST = 16  # events that came together; fewer have a row each
MOST = 128  # in one row, so that one of them is found quickly

_encode = msgspec.msgpack.Encoder().encode


class Events(Struct, array_like=True):
    """The events of a row. `shapes` has the place in `names` of each, if there are several."""

    keys: list[str]
    times: list[float]
    names: list[list[str]]
    shapes: list[int] | None
    values: list[Raw]
    costs: dict[int, Costs]
    show: dict[int, dict[str, bool | float | str | None]]


class Answers(Struct, array_like=True):
    """What was answered to them; `seq` and `id` are those of the first."""

    seq: int
    id: int
    model: str
    score: list[float]
    flag: list[bool]
    asked: list[bool]
    ask_probability: list[float]
    probability: list[float | None] | None
    why: dict[int, str]
    reasons: dict[int, list[tuple[str, float]]]
    shadow: dict[int, dict[str, bool]]


_read_events = msgspec.msgpack.Decoder(Events).decode
_read_answers = msgspec.msgpack.Decoder(Answers).decode
_read_values = msgspec.msgpack.Decoder(list[bool | float | str]).decode


def pack_events(events: Sequence[Event]) -> bytes:
    """Return events, whose times are seconds, as the body of a row."""
    names, shapes = _shapes(events)
    return _encode(
        (
            [event.key for event in events],
            [event.time for event in events],
            names,
            shapes,
            [_values(event.features) for event in events],
            {i: event.costs for i, event in enumerate(events) if event.costs is not None},
            {i: event.show for i, event in enumerate(events) if event.show is not None},
        )
    )


def _shapes(events: Sequence[Event]) -> tuple[list[Any], list[int] | None]:
    """Return all lists of names that events have, and the place of that of each event.

    The places are None if there is only one list, which is looked for first.
    """
    given = [_names(event.features) for event in events]
    first = given[0]
    if all(one is first or one == first for one in given):
        return [first], None
    names: dict[tuple[str, ...], int] = {}
    shapes = [names.setdefault(tuple(one), len(names)) for one in given]
    return list(names), shapes


def _names(features: Any) -> list[str]:
    return features.names if type(features) is Numbers else list(features)


def _values(features: Any) -> Any:
    return Raw(features.packed()) if type(features) is Numbers else list(features.values())


def pack_answers(answers: Sequence[Answer]) -> bytes:
    """Return the answers to events that came together, whose numbers follow each other."""
    first = answers[0]
    sure = [a.probability for a in answers]
    return _encode(
        Answers(
            first.seq,
            first.id,
            first.model,
            [a.score for a in answers],
            [a.flag for a in answers],
            [a.asked for a in answers],
            [a.ask_probability for a in answers],
            None if sure.count(None) == len(sure) else sure,
            {i: a.why for i, a in enumerate(answers) if a.why is not None},
            {i: a.reasons for i, a in enumerate(answers) if a.reasons is not None},
            {i: a.shadow for i, a in enumerate(answers) if a.shadow is not None},
        )
    )


class Pack:
    """A row with many events.

    Parameters
    ----------
    body, out : bytes
        What `pack_events` and `pack_answers` made.
    """

    def __init__(self, body: bytes, out: bytes) -> None:
        self._events, self._answers = _read_events(body), _read_answers(out)
        self.first = self._answers.seq
        self.keys = self._events.keys

    def __len__(self) -> int:
        return len(self.keys)

    def event(self, at: int) -> Event:
        """Return one of the events."""
        held = self._events
        names = held.names[0 if held.shapes is None else held.shapes[at]]
        features: Any = dict(zip(names, _read_values(held.values[at]), strict=True))
        return Event(held.keys[at], features, held.times[at], held.costs.get(at), held.show.get(at))

    def answer(self, at: int) -> Answer:
        """Return what was answered to it."""
        held = self._answers
        return Answer(
            self.keys[at],
            held.seq + at,
            held.id + at,
            held.score[at],
            held.flag[at],
            held.asked[at],
            held.ask_probability[at],
            held.model,
            None if held.probability is None else held.probability[at],
            held.why.get(at),
            held.reasons.get(at),
            held.shadow.get(at),
        )

    def events(self) -> Iterator[Event]:
        """Yield all events."""
        return (self.event(at) for at in range(len(self)))
