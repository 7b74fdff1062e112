"""The tools of scikit-learn around estimators: pipelines, searches, thresholds, routing, HTML."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import lopsided
from lopsided import Active, OneVsRest

RNG = np.random.default_rng(0)
ROWS = 400
TABLE = pd.DataFrame(
    {
        "amount": np.exp(RNG.normal(3, 1, ROWS)),
        "age": RNG.integers(18, 80, ROWS),
        "country": RNG.choice(["DE", "FR", "XX"], ROWS),
        "kind": RNG.choice(["web", "shop"], ROWS),
    }
)
RISK = TABLE["amount"] / 30 + 2 * (TABLE["country"] == "XX") + RNG.normal(size=ROWS)
Y = np.where(RISK > 3.5, 1, 0)
MODELS = {
    "Recommended": lopsided.Recommended(),
    "AROW-diag": lopsided.make("AROW-diag"),
    "SSOL": lopsided.make("SSOL"),
    "KOIL": lopsided.make("KOIL-RS"),
    "Active": Active("COG-II", query="always"),
    "OneVsRest": OneVsRest("COG-II"),
}


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def columns(sparse=False):
    return ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["amount", "age"]),
            ("texts", OneHotEncoder(sparse_output=sparse), ["country", "kind"]),
        ],
        sparse_threshold=1.0 if sparse else 0.0,
    )


def cost(y, predicted):
    _, alarms, missed, _ = confusion_matrix(y, predicted).ravel()
    return -(200.0 * missed + alarms)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_pipeline_with_a_column_transformer_is_its_steps_one_after_the_other(name, sparse):
    pipeline = make_pipeline(columns(sparse), clone(MODELS[name])).fit(TABLE, Y)
    rows = columns(sparse).fit_transform(TABLE)
    alone = clone(MODELS[name]).fit(rows, Y)
    np.testing.assert_array_equal(pipeline.predict(TABLE), alone.predict(rows))
    np.testing.assert_array_equal(pipeline.predict_proba(TABLE), alone.predict_proba(rows))
    assert pipeline.score(TABLE, Y) == np.mean(alone.predict(rows) == Y)


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_names_of_columns_reach_the_model_where_transformers_give_frames(output):
    pipeline = make_pipeline(columns(), lopsided.AROW()).set_output(transform=output)
    pipeline.fit(TABLE, Y)
    names = pipeline[-1].feature_names_in_.tolist()
    assert names == pipeline[0].get_feature_names_out().tolist()
    assert "texts__country_XX" in names
    assert pipeline[-1].named_coef()["texts__country_XX"] > 0
    plain = make_pipeline(columns(), lopsided.AROW()).fit(TABLE, Y)
    np.testing.assert_array_equal(pipeline.predict_proba(TABLE), plain.predict_proba(TABLE))


def test_a_search_over_a_pipeline_changes_parameters_inside():
    pipeline = Pipeline([("columns", columns()), ("model", lopsided.COG(intercept=True))])
    grid = {"model__learning_rate": [1e-9, 0.3], "model__scaling": ["none", "unit"]}
    search = GridSearchCV(pipeline, grid, cv=3, scoring="roc_auc").fit(TABLE, Y)
    assert search.best_score_ > 0.8
    inner = {"model__learner": ["COG-II", lopsided.AROW()], "model__learner__scaling": ["none"]}
    classes = Pipeline([("columns", columns()), ("model", OneVsRest())])
    found = GridSearchCV(classes, inner, cv=3).fit(TABLE, Y)
    assert found.best_estimator_["model"].learner.scaling == "none"


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("name", MODELS)
def test_calibration_and_cross_validation_take_every_kind(name, method):
    rows = columns().fit_transform(TABLE)
    likely = CalibratedClassifierCV(clone(MODELS[name]), method=method, cv=3).fit(rows, Y)
    assert likely.predict_proba(rows).shape == (ROWS, 2)
    found = cross_val_predict(clone(MODELS[name]), rows, Y, cv=3, method="predict_proba")
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("response", ["predict_proba", "decision_function"])
def test_a_threshold_is_tuned_by_what_mistakes_cost(response):
    rows = columns().fit_transform(TABLE)
    scorer = make_scorer(cost)
    plain = lopsided.make("AROW-diag", class_weight=None)
    tuned = TunedThresholdClassifierCV(plain, scoring=scorer, response_method=response, cv=3)
    tuned.fit(rows, Y)
    untuned = clone(plain).fit(rows, Y).predict(rows)
    assert tuned.predict(rows).sum() > untuned.sum()  # misses are expensive
    named = np.where(Y == 1, "fraud", "fine")  # the positive label is the last in order
    by_name = TunedThresholdClassifierCV(plain, response_method=response, cv=3).fit(rows, named)
    assert set(by_name.predict(rows)) <= {"fine", "fraud"}


@pytest.mark.parametrize("name", ["Recommended", "AROW-diag", "OneVsRest"])
def test_weights_are_routed_through_pipelines_and_searches(name, routing):
    rows = columns().fit_transform(TABLE)
    weights = RNG.integers(1, 5, ROWS).astype(float)
    model = clone(MODELS[name]).set_fit_request(sample_weight=True)
    model.set_score_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    pipeline = make_pipeline(scaler, model).fit(rows, Y, sample_weight=weights)
    alone = clone(MODELS[name]).fit(StandardScaler().fit_transform(rows), Y, sample_weight=weights)
    unweighted = clone(MODELS[name]).fit(StandardScaler().fit_transform(rows), Y)
    scores = pipeline[-1].score_many(StandardScaler().fit_transform(rows))
    np.testing.assert_array_equal(scores, alone.score_many(StandardScaler().fit_transform(rows)))
    assert (scores != unweighted.score_many(StandardScaler().fit_transform(rows))).any()
    copies = [clone(pipeline), pickle.loads(pickle.dumps(clone(pipeline)))]
    for copied in copies:  # what was requested is kept
        copied.fit(rows, Y, sample_weight=weights)
        again = copied[-1].score_many(StandardScaler().fit_transform(rows))
        np.testing.assert_array_equal(again, scores)
    search = cross_validate(pipeline, rows, Y, cv=3, params={"sample_weight": weights})
    assert np.isfinite(search["test_score"]).all()


def test_metadata_that_nobody_requested_is_an_error(routing):
    model = make_pipeline(lopsided.AROW())
    with pytest.raises(Exception, match="not explicitly set as requested or not requested"):
        model.fit(np.eye(4), [0, 1, 0, 1], sample_weight=np.ones(4))
    with pytest.raises(TypeError, match="sample_weight"):
        lopsided.AROW().set_fit_request(sample_weights=True)
    alias = lopsided.AROW().set_fit_request(sample_weight="importance")
    fitted = make_pipeline(alias).fit(np.eye(4), [0, 1, 0, 1], importance=[1, 0, 0, 1])
    assert fitted[-1].fitted.core.rounds == 2


def test_routing_that_is_off_says_so():
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        lopsided.AROW().set_fit_request(sample_weight=True)


def test_times_of_events_are_routed_to_a_daily_budget(routing):
    rows = columns().fit_transform(TABLE)
    time = np.datetime64("2026-01-01T00:00:00") + np.arange(ROWS) * np.timedelta64(3600, "s")
    model = Active("COG-II", query="always", budget="5/day").set_fit_request(time=True)
    pipeline = make_pipeline(StandardScaler(), model).fit(rows, Y, time=time)
    assert pipeline[-1].queries_ == 5 * len(np.unique(time.astype("datetime64[D]")))
    model.set_partial_fit_request(time=True, sample_weight=True)
    assert model.get_metadata_routing().partial_fit.requests["time"] is True


def test_prices_are_routed_to_predictions(routing):
    rows = columns().fit_transform(TABLE)
    model = lopsided.Recommended().set_predict_request(costs=True)
    pipeline = make_pipeline(StandardScaler(), model).fit(rows, Y)
    eager = pipeline.predict(rows, costs={"miss": 1000, "alarm": 1})
    assert eager.sum() > pipeline.predict(rows, costs={"miss": 1, "alarm": 1}).sum()


def test_a_notebook_shows_pipelines_with_models():
    pipeline = make_pipeline(columns(), OneVsRest(lopsided.COG(learning_rate=0.25)))
    for shown in (pipeline._repr_html_(), pipeline.fit(TABLE, Y)._repr_html_()):
        assert "OneVsRest" in shown
        assert "learning_rate" in shown
        assert "ColumnTransformer" in shown
