"""What labels buy: points, choices and what is read off them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from streams import stream

import lopsided
from lopsided import progressive
from lopsided.papers.label_sweeps import (
    METHODS,
    Aim,
    LabelPoint,
    budget_sweep,
    chosen,
    label_point,
    labels_needed,
)

X, Y = stream(seed=3, rows=400, d=6)
ORDERS = [np.random.default_rng(seed).permutation(400) for seed in range(3)]
UNIT = Aim(settings={"scaling": "unit"})


def test_a_point_is_the_mean_of_its_runs():
    point = label_point("OA3", X, Y, ORDERS, budget=50, parameters={"delta_pos": 3.0}, aim=UNIT)
    runs = [
        progressive(
            lopsided.make("OA3", budget=50, delta_pos=3.0, scaling="unit", seed=seed),
            X,
            Y,
            order=order,
            resume=True,
        )
        for seed, order in enumerate(ORDERS)
    ]
    assert point.sum == pytest.approx(np.mean([run.sum() for run in runs]))
    assert point.sum_std == pytest.approx(np.std([run.sum() for run in runs], ddof=1))
    assert point.cost == pytest.approx(np.mean([run.cost() for run in runs]))
    assert point.labels == np.mean([run.queries for run in runs]) == 50
    last = point.curve[-1]
    assert (last["events"], last["labels"]) == (400, 50)
    assert last["sum"] == pytest.approx(point.sum)
    assert last["cost"] == pytest.approx(point.cost / 400)


@pytest.mark.parametrize("known", [True, False])
def test_without_a_budget_every_label_is_learned(known):
    aim = dataclasses.replace(UNIT, known_counts=known)
    point = label_point("CSOAL", X, Y, ORDERS[:1], budget=None, aim=aim)
    plain = lopsided.PassiveAggressive(loss="I", class_weight="balanced", scaling="unit")
    run = progressive(plain, X, Y, order=ORDERS[0], resume=not known)
    assert (point.sum, point.labels) == (run.sum(), 400)


def test_costs_reach_the_learners_that_know_them():
    aim = dataclasses.replace(UNIT, metric="cost", fn=3.0, fp=0.5)
    models = {name: aim.model(name, {}, [-1, 1]) for name in METHODS}
    weights = {name: model.class_weight for name, model in models.items()}
    assert [n for n, w in weights.items() if w is None] == ["PAA", "OAAL", "SOAL"]
    assert weights["SOA3"] == {1: 3.0, -1: 0.5}
    model = dataclasses.replace(UNIT, alpha=0.8).model("OA3", {}, [-1, 1])
    assert (model.class_weight, model.sensitivity_weight) == ("balanced", 0.8)
    with pytest.raises(ValueError, match="does not ask"):
        aim.model("COG-II", {}, [-1, 1])


@pytest.mark.parametrize("metric", ["sum", "cost"])
def test_the_best_of_the_grid_is_chosen(metric):
    aim = dataclasses.replace(UNIT, metric=metric)
    grid = {"learning_rate": [1e-3, 1.0, 1e3], "delta": [0.01, 10.0]}
    best = chosen("SOAL-CS", X, Y, ORDERS, budget=40, aim=aim, grid=grid)
    tried = [{"learning_rate": r, "delta": d} for r in (1e-3, 1.0, 1e3) for d in (0.01, 10.0)]
    points = [label_point("SOAL-CS", X, Y, ORDERS, budget=40, aim=aim, parameters=p) for p in tried]
    good = [-p.sum if metric == "sum" else p.cost for p in points]
    assert best == points[int(np.argmin(good))].parameters
    assert len({*good}) > 1


def test_short_orders_get_their_share_of_the_budget(monkeypatch):
    seen = []

    def run(name, X, y, order, budget, *rest, **more):
        seen.append((len(order), budget))
        raise ValueError

    monkeypatch.setattr("lopsided.papers.label_sweeps._run", run)
    with pytest.raises(ValueError, match="no point of the grid"):
        chosen("PAA", X, Y, [ORDERS[0][:100], ORDERS[1]], budget=40, grid={"C": [1.0]})
    assert seen == [(100, 10)]


def test_a_sweep_chooses_for_each_budget():
    points = budget_sweep(
        ["PAA"], X, Y, [20, None], orders=ORDERS[:1], choose_on=ORDERS[1:], aim=UNIT
    )
    assert [(p.budget, p.labels) for p in points] == [(20, 20), (None, 400)]
    assert points[0].parameters == chosen("PAA", X, Y, ORDERS[1:], budget=20, aim=UNIT)
    assert points[1].parameters.keys() == {"C"}


def test_labels_needed_are_read_between_budgets():
    def point(labels, total):
        return dataclasses.replace(like, budget=labels, labels=float(labels or 0), sum=total)

    like = label_point("PAA", X, Y, ORDERS[:1], budget=5, aim=UNIT)
    assert isinstance(like, LabelPoint)
    points = [point(1000, 0.9), point(10, 0.5), point(100, 0.7), point(None, 0.95)]
    assert labels_needed(points, 0.7) == pytest.approx(100)
    assert labels_needed(points, 0.8) == pytest.approx(10**2.5)
    assert labels_needed(points, 0.4) == 10
    assert labels_needed(points, 0.93) is None
