"""Classifiers with the interface of scikit-learn in a comparison; it is not imported here."""

from __future__ import annotations

import copy
import inspect
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import DivergedError, InputError, InputTypeError, ParameterError
from ..estimator.batch import some_rows
from ..evaluation.progressive import Progress, curve_step

if TYPE_CHECKING:
    from .dataset import Dataset

T = TypeVar("T")

_CHUNK = 100  # rows that are scored before any of them is learned from


class SklearnModel:
    """A classifier with `partial_fit`, or with `fit` only, that a comparison can run.

    Other attributes are those of the classifier.

    Parameters
    ----------
    classifier : object
        It must have get_params, set_params, and decision_function or predict_proba.
    """

    def __init__(self, classifier: Any) -> None:
        self._classifier = classifier
        self._column = 1  # of the positive class

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also while it is being copied
            raise AttributeError(name)
        return getattr(self._classifier, name)

    def __repr__(self) -> str:
        return repr(self._classifier)

    @property
    def online(self) -> bool:
        """Whether it can be scored while it learns."""
        return hasattr(self._classifier, "partial_fit")

    def parameter_names(self) -> list[str]:
        """Return the names that set_params takes."""
        return list(self._classifier.get_params())

    def fresh(self, run: int) -> SklearnModel:
        """Return a copy that has not learned, with `run` added to each random_state."""
        classifier = copy.deepcopy(self._classifier)
        seeds = {
            name: value + run
            for name, value in classifier.get_params().items()
            if name.endswith("random_state") and isinstance(value, int)
        }
        classifier.set_params(**seeds)
        return SklearnModel(classifier)

    def check_weights(self, name: str) -> None:
        """Raise if it takes no sample_weight."""
        method = self._classifier.partial_fit if self.online else self._classifier.fit
        if "sample_weight" not in inspect.signature(method).parameters:
            raise InputError(
                f"{name} takes no sample_weight: leave sample_weight out, or this learner"
            )

    def train(self, data: Dataset, rows: NDArray[np.int64] | None, points: int) -> Progress:
        """Learn from rows in this order: chunk by chunk, each scored first, or all at once."""
        order = np.arange(len(data.y)) if rows is None else rows
        every = curve_step(points, data.y, order)
        weights = None if data.weights is None else data.weights[order]
        events = len(order) if weights is None else int(np.count_nonzero(weights))
        start = time.perf_counter()
        if self.online:
            scores = self._train_by_chunks(data, order)
        else:  # there are no scores to report of the pass
            self._learn(data, order, first=True)
            order, weights, scores = order[:0], None, np.empty(0)
        codes = data.codes[order]
        return Progress.tally(
            codes > 0,
            scores >= 0,
            weights,
            queries=events,
            updates=events,
            seconds=time.perf_counter() - start,
            scores=scores,
            labels=codes,
            weights=weights,
            marks=_marks(codes > 0, scores >= 0, weights, every),
            alarms=scores >= 0,
        )

    def score_rows(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows; 0 and above means positive."""
        scores = self._scores(_plain(X))
        if not np.isfinite(scores).all():
            raise DivergedError("its scores are not finite")
        return scores

    def _scores(self, X: Any) -> NDArray[np.float64]:
        if hasattr(self._classifier, "decision_function"):
            found = np.asarray(self._classifier.decision_function(X), dtype=np.float64)
            if found.ndim != 1:
                raise ParameterError(
                    "decision_function", f"must return one score per row: {found.shape}"
                )
            return found if self._column else -found
        return np.asarray(self._classifier.predict_proba(X)[:, self._column] - 0.5)

    def _early_scores(self, X: Any) -> NDArray[np.float64]:
        """Return scores after a few rows or one class, 0 where a classifier has none yet."""
        with np.errstate(all="ignore"):
            return np.nan_to_num(self._scores(_plain(X)), nan=0.0, posinf=0.0, neginf=0.0)

    def _train_by_chunks(self, data: Dataset, order: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores that rows had before they were learned from; the first has none: 0."""
        used = order if data.weights is None else order[data.weights[order] != 0]
        scores = np.zeros(len(used))
        codes = data.codes[used]
        at = 0
        while at < len(used):
            chunk = used[at : at + min(max(at, 1), _CHUNK)]  # short chunks while it knows little
            if at:
                early = at < _CHUNK or np.ptp(codes[:at]) == 0
                score = self._early_scores if early else self.score_rows
                scores[at : at + len(chunk)] = score(some_rows(data.sliceable, chunk))
            self._learn(data, chunk, first=at == 0)
            at += len(chunk)
        if len(used) == len(order):
            return scores
        all_scores = np.full(len(order), np.nan)
        assert data.weights is not None
        all_scores[data.weights[order] != 0] = scores
        return all_scores

    def _learn(self, data: Dataset, rows: NDArray[np.int64], first: bool) -> None:
        options: dict[str, Any] = {}
        if data.weights is not None:
            options["sample_weight"] = data.weights[rows]
        X, y = _plain(some_rows(data.sliceable, rows)), data.y[rows]
        if not self.online:
            self._classifier.fit(X, y, **options)
        else:
            if first:
                options["classes"] = data.labels.classes
            self._classifier.partial_fit(X, y, **options)
        if first:
            self._column = list(self._classifier.classes_).index(data.labels.positive)


def train_each(
    models: Sequence[SklearnModel], data: Dataset, rows: NDArray[np.int64] | None, points: int
) -> list[Progress | DivergedError]:
    """Train models one by one."""
    return [_or_error(partial(model.train, data, rows, points)) for model in models]


def score_each(models: Sequence[SklearnModel], X: Any) -> list[NDArray[np.float64] | DivergedError]:
    """Score rows with models one by one."""
    return [_or_error(partial(model.score_rows, X)) for model in models]


def _or_error(run: Callable[[], T]) -> T | DivergedError:
    try:
        return run()
    except DivergedError as error:
        return error


def as_sklearn_model(classifier: Any) -> SklearnModel:
    """Return a classifier as a comparison runs it; raise if it cannot."""
    if isinstance(classifier, type):
        raise InputTypeError(f"{classifier.__name__} is a class: give an instance of it")
    learns = hasattr(classifier, "partial_fit") or hasattr(classifier, "fit")
    if not (learns and hasattr(classifier, "get_params") and hasattr(classifier, "set_params")):
        raise InputTypeError(
            "a learner is a name or an estimator, of lopsided or a classifier of scikit-learn, "
            f"not {classifier!r}"
        )
    if not (hasattr(classifier, "decision_function") or hasattr(classifier, "predict_proba")):
        raise InputTypeError(
            f"{classifier!r} has neither decision_function nor predict_proba: it gives no scores"
        )
    if _is_fitted(classifier):
        raise InputError(f"{classifier!r} has learned already: give an estimator that has not")
    return SklearnModel(classifier)


def _is_fitted(classifier: Any) -> bool:
    if hasattr(classifier, "__sklearn_is_fitted__"):
        return bool(classifier.__sklearn_is_fitted__())
    return any(name.endswith("_") and not name.startswith("_") for name in vars(classifier))


def _plain(X: Any) -> Any:
    """Return rows of ours as NumPy or SciPy has them."""
    if hasattr(X, "array") and hasattr(X, "names"):
        return X.array
    if hasattr(X, "indptr") and not hasattr(X, "tocsr"):
        from scipy.sparse import csr_matrix

        return csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)
    return X


def _marks(
    positive: NDArray[np.bool_],
    alarm: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
    every: int,
) -> NDArray[np.float64] | None:
    """Return the sums of a curve after each `every` rows: see Progress.marks."""
    if not every:
        return None
    used = np.ones(len(positive)) if weights is None else weights
    events = np.asarray(used != 0, dtype=np.float64)
    parts = (positive, ~positive, positive & ~alarm, ~positive & alarm)
    columns = [events, *(used * part for part in parts), events, events, 0 * events]
    return np.asarray(np.cumsum(np.column_stack(columns), axis=0)[every - 1 :: every])
