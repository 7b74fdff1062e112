"""scikit-learn: its checks of estimators, its tools, and that nobody has to load it."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    estimator_checks_generator,
)
from streams import csr, stream

import lopsided
from lopsided.catalog import CATALOG

CLASSES = sorted({entry.cls for entry in CATALOG}, key=lambda cls: cls.__name__)
ESTIMATORS = {cls.__name__: cls() for cls in CLASSES} | {
    f"make({entry.name})": lopsided.make(entry.name) for entry in CATALOG
}
FULL_STEP = {"ROMMA", "CPA", "Forgetron"} | {
    f"make({name})" for name in ("ROMMA", "aROMMA", "PA", "CPA", "Forgetron", "Projectron++")
}
COSTS_IN_THE_SLOPE = ("Perceptron", "PA-I", "PA-II", "COG-II", "AROW", "AROW-diag", "ACOG-II")

NOT_REPEATS = "a weight of k changes one step, k repeats make k steps and k rounds of scaling"
NO_INTERCEPT = "without an intercept x and -x are never of one class, whatever the costs"
REFUSES_WEIGHTS = "a full step cannot be weighed, and a weight without effect is an error"


def why_not(label, check):
    """Why a check cannot succeed, or None if it must."""
    if check == "check_class_weight_classifiers":
        return None if getattr(ESTIMATORS[label], "intercept", True) else NO_INTERCEPT
    if check == "check_sample_weights_not_overwritten" and label in FULL_STEP:
        return REFUSES_WEIGHTS
    if check.startswith("check_sample_weight_equivalence"):
        return NOT_REPEATS  # and of labels in the calibration
    return None


def all_checks():
    with warnings.catch_warnings():  # it speaks the protocol without inheriting it
        warnings.filterwarnings("ignore", message=".*does not inherit from")
        for label, estimator in ESTIMATORS.items():
            for _, check in estimator_checks_generator(estimator):
                name = check.func.__name__
                options = "-".join(str(value) for value in check.keywords.values())
                yield pytest.param(label, name, check, id=f"{label}-{name}-{options}".strip("-"))


@pytest.mark.filterwarnings("ignore:.*does not inherit from")
@pytest.mark.parametrize(("label", "name", "check"), list(all_checks()))
def test_check_of_scikit_learn(label, name, check):
    estimator = ESTIMATORS[label]
    if name == "check_classifiers_train":  # the likelier label is predicted at equal prices only
        estimator = clone(estimator).set_params(costs={"miss": 1, "alarm": 1})
    if why_not(label, name):
        with pytest.raises((AssertionError, ValueError)):
            check(estimator)
    else:
        check(estimator)


@pytest.mark.parametrize("name", COSTS_IN_THE_SLOPE)
def test_extreme_class_weight_wins_with_an_intercept(name):
    check_class_weight_classifiers(name, lopsided.make(name, intercept=True))


@pytest.mark.parametrize("form", [np.asarray, csr])
def test_grid_search_finds_the_better_parameter(form):
    X, y = stream(rows=300)
    grid = {"learning_rate": [1e-6, 1.0], "regularization": [1.0]}
    search = GridSearchCV(lopsided.ACOG(intercept=True), grid, scoring="balanced_accuracy", cv=3)
    search.fit(form(X), y)
    assert search.best_params_["learning_rate"] == 1.0
    assert search.best_score_ > 0.8
    assert search.best_estimator_.predict(form(X)).shape == y.shape


@pytest.mark.parametrize("entry", CATALOG, ids=lambda entry: entry.name)
def test_pipeline_scales_before_it_learns(entry):
    X, y = stream(rows=300, quirks=["magnitudes", "offset"])
    pipeline = make_pipeline(StandardScaler(), entry.make(scaling="none"))
    pipeline.fit(X, y)
    alone = entry.make(scaling="none").fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_array_equal(
        pipeline.decision_function(X), alone.decision_function(StandardScaler().fit_transform(X))
    )
    assert pipeline.score(X, y) == np.mean(pipeline.predict(X) == y)
    assert np.isfinite(cross_val_score(pipeline, X, y, scoring="roc_auc", cv=3)).all()


def test_tools_that_number_the_labels_are_named_as_the_reason():
    X, t = stream(rows=60)
    y = np.where(t == 1, "fraud", "fine")
    advice = "number the labels: leave positive out, or give y as 0 and 1"
    with pytest.raises(ValueError, match=advice):
        CalibratedClassifierCV(lopsided.COG(positive="fraud"), cv=3, ensemble=False).fit(X, y)
    for labels in (y, np.where(t == 1, 1, 0)):
        likely = CalibratedClassifierCV(lopsided.COG(), cv=3, ensemble=False).fit(X, labels)
        assert likely.classes_.tolist() == sorted(set(labels.tolist()))


@pytest.mark.parametrize("negative", ["fine", "ok"])
def test_a_ranking_is_judged_the_right_way_round_wherever_the_positive_label_stands(negative):
    X, t = stream(rows=400)
    y = np.where(t == 1, "fraud", negative)
    model = lopsided.COG(positive="fraud")
    rates = {"learning_rate": [0.1, 1.0]}
    by_number = GridSearchCV(lopsided.COG(), rates, scoring="roc_auc", cv=3).fit(X, t == 1)
    by_name = GridSearchCV(model, rates, scoring="roc_auc", cv=3).fit(X, y)
    np.testing.assert_allclose(
        by_name.cv_results_["mean_test_score"], by_number.cv_results_["mean_test_score"]
    )
    assert by_name.best_score_ > 0.6
    likely = CalibratedClassifierCV(model, cv=3).fit(X, y)
    of_fraud = likely.predict_proba(X)[:, likely.classes_.tolist().index("fraud")]
    assert roc_auc_score(t == 1, of_fraud) > 0.6


WITHOUT = """
import sys
import numpy as np
import lopsided
for name in lopsided.learners():
    model = lopsided.make(name).fit(np.eye(4), [0, 1, 1, 0])
    model.learn_one(np.ones(4), 1).predict(np.eye(4))
    repr(model), model.get_params(), hasattr(lopsided.make(name), "coef_")
    lopsided.progressive(model, np.eye(4), [0, 1, 1, 0]).sum()
heavy = {"sklearn", "scipy", "pandas", "polars", "joblib"}
print(sorted(heavy & {name.split(".")[0] for name in sys.modules}))
"""


def test_nothing_heavy_is_imported():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
