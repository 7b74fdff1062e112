"""JSON lines: one object per event, its members are the named features."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np

from ...errors import DataError, InputError, Parameter, ParameterError
from ...estimator.batch import CheckedEvents
from ...estimator.expected import MemberError
from ...estimator.schema import Schema
from ...estimator.times import seconds
from ..block import BadLines, Block
from .base import (
    BLOCK_ROWS,
    BOM,
    CHUNK_BYTES,
    MAX_LINE_BYTES,
    Missing,
    Reader,
    check_options,
    too_long,
)
from .files import ByteStream, open_bytes
from .keys import Event, Keys
from .tabular.arrow import SchemaAfter
from .tabular.cells import TIME
from .tabular.classes import Classes
from .tabular.clock import Order, TimeFeatures, check_since
from .tabular.columns import near

_LARGEST = int(sys.float_info.max)
_LONGEST_NUMBER = 300  # digits that always fit
_BYTE = re.compile(r"(?:JSON is malformed: )?(.*) \(byte (\d+)\)")

_NAME_LABEL = (("name the key of the label with ", Parameter("label")),)


class JsonLinesReader(Reader):
    r"""Read JSON lines as a stream of blocks whose rows are dicts.

    A member is a number, true or false, or a string, which becomes the feature "name=string".
    Blank lines are skipped.

    Parameters
    ----------
    path : str
        A file, plain or compressed, or "-".
    label : str
        The member with the label.
    weight : str, optional
        The member with the weight.
    time : str, optional
        The member with the time: seconds since 1970, or a date, in UTC unless it has a time zone.
    time_features : str, optional
        The member with the time whose hour and weekday, in UTC, become features.
    since : sequence of str
        Members with keys: the time since the last event of the same key becomes a feature.
    key : str, optional
        The member with the id, which is copied to `Block.kept` and is no feature. With labels, at
        least one event must have it.
    drop : sequence of str
        Members to leave out, of any type. Not every event must have them, but with labels at least
        one event must.
    keep : sequence of str
        More members to copy to `Block.kept`; they stay features unless they are dropped. With
        labels, at least one event must have them.
    missing : {"error", "indicate", "zero", "drop"}
        A null is an error, or the text "(missing)", or counts as an absent feature, or its event is
        left out. A member that the model knows and an event lacks is a null.
    classes : sequence, optional
        Labels of the model. Default: the first two found; a third is a bad line. None: any number
        of labels.
    schema : Schema, optional
        That of the model: numbers must be numbers, and categories become texts.
    names : sequence of str, optional
        The features of the model.
    labelled : bool
        Whether there are labels to read; if not, `Block.y` is None, and a label that is present is
        not a feature.
    bad : BadLines, optional
        Tolerated bad lines.
    block_rows : int
        The most rows of a block.
    chunk_bytes, max_line_bytes : int
        Bytes of text read at once, and the most bytes of a line.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "events.jsonl")
    ...     with open(path, "w") as file:
    ...         _ = file.write('{"amount": 12.5, "city": "Oslo", "label": 0}\n')
    ...     for block in JsonLinesReader(path):
    ...         print(block.X, block.y)
    [{'amount': 12.5, 'city': 'Oslo'}] [0]
    """

    def __init__(
        self,
        path: str,
        *,
        label: str = "label",
        weight: str | None = None,
        time: str | None = None,
        time_features: str | None = None,
        since: Sequence[str] = (),
        key: str | None = None,
        drop: Sequence[str] = (),
        keep: Sequence[str] = (),
        missing: Missing = "error",
        classes: Sequence[Any] | None = (),
        schema: Schema | None = None,
        names: Sequence[str] | None = None,
        labelled: bool = True,
        bad: BadLines | None = None,
        block_rows: int = BLOCK_ROWS,
        chunk_bytes: int = CHUNK_BYTES,
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        import msgspec

        super().__init__(labelled=labelled, bad=bad)
        check_options(missing, block_rows)
        parts = {"label": label, "weight": weight, "time": time}
        for one, other in (("label", "weight"), ("weight", "time"), ("time", "label")):
            if parts[one] is not None and parts[one] == parts[other]:
                raise ParameterError(one, f"and {other} are both {parts[one]!r}")
            if parts[one] is not None and parts[one] in drop:
                raise InputError(f"{parts[one]!r} is both dropped and the {one}")
        aside = frozenset() if schema is None else schema.aside
        roles = {label, weight, time, key, time_features}
        check_since(time_features, since)
        self._clock, self._since = time_features, tuple(since)
        self._time_features = None
        if time_features is not None:
            last = {} if schema is None else schema.last
            self._time_features = TimeFeatures(time_features, self._since, last)
        self._drop = tuple(dict.fromkeys((*drop, *sorted(aside - roles))))
        self._unmet = dict.fromkeys(keep, "keep")
        if key is not None:
            self._unmet[key] = "key"
        self._unmet |= dict.fromkeys(drop, "drop")
        for name in aside.union(() if schema is None else schema.keep):
            self._unmet.pop(name, None)
        self._has_key = key is None
        self._roles = Schema(
            label=label, weight=weight, time=time, key=key, drop=tuple(drop), keep=tuple(keep)
        )
        self._before = schema
        self._carried = tuple(dict.fromkeys((*([] if key is None else [key]), *keep)))
        learning = labelled or schema is None
        self._keys = Keys(schema, missing, learning=learning, names=names)
        self._some: Event = {}
        self._order = Order()
        self._label, self._weight, self._missing = label, weight, missing
        self._time = time
        self._classes = Classes(classes, written=False)
        self._block_rows, self._chunk_bytes = block_rows, chunk_bytes
        self._max_line_bytes = max_line_bytes
        plain = dict[str, bool | int | float | str | None]
        self._decode = msgspec.json.Decoder(plain).decode
        self._decode_any = msgspec.json.Decoder(Event).decode
        self._checked = functools.partial(msgspec.convert, type=plain)
        self._faults = (msgspec.DecodeError, ValueError, RecursionError)
        self.stream: ByteStream = open_bytes(path)

    def close(self) -> None:
        """Close the file."""
        self.stream.close()

    def __iter__(self) -> Iterator[Block]:
        """Yield blocks, once."""
        self._use()
        empty = True
        try:
            for first, lines in self._chunks():
                for start in range(0, len(lines), self._block_rows):
                    block = self._block(first + start, lines[start : start + self._block_rows])
                    if block is not None:
                        empty = False
                        yield block
        finally:
            self.close()
        if empty:
            some = bool(self.bad.found or self.dropped)
            none = "no line of it can be used" if some else "there are no rows in it"
            raise DataError(self.stream.name, expected=none)
        self.notes += self._keys.notes()
        self.notes += self._order.note(str(self._time), "line", "sort the lines by it first")
        self._check_met()

    def _check_met(self) -> None:
        """Raise for a member that no event has; without labels that is a note."""
        for name, option in sorted(self._unmet.items()):
            expected = f'no event has "{name}"{near(name, list(self._some))}'
            if self._labelled:
                raise DataError(self.stream.name, expected=expected, parameter=option)
            if option != "drop":
                self.notes.append((Parameter(option), f": {expected}"))
        if not self._has_key and self._roles.key not in self._unmet:
            self.notes.append(f'no event has "{self._roles.key}": they have no id')

    def _chunks(self) -> Iterator[tuple[int, list[bytes]]]:
        """Yield complete lines, with the number of the first one."""
        rest, line = b"", 1
        while got := self.stream.read_available(max(self._chunk_bytes, len(rest))):
            rest = (rest + got).removeprefix(BOM) if line == 1 else rest + got
            *lines, rest = rest.split(b"\n")
            if lines:
                yield line, lines
                line += len(lines)
            if len(rest) > self._max_line_bytes:
                raise too_long(self.stream.name, line, rest, self._max_line_bytes)
        if rest:
            yield line, [rest]

    def _block(self, first: int, lines: list[bytes]) -> Block | None:
        events: list[Event] = []
        labels: list[Any] = []
        weights: list[float] = []
        times: list[float] = []
        numbers: list[int] = []
        kept: dict[str, list[str]] = {name: [] for name in self._carried}
        self._keys.begin()
        if self._time_features is not None:
            self._time_features.begin()
        for number, line in enumerate(lines, first):
            if not line or line.isspace():
                continue
            try:
                carried, event = self._event(line)
                if event is None:
                    self._dropped += 1
                    continue
                label, weight = self._taken(event)
                clock = 0.0 if self._clock is None else self._moment(event, self._clock)
                moment = 0.0 if self._time is None else self._moment(event, self._time)
                carried, keys = carried[: len(kept)], carried[len(kept) :]
                event = self._without_clock(event, clock, keys)
                event = self._keys.checked(event, counts=weight != 0)
                if event is None:
                    self._dropped += 1
                    continue
            except MemberError as fault:
                self.bad.add(DataError(self.stream.name, number, *fault.args, remedy=fault.remedy))
                continue
            self._some = event
            events.append(event)
            labels.append(label)
            weights.append(weight)
            times.append(moment)
            for name, value in carried:
                kept[name].append(value)
            numbers.append(number)
        if not events:
            return None
        if self._time is not None:
            self._order.meet(np.array(times), np.array(numbers))
        return Block(
            CheckedEvents(events),
            self._classes.array(labels) if self._labelled else None,
            None if self._weight is None else np.array(weights, dtype=np.float64),
            np.array(numbers, dtype=np.int64),
            self.stream.name,
            None if self._time is None else np.array(times, dtype=np.float64),
            kept,
        )

    def schema(self) -> Schema:
        """Return how the events are read, for others like them."""
        before = Schema() if self._before is None else self._before
        return dataclasses.replace(
            before,
            label=self._label,
            weight=self._weight or before.weight,
            time=self._time or before.time,
            key=self._roles.key or before.key,
            drop=tuple(dict.fromkeys((*before.drop, *self._roles.drop))),
            keep=tuple(dict.fromkeys((*before.keep, *self._roles.keep))),
            missing=self._missing,
            means=self._keys.means,
            time_features=self._clock or before.time_features,
            since=self._since or before.since,
            last=before.last if self._time_features is None else self._time_features.last,
            **cast(dict[str, Any], self._keys.described()),
        )

    def _without_clock(self, event: Event, clock: float, keys: list[tuple[str, str]]) -> Event:
        """Return an event with the features of its times instead of the times."""
        for name in (self._clock, self._time):
            if name is not None:
                event.pop(name, None)
        if self._time_features is None:
            return event
        return event | self._time_features.of_event(clock, [key for _, key in keys])

    @property
    def schema_after(self) -> SchemaAfter | None:
        """What the schema says after some rows of the last block, None where that is all alike."""
        clock, means = self._time_features, self._keys.means
        if clock is None and not means:
            return None
        last = (lambda rows: {}) if clock is None else clock.last_after
        after = self._keys.means_after
        return lambda rows: {"last": last(rows), "means": after(rows)}

    def _moment(self, event: Event, name: str) -> float:
        """Return a time of an event."""
        value = event.get(name)
        found = None if isinstance(value, bool) else seconds(value)
        if found is None:
            if value is None:
                raise MemberError(name, None, f"this object has no such member, {TIME}")
            raise MemberError(name, json.dumps(value), TIME)
        return found

    def _event(self, line: bytes) -> tuple[list[tuple[str, str]], Event | None]:
        """Return members to keep, and all others, or None if the event must be left out."""
        try:
            event: Event = self._decode(line)
            whole = event
        except self._faults as error:
            whole, event = self._without_dropped(line, error)
        # Each member has a colon; if there are more, some are in strings or a name occurs twice.
        if line.count(b":") != len(event):
            json.loads(line, object_pairs_hook=_once)
        if len(line) > _LONGEST_NUMBER:
            for name, value in event.items():
                if value.__class__ is int and not -_LARGEST <= value <= _LARGEST:
                    raise MemberError(name, None, "expected a number within the range of float64")
        carried = [(name, _as_text(whole.get(name))) for name in (*self._carried, *self._since)]
        for name in self._unmet.keys() & whole.keys():
            del self._unmet[name]
        if self._roles.key is not None:
            self._has_key = self._has_key or self._roles.key in whole
            event.pop(self._roles.key, None)
        for name in self._drop:
            event.pop(name, None)
        if not self._labelled:
            event.pop(self._label, None)
        if None in event.values():
            if self._missing == "indicate":  # what has a role is no feature
                roles = (self._label, self._weight, self._time, self._clock)
                for role in roles:
                    if role in event and event[role] is None:
                        del event[role]
            return carried, self._keys.without_nulls(event)
        return carried, event

    def _without_dropped(self, line: bytes, error: Exception) -> tuple[Event, Event]:
        """Return all members of an object, and those not to drop, which alone are checked."""
        with contextlib.suppress(*self._faults):
            whole = self._decode_any(line)
            rest: Event = self._checked({k: v for k, v in whole.items() if k not in self._drop})
            return whole, rest
        raise _explained(line, error, self._drop) from None

    def _taken(self, event: Event) -> tuple[Any, float]:
        """Remove label and weight from an event and return them."""
        weight: Any = 1.0
        if self._weight is not None:
            weight = event.pop(self._weight, None)
            if weight is None:
                if self._labelled:
                    raise MemberError(self._weight, None, "this object has no such member")
                weight = 1.0
            if isinstance(weight, (str, bool)) or not 0 <= weight < math.inf:
                shown = json.dumps(weight)
                raise MemberError(self._weight, shown, "a weight: a finite number, 0 or more")
        label = None
        if self._labelled:
            label = event.pop(self._label, None)
            if label is None:
                raise MemberError(
                    self._label, None, "this object has no such member", remedy=_NAME_LABEL
                )
            expected = self._classes.admit(label)
            if expected:
                raise MemberError(self._label, str(label), expected)
        return label, float(weight)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _once(pairs: list[tuple[str, Any]]) -> None:
    seen = set()
    for name, value in pairs:
        if name in seen:
            raise MemberError(name, json.dumps(value), "a name once only in an object")
        seen.add(name)


def _explained(line: bytes, error: Exception, drop: Sequence[str]) -> MemberError:
    """Return the error for a line that is not an object of plain values."""
    shown = line.decode("utf-8", "backslashreplace").strip()
    if isinstance(error, UnicodeDecodeError):
        return MemberError(None, shown, "text in UTF-8")
    match = _BYTE.fullmatch(str(error))
    if match:
        at = int(match[2]) - match[1].startswith("trailing char")  # counted from 1 there
        rest = line[at:].decode("utf-8", "backslashreplace").strip()
        return MemberError(at + 1, rest or shown, f"a JSON object ({match[1]})")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return MemberError(None, shown, f"a JSON object ({str(error).lower()})")
    if not isinstance(value, dict):
        return MemberError(None, shown, "a JSON object, with names and values in braces")
    for name, member in value.items():
        if name in drop:
            continue
        if isinstance(member, (dict, list)):
            return MemberError(
                name, json.dumps(member), "a number, true, false or a text; not nested"
            )
        if isinstance(member, float) and not math.isfinite(member):
            return MemberError(name, str(member), "a finite number")
    return MemberError(None, shown, f"a JSON object ({error})")
