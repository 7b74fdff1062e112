"""One event at a time: score it and learn from it, in two calls, in one, or in small batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import lopsided

from . import data, peers
from .csr import one_pass_sgd
from .dict_walk import dict_walk
from .harness import Contender, Group

FEATURES = 30
BATCH = 100
SGD = "SGDClassifier partial_fit"
WALK = "the walk over the dict alone, in C"


def groups(quick: bool) -> Iterator[Group]:
    count = 500 if quick else 5000
    yield _dicts(count, scaled=False)
    yield _dicts(count, scaled=True)
    yield _arrays(count)
    yield _weighted(count)
    yield _predicted(count)
    yield from _beside_river(count)


def _begun(stream: list[tuple[Any, int]], **parameters: Any) -> lopsided.COG:
    model = lopsided.COG(**parameters)
    for label in (0, 1):
        model.learn_one(next(x for x, y in stream if y == label), label)
    return model


def _ours(stream: list[tuple[Any, int]], **parameters: Any) -> Callable[[], None]:
    model = _begun(stream, **parameters)
    score, learn = model.score_one, model.learn_one

    def run() -> None:
        for x, y in stream:
            score(x)
            learn(x, y)

    return run


def _in_one_call(stream: list[tuple[Any, int]], **parameters: Any) -> Callable[[], None]:
    step = _begun(stream, **parameters).step_one

    def run() -> None:
        for x, y in stream:
            step(x, y)

    return run


def _in_batches(stream: list[tuple[Any, int]], **parameters: Any) -> Callable[[], None]:
    learn = _begun(stream, **parameters).partial_fit
    parts = [stream[k : k + BATCH] for k in range(0, len(stream), BATCH)]
    batches = [([x for x, _ in part], [y for _, y in part]) for part in parts]

    def run() -> None:
        for events, labels in batches:
            learn(events, labels)

    return run


def _dicts(count: int, scaled: bool) -> Group:
    stream = data.events(count, FEATURES)
    scaling = {} if scaled else {"scaling": "none"}
    forms: dict[str, dict[str, Any]] = {
        "names": scaling,
        "hash_bits=18": {"hash_bits": 18, **scaling},
    }
    ways = {"": _ours, ", step_one": _in_one_call, f", batches of {BATCH}": _in_batches}
    contenders = [
        Contender(f"COG-II, {form}{name}", way(stream, **parameters), count, goal=10)
        for name, way in ways.items()
        for form, parameters in forms.items()
    ]
    baseline = f"river {'StandardScaler | ' if scaled else ''}LogisticRegression"
    if peers.present("river"):
        contenders.insert(1, Contender(baseline, _river(stream, scaled), count, ours=False))
    if peers.present("vowpalwabbit") and not scaled:
        contenders.append(Contender("vowpalwabbit, text", _vowpal(stream), count, ours=False))
    title = f"one event, dict of {FEATURES} names: {'scale, ' if scaled else ''}score and learn"
    return Group(title, "µs/event", contenders, baseline)


def _each(call: Callable[..., object], rows: list[tuple[Any, ...]]) -> Callable[[], None]:
    def run() -> None:
        for row in rows:
            call(*row)

    return run


def _weighted(count: int) -> Group:
    """A weight costs little, whatever number it is."""
    stream = data.events(count, FEATURES)
    learn = _begun(stream, scaling="none").learn_one
    baseline = "learn_one"
    weights: dict[str, Any] = {"2.0": 2.0, "the int 1": 1, "np.float64(2)": np.float64(2)}
    contenders = [Contender(baseline, _each(learn, stream), count)]
    for name, weight in weights.items():
        run = _each(learn, [(x, y, weight) for x, y in stream])
        contenders.append(Contender(f"weight {name}", run, count, goal=round(1 / 1.3, 2)))
    return Group(f"one event, dict of {FEATURES} names: weights", "µs/event", contenders, baseline)


def _predicted(count: int) -> Group:
    """A label costs little more than a score."""
    stream = data.events(count, FEATURES)
    model, rows = _begun(stream, scaling="none"), [(x,) for x, _ in stream]
    contenders = [
        Contender("score_one", _each(model.score_one, rows), count),
        Contender("predict_one", _each(model.predict_one, rows), count, goal=round(1 / 1.5, 2)),
    ]
    title = f"one event, dict of {FEATURES} names: labels"
    return Group(title, "µs/event", contenders, "score_one")


def _beside_river(count: int) -> Iterator[Group]:
    """The same calls of river, one by one, without scaling and with standard scores."""
    if not peers.present("river"):
        return
    stream = data.events(count, FEATURES)
    weighted, rows = [(x, y, 2.0) for x, y in stream], [(x,) for x, _ in stream]
    walk = dict_walk()
    floor = [] if walk is None else [Contender(WALK, _each(walk, rows), count, ours=False)]
    for scaled in (False, True):
        model = _begun(stream, **({} if scaled else {"scaling": "none"}))
        peer = _peer(scaled)
        for x, y in stream[:100]:
            model.learn_one(x, y)
            peer.learn_one(x, y)
        river = f"river {'StandardScaler | ' if scaled else ''}LogisticRegression"
        works: list[tuple[str, list[Any], Any, Any]] = [
            ("predict the label", rows, model.predict_one, peer.predict_one)
        ]
        if not scaled:  # a pipeline of river passes no weight on
            works.insert(0, ("learn with a weight", weighted, model.learn_one, peer.learn_one))
        for what, work, ours, theirs in works:
            yield Group(
                f"one event, dict of {FEATURES} names: {'scale, ' if scaled else ''}{what}",
                "µs/event",
                [
                    Contender("COG-II, names", _each(ours, work), count, goal=10),
                    Contender(river, _each(theirs, work), count, ours=False),
                    *(floor if work is rows else []),
                ],
                river,
            )


def _peer(scaled: bool) -> Any:
    from river.linear_model import LogisticRegression
    from river.preprocessing import StandardScaler

    return StandardScaler() | LogisticRegression() if scaled else LogisticRegression()


def _arrays(count: int) -> Group:
    X, y = data.table(count, FEATURES)
    stream = list(zip(X, y.tolist(), strict=True))
    contenders = [
        Contender("COG-II", _ours(stream, scaling="none"), count),
        Contender("COG-II, standard+unit scaling (default)", _ours(stream), count),
    ]
    if peers.present("scikit-learn"):
        few = min(count, 200)
        contenders.insert(1, Contender(SGD, _sgd(stream[:few]), few, ours=False))
    return Group(f"one event, array of {FEATURES}: score and learn", "µs/event", contenders, SGD)


def _river(stream: list[tuple[Any, int]], scaled: bool = False) -> Callable[[], None]:
    model = _peer(scaled)

    def run() -> None:
        for x, y in stream:
            model.predict_one(x)
            model.learn_one(x, y)

    return run


def _vowpal(stream: list[tuple[Any, int]]) -> Callable[[], None]:
    from vowpalwabbit import Workspace

    model = Workspace("--quiet --loss_function logistic")

    def run() -> None:
        for x, y in stream:
            text = "| " + " ".join(f"{name}:{value}" for name, value in x.items())
            model.predict(text)
            model.learn(f"{2 * y - 1} {text}")

    return run


def _sgd(stream: list[tuple[Any, int]]) -> Callable[[], None]:
    model = one_pass_sgd()
    model.partial_fit([stream[0][0]], [0], classes=[0, 1])

    def run() -> None:
        for x, y in stream:
            row = x.reshape(1, -1)
            model.decision_function(row)
            model.partial_fit(row, [y])

    return run
