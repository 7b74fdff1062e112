"""Figures by period: those of the log, the same after a restart, with honest errors."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest
from wire import run

from lopsided.service import console
from lopsided.service import ledger as ledger_module
from lopsided.service.commands import admin
from lopsided.service.commands.events import add_events
from lopsided.service.commands.labels import add_labels
from lopsided.service.ledger import WINDOWS, Ledger, count_ledger, keep_ledger, load_ledger
from lopsided.service.periods import Period, estimated
from lopsided.service.types import Answer, Costs, Event, Label, NewModel
from service import CONFIG, Desk, events, the_same


def counted(desk, ledger=None):
    ledger = ledger or Ledger()
    while not desk.do(count_ledger, "pay", ledger, desk.storage.seq):
        pass
    return ledger


def weights(desk):
    """Return how many events the labels asked for stand for, by label and decision."""
    out = dict.fromkeys([(a, b) for a in (True, False) for b in (True, False)], 0.0)
    newest = {}
    for (body,) in desk.storage.all("select body from log where kind = 'label' order by seq"):
        newest[json.loads(body)["key"]] = json.loads(body)["label"]
    for _, given in desk.storage.events():
        if given.asked and given.key in newest:
            out[newest[given.key] == "fraud", given.flag] += 1 / given.ask_probability
    return out


def test_figures_by_period_are_those_of_the_log():
    desk = Desk(snapshot_every=90)
    desk.do(admin.add_model, "pay", NewModel(name="other", learner="PA-I"))
    batch, labels = events(700)
    start = 1_000_800.0  # on the hour
    for i, event in enumerate(batch):
        event.time = start + 3600 * (i // 100)
    desk.do(add_events, "pay", batch[:30])  # together, so that they share rows of the log
    for i, (event, label) in enumerate(zip(batch, labels, strict=True)):
        desk.do(add_events, "pay", [event])
        if i % 3:
            wrong = "fine" if label == "fraud" else "fraud"
            desk.do(add_labels, "pay", [Label(event.key, wrong if i % 50 == 1 else label)])
        if i % 50 == 1:  # it is corrected
            desk.do(add_labels, "pay", [Label(event.key, label)])
    ledger = counted(desk)
    found = ledger.window("day", start + 3600 * 6.5, CONFIG.costs)
    first, other = desk.stream.state.models
    assert found["events"][-7:] == [100] * 7
    assert sum(found["labels"]) == desk.stream.state.labels
    assert found["models"]["first"] == first.account
    assert found["models"]["other"].cost == pytest.approx(other.account.cost)
    assert sum(found["nobody"]) == pytest.approx(desk.stream.state.nobody)
    assert sum(found["everybody"]) == pytest.approx(desk.stream.state.everybody)
    sums = weights(desk)
    for name, positive in (("sensitivity", True), ("specificity", False)):
        right, wrong = sums[positive, positive], sums[positive, not positive]
        assert found["estimate"][name] == pytest.approx(right / (right + wrong))
        assert 0 < found["estimate"][f"{name}_error"] < 0.5
    alarms = sums[True, True] + sums[False, True]
    assert found["estimate"]["precision"] == pytest.approx(sums[True, True] / alarms)
    late = ledger.window("hour", start + 3600 * 6.5, CONFIG.costs)
    assert sum(late["events"]) == 100
    assert {name for name, *_ in late["inputs"]} == {"a", "b", "c", "shop=s0", "shop=s1", "shop=s2"}
    assert the_same(desk)  # counting changes nothing


def test_precision_counts_alarms_by_the_chance_of_asking():
    rows = [(True, True, 0.5), (True, False, 1.0), (True, False, 0.25), (False, True, 0.5)]
    desk = Desk()
    ledger = Ledger()
    answer_ = json.loads(desk.do(add_events, "pay", [Event(key="x", features={"a": 1.0})])[0])
    period = Period(events=4)
    for flag, positive, chance in rows:
        made = Answer(**{**answer_, "flag": flag, "asked": True, "ask_probability": chance})
        period.learn(made, positive, Costs(60, 3), 1.0)
    ledger._periods[3600][0] = period
    estimate = ledger.window("day", 10.0, Costs(60, 3))["estimate"]
    assert estimate["precision"] == pytest.approx(2 / (2 + 1 + 4))
    assert estimate["sensitivity"] == pytest.approx(0.5)


def test_a_shift_of_an_input_is_found():
    desk = Desk()
    for i in range(300):
        x = {"steady": float(i % 7), "moved": float(i % 5 + (10 if i >= 200 else 0))}
        event = Event(key=f"e{i}", features=x, time=1_000_000.0 + 1000 * i)
        desk.do(add_events, "pay", [event])
    found = counted(desk).window("day", 1_000_000.0 + 1000 * 300, CONFIG.costs)
    hidden = counted(desk).window("day", 1_000_000.0 + 1000 * 300, CONFIG.costs, ["moved"])
    assert [name for name, *_ in hidden["inputs"]] == ["steady"]
    (name, now, usual, shift), *rest = found["inputs"]
    assert (name, round(now), shift > 1) == ("moved", 12, True)
    assert usual < now
    assert all(abs(other[3]) < 0.3 for other in rest)


def months(desk, step):
    """Feed a desk for four months, the last hours by the minute; `step` is called now and then."""
    batch, labels = events(560)
    start = 1_000_000.0
    times = [start + 43_200 * i for i in range(240)]
    times += [times[-1] + 86_400 + 40 * i for i in range(320)]
    for i, (event, time) in enumerate(zip(batch, times, strict=True)):
        desk.now = event.time = time
        event.features[f"name{i % 70}"] = 1.0  # more than are counted
        desk.do(add_events, "pay", [event])
        if i > 2:
            desk.do(add_labels, "pay", [Label(batch[i - 3].key, labels[i - 3])])
        if i % 90 == 50:
            costs = Costs(miss=60 + i, alarm=3)
            desk.do(admin.put_stream, "pay", msgspec.structs.replace(CONFIG, costs=costs))
        step(i)


def all_windows(ledger, desk):
    return [ledger.window(name, desk.now, desk.stream.config.costs) for name in WINDOWS]


def test_a_restart_shows_the_same_figures():
    desk, watched, kept = Desk(), Ledger(), []

    def step(i):
        if i % 7 == 0:  # somebody looks
            counted(desk, watched)
        if i == 555:
            desk.do(keep_ledger, "pay", watched)
            kept.append(watched.seq)

    months(desk, step)
    counted(desk, watched)
    again = Desk(desk.storage, desk.witness)  # the server is started again
    again.now = desk.now
    found = again.do(load_ledger, "pay", again.storage.seq)
    assert [found.seq] == kept
    assert all_windows(counted(again, found), again) == all_windows(watched, desk)
    anew = all_windows(counted(again), again)  # from the log alone, where nothing was kept
    for new, old in zip(anew, all_windows(watched, desk), strict=True):
        assert len(old.pop("inputs")) == len(new.pop("inputs")) == 10
        assert new == old
    assert again.do(load_ledger, "pay", kept[0] - 1).seq == 0  # the log was cut
    desk.storage.do("update meta set value = x'00' where key like 'desk%'")
    assert again.do(load_ledger, "pay", again.storage.seq).seq == 0


def test_what_was_counted_is_kept_now_and_then(monkeypatch):
    monkeypatch.setattr(ledger_module, "_OFTEN", 20)
    found = []
    load = console.load_ledger
    monkeypatch.setattr(console, "load_ledger", lambda *a: found.append(load(*a)) or found[-1])

    async def scenario(wire):
        for i in range(30):
            event = {"key": f"e{i}", "features": {"a": float(i % 2)}}
            await wire.call("POST", "/v1/pay/events", event)
        for _ in range(3):
            await wire.call("GET", "/v1/pay/desk")
        assert len(found) == 1
        assert found[0].kept >= 30
        (count,) = await wire.app.run(
            lambda tx: tx.storage.all("select count(*) from meta where key like 'desk %'")[0]
        )
        assert count == 1

    run(scenario)


def test_the_errors_of_shares_are_honest_where_few_labels_stand_for_many_events():
    """Flagged events are asked about often, others seldom: a miss is rarely met."""
    rng = np.random.default_rng(3)
    inside = {"sensitivity": [], "specificity": [], "precision": []}
    for _ in range(100):
        chance = 1 / (1 + np.exp(4 - 2.5 * rng.normal(size=3000)))
        positive, flag = rng.random(3000) < chance, chance > 0.05
        ask = np.where(flag, 0.5, 0.02)
        period = Period(events=3000)
        for i in np.flatnonzero(rng.random(3000) < ask):
            given = Answer("e", 1, 1, 0.0, bool(flag[i]), True, ask[i], "first", chance[i])
            period.learn(given, bool(positive[i]), CONFIG.costs, 1.0)
        found = estimated(period, CONFIG.costs)
        truth = {"sensitivity": flag[positive].mean(), "specificity": (~flag[~positive]).mean(),
                 "precision": positive[flag].mean()}  # fmt: skip
        for name, value in truth.items():
            inside[name].append(abs(found[name] - value) <= 2 * found[f"{name}_error"])
    assert all(sum(hits) >= 90 for hits in inside.values())
