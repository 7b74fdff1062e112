"""Our learners as contenders: told nothing, or told the prices."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import lopsided

from .metrics import Run
from .peers import by_event
from .streams import Prices, Stream, Table


def run(stream: Stream, prices: Prices | None, learner: str, form: str = "") -> Run:
    """Run a learner of the catalog.

    Parameters
    ----------
    stream : Stream
        What to learn from.
    prices : Prices or None
        What it is told.
    learner : str
        Its name in the catalog.
    form : {"", "csr", "array"}
        The rows as events where columns have names, else as CSR; as CSR; as an array.
    """
    model, weights = _told(lopsided.make(learner), stream, prices)
    y = stream.y.astype(np.int64)
    if stream.delay is not None:
        return _late(model, stream, y, weights)
    X = _rows(stream, form)
    start = time.process_time()
    result = lopsided.progressive(model, X, y, sample_weight=weights, resume=True, points=0)
    seconds = time.process_time() - start
    return Run(result.scores, None, result.scores >= 0, seconds)


def _told(model: Any, stream: Stream, prices: Prices | None) -> tuple[Any, Any]:
    """Return the model told the prices, and weights of events where prices are theirs."""
    model.set_params(positive=1)
    if prices is None:
        return model, None
    if np.ndim(prices.miss) == 0:
        if "class_weight" in model.get_params():
            model.set_params(class_weight={1: float(prices.miss), 0: float(prices.alarm)})
        return model, None
    if "class_weight" in model.get_params():
        model.set_params(class_weight={1: 1.0, 0: 1.0})
    least = 1e-3 * prices.alarm  # an event of no weight would get no score
    weights = np.where(stream.y, np.maximum(prices.miss, least), prices.alarm)
    return model, weights / weights.mean()


def _rows(stream: Stream, form: str) -> Any:
    if form == "array":
        return stream.rows.csr.toarray()
    named = isinstance(stream.rows, Table) and form != "csr"
    return stream.rows.events if named else stream.rows.csr


def _late(model: Any, stream: Stream, y: Any, weights: Any) -> Run:
    """Learn labels as they come, one by one."""
    events, labels = stream.rows.events, y.tolist()
    weights = [1.0] * len(y) if weights is None else weights.tolist()  # plain floats: the fast path
    ready = False

    def score(row: int) -> float:
        return model.score_one(events[row]) if ready else 0.0

    def learn(row: int) -> None:
        nonlocal ready
        if not ready:
            model.partial_fit([events[row]], [labels[row]], [0, 1], weights[row : row + 1])
        else:
            model.learn_one(events[row], labels[row], weights[row])
        ready = True

    said = by_event(stream, score, learn)
    return Run(said.scores, None, said.scores >= 0, said.seconds)
