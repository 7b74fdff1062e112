"""The library gives the published figures on german, and the oracles' scores on the way."""

from __future__ import annotations

import numpy as np
import pytest

import lopsided
from reference import ORACLES, run
from reference.published import (
    FALSE_NEGATIVE_COST,
    KOIL_PERCEPTRON,
    PREPARE,
    TABLE,
    disagreements,
    german,
    koil,
)

by_row = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)


@pytest.fixture(scope="module")
def data():
    found = german()
    if found is None:
        pytest.skip("german is neither in $LOPSIDED_DATA nor in ../shared/data")
    return found


@pytest.fixture(scope="module")
def prepared(data):
    return {paper: prepare(data[0]) for paper, prepare in PREPARE.items()}


def library_pass(row, X, y, order):
    parameters = dict(row.parameters, scaling="none", positive=1)
    if row.class_weight == "cost":
        parameters["class_weight"] = {1: row.rho, -1: 1.0}
    elif row.class_weight == "balanced":
        parameters["class_weight"] = "balanced"
    model = getattr(lopsided, row.estimator)(**parameters)
    return lopsided.progressive(model, X, y, order=order)


@by_row
def test_published_digits(row, data, prepared):
    _, y, orders = data
    cp = FALSE_NEGATIVE_COST[row.paper]
    passes = []
    for order in orders:
        progress = library_pass(row, prepared[row.paper], y, order)
        metric = progress.sum() if row.metric == "sum" else progress.cost(fn=cp, fp=1 - cp)
        passes.append((metric, progress.sensitivity, progress.specificity))
    assert disagreements(row, passes) == []


@by_row
def test_scores_are_those_of_the_oracle(row, data, prepared):
    _, y, orders = data
    X = prepared[row.paper]
    for order in orders[:2]:
        progress = library_pass(row, X, y, order)
        oracle = ORACLES[row.estimator](**row.parameters)
        expected = run(oracle, X, y, class_weight=row.rho, order=order)
        np.testing.assert_allclose(progress.scores, expected.scores, rtol=0, atol=1e-9)
        assert progress.updates == expected.updates


@pytest.mark.parametrize("metric", ["sum", "cost"])
def test_comparison_gives_the_published_figures(metric, data, prepared):
    _, y, orders = data
    rows = [
        row for row in TABLE
        if row.paper == "ACOG" and row.metric == metric and row.learner in ("COG-II", "ACOG-II")
    ]  # fmt: skip
    for row in rows:
        rate = row.parameters["learning_rate"]
        weight = "balanced" if metric == "sum" else {1: row.rho, -1: 1.0}
        model = lopsided.make(row.learner, scaling="none", positive=1, class_weight=weight)
        result = lopsided.compare(
            {row.learner: model},
            prepared["ACOG"],
            y,
            grid={"learning_rate": [rate]},
            permutations=orders,
            metric=metric,
            select="best",
        )
        passes = [(r.value, r.counts.sensitivity, r.counts.specificity) for r in result.runs]
        assert disagreements(row, passes) == []
        if metric == "sum":
            assert row.published[0] in result.table()


@pytest.mark.parametrize("name", KOIL_PERCEPTRON)
def test_published_auc_of_held_out_folds(name):
    found = koil(name)
    if found is None:
        pytest.skip(f"koil/{name} is neither in $LOPSIDED_DATA nor in ../shared/data")
    X, y, folds = found
    model = lopsided.make("Perceptron", scaling="none")
    result = lopsided.compare({"it": model}, X, y, grid={}, folds=folds, metric="auc")
    row = result.rows[0]
    assert len(result.runs) == 20
    assert (round(row.mean["metric"], 3), round(row.std["metric"], 3)) == KOIL_PERCEPTRON[name][1:]
