"""One run of a comparison: a learner with a setting on a split."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.block import Dense
from ..estimator.batch import (
    BadRowError,
    Batch,
    DivergedError,
    _from_frame,
    as_batch,
    as_weights,
    is_events,
    some_rows,
    unmasked,
)
from ..estimator.labels import LabelError, Labels, as_labels
from ..evaluation.bank import score_together
from ..evaluation.progressive import Progress, run_bank
from ..metrics import Counts
from .grids import Learner
from .measures import Prices, measure
from .splits import Split, Splits


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """One learner with one setting in one run.

    Attributes
    ----------
    learner : str
        Its name.
    point : int
        Which point of its grid.
    parameters : dict
        What the grid sets there.
    split : int
        Which permutation or fold.
    choice : float
        The metric by which an honest choice goes.
    value : float
        The metric on what is reported.
    counts : Counts
        Of what is reported; updates and queries are those of the pass.
    seconds : float
        Time of the pass in the core; runs that share a pass share its time.
    nnz, sparsity : float or None
        Weights that are not 0 after the pass, and the share of those that are, if the learner has
        weights.
    curve : tuple of Counts
        The counts along the pass.
    """

    learner: str
    point: int
    parameters: dict[str, Any]
    split: int
    choice: float
    value: float
    counts: Counts
    seconds: float
    nnz: float | None
    sparsity: float | None
    curve: tuple[Counts, ...] = dataclasses.field(repr=False)

    def figures(self, prices: Prices) -> dict[str, float]:
        """Return the figures of the run by name."""
        figures = {
            "metric": self.value,
            "sensitivity": self.counts.sensitivity,
            "specificity": self.counts.specificity,
            "sum": self.counts.sum(prices.alpha, unseen=math.nan),
            "cost": self.counts.cost(prices.fn, prices.fp),
            "updates": self.counts.updates,
            "queries": self.counts.queries,
            "seconds": self.seconds,
        }
        if self.nnz is not None and self.sparsity is not None:
            figures |= {"nnz": self.nnz, "sparsity": self.sparsity}
        return {name: float(value) for name, value in figures.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the run without its curve."""
        found = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del found["curve"]
        return {**found, "counts": dataclasses.asdict(self.counts)}


@dataclasses.dataclass(frozen=True)
class Data:
    """Rows with their labels, read once."""

    X: Any  # a Batch, or a list of dicts
    given: Any  # the same in a form whose rows can be taken
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    codes: NDArray[np.int8]
    labels: Labels

    def judged(
        self,
        models: Sequence[Any],
        rows: NDArray[np.int64] | None,
        learned: Sequence[Progress | DivergedError],
    ) -> list[Progress | DivergedError]:
        """Return what models say of some rows, or of all; those that have no end say nothing."""
        sound = [k for k, one in enumerate(learned) if not isinstance(one, DivergedError)]
        X = self.X if rows is None else some_rows(self.given, rows)
        codes = self.codes if rows is None else self.codes[rows]
        weights = self.weights if rows is None or self.weights is None else self.weights[rows]
        found = list(learned)
        said = score_together([models[k] for k in sound], X) if sound else []
        for k, scores in zip(sound, said, strict=True):
            if isinstance(scores, DivergedError):
                found[k] = scores
            else:
                found[k] = _judged(codes, scores, weights, _not_diverged(learned[k]))
        return found


@dataclasses.dataclass(frozen=True)
class Job:
    """All that a run needs."""

    data: Data
    held_out: Data | None
    splits: Splits
    metric: str
    prices: Prices
    points: int
    known_counts: bool

    def run(self, learner: Learner, points: Sequence[int], at: int) -> list[Run]:
        """Run a learner with some points of its grid on one split, in one pass where it can."""
        split = self.splits.all[at]
        try:
            models = [learner.make(point, split.seed) for point in points]
            passes = self._learned(models, split.train, self.points)
            parts = self._parts(passes, split, models)
            inner = [self._held(learner, points, *part) for part in split.inner]
        except (BadRowError, LabelError):
            raise
        except ValueError as error:
            if len(points) > 1:  # which of them is it?
                return [run for point in points for run in self.run(learner, [point], at)]
            raise _blamed(learner, points[0], split, error) from None
        return [  # a model that has left its bank takes more room: it goes when it is reported
            self._reported(
                learner, point, at, models.pop(0), passes[k], parts[k], [held[k] for held in inner]
            )
            for k, point in enumerate(points)
        ]

    def _reported(
        self,
        learner: Learner,
        point: int,
        at: int,
        model: Any,
        progress: Progress | DivergedError,
        parts: tuple[Progress | DivergedError, Progress | DivergedError],
        inner: Sequence[Progress | DivergedError],
    ) -> Run:
        """Return a run of which the passes are over, those of inner folds too."""
        split = self.splits.all[at]
        value = measure(self.metric).of
        try:
            learned = _not_diverged(progress)
            by, reported = map(_not_diverged, parts)
            choice = value(by, self.prices)
            if inner:
                choice = float(np.mean([value(_not_diverged(p), self.prices) for p in inner]))
        except (BadRowError, LabelError):
            raise
        except ValueError as error:
            if isinstance(error, DivergedError) and len(learner.points) > 1:
                return _diverged(learner, point, at)
            raise _blamed(learner, point, split, error) from None
        nnz, sparsity = _sparsity(model)
        return Run(
            learner=learner.name,
            point=point,
            parameters=learner.points[point],
            split=at,
            choice=float(choice),
            value=float(value(reported, self.prices)),
            counts=_counts(reported),
            seconds=learned.seconds,
            nnz=nnz,
            sparsity=sparsity,
            curve=learned.curve,
        )

    def _learned(
        self, models: Sequence[Any], rows: NDArray[np.int64] | None, points: int
    ) -> list[Progress | DivergedError]:
        return run_bank(
            models,
            self.data.X,
            self.data.y,
            order=rows,
            sample_weight=self.data.weights,
            resume=not self.known_counts,
            points=points,
        )

    def _held(
        self,
        learner: Learner,
        points: Sequence[int],
        train: NDArray[np.int64],
        test: NDArray[np.int64],
    ) -> list[Progress | DivergedError]:
        models = [learner.make(point) for point in points]
        return self.data.judged(models, test, self._learned(models, train, 0))

    def _parts(
        self, passes: Sequence[Progress | DivergedError], split: Split, models: Sequence[Any]
    ) -> list[tuple[Progress | DivergedError, Progress | DivergedError]]:
        """Return what parameters may be chosen by and what is reported, of each model."""
        if split.test is not None or self.held_out is not None:
            held = self.data if self.held_out is None else self.held_out
            return list(zip(passes, held.judged(models, split.test, passes), strict=True))
        if not split.start:
            return [(one, one) for one in passes]
        first, rest = slice(split.start), slice(split.start, None)
        return [
            (one, one) if isinstance(one, DivergedError) else (_part(one, first), _part(one, rest))
            for one in passes
        ]


def _not_diverged(progress: Progress | DivergedError) -> Progress:
    if isinstance(progress, DivergedError):
        raise progress
    return progress


def _blamed(learner: Learner, point: int, split: Split, error: ValueError) -> ValueError:
    return ValueError(f"{_setting(learner, point)}, {split.name}: {error}")


def _sparsity(model: Any) -> tuple[int | None, float | None]:
    """Return how many weights are not 0 and the share of those that are."""
    core = getattr(model, "_model", None)
    nnz = None if core is None else core.banked_nonzeros
    if nnz is None:
        weights = getattr(model, "coef_", None)
        if weights is None:
            return None, None
        nnz = weights.nnz if hasattr(weights, "nnz") else int(np.count_nonzero(weights))
    return nnz, 1 - nnz / max(1, model.n_features_in_)


def _setting(learner: Learner, point: int) -> str:
    settings = ", ".join(f"{name}={value!r}" for name, value in learner.points[point].items())
    return f"{learner.name} with {settings}" if settings else learner.name


def _diverged(learner: Learner, point: int, at: int) -> Run:
    """Return a run that nobody would choose: steps of this size have no end."""
    return Run(
        learner=learner.name,
        point=point,
        parameters=learner.points[point],
        split=at,
        choice=math.nan,
        value=math.nan,
        counts=Counts(positives=0.0, negatives=0.0, false_negatives=0.0, false_positives=0.0),
        seconds=0.0,
        nnz=None,
        sparsity=None,
        curve=(),
    )


def _part(progress: Progress, part: slice) -> Progress:
    weights = None if progress.weights is None else progress.weights[part]
    return _judged(progress.labels[part], progress.scores[part], weights, progress)


def _judged(
    labels: NDArray[np.int8],
    scores: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    learned: Progress,
) -> Progress:
    """Return the counts of scores; steps and labels asked for are those of the pass."""
    used = np.ones(len(labels)) if weights is None else weights
    positive, alarm = labels > 0, scores >= 0
    return Progress(
        positives=float(used[positive].sum()),
        negatives=float(used[~positive].sum()),
        false_negatives=float(used[positive & ~alarm].sum()),
        false_positives=float(used[~positive & alarm].sum()),
        events=int(np.count_nonzero(used)),
        queries=learned.queries,
        updates=learned.updates,
        scores=scores,
        labels=labels,
        weights=weights,
    )


def _counts(progress: Progress) -> Counts:
    return Counts(**{f.name: getattr(progress, f.name) for f in dataclasses.fields(Counts)})


def data_of(X: Any, y: Any, weights: Any, labels: Labels) -> Data:
    """Look at the data once, for all runs."""
    if isinstance(X, tuple) and is_events(X):
        X = list(X)
    rows = X if is_events(X) else as_batch(X)
    size = rows.rows.size if isinstance(rows, Batch) else len(rows)
    array = as_labels(y, size)
    labels, codes = labels.read(array)
    return Data(rows, _takeable(X), array, as_weights(weights, size), codes, labels)


def _takeable(X: Any) -> Any:
    """Return the rows in a form of which some can be taken at little cost."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    if hasattr(X, "columns") or hasattr(X, "column_names"):
        array, names = _from_frame(X)
        return array if names is None else Dense(array, names)
    if is_events(X) or hasattr(X, "indptr") or hasattr(X, "names"):
        return X
    return unmasked(X, "X")


def best_of(runs: Sequence[Run], larger: bool) -> Run:
    """Return the first of the runs with the best figure to choose by."""
    choices = np.array([run.choice if larger else -run.choice for run in runs])
    return runs[int(np.argmax(np.where(np.isnan(choices), -np.inf, choices)))]
