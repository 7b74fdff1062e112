"""Events, labels and what the log gives back."""

from __future__ import annotations

import os

import msgspec
import pytest

from lopsided.service.commands.events import add_events, history
from lopsided.service.commands.labels import add_labels
from lopsided.service.recovery import ReplayError, recover
from lopsided.service.storage import Witness
from lopsided.service.stream import digest
from lopsided.service.types import Event, Label, Refusal
from service import Desk, events


def answers(desk, batch):
    return [msgspec.json.decode(a) for a in desk.do(add_events, "pay", batch)]


def results(desk, *labels):
    return [r.result for r in desk.do(add_labels, "pay", [Label(*one) for one in labels])]


def fed(desk, n=60, seed=0):
    """Feed events and all their labels."""
    batch, labels = events(n, seed)
    for event, label in zip(batch, labels, strict=True):
        answers(desk, [event])
        results(desk, (event.key, label))
    return batch, labels


def the_same(desk):
    """The models are those that the disk gives."""
    streams, _, _ = recover(desk.storage)
    return digest(streams["pay"].snapshot()) == digest(desk.stream.snapshot())


def test_an_event_is_decided_once():
    desk = Desk()
    batch, _ = events(3)
    first = answers(desk, batch)
    before = digest(desk.stream.snapshot())
    assert answers(desk, [batch[2], batch[0]]) == [first[2], first[0]]
    assert desk.stream.state.events == 3
    assert digest(desk.stream.snapshot()) == before


def test_a_key_twice_in_a_batch_is_one_event():
    desk = Desk()
    (event,), _ = events(1)
    one, two = answers(desk, [event, event])
    assert one == two
    assert desk.stream.state.events == 1


def test_a_bad_event_refuses_its_batch_and_changes_nothing():
    desk = Desk()
    batch, _ = events(4)
    answers(desk, batch[:1])
    before, seq = digest(desk.stream.snapshot()), desk.storage.seq
    bad = Event(key="bad", features={"a": float("nan")})
    with pytest.raises(Refusal, match="'a' is NaN") as error:
        answers(desk, [batch[1], bad])
    assert error.value.status == 422
    assert (digest(desk.stream.snapshot()), desk.storage.seq) == (before, seq)
    answers(desk, batch[1:])
    assert the_same(desk)


def test_events_in_a_batch_are_decided_as_one_by_one():
    batch, _ = events(50)
    together, alone = Desk(), Desk()
    for desk in (together, alone):
        fed(desk, 30, seed=1)
    new = [msgspec.structs.replace(e, key=f"new {e.key}") for e in batch]
    one = [answers(alone, [e])[0] for e in new]
    many = answers(together, new)
    for answer in one + many:  # reasons are those of the model after the batch
        answer.pop("reasons", None)
    assert many == one
    assert digest(together.stream.snapshot()) == digest(alone.stream.snapshot())


def test_labels_are_learned_repeated_and_corrected():
    desk = Desk()
    batch, labels = fed(desk)
    key, label = batch[7].key, labels[7]
    other = "fine" if label == "fraud" else "fraud"
    before = digest(desk.stream.snapshot())
    assert results(desk, (key, label)) == ["repeated"]
    assert digest(desk.stream.snapshot()) == before
    assert results(desk, (key, other)) == ["corrected"]
    assert digest(desk.stream.snapshot()) != before
    state = desk.stream.state
    assert (state.labels, state.corrections) == (60, 1)
    account = state.models[0].account
    truth = [*labels[:7], other, *labels[8:]]
    assert account.positives == truth.count("fraud")
    assert account.negatives == truth.count("fine")
    assert the_same(desk)


def test_a_label_with_an_id_is_recognised_after_a_correction():
    desk = Desk()
    fed(desk, 5)
    label = Label(key="e1", label="fraud", id="mine")
    assert desk.do(add_labels, "pay", [label])[0].result in ("corrected", "repeated")
    desk.do(add_labels, "pay", [Label(key="e1", label="fine", id="yours")])
    again = Label(key="e1", label="fraud", id="yours")
    assert desk.do(add_labels, "pay", [again])[0].result == "repeated"


def test_a_label_nobody_asked_for_is_learned():
    desk = Desk(config=msgspec.structs.replace(Desk().stream.config, budget=0))
    fed(desk)
    assert desk.stream.champion.model.queries_ == 0
    assert desk.stream.champion.ready
    assert the_same(desk)


def test_a_label_before_its_event_waits_for_it():
    early, late = Desk(), Desk()
    batch, labels = events(40)
    for desk in (early, late):
        fed(desk, 20, seed=5)
    new = [msgspec.structs.replace(e, key=f"n{i}") for i, e in enumerate(batch)]
    for event, label in zip(new, labels, strict=True):
        assert results(early, (event.key, label)) == ["waiting"]
    for event, label in zip(new, labels, strict=True):
        answers(early, [msgspec.structs.replace(event)])
        answers(late, [msgspec.structs.replace(event)])
        assert results(late, (event.key, label)) == ["learned"]
    assert digest({"": early.stream.snapshot()["first"]}) == digest(
        {"": late.stream.snapshot()["first"]}
    )
    assert early.stream.state.labels == 60
    assert the_same(early)


@pytest.mark.parametrize("label", ["Fraud", 1, True, ""])
def test_a_label_that_is_none_is_refused(label):
    desk = Desk()
    fed(desk, 3)
    before = digest(desk.stream.snapshot())
    assert results(desk, ("e1", label)) == ["refused"]
    assert digest(desk.stream.snapshot()) == before


def test_replay_from_nothing_and_from_snapshots_gives_the_same_bits():
    plain, often = Desk(), Desk(snapshot_every=17)
    for desk in (plain, often):
        fed(desk, 120)
    assert len(often.storage.all("select distinct seq from snapshot")) == 2
    assert not plain.storage.all("select * from snapshot")
    assert the_same(plain)
    assert the_same(often)
    assert digest(plain.stream.snapshot()) == digest(often.stream.snapshot())
    _, _, replayed = recover(often.storage)
    assert replayed < 60


def test_a_log_that_was_altered_is_not_replayed():
    desk = Desk()
    fed(desk, 30)
    seq, body = desk.storage.all("select seq, body from log where key = 'e3' and kind = 'event'")[0]
    event = msgspec.json.decode(body)
    event["features"]["a"] += 1.0
    desk.storage.do("update log set body = ? where seq = ?", msgspec.json.encode(event), seq)
    with pytest.raises(ReplayError, match=f"row {seq}|another answer"):
        recover(desk.storage)


def test_a_snapshot_that_is_not_that_of_the_log_is_noticed():
    desk = Desk(snapshot_every=20)
    fed(desk, 60)
    desk.storage.do("update log set body = ? where kind = 'snapshot'", b'{"sha256":"0"}')
    with pytest.raises(ReplayError, match="digest differs"):
        recover(desk.storage)


@pytest.mark.parametrize("n", [1, 3000])
def test_any_text_can_be_a_key(n):
    desk = Desk()
    batch, _ = events(n)
    batch[-1].key = "a\x00b"
    first = answers(desk, batch)
    assert answers(desk, batch) == first
    assert results(desk, ("a\x00b", "fraud")) == ["learned"]
    assert desk.stream.state.events == n


def test_a_row_that_is_there_already_is_no_fault_of_the_disk():
    desk = Desk()
    fed(desk, 3)

    def twice(tx):
        tx.log(1, "label", "e0", b"{}", None)
        tx.storage.do("insert into log select * from log limit 1")

    with pytest.raises(Refusal, match="the request failed"):
        desk.do(twice)
    assert desk.sequencer.read_only is None
    assert desk.sequencer.fault is not None
    assert the_same(desk)


def test_the_history_of_an_event():
    desk = Desk()
    fed(desk, 3)
    results(desk, ("e0", "fraud"), ("e0", "fine"))
    found = desk.do(history, "pay", "e0")
    assert found["event"]["key"] == "e0"
    assert [row["label"] for row in found["history"]][-2:] == ["fraud", "fine"]
    with pytest.raises(Refusal, match="nothing is known"):
        desk.do(history, "pay", "no")


def test_the_witness_is_synced_where_there_is_no_fdatasync(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "fdatasync", raising=False)
    witness = Witness(tmp_path / "witness")
    witness.write(7, sync=True)
    witness.close()
    again = Witness(tmp_path / "witness")
    assert again.seq == 7
    again.close()
