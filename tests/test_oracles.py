"""The library against the slow and obvious learners of `reference`, on random streams.

Whether a learner steps hangs on a comparison, and where the two sides are equal in exact
arithmetic, rounding decides. Such a stream says nothing about the library, so it is not used: a
stream counts only if the oracle itself, with its scores and weights wrong by one part in 10^11,
still takes the same decisions. What must happen at a tie is tested on numbers without rounding.
"""

from __future__ import annotations

import os
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import lopsided
from reference import ORACLES, run
from streams import csr, stream

settings.register_profile(
    "oracles",
    max_examples=150,
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
PROFILE = settings.get_profile("oracles")

SCALINGS = ("auto", "none", "unit", "standard", "standard+unit")
QUIRKS = (
    "zero rows",
    "repeats",
    "zero column",
    "constant column",
    "one class first",
    "magnitudes",
    "offset",
)
NOISE = 1e-11  # against rounding errors of about 1e-15
TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}

rates = st.floats(-2, 2).map(lambda k: 10.0**k)
switches = st.booleans()
weight_modes = st.sampled_from(["margin", "slope"])
losses = st.sampled_from(["I", "II"])
thresholds = st.sampled_from([0.0, 0.01, 0.1, 1.0]) | st.floats(-4, 1).map(lambda k: 10.0**k)
schedules = st.sampled_from(["constant", "sqrt"])
l1_schedules = st.sampled_from(["constant", "rda", "inverse"])
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
        "l1_schedule": l1_schedules,
        "beta": st.sampled_from(["constant", "sqrt", "linear"]),
        "enhancement": thresholds,
    },
    "SSOL": SPARSE
    | {
        "l1_schedule": l1_schedules,
        "regularization": rates,
        "covariance": covariances,
        "diag_rule": st.sampled_from(["coordinate", "shared"]),
        "transductive": switches,
    },
}

# The library's names for the forms of an oracle, where it has not the oracle's own name.
FORMS = {"SACOG": [("ACOG", {"covariance": form}) for form in ("sketch", "dense-sketch")]}


def forms(name):
    return FORMS.get(name, [(name, {})])


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


@st.composite
def weights(draw, rng, rows, equal):
    """Sample weights with zeros among them, or None."""
    kind = draw(st.sampled_from(["none", "random", "zeros"]))
    if kind == "none":
        return None
    values = np.full(rows, 2.5) if equal else rng.uniform(0.1, 3, size=rows)
    if kind == "zeros":
        values[rng.random(rows) < 0.3] = 0.0
        values[rng.integers(rows)] = 2.5
    return values


@st.composite
def orders(draw, rng, rows):
    """Rows to visit: all as they come, a permutation, part of one, or with some twice."""
    kind = draw(st.sampled_from(["as is", "permutation", "part", "again"]))
    if kind == "as is":
        return None
    if kind == "again":
        return rng.integers(rows, size=rows)
    return rng.permutation(rows)[: rows if kind == "permutation" else (rows + 1) // 2]


def shaky(oracle, noise):
    """The same learner with rounding errors of a given size, which notes when it steps.

    A score w . x is off by a part of sum |w_i x_i|, as with any order of summation; a scaled value
    by a part of itself; a new weight or covariance by a part of the old one, as with any way to
    write their difference; the step along a sketch by a part of what the sketch takes away from.
    """
    rng = np.random.default_rng(0)

    class Shaky(type(oracle)):
        def start(self, d):
            super().start(d)
            self.steps = []

        def score(self, x):
            size = np.dot(np.abs(self.w), np.abs(x)) + abs(self.b)
            return super().score(x) + noise * rng.uniform(-1, 1) * size

        def learn(self, x, *event):
            x = x * (1 + noise * rng.uniform(-1, 1, size=x.shape))
            parts = [name for name in self.parts if hasattr(self, name)]
            before = {name: getattr(self, name) for name in parts}
            self.steps.append(super().learn(x, *event))
            for name, old in before.items():
                new = getattr(self, name)
                error = noise * rng.uniform(-1, 1, size=np.shape(old))
                setattr(self, name, new + error * (np.abs(old) + np.abs(new)))
            return self.steps[-1]

        def move(self, g):
            super().move(g)
            error = noise * rng.uniform(-1, 1, size=g.shape)
            self.w = self.w + error * self.learning_rate * np.abs(g)

    oracle.__class__ = Shaky
    return oracle


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


RATE_1 = {"learning_rate": 1.0}
# Learner, options, rho, rows, labels, and which events are stepped on. No number is ever rounded.
TIES = {
    "0 is right for a positive": ("Perceptron", {}, 1, [[1], [2]], [1, 1], [0, 0]),
    "0 is wrong for a negative": ("Perceptron", {}, 1, [[1, 0], [0, 2]], [-1, -1], [1, 1]),
    "ROMMA takes 0 for positive": ("ROMMA", {}, 1, [[1, 0], [0, 1]], [-1, 1], [1, 0]),
    "ROMMA leaves parallel rows alone": ("ROMMA", {}, 1, [[2], [3]], [-1, 1], [1, 0]),
    "aROMMA, margin of 1": ("ROMMA", {"aggressive": True}, 1, [[1, 0], [1, 3]], [1, 1], [1, 0]),
    "PA, margin of 1": ("PassiveAggressive", {"variant": "PA"}, 1, [[2], [2]], [1, 1], [1, 0]),
    "PA-I, margin of 1": ("PassiveAggressive", {"C": 0.5}, 1, [[1], [2]], [-1, -1], [1, 0]),
    "PA-II, margin of 1": (
        "PassiveAggressive",
        {"variant": "PA-II", "C": 0.5},
        1,
        [[1], [2]],
        [1, 1],
        [1, 0],
    ),
    "PAUM steps at its margin": ("PAUM", {}, 2, [[1], [2], [2]], [1, 1, 1], [1, 1, 0]),
    "PAUM steps at a margin of 0": ("PAUM", {"margin_pos": 0}, 2, [[1], [1]], [1, 1], [1, 0]),
    "CPA, margin of 1 at cost 4": ("CPA", {}, 4, [[2], [1]], [1, 1], [1, 0]),
    "CPA strict, 0 is right": ("CPA", {"variant": "strict"}, 4, [[2], [1]], [1, -1], [0, 1]),
    "CPA max-loss, margin of 2": ("CPA", {"variant": "max-loss"}, 4, [[2], [2]], [1, 1], [1, 0]),
    "COG-I, margin of rho": (
        "COG",
        {"loss": "I", "learning_rate": 0.5},
        2,
        [[2], [2], [1]],
        [1, 1, 1],
        [1, 0, 1],
    ),
    "COG-II, margin of 1": ("COG", {"learning_rate": 0.5}, 2, [[1], [1]], [1, 1], [1, 0]),
    "AROW, margin of 1": ("AROW", {}, 1, [[1], [2], [1]], [1, 1, 1], [1, 0, 1]),
    "AROW full, margin of 1": ("AROW", {"covariance": "full"}, 1, [[1], [2]], [1, 1], [1, 0]),
    "ACOG-I, margin of rho": ("ACOG", RATE_1 | {"loss": "I"}, 2, [[1], [4]], [1, 1], [1, 0]),
    "ACOG-II, margin of 1": ("ACOG", RATE_1, 2, [[1], [1]], [1, 1], [1, 0]),
    "ACOG full, margin of 1": (
        "ACOG",
        RATE_1 | {"covariance": "full"},
        2,
        [[1], [1]],
        [1, 1],
        [1, 0],
    ),
    "SACOG, margin of 1": (
        "SACOG",
        {"learning_rate": 1.0, "sketch_size": 1, "directions": np.eye(1)},
        2,
        [[1], [1]],
        [1, 1],
        [1, 0],
    ),
    "FOBOS, margin of 1": ("TruncatedGradient", RATE_1 | {"l1": 0}, 1, [[1], [1]], [1, 1], [1, 0]),
    "FOBOS shrinks to 0": (
        "TruncatedGradient",
        RATE_1 | {"l1": 0.5},
        1,
        [[0.5], [1]],
        [1, 1],
        [1, 1],
    ),
    "STG shrinks at its ceiling": (
        "TruncatedGradient",
        RATE_1 | {"l1": 0.25, "ceiling": 1},
        1,
        [[1], [1]],
        [1, 1],
        [1, 1],
    ),
    "Ada-FOBOS, margin of 1": (
        "AdaFOBOS",
        {"learning_rate": 2, "l1": 0, "delta": 1},
        1,
        [[1], [1]],
        [1, 1],
        [1, 0],
    ),
    "Ada-RDA shrinks to 0": (
        "AdaRDA",
        {"learning_rate": 2, "l1": 1, "delta": 1},
        1,
        [[1], [1]],
        [1, 1],
        [1, 1],
    ),
    "FSOL shrinks to 0, margin of 1": (
        "DualAveraging",
        RATE_1 | {"l1": 1},
        1,
        [[1], [1], [1]],
        [1, 1, 1],
        [1, 1, 0],
    ),
    "SSOL shrinks to 0": ("SSOL", RATE_1 | {"l1": 1}, 1, [[1]], [1], [1]),
}


@pytest.mark.parametrize("case", TIES, ids=lambda case: case.replace(" ", "-"))
def test_ties_are_decided_exactly(case):
    name, options, rho, X, y, steps = TIES[case]
    oracle = shaky(ORACLES[name](**options), 0)
    want = run(oracle, X, y, class_weight=rho)
    cost = {} if rho == 1 else {"class_weight": {1: rho, -1: 1}}
    for rows, (library, more) in product((np.array(X, dtype=float), csr(X)), forms(name)):
        model = getattr(lopsided, library)(scaling="none", **cost, **options, **more)
        progress = lopsided.progressive(model, rows, y, points=len(y))
        updates = np.diff([0, *(point.updates for point in progress.curve)])
        assert updates.tolist() == steps == [bool(step) for step in oracle.steps]
        assert progress.scores.tolist() == want.scores.tolist()
        assert model.coef_.tolist() == oracle.w.tolist()
