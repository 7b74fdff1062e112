"""river: its checks of estimators, its pipelines, its evaluation and its active learning."""

import itertools
import pickle
import types

import numpy as np
import pytest

import lopsided
from lopsided import Active, OneVsRest
from lopsided.catalog import CATALOG

river = pytest.importorskip("river", reason="river is not installed")

from river import checks, datasets, evaluate, metrics, model_selection, preprocessing  # noqa: E402

from lopsided.river import ActiveClassifier, Classifier  # noqa: E402

TWO = [e.name for e in CATALOG if e.family != "active"]
CHECKED = {
    "Recommended": Classifier(),
    "AROW": Classifier(lopsided.AROW(regularization=2.0)),
    "KOIL-RS": Classifier("KOIL-RS"),
    "OneVsRest": Classifier(OneVsRest("COG-II")),
    "Active": ActiveClassifier(Active("COG-II", budget=100)),
}


def events(rows=150):
    return list(itertools.islice(datasets.Phishing(), rows))


@pytest.mark.parametrize("name", CHECKED)
def test_the_checks_of_river_pass(name):
    checks.check_estimator(CHECKED[name])


@pytest.mark.parametrize("name", TWO)
def test_every_learner_gives_what_it_gives_without_river(name):
    model, plain = Classifier(name), lopsided.make(name)
    labels = iter([True, False])
    plain.partial_fit([events(1)[0][0]], [events(1)[0][1]], classes=list(labels))
    model.learn_one(*events(1)[0])
    for x, y in events()[1:]:
        assert model.predict_proba_one(x) == plain.predict_proba_one(x)
        assert model.predict_one(x) == plain.predict_one(x)
        model.learn_one(x, y, w=1.0)
        plain.learn_one(x, y)


def test_it_is_the_last_step_of_a_pipeline_that_is_evaluated():
    pipeline = preprocessing.StandardScaler() | Classifier("AROW-diag")
    metric = evaluate.progressive_val_score(events(500), pipeline, metrics.ROCAUC())
    assert metric.get() > 0.9
    assert "AROW" in repr(pipeline)
    again = pipeline.clone()
    assert again["Classifier"].model is not pipeline["Classifier"].model
    assert again.predict_one(events(1)[0][0]) in (True, False)


def test_weights_of_river_count():
    x, y = events(1)[0]
    twice, plain = Classifier("COG-II"), lopsided.make("COG-II", positive=True)
    weighed = [(x, y, {"w": 3.0}) for x, y in events(50)]
    evaluate.progressive_val_score(weighed, twice, metrics.Accuracy())
    for x, y in events(50):
        plain.learn_one(x, y, 3.0)
    assert twice.model.score_one(x) == plain.score_one(x)


def test_a_batch_is_as_one_event_after_the_other():
    pd = pytest.importorskip("pandas")
    rows = events(60)
    one, many = Classifier("Recommended"), Classifier("Recommended")
    for x, y in rows:
        one.learn_one(x, y)
    frame = pd.DataFrame([x for x, _ in rows])
    many.learn_many(frame, pd.Series([y for _, y in rows]))
    likely = many.predict_proba_many(frame)
    assert likely.columns.tolist() == [False, True]
    assert likely[True].tolist() == [one.predict_proba_one(x)[True] for x, _ in rows]
    assert many.predict_many(frame).tolist() == [one.predict_one(x) for x, _ in rows]


def test_several_classes_grow():
    rows = list(itertools.islice(datasets.ImageSegments(), 400))
    model = Classifier(OneVsRest("AROW-diag"))
    assert model.predict_one(rows[0][0]) is None
    assert model.predict_proba_one(rows[0][0]) == {}
    metric = evaluate.progressive_val_score(rows, model, metrics.Accuracy())
    assert metric.get() > 0.6
    assert set(model.predict_proba_one(rows[0][0])) == {y for _, y in rows}


def test_labels_other_than_true_and_false_need_a_name():
    with pytest.raises(ValueError, match="neither True nor False"):
        Classifier("COG-II").learn_one({"a": 1.0}, "fraud")
    model = Classifier(lopsided.COG(positive="fraud"))
    model.learn_one({"a": 1.0}, "fine")
    model.learn_one({"a": -1.0}, "fraud")
    assert model.predict_one({"a": -1.0}) == "fraud"
    assert set(model.predict_proba_one({"a": 1.0})) == {"fine", "fraud"}


BAD = {
    "an array as label": (({"a": 1.0}, np.array([1, 0])), "neither True nor False"),
    "NaN as label": (({"a": 1.0}, float("nan")), "neither True nor False"),
    "a list as event": (([1.0], True), "an event is a dict of features, not a list"),
    "a list as value": (({"a": [1]}, True), "feature 'a' must be a number or a string, not list"),
    "NaN as value": (({"a": float("nan")}, True), "feature 'a' is NaN; leave out"),
    "a weight below 0": (({"a": 1.0}, True, -1.0), "weight=-1.0 is invalid"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("make", [lambda: Classifier("COG-II"), lambda: ActiveClassifier("COG-II")])
def test_what_is_wrong_is_said_and_nothing_is_learned(make, name):
    model = make()
    for x, y in events(20):
        model.learn_one(x, y)
    given, told = BAD[name]
    before = model.model.coef_.tobytes()
    with pytest.raises((TypeError, ValueError), match=told):
        model.learn_one(*given)
    assert model.model.coef_.tobytes() == before
    assert model.model.feature_names_in_.tolist() == list(events(1)[0][0])


def test_a_mapping_is_an_event():
    model = Classifier("COG-II")
    model.learn_one(types.MappingProxyType({"a": 1.0}), True)
    assert model.model.feature_names_in_.tolist() == ["a"]


def test_a_batch_of_no_rows_teaches_nothing():
    pd = pytest.importorskip("pandas")
    model = Classifier("COG-II")
    model.learn_one({"a": 1.0}, True)
    before = model.model.coef_.tobytes()
    nothing = pd.DataFrame({"a": []})
    model.learn_many(nothing, pd.Series([], dtype=bool))
    assert model.model.coef_.tobytes() == before
    assert model.predict_many(nothing).tolist() == []
    assert model.predict_proba_many(nothing).columns.tolist() == [False, True]


def test_names_that_are_numbers_are_taken_for_texts():
    model = Classifier("COG-II")
    model.learn_one({0: 1.0, 1: 2.0}, True)
    assert model.model.feature_names_in_.tolist() == ["0", "1"]
    assert isinstance(model.predict_one({0: 1.0, 7: 2.0}), bool)


def test_what_it_holds_counts_as_memory():
    small, large = Classifier("COG-II"), Classifier("COG-II")
    for model, width in ((small, 10), (large, 10_000)):
        model.learn_one({f"f{k}": 1.0 for k in range(width)}, True)
    assert large._raw_memory_usage - small._raw_memory_usage > 8 * 9_990


def test_model_selection_of_river_tells_them_apart():
    models = [Classifier(lopsided.COG(learning_rate=r, intercept=True)) for r in (1e-9, 0.5)]
    best = model_selection.GreedyRegressor  # the module is there
    assert best
    found = [evaluate.progressive_val_score(events(300), m, metrics.Accuracy()) for m in models]
    assert found[1].get() > found[0].get()


@pytest.mark.parametrize("delay", [None, 20])
def test_an_active_learner_keeps_within_its_budget(delay):
    model = ActiveClassifier(Active("Recommended", budget=60, max_pending=1000))
    metric = evaluate.progressive_val_score(
        datasets.Phishing(), model, metrics.Accuracy(), delay=delay
    )
    assert model.model.queries_ == 60
    assert model.model.events_ == 1250
    assert model.model.fitted.core.rounds == 60
    assert model.model.pending_ == []
    assert metric.get() > 0.7


def test_an_active_learner_learns_what_was_asked_for_by_the_rule_of_the_library():
    ours = Active(lopsided.COG(positive=True), budget=40, delta=0.5)
    model = ActiveClassifier(Active("COG-II", budget=40, delta=0.5))
    for x, y in events(200):
        label, wanted = model.predict_one(x)
        decision = ours.ask(x)
        assert wanted == decision.asked
        if wanted:
            model.learn_one(x, y)
            ours.tell(decision.id, y)
            assert model.model.score_one(x) == ours.score_one(x)
        assert label in (True, False)
    model.learn_one(*events(1)[0])  # one that nobody asked for
    assert model.model.queries_ == 40


def test_events_that_the_model_forgot_are_forgotten():
    model = ActiveClassifier(Active("COG-II", query="always", max_pending=3))
    for k in range(10):
        assert model.predict_one({"a": float(k)})[1]
    assert len(model._asked) == 3
    again = pickle.loads(pickle.dumps(model))
    again.learn_one({"a": 8.0}, True)
    assert again.model.pending_ == [7, 9]
    assert np.isfinite(again.model.score_one({"a": 1.0}))
