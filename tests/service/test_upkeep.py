"""Policies that label or forget, written in the log or not at all."""

from __future__ import annotations

import json

import msgspec

from lopsided.service.commands.events import add_events
from lopsided.service.commands.labels import add_labels
from lopsided.service.commands.upkeep import upkeep
from lopsided.service.recovery import recover
from lopsided.service.stream import digest
from lopsided.service.types import Assume, Label
from service import CONFIG, Desk, events

DAY = 86400.0


def the_same(desk):
    streams, _, _ = recover(desk.storage)
    return digest(streams["pay"].snapshot()) == digest(desk.stream.snapshot())


def test_no_label_is_assumed_unless_the_stream_says_so():
    batch, _ = events(30)
    desk = Desk()
    desk.do(add_events, "pay", batch)
    desk.now += 1000 * DAY
    assert desk.do(upkeep) == 0
    assert desk.stream.state.labels == 0


def test_assumed_labels_are_rows_of_the_log():
    batch, _ = events(30)
    desk = Desk(config=msgspec.structs.replace(CONFIG, assume=Assume("fine", 90 * DAY)))
    desk.do(add_events, "pay", batch[:20])
    desk.do(add_labels, "pay", [Label("e3", "fraud")])
    desk.now += 89 * DAY
    desk.do(add_events, "pay", batch[20:])
    assert desk.do(upkeep) == 0
    desk.now += 2 * DAY
    assert desk.do(upkeep) == 20
    assert desk.do(upkeep) == 0
    rows = desk.storage.all("select body from log where kind = 'label'")
    sources = [json.loads(body).get("source", "system") for (body,) in rows]
    assert sources == ["system"] + ["assumed"] * 19
    assert desk.stream.state.labels == 20
    assert desk.do(add_labels, "pay", [Label("e5", "fraud")])[0].result == "corrected"
    assert the_same(desk)


def test_old_rows_go_and_the_rest_gives_the_same_bits():
    batch, labels = events(200)
    desk = Desk(config=msgspec.structs.replace(CONFIG, keep_days=30.0), snapshot_every=40)
    for event, label in zip(batch, labels, strict=True):
        desk.do(add_events, "pay", [event])
        desk.do(add_labels, "pay", [Label(event.key, label)])
        desk.now += DAY
    before = desk.storage.all("select count(*) from log")[0][0]
    while desk.do(upkeep):
        pass
    kept = [k for (k,) in desk.storage.all("select key from log where kind = 'event'")]
    assert desk.storage.all("select count(*) from log")[0][0] < before / 2
    assert {e.key for e in batch[170:]} <= set(kept)
    assert "e0" not in kept
    assert the_same(desk)
    # What is gone is as if it had never come: a label waits, and an old key is a new event.
    assert desk.do(add_labels, "pay", [Label("e0", "fraud")])[0].result == "waiting"
    desk.do(add_events, "pay", [msgspec.structs.replace(batch[0])])
    assert the_same(desk)


def test_an_open_question_keeps_only_the_events_of_its_own_row():
    batch, _ = events(1000)
    config = msgspec.structs.replace(CONFIG, keep_days=1.0, query="always", budget=1)
    desk = Desk(config=config)
    desk.do(add_events, "pay", batch)
    for _ in range(2):
        desk.do(lambda tx: tx.snapshot())
    desk.now += 9 * DAY
    assert desk.storage.all("select key from question") == [("e0",)]
    while desk.do(upkeep):
        pass
    assert desk.storage.all("select count(*), max(seq) - min(seq) from event") == [(128, 127)]
    assert the_same(desk)


def test_an_event_that_was_labelled_lately_stays_as_long_as_a_restart_needs_it():
    batch, labels = events(120)
    desk = Desk(config=msgspec.structs.replace(CONFIG, keep_days=0.0), snapshot_every=30)
    desk.do(add_events, "pay", batch[:1])
    desk.now += DAY
    for event, label in zip(batch[1:], labels[1:], strict=True):
        desk.do(add_events, "pay", [event])
        desk.do(add_labels, "pay", [Label(event.key, label)])
    desk.do(add_labels, "pay", [Label("e0", labels[0])])
    desk.now += DAY
    while desk.do(upkeep):
        pass
    kept = [k for (k,) in desk.storage.all("select key from log where kind = 'event'")]
    assert "e0" in kept
    assert len(kept) < 80
    assert the_same(desk)
