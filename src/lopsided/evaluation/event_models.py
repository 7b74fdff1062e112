"""Classifiers that learn one event after the other, as those of river do."""

from __future__ import annotations

import copy
import inspect
import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DivergedError, InputError
from ..estimator.batch import is_events, some_rows
from .labelled import LabelledRows
from .outside import Outside


class EventModel(Outside):
    """A classifier with `learn_one`, as those of river, or written in Python.

    Its score is the probability of the positive class less 0.5 from `predict_proba_one`, or
    `score_one`, or 0.5 or -0.5 by `predict_one`; 0 where it gives none.
    """

    chunk = 1
    _positive: Any = None

    def fresh(self, run: int) -> EventModel:
        """Return a copy that has not learned, with `run` added to its seed if it has one."""
        model = self._classifier
        seed = self.get_params().get("seed")
        seeds = {"seed": seed + run} if run and isinstance(seed, int) else {}
        if hasattr(model, "clone"):
            return EventModel(model.clone(seeds) if seeds else model.clone())
        found = EventModel(copy.deepcopy(model))
        found.set_params(**seeds)
        return found

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as far as it says them."""
        for name in ("get_params", "_get_params"):
            if hasattr(self._classifier, name):
                return dict(getattr(self._classifier, name)())
        return {}

    def set_params(self, **parameters: Any) -> EventModel:
        """Change parameters of one that has not learned."""
        if not parameters:
            return self
        if hasattr(self._classifier, "set_params"):
            self._classifier.set_params(**parameters)
        else:
            self._classifier = self._classifier.clone(parameters)
        return self

    def parameter_names(self) -> list[str]:
        """Return the names that set_params takes."""
        changeable = hasattr(self._classifier, "set_params") or hasattr(self._classifier, "clone")
        return list(self.get_params()) if changeable else []

    def check_weights(self, name: str) -> None:
        """Raise if `learn_one` takes no weight."""
        if self._weight() is None:
            raise InputError(
                f"learn_one of {name} takes no weight: leave sample_weight out, or this learner"
            )

    def _weight(self) -> str | None:
        """Return the name of the weight among the parameters of `learn_one`."""
        taken = inspect.signature(self._classifier.learn_one).parameters
        return next((name for name in ("w", "weight", "sample_weight") if name in taken), None)

    def _learn(self, data: LabelledRows, rows: NDArray[np.int64], first: bool) -> None:
        name = None if data.weights is None else self._weight()
        events = as_events(some_rows(data.sliceable, rows))
        # Those of river that are for two classes want True and False.
        two = getattr(self._classifier, "_multiclass", True) is False
        self._positive = True if two else data.labels.positive
        labels = data.codes > 0 if two else data.y
        for row, x in zip(rows.tolist(), events, strict=True):
            y = labels[row]
            options = {} if name is None else {name: float(data.weights[row])}  # type: ignore[index]
            self._classifier.learn_one(x, y.item() if hasattr(y, "item") else y, **options)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return np.array([self._score(x) for x in as_events(X)], dtype=np.float64)

    def _is_early(self) -> bool:
        return False

    def _score(self, x: Any) -> float:
        model = self._classifier
        # A pipeline of river has them all, whatever its last step has.
        if hasattr(model, "score_one") and not hasattr(model, "predict_proba_one"):
            score = float(model.score_one(x))
        else:
            chance = None
            if hasattr(model, "predict_proba_one"):
                try:
                    found = model.predict_proba_one(x)
                    chance = float(found.get(self._positive, 0.0)) if found else None
                except NotImplementedError:  # of a classifier of river that has none
                    chance = self._named(model.predict_one(x))
            else:
                chance = self._named(model.predict_one(x))
            score = 0.0 if chance is None else chance - 0.5
        if not math.isfinite(score):
            raise DivergedError("its scores are not finite")
        return score

    def _named(self, label: Any) -> float | None:
        return None if label is None else float(label == self._positive)


def as_events(X: Any) -> list[Any]:
    """Return rows as dicts: by the names of their columns, or by their numbers."""
    if is_events(X):
        return list(X)
    names = getattr(X, "names", None)
    if hasattr(X, "indptr"):
        ends = np.asarray(X.indptr).tolist()
        indices, values = np.asarray(X.indices).tolist(), np.asarray(X.data).tolist()
        keys = indices if names is None else [names[j] for j in indices]
        pairs = [*zip(keys, values, strict=True)]
        return [dict(pairs[a:b]) for a, b in pairwise(ends)]
    array = np.asarray(X.array if hasattr(X, "array") else X)
    keys = range(array.shape[1]) if names is None else names
    return [dict(zip(keys, row, strict=True)) for row in array.tolist()]
