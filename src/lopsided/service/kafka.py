"""Kafka: events and labels from topics, decisions and questions to others.

Offsets are in the folder, in the same transaction as what the messages said, so that each is taken
once whatever is killed. What is sent waits in the folder, too, and is deleted when the broker has
acknowledged it: a crash may send it again, with the same key and value.
"""

from __future__ import annotations

import asyncio
import time
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
    """A task of the application that consumes and produces."""

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
        self._consumer: Any = confluent_kafka.Consumer(
            {
                "group.id": "lopsided", "enable.auto.commit": False,
                "auto.offset.reset": "earliest", "topic.metadata.refresh.interval.ms": 30_000,
                **common,
            }
        )  # fmt: skip
        self._producer: Any = confluent_kafka.Producer({"enable.idempotence": True, **common})
        self._looked = float("-inf")
        self._assigned: set[tuple[str, int]] = set()
        self.failures = 0

    async def run(self, app: App) -> None:
        """Consume until the server stops."""
        while True:
            try:
                await self._run(app)
            except Exception as error:  # noqa: PERF203 (begin again where the folder says)
                self.failures += 1
                app.journal.fault(error)
                self._consumer.unassign()
                self._assigned, self._looked = set(), float("-inf")
                await asyncio.sleep(_AGAIN)

    async def _run(self, app: App) -> None:
        known = await app.run(places)
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
                self.failures += 1
                continue
            key = message.key()
            out.append(
                Message(
                    message.topic(), message.partition(), message.offset(),
                    None if key is None else key.decode("utf-8", "replace"),
                    message.value() or b"",
                )
            )  # fmt: skip
        return out

    def _look(self, known: dict[tuple[str, int], int]) -> None:
        """Begin to read partitions that are new, where the folder says."""
        first = self._kafka.OFFSET_BEGINNING
        found = set()
        try:
            for topic in self._settings.topics:
                listed = self._consumer.list_topics(topic, timeout=10).topics[topic]
                found |= {(topic, part) for part in listed.partitions}
        except self._kafka.KafkaException:  # no broker yet
            self.failures += 1
        new = found - self._assigned
        self._consumer.incremental_assign(
            [self._kafka.TopicPartition(t, p, known.get((t, p), first)) for t, p in sorted(new)]
        )
        self._assigned |= new
        if self._assigned:  # else look again at once
            self._looked = time.monotonic()

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
