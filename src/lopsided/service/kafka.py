"""Kafka: events and labels from topics, decisions and questions to others.

Offsets are in the folder, in the same transaction as what the messages said, so that each is taken
once whatever is killed. What is sent waits in the folder, too, and is deleted when the broker has
acknowledged it: a crash may send it again, with the same key and value.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import LopsidedError
from .commands.feed import Message, consume, places, sent, waiting
from .types import Refusal

if TYPE_CHECKING:
    from .app import App

_POLL = 1000  # messages at a time
_LOOK_EVERY = 30.0  # seconds between two looks for new partitions
_AGAIN = 1.0  # seconds to wait when the disk is full


class OptionError(LopsidedError):
    """Options that librdkafka does not take."""


class PlaceError(LopsidedError):
    """A topic that has been deleted and created again since it was read."""

    def __init__(self, topic: str, part: int, known: int, found: str) -> None:
        super().__init__(
            f"topic {topic}, partition {part}: it was read up to offset {known}, but {found}. "
            "It was deleted and created again, or these are other brokers. Give the new topic "
            "another name; or, if every message has a key, stop the server and let it start over: "
            f"sqlite3 FOLDER/lopsided.db \"delete from place where topic = '{topic}'\""
        )


class KafkaSettings(msgspec.Struct, kw_only=True):
    """Which topics are read and written; those without a name are not."""

    brokers: str
    topics: list[str]
    stream: str
    decisions: str | None = None
    questions: str | None = None
    refused: str | None = None
    options: dict[str, str] = {}


class Kafka:
    """A task of the application that consumes and produces.

    Attributes
    ----------
    failures : int
        Messages that did not come or go, and other faults.
    error : PlaceError or None
        Why the server was stopped.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        try:
            import confluent_kafka
        except ImportError:
            raise LopsidedError(
                "Kafka needs confluent-kafka: pip install 'lopsided[kafka]'"
            ) from None
        self._kafka: Any = confluent_kafka
        self._settings = settings
        common = {"bootstrap.servers": settings.brokers, **settings.options}
        reading = {
            "group.id": "lopsided", "enable.auto.commit": False,
            "auto.offset.reset": "earliest", "topic.metadata.refresh.interval.ms": 30_000,
        }  # fmt: skip
        try:
            self._consumer: Any = confluent_kafka.Consumer({**reading, **common})
            self._producer: Any = confluent_kafka.Producer({"enable.idempotence": True, **common})
        except (confluent_kafka.KafkaException, TypeError, ValueError) as error:
            raise OptionError(f"Kafka: {_text(error)}") from None
        self._tell: Callable[[str], None] = lambda text: None
        self._told: set[str] = set()
        self._looked = float("-inf")
        self._assigned: set[tuple[str, int]] = set()
        self.failures = 0
        self.error: PlaceError | None = None

    async def run(self, app: App) -> None:
        """Consume until the server stops; stop it if a topic is not the one that was read."""
        self._tell = app.journal.say
        while True:
            try:
                await self._run(app)
            except PlaceError as error:  # noqa: PERF203
                self.error = error
                signal.raise_signal(signal.SIGTERM)
                return
            except Exception as error:  # begin again where the folder says
                self.failures += 1
                app.journal.fault(error)
                self._consumer.unassign()
                self._assigned, self._looked = set(), float("-inf")
                await asyncio.sleep(_AGAIN)

    async def _run(self, app: App) -> None:
        known = await app.run(places, self._settings.stream)
        sender = asyncio.create_task(self._send_all(app))
        try:
            while True:
                messages = await asyncio.to_thread(self._poll, known)
                if messages:
                    known = await self._taken(app, messages)
        finally:
            sender.cancel()

    async def _taken(self, app: App, messages: list[Message]) -> dict[tuple[str, int], int]:
        """Take messages, again and again while the disk is full."""
        while True:
            try:
                known: dict[tuple[str, int], int] = await app.run(
                    consume, self._settings.stream, messages
                )
                return known
            except Refusal as refusal:  # noqa: PERF203
                app.journal.say(f"Kafka waits: {refusal.error}")
                await asyncio.sleep(_AGAIN)

    def _poll(self, known: dict[tuple[str, int], int]) -> list[Message]:
        """Return the next messages, from all partitions that there are."""
        if time.monotonic() - self._looked > _LOOK_EVERY:
            self._look(known)
        out = []
        for message in self._consumer.consume(_POLL, timeout=0.2):
            if message.error():
                self._failed(message.error().str())
                continue
            at = message.topic(), message.partition()
            if message.offset() < known.get(at, 0):  # created again while it was read
                raise PlaceError(*at, known[at], f"message {message.offset()} came next")
            key = message.key()
            out.append(
                Message(
                    *at, message.offset(),
                    None if key is None else key.decode("utf-8", "replace"),
                    message.value() or b"",
                )
            )  # fmt: skip
        if out:
            self._told.clear()
        return out

    def _failed(self, text: str) -> None:
        """Count a failure, and write it down unless it was the last time too."""
        self.failures += 1
        if text not in self._told:
            self._told.add(text)
            self._tell(f"Kafka: {text}")

    def _look(self, known: dict[tuple[str, int], int]) -> None:
        """Begin to read partitions that are new, where the folder says."""
        first = self._kafka.OFFSET_BEGINNING
        new = []
        try:
            for topic in self._settings.topics:
                listed = self._consumer.list_topics(topic, timeout=10).topics[topic]
                if listed.error is not None:
                    self._failed(f"topic {topic}: {listed.error.str()}")
                for at in sorted({(topic, part) for part in listed.partitions} - self._assigned):
                    if at in known:
                        self._compare(*at, known[at])
                    new.append(at)
        except self._kafka.KafkaException as error:  # no broker yet
            self._failed(_text(error))
        self._consumer.incremental_assign(
            [self._kafka.TopicPartition(t, p, known.get((t, p), first)) for t, p in new]
        )
        self._assigned.update(new)
        if self._assigned:  # else look again at once
            self._looked = time.monotonic()

    def _compare(self, topic: str, part: int, known: int) -> None:
        """Find out whether a partition still has what was not read yet."""
        at = self._kafka.TopicPartition(topic, part)
        first, end = self._consumer.get_watermark_offsets(at, timeout=10)
        if end < known:
            raise PlaceError(topic, part, known, f"it ends at {end}")
        if first > known:
            lost = f"messages {known} to {first - 1} were deleted before they were read"
            self._failed(f"topic {topic}, partition {part}: {lost}")

    # Sending --------------------------------------------------------------------------------------

    async def _send_all(self, app: App) -> None:
        """Send what waits, whenever something does."""
        while True:
            try:
                rows = await app.run(waiting, _POLL, reads=True)
                done = await asyncio.to_thread(self._send, rows) if rows else 0
                if done:
                    await app.run(sent, done)
            except Refusal:  # the disk is full, or the server stops: the rows stay
                rows = []
            if not rows:
                await asyncio.sleep(0.05)

    def _send(self, rows: list[tuple[int, str, str, bytes]]) -> int:
        """Send rows; return the last one before which the broker has all."""
        lost: list[int] = []

        def delivered(number: int) -> Any:
            return lambda error, _: lost.append(number) if error is not None else None

        topics = {
            "decision": self._settings.decisions,
            "question": self._settings.questions,
            "refused": self._settings.refused,
        }
        for number, kind, key, value in rows:
            topic = topics[kind]
            if topic is not None:
                self._producer.produce(topic, value, key, on_delivery=delivered(number))
        self._producer.flush(30)
        self.failures += len(lost)
        if lost or len(self._producer):
            return min(lost, default=rows[0][0]) - 1
        return rows[-1][0]


def _text(error: Exception) -> str:
    """Return what is wrong in the words of librdkafka."""
    given = error.args[0] if error.args else error
    return str(given.str() if hasattr(given, "str") else given)
