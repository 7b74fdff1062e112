"""Events as dicts: names, texts, hashing, and memory that stays flat."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import textwrap
import threading
from collections import OrderedDict, defaultdict
from pathlib import Path

import numpy as np
import pytest

from lopsided import ACOG, COG, Active, Perceptron, learners, make
from lopsided.catalog import CATALOG
from lopsided.estimator.schema import Schema
from lopsided.persist import from_bytes, to_bytes

NOT_LINEAR = {"Recommended", "WeightedMajority"} | {e.name for e in CATALOG if e.family == "kernel"}
MASK = 2**64 - 1


def hash_of(name):
    """Return the 64-bit hash of a name, written again from its description."""

    def fold(a, b):
        product = a * b
        return (product & MASK) ^ (product >> 64)

    state, data = 0x8EBC6AF09C88C6E3, name.encode()
    for k in range(0, len(data), 8):
        word = int.from_bytes(data[k : k + 8], "little")
        state = fold(state ^ word, 0xE7037ED1A0B428DB)
    return fold(state ^ len(data), 0xA0761D6478BD642F)


def columns(event, bits, **params):
    """Return the columns of a hashed event that are not 0, with their values."""
    model = Perceptron(scaling="none", hash_bits=bits, **params).learn_one(event, 0)
    return {int(j): -float(model.coef_[j]) for j in np.flatnonzero(model.coef_)}


# Models depend on these: they never change.
PINNED = {
    "a": 0x833061D4889ABEA5,
    "amount": 0x73BDE507EA8B5FA6,
    "exactly8": 0x030BE8C22149680A,
    "a name of more than eight bytes": 0x25B16CF777FA7C8E,
    "größe": 0x554710D301151144,
    "": 0xE28F2B2061A2B984,
    "country=DE": 0xDC3A7DEA76CFD01B,
}


@pytest.mark.parametrize("name", PINNED)
def test_the_hash_of_a_name_never_changes(name):
    assert hash_of(name) == PINNED[name]
    for bits in (1, 8, 20):
        assert columns({name: 1.0}, bits) == {PINNED[name] >> (64 - bits): 1.0}


def test_a_text_hashes_as_the_feature_it_makes():
    for bits in (8, 20):
        assert columns({"country": "DE"}, bits) == {PINNED["country=DE"] >> (64 - bits): 1.0}


def test_hashed_names_spread_over_the_columns():
    found = {hash_of(f"feature_{k}") >> 54 for k in range(1024)}
    assert len(found) > 0.58 * 1024  # 1 - 1/e = 0.632 if even


def test_names_that_meet_in_a_column_are_summed():
    names = [f"n{k}" for k in range(50)]
    expected = {}
    for k, name in enumerate(names):
        j = hash_of(name) >> 61
        expected[j] = expected.get(j, 0.0) + k + 1
    assert columns({name: k + 1.0 for k, name in enumerate(names)}, 3) == expected


def test_names_that_cancel_in_a_column_are_zero():
    first = "n0"
    other = next(f"n{k}" for k in range(1, 99) if hash_of(f"n{k}") >> 61 == hash_of(first) >> 61)
    assert columns({first: 1.0, other: -1.0}, 3) == {}


# fmt: off
SAME_EVENTS = {
    "text is one-hot": ({"a": "x"}, {"a=x": 1.0}),
    "True is 1": ({"a": True, "b": False}, {"a": 1.0, "b": 0.0}),
    "integers": ({"a": 3}, {"a": 3.0}),
    "NumPy numbers": ({"a": np.float32(3), "b": np.int8(2)}, {"a": 3.0, "b": 2.0}),
    "text beside its own name": ({"a": "x", "a=x": 2.0}, {"a=x": 3.0}),
    "its own name first": ({"a=x": 2.0, "a": "x"}, {"a=x": 3.0}),
    "two ways to one name": ({"a": "b=c", "a=b": "c"}, {"a=b=c": 2.0}),
    "empty text": ({"a": ""}, {"a=": 1.0}),
    "text with NUL": ({"a\0": "\0b"}, {"a\0=\0b": 1.0}),
    "text beyond ASCII": ({"stadt": "Köln"}, {"stadt=Köln": 1.0}),
    "NumPy texts": ({np.str_("a"): np.str_("x")}, {"a=x": 1.0}),
    "OrderedDict": (OrderedDict(a=1.0), {"a": 1.0}),
    "defaultdict": (defaultdict(float, a=1.0), {"a": 1.0}),
}
# fmt: on


@pytest.mark.parametrize("bits", [None, 10])
@pytest.mark.parametrize("name", SAME_EVENTS)
def test_events_that_mean_the_same_give_the_same_bits(name, bits):
    one, other = SAME_EVENTS[name]
    models = [COG(hash_bits=bits).learn_one({"z": 1.0}, 0) for _ in range(2)]
    for model, event in zip(models, (one, other), strict=True):
        model.learn_one(event, 1).learn_one(event, 0)
    assert to_bytes(models[0]) == to_bytes(models[1])
    assert models[0].score_one(one) == models[1].score_one(other)


def test_names_are_kept_in_the_order_they_came():
    model = COG().learn_one({"b": 1.0, "a": 2.0}, 1).learn_one({"c": "x", "a": 1.0}, 0)
    assert model.feature_names_in_.tolist() == ["b", "a", "c=x"]
    assert all(type(name) is str for name in model.feature_names_in_)
    assert model.n_features_in_ == 3


def test_the_order_in_an_event_does_not_matter_once_names_are_known():
    event = {"a": 1.0, "b": -2.0, "c": "x"}
    models = [COG(scaling="none").learn_one(event, 1) for _ in range(2)]
    models[0].learn_one(event, 0)
    models[1].learn_one(dict(reversed(event.items())), 0)
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-15)


def test_named_coef_puts_the_strongest_first():
    model = Perceptron(scaling="none").learn_one({"a": 1.0, "b": -3.0, "c": 2.0}, 0)
    assert list(model.named_coef().items()) == [("b", 3.0), ("c", -2.0), ("a", -1.0)]


def test_named_coef_has_one_entry_a_feature_with_an_intercept():
    model = COG(intercept=True).learn_one({"a": 1.0, "b": "x"}, 1)
    assert set(model.named_coef()) == {"a", "b=x"}


@pytest.mark.parametrize("name", [n for n in learners() if n not in NOT_LINEAR])
def test_unknown_names_count_only_in_the_length_when_scoring(name):
    model = make(name, scaling="unit").learn_one({"a": 3.0}, 1).learn_one({"a": -1.0, "b": 1.0}, 0)
    before = to_bytes(model)
    known = model.score_one({"a": 3.0})
    assert model.score_one({"a": 3.0, "new": 4.0}) == pytest.approx(known * 3 / 5, rel=1e-12)
    assert model.score_one({"a": 3.0, "new": "x", "b": 0.0}) == pytest.approx(
        known * 3 / math.sqrt(10), rel=1e-12
    )
    assert model.score_one({"new": 4.0}) == 0
    assert to_bytes(model) == before


def test_unknown_names_count_as_standard_scores_when_scaled():
    model = COG().learn_one({"a": 3.0}, 1)
    # Two rows: a has been 3 and is 3, its score is 1; the new one has been 0 and is 4: root of 2.
    known = model.score_one({"a": 3.0})
    assert model.score_one({"a": 3.0, "new": 4.0}) == pytest.approx(known / math.sqrt(3), rel=1e-12)


def test_the_score_is_that_of_the_event_if_it_came_next():
    model = COG().learn_one({"a": 3.0}, 1)
    model.schema_ = Schema(unknown="learn")
    for event in ({"a": 1.0, "b": 2.0}, {"c": "x"}, {}, {"a": "x"}):
        scored = model.score_one(event)
        twin = from_bytes(to_bytes(model)).learn_one(event, 0)
        assert model.score_one(event) == scored
        assert np.isfinite(scored)
        assert twin.n_features_in_ >= model.n_features_in_


def test_an_empty_event_is_a_row_of_zeros():
    model = COG().learn_one({}, 1)
    assert model.score_one({}) == 0
    assert model.n_features_in_ == 0
    assert model.learn_one({"a": 1.0}, 0).n_features_in_ == 1


@pytest.mark.parametrize("name", learners())
def test_the_first_event_may_be_empty(name):
    for options in ({}, {"intercept": True}):
        if options and "intercept" not in make(name).parameter_names():
            continue
        model = make(name, positive=1, **options).learn_one({}, 1)
        twin = from_bytes(to_bytes(model))
        for event in ({}, {"a": 1.0}):
            assert twin.score_one(event) == model.score_one(event)
        for each in (model, twin):
            each.learn_one({"a": 1.0}, 0).learn_one({}, 0)
        assert twin.score_one({"a": 2.0}) == model.score_one({"a": 2.0})


def test_a_model_that_has_met_nothing_has_a_score():
    spent = Active(COG(intercept=True), budget=3)
    spent.ask({"a": 1.0})
    fresh = Active(COG(intercept=True), budget=3).take_budget(spent)
    assert fresh.score_one({"a": 1.0}) == 0
    assert from_bytes(to_bytes(fresh)).score_one({}) == 0
    empty = Active(COG(), budget=3).take_budget(Active(COG(), budget=3))
    assert from_bytes(to_bytes(empty)).score_one({"a": 1.0}) == 0


def test_dicts_and_unnamed_columns_do_not_mix():
    rows = COG().learn_one([1.0, 2.0], 1)
    with pytest.raises(ValueError, match="without names"):
        rows.score_one({"a": 1.0})
    hashed = COG(hash_bits=4).learn_one({"a": 1.0}, 1)
    with pytest.raises(ValueError, match="hash_bits"):
        hashed.learn_one([1.0] * 16, 1)
    named = COG().learn_one({"a": 1.0, "b": 1.0}, 1)
    with pytest.raises(ValueError, match=r"3 features.*2"):
        named.learn_one([1.0, 2.0, 3.0], 1)


def test_errors_of_a_named_row_name_the_feature():
    model = COG().learn_one({"a": 1.0, "größe": 1.0}, 1)
    for call in (lambda x: model.learn_one(x, 1), model.score_one):
        with pytest.raises(ValueError, match=r"größe.*NaN|NaN.*größe"):
            call([1.0, float("nan")])
        with pytest.raises(ValueError, match=r"größe.*NaN|NaN.*größe"):
            call({"größe": float("nan")})


def test_a_value_that_changes_the_event_while_it_is_read_does_no_harm():
    code = """
        import gc
        from lopsided import COG

        class Sly:
            def __float__(self):
                event.clear()
                gc.collect()
                return 1.0

        model = COG().learn_one({"a": 1.0}, 1)
        event = {f"n{k}": (Sly() if k == 3 else float(k)) for k in range(50)}
        try:
            model.learn_one(event, 0)
        except (RuntimeError, TypeError):
            assert model.n_features_in_ == 1
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    loud = {**os.environ, "PYTHONMALLOC": "debug"}  # freed memory is overwritten
    done = subprocess.run(command, capture_output=True, env=loud)
    assert done.returncode == 0, done.stderr[-300:]


# Memory ------------------------------------------------------------------------------------------


def resident():
    """Return the memory in use, in bytes."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


ROW = np.arange(5.0)
BATCH = np.ones((2, 5))
NUMBERS = {f"n{k}": k + 0.5 for k in range(5)}
TEXTS = {"a": "größe", "b": "x", "c": 1.0}


def failing(call):
    try:
        call()
    except (TypeError, ValueError):
        return
    raise AssertionError


def paths():
    named = ACOG().learn_one(NUMBERS, 1).learn_one(TEXTS, 0)
    hashed = COG(hash_bits=8).learn_one(TEXTS, 1)
    rows = COG().fit(BATCH, [0, 1])
    data = to_bytes(rows)
    return {
        "learn_one of numbers": (200_000, lambda: named.learn_one(NUMBERS, 0)),
        "learn_one of texts": (200_000, lambda: named.learn_one(TEXTS, 1)),
        "learn_one hashed": (200_000, lambda: hashed.learn_one(TEXTS, 0)),
        "learn_one of a row": (200_000, lambda: rows.learn_one(ROW, 1)),
        "score_one of names": (200_000, lambda: named.score_one(NUMBERS)),
        "score_one of unknown texts": (200_000, lambda: named.score_one({"u": "v", "w": 1.0})),
        "score_one hashed": (200_000, lambda: hashed.score_one(TEXTS)),
        "score_one of a row": (200_000, lambda: rows.score_one(ROW)),
        "errors": (50_000, lambda: failing(lambda: named.learn_one({"new": 1.0, "a": None}, 1))),
        "partial_fit": (8_000, lambda: rows.partial_fit(BATCH, [0, 1])),
        "partial_fit of events": (50_000, lambda: named.partial_fit([NUMBERS, TEXTS], [0, 1])),
        "decision_function": (20_000, lambda: rows.decision_function(BATCH)),
        "coef_": (100_000, lambda: named.coef_),
        "names": (50_000, lambda: named.feature_names_in_),
        "state": (2_000, lambda: to_bytes(named)),
        "load": (2_000, lambda: from_bytes(data)),
        "fit": (4_000, lambda: COG().fit(BATCH, [0, 1])),
    }


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize("name", paths())
def test_memory_stays_flat(name):
    times, call = paths()[name]
    for _ in range(times // 20):
        call()
    grown = []
    while len(grown) < 3:  # a leak grows every time, a process that was tidied up only once
        before = resident()
        for _ in range(times):
            call()
        grown.append(resident() - before)
        if grown[-1] < 3 * 2**20:
            return
    raise AssertionError(f"{grown} bytes more after {times} calls each")


def test_threads_that_bring_names_to_one_model_lose_none():
    model = COG().learn_one({"a": 1.0}, 1)
    singles = [{f"one{k}": 1.0} for k in range(300)]
    batches = [[{f"many{k}_{i}": 1.0} for i in range(20)] for k in range(60)]
    others = [[{f"more{k}_{i}": 1.0} for i in range(20)] for k in range(60)]
    zeros = np.zeros(20, int)  # labels that are not a list go the longer way
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [
            threading.Thread(target=lambda: [model.learn_one(e, 0) for e in singles]),
            threading.Thread(target=lambda: [model.partial_fit(b, [0] * 20) for b in batches]),
            threading.Thread(target=lambda: [model.partial_fit(b, zeros) for b in others]),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert model.n_features_in_ == len(model.feature_names_in_) == 1 + 300 + 1200 + 1200
    assert len(set(model.feature_names_in_)) == 2701
