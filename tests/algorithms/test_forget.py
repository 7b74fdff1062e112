"""forget=: the half-life of what a learner has accumulated."""

from __future__ import annotations

import numpy as np
import pytest
from streams import csr, events, stream

import lopsided
from lopsided import ACOG, AROW, COG, OPAUC, Active, AdaFOBOS, progressive
from lopsided.estimator.bank import learn_together
from lopsided.estimator.parameters import FORGETTING
from lopsided.persist import from_bytes, to_bytes
from reference import AUC_ORACLES, ORACLES
from reference.forget import run_forgetting

X, Y = stream(seed=5, rows=200, d=6, quirks=("offset", "zero rows"))
LEARNERS = {
    "AROW": (AROW(class_weight="balanced"), {}),
    "ACOG": (ACOG(learning_rate=0.5), {"learning_rate": 0.5}),
    "ACOG shared": (
        ACOG(learning_rate=0.5, diag_rule="shared", sigma="old"),
        {"learning_rate": 0.5, "diag_rule": "shared", "sigma": "old"},
    ),
    "AdaFOBOS": (AdaFOBOS(l1=0.01, class_weight="balanced"), {"l1": 0.01, "delta": 1.0}),
    "OPAUC": (OPAUC(learning_rate=0.05), {"learning_rate": 0.05}),
}
DENSE = ("none", "unit", "standard", "standard+unit")


def made(name, **parameters):
    model = LEARNERS[name][0]
    return type(model)(**{**model.get_params(), "forget": 16, **parameters})


@pytest.mark.parametrize("scaling", DENSE)
@pytest.mark.parametrize("name", LEARNERS)
def test_library_equals_its_oracle(name, scaling):
    weights = np.where(np.arange(len(Y)) % 7, 1.0, 0.0)
    kind = name.partition(" ")[0]
    oracle = (ORACLES | AUC_ORACLES)[kind](**LEARNERS[name][1])
    for form in (np.asarray, csr):
        model = made(name, scaling=scaling)
        got = progressive(model, form(X), Y, sample_weight=weights, resume=True)
        want = run_forgetting(
            oracle,
            X,
            Y,
            forget=16,
            balanced=name != "OPAUC",
            scaling=scaling,
            centred=form is np.asarray,
            weights=weights,
        )
        np.testing.assert_allclose(got.scores, want, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(model.coef_, oracle.coef, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
def test_pieces_files_and_single_events_give_the_same_bits(name):
    want, pieces, single = (made(name, scaling="standard") for _ in range(3))
    want.partial_fit(X, Y)
    for k in range(0, len(Y), 7):
        pieces = from_bytes(to_bytes(pieces.partial_fit(X[k : k + 7], Y[k : k + 7])))
    for x, y in zip(X, Y, strict=True):
        single.learn_one(x, y)
    assert np.asarray(pieces.coef_).tobytes() == np.asarray(want.coef_).tobytes()
    assert np.asarray(single.coef_).tobytes() == np.asarray(want.coef_).tobytes()


@pytest.mark.parametrize("name", LEARNERS)
def test_a_half_life_longer_than_the_stream_changes_nothing(name):
    plain, long = made(name, forget=None).fit(X, Y), made(name, forget=len(Y) + 1).fit(X, Y)
    assert np.asarray(plain.coef_).tobytes() == np.asarray(long.coef_).tobytes()
    assert not np.allclose(made(name).fit(X, Y).coef_, plain.coef_)


def test_a_change_is_followed():
    x, y = stream(seed=1, rows=4000, d=6)
    y[2000:] *= -1
    for name in LEARNERS:
        found = [progressive(made(name, forget=f), x, y) for f in (None, 100)]
        late = [np.mean((p.scores[2500:] > 0) == (y[2500:] > 0)) for p in found]
        assert late[1] > late[0]


def test_late_labels_fade_by_the_number_that_came():
    asked = Active(made("AROW"), query="always")
    told = made("AROW").partial_fit(events(X), Y)
    for x in events(X):
        asked.ask(x)
    for k, y in enumerate(Y):
        asked.tell(k, y)
    # Running statistics fade at other moments, so only unscaled rows give the same model.
    assert asked.coef_.tolist() != told.coef_.tolist()
    asked, told = Active(made("AROW", scaling="none"), query="always"), made("AROW", scaling="none")
    for k, (x, y) in enumerate(zip(events(X), Y, strict=True)):
        asked.ask(x)
        asked.tell(k, y)
        told.learn_one(x, y)
    assert asked.coef_.tolist() == told.coef_.tolist()


def test_models_that_forget_are_merged():
    parts = [made("AROW").partial_fit(X[k::2], Y[k::2]) for k in range(2)]
    merged = lopsided.merge(parts)
    assert merged.forget == 16
    assert np.all(np.isfinite(merged.partial_fit(X, Y).coef_))


def test_models_that_forget_learn_one_by_one():
    pair = [AROW(regularization=r, forget=16) for r in (1.0, 2.0)]
    options = {"fresh": True, "order": None, "every": 0}
    assert learn_together(pair, X, Y, None, **options) is None
    pair = [AROW(regularization=r) for r in (1.0, 2.0)]
    assert learn_together(pair, X, Y, None, **options) is not None


def test_who_has_it():
    having = {
        type(entry.make()).__name__
        for entry in map(lopsided.catalog.find, lopsided.learners())
        if "forget" in entry.make().get_params()
    }
    assert having == set(FORGETTING)
    with pytest.raises(TypeError, match="COG has no parameter 'forget': ACOG, AROW"):
        COG(forget=100)
    with pytest.raises(TypeError, match="no parameter 'forget': ACOG, AROW"):
        Active(COG()).set_params(forget=100)
    for covariance in ("full", "sketch"):
        with pytest.raises(ValueError, match="forget has an effect only with covariance='diag"):
            ACOG(covariance=covariance, forget=100).fit(X, Y)
    with pytest.raises(ValueError, match="forget"):
        AROW(forget=0).fit(X, Y)
