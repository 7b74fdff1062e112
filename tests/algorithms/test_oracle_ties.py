"""The library against the learners of `reference` where a comparison is a tie."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from oracle_streams import forms, shaky
from streams import csr

import lopsided
from reference import ORACLES, run

RATE_1 = {"learning_rate": 1.0}

# Learner, options, rho, rows, labels, and which events are stepped on. No number is ever rounded.
TIES = {
    "0 is right for a positive": ("Perceptron", {}, 1, [[1], [2]], [1, 1], [0, 0]),
    "0 is wrong for a negative": ("Perceptron", {}, 1, [[1, 0], [0, 2]], [-1, -1], [1, 1]),
    "ROMMA takes 0 for positive": ("ROMMA", {}, 1, [[1, 0], [0, 1]], [-1, 1], [1, 0]),
    "ROMMA leaves parallel rows alone": ("ROMMA", {}, 1, [[2], [3]], [-1, 1], [1, 0]),
    "aROMMA, margin of 1": ("ROMMA", {"aggressive": True}, 1, [[1, 0], [1, 3]], [1, 1], [1, 0]),
    "PA, margin of 1": ("PassiveAggressive", {"variant": "PA"}, 1, [[2], [2]], [1, 1], [1, 0]),
    "PA-I, margin of 1": ("PassiveAggressive", {"C": 0.5}, 1, [[1], [2]], [-1, -1], [1, 0]),
    "PA-II, margin of 1": (
        "PassiveAggressive",
        {"variant": "PA-II", "C": 0.5},
        1,
        [[1], [2]],
        [1, 1],
        [1, 0],
    ),
    "PAUM steps at its margin": ("PAUM", {}, 2, [[1], [2], [2]], [1, 1, 1], [1, 1, 0]),
    "PAUM steps at a margin of 0": ("PAUM", {"margin_pos": 0}, 2, [[1], [1]], [1, 1], [1, 0]),
    "CPA, margin of 1 at cost 4": ("CPA", {}, 4, [[2], [1]], [1, 1], [1, 0]),
    "CPA strict, 0 is right": ("CPA", {"variant": "strict"}, 4, [[2], [1]], [1, -1], [0, 1]),
    "CPA max-loss, margin of 2": ("CPA", {"variant": "max-loss"}, 4, [[2], [2]], [1, 1], [1, 0]),
    "COG-I, margin of rho": (
        "COG",
        {"loss": "I", "learning_rate": 0.5},
        2,
        [[2], [2], [1]],
        [1, 1, 1],
        [1, 0, 1],
    ),
    "COG-II, margin of 1": ("COG", {"learning_rate": 0.5}, 2, [[1], [1]], [1, 1], [1, 0]),
    "AROW, margin of 1": ("AROW", {}, 1, [[1], [2], [1]], [1, 1, 1], [1, 0, 1]),
    "AROW full, margin of 1": ("AROW", {"covariance": "full"}, 1, [[1], [2]], [1, 1], [1, 0]),
    "ACOG-I, margin of rho": ("ACOG", RATE_1 | {"loss": "I"}, 2, [[1], [4]], [1, 1], [1, 0]),
    "ACOG-II, margin of 1": ("ACOG", RATE_1, 2, [[1], [1]], [1, 1], [1, 0]),
    "ACOG full, margin of 1": (
        "ACOG",
        RATE_1 | {"covariance": "full"},
        2,
        [[1], [1]],
        [1, 1],
        [1, 0],
    ),
    "SACOG, margin of 1": (
        "SACOG",
        {"learning_rate": 1.0, "sketch_size": 1, "directions": np.eye(1)},
        2,
        [[1], [1]],
        [1, 1],
        [1, 0],
    ),
    "FOBOS, margin of 1": ("TruncatedGradient", RATE_1 | {"l1": 0}, 1, [[1], [1]], [1, 1], [1, 0]),
    "FOBOS shrinks to 0": (
        "TruncatedGradient",
        RATE_1 | {"l1": 0.5},
        1,
        [[0.5], [1]],
        [1, 1],
        [1, 1],
    ),
    "STG shrinks at its ceiling": (
        "TruncatedGradient",
        RATE_1 | {"l1": 0.25, "ceiling": 1},
        1,
        [[1], [1]],
        [1, 1],
        [1, 1],
    ),
    "Ada-FOBOS, margin of 1": (
        "AdaFOBOS",
        {"learning_rate": 2, "l1": 0, "delta": 1},
        1,
        [[1], [1]],
        [1, 1],
        [1, 0],
    ),
    "Ada-RDA shrinks to 0": (
        "AdaRDA",
        {"learning_rate": 2, "l1": 1, "delta": 1},
        1,
        [[1], [1]],
        [1, 1],
        [1, 1],
    ),
    "FSOL shrinks to 0, margin of 1": (
        "DualAveraging",
        RATE_1 | {"l1": 1},
        1,
        [[1], [1], [1]],
        [1, 1, 1],
        [1, 1, 0],
    ),
    "SSOL shrinks to 0": ("SSOL", RATE_1 | {"l1": 1}, 1, [[1]], [1], [1]),
}


@pytest.mark.parametrize("case", TIES, ids=lambda case: case.replace(" ", "-"))
def test_ties_are_decided_exactly(case):
    name, options, rho, X, y, steps = TIES[case]
    oracle = shaky(ORACLES[name](**options), 0)
    want = run(oracle, X, y, class_weight=rho)
    cost = {} if rho == 1 else {"class_weight": {1: rho, -1: 1}}
    for rows, (library, more) in product((np.array(X, dtype=float), csr(X)), forms(name)):
        model = getattr(lopsided, library)(scaling="none", **cost, **options, **more)
        progress = lopsided.progressive(model, rows, y, points=len(y))
        updates = np.diff([0, *(point.updates for point in progress.curve)])
        assert updates.tolist() == steps == [bool(step) for step in oracle.steps]
        assert progress.scores.tolist() == want.scores.tolist()
        assert model.coef_.tolist() == oracle.w.tolist()
