"""The library against the slow and obvious learners of `reference`, on random streams."""

from __future__ import annotations

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
    forms,
    orders,
    rates,
    shaky,
    switches,
    weights,
)
from streams import csr, stream

import lopsided
from lopsided.catalog import CATALOG
from reference import AUC_ORACLES, KERNEL_ORACLES, ORACLES, run

weight_modes = st.sampled_from(["margin", "slope"])
losses = st.sampled_from(["I", "II"])
thresholds = st.sampled_from([0.0, 0.01, 0.1, 1.0]) | st.floats(-4, 1).map(lambda k: 10.0**k)
schedules = st.sampled_from(["constant", "sqrt"])
l1_schedules = st.sampled_from(["constant", "rda", "inverse", "sqrt", "inverse_sqrt"])
covariances = st.sampled_from(["diagonal", "full"])


def without_idle_options(options):
    """The options, less those that the others rob of their effect, which is an error."""
    if options.get("loss") == "II":
        options.pop("weight_mode", None)
    if options.get("covariance") == "full":
        options.pop("diag_rule", None)
    if options.get("variant") == "PA":
        options.pop("C")
    if not options.get("bias", True):
        options.pop("radius")
    if options.get("transductive"):
        options.pop("clip")  # nobody says what it means for a row that is absorbed first
    if options.get("l1_schedule") != "rda":
        options.pop("beta", None), options.pop("enhancement", None)
    return options


SPARSE = {
    "learning_rate": rates,
    "l1": thresholds,
    "clip": st.sampled_from([0.0, 0.0, 0.1]),
}
OPTIONS = {
    "Perceptron": {},
    # A step along rows nearly parallel to w magnifies rounding without bound: eps skips it.
    "ROMMA": {"aggressive": switches, "eps": st.sampled_from([1e-3, 1e-2])},
    "PassiveAggressive": {
        "variant": st.sampled_from(["PA", "PA-I", "PA-II"]),
        "loss": losses,
        "C": rates,
    },
    "PAUM": {
        "learning_rate": rates,
        "margin_pos": st.floats(-1, 3),
        "margin_neg": st.floats(-1, 3),
        "bias": switches,
        "radius": st.none() | rates,
        "weight_mode": weight_modes,
    },
    "CPA": {
        "variant": st.sampled_from(["hinge", "strict", "max-loss"]),
        "C": st.none() | rates,
    },
    "COG": {
        "loss": losses,
        "learning_rate": rates,
        "schedule": schedules,
        "weight_mode": weight_modes,
    },
    "AROW": {"covariance": covariances, "regularization": rates, "weight_state": switches},
    "ACOG": {
        "loss": losses,
        "covariance": covariances,
        "learning_rate": rates,
        "regularization": rates,
        "diag_rule": st.sampled_from(["coordinate", "shared"]),
        "sigma": st.sampled_from(["new", "old"]),
        "weight_mode": weight_modes,
        "weight_state": switches,
    },
    "SACOG": {
        "loss": losses,
        "learning_rate": rates,
        "regularization": rates,
        "sketch_size": st.integers(1, 6),
        "sketch_every": st.sampled_from([1, 1, 2, 5]),
        "sketch_on": st.sampled_from(["always", "loss"]),
        "seed": st.integers(0, 2**32 - 1),
        "weight_mode": weight_modes,
        "weight_state": switches,
    },
    "TruncatedGradient": SPARSE
    | {
        "schedule": schedules,
        "period": st.sampled_from([1, 1, 2, 7]),
        "ceiling": st.none() | rates,
    },
    "AdaFOBOS": SPARSE | {"delta": rates},
    "AdaRDA": SPARSE | {"delta": rates, "offset": st.integers(0, 1)},
    "DualAveraging": SPARSE
    | {
        "schedule": schedules,
        "l1_schedule": l1_schedules,
        "beta": st.sampled_from(["constant", "sqrt", "linear"]),
        "enhancement": thresholds,
    },
    "SSOL": SPARSE
    | {
        "schedule": schedules,
        "l1_schedule": l1_schedules,
        "regularization": rates,
        "covariance": covariances,
        "diag_rule": st.sampled_from(["coordinate", "shared"]),
        "transductive": switches,
    },
}


def test_every_class_of_the_catalog_has_its_oracle():
    classes = {entry.cls.__name__ for entry in CATALOG}
    oracles = ORACLES.keys() | AUC_ORACLES.keys() | KERNEL_ORACLES.keys()
    elsewhere = {"Active", "Recommended", "WeightedMajority"}  # modules of their own
    assert classes == oracles - {"SACOG"} | elsewhere
    assert OPTIONS.keys() == ORACLES.keys()


def cannot_weigh(name, options):
    """Whether the step is always full, so that all weights must be equal."""
    return (
        name == "ROMMA"
        or options.get("variant") == "PA"
        or (name == "CPA" and options.get("C") is None)
    )


@st.composite
def costs(draw, name, options):
    """Parameters of the library and of `run` that say what a mistake costs."""
    full_step = options.get("variant") == "PA" and options["loss"] == "II"
    if name == "ROMMA" or full_step:
        return {}, {}
    needs_costs = name == "PassiveAggressive" and options["loss"] == "I"
    kinds = ["given", "balanced", "balanced"] if needs_costs else ["none", "given", "balanced"]
    kind = draw(st.sampled_from(kinds))
    if kind == "none":
        return {"class_weight": None}, {}
    if kind == "given":
        positive, negative = draw(rates), draw(rates)
        return {"class_weight": {1: positive, -1: negative}}, {"class_weight": positive / negative}
    both = {
        "class_weight": "balanced",
        "sensitivity_weight": draw(st.sampled_from([0.5, 0.2, 0.9])),
        "count_current": draw(switches),
    }
    return both, both


@st.composite
def directions(draw, rng, size, columns):
    """Orthonormal rows over the first columns or all of them, or None."""
    if size > columns or not draw(switches):
        return None
    known = draw(st.integers(size, columns))
    return np.linalg.qr(rng.normal(size=(known, size)))[0].T


def few(X):
    return X[:3].astype(float)


def oracle_pass(oracle, X, y, as_pass):
    """One pass of an oracle over a stream in which no comparison hangs on rounding.

    Errors of both signs are tried: of two opposite ones, one crosses the threshold.
    """
    want, *others = (run(shaky(oracle(), noise), X, y, **as_pass) for noise in (0, NOISE, -NOISE))
    if hasattr(want.oracle, "sketch"):
        assume(want.oracle.sketch.error < NOISE)
    for other in others:
        assume(other.oracle.steps == want.oracle.steps)
        assume(np.array_equal(other.scores >= 0, want.scores >= 0))
        assume(np.allclose(other.scores, want.scores, rtol=1e-7, atol=1e-7, equal_nan=True))
        if hasattr(want.oracle, "l1"):
            assume(np.array_equal(other.oracle.coef == 0, want.oracle.coef == 0))
        ours, theirs = visible(other), visible(want)
        for name in theirs:
            assume(np.allclose(ours[name], theirs[name], rtol=1e-7, atol=1e-7, equal_nan=True))
        assume(np.allclose(other.decision(few(X)), want.decision(few(X)), rtol=1e-7, atol=1e-7))
    return want


def visible(done):
    """What the library shows of its state, by name, from a pass of an oracle."""
    oracle, first = done.oracle, int(done.intercept)
    shown = {
        "coef_": oracle.coef[first:],
        "intercept_": oracle.coef[0] if done.intercept else oracle.b,
    }
    if hasattr(oracle, "sigma"):
        shown["covariance_"] = oracle.sigma
    if hasattr(oracle, "sketch"):
        shown["covariance_"] = np.diag(oracle.sketch.covariance())
        shown["directions_"] = oracle.sketch.directions()
        shown["eigenvalues_"] = oracle.sketch.n * oracle.sketch.lam
    return shown


def agree(model, progress, want):
    """Compare what a pass of the library and one of the oracle leave behind."""
    np.testing.assert_allclose(progress.scores, want.scores, **TOLERANCE)
    np.testing.assert_array_equal(progress.labels, want.labels)
    for name, value in visible(want).items():
        np.testing.assert_allclose(getattr(model, name), value, **TOLERANCE, err_msg=name)
    if hasattr(want.oracle, "l1"):
        zeros = np.asarray(model.coef_) == 0
        np.testing.assert_array_equal(zeros, visible(want)["coef_"] == 0)
    assert progress.updates == want.updates
    assert progress.events == np.sum(want.weights > 0)
    missed = np.sum(want.weights[(want.labels > 0) & (want.scores < 0)])
    alarms = np.sum(want.weights[(want.labels < 0) & (want.scores >= 0)])
    np.testing.assert_allclose(progress.false_negatives, missed)
    np.testing.assert_allclose(progress.false_positives, alarms)


@pytest.mark.parametrize("name", sorted(ORACLES))
@settings(PROFILE)
@given(data=st.data())
def test_library_equals_its_oracle(name, data):
    draw = data.draw
    options = without_idle_options({k: draw(v, label=k) for k, v in OPTIONS[name].items()})
    library, more = draw(st.sampled_from(forms(name)), label="form")
    cost, oracle_cost = draw(costs(name, options), label="costs")
    scaling = draw(st.sampled_from(SCALINGS), label="scaling")
    intercept = draw(st.just(False) if options.get("bias") else switches, label="intercept")
    sparse, known_counts = draw(switches, label="sparse"), draw(switches, label="known counts")
    dtype = draw(st.sampled_from([np.float64, np.float64, np.float32]), label="dtype")

    seed = draw(st.integers(0, 2**32 - 1), label="seed")
    rows, d = draw(st.integers(1, 60), label="rows"), draw(st.integers(1, 12), label="d")
    quirks = draw(st.sets(st.sampled_from(QUIRKS)), label="quirks")
    X, y = stream(seed, rows, d, density=draw(st.sampled_from([0.3, 1.0])), quirks=quirks)
    X = X.astype(dtype)
    rng = np.random.default_rng(seed)
    if "sketch_size" in options:
        given = directions(rng, options["sketch_size"], d + intercept)
        options["directions"] = draw(given, label="directions")
    order = draw(orders(rng, rows), label="order")
    weight = draw(weights(rng, rows, cannot_weigh(name, options)), label="weights")
    if order is not None and weight is not None:
        weight[order[-1]] = 2.5

    form = "sparse" if sparse else "dense"
    as_pass = {
        "weights": weight,
        "known_counts": known_counts,
        "scaling": {"dense": "standard+unit", "sparse": "unit"}[form]
        if scaling == "auto"
        else scaling,
        "centred": not sparse,
        "intercept": intercept,
        "order": order,
        **oracle_cost,
    }
    want = oracle_pass(partial(ORACLES[name], **options), X, y, as_pass)

    own = {"scaling": scaling, "intercept": intercept, **cost, **options, **more}
    model = getattr(lopsided, library)(**own)
    progress = lopsided.progressive(
        model,
        csr(X) if sparse else X,
        y,
        order=order,
        sample_weight=weight,
        resume=not known_counts,
    )
    agree(model, progress, want)
    ours = model.decision_function(csr(X[:3]) if sparse else X[:3])
    np.testing.assert_allclose(ours, want.decision(few(X)), **TOLERANCE)


# The streams above are short: these are not, for sums that run and for work that is put off.
LONG = {
    "sketch": ("SACOG", {}),
    "sketch of large rows": ("SACOG", {"regularization": 1e-4}),
    "FOBOS": ("TruncatedGradient", {"l1": 0.03}),
    "STG": ("TruncatedGradient", {"l1": 0.03, "schedule": "sqrt", "period": 7, "ceiling": 0.4}),
    "Ada-FOBOS": ("AdaFOBOS", {"l1": 0.03, "delta": 0.1}),
    "Ada-RDA": ("AdaRDA", {"l1": 0.01, "delta": 0.1}),
    "RDA": ("DualAveraging", {"l1": 0.01, "l1_schedule": "rda", "beta": "sqrt"}),
    "SSOL": ("SSOL", {"l1": 0.1, "l1_schedule": "constant", "regularization": 0.5}),
    "SSOL full": ("SSOL", {"l1": 0.1, "l1_schedule": "constant", "covariance": "full"}),
}


@pytest.mark.parametrize("case", LONG, ids=lambda case: case.replace(" ", "-"))
def test_library_equals_its_oracle_over_a_long_stream(case):
    name, options = LONG[case]
    options = {"learning_rate": 1.0, **options}
    X, y = stream(5, 1000, 40, density=0.15)
    weight = np.random.default_rng(5).uniform(0, 2, size=len(y))
    want = run(
        ORACLES[name](**options), X, y, weights=weight, class_weight="balanced", scaling="unit"
    )
    for library, more in forms(name):
        model = getattr(lopsided, library)(
            scaling="unit", class_weight="balanced", **options, **more
        )
        agree(model, lopsided.progressive(model, csr(X), y, sample_weight=weight), want)
    if hasattr(want.oracle, "l1"):
        assert 0 < np.sum(want.oracle.coef == 0) < 40
