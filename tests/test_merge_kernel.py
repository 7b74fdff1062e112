"""Merged kernel learners: the average of the functions, in lists of their size."""

from __future__ import annotations

import numpy as np
import pytest
from every_learner import make

import lopsided
from lopsided.errors import InputError
from lopsided.persist import from_bytes, to_bytes

RNG = np.random.default_rng(4)
X = RNG.normal(size=(900, 4))
Y = (X[:, 0] * X[:, 1] > 0.8).astype(int)
PARTS = [slice(0, 200), slice(200, 500), slice(500, 900)]
KOIL = ("KOIL-RS", "KOIL-RS++", "KOIL-FIFO", "KOIL-FIFO++", "KOIL-inf")
NAMES = (*KOIL, "KernelPerceptron", "RBP")
GAMMA = 0.7


def new(name, size=30, gamma=GAMMA):
    sized = name.startswith("KOIL") or name == "RBP"
    params = {"buffer_size": size} if sized and name != "KOIL-inf" else {}
    return make(name, "none", gamma=gamma, **params)


def learned(name, size=30, rows=X):
    return [new(name, size).partial_fit(rows[p], Y[p], classes=[0, 1]) for p in PARTS]


def lists(model):
    """The rows and weights of each list, in its order."""
    state, found = model.fitted.core.state(), {}
    for name in ("negative", "positive", "kept"):
        if f"{name}.slots" in state:
            n, first = state[f"{name}.slots"], state[f"{name}.first"]
            rows = np.reshape(state[f"kept.{name}.values"], (n, -1))
            weights = state[f"kept.{name}.weights"] * state.get("koil.scale", 1)
            order = (np.arange(n) + first) % max(n, 1)
            found[name] = [(tuple(rows[s]), weights[s]) for s in order]
    return found


def kernels(rows, others):
    gaps = np.array(rows)[:, None] - np.array(others)[None]
    return np.exp(-GAMMA * (gaps**2).sum(-1))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("weights", [None, [1, 0.5, 3]])
def test_where_there_is_room_the_functions_are_averaged(name, weights):
    parts = learned(name, size=2000)
    merged = lopsided.merge(parts, weights)
    rows = np.array([200, 300, 400]) * (1 if weights is None else np.array(weights))
    expected = sum(p * m.score_many(X) for p, m in zip(rows / rows.sum(), parts, strict=True))
    np.testing.assert_allclose(merged.score_many(X), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [30, 31])
def test_the_order_of_the_models_does_not_matter(name, size):
    parts = learned(name, size)
    assert to_bytes(lopsided.merge(parts[:1])) == to_bytes(parts[0])
    merged = lopsided.merge(parts)
    assert to_bytes(merged) == to_bytes(lopsided.merge(parts))
    for order in ([2, 0, 1], [2, 1, 0]):
        turned = lopsided.merge([parts[k] for k in order])
        for side, rows in lists(merged).items():
            others = lists(turned)[side]
            assert [row for row, _ in others] == [row for row, _ in rows]
            np.testing.assert_allclose([w for _, w in others], [w for _, w in rows], rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_list_has_its_size_and_rows_of_the_shards(name):
    parts = learned(name)
    merged = lopsided.merge(parts)
    for side, rows in lists(merged).items():
        known = [row for part in parts for row, _ in lists(part)[side]]
        assert {row for row, _ in rows} <= set(known)
        if name not in ("KOIL-inf", "KernelPerceptron"):
            assert len(rows) == 30 < len(known)
        else:
            assert len(rows) == len(known)
    state = merged.fitted.core.state()
    if name in KOIL:
        assert state["negative.seen"] + state["positive.seen"] == len(X)


@pytest.mark.parametrize("name", ["KOIL-RS++", "KOIL-FIFO++"])
def test_dropped_rows_leave_their_weight_to_the_nearest(name):
    parts = learned(name)
    merged = lists(lopsided.merge(parts))
    share = np.array([200, 300, 400]) / 900
    for side, rows in merged.items():
        places = {row: k for k, (row, _) in enumerate(rows)}
        expected = np.zeros(len(rows))
        for p, part in zip(share, parts, strict=True):
            for row, weight in lists(part)[side]:
                near = kernels([row], [kept for kept, _ in rows])[0]
                expected[places.get(row, int(np.argmax(near)))] += p * weight
        np.testing.assert_allclose([weight for _, weight in rows], expected, atol=1e-12)


@pytest.mark.parametrize("name", ["KOIL-RS", "KOIL-FIFO"])
def test_without_heirs_their_weight_is_gone(name):
    parts = learned(name)
    share = np.array([200, 300, 400]) / 900
    for side, rows in lists(lopsided.merge(parts)).items():
        own = {
            row: p * weight
            for p, part in zip(share, parts, strict=True)
            for row, weight in lists(part)[side]
        }
        for row, weight in rows:
            assert weight == pytest.approx(own[row], abs=1e-15)


def test_fifo_keeps_the_latest_of_each_shard_in_turn():
    parts = learned("KOIL-FIFO")
    for side, rows in lists(lopsided.merge(parts)).items():
        expected = [row for part in parts for row, _ in lists(part)[side][-10:]]
        assert {row for row, _ in rows} == set(expected)
        latest = [lists(part)[side][-1][0] for part in parts]
        assert [row for row, _ in rows][-3:] == latest[::-1]


def test_a_reservoir_is_drawn_by_the_rows_that_shards_have_seen():
    counts = np.zeros(3)
    for seed in range(40):
        order = np.random.default_rng(seed).permutation(len(X))
        parts = [
            new("KOIL-RS").set_params(seed=seed).partial_fit(X[order[p]], Y[order[p]])
            for p in PARTS
        ]
        rows = [row for row, _ in lists(lopsided.merge(parts))["negative"]]
        homes = [{row for row, _ in lists(part)["negative"]} for part in parts]
        counts += [sum(row in home for row in rows) for home in homes]
    np.testing.assert_allclose(counts / counts.sum(), np.array([2, 3, 4]) / 9, atol=0.06)


@pytest.mark.parametrize("name", KOIL)
def test_cached_scores_are_those_of_the_merged_function(name):
    merged = lopsided.merge(learned(name))
    kept = lists(merged)
    everything = kept["negative"] + kept["positive"]
    weights = np.array([weight for _, weight in everything])
    state = merged.fitted.core.state()
    for side, rows in kept.items():
        near = kernels([row for row, _ in rows], [row for row, _ in everything])
        np.testing.assert_allclose(state[f"kept.{side}.scores"], near @ weights, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gamma", [GAMMA, "median"])
def test_in_rounds(name, gamma):
    base = new(name, gamma=gamma).partial_fit(X[:300], Y[:300])
    untouched = lopsided.merge(lopsided.split(base, 3), base=base)
    np.testing.assert_allclose(untouched.score_many(X), base.score_many(X), rtol=1e-9, atol=1e-12)
    parts = lopsided.split(base, 3)
    for part, rows in zip(parts, (slice(300, 400), slice(400, 600), slice(600, 900)), strict=True):
        part.partial_fit(X[rows], Y[rows])
    merged = lopsided.merge(parts, base=base)
    assert to_bytes(merged) == to_bytes(lopsided.merge(parts, base=base))
    again = from_bytes(to_bytes(merged))
    for model in (merged, again):
        model.partial_fit(X[:100], Y[:100])
    assert to_bytes(merged) == to_bytes(again)
    assert merged.fitted.core.rounds == 1000
    whole = new(name, gamma=gamma).fit(X, Y)
    several, one = (lopsided.metrics.auc(Y, m.score_many(X)) for m in (merged, whole))
    assert several > one - 0.1


@pytest.mark.parametrize("name", ["KOIL-RS++", "RBP", "KernelPerceptron"])
def test_sparse_rows_give_the_same(name):
    sparse = pytest.importorskip("scipy.sparse")
    wide = np.zeros((len(X), 300))  # more than are stored dense
    wide[:, [3, 50, 120, 299]] = X
    dense = lopsided.merge(learned(name, rows=wide))
    other = lopsided.merge(learned(name, rows=sparse.csr_matrix(wide)))
    assert other.fitted.core.state()["kernel.sparse"] == 1
    found = other.score_many(sparse.csr_matrix(wide))
    np.testing.assert_allclose(found, dense.score_many(wide), rtol=1e-9, atol=1e-12)


def test_ranking_is_that_of_one_pass():
    rows = RNG.permutation(len(X))
    shards = [new("KOIL-RS++", 100).fit(X[rows[k::4]], Y[rows[k::4]]) for k in range(4)]
    whole = new("KOIL-RS++", 100).fit(X[rows], Y[rows])
    merged = lopsided.merge(shards)
    one, several = (lopsided.metrics.auc(Y, m.score_many(X)) for m in (whole, merged))
    assert several > one - 0.03


@pytest.mark.parametrize("name", NAMES)
def test_an_estimated_gamma_must_be_the_same(name):
    parts = [new(name, gamma="median").partial_fit(X[p], Y[p], classes=[0, 1]) for p in PARTS]
    with pytest.raises(InputError, match="give gamma, or start the shards from one model"):
        lopsided.merge(parts)
    few = [new(name, gamma="median").partial_fit(X[p], Y[p], classes=[0, 1]) for p in (slice(9),)]
    with pytest.raises(InputError, match="give gamma"):
        lopsided.merge([*few, *few])


@pytest.mark.parametrize("name", ["NORMA", "Forgetron", "Projectron", "Projectron++"])
def test_others_say_why_they_are_not_merged(name):
    with pytest.raises(InputError, match=r"no merge rule: .{30}"):
        lopsided.merge(learned(name))
