"""What every learner of the catalog promises: the same result by every road."""

from __future__ import annotations

import copy
import io
import pickle

import joblib
import numpy as np
import pytest
from every_learner import (
    NAMES,
    SCALINGS,
    TAKES_IN,
    WIDER,
    X,
    Y,
    asks,
    by_scaling,
    each,
    is_linear,
    learned,
    make,
    numbers,
    rounding,
    where_known,
)
from sklearn.base import clone
from streams import DENSE, SPARSE, chunks, csr, events, growing, parameters

import lopsided
from lopsided.persist import to_bytes

X32 = X.astype(np.float32).astype(np.float64)

# Linear learners without an intercept and with one, the others once.
each_intercept = pytest.mark.parametrize(
    ("name", "intercept"),
    [
        (name, params)
        for name in NAMES
        for params in ([{"intercept": b} for b in (False, True)] if is_linear(name) else [{}])
    ],
)


@each_intercept
@pytest.mark.parametrize("scaling", ["none", "unit"])
def test_dense_equals_sparse(name, scaling, intercept):
    by_array, by_matrix = (make(name, scaling, **intercept) for _ in range(2))
    ours = lopsided.progressive(by_array, X, Y).scores
    theirs = lopsided.progressive(by_matrix, csr(X), Y).scores
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=rounding(name, 1e-9))
    for a, b in zip(numbers(by_array), numbers(by_matrix), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=rounding(name, 1e-9))


@each
@pytest.mark.parametrize("scaling", ["auto", *SCALINGS])
@pytest.mark.parametrize("form", [np.asarray, csr])
def test_any_chunking_gives_the_same_bits(name, scaling, form):
    rows = form(X)
    whole = make(name, scaling)
    scores = lopsided.progressive(whole, rows, Y, resume=True).scores
    want = to_bytes(whole)
    assert to_bytes(make(name, scaling).partial_fit(rows, Y)) == want
    for seed in range(3):
        model, resumed = make(name, scaling), make(name, scaling)
        parts = []
        for part in chunks(len(Y), seed):
            model.partial_fit(rows[part], Y[part])
            parts.append(lopsided.progressive(resumed, rows[part], Y[part], resume=True).scores)
        assert to_bytes(model) == to_bytes(resumed) == want
        assert np.concatenate(parts).tobytes() == scores.tobytes()


@each_intercept
@pytest.mark.parametrize("scaling", ["auto", *SCALINGS])
def test_progressive_score_is_score_one_before_learn_one(name, scaling, intercept):
    params = where_known(name, TAKES_IN) | intercept
    whole, model = (make(name, scaling, **params) for _ in range(2))
    want = lopsided.progressive(whole, X, Y, resume=True).scores
    model.learn_one(X[0], Y[0])
    scores = [want[0]]
    for x, y in zip(X[1:], Y[1:], strict=True):
        scores.append(model.score_one(x))
        assert model.score_many(x[None])[0] == scores[-1]
        margin = model.decision_function(x[None])[0]
        assert margin == scores[-1] or not model.fitted.by_sign
        assert model.predict_one(x) == (1 if margin >= 0 else -1)
        model.learn_one(x, y)
    assert np.array(scores).tobytes() == want.tobytes()
    assert to_bytes(model) == to_bytes(whole)


@pytest.mark.parametrize("name", [name for name in NAMES if not asks(name)])
@pytest.mark.parametrize("scaling", ["none", "standard+unit"])
@pytest.mark.parametrize("form", ["array", "list", "dict", "hashed"])
def test_step_one_is_score_one_and_learn_one(name, scaling, form):
    rows, labels = growing(seed=6)
    takes_in = where_known(name, TAKES_IN)
    if takes_in:  # features that are new too, which no score_one can
        rows[0] = 1
    stream = {"array": list(X), "list": X.tolist()}.get(form, events(rows))
    params = takes_in | ({"hash_bits": 5} if form == "hashed" else {})
    two, one = (make(name, scaling, **params) for _ in range(2))
    for k, (x, y) in enumerate(zip(stream, labels.tolist(), strict=True)):
        want = two.score_one(x) if k else 0.0
        assert one.step_one(x, y) == want
        two.learn_one(x, y)
    assert to_bytes(one) == to_bytes(two)


@pytest.mark.parametrize("name", [name for name in NAMES if not asks(name)])
def test_step_one_scores_are_those_of_progressive(name):
    whole, model = make(name), make(name)
    want = lopsided.progressive(whole, X, Y, resume=True).scores
    assert [model.step_one(x, y) for x, y in zip(X, Y.tolist(), strict=True)] == want.tolist()
    assert to_bytes(model) == to_bytes(whole)


@pytest.mark.parametrize("name", [name for name in NAMES if asks(name)])
def test_a_learner_that_asks_has_no_step_one(name):
    with pytest.raises(TypeError, match="ask and tell"):
        make(name).step_one(X[0], 1)


@each
@by_scaling
def test_saved_model_goes_on_with_the_same_bits(name, scaling, tmp_path):
    want = to_bytes(learned(name, scaling))
    model = make(name, scaling)
    for part in chunks(len(Y), seed=5):
        model.partial_fit(X[part], Y[part]).save(tmp_path / "model")
        assert (tmp_path / "model").read_bytes() == to_bytes(model)
        model = lopsided.load(tmp_path / "model")
    assert to_bytes(model) == want


def joblib_round_trip(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


@each
@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), joblib_round_trip],
    ids=["copy", "deepcopy", "pickle", "joblib"],
)
def test_copy_is_equal_and_independent(name, duplicate):
    model = make(name, "standard").partial_fit(X[:20], Y[:20])
    before = to_bytes(model)
    other = duplicate(model)
    assert to_bytes(other) == before
    other.partial_fit(X[20:], Y[20:])
    assert to_bytes(model) == before
    assert to_bytes(other) == to_bytes(learned(name, "standard"))
    fresh = duplicate(make(name))
    assert parameters(fresh) == parameters(make(name))
    assert to_bytes(fresh.partial_fit(X, Y)) == to_bytes(learned(name))


@each
def test_clone_has_the_parameters_and_nothing_learned(name):
    model = learned(name, **where_known(name, {"intercept": True}))
    other = clone(model)
    assert type(other) is type(model)
    assert parameters(other) == parameters(model)
    for learned_part in ("coef_", "dual_coef_", "classes_"):
        assert not hasattr(other, learned_part)


@each
def test_fit_starts_anew(name):
    model = make(name).fit(X, Y)
    want = to_bytes(model)
    assert to_bytes(model.fit(X, Y)) == want
    assert to_bytes(learned(name).partial_fit(WIDER, Y).fit(X, Y)) == want


@each
@by_scaling
def test_prediction_does_not_change_the_model(name, scaling):
    model = learned(name, scaling)
    before = to_bytes(model)
    for rows in (X, csr(X), np.asfortranarray(X)):
        model.decision_function(rows)
        model.predict(rows)
        model.score(rows, Y)
    model.score_one(X[0])
    model.predict_one(X[0])
    assert to_bytes(model) == before


@each
@pytest.mark.parametrize(
    ("plain", "form"),
    [(np.asarray, form) for form in DENSE.values()] + [(csr, form) for form in SPARSE.values()],
    ids=[f"{kind} {name}" for kind, d in (("dense", DENSE), ("sparse", SPARSE)) for name in d],
)
def test_input_of_any_form_gives_the_same_bits(name, plain, form):
    want, model = make(name, "auto"), make(name, "auto")
    scores = lopsided.progressive(want, plain(X32), Y).scores
    assert lopsided.progressive(model, form(X32), Y).scores.tobytes() == scores.tobytes()
    assert numbers(model) == numbers(want)
    ours, theirs = model.decision_function(form(X32)), want.decision_function(plain(X32))
    assert ours.tobytes() == theirs.tobytes()


# Nothing can be changed in these.
UNCHANGING = (
    "Perceptron", "PA", "Recommended", "WeightedMajority", "KernelPerceptron", "RBP", "Forgetron"
)  # fmt: skip


@each
def test_parameter_changed_in_mid_stream_takes_effect(name):
    if name in UNCHANGING:
        pytest.skip("it has no number to change")
    model, steady = (make(name).partial_fit(X[:20], Y[:20]) for _ in range(2))
    known = parameters(model)
    rate = next(
        k for k in ("learning_rate", "regularization", "C", "eps", "tolerance") if k in known
    )
    model.set_params(**{rate: known[rate]})
    assert to_bytes(model) == to_bytes(steady)
    rows, labels = X[20:], Y[20:]
    steady.partial_fit(rows[:5], labels[:5])
    model.partial_fit(rows[:5], labels[:5]).set_params(**{rate: 0.97})
    assert numbers(model) == numbers(steady)
    assert numbers(model.partial_fit(rows, labels)) != numbers(steady.partial_fit(rows, labels))


@each
def test_structure_cannot_change_in_mid_stream(name):
    model, steady = (make(name).partial_fit(X[:20], Y[:20]) for _ in range(2))
    known = parameters(model)
    changes = {"scaling": "none", "positive": -1, "hash_bits": 8}
    if "intercept" in known:
        changes["intercept"] = not known["intercept"]
    if "gamma" in known:
        changes["gamma"] = 0.125
    if "buffer_size" in known:
        changes["buffer_size"] = 77
    if "covariance" in known:
        changes["covariance"] = "diagonal" if known["covariance"] == "full" else "full"
        if known["covariance"] == "full":
            kept_in = {"float32", "float64"} - {known["covariance_dtype"]}
            changes["covariance_dtype"] = kept_in.pop()
    for parameter, value in changes.items():
        model.set_params(**{parameter: value})
        with pytest.raises(ValueError, match=parameter):
            model.partial_fit(X[20:], Y[20:])
        with pytest.raises(ValueError, match=parameter):
            model.learn_one(X[20], Y[20])
        model.set_params(**{parameter: known[parameter]})
    for one in (model, steady):
        one.partial_fit(X[20:], Y[20:])
    assert to_bytes(model) == to_bytes(steady)
