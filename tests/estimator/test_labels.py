"""Labels are what the user gave, wherever they go in and come out."""

from __future__ import annotations

import enum
import pickle

import numpy as np
import pandas as pd
import pytest

from lopsided import COG, ROMMA, Perceptron, load, progressive
from lopsided.persist import to_bytes

X = np.array([[1.0, 2, 3], [-1, 1, 0], [2, 0, 1], [-1, -1, 1]])
EVENTS = [{"a": 1.0, "b": 2.0}, {"a": -1.0, "b": 1.0}, {"a": 2.0}, {"a": -1.0, "b": -1.0}]
NAN = float("nan")


class Kind(str, enum.Enum):
    """Labels that are texts with names."""

    FRAUD = "fraud"
    LEGAL = "legal"


# fmt: off
# name: (negative, positive, how to make the array)
PAIRS = {
    "0 and 1": (0, 1, np.array), "-1 and 1": (-1, 1, np.array), "1 and 2": (1, 2, np.array),
    "-5 and 7": (-5, 7, np.array), "0.0 and 1.0": (0.0, 1.0, np.array),
    "bools": (False, True, np.array), "texts": ("no", "yes", np.array),
    "texts of other lengths": ("a", "much longer", np.array), "empty text": ("", "x", np.array),
    "bytes": (b"no", b"yes", np.array), "lists": (0, 1, list), "lists of text": ("no", "yes", list),
    "int8": (0, 1, lambda y: np.array(y, "i1")), "uint8": (0, 1, lambda y: np.array(y, "u1")),
    "big-endian": (0, 1, lambda y: np.array(y, ">i8")),
    "float32": (0.0, 1.0, lambda y: np.array(y, "f4")),
    "texts as objects": ("no", "yes", lambda y: np.array(y, object)),
    "bools as objects": (False, True, lambda y: np.array(y, object)),
    "Series": (0, 1, pd.Series), "Series of Int64": (0, 1, lambda y: pd.Series(y, dtype="Int64")),
    "category": ("no", "yes", lambda y: pd.Series(y, dtype="category")),
    "long integers": (0, 2**70, lambda y: np.array(y, object)),
    "NumPy scalars": (0, 1, lambda y: [np.int64(v) for v in y]),
    "NumPy texts": ("no", "yes", lambda y: [np.str_(v) for v in y]),
}
# fmt: on


@pytest.fixture(params=PAIRS)
def pair(request):
    negative, positive, make = PAIRS[request.param]
    return negative, positive, make([negative, positive, negative, positive])


def test_the_larger_label_is_positive_and_predictions_are_labels(pair):
    negative, positive, y = pair
    model = COG().fit(X, y)
    assert model.classes_.tolist() == [negative, positive]
    predicted = model.predict(X)
    assert {type(v) for v in predicted.tolist()} == {type(negative)}
    expected = [positive if s >= 0 else negative for s in model.decision_function(X)]
    assert predicted.tolist() == expected
    assert [model.predict_one(x) for x in X] == expected
    assert type(model.predict_one(X[0])) is type(negative)
    assert model.score(X, y) == np.mean([a == b for a, b in zip(predicted, y, strict=True)])


def test_predictions_have_the_dtype_of_the_labels(pair):
    y = np.asarray(pair[2])
    assert COG().fit(X, y).predict(X).dtype == y.dtype.newbyteorder("=")


def test_fit_partial_fit_and_learn_one_agree(pair):
    negative, positive, y = pair
    plain = {"class_weight": {negative: 1, positive: 3}}
    whole = COG(**plain).fit(X, y)
    parts = COG(**plain).partial_fit(X[:1], y[:1]).partial_fit(X[1:], y[1:])
    ones = COG(**plain)
    for x, label in zip(X, y, strict=True):
        ones.learn_one(x, label)
    run = COG(**plain)
    progressive(run, X, y)
    for other in (parts, ones, run):
        assert (other.coef_ == whole.coef_).all()
        assert other.predict(X).tolist() == whole.predict(X).tolist()


def test_positive_can_be_the_smaller_label(pair):
    negative, positive, y = pair
    model = COG(positive=negative).fit(X, y)
    assert model.classes_.tolist() == [negative, positive]
    scores = model.score_many(X)
    assert model.decision_function(X).tolist() == (-scores).tolist()
    assert model.predict(X).tolist() == [negative if s >= 0 else positive for s in scores]
    assert [model.score_one(x) for x in X] == scores.tolist()
    np.testing.assert_array_equal(
        COG(class_weight=None).fit(X, y).coef_,
        -COG(class_weight=None, positive=negative).fit(X, y).coef_,
    )


def test_labels_survive_files_and_pickles(pair, tmp_path):
    y = pair[2]
    model = COG().fit(X, y)
    model.save(tmp_path / "model")
    copies = [load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
    later = to_bytes(model.partial_fit(X, y))
    for copy in copies:
        assert copy.classes_.tolist() == model.classes_.tolist()
        assert list(map(type, copy.classes_.tolist())) == list(map(type, model.classes_.tolist()))
        assert to_bytes(copy.partial_fit(X, y)) == later


def test_classes_can_be_given_at_the_first_call(pair):
    negative, positive, y = pair
    first = y[1:2]  # one class only
    model = COG().partial_fit(X[1:2], first, classes=[positive, negative])
    assert model.classes_.tolist() == [negative, positive]
    model.partial_fit(X, y, classes=[negative, positive]).partial_fit(X, y)
    assert model.classes_.tolist() == [negative, positive]


@pytest.mark.parametrize(
    ("given", "y", "expected"),
    [
        ({"class_weight": {True: 5, False: 1}}, [0, 1, 0, 1], int),
        ({"positive": 1.0}, [0, 1, 0, 1], int),
        ({"positive": True}, [0, 1, 0, 1], int),
        ({"positive": 1}, [0.0, 1.0, 0.0, 1.0], float),
        ({"class_weight": {0: 1, 1: 5}}, [False, True, False, True], bool),
    ],
)
def test_parameters_name_labels_but_predictions_are_those_of_y(given, y, expected):
    model = COG(**given).fit(X, y)
    assert {type(v) for v in model.predict(X).tolist()} == {expected}
    assert model.classes_.tolist() == sorted(set(y))


# Labels one after the other: (labels, classes known after each, or the words of an error)
STREAMS = {
    "0 then 1": ([0, 1], [[0, 1], [0, 1]]),
    "1 then 0": ([1, 0], [[1], [0, 1]]),
    "1 then -1": ([1, -1], [[1], [-1, 1]]),
    "-1 then 1": ([-1, 1], [[-1, 1], [-1, 1]]),
    "False then True": ([False, True], [[False, True], [False, True]]),
    "True then False": ([True, False], [[True], [False, True]]),
    "0 then -1": ([0, -1], [[0, 1], "-1"]),
    "0 then 2": ([0, 2], [[0, 1], "2"]),
    "1 then 2": ([1, 2], [[1], "positive="]),
    "1, 0, 2": ([1, 0, 2], [[1], [0, 1], "2"]),
    "a text": (["yes"], ["positive="]),
    "only 2": ([2], ["positive="]),
    "a text after numbers": ([0, 1, "1"], [[0, 1], [0, 1], "'1'"]),
}


@pytest.mark.parametrize("way", ["learn_one", "partial_fit", "learn_one with weight"])
@pytest.mark.parametrize("name", STREAMS)
def test_labels_that_come_later(name, way):
    model = COG()
    learn = {
        "learn_one": lambda y: model.learn_one(X[0], y),
        "partial_fit": lambda y: model.partial_fit(X[:1], [y]),
        "learn_one with weight": lambda y: model.learn_one(X[0], y, 2.0),
    }[way]
    for label, known in zip(*STREAMS[name], strict=True):
        before = to_bytes(model) if hasattr(model, "coef_") else None
        if isinstance(known, str):
            with pytest.raises(ValueError, match=known):
                learn(label)
            assert (to_bytes(model) if hasattr(model, "coef_") else None) == before
        else:
            learn(label)
            assert model.classes_.tolist() == known
            assert model.predict(X[:1])[0] in known


def test_a_label_not_met_yet_is_never_predicted():
    model = Perceptron(scaling="none").learn_one(X[0], 1)
    assert model.predict(-X).tolist() == [1, 1, 1, 1]


def test_an_event_of_weight_0_teaches_no_label():
    model = COG().learn_one(X[0], 1)
    before = to_bytes(model)
    assert to_bytes(model.learn_one(X[0], 0, 0)) == before
    assert to_bytes(model.partial_fit(X, [0, 1, 0, 1], sample_weight=[0] * 4)) == before


def test_a_named_positive_may_come_last():
    model = COG(positive="fraud").partial_fit(X, ["fine"] * 4)
    assert model.classes_.tolist() == ["fine", "fraud"]
    assert model.learn_one(X[0], "fraud").classes_.tolist() == ["fine", "fraud"]


# fmt: off
BAD_LABELS = {
    "nan": ([0, 1, NAN, 1], "row 2"), "inf": ([0, 1, np.inf, 1], "row 2"),
    "None": ([0, None, 0, 1], "None"), "text and None": (["a", None, "b", "a"], "None"),
    "text and nan": (["a", NAN, "a", "a"], "NaN.*row 1"),
    "nan as object": (np.array(["a", NAN, "b", "a"], object), "NaN"),
    "NA": (pd.Series([True, None, True, False], dtype="boolean"), "NA|None"),
    "NA in Int64": (pd.Series([1, None, 0, 1], dtype="Int64"), "row 1"),
    "masked": (np.ma.array([0, 1, 0, 1], mask=[0, 0, 1, 0]), "mask"),
    "continuous": ([0.5, 1.5, 0.5, 1.5], "row 0.*0.5"),
    "three": ([0, 1, 2, 1], "binary.*multiclass"),
    "three texts": (list("abca"), "multiclass"), "many": (np.arange(4), "multiclass"),
    "number and text": ([0, "a", 0, "a"], "row 0.*kind"),
    "bool and text": ([True, "a", True, "a"], "kind"),
    "number and text as objects": (np.array([0, "a", 0, "a"], object), "kind"),
    "too few": ([0, 1], "4 rows.*2 labels"), "too many": ([0, 1] * 3, "4 rows.*6 labels"),
    "table": (np.zeros((4, 2)), "1d"), "number": (1, "1d"), "text": ("0101", "1d"),
    "none": (None, "y is None"), "complex": ([1j, 0, 1j, 0], "[Cc]omplex"),
    "ragged": ([[0], [1, 1], [0], [1]], "y"), "dicts": ([{}, {}, {}, {}], "label"),
    "sets": ([{1}, {2}, {1}, {2}], "label"), "only twos": ([2, 2, 2, 2], "positive=.*classes="),
    "one text": (["a"] * 4, "positive=.*classes="),
    "names of texts": ([Kind.FRAUD, Kind.LEGAL] * 2, "Kind|kind"),
}
# fmt: on


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize("name", BAD_LABELS)
def test_bad_labels_are_refused(name, fresh):
    y, words = BAD_LABELS[name]
    for way in ("fit", "partial_fit"):
        model = COG() if fresh else COG().fit(X, [0, 1, 0, 1])
        if not fresh and way == "partial_fit" and words not in ("row 2", "1d", "missing"):
            words = "y|label"  # the two labels are known: any clear error will do
        before = None if fresh else to_bytes(model)
        with pytest.raises(ValueError, match=words):
            getattr(model, way)(X, y)
        assert fresh is not hasattr(model, "coef_")
        assert fresh or to_bytes(model) == before


@pytest.mark.parametrize("event", [EVENTS[0], X[0]], ids=["dict", "row"])
@pytest.mark.parametrize("label", [None, NAN, "x", 2, 0.5, 1j, [1], {}, np.array([0, 1])], ids=str)
def test_bad_labels_of_one_event_are_refused(label, event):
    model = COG().learn_one(event, 0)
    before = to_bytes(model)
    with pytest.raises(ValueError, match=r"label|y"):
        model.learn_one(event, label)
    assert to_bytes(model) == before
    fresh = COG()
    with pytest.raises(ValueError, match=r"label|class"):
        fresh.learn_one(event, label)
    assert not hasattr(fresh, "coef_")


def test_a_column_of_labels_is_flattened_with_a_warning():
    with pytest.warns(UserWarning, match="column-vector"):
        model = COG().fit(X, np.array([[0], [1], [0], [1]]))
    assert to_bytes(model) == to_bytes(COG().fit(X, [0, 1, 0, 1]))


# fmt: off
BAD_CLASSES = {
    "none of them": ([], "classes"), "three": ([0, 1, 2], "multiclass"), "text": ("01", "classes"),
    "others": ([2, 3], "label 0"), "texts": (["0", "1"], "label 0"),
    "nan": ([0, NAN], "classes|NaN"),
    "mixed": ([0, "1"], "kind"), "None": ([0, None], "kind|None"), "number": (5, "classes"),
}
BAD_KEYS = {
    "missing": {0: 1, 2: 1}, "texts": {"0": 1, "1": 2}, "mixed": {0: 1, "1": 2},
    "None": {None: 1, 1: 2}, "one": {1: 2}, "three": {0: 1, 1: 1, 2: 1},
}
# fmt: on


@pytest.mark.parametrize("name", BAD_CLASSES)
def test_bad_classes_are_refused(name):
    classes, words = BAD_CLASSES[name]
    model = COG()
    with pytest.raises(ValueError, match=words):
        model.partial_fit(X, [0, 1, 0, 1], classes=classes)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("name", BAD_KEYS)
def test_class_weight_must_be_for_the_labels_of_y(name):
    for learn in (lambda m: m.fit(X, [0, 1, 0, 1]), lambda m: m.learn_one(X[0], 1)):
        model = COG(class_weight=BAD_KEYS[name])
        with pytest.raises(ValueError, match="class"):
            learn(model)
        assert not hasattr(model, "coef_")


def test_a_slip_in_a_name_is_found_where_it_is():
    y = np.array(["fine", "fraud"] * 5)
    rows = np.eye(10)
    with pytest.raises(ValueError, match="'fine', but in class_weight there are 'fin', 'fraud'"):
        COG(class_weight={"fraud": 9, "fin": 1}).fit(rows, y)
    with pytest.raises(ValueError, match="'fine', but in classes there are 'fin', 'fraud'"):
        COG().partial_fit(rows, y, classes=["fin", "fraud"])


def test_classes_cannot_change_in_a_stream():
    model = COG().partial_fit(X, [0, 1, 0, 1])
    before = to_bytes(model)
    with pytest.raises(ValueError, match="classes"):
        model.partial_fit(X, [0, 1, 0, 1], classes=[0, 2])
    assert to_bytes(model) == before


def test_fit_starts_anew_with_new_labels():
    model = COG().fit(X, [0, 1, 0, 1]).fit(X, ["a", "b", "a", "b"])
    assert model.classes_.tolist() == ["a", "b"]


def test_a_named_positive_must_be_a_label():
    for positive in ("1", 2, NAN, [1], np.array([1])):
        with pytest.raises(ValueError, match=r"positive|label|class"):
            COG(positive=positive).fit(X, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="positive=2"):
        COG(positive=2).partial_fit(X, [0, 1, 0, 1], classes=[0, 1])


def test_labels_of_two_kinds_are_refused_one_by_one_too():
    model = COG(positive="fraud")
    with pytest.raises(ValueError, match="kind"):
        model.learn_one(X[0], 0)


@pytest.mark.parametrize("y", [[1] * 4, [0] * 4, [-1] * 4, [True] * 4])
def test_one_class_only_learns_and_predicts(y):
    for learner in (COG, ROMMA, Perceptron):
        result = progressive(learner(), X, y)
        assert np.isfinite(result.scores).all()
        assert np.isnan(result.auc)
        assert np.isnan(result.sensitivity) == (y[0] <= 0)
