"""Streams and comparators on which bounds are tried."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st


def unit_rows(rng, rounds, d):
    X = rng.normal(size=(rounds, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def linear_labels(rng, X):
    return np.where(X @ rng.normal(size=X.shape[1]) + 0.2 * rng.normal(size=len(X)) >= 0, 1, -1)


def majority_hides_minority(rounds):
    """Two of three rows pull against the third, but (1, 2) separates them all with margin 1."""
    signed = np.array([[1.0, 0.0], [1.0, 0.0], [-0.6, 0.8]])[np.arange(rounds) % 3]
    y = np.where(np.arange(rounds) % 2 == 0, 1, -1)
    return signed * y[:, None], y


def stream(name, rng, rounds=30, d=3):
    X = unit_rows(rng, rounds, d)
    y = linear_labels(rng, X)
    turns = np.where(np.arange(rounds) % 2 == 0, 1, -1)
    if name == "noise":
        y = rng.choice([-1, 1], size=rounds)
    elif name == "short rows":
        X = X * rng.uniform(0.0, 1.0, size=(rounds, 1))
    elif name == "axis rows":  # norm 1 exactly
        X = np.eye(d)[rng.integers(d, size=rounds)]
        y = rng.choice([-1, 1], size=rounds)
    elif name == "alternating labels":
        X, y = np.repeat(X[:1], rounds, axis=0), turns
    elif name == "repeated row":
        X, y = np.repeat(X[:1], rounds, axis=0), np.ones(rounds, dtype=int)
    elif name == "growing margin":
        X = np.outer(np.arange(1, rounds + 1) / rounds * turns, X[0])
        y = turns
    elif name == "rare positives":
        y = np.where(np.arange(rounds) % 10 == 9, 1, -1)
    elif name == "zero rows":
        X[::3] = 0.0
    elif name == "only zero rows":
        X[:] = 0.0
    elif name == "one class":
        y = -np.ones(rounds, dtype=int)
    elif name == "sign flip":
        y[rounds // 2 :] *= -1
    elif name == "majority hides minority":
        X, y = majority_hides_minority(rounds)
    elif name == "long rows":
        X = 10.0 * X
    return X, y


STREAMS = [
    "linear",
    "noise",
    "short rows",
    "axis rows",
    "alternating labels",
    "repeated row",
    "growing margin",
    "rare positives",
    "zero rows",
    "only zero rows",
    "one class",
    "sign flip",
    "majority hides minority",
    "long rows",
]


@st.composite
def short_streams(draw):
    """Up to 12 rows of up to 3 features, many of them 0 or 1, and their labels."""
    d = draw(st.integers(1, 3))
    value = st.sampled_from([0.0, 1.0, -1.0, 0.5]) | st.floats(-1.0, 1.0, width=32)
    row = st.lists(value, min_size=d, max_size=d)
    events = draw(st.lists(st.tuples(row, st.sampled_from([-1, 1])), min_size=1, max_size=12))
    X, y = zip(*events, strict=True)
    return np.array(X), np.array(y)


def vectors(d):
    return st.lists(st.floats(-1e3, 1e3), min_size=d, max_size=d).map(np.array)


def powers_of_ten(data, **exponents):
    """Draw a number by each name, given the least and the largest of its logarithm."""
    return {
        name: 10.0 ** data.draw(st.floats(*ends), label=f"log10 of {name}")
        for name, ends in exponents.items()
    }


def blind_comparators(run, rng):
    """Zero, and random directions at several lengths."""
    d = run.X.shape[1]
    yield np.zeros(d)
    for norm in (1e-3, 0.1, 1.0, 10.0, 1e3):
        direction = rng.normal(size=d)
        yield norm * direction / np.linalg.norm(direction)


def hinge_minimiser(run):
    """Roughly the best fixed model in hindsight: subgradient descent on the summed loss."""
    best, u = np.zeros(run.X.shape[1]), np.zeros(run.X.shape[1])
    slope = run.weights if run.loss == "II" else 1.0
    margin = run.weights if run.loss == "I" else 1.0
    for step in range(1, 15):
        u = u + (slope * run.y * (run.y * (run.X @ u) < margin)) @ run.X / math.sqrt(step)
        if run.comparator_loss(u) < run.comparator_loss(best):
            best = u
    return best
