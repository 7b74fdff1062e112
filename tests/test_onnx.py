"""Linear models as ONNX graphs: onnxruntime gives the same scores."""

import numpy as np
import pytest
from streams import csr

import lopsided
from lopsided import Active, OneVsRest
from lopsided.catalog import CATALOG

pytest.importorskip("onnx", reason="onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from lopsided.onnx import export  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6)) * [1, 10, 0.1, 5, 1, 1] + [0, 5, 0, 0, 0, 2]
X[:, 3] *= RNG.random(300) < 0.3
X[:, 4] = 7.0  # a constant column
X[200] = 0
Y = np.where(X[:, 0] + 0.2 * X[:, 1] > 1.5, 1, 0)
NOT_LINEAR = {"Recommended", "WeightedMajority"} | {e.name for e in CATALOG if e.family == "kernel"}
LINEAR = [e.name for e in CATALOG if e.name not in NOT_LINEAR]
SCALINGS = ("none", "unit", "standard", "standard+unit")


def run(graph, rows, names=None):
    session = runtime.InferenceSession(
        graph if isinstance(graph, str) else graph.SerializeToString(),
        providers=["CPUExecutionProvider"],
    )
    return session.run(names, {"X": rows})


@pytest.mark.parametrize("form", [np.asarray, csr])
@pytest.mark.parametrize("name", LINEAR)
def test_every_linear_learner_has_the_same_scores_and_labels(name, form):
    for scaling in SCALINGS:
        model = lopsided.make(name, scaling=scaling).fit(form(X[:180]), Y[:180])
        score, label = run(export(model), X)
        np.testing.assert_allclose(score, model.score_many(form(X)), rtol=1e-6, atol=1e-9)
        far = np.abs(score) > 1e-9  # else rounding may decide
        np.testing.assert_array_equal(label[far], model.predict(form(X))[far])


@pytest.mark.parametrize("name", sorted(NOT_LINEAR))
def test_others_say_that_they_cannot_be_exported(name):
    model = lopsided.make(name).fit(X[:100], Y[:100])
    with pytest.raises(ValueError, match="cannot be exported: its score is no weighted sum"):
        export(model)


@pytest.mark.parametrize("name", ["COG-II", "AROW-diag", "SSOL", "ACOG-II"])
def test_the_constant_counts(name):
    model = lopsided.make(name, intercept=True).fit(X, Y)
    assert model.intercept_ != 0
    np.testing.assert_allclose(run(export(model), X)[0], model.score_many(X), rtol=1e-6)


def test_an_active_learner_and_classes_have_scores_too():
    active = Active("AROW-diag", query="always").fit(X, Y)
    np.testing.assert_allclose(run(export(active), X)[0], active.score_many(X), rtol=1e-6)
    classes = OneVsRest("AROW-diag").fit(X, np.digitize(X[:, 0], [-1, 0, 1]))
    (scores,) = run(export(classes), X)
    assert scores.shape == (300, 4)
    np.testing.assert_allclose(scores, classes.score_many(X), rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match="cannot be exported"):
        export(OneVsRest().fit(X, Y))


def test_labels_are_texts_or_numbers_where_the_sign_decides():
    texts = np.where(Y == 1, "fraud", "fine")
    _, label = run(export(lopsided.COG(positive="fraud").fit(X, texts)), X)
    assert set(label.tolist()) == {"fine", "fraud"}
    priced = lopsided.COG(costs={"miss": 9, "alarm": 1}).fit(X, Y)
    assert [each.name for each in export(priced).graph.output] == ["score"]


def test_a_file_of_events_with_names_says_which_columns_there_are(tmp_path):
    import json

    onnx = pytest.importorskip("onnx")
    events = [{"amount": float(a), "country": "DE" if b > 0 else "XX"} for a, b in X[:, :2]]
    model = lopsided.COG().partial_fit(events, Y, classes=[0, 1])
    path = tmp_path / "model.onnx"
    export(model, path, dtype="float32")
    about = {each.key: each.value for each in onnx.load(path).metadata_props}
    names = json.loads(about["features"])
    assert names == model.feature_names_in_.tolist()
    assert json.loads(about["classes"]) == ["0", "1"]
    rows = np.zeros((len(events), len(names)), np.float32)
    for row, event in zip(rows, events, strict=True):
        row[names.index("amount")] = event["amount"]
        row[names.index(f"country={event['country']}")] = 1
    found = run(str(path), rows, ["score"])[0]
    np.testing.assert_allclose(found, model.score_many(events), rtol=1e-5, atol=1e-5)


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="not learned anything"):
        export(lopsided.COG())
    with pytest.raises(ValueError, match="dtype"):
        export(lopsided.COG().fit(X, Y), dtype="float16")
