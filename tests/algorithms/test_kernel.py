"""KOIL: what it promises once its lists are full, gamma from the data, several kernels at once."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from click.testing import CliRunner
from streams import chunks, csr, events, growing, stream

import lopsided
from lopsided import KOIL, progressive
from lopsided.cli import main
from lopsided.persist import to_bytes
from reference import kernel as oracles

X, Y = stream(seed=3, rows=160, d=7, quirks=("repeats", "zero rows"))
SMALL = {"gamma": 0.4, "buffer_size": (9, 5), "learning_rate": 0.05}
KERNELS = [{"gamma": 0.3}, {"kernel": "linear"}, {"kernel": "laplacian"}]
MODELS = {
    **{p: {**SMALL, "policy": p} for p in ("rs", "rs++", "fifo", "fifo++")},
    "infinite": {"policy": "infinite", "gamma": 0.4},
    "squared": {**SMALL, "loss": "squared", "neighbors": "code"},
    "scaled C": {**SMALL, "scale_C": True, "n_neighbors": 3},
    "threshold": {**SMALL, "fit_threshold": True},
    "median": {"buffer_size": 9},
    "laplacian": {"kernel": "laplacian", "buffer_size": 9},
    "polynomial": {"kernel": "polynomial", "degree": 2, "gamma": 0.1, "buffer_size": 9},
    "several": {"kernels": KERNELS, "buffer_size": 9, "learning_rate": 0.05},
}
each = pytest.mark.parametrize("params", MODELS.values(), ids=MODELS)


@each
@pytest.mark.parametrize(("scaling", "form"), [("auto", np.asarray), ("none", csr)])
def test_any_chunking_and_any_saving_gives_the_same_bits(params, scaling, form, tmp_path):
    rows = form(X)
    whole = KOIL(scaling=scaling, **params)
    scores = progressive(whole, rows, Y, resume=True).scores
    model, parts = KOIL(scaling=scaling, **params), []
    for part in chunks(len(Y), 1):
        parts.append(progressive(model, rows[part], Y[part], resume=True).scores)
        model.save(tmp_path / "model")
        model = copy.deepcopy(lopsided.load(tmp_path / "model"))
    assert np.concatenate(parts).tobytes() == scores.tobytes()
    # A pair of sizes comes back from a file as a list.
    assert to_bytes(model) == to_bytes(whole) or "buffer_size" in params
    assert model.fitted.core.state().keys() == whole.fitted.core.state().keys()
    for name, value in whole.fitted.core.state().items():
        assert np.array_equal(model.fitted.core.state()[name], value)


@each
def test_dense_equals_sparse_in_every_bit(params):
    ours = progressive(KOIL(scaling="none", **params), X, Y).scores
    theirs = progressive(KOIL(scaling="none", **params), csr(X), Y).scores
    assert ours.tobytes() == theirs.tobytes()


@each
def test_wide_sparse_rows_are_kept_sparse_and_change_nothing(params):
    wide = np.zeros((len(Y), 400))
    wide[:, ::60] = X
    dense, sparse = (KOIL(scaling="none", **params) for _ in range(2))
    scores = progressive(dense, X, Y).scores
    assert progressive(sparse, csr(wide), Y).scores.tobytes() == scores.tobytes()
    np.testing.assert_array_equal(sparse.decision_function(wide), dense.decision_function(X))
    if params.get("kernels") is None:
        assert sparse.support_vectors_.format == "csr"
        np.testing.assert_array_equal(
            sparse.support_vectors_.toarray()[:, ::60], dense.support_vectors_
        )
        np.testing.assert_array_equal(sparse.dual_coef_, dense.dual_coef_)


@each
@pytest.mark.parametrize("scaling", ["unit", "standard"])
def test_growing_features_equal_knowing_them_all(params, scaling):
    wide, y = growing(rows=160)
    want = KOIL(scaling=scaling, **params).partial_fit(csr(wide), y)
    model = KOIL(scaling=scaling, **params)
    for x, label in zip(events(wide), y, strict=True):
        model.learn_one(x, label)
    np.testing.assert_array_equal(
        model.decision_function(events(wide)), want.decision_function(csr(wide))
    )


def test_features_without_a_kept_row_count_in_distances():
    model = KOIL(scaling="none", gamma=1.0).partial_fit([{"a": 0.5}, {"a": 1.0}], [0, 1])
    seen, new = model.score_one({"a": 1.0}), model.score_one({"a": 1.0, "b": 2.0})
    assert seen != 0
    assert new == pytest.approx(seen * np.exp(-4.0), rel=1e-12)


def test_lists_are_as_long_as_they_may_be_and_scores_follow_from_them():
    for policy in ("rs", "rs++", "fifo", "fifo++"):
        model = KOIL(scaling="none", policy=policy, **SMALL).fit(X, Y)
        assert model.n_support_ == (9, 5)
        assert model.support_vectors_.shape == (14, 7)
        gap = ((X[:, None] - model.support_vectors_) ** 2).sum(axis=2)
        want = np.exp(-0.4 * gap) @ model.dual_coef_
        np.testing.assert_allclose(model.decision_function(X), want, rtol=0, atol=1e-12)
    newest = KOIL(scaling="none", policy="fifo", C=1e3, **SMALL).fit(X[Y > 0], [1] * sum(Y > 0))
    assert newest.n_support_ == (0, 5)
    np.testing.assert_array_equal(newest.support_vectors_, X[Y > 0][-5:])


def test_seed_chooses_the_sample():
    one, same, other = (
        KOIL(scaling="none", **SMALL, seed=seed).fit(X, Y).support_vectors_ for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("policy", ["infinite", "rs++"])
def test_more_rows_than_kernels_are_remembered_for(policy):
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(4400, 2)), rng.random(4400) < 0.5
    size = {} if policy == "infinite" else {"buffer_size": 2060, "n_neighbors": 10}
    model = KOIL(scaling="none", policy=policy, gamma=3.0, C=50.0, **size).fit(rows, labels)
    assert sum(model.n_support_) > 4100
    state = model.fitted.core.state()
    scores = [state[f"kept.{side}.scores"] for side in ("negative", "positive")]
    ours = state["koil.scale"] * np.concatenate(scores)
    want = model.decision_function(model.support_vectors_)
    np.testing.assert_allclose(ours, want, rtol=0, atol=1e-9 * np.abs(want).max())


# gamma -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_gamma_is_taken_from_the_first_rows_and_known_from_the_start(kernel):
    for rows in (1, 7, 50, 160):
        model = KOIL(scaling="none", kernel=kernel, buffer_size=9).partial_fit(X[:rows], Y[:rows])
        first = X[: min(rows, 50)]
        power = 2 if kernel == "gaussian" else 1
        gaps = (np.abs(first[:, None] - first) ** power).sum(axis=2)[np.tril_indices(len(first))]
        median = np.median(gaps[gaps > 1e-12]) if (gaps > 1e-12).any() else 1.0
        np.testing.assert_allclose(model.gamma_, 1 / median, rtol=1e-9)
        told = KOIL(scaling="none", kernel=kernel, gamma=model.gamma_, buffer_size=9)
        told.partial_fit(X[:rows], Y[:rows])
        np.testing.assert_array_equal(told.dual_coef_, model.dual_coef_)
        np.testing.assert_array_equal(told.support_vectors_, model.support_vectors_)


# The threshold ---------------------------------------------------------------------------------


def cut(negative, positive):
    """Half-way if they are apart, else the first best of 500 steps from one end to the other."""
    low, high = positive.min(), negative.max()
    if low >= high:
        return low + (high - low) / 2
    cuts = [low + (high - low) * i / 500 for i in range(501)]
    right = [np.sum(positive >= c) + np.sum(negative < c) for c in cuts]
    return cuts[int(np.argmax(right))]


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_threshold_lies_between_the_rows_of_the_lists(C):
    rows, labels = stream(seed=4, rows=160, d=7, density=1)  # no two scores are equal
    params = {**SMALL, "C": C, "scaling": "none"}
    plain, fitted = KOIL(**params), KOIL(**params, fit_threshold=True)
    for end in (12, 40, 160):
        for model in (plain, fitted):
            model.fit(rows[:end], labels[:end])
        assert 0 not in plain.n_support_
        scores = plain.decision_function(plain.support_vectors_)
        negative, positive = np.split(scores, [plain.n_support_[0]])
        shift = plain.decision_function(rows) - fitted.decision_function(rows)
        np.testing.assert_allclose(shift, cut(negative, positive), rtol=0, atol=1e-9)
        np.testing.assert_array_equal(plain.dual_coef_, fitted.dual_coef_)


# Several kernels -------------------------------------------------------------------------------


def rings(seed, rows=1500):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(rows, 3))
    return Z, (Z[:, :2] ** 2).sum(axis=1) < 0.3


def plane(seed, rows=1500):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(rows, 3))
    return Z, Z[:, 0] + 0.5 * Z[:, 1] + 0.5 * rng.normal(size=rows) > 1.5


@pytest.mark.parametrize("problem", [rings, plane])
@pytest.mark.parametrize("seed", [0, 1])
def test_several_kernels_rank_nearly_as_well_as_the_best_of_them(problem, seed):
    kernels = [{"gamma": 0.001}, {"gamma": 0.5}, {"gamma": 100.0}, {"kernel": "linear"}]
    rows, labels = problem(seed)
    test, truth = problem(seed + 100)

    def ranked(model):
        model.fit(rows, labels)
        return lopsided.metrics.auc(truth, model.decision_function(test))

    alone = [ranked(KOIL(**one)) for one in kernels]
    together = KOIL(kernels=kernels)
    assert ranked(together) > max(alone) - 0.02
    assert max(alone) - min(alone) > 0.1
    members = together.members_
    assert sum(m.weight for m in members) == pytest.approx(1)
    assert members[int(np.argmin(alone))].weight < 0.05
    assert min(members, key=lambda m: m.loss) == max(members, key=lambda m: m.weight)


def test_one_kernel_among_several_ranks_as_alone():
    alone, one = KOIL(**SMALL), KOIL(kernels=[{"gamma": 0.4}], **{**SMALL, "gamma": None})
    for model in (alone, one):
        model.fit(X, Y)
    assert one.members_[0].n_support == alone.n_support_ == (9, 5)
    ours, theirs = one.decision_function(X), alone.decision_function(X)
    assert (np.diff(ours[np.argsort(theirs)]) >= 0).all()


def test_what_several_kernels_do_not_have():
    model = KOIL(kernels=KERNELS).fit(X, Y)
    for name in ("coef_", "intercept_", "support_vectors_", "dual_coef_", "gamma_"):
        assert not hasattr(model, name)
    assert not hasattr(KOIL().fit(X, Y), "members_")


# What cannot be --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "what"),
    [
        ({"kernel": "linear", "gamma": 1.0}, "gamma has no effect"),
        ({"degree": 2}, "degree has no effect"),
        ({"kernel": "laplacian", "coef0": 0.0}, "coef0 has no effect"),
        ({"kernel": "polynomial", "gamma": "median"}, "median"),
        ({"gamma": "mean"}, "gamma"),
        ({"gamma": 0.0}, "gamma"),
        ({"kernel": "polynomial", "degree": 1.5}, "degree"),
        ({"kernel": "cosine"}, "kernel"),
        ({"policy": "infinite", "buffer_size": 50}, "buffer_size has no effect"),
        ({"policy": "infinite", "scale_C": True}, "scale_C has no effect"),
        ({"policy": "fifo", "seed": 1}, "seed has no effect"),
        ({"buffer_size": (3, 0)}, "buffer_size"),
        ({"buffer_size": (3, 4, 5)}, "buffer_size"),
        ({"learning_rate": 1.0}, "learning_rate"),
        ({"kernels": []}, "kernels"),
        ({"kernels": [{"kernel": "linear", "width": 3}]}, "kernels"),
        ({"kernels": [{"kernel": "linear", "gamma": 3.0}]}, "gamma has no effect"),
        ({"kernels": KERNELS, "gamma": 1.0}, "gamma has no effect"),
        ({"kernels": KERNELS, "kernel": "linear"}, "kernel has no effect"),
    ],
    ids=str,
)
def test_impossible_parameters(params, what):
    with pytest.raises(ValueError, match=what):
        KOIL(**params).fit(X, Y)


@pytest.mark.parametrize(
    "change",
    [{"policy": "fifo"}, {"buffer_size": 12}, {"seed": 3}, {"gamma": 0.1}, {"kernel": "laplacian"}],
    ids=str,
)
def test_what_it_is_cannot_change_in_mid_stream(change):
    model = KOIL(**SMALL).partial_fit(X[:80], Y[:80]).set_params(**change)
    with pytest.raises(ValueError, match=f"{next(iter(change))} cannot change"):
        model.partial_fit(X[80:], Y[80:])


def test_rows_too_long_for_arithmetic_are_refused_and_leave_the_model_as_it_was():
    for params in ({"kernel": "linear"}, {"gamma": 1.0}, {"kernel": "polynomial", "degree": 9}):
        model = KOIL(scaling="none", **params).partial_fit(X, Y)
        before = to_bytes(model)
        with pytest.raises(ValueError, match="not finite"):
            model.partial_fit(np.full((1, 7), 1e151), [1])
        assert to_bytes(model) == before


def test_inspect_shows_what_is_kept(tmp_path):
    command = ["inspect", str(tmp_path / "model")]
    KOIL(**SMALL).fit(X, Y).save(tmp_path / "model")
    about = json.loads(CliRunner().invoke(main, [*command, "--json"]).output)
    (kernel,) = about["kernels"]
    assert kernel == {"kernel": "gaussian", "gamma": 0.4, "n_support": [9, 5]}
    assert about["weights"] == []
    assert about["nonzero"] is about["intercept"] is None
    assert "with a weight" not in CliRunner().invoke(main, command).output
    KOIL(kernels=KERNELS).fit(X, Y).save(tmp_path / "model")
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("rows kept") == len(KERNELS)


def test_the_same_bits_on_every_machine():  # cpp/tests/kernel.cpp has the same number
    whole = (np.arange(1, 1401, dtype=np.uint64) * 2654435761 % 2**32).reshape(200, 7)
    rows = whole / 2**32 - 0.5
    model = KOIL(gamma=0.5, buffer_size=5, n_neighbors=2, learning_rate=0.05, scaling="none")
    scores = progressive(model, rows, rows[:, 0] + rows[:, 1] > 0.2).scores
    assert scores[-1].hex() == "-0x1.bf5b9e7fbcf42p-5"


@pytest.mark.parametrize("policy", ["rs", "rs++", "fifo", "fifo++", "infinite"])
def test_weights_that_shrink_fast_are_those_of_the_reference(policy):
    params = {"gamma": 0.4, "learning_rate": 0.9, "C": 0.8, "policy": policy}
    if policy != "infinite":
        params["buffer_size"] = 6
    rows, labels = stream(seed=5, rows=130, d=4)
    oracle, want = oracles.KOIL(**params), []
    oracle.start(4)
    for t, (x, y) in enumerate(zip(rows, labels, strict=True), start=1):
        want.append(oracle.score(x))
        oracle.learn(x, y, want[-1], 1.0, 1.0, t)
    model = KOIL(scaling="none", **params)
    np.testing.assert_allclose(progressive(model, rows, labels).scores, want, rtol=0, atol=1e-12)
    weights = [one.weight for one in oracle.kept]
    np.testing.assert_allclose(model.dual_coef_, weights, rtol=0, atol=1e-12)
