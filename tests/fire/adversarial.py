"""Every learner with all its options on the worst of streams, against its oracle in NumPy.

    python tests/fire/adversarial.py [--examples N]

Columns of 1e-323 to 1e150, constant and duplicate ones, one class for long, weights and prices from
1e-12 to 1e12. Scores are finite and those of the oracle, where rounding does not decide, or there
is an error that names the row and leaves the model unchanged.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from oracle_streams import NOISE, SCALINGS, forms, shaky, switches
from streams import csr

import lopsided
from algorithms import test_kernel_oracles as kernel
from algorithms import test_oracles as linear
from lopsided.catalog import CATALOG
from lopsided.errors import LopsidedError
from lopsided.persist import to_bytes
from reference import AUC_ORACLES, KERNEL_ORACLES, ORACLES, run
from reference.scaling import MODES

SIZES = (5e-324, 1e-310, 1e-150, 1e-12, 1.0, 1.0, 1e12, 1e150)
EXTREMES = (1e-12, 1e-3, 1.0, 1e3, 1e12)
NAMES = [entry.name for entry in CATALOG]
EXPLAINED = re.compile(r"row \d+|weight|price|cost", re.IGNORECASE)
met: Counter[str] = Counter()  # what became of the streams


@st.composite
def streams(draw):
    """Rows and labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    rows, d = draw(st.integers(1, 60), label="rows"), draw(st.integers(1, 8), label="d")
    X = rng.normal(size=(rows, d)) * (rng.random((rows, d)) < draw(st.sampled_from([0.4, 1.0])))
    size = draw(st.sampled_from(["one", "columns", "rows"]), label="sizes")
    if size == "one":
        X *= draw(st.sampled_from(SIZES), label="size")
    else:
        X *= rng.choice(SIZES, size=d if size == "columns" else (rows, 1))
    for quirk in draw(st.sets(st.sampled_from(["constant", "twin", "repeats", "zeros"]))):
        if quirk == "constant":
            X[:, rng.integers(d)] = rng.choice(SIZES)
        elif quirk == "twin":
            X[:, rng.integers(d)] = X[:, rng.integers(d)]
        elif quirk == "repeats":
            X[rng.random(rows) < 0.5] = X[0]
        else:
            X[rng.random(rows) < 0.3] = 0.0
    y = np.where(rng.random(rows) < 0.3, 1, -1)
    y[: draw(st.integers(0, rows), label="one class")] = draw(st.sampled_from([-1, 1]))
    return X, y


@st.composite
def weighed(draw, rows, equal):
    """Weights of rows, or None."""
    kind = draw(st.sampled_from(["none", "equal", "any"]), label="weights")
    if kind == "none":
        return None
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    equal = equal or kind == "equal"
    return np.full(rows, rng.choice(EXTREMES)) if equal else rng.choice(EXTREMES, size=rows)


@st.composite
def prices(draw, name, options):
    """What mistakes cost, for the library and for the oracle; often extreme."""
    own, oracle = draw(linear.costs(name, options))
    if isinstance(own.get("class_weight"), dict):
        high, low = draw(st.sampled_from(EXTREMES)), draw(st.sampled_from(EXTREMES))
        return {"class_weight": {1: high, -1: low}}, {"class_weight": high / low}
    return own, oracle


def check_explained(error):
    """Raise unless an error says which row, or what else, it is about."""
    assert EXPLAINED.search(str(error)), str(error)


def learned(model, X, y, weight):
    """Return the scores, None if a row was refused, for a reason that is given."""
    before = to_bytes(model.partial_fit(np.ones((1, X.shape[1])), [1], classes=[-1, 1]))
    try:
        scores = lopsided.progressive(model, X, y, sample_weight=weight, resume=True).scores
    except LopsidedError as error:
        check_explained(error)
        assert to_bytes(model) == before, "the model is changed"
        met[f"refused: {re.sub(r'[^a-z ]+', '', str(error).lower())[:60]}"] += 1
        return None
    assert not np.isinf(scores).any()
    assert not np.isnan(scores[np.ones(len(y)) > 0 if weight is None else weight > 0]).any()
    return scores


def never_nan(name, data):
    """Any learner of the catalog: finite scores, or an error that says why and changes nothing."""
    X, y = data.draw(streams())
    scaling = data.draw(st.sampled_from(SCALINGS), label="scaling")
    sparse = data.draw(switches, label="sparse")
    model = lopsided.make(name, scaling=scaling)
    weight = data.draw(weighed(len(y), name in ("ROMMA", "aROMMA", "PA", "Forgetron")))
    given = csr(X) if sparse else X
    try:
        scores = learned(model, given, y, weight)
    except lopsided.errors.InputError as error:  # weights that a learner does not take
        check_explained(error)
        return
    if scores is None:
        return
    met["finite"] += 1
    assert np.isfinite(model.decision_function(given)).all()
    assert np.isfinite(model.predict_proba(given)).all()


def _agrees(found, want, others):
    """Whether scores are as near as rounding allows, judged by oracles with errors of one kind.

    Weights of 1e12 leave few digits of a covariance, in ways that differ: hence the factor.
    """
    with np.errstate(all="ignore"):
        spread = sum(np.abs(other - want) for other in others)
        allowed = 1000 * spread + 1e-9 * np.abs(want) + 1e-290
    good = np.isnan(want) | (np.abs(found - want) <= allowed)
    assert good.all(), (found[~good], want[~good], allowed[~good])


def _steady(passes):
    """Skip streams on which the oracle overflows, or decides by rounding."""
    want, *others = passes
    for one in passes:
        sizes = one.scores[one.weights > 0]
        assume(np.isfinite(sizes).all())
        assume(np.abs(sizes).max(initial=0) < 1e200)
    for other in others:
        assume(other.oracle.steps == want.oracle.steps)
        assume(np.array_equal(other.scores >= 0, want.scores >= 0))
        assume(np.allclose(other.scores, want.scores, rtol=1e-6, atol=0, equal_nan=True))


def as_oracle(name, data):
    """A linear learner with any options, against its oracle."""
    draw = data.draw
    options = linear.without_idle_options(
        {k: draw(v, label=k) for k, v in linear.OPTIONS[name].items()}
    )
    library, more = draw(st.sampled_from(forms(name)), label="form")
    cost, oracle_cost = draw(prices(name, options), label="costs")
    scaling, sparse = draw(st.sampled_from(MODES), label="scaling"), draw(switches)
    intercept = draw(st.just(False) if options.get("bias") else switches, label="intercept")
    X, y = draw(streams())
    weight = draw(weighed(len(y), linear.cannot_weigh(name, options)))
    model = getattr(lopsided, library)(
        scaling=scaling, intercept=intercept, **cost, **options, **more
    )
    try:
        found = lopsided.progressive(model, csr(X) if sparse else X, y, sample_weight=weight).scores
    except LopsidedError as error:
        check_explained(error)
        return
    assert np.isfinite(found[np.ones(len(y)) > 0 if weight is None else weight > 0]).all()
    as_pass = {"weights": weight, "scaling": scaling, "centred": not sparse, **oracle_cost}
    make = partial(ORACLES[name], **options)
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        passes = [
            run(shaky(make(), noise), off, y, intercept=intercept, **as_pass)
            for noise in (0, NOISE, -NOISE)
            for off in [X * (1 + noise * rng.uniform(-1, 1, size=X.shape))]  # means feel it too
        ]
    _steady(passes)
    met["as the oracle"] += 1
    _agrees(found, passes[0].scores, [other.scores for other in passes[1:]])


def as_kernel_oracle(name, data):
    """A learner with kernels or pairs and any options, against its oracle."""
    draw = data.draw
    options = kernel.without_idle_options(
        name, {k: draw(v, label=k) for k, v in kernel.OPTIONS[name].items()}
    )
    shape = draw(kernel.kernels, label="kernel") if name in KERNEL_ORACLES else {}
    assume(name != "Forgetron" or shape.get("kernel") not in ("linear", "polynomial"))
    scaling, sparse = draw(st.sampled_from(MODES), label="scaling"), draw(switches)
    X, y = draw(streams())
    weight = draw(weighed(len(y), kernel.equal_weights(name, options)))
    model = getattr(lopsided, name)(scaling=scaling, **options, **shape)
    try:
        found = lopsided.progressive(model, csr(X) if sparse else X, y, sample_weight=weight).scores
    except LopsidedError as error:
        check_explained(error)
        return
    assert np.isfinite(found[np.ones(len(y)) > 0 if weight is None else weight > 0]).all()
    as_pass = {"weights": weight, "scaling": scaling, "centred": not sparse, "order": None}
    with np.errstate(all="ignore"):
        make = partial((KERNEL_ORACLES | AUC_ORACLES)[name], **options, **shape)
        want = kernel.steady(make, X, y, as_pass)
    assume(np.isfinite(want.scores[want.weights > 0]).all())
    met["as the oracle"] += 1
    _agrees(found, want.scores, [want.scores * (1 + 1e-9) + 1e-9])


CHECKS = [
    *((never_nan, name) for name in NAMES),
    *((as_oracle, name) for name in sorted(ORACLES)),
    *((as_kernel_oracle, name) for name in sorted(kernel.OPTIONS)),
]


def check(what, name, examples, *, same=True):
    """Run a check on streams that hypothesis makes."""

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=same,
        database=None,
        phases=[Phase.generate],  # a stream that fails is as good as a short one
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run_it(data):
        what(name, data)

    run_it()


def main() -> None:
    """Run all checks for long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=500, help="streams for each learner")
    examples = parser.parse_args().examples
    print("| check | learner | streams | refused | finite | compared with the oracle |")
    print("|---|---|---:|---:|---:|---:|")
    for what, name in CHECKS:
        met.clear()
        check(what, name, examples, same=False)
        refused = sum(n for text, n in met.items() if text.startswith("refused"))
        counts = f"{examples} | {refused} | {met['finite']} | {met['as the oracle']}"
        print(f"| {what.__name__} | {name} | {counts} |", flush=True)


if __name__ == "__main__":
    main()
