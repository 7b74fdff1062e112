"""The kernel and AUC learners of the library against those of `reference`, on random streams.

As in `oracle_streams`: a stream counts only if no decision of the oracle hangs on rounding.
"""

from __future__ import annotations

import hashlib
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle_streams import (
    NOISE,
    PROFILE,
    QUIRKS,
    SCALINGS,
    TOLERANCE,
    orders,
    rates,
    switches,
    weights,
)
from oracle_streams import shaky as shaky_linear
from streams import csr, stream

import lopsided
from reference import AUC_ORACLES, KERNEL_ORACLES, run
from reference.auc import pairwise_auc
from reference.first_order import Linear
from reference.kernel import MedianGamma, SeveralKernels, remembered

sizes = st.integers(1, 6)
pairs = sizes | st.tuples(sizes, sizes)
seeds = st.integers(0, 2**32 - 1)
gammas = st.floats(-2, 0.5).map(lambda k: 10.0**k)
kernels = (
    st.fixed_dictionaries({"gamma": gammas})
    | st.fixed_dictionaries({"kernel": st.just("laplacian"), "gamma": gammas})
    | st.just({"kernel": "linear"})
    | st.fixed_dictionaries(
        {
            "kernel": st.just("polynomial"),
            "gamma": gammas,
            "degree": st.integers(1, 3),
            "coef0": st.sampled_from([0.0, 1.0, 0.3]),
        }
    )
)
decays = st.sampled_from([0.01, 0.1, 0.5])
OPTIONS = {
    "KernelPerceptron": {},
    "NORMA": {
        "learning_rate": decays,
        "regularization": decays,
        "nu": st.none() | st.sampled_from([0.1, 0.5, 1.0]),
        "bias": switches,
        "truncation": st.none() | st.integers(1, 20),
    },
    "RBP": {"buffer_size": sizes, "seed": seeds},
    "Forgetron": {"buffer_size": sizes},
    "Projectron": {
        "tolerance": st.sampled_from([0.1, 0.3, 0.7]),
        "plus_plus": switches,
        "threshold": st.sampled_from(["norm", "squared"]),
    },
    "KOIL": {
        "policy": st.sampled_from(["rs", "rs++", "fifo", "fifo++", "infinite"]),
        "loss": st.sampled_from(["hinge", "squared"]),
        "C": rates,
        "learning_rate": decays,
        "schedule": st.sampled_from(["constant", "sqrt"]),
        "buffer_size": pairs,
        "n_neighbors": st.none() | st.integers(1, 7),
        "neighbors": st.sampled_from(["paper", "code"]),
        "scale_C": switches,
        "seed": seeds,
    },
    "OAM": {
        "variant": st.sampled_from(["seq", "gra"]),
        "C": rates,
        "buffer_size": pairs,
        "factor": st.sampled_from([0.5, 1.0]),
        "seed": seeds,
    },
    "OPAUC": {"learning_rate": decays, "regularization": decays},
    "OPAUCr": {
        "learning_rate": decays,
        "regularization": decays,
        "rank": st.sampled_from([1, 3, 70]),
        "seed": seeds,
    },
}


def without_idle_options(name, options):
    """The options, less those that the others rob of their effect, which is an error."""
    if name == "KOIL" and not options["policy"].startswith("rs"):
        options.pop("seed")
    if name == "KOIL" and options["policy"] == "infinite":
        options.pop("scale_C"), options.pop("buffer_size")
    return options


def equal_weights(name, options):
    """Whether the learner refuses weights that differ."""
    return name == "Forgetron" or options.get("plus_plus", False)


def signs(x, z):
    """A number in [-1, 1] that hangs on the two rows alone, so that equal rows stay as near."""
    a, b = sorted((x.tobytes(), z.tobytes()))
    return int.from_bytes(hashlib.blake2b(a + b, digest_size=6).digest(), "big") / 2**47 - 1


def wrong(oracle, value, x, z, noise):
    """A kernel as rounding of its parts might have it."""
    if np.array_equal(x, z):
        return value
    if oracle.kind in ("linear", "polynomial"):
        inside = oracle.gamma if oracle.kind == "polynomial" else 1.0
        error = (inside * np.dot(np.abs(x), np.abs(z)) + abs(oracle.coef0)) * (1 + abs(value))
    else:
        size = np.abs(x) + np.abs(z)
        error = value * (1 + oracle.gamma * np.sum(size + size**2))
    return value + noise * signs(x, z) * error


def shaky(oracle, noise, scaled):
    """The same learner with a wrong kernel and with rows and sums off by a part of themselves."""
    rng = np.random.default_rng(0)

    class Shaky(type(oracle)):
        def __setattr__(self, name, value):
            if name == "k":
                exact = value
                value = remembered(lambda x, z: wrong(self, exact(x, z), x, z, noise))
            super().__setattr__(name, value)

        def learn(self, x, *event):
            return super().learn(x * (1 + scaled * rng.uniform(-1, 1, size=x.shape)), *event)

        def f(self, x):
            size = sum(abs(one.weight * self.k(one.x, x)) for one in self.kept)
            return super().f(x) + noise * rng.uniform(-1, 1) * size

    oracle.__class__ = Shaky
    return oracle


def shown(done):
    oracle = done.oracle
    if not hasattr(oracle, "kept"):
        return {"coef_": oracle.coef}
    weight = np.array([one.weight for one in oracle.kept])
    found = {"dual_coef_": weight}
    if len(weight):
        found["support_vectors_"] = np.array([one.x for one in oracle.kept])
    return found


def steady(oracle, X, y, as_pass):
    """One pass of an oracle over a stream in which no decision hangs on rounding."""
    kinds = []
    for noise in (0, NOISE, -NOISE):
        one = oracle()
        if isinstance(one, Linear):
            shaky_linear(one, noise)
        else:  # rows that are not scaled are not rounded
            shaky(one, noise, noise * (as_pass["scaling"] != "none"))
        kinds.append(run(one, X, y, **as_pass))
    want, *others = kinds
    assume(all(np.abs(value).max(initial=0) < 1e4 for value in shown(want).values()))  # runs away
    for other in others:
        for name in ("steps", "decided"):
            assume(getattr(other.oracle, name, None) == getattr(want.oracle, name, None))
        assume(np.array_equal(other.scores >= 0, want.scores >= 0))
        assume(np.allclose(other.scores, want.scores, rtol=1e-7, atol=1e-7, equal_nan=True))
        for name, value in shown(want).items():
            assume(np.allclose(shown(other)[name], value, rtol=1e-7, atol=1e-7))
    return want


def dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


@pytest.mark.parametrize("name", sorted(OPTIONS))
@settings(PROFILE, max_examples=50)
@given(data=st.data())
def test_library_equals_its_oracle(name, data):
    draw = data.draw
    options = without_idle_options(name, {k: draw(v, label=k) for k, v in OPTIONS[name].items()})
    kernel = draw(kernels, label="kernel") if name in KERNEL_ORACLES else {}
    if name == "Forgetron":
        assume(kernel.get("kernel") not in ("linear", "polynomial"))
    scaling, sparse = draw(st.sampled_from(SCALINGS), label="scaling"), draw(switches, label="csr")
    seed = draw(seeds, label="seed")
    rows, d = draw(st.integers(1, 40), label="rows"), draw(st.integers(1, 8), label="d")
    quirks = draw(st.sets(st.sampled_from(QUIRKS)), label="quirks")
    X, y = stream(seed, rows, d, density=draw(st.sampled_from([0.3, 1.0])), quirks=quirks)
    rng = np.random.default_rng(seed)
    order = draw(orders(rng, rows), label="order")
    weight = draw(weights(rng, rows, equal_weights(name, options)), label="weights")
    if order is not None and weight is not None:
        weight[order[-1]] = 2.5

    auto = "unit" if sparse else "standard" if name in KERNEL_ORACLES else "standard+unit"
    as_pass = {
        "weights": weight,
        "scaling": auto if scaling == "auto" else scaling,
        "centred": not sparse,
        "order": order,
    }
    oracle = (KERNEL_ORACLES | AUC_ORACLES)[name]
    want = steady(partial(oracle, **options, **kernel), X, y, as_pass)
    model = getattr(lopsided, name)(scaling=scaling, **options, **kernel)
    given = csr if sparse else np.asarray
    progress = lopsided.progressive(model, given(X), y, order=order, sample_weight=weight)
    np.testing.assert_allclose(progress.scores, want.scores, **TOLERANCE)
    assert progress.updates == want.updates
    for attribute, value in shown(want).items():
        np.testing.assert_allclose(
            dense(getattr(model, attribute)), value, **TOLERANCE, err_msg=attribute
        )
    more = rng.normal(size=(3, d))
    ours = model.decision_function(given(more))
    np.testing.assert_allclose(ours, want.decision(more), **TOLERANCE)


# The streams above are short: these fill the buffers many times over.
LONG = {
    "RS": ("KOIL", {"policy": "rs", "C": 10.0, "buffer_size": 20}),
    "RS++": ("KOIL", {"policy": "rs++", "C": 10.0, "buffer_size": 20}),
    "FIFO": ("KOIL", {"policy": "fifo", "C": 10.0, "buffer_size": (30, 10)}),
    "FIFO++": ("KOIL", {"policy": "fifo++", "loss": "squared", "buffer_size": 20}),
    "nearest violators": ("KOIL", {"neighbors": "code", "C": 10.0, "buffer_size": 20}),
    "NORMA": ("NORMA", {"nu": 0.5, "truncation": 50}),
    "RBP": ("RBP", {"buffer_size": 30}),
    "Forgetron": ("Forgetron", {"buffer_size": 30}),
    "Projectron": ("Projectron", {"tolerance": 0.5}),
    "Projectron++": ("Projectron", {"tolerance": 0.5, "plus_plus": True}),
    "OAM-seq": ("OAM", {"buffer_size": 20}),
    "OAM-gra": ("OAM", {"buffer_size": 20, "variant": "gra", "C": 0.01}),
    "OPAUC": ("OPAUC", {}),
    "OPAUCr": ("OPAUCr", {"rank": 4}),
}


@pytest.mark.parametrize("case", LONG, ids=lambda case: case.replace(" ", "-"))
def test_library_equals_its_oracle_over_a_long_stream(case):
    name, options = LONG[case]
    options = {**options, **({"gamma": 0.3} if name in KERNEL_ORACLES else {})}
    X, y = stream(5, 500, 6)
    oracle = partial((KERNEL_ORACLES | AUC_ORACLES)[name], **options)
    want = run(oracle(), X, y, scaling="standard")
    model = getattr(lopsided, name)(scaling="standard", **options)
    progress = lopsided.progressive(model, X, y)
    np.testing.assert_allclose(progress.scores, want.scores, **TOLERANCE)
    assert progress.updates == want.updates
    for attribute, value in shown(want).items():
        np.testing.assert_allclose(dense(getattr(model, attribute)), value, **TOLERANCE)


@pytest.mark.parametrize("policy", ["rs++", "fifo"])
@pytest.mark.parametrize("weighted", [False, True])
def test_several_kernels_vote_as_their_oracle_does(policy, weighted):
    X, y = stream(6, 400, 5)
    weights = np.random.default_rng(2).uniform(0.5, 2, len(y)) if weighted else None
    kernels = [{"gamma": 0.02}, {"kernel": "laplacian", "gamma": 1.0}, {"kernel": "linear"}]
    options = {"policy": policy, "buffer_size": 15, "C": 10.0}
    oracle = SeveralKernels(kernels, **options)
    want = run(oracle, X, y, scaling="standard", weights=weights)
    model = lopsided.KOIL(kernels=kernels, scaling="standard", **options)
    progress = lopsided.progressive(model, X, y, sample_weight=weights)
    np.testing.assert_allclose(progress.scores, want.scores, **TOLERANCE)
    assert progress.updates == want.updates
    more = np.random.default_rng(0).normal(size=(5, 5))
    np.testing.assert_allclose(model.decision_function(more), want.decision(more), **TOLERANCE)
    shares = np.exp(-math.sqrt(8 * math.log(3) / oracle.rounds) * oracle.losses)
    shares /= shares.sum()
    assert max(shares) > 0.4  # the weights are not all alike
    np.testing.assert_allclose([m.weight for m in model.members_], shares, **TOLERANCE)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
@pytest.mark.parametrize("name", sorted(KERNEL_ORACLES))
def test_gamma_of_the_first_rows_equals_that_of_the_oracle(name, kernel):
    X, y = stream(7, 70, 3, quirks=("repeats",))
    options = {"kernel": kernel} | ({"buffer_size": 8} if name in ("KOIL", "RBP") else {})
    want = run(MedianGamma(KERNEL_ORACLES[name](**options)), X, y)
    model = getattr(lopsided, name)(gamma="median", scaling="none", **options)
    np.testing.assert_allclose(lopsided.progressive(model, X, y).scores, want.scores, **TOLERANCE)
    np.testing.assert_allclose(model.dual_coef_, shown(want)["dual_coef_"], **TOLERANCE)
    assert model.gamma_ == pytest.approx(want.oracle.gamma)


def test_steps_of_the_squared_loss_have_a_ceiling():
    X, y = np.array([[0.0], [1.0], [1e4], [-2e4], [3e4], [5e4]]), np.array([1, -1, 1, -1, 1, -1])
    options = {"loss": "squared", "kernel": "linear", "learning_rate": 0.5, "policy": "fifo"}
    want = run(KERNEL_ORACLES["KOIL"](**options), X, y)
    model = lopsided.KOIL(scaling="none", **options)
    np.testing.assert_allclose(lopsided.progressive(model, X, y).scores, want.scores, rtol=1e-12)
    weights = shown(want)["dual_coef_"]
    np.testing.assert_allclose(model.dual_coef_, weights, rtol=1e-12)
    assert 2e6 in np.abs(weights)  # two losses at the ceiling


@settings(PROFILE)
@given(data=st.data())
def test_auc_is_the_share_of_pairs_in_order(data):
    rows = data.draw(st.integers(1, 30))
    scores = np.array(
        data.draw(st.lists(st.integers(-3, 3), min_size=rows, max_size=rows)), dtype=float
    )
    rng = np.random.default_rng(data.draw(seeds))
    y = rng.choice([-1, 1], size=rows)
    weight = data.draw(weights(rng, rows, equal=False))
    want = pairwise_auc(scores, y, weight)
    found = lopsided.metrics.auc(y, scores, sample_weight=weight)
    np.testing.assert_allclose(found, want, rtol=1e-12, equal_nan=True)
