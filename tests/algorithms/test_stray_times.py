"""A time far from those before it is a fault, not a day of the budget."""

import pickle

import numpy as np
import pytest

from lopsided import Active
from lopsided.data.block import BadLines, Block
from lopsided.errors import BadRowError
from lopsided.evaluation.stream import StreamRun

X = np.random.default_rng(0).normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(int)
DAY = 86400


def asking(**settings):
    return Active("COG-II", query="always", budget="1/day", **settings)


def test_one_stray_time_leaves_the_model_as_it_was():
    model = asking()
    model.ask_many(X[:3], time=["2026-01-01", "2026-01-02", "2026-01-02"])
    before = pickle.dumps(model)
    with pytest.raises(BadRowError, match="row 1: the time 2099-01-01 is 26,661 days after") as far:
        model.ask_many(X[:2], time=["2026-01-03", "2099-01-01"])
    assert far.value.row == 1
    with pytest.raises(ValueError, match=r"^the time 2099-01-01 is .* the latest so far"):
        model.ask(X[0], time="2099-01-01")
    with pytest.raises(BadRowError):
        model.partial_fit(X[:1], Y[:1], time=["2024-01-01"])
    assert pickle.dumps(model) == before
    assert model.ask(X[0], time="2026-01-03").asked


def test_the_latest_day_is_known_after_loading():
    model = asking()
    model.ask(X[0], time="2026-01-01")
    model.ask(X[0], time="2026-12-01")
    again = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="before 2026-12-01"):
        again.ask(X[1], time="2025-11-01")
    assert again.ask(X[1], time="2027-12-02").asked


def test_a_bound_from_row_to_row_not_from_the_first():
    days = np.arange(40) * 366.0 + 20_000
    model = asking().fit(X, Y, time=days * DAY)
    assert model.queries_ == 40
    with pytest.raises(BadRowError, match="row 39"):
        asking().fit(X, Y, time=(days + (np.arange(40) == 39)) * DAY)


def test_rows_that_are_left_out_do_not_count():
    days = np.arange(40) + 20_000.0
    days[7] = 99_999
    with pytest.raises(BadRowError, match="row 7"):
        asking().fit(X, Y, time=days * DAY)
    model = asking().fit(X, Y, np.where(np.arange(40) == 7, 0.0, 1.0), time=days * DAY)
    assert model.queries_ == 39


def test_a_block_of_years_in_slices():
    days = np.arange(40) * 300.0 + 20_000
    block = Block(X, Y, None, np.arange(1, 41), "made", days * DAY)
    run = StreamRun(asking(), bad=BadLines(), stops=(7,))
    for _ in run.over([block]):
        pass
    assert run.counts.queries == 40


def test_a_budget_that_becomes_daily_begins_with_any_day():
    model = Active("COG-II", query="always", budget="1/10")
    model.ask_many(X)
    model.set_params(budget="5/day")
    model.ask(X[0], time="2026-01-01")
    with pytest.raises(ValueError, match="after 2026-01-01"):
        model.ask(X[0], time="2036-01-01")
