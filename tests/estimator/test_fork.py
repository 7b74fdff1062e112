"""Processes that fork, and files that are written, while another thread learns."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

from lopsided import COG
from lopsided.persist import from_bytes, to_bytes

rng = np.random.default_rng(0)


class Learning:
    """A thread that learns until the end of a with statement."""

    def __init__(self, step):
        self._step, self._stop, self._fault = step, threading.Event(), None
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        try:
            while not self._stop.is_set():
                self._step()
        except BaseException as error:
            self._fault = error

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        assert self._fault is None


def in_child(act):
    """Return what a forked child says: its exit code, or None if it hangs."""
    child = os.fork()
    if child == 0:
        signal.alarm(0)
        try:
            os._exit(act())
        finally:
            os._exit(9)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.promise("threads")
def test_a_child_works_or_says_at_once_that_it_cannot():
    X, y = rng.normal(size=(20_000, 30)), rng.integers(0, 2, 20_000)
    model, other = COG().fit(X, y), COG().fit(X, y)
    wanted = other.decision_function(X[:5])

    def act():
        other.partial_fit(X[:100], y[:100])  # no thread used this one
        try:
            model.learn_one(X[0], int(y[0]))
            model.partial_fit(X[:100], y[:100])
            scores = model.score_many(X[:5])
        except RuntimeError as error:
            return 2 if "forked" in str(error) and "another thread" in str(error) else 3
        return 0 if np.isfinite(scores).all() else 4

    with Learning(lambda: model.partial_fit(X, y)):
        said = [in_child(act) for _ in range(12)]
        model.score_one(X[0])  # the parent goes on
    assert set(said) <= {0, 2}
    assert (other.decision_function(X[:5]) == wanted).all()


@pytest.fixture
def hasty():
    """Threads take turns after almost every step of the interpreter."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_a_file_written_while_names_come_loads():
    model = COG().learn_one({"a": 1.0}, 0)
    count = iter(range(10**9))

    def learn():
        for _ in range(10):
            k = next(count)
            model.learn_one({"a": 1.0, f"feature {k}": 1.0}, k % 2)
        model.partial_fit([{f"batch {next(count)}": 1.0} for _ in range(10)], [0, 1] * 5)
        time.sleep(1e-4)

    with Learning(learn):
        for _ in range(40):
            copy = from_bytes(to_bytes(model))
            assert len(copy.feature_names_in_) == copy.n_features_in_
