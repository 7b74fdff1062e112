"""What every learner of the catalog promises, whatever it learns."""

from __future__ import annotations

import copy
import io
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import lopsided
from lopsided.catalog import CATALOG
from lopsided.persist import to_bytes
from streams import DENSE, SPARSE, chunks, csr, events, growing, parameters, stream

# A full covariance in float32 is a learner of its own here. Where sums run in another order it
# differs by its roundings.
FLOAT32 = [f"{name} float32" for name in ("AROW", "ACOG-I", "ACOG-II", "SSOL-full", "OA3")]
NAMES = [entry.name for entry in CATALOG] + FLOAT32
each = pytest.mark.parametrize("name", NAMES)
SCALINGS = ["none", "unit", "standard", "standard+unit"]
by_scaling = pytest.mark.parametrize("scaling", SCALINGS)
# Weights cannot change the steps of these, and nothing can be changed in those.
FULL_STEP = ("ROMMA", "aROMMA", "PA", "CPA", "Forgetron", "Projectron++")
UNCHANGING = ("Perceptron", "PA", "Recommended", "KernelPerceptron", "RBP", "Forgetron")

# Learners that take a row in before they score it: scores are those of learning only with this.
TAKES_IN = {"transductive": True}
# Shrinks that go on without features, and means over rounds: with this they stand still.
STILL = {"l1": 0.0, "beta": "constant"}

X, Y = stream(seed=3, rows=40, d=7)
X32 = X.astype(np.float32).astype(np.float64)
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


# Linear learners without an intercept and with one, the others once.
each_intercept = pytest.mark.parametrize(
    ("name", "intercept"),
    [
        (name, params)
        for name in NAMES
        for params in ([{"intercept": b} for b in (False, True)] if is_linear(name) else [{}])
    ],
)


def dense(rows):
    return rows.toarray() if sp.issparse(rows) else rows


def numbers(model):
    """What was learned, without the names of the features."""
    if hasattr(model, "coef_"):
        arrays = [model.coef_, [model.intercept_], getattr(model, "covariance_", [])]
    else:
        arrays = [model.dual_coef_, dense(model.support_vectors_), [model.gamma_]]
    return [np.asarray(a).tolist() for a in arrays]


def met(model):
    """How many events it has seen, whether it learned from them or not."""
    state = model._fitted().state()
    return state.get("budget.events", state["rounds"])


# The same result by every road ---------------------------------------------------------------


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
        assert model.decision_function(x[None])[0] == scores[-1]
        assert model.predict_one(x) == (1 if scores[-1] >= 0 else -1)
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


# Features ------------------------------------------------------------------------------------


@each
@by_scaling
@pytest.mark.parametrize("form", [np.asarray, csr])
def test_growing_features_equals_knowing_them_all(name, scaling, form):
    wide, y = growing()
    want = make(name, scaling).partial_fit(form(wide), y)
    model = make(name, scaling).partial_fit(form(wide[:20, :4]), y[:20])
    assert model.n_features_in_ == 4
    assert to_bytes(model.partial_fit(form(wide[20:]), y[20:])) == to_bytes(want)


@each
@by_scaling
def test_new_names_in_events_equal_csr_rows_with_all_columns(name, scaling):
    wide, labels = growing()
    params = where_known(name, TAKES_IN)
    want, model = (make(name, scaling, **params) for _ in range(2))
    scores = lopsided.progressive(want, csr(wide), labels, resume=True).scores
    for i, (x, y) in enumerate(zip(events(wide), labels, strict=True)):
        unforeseen = i == 0 or (params and i == 20)  # a score takes in what is known, not new names
        assert unforeseen or model.score_one(x) == scores[i]
        model.learn_one(x, y)
    assert model.feature_names_in_.tolist() == [f"f{j}" for j in range(7)]
    assert numbers(model) == numbers(want)


@each
def test_hashed_events(name, tmp_path):
    model, backwards = (make(name, hash_bits=6) for _ in range(2))
    for x, y in zip(events(X), Y, strict=True):
        model.learn_one(x, y)
        backwards.learn_one(dict(reversed(x.items())), y)
    assert model.n_features_in_ == 64
    if is_linear(name):
        assert 0 < np.count_nonzero(model.coef_) <= 7
    for a, b in zip(numbers(model), numbers(backwards), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=rounding(name, 1e-12))
    model.save(tmp_path / "hashed")
    again = lopsided.load(tmp_path / "hashed")
    for x, y in zip(events(X), Y, strict=True):
        assert again.score_one(x) == model.score_one(x)
        again.learn_one(x, y)
        model.learn_one(x, y)
    assert to_bytes(again) == to_bytes(model)


@each
@pytest.mark.parametrize("hash_bits", [None, 10])
def test_string_is_the_feature_name_equals_value(name, hash_bits):
    words, ones = (make(name, hash_bits=hash_bits) for _ in range(2))
    for i, y in enumerate(Y):
        colour = ["red", "grün", ""][i % 3]
        words.learn_one({"colour": colour, "size": float(i)}, y)
        ones.learn_one({f"colour={colour}": 1, "size": float(i)}, y)
    assert to_bytes(words) == to_bytes(ones)
    if hash_bits is None:
        names = ["colour=red", "size", "colour=grün", "colour="]
        assert words.feature_names_in_.tolist() == names


@pytest.mark.parametrize("name", [name for name in NAMES if is_linear(name)])
@pytest.mark.parametrize("scaling", ["none", "unit"])
def test_zero_row_moves_nothing(name, scaling):
    model = learned(name, scaling, intercept=False, **where_known(name, STILL))
    before = numbers(model)
    assert model.decision_function(np.zeros((1, 7))).tolist() == [0.0]
    for y in (-1, 1):
        model.partial_fit(np.zeros((2, 7)), [y, y]).learn_one(np.zeros(7), y)
        model.partial_fit(sp.csr_matrix((2, 7)), [y, y])
    assert numbers(model) == before


@each
@by_scaling
@pytest.mark.parametrize("label", [-1, 1])
def test_one_class_only_so_far(name, scaling, label):
    model = make(name, scaling).fit(X[:5], [label] * 5)
    assert np.isfinite(model.decision_function(X)).all()
    assert set(model.predict(X).tolist()) <= {-1, 1}
    model.partial_fit(X, Y)
    assert model.classes_.tolist() == [-1, 1]
    named = make(name, scaling).partial_fit(X[:5], ["bad"] * 5, classes=["bad", "good"])
    assert named.partial_fit(X[5:6], ["good"]).classes_.tolist() == ["bad", "good"]


# Weights -------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_weights_of_one_change_nothing(name, method):
    plain, ones = (getattr(make(name), method) for _ in range(2))
    assert to_bytes(plain(X, Y)) == to_bytes(ones(X, Y, sample_weight=np.ones(len(Y))))


@each
@by_scaling
def test_events_of_weight_zero_are_as_if_left_out(name, scaling):
    keep = np.arange(len(Y)) % 3 > 0
    for method in ("fit", "partial_fit"):
        model, want = make(name, scaling), make(name, scaling)
        getattr(model, method)(X, Y, sample_weight=keep.astype(float))
        assert to_bytes(model) == to_bytes(getattr(want, method)(X[keep], Y[keep]))


@each
def test_zero_weight_event_leaves_model_unchanged(name):
    model, named = learned(name, "standard"), make(name)
    for x, y in zip(events(X), Y, strict=True):
        named.learn_one(x, y)
    before, named_before = to_bytes(model), to_bytes(named)
    nothing = np.zeros(len(Y))
    model.partial_fit(X, Y, sample_weight=nothing).learn_one(X[0], 1, weight=0)
    model.partial_fit(WIDER, Y, sample_weight=nothing).learn_one(WIDER[0], 1, weight=0)
    model.partial_fit(csr(WIDER), Y, sample_weight=nothing)
    assert to_bytes(model) == before
    named.learn_one({"new": 1.0, "colour": "red"}, 1, weight=0)
    assert to_bytes(named) == named_before


@each
def test_zero_weight_rows_with_new_column_names_leave_model_unchanged(name):
    columns = [f"f{j}" for j in range(9)]
    model = make(name).partial_fit(pd.DataFrame(X, columns=columns[:7]), Y)
    before = to_bytes(model)
    model.partial_fit(pd.DataFrame(WIDER, columns=columns), Y, sample_weight=np.zeros(len(Y)))
    assert to_bytes(model) == before


@each
def test_zero_weight_event_teaches_no_label(name):
    model = make(name).partial_fit(X[:3], [1, 1, 1])
    before = to_bytes(model)
    model.partial_fit(X[:1], [-1], sample_weight=[0.0]).learn_one(X[0], -1, weight=0)
    assert to_bytes(model) == before


@each
def test_zero_weight_event_does_not_begin_a_model(name):
    model = make(name, "auto")
    model.learn_one(X[0], 1, weight=0).partial_fit(X, Y, sample_weight=np.zeros(len(Y)))
    want = make(name, "auto").partial_fit(csr(X), Y)
    assert to_bytes(model.partial_fit(csr(X), Y)) == to_bytes(want)


@each
def test_weights_matter_or_are_refused(name):
    weights = np.where(np.arange(len(Y)) % 2, 3.0, 0.5)
    if name in FULL_STEP:
        with pytest.raises(ValueError, match="full step"):
            make(name).fit(X, Y, sample_weight=weights)
        with pytest.raises(ValueError, match="full step"):
            make(name).learn_one(X[0], 1, weight=2.0)
    else:
        model = make(name, "none").fit(X, Y, sample_weight=weights)
        assert numbers(model) != numbers(make(name, "none").fit(X, Y))


@each
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_impossible_weight_is_an_error_and_leaves_model_unchanged(name, weight):
    model = learned(name)
    before = to_bytes(model)
    weights = np.ones(len(Y))
    weights[-1] = weight
    for method in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="weight"):
            method(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match="weight"):
        model.learn_one(X[0], 1, weight=weight)
    assert to_bytes(model) == before


# Forms of input ------------------------------------------------------------------------------


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


# Changing parameters, predicting, threads ----------------------------------------------------


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
def test_threads_with_models_of_their_own_give_the_same_bits(name):
    want = to_bytes(learned(name, "standard"))
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(lambda _: learned(name, "standard"), range(8)))
    assert all(to_bytes(model) == want for model in models)


@each
def test_threads_with_one_model_learn_every_row(name):
    model = make(name).partial_fit(X[:1], Y[:1])

    def work(k):
        if k % 2:
            model.partial_fit(X, Y)
        else:
            for x, y in zip(X, Y, strict=True):
                model.learn_one(x, y)
        model.decision_function(X)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(20)))
    assert met(model) == 1 + 20 * len(Y)
    assert np.isfinite(model.decision_function(X)).all()


@each
def test_threads_that_begin_a_model_together_learn_every_row(name):
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            model = make(name)
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda _, m=model: m.partial_fit(X, Y), range(8)))
            assert met(model) == 8 * len(Y)
    finally:
        sys.setswitchinterval(usual)
