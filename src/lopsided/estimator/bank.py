"""Several models of one kind in one pass of the core."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..errors import DivergedError
from .base import OnlineClassifier
from .batch import Batch, as_batch, is_events
from .columns import check_columns
from .learning import Ready
from .locking import lock_of
from .parameters import same

Result = dict[str, Any] | DivergedError


def may_share(model: OnlineClassifier, X: Any) -> bool:
    """Say whether models like this one, but for some numbers, can learn together."""
    targeted = getattr(model, "target_sparsity", None) is not None
    usual = type(model).pass_over is OnlineClassifier.pass_over and model._shares_passes
    usual = usual and model.costs is None and model.capacity is None
    return usual and not targeted and not is_events(X) and _core.learns_together(model.core_kind())


def learn_together(
    models: Sequence[OnlineClassifier],
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    *,
    fresh: bool,
    order: ArrayLike | None,
    every: int,
) -> list[Result] | None:
    """Return what each pass came to or why it ended; None if they must learn one by one.

    Nothing has happened then: whatever is wrong is found again by the model that it concerns.
    """
    if len({id(model) for model in models}) != len(models) or len(models) < 2:
        return None
    if not (may_share(models[0], X) and _alike(models)):
        return None
    with ExitStack() as turns:
        for model in sorted(models, key=id):
            turns.enter_context(lock_of(model))
        try:
            ready = _all_ready(models, X, y, sample_weight, fresh, order)
            if ready is None:
                return None
            one = ready[0]
            found: Any = _core.learn_together(
                [each.fitted.core for each in ready],
                one.batch.rows,
                one.codes,
                one.weights,
                one.visit,
                one.rho,
                every,
                True,
            )
        except (ValueError, MemoryError):
            return None
        if found is None:
            return None
        results: list[Result] = []
        for model, each, result in zip(models, ready, found, strict=True):
            if isinstance(result, tuple):
                fault, row, _ = result
                results.append(DivergedError(fault, row))
            else:
                results.append(model._learned(each, result))
        return results


Scores = NDArray[np.float64] | DivergedError


def score_together(models: Sequence[OnlineClassifier], X: Any) -> list[Scores]:
    """Return what each model says of rows, in one pass if they learned in one."""
    batch = X if is_events(X) else as_batch(X)
    found: Any = None
    cores = [model._fitted.core for model in models if model._fitted is not None]
    if 1 < len(models) == len(cores) and isinstance(batch, Batch):
        check_columns(type(models[0]).__name__, cores[0], batch, learning=False)
        with suppress(ValueError, MemoryError):  # whatever is wrong is found again
            found = _core.score_together(cores, batch.rows)
    if found is None:
        return [_scores(model, batch) for model in models]
    return [np.asarray(scores) for scores in found]


def _scores(model: OnlineClassifier, batch: Any) -> Scores:
    try:
        return model.score_many(batch)
    except DivergedError as error:
        return error


def _alike(models: Sequence[OnlineClassifier]) -> bool:
    """Say whether the same batch is the same for all; the core looks at the rest."""
    first = models[0]
    names = (*first._fixed, "class_weight", "costs", "capacity")
    return all(
        type(model) is type(first)
        and all(same(getattr(model, n, None), getattr(first, n, None)) for n in names)
        for model in models
    )


def _all_ready(
    models: Sequence[OnlineClassifier],
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None,
    fresh: bool,
    order: ArrayLike | None,
) -> list[Ready] | None:
    """Look at the batch once, for all models."""
    if not fresh and any(model.__sklearn_is_fitted__() for model in models):
        return None
    one = models[0]._ready(X, y, sample_weight, fresh=fresh, order=order)
    ready = [one]
    for model in models[1:]:
        model._check_weights(one.weights)
        ready.append(one._replace(fitted=model._make(one.fitted.labels, one.fitted.scaling)))
    return ready
