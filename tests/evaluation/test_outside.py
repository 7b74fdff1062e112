"""Classifiers of river, of scikit-learn and written in Python, in the progressive pass."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.tree import DecisionTreeClassifier

import lopsided
from lopsided import progressive

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3))
Y = X[:, 0] + 0.3 * rng.normal(size=400) > 1
NAMED = np.where(Y, "fine", "fraud")  # the positive class is not the last in order
SLOW = pytest.mark.filterwarnings("ignore:.*row by row in Python")


class Counter:
    """Scores by how many positives it has been told, and keeps what it was given."""

    def __init__(self, positive=True):
        self.positive, self.told, self.events = positive, 0, []

    def score_one(self, x):
        self.events.append(dict(x))
        return self.told - 2.5

    def learn_one(self, x, y, w=1.0):
        self.told += w * (y == self.positive)


class Constant:
    """Predicts the last label it was told."""

    last = None

    def predict_one(self, x):
        return self.last

    def learn_one(self, x, y):
        self.last = y


def by_hand(model, y, order, delay=0, weights=None, scored=None):
    """Return the scores of a loop with a queue."""
    scored = scored or (lambda x: model.score_one(x))
    scores, queue = [], []
    for at, row in enumerate(order):
        for due, other in [one for one in queue if one[0] < at]:
            options = {} if weights is None else {"w": weights[other]}
            model.learn_one(dict(enumerate(X[other].tolist())), y[other].item(), **options)
            queue.remove((due, other))
        scores.append(scored(dict(enumerate(X[row].tolist()))) if at > min([delay]) else 0.0)
        queue.append((at + delay, row))
    return np.array(scores)


@SLOW
@pytest.mark.parametrize("delay", [0, 1, 30])
def test_a_learner_in_python_is_told_each_label_when_it_comes(delay):
    order = rng.permutation(400)[:150]
    model = Counter()
    found = progressive(model, X, Y, order=order, delay=delay)
    np.testing.assert_array_equal(found.scores, by_hand(Counter(), Y, order, delay))
    np.testing.assert_array_equal(found.labels, np.where(Y[order], 1, -1))
    np.testing.assert_array_equal(found.alarms, found.scores >= 0)
    assert found.updates == 150 - delay
    assert model.told == Y[order[: 150 - delay]].sum()
    assert found.curve[-1].false_positives == found.false_positives


@SLOW
def test_weights_and_forms_of_rows_reach_it():
    weights = rng.choice([0.0, 1.0, 2.0], size=400)
    model = Counter()
    found = progressive(model, X, Y, sample_weight=weights)
    assert np.isnan(found.scores[weights == 0]).all()
    assert model.told == weights[Y].sum()
    assert found.positives == weights[Y].sum()
    with pytest.raises(ValueError, match="takes no weight"):
        progressive(Constant(), X, Y, sample_weight=weights)
    rows = np.where(X > 0, X, 0)[:5]
    dicts = [{"a": 1.5, "b": "x"}] * 5
    for given, expected in (
        (dicts, dicts[0]),
        (rows, dict(enumerate(rows[1].tolist()))),
        (csr_matrix(rows), {j: v for j, v in enumerate(rows[1].tolist()) if v}),
    ):
        model = Counter()
        progressive(model, given, Y[:5] | (np.arange(5) == 0))
        assert model.events[0] == expected


@SLOW
def test_labels_are_enough_and_the_positive_one_can_be_named():
    found = progressive(Constant(), X, NAMED, positive="fine")
    np.testing.assert_array_equal(found.labels > 0, Y)
    np.testing.assert_array_equal(found.scores, [0, *np.where(Y[:-1], 0.5, -0.5)])
    other = progressive(Constant(), X, NAMED)
    np.testing.assert_array_equal(other.labels, -found.labels)


def test_it_is_said_that_python_is_slow():
    with pytest.warns(match="Counter learns row by row in Python: slow"):
        progressive(Counter(), X[:20], Y[:20])


@SLOW
def test_classifiers_of_river():
    linear_model = pytest.importorskip("river.linear_model")
    from river import compose, naive_bayes, preprocessing

    def make():
        return compose.Pipeline(
            preprocessing.StandardScaler(), linear_model.LogisticRegression(l2=0.1)
        )

    model, other = make(), make()
    found = progressive(model, X, Y, delay=7)

    def chance(x):
        return other.predict_proba_one(x)[True] - 0.5

    expected = by_hand(other, Y, np.arange(400), 7, scored=chance)
    np.testing.assert_array_equal(found.scores, expected)
    assert found.auc > 0.8
    learners = {"ours": "COG-II", "LR": make(), "NB": naive_bayes.GaussianNB()}
    result = lopsided.compare(learners, X, NAMED, positive="fine", permutations=2, grid={})
    assert [row.name for row in result.rows] == ["ours", "LR", "NB"]
    assert result.rows[1].mean["sensitivity"] > 0.2
    held = lopsided.compare({"LR": make()}, X, Y, held_out=(X, Y), permutations=1, metric="auc")
    assert held.rows[0].mean["metric"] > 0.8
    tried = lopsided.compare(
        {"LR": linear_model.LogisticRegression()}, X, Y, grid={"l2": [0.0, 100.0]}, permutations=2
    )
    assert {run.parameters["l2"] for run in tried.sweep} == {0.0, 100.0}
    assert len({run.value for run in tried.sweep}) > 2


def test_scikit_learn_by_chunks_with_late_labels():
    model, other = SGDClassifier(random_state=0), SGDClassifier(random_state=0)
    found = progressive(model, X, Y, delay=25)
    scores, at, told = np.zeros(400), 0, 0
    while at < 400:
        last = min(400, at + min(max(at, 1), 100))
        known = max(0, at - 25)
        if known > told:
            other.partial_fit(X[told:known], Y[told:known], classes=[False, True])
            told = known
        if told:
            scores[at:last] = other.decision_function(X[at:last])
        at = last
    other.partial_fit(X[told:375], Y[told:375])
    np.testing.assert_array_equal(found.scores, scores)
    np.testing.assert_array_equal(model.coef_, other.coef_)


@pytest.mark.parametrize("every", [30, 150])
def test_a_classifier_with_fit_only_is_fitted_again(every):
    found = progressive(DecisionTreeClassifier(random_state=0), X, Y, refit_every=every)
    scores, at, known = np.zeros(400), 0, 0
    model = None
    while at < 400:
        last = min(400, at + min(max(at, 1), 100, every))
        if at - known >= every and len(set(Y[:at])) == 2:
            model = DecisionTreeClassifier(random_state=0).fit(X[:at], Y[:at])
            known = at
        if model is not None:
            scores[at:last] = model.predict_proba(X[at:last])[:, 1] - 0.5
        at = last
    np.testing.assert_array_equal(found.scores, scores)
    result = lopsided.compare(
        {"tree": DecisionTreeClassifier(random_state=0), "LR": LogisticRegression()},
        *(X, Y),
        order="time",
        refit_every=every,
        metric="auc",
    )
    assert result.rows[0].mean["metric"] == lopsided.metrics.auc(np.where(Y, 1, -1), scores)


def test_what_cannot_be_run():
    for model, options, text in (
        (LogisticRegression(), {}, "give refit_every"),
        (LogisticRegression(), {"refit_every": 0}, "refit_every"),
        (Counter, {}, "is a class"),
        (object(), {}, "a learner is a name or an estimator"),
        (lopsided.COG(), {"positive": 1}, "positive"),
        (lopsided.COG(), {"delay": 3, "label_time": np.zeros(400)}, "contradict"),
        (SGDClassifier(), {"costs": {"miss": 1, "alarm": 1}}, "costs"),
        (SGDClassifier(), {"chances": True}, "chances"),
        (SGDClassifier(), {"label_time": np.zeros(400)}, "needs time"),
    ):
        with pytest.raises((ValueError, TypeError), match=text):
            progressive(model, X, Y, **options)
