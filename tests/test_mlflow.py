"""MLflow, with its files in a folder: models are saved, loaded, logged and served."""

import numpy as np
import pandas as pd
import pytest

from lopsided import COG, OneVsRest, Recommended, progressive

mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)

import lopsided.mlflow as flavor  # noqa: E402

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(300, 3)), columns=["a", "b", "c"])
Y = np.where(X["a"] > 1, "fraud", "fine")


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    mlflow.set_experiment("fraud")
    yield
    while mlflow.active_run():
        mlflow.end_run()


def test_a_model_is_saved_and_loaded_to_the_same_bits(tmp_path):
    model = Recommended(positive="fraud").partial_fit(X[:200], Y[:200])
    flavor.save_model(model, tmp_path / "m", metadata={"team": "risk"})
    loaded = flavor.load_model(str(tmp_path / "m"))
    for each in (model, loaded):
        each.partial_fit(X[200:], Y[200:])
    np.testing.assert_array_equal(loaded.score_many(X), model.score_many(X))
    assert (tmp_path / "m" / "requirements.txt").read_text().startswith("lopsided")
    with pytest.raises(ValueError, match="not empty"):
        flavor.save_model(model, tmp_path / "m")


def test_a_model_is_logged_and_served_by_anyone(tmp_path):
    model = COG(positive="fraud").fit(X, Y)
    with mlflow.start_run():
        info = flavor.log_model(model, "model", input_example=X[:3])
    assert info.signature.inputs.input_names() == ["a", "b", "c"]
    np.testing.assert_array_equal(flavor.load_model(info.model_uri).coef_, model.coef_)
    served = mlflow.pyfunc.load_model(info.model_uri)
    np.testing.assert_array_equal(served.predict(X), model.predict(X))
    assert isinstance(served.get_raw_model(), COG)


def test_a_server_gives_scores_and_probabilities_if_asked():
    model = COG(positive="fraud").fit(X, Y)
    scorer = flavor._Scorer(model)
    np.testing.assert_array_equal(
        scorer.predict(X, {"method": "predict_proba"}), model.predict_proba(X)
    )
    np.testing.assert_array_equal(scorer.predict(X, {"method": "score_many"}), model.score_many(X))
    with pytest.raises(ValueError, match="method"):
        scorer.predict(X, {"method": "save"})


def test_a_model_of_events_takes_a_frame_with_texts(tmp_path):
    rows = [{"amount": float(a), "country": "DE" if b > 0 else "XX"} for a, b, _ in X.to_numpy()]
    model = Recommended(positive="fraud").partial_fit(rows, Y)
    flavor.save_model(model, tmp_path / "m")
    served = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    np.testing.assert_array_equal(served.predict(pd.DataFrame(rows)), model.predict(rows))
    nameless = COG(positive="fraud").fit(X.to_numpy(), Y)
    np.testing.assert_array_equal(
        flavor._Scorer(nameless).predict(X), nameless.predict(X.to_numpy())
    )


def test_several_classes_are_saved_too(tmp_path):
    labels = np.digitize(X["a"], [-1, 1])
    model = OneVsRest("AROW").fit(X, labels)
    flavor.save_model(model, tmp_path / "m")
    loaded = flavor.load_model(str(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_run_has_its_curve_and_its_parameters():
    model = COG(positive="fraud", learning_rate=0.5, costs={"miss": 9, "alarm": 1})
    result = progressive(model, X, Y, chances=True, points=10)
    with mlflow.start_run() as run:
        flavor.log_run(result, model)
    client = mlflow.MlflowClient()
    kept = client.get_run(run.info.run_id).data
    assert kept.params["learning_rate"] == "0.5"
    assert kept.metrics["auc"] == pytest.approx(result.auc)
    assert kept.metrics["money"] == result.money
    assert kept.metrics["log_loss"] == pytest.approx(result.log_loss)
    curve = client.get_metric_history(run.info.run_id, "sensitivity")
    points = {p.events: p.sensitivity for p in result.curve if p.positives}
    points[result.events] = result.sensitivity
    assert {each.step: each.value for each in curve} == points
    assert len(curve) >= 9
    ended = client.get_metric_history(run.info.run_id, "auc")
    assert ended[-1].step == 300


def test_a_run_without_a_curve_is_a_point():
    with mlflow.start_run() as run:
        flavor.log_run(progressive(COG(positive="fraud"), X, Y, points=0))
    kept = mlflow.MlflowClient().get_run(run.info.run_id).data
    assert kept.metrics["balanced_accuracy"] > 0.5
    assert "log_loss" not in kept.metrics


def test_what_is_not_ours_is_not_loaded(tmp_path):
    (tmp_path / "other").mkdir()
    mlflow.models.Model(flavors={"other": {}}).save(str(tmp_path / "other" / "MLmodel"))
    with pytest.raises(ValueError, match="no model of lopsided"):
        flavor.load_model(str(tmp_path / "other"))
