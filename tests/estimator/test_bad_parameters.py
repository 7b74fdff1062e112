"""What users do wrong with parameters, names and arguments.

Each table is data: the bad input, the error, words of its message.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from refusals import EVENT, INF, NAN, X, Y, refuses

from lopsided import ACOG, AROW, COG, CPA, PAUM, ROMMA, Active, PassiveAggressive, learners, make
from lopsided import progressive as run_progressive
from lopsided.persist import to_bytes

# fmt: off
NOT_A_NUMBER = [NAN, INF, -INF, "a", "", True, [1], np.ones(2), 1j, 10**400, {}]
POSITIVE = [0, -1, -0.0, *NOT_A_NUMBER]
WORDS = ["", "zzz", 1, None, True, ["I"], NAN]
SWITCH = ["yes", "", None, 2, -1, NAN, np.ones(2), [], {}]
BITS = [0, -1, 29, 64, 2.5, NAN, INF, "4", True, [4], 10**400]
BAD_PARAMETERS = [
    *((cls, "learning_rate", [None, *POSITIVE]) for cls in (COG, ACOG, PAUM)),
    *((cls, "regularization", [None, *POSITIVE]) for cls in (AROW, ACOG)),
    (PassiveAggressive, "C", [None, *POSITIVE]), (CPA, "C", POSITIVE),
    (PAUM, "margin_pos", [None, *NOT_A_NUMBER]), (PAUM, "margin_neg", [None, *NOT_A_NUMBER]),
    (PAUM, "radius", POSITIVE), (ROMMA, "eps", [-1e-9, None, *NOT_A_NUMBER]),
    (COG, "sensitivity_weight", [0, 1, 1.5, -0.1, None, *NOT_A_NUMBER]), (COG, "hash_bits", BITS),
    *((cls, name, SWITCH) for cls, name in (
        (COG, "intercept"), (COG, "count_current"), (ROMMA, "aggressive"), (PAUM, "bias"),
        (AROW, "weight_state"), (ACOG, "weight_state"))),
    *((cls, name, WORDS) for cls, name in (
        (COG, "scaling"), (COG, "loss"), (COG, "schedule"), (COG, "weight_mode"), (ACOG, "sigma"),
        (ACOG, "covariance"), (ACOG, "diag_rule"), (PassiveAggressive, "variant"),
        (CPA, "variant"), (PAUM, "weight_mode"), (AROW, "covariance_dtype"))),
    (COG, "class_weight", ["balance", "", 5, True, [1, 2], {}, {0: 1}, {0: 1, 1: 2, 2: 3},
        *({0: 1, 1: w} for w in (0, -1, NAN, INF, "2", None, [1], np.ones(2), 1j, 10**400)),
        {0: 0, 1: 1}, {0: -1, 1: -2}, {0: 1e-308, 1: 1e308}]),
]
# fmt: on


@pytest.mark.parametrize(
    ("cls", "name", "values"),
    BAD_PARAMETERS,
    ids=[f"{c.__name__}-{n}" for c, n, _ in BAD_PARAMETERS],
)
def test_bad_parameters_are_named_with_their_range_before_data_is_read(cls, name, values):
    for value in values:
        for call in ("fit", "partial_fit"):
            bad = cls(**{name: value})
            with pytest.raises(ValueError, match=rf"\b{name}\b.*must|\bmust.*{name}\b") as caught:
                getattr(bad, call)(None, None)
            assert "array" not in str(caught.value).replace("array(", ""), value
        with pytest.raises(ValueError, match=name):
            bad.learn_one(EVENT, 1)
        fitted = cls().fit(X, Y)
        before = fitted.coef_.tolist()
        fitted.set_params(**{name: value})
        for learn in (
            lambda m: m.partial_fit(X, Y),
            lambda m: m.learn_one(X[0], 1),
            lambda m: m.fit(X, Y),
        ):
            with pytest.raises(ValueError, match=name):
                learn(fitted)
            assert fitted.coef_.tolist() == before


SAME = [
    *((cls, name, yes, True) for yes in (np.True_, 1) for cls, name, _ in BAD_PARAMETERS
      if name in ("intercept", "aggressive", "bias", "weight_state", "count_current")),
    (COG, "learning_rate", np.float32(0.5), 0.5), (COG, "learning_rate", np.array(0.5), 0.5),
    (COG, "learning_rate", 2, 2.0), (COG, "learning_rate", np.int64(2), 2.0),
    (COG, "class_weight", {0: np.float32(1), 1: np.int8(3)}, {0: 1, 1: 3}),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "name", "value", "plain"), SAME)
def test_parameters_in_other_clothes_work_or_are_refused(cls, name, value, plain):
    model = cls(**{name: value})
    try:
        model.fit(X, Y)
    except ValueError as error:
        assert re.search(rf"{name}.*must", str(error))  # noqa: PT017
    else:
        assert model.coef_.tolist() == cls(**{name: plain}).fit(X, Y).coef_.tolist()
        to_bytes(model)


def test_whole_hash_bits_work_whatever_their_type():
    for bits in (4, 4.0, np.int64(4), np.uint8(4)):
        assert COG(hash_bits=bits).learn_one(EVENT, 1).n_features_in_ == 16


# fmt: off
UNKNOWN = {
    "set_params": (lambda: COG().set_params(learning_rate=1, lerning_rate=7), "learning_rate"),
    "make": (lambda: make("COG-II", lerning_rate=7), "learning_rate"),
    "constructor": (lambda: COG(lerning_rate=7), "learning_rate"),
    "learner": (lambda: make("acgo-ii"), "ACOG-II"),
    "alias": (lambda: make("csodg-ii"), "CSOGD-II"),
    "no learner": (lambda: make(None), "COG-II"),
    "attribute": (lambda: setattr(COG(), "learning_rat", 7), "learning_rate"),
    "attribute, fitted": (lambda: setattr(COG().fit(X, Y), "learning_rat", 7), "learning_rate"),
    "attribute of Active": (lambda: setattr(Active(COG()), "bugdet", 7), "budget"),
    "attribute of its learner": (lambda: setattr(Active(COG()), "lerning_rate", 7), "learning"),
    "no class": (lambda: __import__("lopsided").Cog, "COG"),
}
# fmt: on


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_name_brings_the_nearest_known_one(name):
    call, nearest = UNKNOWN[name]
    with pytest.raises((ValueError, TypeError, AttributeError), match=re.escape(nearest)):
        call()


@pytest.mark.parametrize("name", learners())
def test_no_attribute_can_be_misspelt(name):
    model = make(name)
    with pytest.raises(AttributeError, match="did you mean 'scaling'"):
        model.scalling = "none"
    assert "scalling" not in dir(model)
    model.scaling = "none"
    assert model.get_params().get("scaling", model.scaling) == "none"


def test_set_params_sets_all_or_nothing():
    model = COG()
    with pytest.raises(ValueError, match="lerning_rate"):
        model.set_params(loss="I", lerning_rate=7)
    assert model.loss == "II"


# fmt: off
BAD_RUNS = {
    "order too large": ({"order": [0, 9]}, ["order[1]", "9"]),
    "order negative": ({"order": [0, -1]}, ["order[1]", "-1"]),
    "order not whole": ({"order": [0.5]}, ["order"]),
    "order a table": ({"order": [[0]]}, ["order"]),
    "order a number": ({"order": 3}, ["order"]), "order text": ({"order": "ab"}, ["order"]),
    "order a mask": ({"order": [True, False, True, False]}, ["order"]),
    "order empty": ({"order": np.array([], int)}, ["order"]),
    "points negative": ({"points": -1}, ["points"]), "points text": ({"points": "a"}, ["points"]),
    "points nan": ({"points": NAN}, ["points"]), "points not whole": ({"points": 0.5}, ["points"]),
    "no labels": ({"y": None}, ["y"]), "one label": ({"y": 1}, ["y"]),
    "class for model": ({"model": COG}, ["model"]), "name for model": ({"model": "COG"}, ["model"]),
}
# fmt: on


@pytest.mark.parametrize("name", BAD_RUNS)
def test_bad_arguments_of_a_progressive_run_are_refused(name):
    arguments, words = BAD_RUNS[name]
    for model in (COG().fit(X, Y), COG()):
        call = {"model": model, "X": X, "y": Y, **arguments}
        refuses(lambda m, c=call: run_progressive(**c), model, (ValueError, TypeError), words)


@pytest.mark.parametrize("y", [None, [1], [0, 1], 1], ids=str)
def test_accuracy_wants_a_label_for_each_row(y):
    refuses(lambda m: m.score(X, y), COG().fit(X, Y), ValueError, ["y"])


def test_asking_before_learning_says_what_to_call():
    for call in (lambda m: m.predict(X), lambda m: m.score_one(EVENT), lambda m: m.coef_):
        refuses(call, COG(), AttributeError, ["COG", "fit", "learn_one"])
