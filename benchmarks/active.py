"""Decisions about labels: score an event, and say whether its label is wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import lopsided

from . import data, peers
from .harness import Contender, Group

FEATURES = 30
LEARNERS = ("COG-II", "OA3-diag", "OA3")
RARELY = {
    "delta_pos": 0.1,
    "delta_neg": 0.1,
}  # as they come OA3-diag and OA3 ask for half of the labels
RIVER = "river EntropySampler(LogisticRegression)"
ACTIVEML = "scikit-activeml FixedUncertainty(SGDClassifier)"


def groups(quick: bool) -> Iterator[Group]:
    yield _decisions(500 if quick else 5000)
    yield _rounds(500 if quick else 5000)
    yield _told(500 if quick else 5000)
    yield from _asked_and_told(500 if quick else 5000)


def _learned(
    name: str, stream: list[tuple[Any, int]], *, scaling: str = "none", **asking: Any
) -> Any:
    """A learner that knows both classes; every label that it asks for is there at once."""
    model = lopsided.make(name, scaling=scaling)
    if not isinstance(model, lopsided.Active):
        model = lopsided.Active(model, **asking)
    return model.partial_fit([x for x, _ in stream], [y for _, y in stream])


def _decisions(count: int) -> Group:
    """Nothing is learned: what a decision costs."""
    stream = data.events(count, FEATURES)
    events = [x for x, _ in stream]

    def each(name: str, call: str) -> Callable[[], None]:
        method = getattr(_learned(name, stream), call)

        def run() -> None:
            for x in events:
                method(x)

        return run

    def many(name: str, call: str, rows: Any, **parameters: Any) -> Callable[[], None]:
        labels = [y for _, y in stream]
        inner = lopsided.make(name, scaling="none", **parameters)
        active = inner if isinstance(inner, lopsided.Active) else lopsided.Active(inner)
        method = getattr(active.partial_fit(rows, labels), call)
        return lambda: method(rows)

    table = np.array([list(x.values()) for x in events])
    contenders = [
        Contender("a score alone, score_one", each("COG-II", "score_one"), count),
        *(Contender(f"{n}, ask", each(n, "ask"), count) for n in LEARNERS),
        Contender("OA3-diag, ask_many of dicts", many("OA3-diag", "ask_many", events), count),
        Contender(
            "a score alone, score_many of an array", many("COG-II", "score_many", table), count
        ),
        *(
            Contender(f"{n}, ask_many of an array", many(n, "ask_many", table), count, goal=30)
            for n in LEARNERS
        ),
        *(
            Contender(
                f"{n}, one in ten asked", many(n, "ask_many", table, **RARELY), count, goal=30
            )
            for n in LEARNERS[1:]
        ),
    ]
    if peers.present("river"):
        contenders.append(Contender(RIVER, _river(stream, learning=False), count, ours=False))
    contenders.extend(_activeml(stream, learning=False))
    title = f"{FEATURES} features: score an event and decide"
    return Group(title, "µs/event", contenders, RIVER)


def _rounds(count: int) -> Group:
    """A round as in the papers: decide, and learn if the label is bought."""
    stream = data.events(count, FEATURES)

    def ours(name: str) -> Callable[[], None]:
        learn = _learned(name, stream).learn_one

        def run() -> None:
            for x, y in stream:
                learn(x, y)

        return run

    contenders = [Contender(n, ours(n), count) for n in LEARNERS]
    if peers.present("river"):
        contenders.append(Contender(RIVER, _river(stream, learning=True), count, ours=False))
    contenders.extend(_activeml(stream, learning=True))
    title = f"one event, dict of {FEATURES} names: score, decide, learn if asked"
    return Group(title, "µs/event", contenders, RIVER)


def _told(count: int) -> Group:
    """A label that comes later costs little more than one that comes with its event."""
    stream = data.events(count, FEATURES)
    model = _learned("COG-II", stream, query="always", max_pending=count)
    learn, ask, tell = model.learn_one, model.ask, model.tell

    def at_once() -> None:
        for x, y in stream:
            learn(x, y)

    def later() -> float:
        asked = [(ask(x).id, y) for x, y in stream]
        start = time.perf_counter()
        for event, y in asked:
            tell(event, y)
        return time.perf_counter() - start

    contenders = [
        Contender("learn_one", at_once, count),
        Contender("tell", later, count, goal=0.5),
    ]
    title = f"one event, dict of {FEATURES} names: its label later"
    return Group(title, "µs/event", contenders, "learn_one")


def _asked_and_told(count: int) -> Iterator[Group]:
    """Every label is asked for and told, against a decision and a step of river."""
    if not peers.present("river"):
        return
    stream = data.events(count, FEATURES)
    for scaled in (False, True):
        scaling = "standard+unit" if scaled else "none"
        model = _learned("COG-II", stream, scaling=scaling, query="always")
        peer = _river(stream, learning=True, always=True, scaled=scaled)
        inner = f"{'StandardScaler | ' if scaled else ''}LogisticRegression"
        baseline = f"river EntropySampler({inner})"
        what = f"{'scale, ' if scaled else ''}ask and tell"
        contenders = [
            Contender("COG-II, ask and tell", _asking(model, stream), count, goal=10),
            Contender(baseline, peer, count, ours=False),
        ]
        title = f"one event, dict of {FEATURES} names: {what}"
        yield Group(title, "µs/event", contenders, baseline)


def _asking(model: Any, stream: list[tuple[Any, int]]) -> Callable[[], None]:
    def run() -> None:
        for x, y in stream:
            model.tell(model.ask(x).id, y)

    return run


def _river(
    stream: list[tuple[Any, int]], *, learning: bool, always: bool = False, scaled: bool = False
) -> Callable[[], None]:
    from river.active import EntropySampler
    from river.linear_model import LogisticRegression
    from river.preprocessing import StandardScaler

    inner = StandardScaler() | LogisticRegression() if scaled else LogisticRegression()
    model = EntropySampler(inner, seed=0)
    for x, y in stream:
        model.learn_one(x, y)

    def run() -> None:
        for x, y in stream:
            _, ask = model.predict_one(x)
            if (ask or always) and learning:
                model.learn_one(x, y)

    return run


def _activeml(stream: list[tuple[Any, int]], *, learning: bool) -> Iterator[Contender]:
    if not peers.present("scikit-activeml"):
        return
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.stream import FixedUncertainty
    from sklearn.linear_model import SGDClassifier

    few = stream[:20]  # milliseconds each
    table = np.array([list(x.values()) for x, _ in stream])
    learner = SklearnClassifier(SGDClassifier(loss="log_loss"), classes=[0, 1], random_state=0)
    learner.fit(table, [y for _, y in stream])
    rule = FixedUncertainty(classes=[0, 1], budget=0.9, random_state=0)

    def run() -> None:
        for row, (_, y) in zip(table, few, strict=False):
            event = row.reshape(1, -1)
            asked = rule.query(event, learner)
            rule.update(event, asked)
            if learning and len(asked):
                learner.partial_fit(event, [y])

    yield Contender(ACTIVEML, run, len(few), ours=False)
