"""The kernel and AUC learners of the library against those of `reference`, on random streams.

As in `test_oracles`: a stream counts only if no decision of the oracle hangs on rounding.
"""

from __future__ import annotations

import hashlib
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lopsided
from reference import AUC_ORACLES, KERNEL_ORACLES, run
from reference.auc import pairwise_auc
from reference.kernel import MedianGamma
from streams import csr, stream
from test_oracles import NOISE, PROFILE, QUIRKS, TOLERANCE, few, orders, rates, switches, weights
from test_oracles import shaky as shaky_linear

SCALINGS = ("auto", "none", "unit", "standard", "standard+unit")
sizes = st.integers(1, 6)
pairs = sizes | st.tuples(sizes, sizes)
seeds = st.integers(0, 2**32 - 1)
gammas = st.floats(-2, 0.5).map(lambda k: 10.0**k)
kernels = (
    st.fixed_dictionaries({"gamma": gammas})
    | st.fixed_dictionaries(
        {"kernel": st.sampled_from(["gaussian", "laplacian"]), "gamma": gammas | st.just("median")}
    )
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
}


def without_idle_options(name, options):
    """The options, less those that the others rob of their effect, which is an error."""
    if name == "KOIL" and not options["policy"].startswith("rs"):
        options.pop("seed")
    if name == "KOIL" and options["policy"] == "infinite":
        options.pop("scale_C")
    return options


def equal_weights(name, options):
    """Whether the learner refuses weights that differ."""
    return name == "Forgetron" or options.get("plus_plus", False)


def signs(x, z):
    """A number in [-1, 1] that hangs on the two rows alone, so that equal rows stay as near."""
    a, b = sorted((x.tobytes(), z.tobytes()))
    return int.from_bytes(hashlib.blake2b(a + b, digest_size=6).digest(), "big") / 2**47 - 1


def shaky(oracle, noise):
    """The same learner with a kernel that is wrong by what rounding may make of its parts."""
    oracle = getattr(oracle, "learner", oracle)

    class Shaky(type(oracle)):
        @property
        def k(self):
            def wrong(x, z):
                value = self.exact(x, z)
                if np.array_equal(x, z):
                    return value
                size = np.abs(x) + np.abs(z)
                if self.kind in ("linear", "polynomial"):
                    inside = self.gamma if self.kind == "polynomial" else 1.0
                    slope = inside * np.dot(np.abs(x), np.abs(z)) + abs(self.coef0)
                    error = slope * (1 + abs(value))
                else:
                    error = value * (1 + self.gamma * np.sum(size + size**2))
                return value + noise * signs(x, z) * error

            return wrong

        @k.setter
        def k(self, exact):
            self.exact = exact

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
        wrong = shaky_linear if hasattr(one, "coef") else shaky
        if noise or wrong is shaky_linear:
            wrong(one, noise)
        kinds.append(run(one, X, y, **as_pass))
    want, *others = kinds
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
@settings(PROFILE)
@given(data=st.data())
def test_library_equals_its_oracle(name, data):
    draw = data.draw
    options = without_idle_options(name, {k: draw(v, label=k) for k, v in OPTIONS[name].items()})
    kernel = draw(kernels, label="kernel") if name in KERNEL_ORACLES else {}
    if name == "Forgetron":
        assume(kernel.get("kernel") not in ("linear", "polynomial"))
    scaling, sparse = draw(st.sampled_from(SCALINGS), label="scaling"), draw(switches, label="csr")
    seed = draw(seeds, label="seed")
    rows, d = draw(st.integers(1, 70), label="rows"), draw(st.integers(1, 8), label="d")
    quirks = draw(st.sets(st.sampled_from(QUIRKS)), label="quirks")
    X, y = stream(seed, rows, d, density=draw(st.sampled_from([0.3, 1.0])), quirks=quirks)
    rng = np.random.default_rng(seed)
    order = draw(orders(rng, rows), label="order")
    weight = draw(weights(rng, rows, equal_weights(name, options)), label="weights")
    if order is not None and weight is not None:
        weight[order[-1]] = 2.5

    def oracle():
        if kernel.get("gamma") == "median":
            known = {k: v for k, v in kernel.items() if k != "gamma"}
            return MedianGamma(KERNEL_ORACLES[name](**options, **known))
        return (KERNEL_ORACLES | AUC_ORACLES)[name](**options, **kernel)

    auto = "unit" if sparse else "standard" if name in KERNEL_ORACLES else "standard+unit"
    as_pass = {
        "weights": weight,
        "scaling": auto if scaling == "auto" else scaling,
        "centred": not sparse,
        "order": order,
    }
    want = steady(oracle, X, y, as_pass)
    model = getattr(lopsided, name)(scaling=scaling, **options, **kernel)
    given = csr if sparse else np.asarray
    progress = lopsided.progressive(model, given(X), y, order=order, sample_weight=weight)
    np.testing.assert_allclose(progress.scores, want.scores, **TOLERANCE)
    assert progress.updates == want.updates
    for attribute, value in shown(want).items():
        np.testing.assert_allclose(
            dense(getattr(model, attribute)), value, **TOLERANCE, err_msg=attribute
        )
    ours = model.decision_function(given(X[:3]))
    np.testing.assert_allclose(ours, want.decision(few(X)), **TOLERANCE)


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
