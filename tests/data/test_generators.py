"""Made-up streams: the rows do not depend on the blocks, the known best is right."""

import itertools
import tracemalloc
from functools import partial

import numpy as np
import pytest

import lopsided
from lopsided.data import generators
from lopsided.data.generators import fraud, sparse_paper, zipf

DAY = 86400.0


def dense(block):
    x = block.X
    out = np.zeros(x.shape)
    rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    out[rows, x.indices] = x.data
    return out


def columns(stream):
    blocks = list(stream)
    names = ("X", "y", "time", "delay", "truth", "weight", "lines")
    return {name: np.concatenate([getattr(b, name) for b in blocks]) for name in names}


@pytest.mark.parametrize("block_rows", [1, 7, 1000, 1024, 1025, 5000])
def test_rows_do_not_depend_on_the_blocks(block_rows):
    whole = columns(fraud(2500, block_rows=2500))
    parts = columns(fraud(2500, block_rows=block_rows))
    assert all((whole[name] == parts[name]).all() for name in whole)
    stream = fraud(2500, block_rows=block_rows)
    sizes = [len(b.y) for b in stream]
    assert len(sizes) == len(stream)
    assert set(sizes[:-1]) <= {block_rows}
    assert whole["lines"].tolist() == list(range(1, 2501))


@pytest.mark.parametrize("make", [sparse_paper, partial(zipf, features=500, nonzeros=20)])
def test_sparse_rows_do_not_depend_on_the_blocks(make):
    whole = next(iter(make(1500, block_rows=1500)))
    parts = list(make(1500, block_rows=400))
    assert (dense(whole) == np.vstack([dense(b) for b in parts])).all()
    assert (whole.y == np.concatenate([b.y for b in parts])).all()


def test_a_longer_stream_begins_alike_and_a_seed_makes_another():
    short, long = columns(fraud(1500)), columns(fraud(4000))
    assert (short["X"] == long["X"][:1500]).all()
    assert (short["X"] != columns(fraud(1500, seed=1))["X"]).any()


def test_a_stream_can_be_read_twice():
    stream = fraud(100)
    assert (columns(stream)["X"] == columns(stream)["X"]).all()


def test_memory_is_flat():
    def peak(rows):
        tracemalloc.start()
        for _ in sparse_paper(rows, block_rows=500):
            pass
        _, top = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return top

    assert peak(20_000) < 1.2 * peak(4000)


def test_the_sparse_set_is_that_of_the_paper():
    train, test = sparse_paper(4000, seed=5), sparse_paper(2000, seed=5, test=True)
    assert (train.mean == test.mean).all()
    assert (sparse_paper().rows, sparse_paper(test=True).rows) == (100_000, 10_000)
    assert np.abs(train.mean).max() <= 1
    assert 0.5 <= train.variance.min() < 10
    assert 90 < train.variance.max() <= 100
    X = np.vstack([dense(b) for b in train])
    y = np.concatenate([b.y for b in train])
    assert X.shape == (4000, 1000)
    assert (np.where(X[:, :100] @ train.mean >= 0, 1, -1) == y).all()
    assert 0.2 < (y > 0).mean() < 0.95
    assert ((X[:, 100:] != 0).sum(axis=1) == 200).all()
    used = (X[:, 100:] != 0).mean(axis=0)
    assert abs(used - 200 / 900).max() < 0.04
    noise = X[:, 100:][X[:, 100:] != 0]
    assert noise.var() == pytest.approx(100, rel=0.02)
    assert noise.mean() == pytest.approx(0, abs=0.05)
    assert X[:, :100].var(axis=0) == pytest.approx(train.variance, rel=0.15)
    assert abs((X[:, :100].mean(axis=0) - train.mean) / np.sqrt(train.variance / 4000)).max() < 4.5
    assert (next(iter(test)).X.data[:100] != next(iter(train)).X.data[:100]).all()


def test_the_sparse_set_can_be_learned():
    model = lopsided.PassiveAggressive(scaling="none")
    for block in sparse_paper(20_000):
        model.partial_fit(block.X, block.y)
    wrong = [(model.predict(b.X) != b.y).mean() for b in sparse_paper(2000, test=True)]
    assert np.mean(wrong) < 0.25


CASES = [
    {},
    {"noise": (0.2, 0.05), "seed": 1},
    {"drift": 0.0, "separation": 1.0, "noise": (0.0, 0.0), "seed": 2},
    {"rate": 0.2, "drift": 2.0, "period": 3.0, "seed": 3},
]


@pytest.fixture(scope="module", params=CASES, ids=str)
def simulated(request):
    stream = fraud(150_000, block_rows=50_000, **request.param)
    data = columns(stream)
    data["chance"] = 1 / (1 + np.exp(-stream.score(data["X"], data["time"])))
    return stream, data


def assert_near(values, expected, message=""):
    """The sum of independent values is the expected one, within 4.5 standard errors."""
    error = np.sqrt(len(values)) * values.std()
    assert abs(values.sum() - expected) <= 4.5 * error + 1e-9 * abs(expected), message


def test_the_score_is_calibrated(simulated):
    _, data = simulated
    fraud_ = data["truth"] > 0
    assert_near(fraud_ - data["chance"], 0)
    for low, high in itertools.pairwise([0, 0.001, 0.01, 0.1, 0.5, 0.9, 1.01]):
        here = (data["chance"] >= low) & (data["chance"] < high)
        if here.sum() > 100:
            assert_near((fraud_ - data["chance"])[here], 0, f"{low} to {high}")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("truth", [False, True])
@pytest.mark.parametrize("fn", [0.5, 0.9, 0.99])
def test_the_best_cost_is_what_the_best_rule_attains(simulated, fn, truth, weighted):
    stream, data = simulated
    fp = 1 - fn
    lost, wrong = (0, 0) if truth else stream.noise
    chance = (1 - lost) * data["chance"] + wrong * (1 - data["chance"])
    alarm = fn * chance >= fp * (1 - chance)
    weight = data["weight"] if weighted else np.ones(stream.rows)
    positive = data["truth" if truth else "y"] > 0
    best = stream.best(fn, fp, weighted=weighted, truth=truth)
    assert_near(weight * np.where(positive, fn * ~alarm, fp * alarm), best.cost)
    # the same with chances in place of labels, which is sharper
    assert_near(weight * (fn * chance * ~alarm + fp * (1 - chance) * alarm), best.cost)
    assert_near(weight * positive * (alarm - best.sensitivity), 0)
    assert_near(weight * ~positive * (~alarm - best.specificity), 0)


def test_the_best_sum_is_what_the_best_rule_attains(simulated):
    stream, data = simulated
    lost, wrong = stream.noise
    chance = (1 - lost) * data["chance"] + wrong * (1 - data["chance"])
    positive = data["y"] > 0
    best = stream.best_sum()
    share = positive.mean()
    alarm = chance / share >= (1 - chance) / (1 - share)
    got = (alarm[positive].mean() + (~alarm)[~positive].mean()) / 2
    assert got == pytest.approx(best.sum(), abs=4 * 0.5 / np.sqrt(positive.sum()))
    assert best.cost == pytest.approx(1 - best.sum())


def test_no_other_threshold_is_better():
    stream = fraud(1000)
    least = stream.best(0.9, 0.1)
    most = stream.best_sum()
    for fn in np.linspace(0.01, 0.99, 25):
        other = stream.best(fn, 1 - fn)
        *_, p, n = stream._expected(0.5, False, False)
        cost = 1000 * (0.9 * p * (1 - other.sensitivity) + 0.1 * n * (1 - other.specificity))
        assert cost >= least.cost - 1e-9
        assert other.sum() <= most.sum() + 1e-9


def test_with_labels_of_pure_noise_below_the_price_every_event_is_an_alarm():
    best = fraud(1000, noise=(0.2, 0.05)).best(fn=0.99, fp=0.01)
    assert (best.sensitivity, best.specificity) == (1, 0)


def test_the_events_are_as_documented():
    stream = fraud(150_000, per_day=5000, period=30, drift=1.5, delay=(7, 1), noise=(0.1, 0.002))
    data = columns(stream)
    assert len(stream.names) == data["X"].shape[1] == len(set(stream.names))
    assert (np.diff(data["time"]) > 0).all()
    assert data["time"][-1] == pytest.approx(30 * DAY, abs=0.001 * DAY)
    reported, true = data["y"] > 0, data["truth"] > 0
    first, second = true[:75_000].mean(), true[75_000:].mean()
    assert first > 5 * second  # the ratio drifts
    assert (~reported[true]).mean() == pytest.approx(0.1, abs=0.03)
    assert reported[~true].mean() == pytest.approx(0.002, abs=0.0006)
    assert data["delay"][reported].mean() == pytest.approx(7 * DAY, rel=0.1)
    assert data["delay"][~reported].mean() == pytest.approx(DAY, rel=0.1)
    assert (data["delay"] >= 0).all()
    assert (data["weight"] == data["X"][:, 0]).all()
    scale = data["X"].std(axis=0)
    assert scale.max() / scale[scale > 0].min() > 1e6  # mixed scales
    shops = data["X"][:, [n.startswith("shop=") for n in stream.names]]
    assert (shops.sum(axis=1) == 1).all()


def test_days_of_the_stream_are_days_of_a_budget():
    data = columns(fraud(3000, per_day=500))
    model = lopsided.Active("COG-II", query="always", budget="7/day")
    run = lopsided.progressive(model, data["X"], data["y"], time=data["time"])
    assert np.flatnonzero(run.asked).tolist() == [
        500 * day + k for day in range(6) for k in range(7)
    ]


def test_a_learner_comes_near_the_best_and_not_below_it():
    stream = fraud(100_000, noise=(0.02, 0.001))
    data = columns(stream)
    model = lopsided.make("AROW", intercept=True, class_weight="balanced")
    run = lopsided.progressive(model, data["X"], data["y"])
    best = stream.best_sum().sum()
    assert 0.85 < run.sum() < best


@pytest.mark.parametrize(
    "wrong",
    [
        {"rows": 0},
        {"rate": 0.0},
        {"rate": 1.0},
        {"noise": (0.6, 0)},
        {"block_rows": 0},
        {"separation": float("nan")},
        {"delay": (-1.0, 1.0)},
        {"seed": -1},
    ],
)
def test_parameters_out_of_range(wrong):
    with pytest.raises(ValueError, match="is invalid: it must be"):
        fraud(**{"rows": 10, **wrong})


def test_prices_out_of_range():
    stream = generators.fraud(10)
    for fn, fp in ((-1, 1), (0, 0), (float("nan"), 1), (float("inf"), 1)):
        with pytest.raises(ValueError, match="prices"):
            stream.best(fn, fp)
    with pytest.raises(ValueError, match="alpha"):
        stream.best_sum(1.0)
