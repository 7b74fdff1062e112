"""Several models in one pass: each is what it would have become alone, to the bit."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import csr, events, stream

import lopsided
from lopsided import progressive, progressive_bank
from lopsided.errors import DivergedError
from lopsided.estimator import bank as _bank
from lopsided.evaluation import progressive as evaluation
from lopsided.persist import to_bytes

RATES = tuple(10.0**k for k in range(-5, 6))
# Catalog name and parameters, and the number in which the models of a bank differ.
BANKS = [
    ("Perceptron", {}, None),
    ("Perceptron", {"class_weight": {-1: 1, 1: 5}}, None),
    ("PA", {}, None),
    ("PA-I", {}, "C"),
    ("PA-II", {"class_weight": "balanced", "loss": "I"}, "C"),
    ("CPA", {"C": 1.0}, "C"),
    ("CPA", {"C": 1.0, "variant": "strict"}, "C"),
    ("CPA", {"C": 1.0, "variant": "max-loss"}, "C"),
    ("PAUM", {}, "learning_rate"),
    ("PAUM", {"bias": True, "weight_mode": "slope"}, "margin_pos"),
    ("COG-I", {}, "learning_rate"),
    ("COG-I", {"weight_mode": "slope"}, "learning_rate"),
    ("COG-II", {"schedule": "sqrt"}, "learning_rate"),
    ("COG-II", {"count_current": True}, "learning_rate"),
    ("AROW-diag", {"weight_state": True}, "regularization"),
    ("AROW-diag", {"class_weight": "balanced"}, "regularization"),
    ("ACOG-II-diag", {}, "learning_rate"),
    ("ACOG-I-diag", {"sigma": "old", "weight_state": True}, "regularization"),
    ("ACOG-II-diag", {"diag_rule": "shared"}, "learning_rate"),
    ("FSOL", {}, "learning_rate"),
    ("FSOL", {"l1_schedule": "inverse"}, "l1"),
    ("FSOL", {"l1_schedule": "inverse_sqrt", "schedule": "sqrt"}, "l1"),
    ("CS-SSOL", {"l1_schedule": "sqrt", "schedule": "sqrt"}, "learning_rate"),
    ("RDA", {"enhancement": 0.01}, "l1"),
    ("CS-FSOL", {}, "learning_rate"),
    ("Ada-RDA", {"offset": 1}, "delta"),
    ("SSOL", {}, "learning_rate"),
    ("SSOL", {"diag_rule": "coordinate"}, "regularization"),
    ("CS-SSOL", {"l1_schedule": "rda"}, "l1"),
]
each = pytest.mark.parametrize(
    ("name", "params", "number"), BANKS, ids=[" ".join(map(str, b)) for b in BANKS]
)


FORMS = {
    "dense": lambda X: X,
    "sparse": csr,
    # Few rows of many features, most of which never come.
    "wide": lambda X: csr(np.kron(X, np.eye(1, 50, 7))),
}


def bank(name, params, number, size=11, **more):
    values = [RATES[k % 11] * (1 + k // 11) for k in range(size)]
    sets = [{} if number is None else {number: value} for value in values]
    return [lopsided.make(name, **{**params, **more, **own}) for own in sets]


def facts(result):
    """All that a pass came to but the time it took; arrays as bytes, to tell all bits apart."""
    if isinstance(result, DivergedError):
        return str(result)
    values = {k: v for k, v in vars(result).items() if k not in ("seconds", "auc", "curve")}
    return {k: v.tobytes() if isinstance(v, np.ndarray) else v for k, v in values.items()}


def alone(models, X, y, **how):
    def run(model):
        try:
            return progressive(model, X, y, **how)
        except DivergedError as error:
            return error

    return [run(model) for model in models]


def together(models, X, y, **how):
    """Run a bank, and see to it that it is one."""
    found = []

    def seen(*args, **kwargs):
        found.append(_bank.learn_together(*args, **kwargs))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "learn_together", seen)
        usual = {"order": None, "sample_weight": None, "resume": False, "points": 15}
        results = evaluation.run_bank(models, X, y, **{**usual, **how})
    assert found[0] is not None
    return results


def check(make, X, y, **how):
    one_by_one, at_once = make(), make()
    expected, got = alone(one_by_one, X, y, **how), together(at_once, X, y, **how)
    assert [facts(r) for r in got] == [facts(r) for r in expected]
    fitted = [model.__sklearn_is_fitted__() for model in one_by_one]
    assert [model.__sklearn_is_fitted__() for model in at_once] == fitted
    for a, b, known in zip(at_once, one_by_one, fitted, strict=True):
        assert not known or to_bytes(a) == to_bytes(b)


@each
@pytest.mark.parametrize("form", FORMS)
def test_bits_of_a_bank_are_those_of_runs_alone(name, params, number, form):
    X, y = stream(5, 90, 37, density=0.4, quirks=("zero rows", "repeats"))
    rng = np.random.default_rng(6)
    weights = None if name in ("PA",) else rng.choice([0, 0.5, 1, 2.5], 90)
    for more in ({}, {"intercept": not params.get("bias"), "scaling": "standard+unit"}):
        how = {"order": rng.permutation(90)[:80], "sample_weight": weights}
        check(lambda more=more: bank(name, params, number, **more), FORMS[form](X), y, **how)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 30])
@pytest.mark.parametrize("name", ["COG-II", "ACOG-II-diag", "SSOL"])
def test_banks_of_any_size(name, size):
    X, y = stream(7, 60, 19)
    for form in FORMS.values():
        check(lambda: bank(name, {}, "learning_rate", size), form(X), y)


def test_a_bank_takes_no_more_than_a_gigabyte_with_the_places_that_stay_empty():
    d, y = 12_000_000, np.array([-1, 1, 1])
    stored = np.ones(d, np.float32), np.arange(d, dtype=np.int32), np.array([0, 1, 2, d])
    X = sp.csr_matrix(stored, (3, d))
    how = {"fresh": True, "order": [0, 1], "every": 0}
    for size, shared in ((4, True), (5, False)):  # of two numbers a feature; 5 take the room of 8
        found = _bank.learn_together(bank("SSOL", {}, "l1", size), X, y, None, **how)
        assert (found is not None) == shared


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["COG-II", "SSOL"])
def test_banks_on_several_threads_have_the_same_bits(name, form, monkeypatch):
    X, y = stream(7, 7000, 20, density=0.7)  # 1.1 MB: enough for threads
    X, weights = FORMS[form](1e3 * X), np.tile([1.0, 0.0, 2.0, 0.5], 1750)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LOPSIDED_THREADS", threads)
        models = bank(name, {"scaling": "none"}, "learning_rate", 40)
        models[17].set_params(learning_rate=1e308)
        results = together(models, X, y, sample_weight=weights)
        fitted = [to_bytes(m) for m in models if m.__sklearn_is_fitted__()]
        found.append(([facts(result) for result in results], fitted))
    assert found[0] == found[1] == found[2]
    assert len(found[0][1]) == 39  # one has left the numbers
    some = bank(name, {"scaling": "none"}, "learning_rate", 40)[25:27]
    assert [facts(r) for r in alone(some, X, y, sample_weight=weights)] == found[0][0][25:27]


def test_a_bad_row_on_several_threads_is_one_error(monkeypatch):
    monkeypatch.setenv("LOPSIDED_THREADS", "3")
    X, y = stream(7, 7000, 20)
    X[6999, 2] = np.inf
    models = bank("COG-II", {}, "learning_rate", 40)
    with pytest.raises(ValueError, match="row 6999: Input X contains inf in column 2"):
        progressive_bank(models, X, y)
    assert not any(model.__sklearn_is_fitted__() for model in models)


@settings(max_examples=60)
@given(
    which=st.sampled_from(BANKS),
    seed=st.integers(0, 2**16),
    rows=st.integers(2, 50),
    d=st.integers(1, 70),
    form=st.sampled_from(list(FORMS)),
    scaling=st.sampled_from(["none", "unit", "standard", "standard+unit"]),
    intercept=st.booleans(),
    resume=st.booleans(),
    size=st.integers(2, 14),
)
def test_bits_of_any_bank(which, seed, rows, d, form, scaling, intercept, resume, size):
    name, params, number = which
    X, y = stream(seed, rows, d, density=0.5, quirks=("zero rows", "magnitudes"))
    y[:2] = -1, 1
    more = {"scaling": scaling, "intercept": intercept and not params.get("bias")}
    how = {"resume": resume, "points": 4}
    check(lambda: bank(name, params, number, size, **more), FORMS[form](X), y, **how)


def test_a_bank_goes_on_as_its_models_would():
    X, y = stream(8, 80)
    apart, banked = (
        bank("ACOG-II-diag", {}, "learning_rate"),
        bank("ACOG-II-diag", {}, "learning_rate"),
    )
    together(banked, X[:50], y[:50])
    for a, b in zip(apart, banked, strict=True):
        progressive(a, X[:50], y[:50])
        a.partial_fit(X[50:], y[50:])
        b.partial_fit(X[50:], y[50:])
        assert to_bytes(a) == to_bytes(b)
        assert a.decision_function(X).tolist() == b.decision_function(X).tolist()


LOOKS = {
    "features": lambda m, X, y: m.n_features_in_,
    "scores": lambda m, X, y: m.decision_function(X).tolist(),
    "score": lambda m, X, y: m.score_one(X[3]),
    "step": lambda m, X, y: m.step_one(X[3], y[3]),
    "more rows": lambda m, X, y: to_bytes(m.partial_fit(X, y)),
    "more columns": lambda m, X, y: to_bytes(m.fit(np.hstack([X, X]), y)),
    "weights": lambda m, X, y: m.coef_.tolist(),
    "another rate": lambda m, X, y: to_bytes(m.set_params(learning_rate=3).partial_fit(X, y)),
    "copy": lambda m, X, y: to_bytes(pickle.loads(pickle.dumps(m))),
    "file": lambda m, X, y: to_bytes(m),
    "bank": lambda m, X, y: facts(progressive_bank([m, lopsided.COG()], X, y, resume=True)[0]),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_a_model_leaves_its_bank_however_it_is_looked_at_first(look):
    X, y = stream(18, 60)
    apart, banked = (bank("COG-II", {}, "learning_rate", 5) for _ in range(2))
    alone(apart, X, y)
    together(banked, X, y)
    while banked:  # one after the other, those that are left know nothing of it
        assert look(banked.pop(1 % len(banked)), X, y) == look(apart.pop(1 % len(apart)), X, y)


@pytest.mark.parametrize("form", FORMS)
def test_scores_that_leave_the_numbers_end_one_model_only(form):
    X, y = stream(9, 60)
    X = FORMS[form](X)
    rates = [1e-3, 1e307, 1.0, 1e308, 0.1]

    def make():
        return [lopsided.COG(scaling="none", learning_rate=r) for r in rates]

    found = together(make(), 1e3 * X, y)
    failed = [isinstance(result, DivergedError) for result in found]
    assert failed == [False, True, False, True, False]
    check(make, 1e3 * X, y)
    with pytest.raises(DivergedError, match=r"models\[1\]: row \d+: the score is not finite"):
        progressive_bank(make(), 1e3 * X, y)


def test_a_bad_row_is_an_error_and_models_stay_as_they_were():
    X, y = stream(10, 30)
    X[20, 3] = np.nan
    models = bank("COG-II", {}, "learning_rate", 3)
    with pytest.raises(ValueError, match="row 20: Input X contains NaN in column 3"):
        progressive_bank(models, X, y)
    assert not any(model.__sklearn_is_fitted__() for model in models)


@pytest.mark.parametrize("order", [None, np.arange(30)[::-1]])
def test_what_the_results_of_a_bank_share_cannot_be_written(order):
    X, y = stream(10, 30)
    weights = np.ones(30)
    models = bank("COG-II", {}, "learning_rate", 3)
    for result in together(models, X, y, order=order, sample_weight=weights):
        for shared in (result.labels, result.weights):
            with pytest.raises(ValueError, match="read-only"):
                shared[0] = 0
        result.scores[0] = 0  # its own
    weights[0] = 2  # as is the caller's


def test_names_of_columns_reach_every_model():
    import pandas as pd

    X, y = stream(11, 30, 3)
    models = bank("COG-II", {}, "learning_rate", 3)
    together(models, pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert all(m.feature_names_in_.tolist() == ["a", "b", "c"] for m in models)


@pytest.mark.parametrize(
    "make",
    [
        lambda: [lopsided.COG(), lopsided.ACOG()],
        lambda: [lopsided.COG(), lopsided.COG(loss="I")],
        lambda: [lopsided.COG(), lopsided.COG(intercept=True)],
        lambda: [lopsided.COG(), lopsided.COG(sensitivity_weight=0.9)],
        lambda: [lopsided.COG(class_weight=None), lopsided.COG(class_weight={-1: 1, 1: 3})],
        lambda: [lopsided.COG(positive=1), lopsided.COG(positive=-1)],
        lambda: [lopsided.ACOG(covariance="full"), lopsided.ACOG(covariance="full")],
        lambda: [lopsided.DualAveraging(target_sparsity=t) for t in (0.5, 0.9)],
        lambda: [lopsided.Active(lopsided.COG(learning_rate=r)) for r in (0.1, 1)],
        lambda: [lopsided.Recommended(), lopsided.Recommended()],
        lambda: [lopsided.ROMMA(), lopsided.ROMMA(aggressive=True)],
        lambda: [lopsided.COG()],
    ],
)
def test_models_that_cannot_share_a_pass_learn_one_after_the_other(make):
    X, y = stream(12, 40)
    one_by_one, at_once = make(), make()
    expected, got = alone(one_by_one, X, y), progressive_bank(at_once, X, y)
    assert [facts(r) for r in got] == [facts(r) for r in expected]
    assert [to_bytes(m) for m in at_once] == [to_bytes(m) for m in one_by_one]


def test_events_and_models_that_go_on_learn_one_after_the_other():
    X, y = stream(13, 40)
    for first, rest in ((events(X[:20]), events(X[20:])), (X[:20], X[20:])):
        apart, banked = bank("FSOL", {}, "l1", 3), bank("FSOL", {}, "l1", 3)
        for rows, labels in ((first, y[:20]), (rest, y[20:])):
            expected = alone(apart, rows, labels, resume=True)
            got = progressive_bank(banked, rows, labels, resume=True)
            assert [facts(r) for r in got] == [facts(r) for r in expected]
        assert [to_bytes(m) for m in banked] == [to_bytes(m) for m in apart]


def test_a_class_with_a_pass_of_its_own_is_not_overlooked():
    class Own(lopsided.COG):
        def pass_over(self, *args, **kwargs):
            return {**super().pass_over(*args, **kwargs), "updates": -1}

    X, y = stream(16, 40)
    results = progressive_bank([Own(learning_rate=0.1), Own(learning_rate=1)], X, y)
    assert [result.updates for result in results] == [-1, -1]


@pytest.mark.parametrize("runs", [{"permutations": 2}, {"folds": 3}, {"order": "time"}])
def test_a_comparison_has_the_same_bits_with_banks_and_without(runs, monkeypatch):
    X, y = stream(17, 120)
    grid = {"learning_rate": [*RATES, 1e308], "regularization": [0.1, 10.0]}
    names = ["Perceptron", "COG-II", "ACOG-I-diag", "SSOL"]
    how = {"grid": grid, "points": 3, **runs}
    banks = lopsided.compare(names, 1e3 * X, y, **how)
    monkeypatch.setattr(evaluation, "learn_together", lambda *args, **kwargs: None)
    singly = lopsided.compare(names, 1e3 * X, y, **how)
    assert sum(np.isnan(run.value) for run in singly.sweep) > 0
    for a, b in zip(banks.sweep, singly.sweep, strict=True):
        assert repr(dataclasses.replace(a, seconds=0)) == repr(dataclasses.replace(b, seconds=0))
        assert a.curve == b.curve


def test_a_comparison_has_banks_of_millions_of_columns(monkeypatch):
    X, y = stream(17, 60)
    X = csr(X)
    X.resize(60, 3_000_000)
    found = []

    def seen(*args, **kwargs):
        found.append(_bank.learn_together(*args, **kwargs))
        return found[-1]

    def run(learn):
        monkeypatch.setattr(evaluation, "learn_together", learn)
        result = lopsided.compare(["COG-II"], X, y, permutations=2, jobs=1)
        return [repr(dataclasses.replace(run, seconds=0)) for run in result.sweep]

    assert run(seen) == run(lambda *args, **kwargs: None)
    assert [len(results) for results in found] == [11, 11]


def test_the_same_model_twice_is_run_twice():
    X, y = stream(14, 40)
    once, again = lopsided.COG(), lopsided.COG()
    expected = alone([once, once], X, y, resume=True)
    got = progressive_bank([again, again], X, y, resume=True)
    assert [facts(r) for r in got] == [facts(r) for r in expected]


def test_only_estimators_are_run():
    X, y = stream(15, 40)
    with pytest.raises(TypeError, match="must be an estimator"):
        progressive_bank([lopsided.COG(), "COG-II"], X, y)
    assert progressive_bank([], X, y) == []


# What a bank says of its models, before they are taken out of it ----------------------------------


def cores(models):
    return [model.fitted.core for model in models]


@pytest.mark.parametrize("form", FORMS)
@each
def test_a_bank_says_what_each_of_its_models_would_say(name, params, number, form):
    X, y = stream(5, 80, 9)
    learned, held = FORMS[form](X[:60]), FORMS[form](X[60:])
    shrinks = number != "l1" and "l1" in lopsided.make(name).get_params()
    models = bank(name, {"l1": 0.05, **params} if shrinks else params, number)
    progressive_bank(models, learned, y[:60])
    assert _bank._core.score_together(cores(models), _bank.as_batch(held).rows) is not None
    nonzeros = [core.banked_nonzeros for core in cores(models)]
    together = _bank.score_together(models, held)
    assert None not in [core.banked_nonzeros for core in cores(models)]  # none was taken out
    for model, scores, nonzero in zip(models, together, nonzeros, strict=True):
        assert scores.tobytes() == model.score_many(held).tobytes()
        assert nonzero == np.count_nonzero(np.asarray(model.coef_.tolist()))


def test_weights_below_the_clip_do_not_count_and_such_models_speak_for_themselves():
    X, y = stream(5, 80, 9)
    models = bank("FSOL", {"clip": 0.2}, "learning_rate")
    progressive_bank(models, X, y)
    nonzeros = [core.banked_nonzeros for core in cores(models)]
    assert _bank._core.score_together(cores(models), _bank.as_batch(X).rows) is None
    together = _bank.score_together(models, X)
    assert nonzeros == [model.nnz_ for model in models]
    assert any(k < 9 for k in nonzeros)
    for model, scores in zip(models, together, strict=True):
        assert scores.tobytes() == model.score_many(X).tobytes()


def test_models_of_which_one_was_taken_out_are_asked_one_by_one():
    X, y = stream(5, 80, 9)
    models = bank("COG-II", {}, "learning_rate")
    progressive_bank(models, X, y)
    models[3].learn_one(X[0], y[0])
    assert models[3].fitted.core.banked_nonzeros is None
    together = _bank.score_together(models, X)
    for model, scores in zip(models, together, strict=True):
        assert scores.tobytes() == model.score_many(X).tobytes()


def test_a_bad_row_is_named_as_one_model_would_name_it():
    X, y = stream(5, 80, 9)
    models = bank("COG-II", {}, "learning_rate")
    progressive_bank(models, X, y)
    bad = X.copy()
    bad[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"row 7: .* column 2"):
        _bank.score_together(models, bad)
    with pytest.raises(ValueError, match="features"):
        _bank.score_together(models, X[:, :5])
