"""Why an event gets its score."""

from __future__ import annotations

import numpy as np
import pytest
from every_learner import NAMES, X, Y, is_linear, learned, make

import lopsided

SUMS = [name for name in NAMES if is_linear(name) and name != "WeightedMajority"]


@pytest.mark.parametrize("name", [*SUMS, "Recommended"])
@pytest.mark.parametrize("scaling", ["none", "standard+unit", "auto"])
def test_effects_sum_to_the_score(name, scaling):
    model = learned(name, scaling)
    for x in X[:5]:
        why = model.explain_one(x)
        assert why.score == pytest.approx(model.score_one(x), rel=1e-9, abs=1e-9)
        assert why.base + sum(r.effect for r in why.reasons) == pytest.approx(why.score)
        assert [r.value for r in why.reasons] == [x[int(r.feature)] for r in why.reasons]
        assert model.strongest_reasons(x, 3) == strongest(why, 3)


def strongest(why, most):
    return [(reason.feature, reason.effect) for reason in why.reasons[:most]]


def payments(rows=3000):
    rng = np.random.default_rng(0)
    amounts, hours = np.exp(rng.normal(3, 1, rows)), rng.integers(0, 24, rows)
    countries = rng.choice(["DE", "FR", "XX"], rows, p=[0.5, 0.45, 0.05])
    z = 3 * (countries == "XX") + 3 * (amounts > 60) * (hours < 6) - 4
    y = (rng.random(rows) < 1 / (1 + np.exp(-z))).astype(int)
    events = zip(amounts.tolist(), countries.tolist(), hours.tolist(), strict=True)
    return [{"amount": a, "country": str(c), "hour": h} for a, c, h in events], y


def test_reasons_have_names_values_and_ranges():
    events, y = payments()
    model = lopsided.Recommended().partial_fit(events, y)
    why = model.explain_one({"amount": 150.0, "country": "XX", "hour": 3})
    by_name = {reason.feature: reason for reason in why.reasons}
    assert by_name["amount"].value == 150
    assert by_name["country=XX"].effect > 0.5
    assert by_name["country=XX"].value is None
    pair = next(name for name in by_name if "amount >=" in name and "hour" in name)
    assert by_name[pair].value is None
    assert why.reasons[0].effect == max(abs(r.effect) for r in why.reasons)
    assert "country=XX" in str(why)
    for most in (0, 1, 5, 1000):
        for event in events[:20]:
            assert model.strongest_reasons(event, most) == strongest(model.explain_one(event), most)


def test_a_feature_never_met_has_no_effect():
    events, y = payments(500)
    model = lopsided.Recommended().partial_fit(events, y)
    known, new = ({"amount": 20.0, "hour": 3, "country": c} for c in ("DE", "new"))
    names = {reason.feature for reason in model.explain_one(new).reasons}
    assert "amount" in names
    assert not any("new" in name for name in names)
    assert any("country=DE" in r.feature for r in model.explain_one(known).reasons)


@pytest.mark.parametrize("name", ["KOIL-RS", "WeightedMajority"])
def test_scores_that_are_no_sums_are_not_explained(name):
    with pytest.raises(ValueError, match="no sums"):
        make(name).partial_fit(X, Y).explain_one(X[0])


def test_effects_of_a_score_at_its_limit_are_scaled():
    X = np.array([[1e60, 1.0], [-1e60, 2.0]] * 40)
    y = [0, 1] * 40
    model = lopsided.Recommended().partial_fit(X, y, sample_weight=np.full(80, 1e12))
    why = model.explain_one(X[0])
    assert abs(why.score) <= 30
    assert why.score == pytest.approx(model.score_one(X[0]))
    assert why.base + sum(r.effect for r in why.reasons) == pytest.approx(why.score)
