"""What the pages ask for: answers undone, identical events, figures by period, models."""

from __future__ import annotations

import asyncio
import json

import msgspec
import pytest
from wire import run

from lopsided.service import console
from lopsided.service.commands import admin, questions
from lopsided.service.commands.events import add_events
from lopsided.service.commands.labels import add_labels
from lopsided.service.types import (
    Event,
    Label,
    NewModel,
    Promotion,
    Refusal,
    Verdict,
)
from service import CONFIG, Desk, events, the_same

ALL = msgspec.structs.replace(CONFIG, query="always", budget=None)


def asked(n, same=()):
    """Return a desk with n open questions; those numbered `same` have identical features."""
    desk = Desk(config=ALL)
    for i in range(n):
        features = {"a": 7.0 if i in same else float(i), "shop": "x"}
        desk.do(add_events, "pay", [Event(key=f"e{i}", features=features)])
    return desk


def lease(desk, key):
    found = desk.do(questions.lease_questions, "pay", 100, 60.0, "ann")
    for question in found:
        if question.key != key:
            desk.do(questions.renew_lease, "pay", question.key, question.lease, True)
    return next(question for question in found if question.key == key)


def answer(desk, question, **what):
    given = Verdict(key=question.key, lease=question.lease, by="ann", **what)
    return desk.do(questions.answer_question, "pay", given)


def state(desk, key):
    return desk.storage.all("select state, priority, lease from question where key = ?", key)[0]


# Answers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", [{"verdict": "skip"}, {"verdict": "escalate"}, {"label": "fine"}])
def test_every_answer_can_be_repeated_and_undone(what):
    desk = asked(3)
    question = lease(desk, "e1")
    before = state(desk, "e1")
    assert answer(desk, question, **what).result != "repeated"
    assert answer(desk, question, **what).result == "repeated"
    assert len(desk.storage.all("select 1 from log where kind = 'answer'")) == 1
    undone = desk.do(questions.undo_answer, "pay", "e1", question.lease)
    assert (undone.result, state(desk, "e1")) == ("undone", before)
    assert desk.do(questions.undo_answer, "pay", "e1", question.lease).result == "repeated"
    assert answer(desk, question, **what).result != "repeated"  # again, after it was undone


def test_what_was_set_aside_is_listed_until_it_has_a_label():
    desk = asked(3)
    answer(desk, lease(desk, "e2"), verdict="escalate", note="odd shop")
    answer(desk, lease(desk, "e0"), verdict="unsure")
    found = desk.do(questions.set_aside, "pay")
    assert [(q["key"], q["verdict"], q["note"]) for q in found] == [
        ("e0", "unsure", None), ("e2", "escalate", "odd shop")
    ]  # fmt: skip
    desk.do(add_labels, "pay", [Label("e0", "fine")])
    assert [q["key"] for q in desk.do(questions.set_aside, "pay")] == ["e2"]


def test_a_skipped_question_that_another_has_is_not_taken_away():
    desk = asked(1)
    question = lease(desk, "e0")
    answer(desk, question, verdict="skip")
    other = lease(desk, "e0")
    with pytest.raises(Refusal, match="with somebody else"):
        desk.do(questions.undo_answer, "pay", "e0", question.lease)
    assert state(desk, "e0")[2] == other.lease


def test_a_label_for_identical_events_is_one_answer_each_and_undone_together():
    desk = asked(6, same=(1, 3, 4))
    other = lease(desk, "e4")  # with somebody else: not theirs to answer
    question = lease(desk, "e1")
    assert desk.do(questions.identical, "pay", "e1") == ["e3"]
    desk.do(questions.renew_lease, "pay", "e4", other.lease, True)
    assert sorted(desk.do(questions.identical, "pay", "e1")) == ["e3", "e4"]
    with pytest.raises(Refusal, match="only a label"):
        answer(desk, question, verdict="skip", same=True)
    assert answer(desk, question, label="fraud", same=True).same == 2
    assert [state(desk, f"e{i}")[0] for i in range(6)] == [
        "open", "held", "open", "held", "held", "open"
    ]  # fmt: skip
    desk.do(questions.undo_answer, "pay", "e1", question.lease)
    assert {state(desk, f"e{i}")[0] for i in range(6)} == {"open"}
    assert answer(desk, question, label="fraud", same=True).same == 2
    desk.now += 10
    desk.run(questions.settle)
    rows = desk.storage.all("select key from log where kind = 'label' order by key")
    assert rows == [("e1",), ("e3",), ("e4",)]
    assert the_same(desk)


def test_identical_events_have_values_of_the_same_type_and_a_repeated_answer_says_how_many():
    desk = asked(4, same=(1, 2))
    for key, value in (("t", True), ("u", 1.0), ("v", 1.0)):
        desk.do(add_events, "pay", [Event(key=key, features={"a": value})])
    assert desk.do(questions.identical, "pay", "t") == []
    assert desk.do(questions.identical, "pay", "u") == ["v"]
    question = lease(desk, "e1")
    assert answer(desk, question, label="fraud", same=True).same == 1
    other = lease(desk, "e3")
    answer(desk, other, label="fine")
    again = answer(desk, question, label="fraud", same=True)
    assert (again.result, again.same) == ("repeated", 1)
    desk.now += 10
    desk.run(questions.settle)
    assert answer(desk, question, label="fraud", same=True).same == 1
    assert answer(desk, other, label="fine").same == 0


def test_an_answer_of_another_type_is_refused():
    desk = Desk(config=msgspec.structs.replace(ALL, positive=1, negative=0))
    desk.do(add_events, "pay", [Event(key="e0", features={"a": 1.0})])
    question = lease(desk, "e0")
    with pytest.raises(Refusal, match="the label must be 1 or 0"):
        answer(desk, question, label=True)
    assert state(desk, "e0")[0] == "open"


def test_a_question_whose_answer_cannot_be_learned_is_open_again(monkeypatch):
    desk = asked(2)
    question = lease(desk, "e1")
    with monkeypatch.context() as patch:
        patch.setattr(questions, "is_label", lambda *_: True)
        answer(desk, question, label="odd")
    desk.now += 10
    desk.do(questions.settle)
    assert state(desk, "e1")[::2] == ("open", None)
    answer(desk, lease(desk, "e1"), label="fraud")
    desk.now += 10
    desk.do(questions.settle)
    assert desk.stream.state.labels == 1
    assert the_same(desk)


# Models -------------------------------------------------------------------------------------------


def taught(desk, first, last):
    batch, labels = events(400)
    for event, label in zip(batch[first:last], labels[first:last], strict=True):
        desk.do(add_events, "pay", [msgspec.structs.replace(event)])
        desk.do(add_labels, "pay", [Label(event.key, label)])


def test_a_snapshot_comes_back_as_a_challenger_and_is_promoted():
    desk = Desk()
    taught(desk, 0, 100)
    desk.do(admin.take_snapshot, "pay")
    (kept,) = desk.do(admin.snapshots, "pay")
    weights = desk.do(admin.model_contents, "pay", "first")["weights"]
    taught(desk, 100, 200)
    assert desk.do(admin.model_contents, "pay", "first")["weights"] != weights
    spec = NewModel(name="back", snapshot=kept["seq"], of="first", by="ann")
    desk.do(admin.add_model, "pay", spec)
    assert desk.do(admin.model_contents, "pay", "back")["weights"] == weights
    desk.do(admin.promote, "pay", Promotion("back"), "ann")
    taught(desk, 200, 300)
    assert the_same(desk)
    desk.do(admin.take_snapshot, "pay")
    taught(desk, 300, 320)
    assert the_same(desk)
    desk.do(admin.promote, "pay", Promotion("first"), "ann")
    assert the_same(desk)
    with pytest.raises(Refusal, match="no such model in a snapshot"):
        desk.do(admin.add_model, "pay", NewModel(name="c", snapshot=kept["seq"] + 1))
    found = desk.do(admin.changes, "pay")
    assert [change["kind"] for change in found] == [
        "promote", "snapshot", "promote", "model", "snapshot", "model", "config"
    ]  # fmt: skip
    assert (found[0]["by"], found[0]["what"]) == ("ann", {"name": "first"})
    assert found[3]["what"]["by"] == "ann"


def test_a_champion_that_paces_its_questions_can_be_replaced():
    config = msgspec.structs.replace(CONFIG, parameters={"pace": True})
    desk = Desk(config=config)
    taught(desk, 0, 50)
    desk.do(admin.add_model, "pay", NewModel(name="other", learner="PA-I"))
    desk.do(admin.promote, "pay", Promotion("other"))
    assert desk.stream.champion.model.pace
    taught(desk, 50, 80)
    desk.do(admin.promote, "pay", Promotion("first"))
    assert the_same(desk)


# Calls --------------------------------------------------------------------------------------------


def test_calls_of_the_pages():
    async def scenario(wire):
        for i in range(20):
            event = {"key": f"e{i}", "features": {"a": float(i % 2)}}
            await wire.call("POST", "/v1/pay/events", event)
            label = {"key": f"e{i}", "label": "fraud" if i % 2 else "fine"}
            await wire.call("POST", "/v1/pay/labels", label)
        _, found = await wire.call("GET", "/v1")
        assert (found["streams"], found["role"]) == (["pay"], "admin")
        prices = {"costs": {"miss": 9, "alarm": 2}, "currency": "EUR", "formats": {"a": "time"}}
        assert (await wire.call("PUT", "/v1/pay", prices))[0] == 200
        assert (await wire.call("PUT", "/v1/pay", {"currency": "euro"}))[0] == 422
        assert (await wire.call("PUT", "/v1/pay", {"formats": {"a": "odd"}}))[0] == 422
        _, found = await wire.call("GET", "/v1/pay/changes")
        assert found["changes"][0]["by"] == "local"
        assert found["changes"][0]["what"]["costs"] == {"miss": 9.0, "alarm": 2.0}
        status, found = await wire.call("GET", "/v1/pay/desk?window=hour")
        assert (status, sum(found["window"]["events"]), found["counted"]) == (200, 20, 1.0)
        assert (await wire.call("GET", "/v1/pay/desk?window=year"))[0] == 422
        status, text = await wire.call("GET", "/v1/pay/live?window=hour")
        assert (status, wire.headers[b"content-type"]) == (200, b"text/event-stream")
        assert json.loads(text.removeprefix(b"data: "))["window"]["window"] == "hour"
        assert (await wire.call("GET", "/v1/none/live"))[0] == 404
        assert (await wire.call("POST", "/v1/pay/snapshots", {}))[1]["result"] == "written"
        _, found = await wire.call("GET", "/v1/pay/snapshots")
        assert found["snapshots"][0]["model"] == "first"
        assert (await wire.call("GET", "/v1/pay/models/none"))[0] == 404
        _, found = await wire.call("GET", "/v1/pay/models/first")
        assert found["weights"][0][0] == "a"

    run(scenario)


def test_who_listens_is_cut_off_when_their_token_is_dropped(monkeypatch):
    monkeypatch.setattr(console, "_EVERY", 0.01)

    async def scenario(wire):
        heard = asyncio.Event()

        async def receive():
            await asyncio.Event().wait()

        async def send(message):
            if message.get("body"):
                heard.set()

        scope = {
            "type": "http", "method": "GET", "path": "/v1/pay/live", "query_string": b"",
            "headers": [(b"authorization", b"Bearer " + wire.tokens["label"].encode())],
        }  # fmt: skip
        live = asyncio.create_task(wire.app(scope, receive, send))
        await asyncio.wait_for(heard.wait(), 20)
        await asyncio.sleep(0.1)
        assert not live.done()
        await wire.call("DELETE", "/tokens/label", role="admin")
        await asyncio.wait_for(live, 20)

    run(scenario, tokens=("admin", "label"))


def test_hidden_features_are_shown_to_nobody_but_an_admin():
    async def scenario(wire):
        await wire.call("PUT", "/v1/pay", {"hidden": ["name"], "query": "always"}, role="admin")
        event = {"key": "e", "features": {"a": 1.0, "name": "Ann"}}
        await wire.call("POST", "/v1/pay/events", event, role="admin")
        for role, names in (("admin", {"a", "name"}), ("label", {"a"})):
            _, found = await wire.call("GET", "/v1/pay/events/e", role=role)
            assert set(found["event"]["features"]) == names
        _, found = await wire.call("GET", "/v1/pay/questions", role="label")
        assert set(found["questions"][0]["features"]) == {"a"}

    run(scenario, tokens=("admin", "label"))


def test_reasons_do_not_name_hidden_features():
    async def scenario(wire):
        config = {"hidden": ["n=m", "name"], "query": "always"}
        await wire.call("PUT", "/v1/pay", config, role="admin")
        for i in range(8):
            features = {"a": 1.0, "n=m": float(i % 2), "name": f"Ann{i % 2}"}
            event = {"key": f"e{i}", "features": features}
            await wire.call("POST", "/v1/pay/events", event, role="admin")
            label = {"key": f"e{i}", "label": ("fine", "fraud")[i % 2]}
            if i < 7:
                await wire.call("POST", "/v1/pay/labels", label, role="admin")
        for role, shown in (("admin", True), ("label", False)):
            _, found = await wire.call("GET", "/v1/pay/events/e7", role=role)
            assert found["answer"]["reasons"]
            assert ("Ann" in json.dumps(found)) == ("n=m" in json.dumps(found)) == shown
        _, found = await wire.call("GET", "/v1/pay/questions", role="label")
        assert found["questions"][0]["key"] == "e7"
        assert "Ann" not in json.dumps(found)
        assert "n=m" not in json.dumps(found)

    run(scenario, tokens=("admin", "label"))


def test_hidden_features_are_hidden_on_the_model_page():
    desk = Desk(config=msgspec.structs.replace(CONFIG, hidden=["shop", "a"]))
    taught(desk, 0, 60)
    names = {name for name, _ in desk.do(admin.model_contents, "pay", "first")["weights"]}
    assert names == {"b", "c"}
