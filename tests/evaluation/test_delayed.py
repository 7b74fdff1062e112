"""Labels that come late, for learners that do not ask for them."""

import numpy as np
import pytest

import lopsided
from lopsided import Active, progressive

PLAIN = [name for name in lopsided.learners() if not isinstance(lopsided.make(name), Active)]


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, (X[:, 0] + 0.5 * rng.normal(size=120) > 1).astype(int)


@pytest.mark.parametrize("name", PLAIN)
def test_without_delay_every_learner_has_the_same_bits(name, stream):
    at_once, late = lopsided.make(name), lopsided.make(name)
    expected, found = progressive(at_once, *stream), progressive(late, *stream, delay=0)
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(late.score_many(stream[0]), at_once.score_many(stream[0]))


@pytest.mark.parametrize("name", ["COG-II", "AROW", "Recommended", "KOIL-FIFO++"])
def test_a_label_is_learned_when_it_comes_and_not_before(name, stream):
    X, y = stream
    delay = 10
    model, by_hand = lopsided.make(name, positive=1), Active(lopsided.make(name, positive=1))
    by_hand.set_params(query="always")
    found = progressive(model, X, y, delay=delay, resume=True)
    scores = []
    for i, x in enumerate(X):
        if i > delay:
            by_hand.tell(i - delay - 1, y[i - delay - 1])
        scores.append(by_hand.ask(x).score)
    by_hand.tell(len(X) - delay - 1, y[len(X) - delay - 1])
    np.testing.assert_array_equal(found.scores[: delay + 1], 0)
    np.testing.assert_array_equal(found.scores, scores)
    np.testing.assert_array_equal(model.score_many(X), by_hand.score_many(X))


def test_more_events_wait_than_a_learner_that_asks_would_keep():
    X = np.ones((10_050, 1))
    y = np.arange(len(X)) % 2
    late = progressive(lopsided.COG(positive=1, scaling="none"), X, y, delay=10_010)
    assert late.updates > 0
    assert not late.scores[:10_011].any()
    assert late.scores[10_011:].any()


def test_the_prior_of_a_balanced_learner_and_the_rows_left_out_count(stream):
    X, y = stream
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    order = np.arange(len(y))[::-1]
    model, late = lopsided.COG(), lopsided.COG()
    expected = progressive(model, X, y, order=order, sample_weight=weight)
    found = progressive(late, X, y, order=order, sample_weight=weight, delay=0)
    np.testing.assert_array_equal(found.scores, expected.scores)
    assert late.rho_ == model.rho_


def test_labels_that_never_come_are_never_learned(stream):
    X, y = stream
    found = progressive(lopsided.COG(), X, y, delay=np.inf)
    assert found.updates == 0
    with pytest.raises(ValueError, match="delay"):
        progressive(lopsided.COG(), X, y, delay="soon")


def test_a_model_continues_with_late_labels_and_is_unchanged_by_a_bad_row(stream):
    X, y = stream
    model = lopsided.COG().fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="row 0"):
        progressive(model, np.where(np.arange(3) == 2, np.nan, X), y, delay=3, resume=True)
    np.testing.assert_array_equal(model.coef_, before)
    progressive(model, X, y, delay=3, resume=True)
    assert (model.coef_ != before).any()


def test_labels_of_rows_that_come_again_are_not_forgotten(stream):
    model = lopsided.AROW()
    order = np.tile(np.arange(120), 3)
    progressive(model, *stream, order=order, delay=200)
    assert model.fitted.core.rounds == len(order) - 200
