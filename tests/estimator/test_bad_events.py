"""What users do wrong with single events and with weights.

Each table is data: the bad input, the error, words of its message.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from refusals import EVENT, INF, LEARN, NAN, X, Y, refuses

from lopsided import COG, ROMMA
from lopsided import progressive as run_progressive
from lopsided.persist import to_bytes

BAD_EVENTS = {
    "none": ({"a": None}, TypeError, ["'a' is None", "leave out or fill in"]),
    "nan": ({"b": 1.0, "a": NAN}, ValueError, ["'a'", "NaN"]),
    "inf": ({"a": -INF}, ValueError, ["'a'", "inf"]),
    "nested": ({"a": {"b": 1}}, TypeError, ["'a'", "number", "dict"]),
    "list": ({"a": [1.0]}, TypeError, ["'a'", "list"]),
    "bytes": ({"a": b"x"}, TypeError, ["'a'", "bytes"]),
    "complex": ({"a": 1j}, TypeError, ["'a'", "complex"]),
    "NumPy complex": ({"a": np.complex128(1 + 2j)}, TypeError, ["'a'", "complex"]),
    "date": ({"a": np.datetime64("2020-01-01")}, TypeError, ["'a'"]),
    "NA": ({"a": pd.NA}, TypeError, ["'a'"]),
    "array": ({"a": np.ones(2)}, TypeError, ["'a'"]),
    "number as name": ({"b": 1.0, 1: 2.0}, TypeError, ["name", "string", "1"]),
    "bytes as name": ({b"a": 2.0}, TypeError, ["name", "string"]),
    "None as name": ({None: 2.0}, TypeError, ["name", "string"]),
    "square overflows": ({"new": 1e200}, ValueError, ["too large"]),
    "beyond float": ({"a": 10**400}, ValueError, ["'a'", "large"]),
    "new name before the fault": ({"new": 1.0, "a": None}, TypeError, ["'a'"]),
    "category before the fault": ({"new": "x", "a": NAN}, ValueError, ["'a'"]),
}


@pytest.mark.parametrize("bits", [None, 6])
@pytest.mark.parametrize("name", BAD_EVENTS)
def test_bad_events_are_refused(name, bits):
    event, error, words = BAD_EVENTS[name]
    model = COG(hash_bits=bits).learn_one(EVENT, 1)
    refuses(lambda m: m.learn_one(event, 1), model, error, words)
    refuses(lambda m: m.learn_one(event, 1, 2.0), model, error, words)
    refuses(lambda m: m.score_one(event), model, error, words)
    refuses(lambda m: m.learn_one(event, 0), COG(hash_bits=bits), error, words)


def test_a_text_that_cannot_be_hashed_is_refused():
    for event in ({"\ud800": 1.0}, {"\ud800": "x"}, {"a": "\ud800"}):
        model = COG(hash_bits=6).learn_one(EVENT, 1)
        refuses(lambda m, e=event: m.learn_one(e, 1), model, ValueError, ["\\ud800", "feature"])


BAD_EVENT_ROWS = {
    "with names": (pd.Series({"b": 1.0, "a": 2.0}), ["names", "to_dict()", "to_numpy()"]),
    "none": (None, ["1-D", "dict"]),
    "number": (5.0, ["1-D"]),
    "table": (X, ["1-D", "2-D"]),
    "text": ("abc", ["1-D"]),
    "texts": (list("abc"), ["numbers"]),
    "sparse": (sp.csr_matrix(X[:1]), ["1-D"]),
    "nan": ([1, NAN, 1], ["NaN", "column 1"]),
    "too large": ([1e200, 1, 1], ["too large"]),
    "complex": (X[0] * 1j, ["complex"]),
    "masked": (np.ma.masked_less(X[0], 2), ["mask"]),
    "empty": ([], ["0 feature"]),
}


@pytest.mark.parametrize("name", BAD_EVENT_ROWS)
def test_bad_rows_of_one_event_are_refused(name):
    row, words = BAD_EVENT_ROWS[name]
    model = COG().fit(X, Y)
    refuses(lambda m: m.learn_one(row, 1), model, ValueError, words)
    refuses(lambda m: m.score_one(row), model, ValueError, words)
    refuses(lambda m: m.learn_one(row, 1), COG(), ValueError, words)


@pytest.mark.parametrize("learner", [COG, ROMMA])
@pytest.mark.parametrize(
    "weight", [None, "a", NAN, INF, -1, [1], np.ones(2), 1j, 10**400], ids=lambda w: str(w)[:9]
)
def test_a_bad_weight_of_one_event_is_refused(weight, learner):
    for x, model in ((EVENT, learner().learn_one(EVENT, 1)), (X[0], learner().fit(X, Y))):
        refuses(
            lambda m, x=x: m.learn_one(x, 1, weight), model, (ValueError, TypeError), ["weight"]
        )
    refuses(lambda m: m.learn_one(EVENT, 1, weight), learner(), (ValueError, TypeError), ["weight"])


BAD_WEIGHTS = {
    "negative": ([1, 1, -1, 1], ["negative", "row 2"]),
    "nan": ([1, 1, 1, NAN], ["finite", "row 3"]),
    "infinite": ([1, INF, 1, 1], ["finite", "row 1"]),
    "None": ([1, None, 1, 1], ["row 1"]),
    "too few": ([1, 1], ["4 rows", "2 weights"]),
    "table": (np.ones((4, 1)), ["1D"]),
    "text": (list("1111"), ["sample_weight", "numbers"]),
    "complex": ([1j] * 4, ["sample_weight", "numbers"]),
    "dict": ({0: 1, 1: 2}, ["sample_weight"]),
    "beyond float": ([1, 1, 10**400, 1], ["sample_weight"]),
    "masked": (np.ma.array([1.0, 2, 3, 4], mask=[0, 1, 0, 0]), ["mask"]),
    "their sum overflows": ([1e308, 1e308, 1e308, 1e308], ["weight"]),
}


@pytest.mark.parametrize("call", LEARN)
@pytest.mark.parametrize("name", BAD_WEIGHTS)
@pytest.mark.parametrize("learner", [COG, ROMMA])
def test_bad_weights_are_refused(learner, name, call):
    weights, words = BAD_WEIGHTS[name]
    if learner is ROMMA and name in ("their sum overflows", "None"):
        return  # equal weights are no weights to it; a None is caught with the unequal ones
    for model in (learner().fit(X, Y), learner()):
        refuses(lambda m: LEARN[call](m, X, Y, weights), model, (ValueError, TypeError), words)


def test_a_scalar_weight_works_everywhere():
    one = COG().fit(X, Y, sample_weight=[2.0] * 4)
    assert to_bytes(COG().fit(X, Y, sample_weight=2.0)) == to_bytes(one)
    assert run_progressive(COG(), X, Y, sample_weight=2.0).weights.tolist() == [2.0] * 4
