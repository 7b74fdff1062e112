"""The rows of a comparison, read and checked once for all runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DivergedError
from ..estimator.bank import score_together
from ..estimator.batch import some_rows
from ..estimator.labels import Labels
from ..estimator.prices import price_table
from ..evaluation.labelled import LabelledRows, read_rows
from ..evaluation.progress import Progress
from .sklearn_models import Outside, score_each

Outcome = Progress | DivergedError  # of one model: what its pass gave, or why it failed


@dataclasses.dataclass(frozen=True)
class Dataset(LabelledRows):
    """Rows of a comparison."""

    def scored(
        self, models: Sequence[Any], rows: NDArray[np.int64] | None, learned: Sequence[Outcome]
    ) -> list[Outcome]:
        """Score some rows, or all, with trained models; a model that diverged stays diverged."""
        sound = [k for k, one in enumerate(learned) if not isinstance(one, DivergedError)]
        X = self.X if rows is None else some_rows(self.sliceable, rows)
        if isinstance(models[0], Outside) and rows is None:
            X = self.sliceable
        codes = self.codes if rows is None else self.codes[rows]
        weights = self.weights if rows is None or self.weights is None else self.weights[rows]
        outcomes = list(learned)
        all_scores = _scores([models[k] for k in sound], X)
        for k, scores in zip(sound, all_scores, strict=True):
            if isinstance(scores, DivergedError):
                outcomes[k] = scores
            else:
                alarms = _alarms(models[k], scores, X)
                outcomes[k] = judged(codes, scores, alarms, weights, finished(learned[k]))
        return outcomes


def _scores(models: Sequence[Any], X: Any) -> Sequence[NDArray[np.float64] | DivergedError]:
    if not models:
        return []
    if not isinstance(models[0], Outside):
        return score_together(models, X)
    return score_each(models, X)


def finished(outcome: Outcome) -> Progress:
    """Return the pass of a model, or raise if it diverged."""
    if isinstance(outcome, DivergedError):
        raise outcome
    return outcome


def _alarms(model: Any, scores: NDArray[np.float64], X: Any) -> NDArray[np.bool_]:
    """Return the decisions of a model about rows that it gave these scores."""
    if isinstance(model, Outside) or (model.fitted.by_sign and model.costs is None):
        return scores >= 0
    prices = price_table(model.costs, X, len(scores))
    return np.asarray(model.fitted.core.margins(scores, prices)) >= 0


def judged(
    codes: NDArray[np.int8],
    scores: NDArray[np.float64],
    alarms: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
    learned: Progress,
) -> Progress:
    """Count the mistakes of decisions; updates and queries are those of the training pass."""
    return Progress.tally(
        codes > 0,
        alarms,
        weights,
        queries=learned.queries,
        updates=learned.updates,
        scores=scores,
        labels=codes,
        weights=weights,
        alarms=alarms,
    )


def read_dataset(X: Any, y: Any, weights: Any, labels: Labels) -> Dataset:
    """Validate rows, labels and weights."""
    return Dataset(*read_rows(X, y, weights, labels))
