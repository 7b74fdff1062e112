"""Champions, challengers, settings, replays and the demonstration."""

from __future__ import annotations

import asyncio
import json

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from wire import run

import lopsided
from lopsided import Active
from lopsided.cli import main
from lopsided.persist import to_bytes
from lopsided.service import demo
from lopsided.service.commands import admin
from lopsided.service.commands.events import add_events
from lopsided.service.commands.labels import add_labels
from lopsided.service.recovery import recover
from lopsided.service.replaying import replay_log
from lopsided.service.storage import Storage
from lopsided.service.stream import digest
from lopsided.service.types import Costs, Label, NewModel, Promotion, Refusal
from service import CONFIG, Desk, events


def feed(desk, first, last, n=400):
    batch, labels = events(n)
    for event, label in zip(batch[first:last], labels[first:last], strict=True):
        desk.do(add_events, "pay", [msgspec.structs.replace(event)])
        desk.do(add_labels, "pay", [Label(event.key, label)])


def the_same(desk):
    streams, _, _ = recover(desk.storage)
    return digest(streams["pay"].snapshot()) == digest(desk.stream.snapshot())


def test_a_challenger_is_judged_on_the_same_labels_promoted_and_rolled_back():
    desk = Desk(snapshot_every=90)
    feed(desk, 0, 100)
    desk.do(admin.add_model, "pay", NewModel(name="other", learner="PA-I"))
    feed(desk, 100, 200)
    first, other = desk.stream.state.models
    assert other.account.positives + other.account.negatives == pytest.approx(99)  # all but one
    assert other.account.decided <= first.account.cost
    assert other.account.cost != other.account.decided
    assert the_same(desk)
    bought = desk.stream.champion.model.queries_
    assert desk.stream.learners["other"].model.queries_ == 20  # those bought before it came
    desk.do(admin.promote, "pay", Promotion("other"))
    assert desk.stream.champion.model.queries_ == bought  # the budget goes on
    assert desk.stream.champion.model.events_ == 200
    feed(desk, 200, 300)
    assert desk.stream.champion.model.queries_ > bought
    assert desk.stream.learners["first"].model.events_ == 300
    assert the_same(desk)
    desk.do(admin.promote, "pay", Promotion("first"))
    assert desk.stream.state.before == "other"
    feed(desk, 300, 400)
    assert the_same(desk)
    spent = [0] * 4
    for (out,) in desk.storage.all("select out from log where kind = 'event'"):
        answer = json.loads(out)
        spent[answer["id"] // 100] += answer["asked"]
    assert max(spent) <= 20
    desk.do(admin.remove_model, "pay", Promotion("other"))
    feed(desk, 400, 400)
    assert the_same(desk)


@pytest.mark.parametrize("learner", ["COG-II", "AROW-diag", "Recommended"])
def test_a_challenger_like_the_champion_decides_as_it_does(learner):
    """It only overhears the labels, and prices are weighed at its probabilities all the same."""
    config = msgspec.structs.replace(CONFIG, learner=learner, budget=None, query="margin")
    desk = Desk(config=config)
    desk.do(admin.add_model, "pay", NewModel(name="twin", learner=learner))
    feed(desk, 0, 400)
    said = desk.storage.all("select out from log where kind = 'event' order by seq")
    answers = [json.loads(out) for (out,) in said][200:]
    agree = [answer["shadow"]["twin"] == answer["flag"] for answer in answers]
    assert np.mean(agree) > 0.95
    assert the_same(desk)


def test_a_challenger_that_learned_from_the_log():
    desk = Desk()
    feed(desk, 0, 150)
    spec = NewModel(name="late", learner="PA-I", replay=True)
    desk.do(admin.add_model, "pay", spec)
    assert desk.stream.learners["late"].ready
    assert desk.stream.learners["late"].model.events_ == 150
    feed(desk, 150, 200)
    assert the_same(desk)


def test_prices_and_budgets_can_change():
    desk = Desk()
    feed(desk, 0, 120)
    before = digest(desk.stream.snapshot())
    other = msgspec.structs.replace(CONFIG, costs=Costs(100.0, 1.0), budget="5/100")
    desk.do(admin.put_stream, "pay", other)
    assert digest(desk.stream.snapshot()) != before
    feed(desk, 120, 200)
    assert the_same(desk)
    with pytest.raises(Refusal, match="positive cannot change"):
        desk.do(admin.put_stream, "pay", msgspec.structs.replace(other, positive="bad"))
    with pytest.raises(Refusal, match="not a budget"):
        desk.do(admin.put_stream, "pay", msgspec.structs.replace(other, budget="lots"))
    assert the_same(desk)


def test_settings_that_the_champion_cannot_take_change_nothing():
    desk = Desk()
    desk.do(admin.add_model, "pay", NewModel(name="other", learner="PA-I"))
    feed(desk, 0, 60)
    desk.do(admin.promote, "pay", Promotion("other"))
    before = digest(desk.stream.snapshot())
    bad = msgspec.structs.replace(CONFIG, query="confidence", costs=Costs(5000.0, 1.0))
    with pytest.raises(Refusal, match="needs a learner with a covariance") as refused:
        desk.do(admin.put_stream, "pay", bad)
    assert refused.value.status == 422
    assert digest(desk.stream.snapshot()) == before
    feed(desk, 60, 120)
    assert the_same(desk)


def test_a_model_that_cannot_ask_as_the_stream_does_is_not_promoted():
    desk = Desk(config=msgspec.structs.replace(CONFIG, query="confidence"))
    desk.do(admin.add_model, "pay", NewModel(name="other", learner="PA-I"))
    feed(desk, 0, 60)
    before = digest(desk.stream.snapshot())
    with pytest.raises(Refusal, match="needs a learner with a covariance") as refused:
        desk.do(admin.promote, "pay", Promotion("other"))
    assert refused.value.status == 422
    assert digest(desk.stream.snapshot()) == before
    feed(desk, 60, 120)
    assert the_same(desk)


def prices(desk, name):
    """What is shown must be what the model has."""
    shown = msgspec.to_builtins(desk.do(admin.model_contents, "pay", name)["costs"])
    assert shown == desk.stream.learners[name].model.costs
    return shown["miss"], shown["alarm"]


def test_who_decides_does_so_at_the_prices_of_the_stream():
    desk = Desk(snapshot_every=50)
    own = NewModel(name="own", learner="AROW-diag", costs=Costs(1.0, 100.0))
    desk.do(admin.add_model, "pay", own)
    feed(desk, 0, 100)
    assert (prices(desk, "first"), prices(desk, "own")) == ((60, 3), (1, 100))
    desk.do(admin.promote, "pay", Promotion("own"))
    assert (prices(desk, "first"), prices(desk, "own")) == ((60, 3), (60, 3))
    feed(desk, 100, 200)
    decided = desk.storage.all("select out from log where kind = 'event' order by seq")[100:]
    assert sum(json.loads(out)["flag"] for (out,) in decided) > 5  # none at its own prices
    desk.do(admin.put_stream, "pay", msgspec.structs.replace(CONFIG, keep_days=30.0))
    assert prices(desk, "own") == (60, 3)
    desk.do(admin.put_stream, "pay", msgspec.structs.replace(CONFIG, costs=Costs(50.0, 2.0)))
    assert (prices(desk, "first"), prices(desk, "own")) == ((50, 2), (50, 2))
    feed(desk, 200, 250)
    desk.do(admin.promote, "pay", Promotion("first"))
    assert (prices(desk, "first"), prices(desk, "own")) == ((50, 2), (1, 100))
    feed(desk, 250, 300)
    assert the_same(desk)


@pytest.mark.parametrize("asking", [False, True])
def test_a_stream_can_begin_with_a_model_that_has_learned(asking):
    batch, labels = events(200)
    made = lopsided.make("AROW-diag", positive="fraud")
    model = Active(made, budget=1000, query="always") if asking else made
    for event, label in zip(batch, labels, strict=True):
        model.learn_one(event.features, label)
    desk = Desk(stream="other")
    desk.do(admin.put_stream, "pay", CONFIG, to_bytes(model))
    answer = json.loads(desk.do(add_events, "pay", [msgspec.structs.replace(batch[0])])[0])
    assert answer["score"] == pytest.approx(model.score_one(batch[0].features), abs=0.05)
    assert desk.stream.champion.ready
    feed(desk, 0, 50)
    desk.do(admin.add_model, "pay", NewModel(name="c", learner="PA-I"))
    feed(desk, 50, 100)
    assert the_same(desk)


def test_a_daily_budget_counts_the_days_of_events():
    desk = Desk(config=msgspec.structs.replace(CONFIG, budget="3/day", query="always"))
    batch, _ = events(20)
    for i, event in enumerate(batch):
        event.time = 1_000_000.0 + 43_200 * (i // 5)
        desk.do(add_events, "pay", [event])
    asked = [json.loads(o)["asked"] for (o,) in desk.storage.all(
        "select out from log where kind = 'event' order by seq")]  # fmt: skip
    days = [int((1_000_000 + 43_200 * (i // 5)) // 86400) for i in range(20)]
    assert [sum(a for a, d in zip(asked, days, strict=True) if d == day) for day in set(days)] == [
        3
    ] * len(set(days))
    assert the_same(desk)


def test_probabilities_decide_at_the_prices_of_an_event():
    desk = Desk(snapshot_every=70)
    feed(desk, 0, 100)
    batch, _ = events(3, seed=9, first=1000)
    flags = []
    for event, alarm in zip(batch, (1e-9, 1.0, 1e9), strict=True):
        event.features, event.costs = {"a": 0.3}, Costs(1.0, alarm)
        (answer,) = map(json.loads, desk.do(add_events, "pay", [event]))
        assert 0 < answer["probability"] < 1
        model = desk.stream.champion.model
        assert answer["probability"] == model.probabilities(np.array([answer["score"]]))[0]
        flags.append(answer["flag"])
    assert flags[0] is True
    assert flags[1] == (answer["probability"] >= 0.5)
    assert flags[2] is False
    found = desk.stream.state.calibration
    assert sum(found.events) > 0
    assert 0 <= found.error() <= 1
    assert the_same(desk)


# What would it have cost ------------------------------------------------------------------------


def test_a_replay_with_the_same_learner_and_with_others(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    desk = Desk(Storage(folder / "lopsided.db"))
    feed(desk, 0, 300)
    found = replay_log(desk.storage, "pay")
    account = desk.stream.state.models[0].account
    assert (found.events, found.labels) == (300, 300)
    assert found.decided.cost == account.cost
    assert found.other.positives == account.positives
    other = replay_log(desk.storage, None, learner="PA-I", costs=Costs(5.0, 5.0))
    assert other.learner == "PA-I"
    assert other.decided.cost == 5 * (account.missed + account.alarms)
    assert other.other.cost != found.other.cost
    done = CliRunner().invoke(
        main, ["serve", str(folder), "--replay", "-l", "PA-I", "--costs", "5", "5", "--json"]
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["other"]["cost"] == other.other.cost
    shown = CliRunner().invoke(main, ["serve", str(folder), "--replay"]).output
    assert "as it was decided" in shown
    desk.storage.close()


def test_the_demonstration_sends_payments_and_learns():
    async def scenario(wire):
        await wire.call("PUT", "/v1/payments", json.loads(msgspec.json.encode(demo.CONFIG)))
        task = asyncio.create_task(demo.run(wire.app, per_second=1e6))
        for _ in range(2000):
            await asyncio.sleep(0.01)
            state = wire.sequencer.streams["payments"].state
            if state.events > demo.HISTORY + 50:
                break
        task.cancel()
        assert state.labels >= demo.HISTORY
        assert state.asked > 0
        shown = next(demo.payments())[0].features
        assert shown["shop"] in ("food", "fuel", "travel", "games", "other")
        assert shown["foreign"] in (True, False)

    run(scenario)
