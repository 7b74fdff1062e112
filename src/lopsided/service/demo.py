"""A made-up stream of payments that runs through a service."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterator
from typing import Any

from ..data.generators import fraud
from .app import App
from .commands.admin import add_model
from .commands.events import add_events
from .commands.labels import add_labels
from .types import Costs, Event, Label, NewModel, Refusal, StreamConfig

STREAM = "payments"
CONFIG = StreamConfig(
    positive="fraud",
    negative="fine",
    costs=Costs(miss=100.0, alarm=5.0),
    budget="100/1000",
    explore=0.02,
    currency="EUR",
    formats={"amount": "EUR", "balance": "EUR"},
)
CHALLENGER = NewModel(name="fewer-alarms", costs=Costs(miss=40.0, alarm=5.0))
HISTORY = 3_000  # payments of the last month, all of them labelled
_MONTH = 30 * 86400.0
PER_SECOND = 10.0
_HASTE = 2_000.0  # seconds of the stream in a second


def payments(seed: int = 0) -> Iterator[tuple[Event, str, float]]:
    """Yield payments without end, with the label that is reported and the seconds until then."""
    stream = fraud(10**9, seed=seed)
    number = 0
    for block in stream:
        labels = ["fraud" if y > 0 else "fine" for y in block.y]
        for row, label, delay in zip(block.X.tolist(), labels, block.delay.tolist(), strict=True):
            number += 1
            features = _named(dict(zip(stream.names, row, strict=True)))
            yield Event(key=f"payment-{number}", features=features), label, delay / _HASTE


def _named(row: dict[str, float]) -> dict[str, Any]:
    """Return a payment as a shop would send it."""
    shops = [name for name, value in row.items() if name.startswith("shop=") and value]
    rest = {n: round(v, 4) for n, v in row.items() if not n.startswith("shop=")}
    rest["score_gap"] = row["score_gap"]
    yes = {name: bool(rest.pop(name)) for name in ("foreign", "night")}
    return {**rest, **yes, "shop": shops[0].partition("=")[2] if shops else "other"}


async def run(app: App, *, seed: int = 0, per_second: float = PER_SECOND) -> None:
    """Send the past, then payments as they happen; frauds are reported later.

    Whether a payment was fine nobody reports: that is what questions are for.
    """
    stream = payments(seed)
    known = app.driver.sequencer.streams[STREAM].state.events
    for _ in range(known):
        next(stream)
    if not known:
        await app.run(add_model, STREAM, CHALLENGER)
        await _past(app, stream)
    reported: list[tuple[float, str, str]] = []
    loop = asyncio.get_running_loop()
    for event, label, delay in stream:
        try:
            await app.run(add_events, STREAM, [event])
            if label == "fraud":
                heapq.heappush(reported, (loop.time() + delay, event.key, label))
            while reported and reported[0][0] <= loop.time():
                _, key, found = heapq.heappop(reported)
                told = Label(key=key, label=found, source="chargeback")
                await app.run(add_labels, STREAM, [told])
        except Refusal:  # the disk is full or the server stops
            pass
        await asyncio.sleep(1 / per_second)


async def _past(app: App, stream: Iterator[tuple[Event, str, float]]) -> None:
    now = app.driver.clock()
    for i in range(0, HISTORY, 100):
        some = [next(stream) for _ in range(100)]
        for j, (event, _, _) in enumerate(some):
            event.time = now - _MONTH * (1 - (i + j) / HISTORY)
        await app.run(add_events, STREAM, [event for event, _, _ in some])
        labels = [Label(key=e.key, label=label, source="history") for e, label, _ in some]
        await app.run(add_labels, STREAM, labels)
