"""The whole library in one page: read this to learn it."""

import numpy as np
import pytest

import lopsided


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = np.where(X @ [1, -1, 0.5, 0] + 0.3 * rng.normal(size=2000) > 2.2, "fraud", "fine")
    return X, y


def test_fit_and_predict(stream):
    X, y = stream
    model = lopsided.COG(positive="fraud", intercept=True).fit(X, y)
    assert model.classes_.tolist() == ["fine", "fraud"]
    assert (model.predict(X) == y).mean() > 0.9
    assert ((model.decision_function(X) >= 0) == (model.predict(X) == "fraud")).all()


def test_a_stream_in_chunks_gives_the_same_bits(stream):
    X, y = stream
    whole = lopsided.COG(positive="fraud").partial_fit(X, y)
    parts = lopsided.COG(positive="fraud")
    for first in range(0, 2000, 300):
        parts.partial_fit(X[first : first + 300], y[first : first + 300])
    assert (whole.coef_ == parts.coef_).all()


def test_one_event_at_a_time():
    model = lopsided.COG(positive="fraud")
    for amount, country, outcome in [(3.0, "DE", "fine"), (900.0, "XX", "fraud")] * 20:
        model.learn_one({"amount": amount, "country": country}, outcome)
    assert model.predict_one({"amount": 850.0, "country": "XX"}) == "fraud"
    assert model.feature_names_in_.tolist() == ["amount", "country=DE", "country=XX"]
    assert max(model.named_coef(), key=model.named_coef().get) == "country=XX"


def test_progressive_evaluation_judges_before_it_learns(stream):
    X, y = stream
    model = lopsided.make("cog-ii", positive="fraud", intercept=True)
    run = lopsided.progressive(model, X, y)
    assert run.sensitivity > 0.8
    assert run.specificity > 0.8
    assert run.sum() == pytest.approx((run.sensitivity + run.specificity) / 2)
    assert run.cost(fn=95, fp=5) == 95 * run.false_negatives + 5 * run.false_positives
    assert 0.9 < run.auc < 1
    assert run.curve[-1].events == 2000


def test_save_load_and_go_on(stream, tmp_path):
    X, y = stream
    never_stopped = lopsided.make("AROW", positive="fraud").partial_fit(X, y)
    lopsided.make("AROW", positive="fraud").partial_fit(X[:999], y[:999]).save(tmp_path / "m")
    resumed = lopsided.load(tmp_path / "m").partial_fit(X[999:], y[999:])
    assert (resumed.covariance_ == never_stopped.covariance_).all()


def test_costs_move_the_balance(stream):
    X, y = stream
    dear = lopsided.COG(positive="fraud", class_weight={"fraud": 100, "fine": 1}, intercept=True)
    cheap = lopsided.COG(positive="fraud", class_weight=None, intercept=True)
    runs = [lopsided.progressive(model, X, y) for model in (dear, cheap)]
    assert runs[0].sensitivity > runs[1].sensitivity


def test_the_catalog_knows_every_learner():
    for name in lopsided.learners():
        assert lopsided.make(name).fit([[1.0, 0.0], [0.0, 1.0]], [1, 0]).n_features_in_ == 2
