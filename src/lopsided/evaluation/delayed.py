"""A pass in which labels come late, for learners that do not ask for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..algorithms.active import Active
from ..estimator.base import OnlineClassifier
from ..estimator.times import as_delays

_SEED = 0  # of random delays


def pass_with_delay(
    model: OnlineClassifier,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    delay: Any,
    *,
    fresh: bool,
    **options: Any,
) -> dict[str, Any]:
    """Let a model learn from labels that come some events later; return what happened.

    Every event waits, with its features and its score, until its label comes: as many as that
    takes. Labels that have not come by the end are not learned.

    Parameters
    ----------
    model : OnlineClassifier
        It learns, all of it or nothing.
    X, y, sample_weight, delay
        As for progressive.
    fresh : bool
        Start over.
    **options
        Those of `pass_over`.
    """
    rows = int(np.size(y))
    delays = as_delays(delay, rows, _SEED)
    learner = type(model)(**model.get_params(deep=False))
    order = options.get("order")
    events = rows if order is None else int(np.size(order))
    waiting: dict[str, Any] = {"query": "always", "max_pending": max(1, events)}
    asker = Active.made(learner=learner, **waiting) if fresh else Active.around(model, **waiting)
    result = asker.pass_over(X, y, sample_weight, fresh=fresh, delay=delays, **options)
    if result["events"]:
        model.take_state(asker.fitted)
    for name in ("asked", "probabilities"):  # every label was wanted
        result.pop(name, None)
    return result
