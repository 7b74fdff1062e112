"""Every public method beside every other, in two threads: no error, no deadlock, no torn file."""

from __future__ import annotations

import itertools
import sys
import threading

import numpy as np
import pytest

from lopsided import Active, Recommended
from lopsided.persist import from_bytes, to_bytes

ROUNDS = 15
COUNT = itertools.count()


def event():
    k = next(COUNT)
    return {"a": 1.0 + k % 3, f"new {k % 200}": 1.0}


def batch(size=6):
    return [event() for _ in range(size)], [0, 1] * (size // 2)


def check(model):
    copy = from_bytes(to_bytes(model))
    assert len(copy.feature_names_in_) == copy.n_features_in_


METHODS = {
    "learn_one": lambda m: m.learn_one(event(), next(COUNT) % 2),
    "partial_fit": lambda m: m.partial_fit(*batch()),
    "score_one": lambda m: m.score_one(event()),
    "score_many": lambda m: m.score_many(batch()[0]),
    "predict": lambda m: m.predict(batch()[0]),
    "save": check,
    "names": lambda m: (m.feature_names_in_, m.n_features_in_, m.classes_),
    "set_params": lambda m: m.set_params(sensitivity_weight=0.5),
}
ASKING = {
    "ask": lambda m: m.ask(event()),
    "ask and tell": lambda m: m.tell(m.ask(event()).id, next(COUNT) % 2),
    "ask_many": lambda m: m.ask_many(batch()[0]),
    "learn_one": METHODS["learn_one"],
    "pending": lambda m: (m.pending_, m.queries_, m.budget_left_),
    "save": check,
}


@pytest.fixture
def hasty():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(model, *acts):
    faults = []

    def work(act):
        try:
            for _ in range(ROUNDS):
                act(model)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(act,), daemon=True) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "it hangs"
    assert faults == []
    check(model)
    assert np.isfinite(model.score_one({"a": 1.0}))


def pairs(methods):
    return [
        pytest.param(a, b, id=f"{x} and {y}")
        for (x, a), (y, b) in itertools.combinations_with_replacement(methods.items(), 2)
    ]


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(("one", "other"), pairs(METHODS))
@pytest.mark.promise("threads")
def test_methods_of_a_learner(one, other):
    together(Recommended().partial_fit(*batch()), one, other)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(("one", "other"), pairs(ASKING))
def test_methods_of_a_learner_that_asks(one, other):
    model = Active(learner="COG-II", query="always", budget=10**6)
    model.partial_fit(*batch())
    together(model, one, other)
