"""Which label is positive, where the first rows of a stream do not tell."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lopsided import COG
from lopsided.data.block import Block
from lopsided.errors import DataError
from lopsided.evaluation import stream
from lopsided.evaluation.stream import StreamRun

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.where(np.arange(60) % 20 == 12, "worse", "bad")  # the first positive is the 13th


def blocks(size, y=Y):
    for at in range(0, len(y), size):
        part = slice(at, at + size)
        yield Block(X[part], y[part], None, np.arange(at, at + len(y[part])) + 1, "made")


def learned(size, stops=(), **settings):
    run = StreamRun(COG(**settings), stops=stops)
    for _ in run.over(blocks(size)):
        pass
    return run


def test_however_the_stream_is_cut_the_larger_label_is_positive():
    whole = learned(60)
    assert whole.model.classes_.tolist() == ["bad", "worse"]
    for size, stops in ((1, ()), (7, ()), (60, (1,)), (5, (3,))):
        run = learned(size, stops)
        assert (run.model.classes_ == whole.model.classes_).all()
        assert (run.model.coef_ == whole.model.coef_).all()
        assert run.counts == whole.counts
        assert run.model.positive is None


def test_one_label_for_too_long_is_an_error(monkeypatch):
    monkeypatch.setattr(stream, "_HELD", 10)
    with pytest.raises(ValueError, match="only the class 'bad'"):
        learned(1)
    assert learned(1, positive="worse").counts.events == 60


def test_a_fault_that_comes_first_is_told_first():
    def faulty():
        yield from blocks(1, Y[:5])
        raise DataError("made", 6, expected="something else")

    with pytest.raises(DataError, match="line 6: something else"):
        list(StreamRun(COG()).over(faulty()))


def test_rows_are_not_waited_for_behind_the_limit():
    def endless():
        yield from blocks(1, Y[:5])
        raise AssertionError("nobody asked for more")

    with pytest.raises(ValueError, match="only the class 'bad'"):
        list(StreamRun(COG()).over(endless(), limit=5))


def test_labels_that_tell_by_themselves_are_learned_at_once():
    run = StreamRun(COG())
    first = next(iter(run.over(blocks(1, np.zeros(60, int)))))
    assert len(first.scores) == 1


@pytest.mark.parametrize(
    ("labels", "positive"),
    [([True, False, False], "true"), (["true", "no", "no"], "true"), (["1", "x", "x"], "1")],
)
def test_the_positive_label_of_parquet(tmp_path, labels, positive):
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "y": labels}), tmp_path / "e.parquet")
    done = subprocess.run(
        [sys.executable, "-m", "lopsided", "run", "e.parquet", "--positive", positive],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "of 1 positives" in done.stdout, done.stderr
