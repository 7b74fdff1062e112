"""Classifiers from elsewhere in a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import DivergedError, InputError
from ..evaluation.contenders import as_outside
from ..evaluation.outside import Outside
from ..evaluation.progress import Progress
from ..evaluation.progressive import curve_step, outside_delays, outside_progress
from ..evaluation.sklearn_models import SklearnModel

if TYPE_CHECKING:
    from .dataset import Dataset

T = TypeVar("T")

__all__ = ["Outside", "SklearnModel", "as_contender", "score_each", "train_each"]


def train_each(
    models: Sequence[Outside],
    data: Dataset,
    rows: NDArray[np.int64] | None,
    points: int,
    late: tuple[Any, ...],
) -> list[Progress | DivergedError]:
    """Train models one by one; `late` are delay, time and label time, as for progressive."""
    order = np.arange(len(data.y)) if rows is None else rows
    every = curve_step(points, data.y, order)
    delays = outside_delays(late, data, order)
    run = partial(outside_progress, data=data, order=order, every=every, delays=delays)
    return [_or_error(partial(run, model)) for model in models]


def score_each(models: Sequence[Outside], X: Any) -> list[NDArray[np.float64] | DivergedError]:
    """Score rows with models one by one."""
    return [_or_error(partial(model.score_rows, X)) for model in models]


def _or_error(run: Callable[[], T]) -> T | DivergedError:
    try:
        return run()
    except DivergedError as error:
        return error


def as_contender(classifier: Any, refit_every: int | None = None) -> Outside:
    """Return a classifier as a comparison runs it; raise if it cannot."""
    found = as_outside(classifier, refit_every)
    if isinstance(found, SklearnModel) and _is_fitted(classifier):
        raise InputError(f"{classifier!r} has learned already: give an estimator that has not")
    return found


def _is_fitted(classifier: Any) -> bool:
    if hasattr(classifier, "__sklearn_is_fitted__"):
        return bool(classifier.__sklearn_is_fitted__())
    return any(name.endswith("_") and not name.startswith("_") for name in vars(classifier))
