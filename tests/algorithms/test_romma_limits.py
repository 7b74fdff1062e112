"""ROMMA where no weight vector fits the rows: its length grows without bound, its scores do not."""

from __future__ import annotations

import numpy as np
import pytest

from lopsided import ROMMA, progressive
from lopsided.persist import from_bytes, to_bytes


def noisy(rows, seed=0, share=0.1):
    """Return rows of length 1 and labels, some of them wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 6))
    y = np.where(X[:, 0] + 0.2 * X[:, 1] > 0, 1, -1)
    wrong = rng.random(rows) < share
    return X / np.linalg.norm(X, axis=1)[:, None], np.where(wrong, -y, y)


def unlimited(X, y, aggressive):
    """Return the scores of numbers whose exponents do not end: w is kept as a float and a power."""
    w, power, scores = np.zeros(X.shape[1]), 0, []
    for x, label in zip(X, y, strict=True):
        score = w @ x
        scores.append(score)
        one = np.ldexp(1.0, -power) if power < 1074 else 0.0  # 1 in units of w
        triggered = label * score < one if aggressive else (score >= 0) != (label > 0)
        square = w @ w
        if not triggered:
            continue
        if square == 0:
            w = label * x
            continue
        gap = x @ x * square - score**2
        if gap <= 1e-12 * (x @ x) * square:
            continue
        w = (x @ x * square - label * one * score) / gap * w + square * (
            label * one - score
        ) / gap * x
        if (w @ w) > 1e60:
            w, power = w * 2.0**-60, power + 60
    return np.array(scores), power


@pytest.mark.parametrize("aggressive", [False, True])
def test_wrong_labels_give_finite_scores_and_the_predictions_of_unlimited_numbers(aggressive):
    X, y = noisy(30_000)
    wanted, power = unlimited(X, y, aggressive)
    assert power > 540  # the square of |w| is beyond all doubles
    model = ROMMA(aggressive=aggressive, scaling="none")
    found = progressive(model, X, y).scores
    assert np.isfinite(found).all()
    assert np.mean((found >= 0) == (wanted >= 0)) > 0.9999
    assert np.isfinite(model.coef_).all()
    again = from_bytes(to_bytes(model))
    assert (again.decision_function(X[:50]) == model.decision_function(X[:50])).all()


@pytest.mark.parametrize("aggressive", [False, True])
@pytest.mark.parametrize("scale", [1e-130, 1e-100, 1.0, 1e100, 1e150])
def test_one_class_and_any_scale_of_rows(aggressive, scale):
    X, y = noisy(5000, seed=1, share=0.3)
    for labels in (y, np.ones(len(y), int), -np.ones(len(y), int)):
        model = ROMMA(aggressive=aggressive, scaling="none", positive=1)
        assert np.isfinite(progressive(model, X * scale, labels).scores).all()
