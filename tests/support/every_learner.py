"""Every learner of the catalog by name, and how to look at what it learned."""

from __future__ import annotations

import numpy as np
import pytest
from streams import parameters, stream

import lopsided
from lopsided.catalog import CATALOG

# A full covariance in float32 is a learner of its own here. Where sums run in another order it
# differs by its roundings.
FLOAT32 = [f"{name} float32" for name in ("AROW", "ACOG-I", "ACOG-II", "SSOL-full", "OA3")]
NAMES = [entry.name for entry in CATALOG] + FLOAT32
each = pytest.mark.parametrize("name", NAMES)
SCALINGS = ["none", "unit", "standard", "standard+unit"]
by_scaling = pytest.mark.parametrize("scaling", SCALINGS)

# Learners that take a row in before they score it: scores are those of learning only with this.
TAKES_IN = {"transductive": True}
X, Y = stream(seed=3, rows=40, d=7)
WIDER = np.hstack([X, X[:, :2]])


def make(name, scaling="unit", **params):
    name, _, dtype = name.partition(" ")
    kept_in = {"covariance_dtype": dtype} if dtype else {}
    return lopsided.make(name, scaling=scaling, **kept_in, **params)


def rounding(name, usual):
    return 1e-5 if name in FLOAT32 else usual


def learned(name, scaling="unit", **params):
    return make(name, scaling, **params).partial_fit(X, Y)


def where_known(name, params):
    """Those of the parameters that the learner has."""
    known = parameters(make(name))
    return {k: v for k, v in params.items() if k in known}


def is_linear(name):
    return "intercept" in parameters(make(name))


def asks(name):
    return isinstance(make(name), lopsided.Active)


def dense(rows):
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def numbers(model):
    """What was learned, without the names of the features."""
    if hasattr(model, "coef_"):
        arrays = [model.coef_, [model.intercept_], getattr(model, "covariance_", [])]
    else:
        arrays = [model.dual_coef_, dense(model.support_vectors_), [model.gamma_]]
    return [np.asarray(a).tolist() for a in arrays]
