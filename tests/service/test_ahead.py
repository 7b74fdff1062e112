"""Events that are applied while the group before them is being committed."""

from __future__ import annotations

import asyncio
import sqlite3
import threading

import msgspec
import pytest
from wire import Quiet

from lopsided.service.commands.events import AddEvents
from lopsided.service.commands.labels import add_labels
from lopsided.service.driver import Driver
from lopsided.service.log import Journal
from lopsided.service.recovery import recover
from lopsided.service.storage import Storage
from lopsided.service.stream import digest
from lopsided.service.types import Label
from service import Desk, events


def request(batch):
    return AddEvents("pay", [msgspec.structs.replace(one) for one in batch])


def taught(tmp_path):
    desk = Desk(Storage(tmp_path / "db"))
    batch, labels = events(60)
    desk.run(request(batch))
    known = zip(batch, labels, strict=True)
    desk.run(lambda tx: add_labels(tx, "pay", [Label(e.key, label) for e, label in known]))
    return desk, batch


def the_same(desk):
    streams, _, _ = recover(desk.storage)
    return digest(streams["pay"].snapshot()) == digest(desk.stream.snapshot())


def test_a_group_applied_ahead_is_answered_and_stored_after_the_one_before(tmp_path):
    desk, old = taught(tmp_path)
    sequencer, (batch, _) = desk.sequencer, events(60, seed=3, first=100)
    outcomes, _ = sequencer.run([request(batch[:20])], desk.now)
    group = sequencer.close_group()
    before = desk.storage.seq
    again = [batch[25], batch[3], old[7], batch[3]]  # here, in the group before, on the disk
    sequencer.run_ahead([request(batch[20:50]), request(again)], desk.now)
    group.commit(sequencer.witness)
    assert desk.witness.seq == before
    found, written = sequencer.run([request(batch[50:])], desk.now)
    assert written
    sequencer.commit()
    assert desk.witness.seq == desk.storage.seq == before + 40
    new, repeated, last = (one.value for one in found)
    assert repeated[:2] == [new[5], outcomes[0].value[3]]
    assert msgspec.json.decode(repeated[2])["key"] == old[7].key
    assert repeated[3] == repeated[1]
    told = outcomes[0].value + new + last
    assert list(desk.storage.answers(1, [e.key for e in batch]).values()) == told
    assert the_same(desk)
    desk.storage.close()


def test_a_group_that_cannot_be_committed_takes_the_next_one_along(tmp_path):
    desk, _ = taught(tmp_path)
    sequencer, (batch, _) = desk.sequencer, events(40, seed=3, first=100)
    before, seq = digest(desk.stream.snapshot()), desk.storage.seq
    sequencer.run([request(batch[:20])], desk.now)
    sequencer.close_group()
    sequencer.run_ahead([request(batch[20:])], desk.now)
    sequencer.fail(sqlite3.OperationalError("database or disk is full"))
    assert (digest(desk.stream.snapshot()), desk.storage.seq) == (before, seq)
    assert sequencer.group is None
    assert not sequencer.can_run_ahead(request(batch))
    assert sequencer.probe()
    desk.run(request(batch))
    assert the_same(desk)
    desk.storage.close()


def test_a_fault_in_what_was_applied_ahead_leaves_the_group_before(tmp_path):
    desk, _ = taught(tmp_path)
    sequencer, (batch, _) = desk.sequencer, events(40, seed=3, first=100)
    sequencer.run([request(batch[:20])], desk.now)
    group = sequencer.close_group()

    def faulty(tx):
        return tx.storage  # which is the other thread's

    sequencer.run_ahead([request(batch[20:]), faulty], desk.now)
    assert not sequencer.can_run_ahead(request(batch))
    group.commit(sequencer.witness)
    sequencer.committing = None
    outcomes, written = sequencer.run([], desk.now)
    assert not written
    assert {one.refusal.status for one in outcomes} == {500}
    assert isinstance(sequencer.fault, RuntimeError)
    assert desk.stream.state.events == 80
    assert the_same(desk)
    desk.storage.close()


def test_labels_that_wait_for_events_are_not_passed_by(tmp_path):
    desk, _ = taught(tmp_path)
    (early, late), _ = events(2, seed=3, first=100)
    assert desk.sequencer.can_run_ahead(request([early]))
    assert not desk.sequencer.can_run_ahead(lambda tx: None)
    desk.run(lambda tx: add_labels(tx, "pay", [Label(late.key, "fraud")]))
    assert not desk.sequencer.can_run_ahead(request([early]))
    desk.storage.close()


FULL = sqlite3.OperationalError("database or disk is full")


@pytest.mark.parametrize(("error", "status"), [(None, 200), (FULL, 507), (TypeError("?"), 500)])
def test_nothing_is_answered_before_its_own_commit(tmp_path, error, status):
    desk, _ = taught(tmp_path)
    batch, _ = events(400, seed=3, first=100)
    commit, gate, inside = desk.storage.commit, threading.Event(), threading.Event()

    def slow():
        inside.set()
        assert gate.wait(60)
        if error is not None:
            raise error
        commit()

    async def scenario():
        driver = Driver(desk.sequencer, Journal(Quiet()), clock=lambda: desk.now)
        while len(driver) or driver._busy:
            await asyncio.sleep(0.01)
        desk.storage.commit = slow
        first = driver.submit(request(batch[:100]))
        await asyncio.to_thread(inside.wait, 60)
        rest = [driver.submit(request(batch[at : at + 100])) for at in (100, 200, 300)]
        while desk.stream.state.events < 460:  # they are applied meanwhile
            await asyncio.sleep(0.01)
        assert not any(one.done() for one in (first, *rest))
        assert desk.storage.answers(1, [e.key for e in batch], committed=True) == {}
        gate.set()
        found = await asyncio.gather(first, *rest, return_exceptions=True)
        desk.storage.commit = commit
        await driver.stop()
        return found

    found = asyncio.run(scenario())
    if error is not None:
        assert {one.status for one in found} == {status}
        assert desk.stream.state.events == 60
    else:
        told = [answer for part in found for answer in part]
        assert [msgspec.json.decode(one)["key"] for one in told] == [e.key for e in batch]
        assert list(desk.storage.answers(1, [e.key for e in batch]).values()) == told
    assert the_same(desk)
    desk.storage.close()


def test_an_answer_that_cannot_be_given_holds_up_no_other(tmp_path):
    desk, _ = taught(tmp_path)
    batch, _ = events(40, seed=3, first=100)
    told = []

    def broken(_):
        raise OSError("gone")

    async def scenario():
        driver = Driver(desk.sequencer, Journal(Quiet()), clock=lambda: desk.now)
        for part in (batch[:20], batch[20:], batch[:20]):  # the last is written before
            driver.post(request(part[:10]), broken)
            driver.post(request(part[10:]), told.append)
        while len(told) < 3:
            await asyncio.sleep(0.01)
        await driver.stop()

    asyncio.run(asyncio.wait_for(scenario(), 60))
    assert [len(outcome.value) for outcome in told] == [10, 10, 10]
    desk.storage.close()


def test_a_snapshot_that_cannot_be_written_is_one_refusal_for_each_command(tmp_path, monkeypatch):
    desk, _ = taught(tmp_path)
    batch, _ = events(40, seed=3, first=100)
    sequencer = desk.sequencer

    def full(_):
        raise FULL

    monkeypatch.setattr(sequencer, "write_snapshot", full)
    monkeypatch.setattr(sequencer, "snapshot_every", 1)
    outcomes, written = sequencer.run([request(batch[:20]), request(batch[20:])], desk.now)
    assert not written
    assert [outcome.refusal.status for outcome in outcomes] == [507, 507]
    desk.storage.close()
