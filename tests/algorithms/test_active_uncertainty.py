"""Queries by uncertainty, which are those of Recommended."""

from __future__ import annotations

import numpy as np
import pytest

from lopsided import COG, Active, Budget, Recommended, progressive
from lopsided.persist import from_bytes, to_bytes
from reference.active import Uncertainty, uniforms
from reference.calibration import Calibration

RNG = np.random.default_rng(3)
X = RNG.normal(size=(4000, 5))
Y = np.where(X[:, 0] + X[:, 1] + 0.5 * RNG.normal(size=4000) > 2.6, 1, -1)
# Budgets with the rate that each gives, and how many labels there may ever be.
BUDGETS = {
    "count": (200, 0.4, 200),
    "share": ("5%", 0.075, np.inf),
    "period": ("20/500", 0.06, np.inf),
    "money": (Budget(money=15, price=0.5, per=500), 0.09, np.inf),
    "of a length": (Budget(fraction=0.05, length=4000), 0.4, 200),
    "none": (None, 0.4, np.inf),
}


class LogOdds:
    """Scores that need no calibration."""

    def record(self, score, y, weight):
        pass

    def log_odds(self, score):
        return score


@pytest.mark.parametrize("learner", [Recommended(), COG(intercept=True)], ids=str)
@pytest.mark.parametrize("name", BUDGETS)
def test_probabilities_equal_the_oracle(learner, name):
    budget, rate, most = BUDGETS[name]
    model = Active(learner, query="uncertainty", budget=budget, explore=0.01, seed=5)
    got = progressive(model, X, Y, resume=True)
    oracle, draws = Uncertainty(rate, most), uniforms(5)
    calibration = LogOdds() if isinstance(learner, Recommended) else Calibration()
    bought, counts = 0, {1: 0.0, -1: 0.0}
    for score, pi, asked, y in zip(got.scores, got.probabilities, got.asked, Y, strict=True):
        if pi == 0:  # the budget does not allow it
            assert not asked
            continue
        want = 0.01 + 0.99 * oracle.probability(calibration.log_odds(score), bought)
        assert pi == pytest.approx(want, rel=1e-6)  # Newton steps of the calibration end there
        assert asked == (want >= 1 or next(draws) < want)
        if asked:
            bought += 1
            oracle.known[int(y)] += 1
            calibration.record(score, y, 1 / pi)
            counts[int(y)] += 1 / pi if isinstance(learner, Recommended) else 1
    assert bought == got.queries > 100
    # A threshold on log odds goes by the classes of all events, others by those of bought labels.
    assert model.rho_ == pytest.approx((counts[-1] + 1) / (counts[1] + 1))


def test_pieces_and_files_give_the_same_bits():
    whole, pieces = (Active("Recommended", budget=300) for _ in range(2))
    whole.partial_fit(X[:1000], Y[:1000])
    for k in range(0, 1000, 40):
        pieces = from_bytes(to_bytes(pieces.partial_fit(X[k : k + 40], Y[k : k + 40])))
    assert pieces.coef_.tobytes() == whole.coef_.tobytes()
    assert (pieces.queries_, pieces.rho_) == (whole.queries_, whole.rho_)


def test_many_questions_at_once_are_single_questions():
    one, many = (Active("Recommended", budget=300).partial_fit(X[:500], Y[:500]) for _ in range(2))
    asked = [one.ask(x) for x in X[500:1500]]
    assert list(many.ask_many(X[500:1500])) == asked
    assert 0 < sum(d.asked for d in asked) < 1000


def test_which_rule_is_automatic():
    def run(learner, **options):
        return progressive(Active(learner, budget=200, **options), X, Y).probabilities.tolist()

    assert run("Recommended") == run("Recommended", query="uncertainty")
    assert run("Recommended", delta=1.0) == run("Recommended", query="margin")
    assert run("COG-II") == run("COG-II", query="margin")
    assert run("Recommended", probability=0.2) != run("Recommended")
    with pytest.raises(ValueError, match="delta has no effect on query='uncertainty'"):
        run("Recommended", query="uncertainty", delta=1.0)


def test_the_rule_can_change_on_the_way():
    model = Active("Recommended", query="margin").partial_fit(X[:500], Y[:500])
    model.set_params(query="uncertainty").partial_fit(X[500:1000], Y[500:1000])
    assert model.events_ == 1000


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1])
def test_chosen_labels_are_worth_more_than_random_ones(share):
    found = {}
    for query, options in (("auto", {}), ("random", {"probability": share})):
        model = Active("Recommended", query=query, budget=round(share * len(Y)), **options)
        found[query] = progressive(model, X, Y, resume=True)
    assert found["auto"].auc > found["random"].auc
    assert found["auto"].sum() > found["random"].sum()
