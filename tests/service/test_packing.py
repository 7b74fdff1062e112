"""Many events in one row of the log are as if each had its own."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lopsided.service.commands.events import AddEvents, add_events, history
from lopsided.service.commands.labels import add_labels
from lopsided.service.commands.questions import lease_questions
from lopsided.service.commands.upkeep import upkeep
from lopsided.service.packing import LEAST, MOST, Pack, pack_answers, pack_events
from lopsided.service.recovery import ReplayError, recover
from lopsided.service.storage import PACKED, Storage
from lopsided.service.stream import digest
from lopsided.service.types import Answer, Assume, Costs, Event, Label
from service import CONFIG, Desk, NoWitness, events

DAY = 86400.0
value = st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5)
amount = st.floats(0, 1e12)
event = st.builds(
    Event,
    key=st.text(min_size=1, max_size=8),
    features=st.dictionaries(st.text(max_size=4), value, max_size=4),
    time=st.floats(allow_nan=False, allow_infinity=False),
    costs=st.none() | st.builds(Costs, miss=amount, alarm=amount),
    show=st.none() | st.dictionaries(st.text(max_size=4), value | st.none(), max_size=2),
)


def answered(i, one):
    number = float(len(one.features))
    return Answer(
        key=one.key, seq=7 + i, id=3 + i, score=-number, flag=i % 2 == 0, asked=i % 3 == 0,
        ask_probability=0.25, model="m", probability=None if i % 4 else 0.125,
        why="check" if i % 3 == 0 else None, reasons=[("a", number)] if i % 3 == 0 else None,
        shadow={"c": True} if i % 2 else None,
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.lists(event, min_size=1, max_size=6))
def test_what_is_packed_comes_out_again(given_events):
    answers = [answered(i, one) for i, one in enumerate(given_events)]
    pack = Pack(pack_events(given_events), pack_answers(answers))
    assert [pack.event(i) for i in range(len(pack))] == given_events
    types = [[type(v) for v in one.features.values()] for one in given_events]
    assert [[type(v) for v in pack.event(i).features.values()] for i in range(len(pack))] == types
    assert [pack.answer(i) for i in range(len(pack))] == answers
    assert (pack.first, pack.keys) == (7, [one.key for one in given_events])


def the_same(desk):
    streams, _, _ = recover(desk.storage)
    return digest(streams["pay"].snapshot()) == digest(desk.stream.snapshot())


def taught(n=300, **options):
    """Return a desk that has met events in large batches and all their labels."""
    desk = Desk(**options)
    batch, labels = events(n)
    sent = []
    for at in range(0, n, 150):
        sent += desk.do(add_events, "pay", batch[at : at + 150])
        some = zip(batch[at : at + 150], labels[at : at + 150], strict=True)
        desk.do(add_labels, "pay", [Label(e.key, label) for e, label in some])
    return desk, batch, sent


def test_a_large_batch_is_stored_in_few_rows_and_found_by_key():
    desk, batch, sent = taught()
    kinds = [row.kind for row in desk.storage.rows()]
    assert kinds.count(PACKED) == 2 * -(-150 // MOST)
    assert "event" not in kinds
    again = [msgspec.structs.replace(e, features={"a": 0.0}) for e in batch[::-7]]
    assert desk.do(add_events, "pay", again) == sent[::-7]
    assert [msgspec.json.encode(a) for _, a in desk.storage.events()] == sent
    found = desk.do(history, "pay", "e140")
    assert found["event"]["features"]["a"] == batch[140].features["a"]
    assert found["answer"] == msgspec.json.decode(sent[140], type=Answer)
    assert [one["result"] for one in found["history"]] == ["learned"]
    assert desk.storage.row(desk.storage.seq + 1) is None
    assert the_same(desk)


def test_questions_about_events_of_a_large_batch():
    desk, *_ = taught()
    batch, _ = events(200, seed=4, first=1000)
    out = [json.loads(one) for one in desk.do(add_events, "pay", batch)]
    asked = {one["key"] for one in out if one["asked"]}
    leased = desk.do(lease_questions, "pay", 100, None, "me")
    assert {one.key for one in leased} == asked
    features = {e.key: e.features for e in batch}
    assert all(one.features == features[one.key] for one in leased)


def test_one_chunk_or_many_give_the_same_bits():
    batch, labels = events(400, seed=2)
    digests = set()
    for size in (1, LEAST, 60, 400):
        desk, *_ = taught(n=150)
        for at in range(0, 400, size):
            new = [msgspec.structs.replace(e, key=f"n{e.key}") for e in batch[at : at + size]]
            desk.do(add_events, "pay", new)
        some = [Label(f"n{e.key}", label) for e, label in zip(batch, labels, strict=True)]
        desk.do(add_labels, "pay", some)
        assert the_same(desk)
        digests.add(digest({"": desk.stream.snapshot()["first"]}))
    assert len(digests) == 1


def test_requests_that_wait_together_are_decided_together_but_refused_alone():
    desk, *_ = taught(n=150)
    batch, _ = events(30, seed=6, first=500)
    batch[4].features["a"] = float("nan")
    requests = [AddEvents("pay", [one]) for one in batch]
    outcomes = desk.run(*requests, AddEvents("no", batch[:1]), AddEvents("pay", batch[5:7]))
    refused = [i for i, one in enumerate(outcomes) if one.refusal is not None]
    assert refused == [4, 30]
    assert outcomes[31].value == outcomes[5].value + outcomes[6].value
    good = [AddEvents("pay", [e]) for e in events(30, seed=7, first=600)[0]]
    rows = desk.storage.all("select count(*) from log")[0][0]
    assert all(one.refusal is None for one in desk.run(*good))
    assert desk.storage.all("select count(*) from log")[0][0] == rows + 1
    assert the_same(desk)


def test_a_row_with_many_events_that_was_altered_is_noticed():
    desk, *_ = taught()
    row = [row for row in desk.storage.rows() if row.kind == PACKED][-1]
    changed = [e for e, _ in row.events()]
    changed[3].features["a"] += 1.0
    desk.storage.do("update log set body = ? where seq = ?", pack_events(changed), row.seq)
    with pytest.raises(ReplayError, match="now has another answer"):
        recover(desk.storage)


def test_labels_are_assumed_for_events_of_a_large_batch():
    desk = Desk(config=msgspec.structs.replace(CONFIG, assume=Assume("fine", 90 * DAY)))
    batch, _ = events(50)
    desk.do(add_events, "pay", batch)
    desk.do(add_labels, "pay", [Label("e3", "fraud")])
    desk.now += 91 * DAY
    assert desk.do(upkeep) == 50
    assert desk.do(upkeep) == 0
    assert desk.stream.state.labels == 50
    assert the_same(desk)


def test_old_rows_with_many_events_go_unless_one_of_them_is_needed():
    config = msgspec.structs.replace(CONFIG, keep_days=10.0, budget=0)
    desk = Desk(config=config, snapshot_every=100)
    batch, labels = events(400)
    for at in range(0, 400, 40):
        desk.do(add_events, "pay", batch[at : at + 40])
        known = zip(batch[at : at + 40], labels[at : at + 40], strict=True)
        desk.do(add_labels, "pay", [Label(e.key, label) for e, label in known if e.key != "e45"])
        desk.now += DAY
    desk.do(add_labels, "pay", [Label("e45", labels[45])])  # a restart needs its event
    desk.now += 5 * DAY
    while desk.do(upkeep):
        pass
    kept = {e.key for e, _ in desk.storage.events()}
    assert {f"e{i}" for i in range(40, 80)} <= kept
    assert not kept & {f"e{i}" for i in (*range(40), *range(80, 160))}
    assert {f"e{i}" for i in range(240, 400)} <= kept
    assert {k for (k,) in desk.storage.all("select key from event")} == kept
    assert the_same(desk)
    assert desk.do(add_labels, "pay", [Label("e1", "fraud")])[0].result == "waiting"


OLD = """
drop table event;
create unique index event on log(stream, key) where kind = 'event';
pragma user_version = 1;
"""


def test_a_folder_of_the_first_format_is_continued(tmp_path):
    path = tmp_path / "lopsided.db"
    desk = Desk(Storage(path))
    batch, labels = events(60)
    sent = [desk.do(add_events, "pay", [one])[0] for one in batch]
    desk.do(
        add_labels, "pay", [Label(e.key, label) for e, label in zip(batch, labels, strict=True)]
    )
    before = digest(desk.stream.snapshot())
    desk.storage.db.executescript(OLD)
    desk.storage.close()
    desk = Desk(Storage(path), NoWitness())
    assert digest(desk.stream.snapshot()) == before
    assert desk.do(add_events, "pay", batch) == sent
    desk.do(add_events, "pay", events(40, first=100)[0])
    assert the_same(desk)
    desk.storage.close()
