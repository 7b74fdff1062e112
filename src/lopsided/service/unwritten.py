"""What a group has logged and the database does not have yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .packing import LEAST, MOST, pack_answers, pack_events
from .storage import PACKED, Row, Storage
from .types import Answer, Event, encode


class Unwritten:
    """Rows that wait to be written together, which is quicker and can be left to a thread.

    Attributes
    ----------
    answers : dict
        The answers to events among them, by stream and key, for events that come again.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._keys: list[tuple[int, int, list[str]]] = []  # stream, first number, keys in order
        self._questions: list[tuple[int, int, str, float]] = []
        self.answers: dict[int, dict[str, bytes]] = {}

    def add_events(
        self, stream: int, events: Sequence[Event], answers: Sequence[Answer], now: float
    ) -> list[bytes]:
        """Add events that were applied together; return their answers as JSON."""
        out = list(map(encode, answers))
        first = answers[0].seq
        if len(events) < LEAST:
            self.rows += [
                Row(first + i, stream, "event", now, first, event.key, encode(event), text)
                for i, (event, text) in enumerate(zip(events, out, strict=True))
            ]
        else:
            for at in range(0, len(events), MOST):
                part = answers[at : at + MOST]
                body = pack_events(events[at : at + MOST])
                row = Row(part[-1].seq, stream, PACKED, now, first, None, body, pack_answers(part))
                self.rows.append(row)
        keys = [event.key for event in events]
        self._add_keys(stream, first, keys)
        self.answers.setdefault(stream, {}).update(zip(keys, out, strict=True))
        return out

    def _add_keys(self, stream: int, first: int, keys: list[str]) -> None:
        if self._keys:
            before, start, known = self._keys[-1]
            if before == stream and start + len(known) == first:
                known += keys
                return
        self._keys.append((stream, first, keys))

    def add_question(self, seq: int, stream: int, key: str, priority: float) -> None:
        """Add a question about an event."""
        self._questions.append((seq, stream, key, priority))

    def known(self, stream: int, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the answers to events among these keys."""
        held = self.answers.get(stream)
        return {} if held is None else {key: held[key] for key in keys if key in held}

    def write(self, storage: Storage) -> None:
        """Write everything into the database; the answers stay until the group is committed."""
        storage.append(self.rows, self._keys, self._questions)
        self.rows, self._keys, self._questions = [], [], []
