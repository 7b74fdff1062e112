"""Probabilities: those before the label was known, and how they are judged."""

import numpy as np
import pytest

from lopsided import COG, Active, Recommended, progressive
from lopsided.evaluation.reliability import Reliability

RNG = np.random.default_rng(3)
ROWS = 600
X = RNG.normal(size=(ROWS, 3))
Y = np.where(X[:, 0] + 0.7 * RNG.normal(size=ROWS) > 1, 1, -1)


@pytest.mark.parametrize("kind", [COG, Recommended])
def test_chances_are_the_probabilities_before_each_event_was_learned(kind):
    found = progressive(kind(), X, Y, resume=True, chances=True).chances
    model = kind().partial_fit(X[:50], Y[:50])
    for i in range(50, 200):
        assert found[i] == model.predict_proba(X[i : i + 1])[0, 1]
        model.partial_fit(X[i : i + 1], Y[i : i + 1])


def test_chances_of_learners_that_ask_and_of_late_labels():
    asked = progressive(Active("COG-II", query="margin", budget="20%", seed=1), X, Y, chances=True)
    assert np.isfinite(asked.chances).all()
    late = progressive(COG(), X, Y, delay=100, chances=True)
    assert (late.chances[:101] == 0.5).all()  # no label has come
    assert (late.chances[150:] != 0.5).any()


def test_events_of_weight_zero_have_no_chance_and_do_not_count():
    weights = np.ones(ROWS)
    weights[10:20] = 0
    found = progressive(COG(), X, Y, sample_weight=weights, chances=True)
    assert np.isnan(found.chances[10:20]).all()
    assert found.reliability.weight == ROWS - 10


def test_without_chances_it_says_how_to_get_them():
    with pytest.raises(ValueError, match="chances=True"):
        _ = progressive(COG(), X, Y).log_loss


def test_log_loss_and_calibration_error_are_those_of_the_formulas():
    p = RNG.choice([0.02, 0.1, 0.35, 0.8], 4_000)
    y = RNG.random(4_000) < p**1.2
    found = Reliability()
    found.add(p, y)
    assert np.isclose(found.log_loss, -np.mean(np.log(np.where(y, p, 1 - p))), rtol=1e-12)
    by_value = sum(np.sum(p == v) * abs(v - y[p == v].mean()) for v in np.unique(p)) / len(p)
    assert np.isclose(found.error, by_value, rtol=1e-12)
    assert [part.weight for part in found.parts()] == [np.sum(p == v) for v in np.unique(p)]


def test_parts_have_about_the_same_weight():
    p = RNG.beta(0.4, 8, 50_000)
    y = RNG.random(50_000) < p
    found = Reliability()
    found.add(p, y)
    parts = found.parts(10)
    assert len(parts) == 10
    assert max(part.weight for part in parts) < 2 * min(part.weight for part in parts)
    assert found.error < 0.005
    assert np.isclose(sum(part.weight * part.share for part in parts), y.sum())


def test_sums_do_not_depend_on_how_events_are_divided():
    rows = 500
    p, y, w = RNG.random(rows), RNG.random(rows) < 0.3, RNG.random(rows)
    p[:4] = [0.0, 1.0, 1e-300, 0.5]
    whole = Reliability()
    whole.add(p, y, w)
    for size in (1, 7, 333):
        parts = Reliability()
        for first in range(0, rows, size):
            part = slice(first, first + size)
            parts.add(p[part], y[part], w[part])
            if size == 333:
                again = Reliability()
                again.restore(parts.state())
                parts = again
        assert parts.state() == whole.state()


def test_nothing_has_no_measures():
    assert np.isnan(Reliability().log_loss)
    assert np.isnan(Reliability().error)
    assert Reliability().parts() == []
