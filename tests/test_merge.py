"""Merged models against oracles, and what every merge must keep."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from every_learner import NAMES, asks, make

import lopsided
from lopsided.errors import InputError, InputTypeError, ParameterError
from lopsided.estimator.schema import Schema
from lopsided.persist import from_bytes, to_bytes
from reference import merge as oracle

KERNEL = {name for name in NAMES if not asks(name) and hasattr(make(name), "gamma")}
MERGED = [  # see test_merge_kernel
    name for name in NAMES if not asks(name) and name not in KERNEL and name != "OPAUCr"
]
each = pytest.mark.parametrize("name", MERGED)
K = 3


def stream(rows=900, d=5, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, d)) * 10.0 ** rng.integers(-1, 3, d) + rng.normal(size=d)
    X[:, -1] = rng.integers(0, 2, rows)  # an indicator
    return X, (X @ rng.normal(size=d) / X.std(0).sum() + 0.2 * rng.normal(size=rows) > 0.5).astype(
        int
    )


X, Y = stream()
PARTS = [slice(0, 200), slice(200, 500), slice(500, 900)]


def state_of(model):
    return model.fitted.core.state()


def learned(name, scaling="standard+unit", **params):
    return [make(name, scaling, **params).partial_fit(X[p], Y[p], classes=[0, 1]) for p in PARTS]


def in_a_round(name, scaling="standard+unit", **params):
    """A base, and its shards after they have learned more."""
    base = make(name, scaling, **params).partial_fit(X[:300], Y[:300])
    parts = lopsided.split(base, K)
    for part, rows in zip(parts, (slice(300, 400), slice(400, 600), slice(600, 900)), strict=True):
        part.partial_fit(X[rows], Y[rows])
    return base, parts


def setups(name, **params):
    """Yield merged, base and parts, as states: from nothing, in a round, and with weights."""
    parts = learned(name, **params)
    empty = make(name, "standard+unit", **params).partial_fit(X[:1], Y[:1], classes=[0, 1])
    empty = empty.restarted(empty.labels)
    empty.fitted.core.restore(X.shape[1], grown(empty), [])
    for weights in (None, [1, 0.5, 3]):
        merged = lopsided.merge(parts, weights)
        yield state_of(merged), state_of(empty), [state_of(p) for p in parts], weights
    base, parts = in_a_round(name, **params)
    merged = lopsided.merge(parts, base=base)
    yield state_of(merged), state_of(base), [state_of(p) for p in parts], None


def grown(model):
    """The state of a model that has learned nothing but knows how many features there are."""
    state = state_of(model)
    d = X.shape[1]
    start = {"variance": 1.0}
    for name, value in state.items():
        if isinstance(value, np.ndarray) and value.size == 0 and value.dtype == float:
            if name in ("covariance", "negatives.scatter", "positives.scatter"):
                state[name] = np.eye(d) if name == "covariance" else np.zeros((d, d))
            elif value.ndim == 1 and not name.startswith(("kept.", "calibration.")):
                state[name] = np.full(d, start.get(name, 0.0))
    return state


@each
def test_one_model_gives_its_bits(name):
    model = make(name, "standard+unit").fit(X, Y)
    assert to_bytes(lopsided.merge([model])) == to_bytes(model)
    assert to_bytes(lopsided.split(model, 1)[0]) == to_bytes(model)


@each
def test_a_fixed_order_gives_fixed_bits_and_another_one_the_same_up_to_rounding(name):
    parts = learned(name)
    merged = lopsided.merge(parts)
    assert to_bytes(merged) == to_bytes(lopsided.merge(learned(name)))
    turned = lopsided.merge(parts[::-1])
    tolerance = 1e-4 if name.endswith("float32") else 1e-8
    found, expected = turned.score_many(X), merged.score_many(X)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    for entry, value in state_of(merged).items():
        if name.startswith("OAM") and entry.startswith("kept."):  # reservoirs, which are drawn
            np.testing.assert_array_equal(state_of(turned)[entry], value)
    assert state_of(turned)["rounds"] == state_of(merged)["rounds"] == len(X)


@each
def test_shards_that_learned_nothing_give_the_base(name):
    base = make(name, "standard+unit").fit(X, Y)
    merged = lopsided.merge(lopsided.split(base, K), base=base)
    tolerance = 1e-4 if name.endswith("float32") else 1e-7
    if name == "WeightedMajority":  # the price of a miss is that of all counts, not the last one's
        tolerance = 1e-2
    found, expected = merged.score_many(X), base.score_many(X)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    for entry in ("rounds", "updates"):
        assert state_of(merged)[entry] == state_of(base)[entry]


@each
def test_a_merged_model_learns_on_and_is_saved(name):
    base, parts = in_a_round(name)
    merged = lopsided.merge(parts, base=base)
    again = from_bytes(to_bytes(merged))
    for model in (merged, again):
        model.partial_fit(X[:100], Y[:100])
    assert to_bytes(merged) == to_bytes(again)
    assert merged.fitted.core.rounds == 1000
    assert np.isfinite(merged.score_many(X)).all()


# Against the oracles ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["PA-I", "OPAUC", "Recommended"])
def test_counts_and_scaling_are_those_of_the_whole_stream(name):
    base, parts = in_a_round(name)
    for merged in (lopsided.merge(learned(name)), lopsided.merge(parts, base=base)):
        state, whole = state_of(merged), state_of(make(name, "standard+unit").fit(X, Y))
        for entry in ("rounds", "cost.positives", "cost.negatives", "scaling.rows"):
            assert state.get(entry) == whole.get(entry)
        for entry in ("scaling.mean", "scaling.spread"):
            if entry in whole:
                np.testing.assert_allclose(state[entry], whole[entry], rtol=1e-9)
        if name == "Recommended":
            assert state["rows"] == whole["rows"]
            assert state["positives"] == whole["positives"]


def test_uncentred_spreads_are_those_of_the_whole_stream():
    sparse = pytest.importorskip("scipy.sparse")
    parts = [lopsided.COG(scaling="standard").fit(sparse.csr_matrix(X[p]), Y[p]) for p in PARTS]
    whole = lopsided.COG(scaling="standard").fit(sparse.csr_matrix(X), Y)
    found, expected = (state_of(m)["scaling.spread"] for m in (lopsided.merge(parts), whole))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


FIRST_ORDER = ["Perceptron", "PA", "CPA", "COG-I", "PAUM", "OAM-seq"]


@pytest.mark.parametrize("name", FIRST_ORDER)
def test_weights_are_averaged(name):
    for merged, base, parts, weights in setups(name):
        share, _ = oracle.shares(base, parts, weights)
        expected = oracle.averaged([s["weights"] for s in parts], base["weights"], share)
        np.testing.assert_allclose(merged["weights"], expected, rtol=1e-12, atol=1e-15)


def test_a_shard_that_has_not_met_a_feature_says_nothing_about_it():
    """Feature 4 is in the first shard only: its weight is that of the first shard."""
    other = X.copy()
    other[200:, 4] = 0
    for name, entry in (("COG-I", "weights"), ("AROW-diag", "mean")):
        parts = [make(name, "unit").fit(other[p], Y[p]) for p in PARTS]
        first, merged = state_of(parts[0])[entry], state_of(lopsided.merge(parts))[entry]
        assert first[4] != 0
        assert merged[4] == pytest.approx(first[4], rel=1e-12)
        assert merged[0] != pytest.approx(first[0], rel=1e-3)


def test_romma_averages_scaled_directions():
    for merged, base, parts, weights in setups("ROMMA"):
        share, _ = oracle.shares(base, parts, weights)
        w = sum(p * s["scale"] * s["direction"] for p, s in zip(share, parts, strict=True))
        np.testing.assert_allclose(merged["scale"] * merged["direction"], w, rtol=1e-12)
        assert merged["square"] == pytest.approx(w @ w)


@pytest.mark.parametrize("name", ["AROW-diag", "ACOG-II-diag"])
def test_diagonal_covariances(name):
    for merged, base, parts, weights in setups(name):
        share, rate = oracle.shares(base, parts, weights)
        gains = [1 / s["variance"] - 1 for s in parts]
        means = [s["mean"] for s in parts]
        mean, gain = oracle.believed(means, gains, base["mean"], share, rate)
        np.testing.assert_allclose(merged["mean"], mean, rtol=1e-10)
        np.testing.assert_allclose(merged["variance"], 1 / (1 + gain), rtol=1e-10)


@pytest.mark.parametrize(("name", "entry"), [("AROW", "mean"), ("SSOL-full", "dual")])
def test_full_covariances(name, entry):
    for merged, base, parts, weights in setups(name):
        share, rate = oracle.shares(base, parts, weights)
        mean, sigma = oracle.believed_full(
            [s[entry] for s in parts], [s["covariance"] for s in parts], share, rate
        )
        np.testing.assert_allclose(merged[entry], mean, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(merged["covariance"], sigma, rtol=1e-7, atol=1e-12)


def test_precisions_add_up_to_those_of_the_whole_stream():
    """Where every row steps, whatever the weights are, precisions do not depend on the shards."""
    split = learned("SSACOG-II", sketch_size=5)
    merged = lopsided.merge(split)
    whole = make("SSACOG-II", "standard+unit", sketch_size=5).fit(X, Y)
    assert state_of(merged)["sketch.rows"] == state_of(whole)["sketch.rows"]
    base, parts = in_a_round("AROW-diag")
    before = 1 / state_of(base)["variance"] - 1
    for part, start in zip(parts, lopsided.split(base, K), strict=True):
        assert (1 / state_of(part)["variance"] - 1 >= before / K * (1 - 1e-12)).all()
        np.testing.assert_allclose(1 / state_of(start)["variance"] - 1, before / K, rtol=1e-9)


def test_ssol():
    for merged, base, parts, weights in setups("CS-SSOL"):
        share, rate = oracle.shares(base, parts, weights)
        tables = [oracle.table(s, "features", X.shape[1], 2) for s in parts]
        a = [np.where(t[:, 1] == 0, 1, t[:, 1]) for t in tables]
        w = [t[:, 0] * v for t, v in zip(tables, a, strict=True)]
        start = oracle.table(base, "features", X.shape[1], 2)
        before = start[:, 0] * np.where(start[:, 1] == 0, 1, start[:, 1])
        mean, gain = oracle.believed(w, [1 / v - 1 for v in a], before, share, rate)
        found = oracle.table(merged, "features", X.shape[1], 2)
        np.testing.assert_allclose(found[:, 0] * found[:, 1], mean, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(found[:, 1], 1 / (1 + gain), rtol=1e-9)


@pytest.mark.parametrize("beta", ["constant", "sqrt", "linear"])
def test_dual_averaging(beta):
    divisor = {"constant": lambda t: 1, "sqrt": np.sqrt, "linear": float}[beta]
    for merged, base, parts, weights in setups("RDA", beta=beta):
        share, _ = oracle.shares(base, parts, weights)
        t = oracle.total(base, parts, "seen")
        before = oracle.table(base, "features", X.shape[1], 1)
        tables = [oracle.table(s, "features", X.shape[1], 1) for s in parts]
        moved = np.array([p * (v != before) for p, v in zip(share, tables, strict=True)])
        theta = sum(
            p * divisor(t) / divisor(s["seen"]) * v
            for p, s, v in zip(moved, parts, tables, strict=True)
        ) / moved.sum(0)
        found = oracle.table(merged, "features", X.shape[1], 1)
        np.testing.assert_allclose(found, theta, rtol=1e-10, atol=1e-14)
        assert merged["seen"] == t


@pytest.mark.parametrize(("name", "squares"), [("Ada-RDA", 1), ("Ada-FOBOS", 2)])
def test_adaptive_learners_weigh_by_squared_gradients(name, squares):
    for merged, base, parts, weights in setups(name, l1=0.0, delta=0.5):
        share, rate = oracle.shares(base, parts, weights)
        width = 2 * squares
        start = oracle.table(base, "features", X.shape[1], width)
        before = start[:, squares]
        old = start[:, 0] / (0.5 + np.sqrt(start[:, 1])) if squares == 1 else start[:, 0]
        tables = [oracle.table(s, "features", X.shape[1], width) for s in parts]
        root = [0.5 + np.sqrt(t[:, 1]) for t in tables]
        w = [t[:, 0] / r if squares == 1 else t[:, 0] for t, r in zip(tables, root, strict=True)]
        mean, _ = oracle.believed(w, [t[:, squares] - before for t in tables], old, share, rate)
        gain = before + sum(t[:, squares] - before for t in tables)
        found = oracle.table(merged, "features", X.shape[1], width)
        np.testing.assert_allclose(found[:, squares], gain, rtol=1e-10)
        expected = mean * (0.5 + np.sqrt(gain)) if squares == 1 else mean
        np.testing.assert_allclose(found[:, 0], expected, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("name", ["STG", "FOBOS"])
def test_truncated_gradients_settle_what_they_owe(name):
    parts = learned(name, l1=1e-3)
    share = np.array([200, 300, 400]) / 900
    expected = share @ [p.coef_ for p in parts]
    np.testing.assert_allclose(lopsided.merge(parts).coef_, expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", ["RDA", "SSOL", "FOBOS", "Ada-RDA", "SSOL-full"])
def test_a_target_sparsity_holds_after_a_merge(name):
    rng = np.random.default_rng(3)
    wide = rng.normal(size=(600, 40))
    y = (wide[:, 0] > 0.3).astype(int)
    parts = [make(name, "unit", target_sparsity=0.8).fit(wide[k::3], y[k::3]) for k in range(3)]
    weights = lopsided.merge(parts).coef_
    assert 0 < np.count_nonzero(weights) <= 8


def sketch_of(state, dense):
    m = len(state["sketch.energy"])
    outside = np.reshape(state["sketch.outside"], (m, m))
    if dense:
        rows = np.stack([state[f"sketch.direction.{i}"] for i in range(m)])
        return np.hstack([rows, outside]), state["mean"]
    basis = np.reshape(state["sketch.basis"], (m, m))
    z = oracle.table(state, "sketch", X.shape[1], state["sketch.values"].shape[1])
    mean = z[:, 0] + z[:, 1 : m + 1] @ state["sketch.b"]
    return basis @ np.hstack([z[:, 1 : m + 1].T, outside]), mean


@pytest.mark.parametrize("name", ["SACOG-II", "SSACOG-II"])
def test_sketches_keep_the_strongest_directions(name):
    dense = name == "SACOG-II"
    for merged, base, parts, weights in setups(name, sketch_size=3):
        share, rate = oracle.shares(base, parts, weights)
        sketches = [sketch_of(s, dense) for s in parts]
        v, mean = sketch_of(merged, dense)
        np.testing.assert_allclose(v @ v.T, np.eye(3), atol=1e-9)
        known = len(sketch_of(base, dense)[1]) if base["rounds"] else 0
        before = sketch_of(base, dense)[1] if known else np.zeros(X.shape[1])
        expected = oracle.averaged([m for _, m in sketches], before, share)
        np.testing.assert_allclose(mean, expected, rtol=1e-8, atol=1e-12)
        energies = [np.array(s["sketch.energy"]) for s in parts]
        whole = oracle.strongest([v for v, _ in sketches], energies, rate, 3)
        d = X.shape[1]  # the coordinates beyond are turned
        found = v.T @ np.diag(merged["sketch.energy"]) @ v
        np.testing.assert_allclose(found[:d, :d], whole[:d, :d], rtol=1e-6, atol=1e-8)


def test_opauc_has_the_statistics_of_the_whole_stream():
    whole = state_of(make("OPAUC", "none").fit(X, Y))
    base, parts = in_a_round("OPAUC", "none")
    for merged in (lopsided.merge(learned("OPAUC", "none")), lopsided.merge(parts, base=base)):
        state = state_of(merged)
        for side in ("negatives", "positives"):
            for entry in ("weight", "mean", "scatter"):
                found, expected = (s[f"{side}.{entry}"] for s in (state, whole))
                np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-6)


def rows_of(state, side):
    values, out = state[f"kept.{side}"], []
    while len(values):
        size = 2 + int(values[0])
        out.append(tuple(np.round(values[2:size], 9)))
        values = values[size:]
    return out


@pytest.mark.parametrize("buffer", [10, 2000])
def test_reservoirs_are_drawn_from_all_shards(buffer):
    sizes = {"buffer_size": buffer}
    known = {tuple(np.round(np.trim_zeros(x, "b"), 9)) for x in X}
    base, parts = in_a_round("OAM-seq", "none", **sizes)
    for merged in (
        lopsided.merge(learned("OAM-seq", "none", **sizes)),
        lopsided.merge(parts, base=base),
    ):
        state = state_of(merged)
        for side, label in (("negatives", 0), ("positives", 1)):
            rows = rows_of(state, side)
            assert len(set(rows)) == len(rows) == min(buffer, int((label == Y).sum()))
            assert set(rows) <= known
            assert state[f"seen.{side}"] == (label == Y).sum()


PRIORS = np.array([4, 1, 0.25, 1, 1, 1, 1, 0.25])
CAPS = np.array([np.inf, np.inf, np.inf, 3, np.inf, np.inf, 10, np.inf])


def test_recommended_merges_member_by_member():
    for merged, base, parts, weights in setups("Recommended"):
        share, rate = oracle.shares(base, parts, weights)
        tables = [oracle.table(s, "weights", X.shape[1], 16) for s in parts]
        found = oracle.table(merged, "weights", X.shape[1], 16)
        for member in range(8):
            at, gain = member + 4 * (member >= 4), member + 4 * (member >= 4) + 4
            mean, total = oracle.believed(
                [t[:, at] for t in tables],
                [t[:, gain] for t in tables],
                oracle.table(base, "weights", X.shape[1], 16)[:, at],
                share,
                rate,
                PRIORS[member],
            )
            np.testing.assert_allclose(found[:, at], mean, rtol=1e-9, atol=1e-14)
            expected = np.minimum(total, CAPS[member])
            np.testing.assert_allclose(found[:, gain], expected, rtol=1e-9)
        assert merged["positives"] == oracle.total(base, parts, "positives")
        np.testing.assert_allclose(merged["slope"], oracle.average(parts, "slope", share))


def columns_of(state):
    """The feature, mean, spread and knots of each column."""
    values = list(state["kept.columns"])
    n = int(values[0])
    at, out = 1 + n, {}
    for _ in range(n):
        feature, mean, spread, placed, sampled = values[at : at + 5]
        knots = values[at + 5 : at + 5 + int(placed)]
        at += 5 + int(placed) + (0 if sampled == 1024 else int(sampled))
        out[int(feature)] = (mean, spread, np.array(knots))
    return out


def test_curves_of_recommended_have_common_knots():
    long, y = stream(rows=6000, seed=5)
    parts = [make("Recommended", "auto").fit(long[k::3], y[k::3]) for k in range(3)]
    merged = lopsided.merge(parts)
    whole = columns_of(state_of(make("Recommended", "auto").fit(long, y)))
    columns = columns_of(state_of(merged))
    assert set(columns) == set(whole) == set(range(4))
    for feature, (mean, spread, knots) in columns.items():
        assert mean == pytest.approx(whole[feature][0], rel=1e-6, abs=1e-9)
        assert spread == pytest.approx(whole[feature][1], rel=1e-6)
        own = np.sort(np.concatenate([columns_of(state_of(p))[feature][2] for p in parts]))
        assert len(own) == 99
        np.testing.assert_array_equal(knots, own[(np.arange(33) * 98 + 16) // 32])
    # From a base with final knots nothing is interpolated.
    shards = lopsided.split(merged, 2)
    for k, part in enumerate(shards):
        part.partial_fit(long[k::2], y[k::2])
    again = columns_of(state_of(lopsided.merge(shards, base=merged)))
    for feature, (_, _, knots) in columns.items():
        np.testing.assert_array_equal(again[feature][2], knots)


@pytest.mark.parametrize("name", ["Recommended", "COG-II"])
def test_many_rounds_keep_quality_and_probabilities(name):
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(24_000, 3))
    y = (rows[:, 0] ** 2 + rows[:, 1] + rng.normal(size=len(rows)) > 3).astype(int)
    train, test = slice(0, 16_000), slice(16_000, None)
    alone = make(name, "auto").fit(rows[train], y[train])
    model = None
    for k in range(8):
        parts = [make(name, "auto") for _ in range(8)] if k == 0 else lopsided.split(model, 8)
        for shard, part in enumerate(parts):
            own = slice(shard + 8 * k, 16_000, 64)
            part.partial_fit(rows[own], y[own], classes=[0, 1])
        model = lopsided.merge(parts, base=model)
    both = [lopsided.metrics.auc(y[test], m.score_many(rows[test])) for m in (model, alone)]
    assert both[0] > both[1] - 0.02
    probability = model.predict_proba(rows[test])[:, 1]
    assert probability.mean() == pytest.approx(y[test].mean(), rel=0.15)
    scores = (probability - y[test]) ** 2
    assert scores.mean() < ((alone.predict_proba(rows[test])[:, 1] - y[test]) ** 2).mean() + 0.01


def test_weighted_majority_merges_after_its_trial_only():
    parts = learned("WeightedMajority")
    assert np.isfinite(lopsided.merge(parts).score_many(X)).all()
    longer, y = stream(rows=60_000)
    parts[0].partial_fit(longer, y)
    with pytest.raises(InputError, match="trial period"):
        lopsided.merge(parts)


# Names, labels and refusals ---------------------------------------------------------------------


def events(rows, names):
    return [{f"f{j}": row[j] for j in names} for row in rows]


@pytest.mark.parametrize(
    "name", ["COG-I", "AROW-diag", "AROW", "SSOL", "SSACOG-II", "Recommended", "Ada-RDA"]
)
def test_features_are_matched_by_name(name):
    orders = [(0, 1, 2), (2, 1, 0, 3), (4, 0, 3, 1, 2)]
    parts = [
        make(name, "standard+unit").partial_fit(events(X[p], order), Y[p].tolist())
        for p, order in zip(PARTS, orders, strict=True)
    ]
    merged = lopsided.merge(parts)
    assert merged.feature_names_in_.tolist() == ["f0", "f1", "f2", "f3", "f4"]
    known = make(name, "standard+unit")
    aligned = []
    for p, order in zip(PARTS, orders, strict=True):
        rows = events(X[p], range(5))
        aligned.append(
            [{k: (v if int(k[1]) in order else 0.0) for k, v in e.items()} for e in rows]
        )
    same = [
        type(known)(**known.get_params()).partial_fit(rows, Y[p].tolist())
        for rows, p in zip(aligned, PARTS, strict=True)
    ]
    if "SACOG" in name:  # directions begin by the place of a feature
        return
    expected = lopsided.merge(same)
    test = events(X[:50], range(5))
    np.testing.assert_allclose(
        merged.score_many(test), expected.score_many(test), rtol=1e-6, atol=1e-6
    )


def test_a_shard_may_know_one_label_only():
    some = X[Y == 0], np.array(["no"] * int((Y == 0).sum()))
    names = np.array(["no", "yes"])[Y]
    first = lopsided.COG(positive="yes", scaling="unit").partial_fit(*some)
    second = lopsided.COG(positive="yes", scaling="unit").fit(X, names)
    merged = lopsided.merge([first, second])
    assert merged.classes_.tolist() == ["no", "yes"]
    other = lopsided.COG(positive="yes", scaling="unit").fit(X, np.array(["perhaps", "yes"])[Y])
    with pytest.raises(InputError, match=r"different labels.*positive"):
        lopsided.merge([second, other])


def test_sketches_of_the_same_draws_are_refused():
    with pytest.raises(InputError, match=r"no merge rule: the random signs"):
        lopsided.merge(learned("OPAUCr"))


def test_models_that_do_not_fit_are_refused():
    cog = lopsided.COG(scaling="unit").fit(X, Y)
    with pytest.raises(InputError, match="no model"):
        lopsided.merge([])
    with pytest.raises(InputError, match="COG and AROW"):
        lopsided.merge([cog, lopsided.AROW(scaling="unit").fit(X, Y)])
    with pytest.raises(InputError, match=r"learning_rate=.*and learning_rate=7"):
        lopsided.merge([cog, lopsided.COG(scaling="unit", learning_rate=7).fit(X, Y)])
    with pytest.raises(InputTypeError, match="no model"):
        lopsided.merge([cog, "cog"])
    with pytest.raises(InputError, match="belong to one stream"):
        lopsided.merge([lopsided.make("OA3").fit(X, Y)] * 2)
    with pytest.raises(InputError, match="fewer rows than the base"):
        lopsided.merge([lopsided.COG(scaling="unit").fit(X[:9], Y[:9]), cog], base=cog)
    with pytest.raises(InputError, match="sketch_every=1"):
        lopsided.merge(learned("SSACOG-II", sketch_every=2))
    for weights in ([1.0], [1.0, -1.0], [0.0, 0.0], [1.0, np.nan]):
        with pytest.raises(ParameterError, match="weights"):
            lopsided.merge([cog, cog], weights)
    with pytest.raises(ParameterError, match="shards"):
        lopsided.split(cog, 0)


def test_the_schema_is_merged_with_the_models():
    one = Schema(label="y", numbers=("a",), missing="indicate", means={"a": (6.0, 3)})
    two = Schema(label="y", numbers=("a",), categories=("c",), means={"a": (1.0, 1)})
    models = [lopsided.COG().partial_fit(X[k::2], Y[k::2]) for k in range(2)]
    models[0].schema_, models[1].schema_ = one, two
    merged = lopsided.merge(iter(models))
    expected = dataclasses.replace(one, categories=("c",), means={"a": (7.0, 4)})
    assert merged.schema_ == expected
    assert lopsided.merge(models[:1]).schema_ == one
    parts = lopsided.split(merged, 2)
    assert all(part.schema_ == expected for part in parts)
    parts[0].schema_ = dataclasses.replace(expected, means={"a": (9.0, 5)})
    assert lopsided.merge(parts, base=merged).schema_.means == {"a": (9.0, 5)}
    assert lopsided.merge([lopsided.COG().fit(X, Y)] * 2).schema_ is None
