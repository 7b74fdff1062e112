"""Learners that ask for labels, by name, and a stream for them."""

from __future__ import annotations

import numpy as np
from streams import stream

import lopsided
from lopsided import ACOG, COG, Active, Budget, PassiveAggressive

TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}
ROWS = 300
X, Y = stream(seed=8, rows=ROWS, d=9)
DAYS = np.cumsum(np.arange(ROWS) % 17 == 0) * 3
SECONDS = DAYS * 86400.0 + 3600

# Learner of the library and its oracle.
LEARNERS = {
    "PA-I": (PassiveAggressive(C=0.5), "PassiveAggressive", {"C": 0.5}),
    "PA-I loss I": (
        PassiveAggressive(loss="I", class_weight="balanced"),
        "PassiveAggressive",
        {"loss": "I"},
    ),
    "COG": (COG(learning_rate=0.3), "COG", {"learning_rate": 0.3}),
    "COG-I": (COG(loss="I", learning_rate=1.0), "COG", {"loss": "I", "learning_rate": 1.0}),
    "AROW": (lopsided.AROW(class_weight=None), "AROW", {}),
    **{
        f"ACOG {covariance}": (
            ACOG(learning_rate=2.0, regularization=0.7, covariance=covariance),
            "SACOG" if "sketch" in covariance else "ACOG",
            {"learning_rate": 2.0, "regularization": 0.7}
            | ({} if "sketch" in covariance else {"covariance": covariance}),
        )
        for covariance in ("diagonal", "full", "sketch", "dense-sketch")
    },
}
QUERIES = {
    "always": {},
    "random": {"probability": 0.3},
    "margin": {"delta": 0.2},
    "asymmetric": {"delta_pos": 0.5, "delta_neg": 0.05},
    "confidence": {"delta": 0.3},
    "confidence by class": {"delta_pos": 0.5, "delta_neg": 0.05},
}
BUDGETS = {
    "none": None,
    "count": {"labels": 40},
    "fraction": {"fraction": 0.11},
    "per 25": {"labels": 3, "per": 25},
    "per 25, saving": {"labels": 3, "per": 25, "saving": True},
    "per day": {"labels": 2, "per": "day"},
    "per day, saving": {"labels": 1, "per": "day", "saving": True},
}


def active(learner="COG", query="margin", budget="none", **params):
    given = BUDGETS[budget]
    return Active(
        LEARNERS[learner][0],
        query=query.partition(" ")[0],
        budget=None if given is None else Budget(**given),
        **{**QUERIES[query], **params},
    )


def time_for(budget):
    return SECONDS if "day" in budget else None


def weights_of(model):
    kernel = hasattr(model, "dual_coef_")
    return np.asarray(model.dual_coef_ if kernel else model.coef_).tobytes()
