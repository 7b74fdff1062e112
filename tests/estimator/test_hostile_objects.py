"""Objects whose methods do something else: change the batch, or use the model that reads them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from lopsided import COG, Active
from lopsided.persist import to_bytes


class Number:
    def __init__(self, act):
        self.act = act

    def __float__(self):
        self.act()
        return 1.0


class Label:
    def __init__(self, act):
        self.act = act

    def __hash__(self):
        self.act()
        return hash(1)

    def __eq__(self, other):
        return other == 1


def begun():
    return COG().partial_fit([{"a": 1.0}, {"a": -1.0}], [1, 0])


def in_time(act):
    """Return what an act raises; fail if it hangs."""
    found = []

    def run():
        try:
            act()
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive(), "it hangs"
    return found


@pytest.mark.parametrize("again", ["learn_one", "score_one", "partial_fit", "save"])
@pytest.mark.parametrize("first", ["learn_one", "score_one", "partial_fit"])
def test_a_number_that_uses_the_model_is_an_error_and_changes_nothing(first, again):
    model = begun()
    before = to_bytes(model)

    def call(name, x):
        if name == "save":
            to_bytes(model)
        elif name == "partial_fit":
            model.partial_fit([x], [1])
        else:
            getattr(model, name)(x, *([1] if name == "learn_one" else []))

    (error,) = in_time(lambda: call(first, {"a": Number(lambda: call(again, {"a": 1.0}))}))
    assert isinstance(error, RuntimeError)
    assert "in use by the code that calls it" in str(error)
    assert to_bytes(model) == before
    model.learn_one({"a": 1.0}, 1)  # nothing is locked for ever


def test_a_number_may_use_another_model():
    model, other = begun(), begun()
    assert (
        in_time(lambda: model.learn_one({"a": Number(lambda: other.score_one({"a": 1}))}, 1)) == []
    )


def test_labels_may_change_the_list_they_are_in():
    model = begun()
    labels = [Label(lambda: labels.clear()), *(Label(lambda: None) for _ in range(50))]
    events = [{"a": 1.0} for _ in labels]
    in_time(lambda: model.partial_fit(events, labels))
    assert np.isfinite(model.score_one({"a": 1.0}))


@pytest.mark.parametrize(
    "value", [1 + 2j, np.complex64(1 + 2j), np.complex128(1 + 0j), np.array(1 + 2j)]
)
def test_complex_numbers_are_refused(value):
    model = begun()
    before = to_bytes(model)
    for use in (
        lambda: model.learn_one({"a": value}, 1),
        lambda: model.score_one({"a": value}),
        lambda: model.partial_fit([{"a": value}], [1]),
        lambda: Active(query="always", budget=5).ask({"a": value}),
    ):
        with pytest.raises(TypeError, match="feature 'a' must be a number or a string"):
            use()
    assert to_bytes(model) == before


def test_other_threads_do_not_count_as_the_caller():
    model = begun()
    faults = []

    def learn():
        try:
            for k in range(2000):
                model.learn_one({"a": 1.0 + k % 3}, k % 2)
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=learn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
