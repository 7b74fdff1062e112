"""Changes of inputs and probabilities: found where there are some, nowhere else."""

import tracemalloc

import numpy as np
import pytest

from lopsided import Recommended, load
from lopsided.data.block import Block, Dense, Sparse
from lopsided.evaluation.changes import Watch
from lopsided.evaluation.inputs import NEW, Inputs
from lopsided.evaluation.series import SeriesWatch
from lopsided.evaluation.stream import StreamRun

ROWS = 20_000


def noise(seed):
    """Return series without a change: of several shapes, and one that comes and goes."""
    rng = np.random.default_rng(seed)
    comes = np.arange(ROWS) // 700 % 3 == 0
    return np.column_stack(
        [
            rng.normal(size=ROWS),
            np.exp(1.5 * rng.normal(size=ROWS)),
            rng.random(ROWS) < 0.01,
            rng.standard_cauchy(ROWS),
            comes,
            np.ones(ROWS),
        ]
    )


@pytest.mark.parametrize("seed", range(5))
def test_noise_and_what_comes_and_goes_are_no_change(seed):
    assert SeriesWatch().add(list("abcdef"), noise(seed)) == []


@pytest.mark.parametrize("size", [0.2, -0.5, 5.0])
def test_another_mean_is_found_and_told_once(size):
    values = noise(1)
    values[10_000:, 0] += size
    ((at, name, before, after),) = SeriesWatch().add(list("abcdef"), values)
    assert name == "a"
    assert 10_000 < at < 14_000
    assert abs(before) < 0.2
    assert (after - before) / size > 0.4


def test_a_constant_that_changes_is_found():
    values = np.repeat([3.0, 4.0], 10_240)[:, None]
    ((at, _, before, after),) = SeriesWatch().add(["x"], values)
    assert before < 3.1
    assert after == 4.0
    assert at < 13_000


@pytest.mark.parametrize("size", [100, 512, 3_333])
def test_pieces_and_restored_states_find_the_same(size):
    values = noise(2)
    values[10_000:, 2] += 0.05
    values[:900, 1] = np.nan
    whole = SeriesWatch().add(list("abcdef"), values)
    watch, found = SeriesWatch(), []
    for first in range(0, ROWS, size):
        part = watch.add(list("abcdef"), values[first : first + size])
        found += [(first + at, *others) for at, *others in part]
        again = SeriesWatch()
        again.restore(watch.state())
        watch = again
    assert found == whole != []


def test_a_series_that_appears_was_zero_before():
    values = np.zeros((ROWS, 1))
    values[10_000:, 0] = np.random.default_rng(0).random(10_000) < 0.3
    whole = SeriesWatch().add(["share"], values)
    watch = SeriesWatch()
    assert watch.add([], np.zeros((9_999, 0))) == []
    found = [(9_999 + at, *others) for at, *others in watch.add(["share"], values[9_999:])]
    assert [one[:2] for one in found] == [one[:2] for one in whole] != []


def sparse(lists, names=None):
    ends = np.cumsum([0, *map(len, lists)])
    indices = np.array([column for row in lists for column in row], dtype=np.int64)
    wide = int(indices.max()) + 1 if names is None else len(names)
    return Sparse(ends, indices, np.ones(len(indices)), (len(lists), wide), names)


def test_inputs_are_numbers_missing_values_and_new_features():
    inputs = Inputs()
    names = ["amount", "amount=(missing)", "country=DE"]
    found = inputs.values(sparse([[0, 2], [1, 2], [0]], names), np.arange(3))
    assert inputs.names == [NEW, "mean of amount", "share of missing amount"]
    assert found.tolist() == [[1.0, 1.0, 0.0], [0.5, 0.0, 1.0], [0.0, 1.0, 0.0]]
    found = inputs.values(sparse([[3], [0, 3]], [*names, "country=FR"]), np.array([1]))
    assert found.tolist() == [[0.5, 1.0, 0.0]]
    dense = Inputs()
    assert dense.values(Dense(np.eye(2), ["a", "b"]), np.array([1])).tolist() == [[0.0, 1.0]]
    assert dense.names == ["mean of a", "mean of b"]


def test_features_do_not_depend_on_pieces():
    rng = np.random.default_rng(0)
    lists = [sorted(set(rng.zipf(1.5, 4).clip(max=500).tolist())) for _ in range(300)]
    whole = Inputs().values(sparse(lists), np.arange(300))
    inputs, parts = Inputs(), []
    for first in range(0, 300, 7):
        again = Inputs()
        again.restore(inputs.state())
        inputs = again
        some = lists[first : first + 7]
        parts.append(inputs.values(sparse(some), np.arange(len(some))))
    assert np.array_equal(np.concatenate(parts), whole)


def test_events_are_watched_as_their_rows_are():
    events = [
        {"amount": 1, "country": "DE"},
        {"amount": "(missing)", "country": "DE"},
        {"amount": 1.0},
        {"country": "FR", "amount": 0.5, "amount=(missing)": 1.0},
    ]
    inputs = Inputs()
    found = inputs.values(events, np.arange(4))
    assert inputs.names == [NEW, "mean of amount", "share of missing amount"]
    rows = [[1.0, 1.0, 0.0], [0.5, 0.0, 1.0], [0.0, 1.0, 0.0], [1 / 3, 0.5, 1.0]]
    assert found.tolist() == rows
    inputs = Inputs()
    for event, row in zip(events, rows, strict=True):
        again = Inputs()
        again.restore(inputs.state())
        inputs = again
        assert inputs.values([event], np.arange(1))[0].tolist() == row[: len(inputs.names)]
    assert inputs.values(events, np.array([2])).tolist() == [[0.0, 1.0, 0.0]]


def stream(shift):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=ROWS) > 1.7, 1, -1)
    X[12_000:, 0] += shift
    lines = np.arange(ROWS) + 1
    parts = [slice(k, k + 3_000) for k in range(0, ROWS, 3_000)]
    return [Block(Dense(X[p], ["a", "b"]), y[p], None, lines[p], "made") for p in parts]


def test_a_run_tells_of_inputs_and_probabilities():
    run = StreamRun(Recommended())
    list(run.over(stream(0.8)))
    (found,) = (change for change in run.watch.changes if change.what.startswith("mean of"))
    assert str(found).startswith("mean of a rose from ")
    still = StreamRun(Recommended())
    list(still.over(stream(0.0)))
    assert still.watch.changes == []


def test_another_mean_probability_is_found_once_they_have_settled():
    rng = np.random.default_rng(0)
    chances = rng.beta(1, np.repeat([19, 9], 10_000))
    positive = rng.random(ROWS) < 0.05
    chances[:500] = 0.9  # before anything is known
    watch = Watch()
    watch.add(rng.normal(size=ROWS), positive, chances)
    (change,) = watch.changes
    assert change.what == "mean probability"
    assert 10_000 < change.event < 14_000


def test_a_resumed_watch_goes_on():
    blocks = stream(0.8)
    whole, part = StreamRun(Recommended(), stops=(3_000,)), StreamRun(Recommended(), stops=(3_000,))
    list(whole.over(blocks))
    list(part.over(blocks, limit=12_000))
    resumed = StreamRun(part.model, stops=(3_000,), state=part.state())
    list(resumed.over(blocks))
    assert resumed.watch.changes == whole.watch.changes
    assert Watch().changes == []


def test_a_model_file_keeps_what_its_stream_showed(tmp_path):
    model = Recommended().fit([[1.0], [2.0], [0.0]], [1, 1, 0])
    plain = tmp_path / "plain.lop"
    model.save(plain)
    assert load(plain).changes_ == ()
    model.changes_ = [(5, "mean of a", 0.5, 1.5)]
    model.save(tmp_path / "m.lop")
    assert load(tmp_path / "m.lop").changes_ == ((5, "mean of a", 0.5, 1.5),)


def test_rows_of_far_columns_take_no_memory_of_their_width():

    inputs = Inputs()
    X = Sparse(np.array([0, 2, 3]), np.array([1, 2_000_000_000, 1]), np.ones(3), (2, 2_000_000_001))
    tracemalloc.start()
    values = inputs.values(X, np.arange(2))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert values[:, inputs.names.index(NEW)].tolist() == [0.5, 0.0]
    assert most < 1 << 20
