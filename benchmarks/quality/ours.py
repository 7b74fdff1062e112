"""Our learners as contenders: told nothing, or told the prices."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import lopsided

from .metrics import Run
from .streams import Floats, Prices, Stream, Table


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
    model = lopsided.make(learner, positive=1)
    y = stream.y.astype(np.int64)
    X = _rows(stream, form)
    costs = None if prices is None else {"miss": prices.miss, "alarm": prices.alarm}
    start = time.process_time()
    result = lopsided.progressive(
        model, X, y, resume=True, points=0, costs=costs, delay=stream.delay
    )
    seconds = time.process_time() - start
    return Run(result.scores, _probabilities(model, result.scores), result.alarms, seconds)


def _probabilities(model: Any, scores: Floats) -> Floats | None:
    """Return probabilities where scores are log odds; those of others change with every label."""
    if not isinstance(model, lopsided.Recommended):
        return None
    return np.exp(-np.logaddexp(0, -scores))


def _rows(stream: Stream, form: str) -> Any:
    if form == "array":
        return stream.rows.csr.toarray()
    named = isinstance(stream.rows, Table) and form != "csr"
    return stream.rows.events if named else stream.rows.csr
