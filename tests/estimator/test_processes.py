"""Models that learn in other processes, started in whatever way, while this one learns too."""

from __future__ import annotations

import multiprocessing
import threading
from operator import methodcaller

import numpy as np
import pytest

import lopsided
from lopsided.persist import to_bytes

rng = np.random.default_rng(3)
X = rng.normal(size=(400, 5))
Y = (X[:, 0] + 0.5 * rng.normal(size=400) > 1).astype(int)
NAMES = ("Recommended", "AROW", "SSOL", "KOIL-RS++")


def by_loky(work, models):
    joblib = pytest.importorskip("joblib")
    try:
        return joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(work)(m) for m in models)
    finally:
        joblib.externals.loky.get_reusable_executor().shutdown(wait=True)  # with its threads


def by_spawn(work, models):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return pool.map(work, models)


@pytest.mark.parametrize("way", [by_loky, by_spawn])
def test_models_of_other_processes_have_the_same_bits(way):
    models = [lopsided.make(name) for name in NAMES]
    expected = [to_bytes(lopsided.make(name).fit(X, Y).partial_fit(X, Y)) for name in NAMES]
    done = threading.Event()

    def busy():
        other = lopsided.COG()
        while not done.is_set():
            other.partial_fit(X, Y, classes=[0, 1])

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        once = way(methodcaller("fit", X, Y), models)
        twice = way(methodcaller("partial_fit", X, Y), once)  # sent back with what was learned
    finally:
        done.set()
        thread.join()
    assert [to_bytes(model) for model in twice] == expected
    assert not any(model.__sklearn_is_fitted__() for model in models)
