"""One event at a time: score it, then learn from it, in two calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import lopsided

from . import data, peers
from .csr import one_pass_sgd
from .harness import Contender, Group

FEATURES = 30
RIVER = "river LogisticRegression"
SGD = "SGDClassifier partial_fit"


def groups(quick: bool) -> Iterator[Group]:
    yield _dicts(500 if quick else 5000)
    yield _arrays(500 if quick else 5000)


def _ours(stream: list[tuple[Any, int]], **parameters: Any) -> Callable[[], None]:
    model = lopsided.COG(**parameters)
    score, learn = model.score_one, model.learn_one
    for label in (0, 1):
        learn(next(x for x, y in stream if y == label), label)

    def run() -> None:
        for x, y in stream:
            score(x)
            learn(x, y)

    return run


def _dicts(count: int) -> Group:
    stream = data.events(count, FEATURES)
    forms: dict[str, dict[str, Any]] = {
        "COG-II, names": {"scaling": "none"},
        "COG-II, hash_bits=18": {"scaling": "none", "hash_bits": 18},
        "COG-II, names, standard+unit scaling (default)": {},
        "COG-II, hash_bits=18, standard+unit scaling (default)": {"hash_bits": 18},
    }
    contenders = [
        Contender(name, _ours(stream, **parameters), count, goal=None if "default" in name else 10)
        for name, parameters in forms.items()
    ]
    if peers.present("river"):
        contenders.insert(1, Contender(RIVER, _river(stream), count, ours=False))
        scaled = Contender("river StandardScaler | LogisticRegression", _river(stream, True), count)
        scaled.ours = False
        contenders.append(scaled)
    if peers.present("vowpalwabbit"):
        contenders.append(Contender("vowpalwabbit, text", _vowpal(stream), count, ours=False))
    title = f"one event, dict of {FEATURES} names: score and learn"
    return Group(title, "µs/event", contenders, RIVER)


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
    from river.linear_model import LogisticRegression
    from river.preprocessing import StandardScaler

    model = StandardScaler() | LogisticRegression() if scaled else LogisticRegression()

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
