"""More than two classes: against a loop of models of two classes, and as an estimator."""

import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator
from streams import csr

import lopsided
from lopsided import OneVsRest
from lopsided.catalog import CATALOG
from lopsided.errors import ModelFileError

ROWS, CLASSES = 400, ["abuse", "fine", "fraud", "spam"]
NAMES = [e.name for e in CATALOG if e.family != "active"]
FEW = ["Recommended", "COG-II", "AROW-diag", "KOIL-RS"]


def stream(seed=0, rows=ROWS, late="spam"):
    """Events of four classes, one of which comes late."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5))
    y = np.array(CLASSES)[np.argmax(X[:, :4] + 0.3 * rng.normal(size=(rows, 4)), axis=1)]
    early = (y == late) & (np.arange(rows) < rows // 2)
    y[early] = "fine"
    return X, y


def slow(name, X, y, weights=None, fit=False):
    """A model for each class, which has known its class from the beginning."""
    found = {}
    for label in sorted(set(y)):
        model = lopsided.make(name, positive=1)
        codes = [int(each == label) for each in y]
        if fit:
            model.fit(X, codes, sample_weight=weights)
        else:
            model.partial_fit(X, codes, classes=[0, 1], sample_weight=weights)
        found[label] = model
    return found


def slow_probabilities(models, x):
    each = {label: model.predict_proba_one(x)[1] for label, model in models.items()}
    total = sum(each.values())
    return {label: p / total for label, p in each.items()}


@pytest.mark.parametrize("name", NAMES)
def test_every_learner_gives_the_bits_of_a_loop_of_models(name):
    X, y = stream()
    models = slow(name, X, y)
    model = OneVsRest(name)
    for first in range(0, ROWS, 90):
        model.partial_fit(X[first : first + 90], y[first : first + 90])
    assert model.classes_.tolist() == CLASSES
    for k, label in enumerate(CLASSES):
        np.testing.assert_array_equal(model.score_many(X)[:, k], models[label].score_many(X))
    likely = model.predict_proba(X[:50])
    for row in range(50):
        expected = slow_probabilities(models, X[row])
        np.testing.assert_allclose(
            likely[row], [expected[c] for c in CLASSES], rtol=1e-9, atol=1e-300
        )


@pytest.mark.parametrize("form", ["array", "csr", "frame", "dicts"])
@pytest.mark.parametrize("name", FEW)
def test_however_the_stream_is_cut_and_given_the_bits_are_the_same(name, form):
    X, y = stream(rows=200)
    names = list("abcde")
    give = {
        "array": lambda rows: rows,
        "csr": csr,
        "frame": lambda rows: pd.DataFrame(rows, columns=names),
        "dicts": lambda rows: [dict(zip(names, row, strict=True)) for row in rows.tolist()],
    }[form]
    weights = np.random.default_rng(1).integers(0, 3, size=200).astype(float)
    whole = OneVsRest(name).partial_fit(give(X), y, sample_weight=weights)
    parts = OneVsRest(name)
    for first in range(0, 200, 33):
        part = slice(first, first + 33)
        parts.partial_fit(give(X[part]), y[part], sample_weight=weights[part])
    events = OneVsRest(name)
    if form in ("array", "dicts"):
        for x, label, weight in zip(give(X), y.tolist(), weights, strict=True):
            events.learn_one(x, label, weight)
    else:
        events = parts
    models = slow(name, give(X), y, weights)
    for model in (whole, parts, events):
        scores = model.score_many(give(X))
        for k, label in enumerate(CLASSES):
            np.testing.assert_array_equal(scores[:, k], models[label].score_many(give(X)))


@pytest.mark.parametrize("name", FEW)
def test_fit_knows_the_counts_as_a_loop_of_fits_does(name):
    X, y = stream()
    models = slow(name, X, y, fit=True)
    scores = OneVsRest(name).fit(X, y).score_many(X)
    for k, label in enumerate(CLASSES):
        np.testing.assert_array_equal(scores[:, k], models[label].score_many(X))


def test_one_event_gets_what_a_batch_gets():
    X, y = stream()
    model = OneVsRest(costs={"fraud": 9}).partial_fit(X, y)
    labels, likely = model.predict(X[:30]), model.predict_proba(X[:30])
    for row in range(30):
        assert model.predict_one(X[row]) == labels[row]
        found = model.predict_proba_one(X[row])
        assert list(found) == CLASSES
        assert math.isclose(sum(found.values()), 1)
        np.testing.assert_allclose(list(found.values()), likely[row], rtol=1e-12)
        assert (
            list(model.score_one(X[row]).values()) == model.score_many(X[row : row + 1])[0].tolist()
        )


def test_the_likeliest_class_is_predicted_and_costs_move_that():
    X, y = stream()
    model = OneVsRest().partial_fit(X, y)
    likely = model.predict_proba(X)
    np.testing.assert_allclose(likely.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), np.array(CLASSES)[likely.argmax(axis=1)])
    assert model.score(X, y) > 0.75
    before = model.predict_proba(X)
    model.set_params(costs={"fraud": 30})
    np.testing.assert_array_equal(model.predict_proba(X), before)
    cheapest = (likely * [1, 1, 30, 1]).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), np.array(CLASSES)[cheapest])
    assert (model.predict(X) == "fraud").sum() > (y == "fraud").sum()


def test_a_class_that_is_named_but_never_met_is_unlikely():
    X, y = stream(late="abuse")
    model = OneVsRest("AROW").partial_fit(X[:50], y[:50], classes=[*CLASSES, "zombie"])
    assert model.classes_.tolist() == [*CLASSES, "zombie"]
    assert (model.predict_proba(X[:50])[:, 4] < 0.1).all()
    grown = model.partial_fit(X[50:], y[50:])
    known = slow("AROW", X, y)
    np.testing.assert_array_equal(grown.models_["abuse"].coef_, known["abuse"].coef_)


@pytest.mark.parametrize("name", FEW)
def test_a_saved_model_resumes_with_the_same_bits(name, tmp_path):
    X, y = stream()
    model = OneVsRest(name, costs={"fraud": 3}).partial_fit(X[:150], y[:150])
    model.save(tmp_path / "m.lop")
    loaded = lopsided.load(tmp_path / "m.lop", OneVsRest)
    others = [loaded, pickle.loads(pickle.dumps(model))]
    model.partial_fit(X[150:], y[150:])
    for other in others:
        assert repr(other) == repr(model)
        other.partial_fit(X[150:], y[150:])
        np.testing.assert_array_equal(other.score_many(X), model.score_many(X))
        np.testing.assert_array_equal(other.predict(X), model.predict(X))


@pytest.mark.parametrize(
    "labels", [["a", "b", "c"], [1, 2, 3], [1.0, 2.0, 3.0], [b"x", b"y", b"z"], [True, False]]
)
def test_labels_of_every_kind_come_back_as_they_were(labels, tmp_path):
    y = np.array(labels * 10)
    X = np.eye(len(labels))[np.arange(len(y)) % len(labels)]
    model = OneVsRest("AROW").partial_fit(X, y)
    model.save(tmp_path / "m")
    for each in (model, lopsided.load(tmp_path / "m")):
        assert each.classes_.dtype == y.dtype
        assert each.predict(X).tolist() == y.tolist()
        assert type(each.predict_one(X[0])) is type(labels[0])


def test_a_damaged_file_is_refused_and_nothing_in_it_runs(tmp_path):
    X, y = stream()
    model = OneVsRest("AROW").fit(X, y)
    model.save(tmp_path / "m")
    data = (tmp_path / "m").read_bytes()
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(data), size=60):
        (tmp_path / "bad").write_bytes(data[:at] + bytes([data[at] ^ 0x21]) + data[at + 1 :])
        with pytest.raises(ModelFileError):
            lopsided.load(tmp_path / "bad")
    with pytest.raises(ModelFileError, match="not a COG"):
        lopsided.load(tmp_path / "m", lopsided.COG)


def test_commands_say_that_a_file_has_too_many_classes(tmp_path):
    from click.testing import CliRunner

    from lopsided.cli import main

    X, y = stream()
    OneVsRest("AROW").fit(X, y).save(tmp_path / "m")
    done = CliRunner().invoke(main, ["inspect", str(tmp_path / "m")])
    assert done.exit_code
    assert "holds a OneVsRest" in str(done.exception)


def test_a_bad_row_changes_nothing():
    X, y = stream()
    model = OneVsRest("AROW").partial_fit(X, y)
    before = pickle.dumps(model)
    bad = X.copy()
    bad[7, 2] = np.nan
    calls = [
        lambda: model.partial_fit(bad, np.full(ROWS, "new")),
        lambda: model.partial_fit(X, y[:-1]),
        lambda: model.partial_fit(X, y, sample_weight=-np.ones(ROWS)),
        lambda: model.partial_fit(X, np.arange(ROWS)),
        lambda: model.learn_one(X[0], "new", -1.0),
        lambda: model.learn_one(bad[7], "fraud"),
        lambda: model.learn_one(X[0], None),
        lambda: model.learn_one(X[0], ["fraud"]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"."):
            call()
        assert pickle.dumps(model) == before
    model.partial_fit(X[:1], ["new"], sample_weight=[0.0])
    assert pickle.dumps(model) == before


def test_parameters_are_checked_and_reach_the_models():
    X, y = stream()
    for wrong, text in [
        (OneVsRest("OA3"), "asks for labels"),
        (OneVsRest("nobody"), "did you mean|there are"),
        (OneVsRest(lopsided.COG(positive="a")), "positive"),
        (OneVsRest(lopsided.COG(costs={"miss": 1})), "costs"),
        (OneVsRest(lopsided.COG(class_weight={0: 1, 1: 2})), "class_weight"),
        (OneVsRest("COG-II", costs={"a": -1}), "positive numbers"),
        (OneVsRest("COG-II", costs=3), "dict"),
    ]:
        with pytest.raises(ValueError, match=text):
            wrong.fit(X, y)
    model = OneVsRest(lopsided.COG(learning_rate=0.1)).partial_fit(X[:100], y[:100])
    model.set_params(learner__learning_rate=0.7)
    model.learn_one(X[100], "fine")
    assert {each.learning_rate for each in model.models_.values()} == {0.7}
    with pytest.raises(ValueError, match="cannot change"):
        model.set_params(learner="AROW").partial_fit(X, y)
    with pytest.raises(TypeError, match="learning_rate"):
        OneVsRest("COG-II").set_params(learner__learning_rat=1)
    assert clone(OneVsRest("COG-II", costs={1: 2})).costs == {1: 2}
    assert "nothing yet" in OneVsRest()._repr_html_()
    assert "&#x27;fraud&#x27;" in OneVsRest("AROW").fit(X, y)._repr_html_()


def test_an_explanation_is_that_of_the_predicted_class():
    X, y = stream()
    model = OneVsRest("AROW").fit(X, y)
    label = model.predict_one(X[0])
    assert model.explain_one(X[0]).score == model.score_one(X[0])[label]
    assert model.explain_one(X[0], "spam").score == model.score_one(X[0])["spam"]
    with pytest.raises(ValueError, match="label"):
        model.explain_one(X[0], "nobody")
    assert model.coef_.shape == (4, 5)
    assert model.intercept_.shape == (4,)


def checks():
    with warnings.catch_warnings():  # it speaks the protocol without inheriting it
        warnings.filterwarnings("ignore", message=".*does not inherit from")
        for learner in ("Recommended", "COG-II"):
            for model, check in estimator_checks_generator(OneVsRest(learner)):
                name = check.func.__name__
                yield pytest.param(model, check, id=f"{learner}-{name}-{len(str(check.keywords))}")


@pytest.mark.filterwarnings("ignore:.*does not inherit from")
@pytest.mark.parametrize(("model", "check"), list(checks()))
def test_check_of_scikit_learn(model, check):
    if check.func.__name__.startswith("check_sample_weight_equivalence"):
        with pytest.raises(AssertionError):  # a weight of k is one step, not k steps
            check(model)
    else:
        check(model)
