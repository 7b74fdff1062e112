"""Classifiers with the interface of scikit-learn, which score and learn rows in chunks."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, InputTypeError, ParameterError
from ..estimator.batch import is_events, some_rows
from .labelled import LabelledRows
from .outside import Outside


class SklearnModel(Outside):
    """A classifier with `partial_fit`, or with `fit` only.

    Parameters
    ----------
    classifier : object
        It must have get_params, set_params, and decision_function or predict_proba.
    refit_every : int, optional
        Fit one without `partial_fit` again, to all labels known, whenever this many more are.
    """

    def __init__(self, classifier: Any, refit_every: int | None = None) -> None:
        super().__init__(classifier)
        self._refit_every = refit_every
        if refit_every is not None and not hasattr(classifier, "partial_fit"):
            self.chunk = min(self.chunk, refit_every)

    _column = 1  # of the positive class

    @property
    def online(self) -> bool:
        """Whether it can be scored while it learns."""
        return hasattr(self._classifier, "partial_fit") or self._refit_every is not None

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
        return SklearnModel(classifier, self._refit_every)

    def check_weights(self, name: str) -> None:
        """Raise if it takes no sample_weight."""
        by_parts = hasattr(self._classifier, "partial_fit")
        method = self._classifier.partial_fit if by_parts else self._classifier.fit
        if "sample_weight" not in inspect.signature(method).parameters:
            raise InputError(
                f"{name} takes no sample_weight: leave sample_weight out, or this learner"
            )

    def _scores(self, X: Any) -> NDArray[np.float64]:
        X = _plain(X)
        if hasattr(self._classifier, "decision_function"):
            found = np.asarray(self._classifier.decision_function(X), dtype=np.float64)
            if found.ndim != 1:
                raise ParameterError(
                    "decision_function", f"must return one score per row: {found.shape}"
                )
            return found if self._column else -found
        return np.asarray(self._classifier.predict_proba(X)[:, self._column] - 0.5)

    def _begin(self) -> None:
        super()._begin()
        self._known = np.empty(0, np.int64)  # rows to fit to again

    def _take(self, data: LabelledRows, rows: NDArray[np.int64]) -> int:
        if hasattr(self._classifier, "partial_fit"):
            return super()._take(data, rows)
        self._known = np.concatenate([self._known, rows])
        new = len(self._known) - self._labels
        if new < (self._refit_every or 0) or np.ptp(data.codes[self._known]) == 0:
            return 0  # nothing is learned from one class
        self._seen |= {-1, 1}
        self._learn(data, self._known, first=True)
        self._labels = len(self._known)
        return new

    def _learn(self, data: LabelledRows, rows: NDArray[np.int64], first: bool) -> None:
        options: dict[str, Any] = {}
        if data.weights is not None:
            options["sample_weight"] = data.weights[rows]
        X, y = _plain(some_rows(data.sliceable, rows)), data.y[rows]
        by_parts = hasattr(self._classifier, "partial_fit")
        if by_parts and first:
            options["classes"] = data.labels.classes
        try:
            (self._classifier.partial_fit if by_parts else self._classifier.fit)(X, y, **options)
        except TypeError as error:
            if not is_events(X):
                raise
            raise InputTypeError(
                f"{self._classifier!r} takes no events with texts or dicts ({error}): put a "
                "FeatureHasher or DictVectorizer of scikit-learn in front of it, in a pipeline"
            ) from error
        if first:
            self._column = list(self._classifier.classes_).index(data.labels.positive)


def _plain(X: Any) -> Any:
    """Return rows of ours as NumPy or SciPy has them."""
    if hasattr(X, "array") and hasattr(X, "names"):
        return X.array
    if hasattr(X, "indptr") and not hasattr(X, "tocsr"):
        from scipy.sparse import csr_matrix

        return csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)
    return X
