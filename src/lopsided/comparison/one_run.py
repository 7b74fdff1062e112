"""One run of a comparison: a learner with one setting on one split."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadRowError, DivergedError, LabelError, LopsidedError
from ..evaluation.progress import Progress
from ..evaluation.progressive import run_bank
from ..metrics import Counts
from .dataset import Outcome, finished, judged
from .grids import Learner
from .measures import Prices, measure
from .plan import Plan
from .sklearn_models import Outside, train_each
from .splits import Split


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run:
    """The result of one learner with one setting on one split.

    Attributes
    ----------
    learner : str
        Its name.
    point : int
        Index of the grid point.
    parameters : dict
        The parameters that the grid sets at this point.
    split : int
        Index of the permutation or fold.
    choice : float
        The metric on the rows that an honest choice of parameters may use.
    value : float
        The metric on the reported rows.
    counts : Counts
        Counts of the reported rows; updates and queries are those of the training pass.
    seconds : float
        Time of the pass in the core; runs that share a pass split its time evenly.
    nnz, sparsity : float or None
        Number of nonzero weights after the pass and share of zero weights; None if the learner has
        no weights.
    curve : tuple of Counts
        The counts at points along the pass.
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
        """Return the measures of the run by name."""
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

    @property
    def failed(self) -> bool:
        """Whether the scores overflowed: there are no figures."""
        return self.counts.events == 0 and math.isnan(self.value)

    def to_dict(self) -> dict[str, Any]:
        """Return the run as a dict, without its curve."""
        found = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del found["curve"]
        return {**found, "counts": dataclasses.asdict(self.counts)}


def run_split(plan: Plan, learner: Learner, points: Sequence[int], at: int) -> list[Run]:
    """Run some points of a learner's grid on one split, in one pass where possible."""
    split = plan.splits.all[at]
    try:
        models = [learner.make(point, split.seed) for point in points]
        passes = _train(plan, models, split.train, plan.points)
        parts = _parts(plan, passes, split, models)
        folds = [_inner_fold(plan, learner, points, *fold) for fold in split.inner]
    except (BadRowError, LabelError):
        raise
    except ValueError as error:
        if len(points) > 1:  # run them one by one to find the culprit
            return [run for point in points for run in run_split(plan, learner, [point], at)]
        raise _blame(learner, points[0], split, error) from None
    return [  # a model outside its bank takes more memory, so drop each once it is reported
        _report(plan, learner, point, at, models.pop(0), passes[k], parts[k], [f[k] for f in folds])
        for k, point in enumerate(points)
    ]


def best_run(runs: Sequence[Run], larger_is_better: bool) -> Run:
    """Return the first run with the best figure to choose by; NaN is worst."""
    choices = np.array([run.choice if larger_is_better else -run.choice for run in runs])
    return runs[int(np.argmax(np.where(np.isnan(choices), -np.inf, choices)))]


def _report(
    plan: Plan,
    learner: Learner,
    point: int,
    at: int,
    model: Any,
    outcome: Outcome,
    parts: tuple[Outcome, Outcome],
    inner: Sequence[Outcome],
) -> Run:
    """Return the record of a run whose passes are over."""
    value = measure(plan.metric).of
    try:
        learned = finished(outcome)
        chosen_by, reported = map(finished, parts)
        choice = value(chosen_by, plan.prices) if len(chosen_by.labels) else math.nan
        if inner:
            choice = float(np.mean([value(finished(fold), plan.prices) for fold in inner]))
    except (BadRowError, LabelError):
        raise
    except ValueError as error:
        if isinstance(error, DivergedError) and len(learner.points) + len(plan.learners) > 2:
            return _diverged(learner, point, at)
        raise _blame(learner, point, plan.splits.all[at], error) from None
    nnz, sparsity = _sparsity(model)
    return Run(
        learner=learner.name,
        point=point,
        parameters=learner.points[point],
        split=at,
        choice=float(choice),
        value=float(value(reported, plan.prices)),
        counts=Counts.of(reported),
        seconds=learned.seconds,
        nnz=nnz,
        sparsity=sparsity,
        curve=learned.curve,
    )


def _train(
    plan: Plan, models: Sequence[Any], rows: NDArray[np.int64] | None, points: int
) -> list[Outcome]:
    if isinstance(models[0], Outside):
        late = tuple(plan.late.get(name) for name in ("delay", "time", "label_time"))
        return train_each(models, plan.data, rows, points, late)
    return run_bank(
        models,
        plan.data.X,
        plan.data.y,
        order=rows,
        sample_weight=plan.data.weights,
        resume=not plan.known_counts,
        points=points,
        **plan.late,
    )


def _inner_fold(
    plan: Plan,
    learner: Learner,
    points: Sequence[int],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> list[Outcome]:
    models = [learner.make(point) for point in points]
    return plan.data.scored(models, test, _train(plan, models, train, 0))


def _parts(
    plan: Plan, passes: Sequence[Outcome], split: Split, models: Sequence[Any]
) -> list[tuple[Outcome, Outcome]]:
    """Return for each model what parameters may be chosen by, and what is reported."""
    if split.test is not None or plan.held_out is not None:
        held = plan.data if plan.held_out is None else plan.held_out
        return list(zip(passes, held.scored(models, split.test, passes), strict=True))
    if not split.start:
        return [(one, one) for one in passes]
    first, rest = slice(split.start), slice(split.start, None)
    return [
        (one, one) if isinstance(one, DivergedError) else (_part(one, first), _part(one, rest))
        for one in passes
    ]


def _part(progress: Progress, part: slice) -> Progress:
    weights = None if progress.weights is None else progress.weights[part]
    alarms = progress.alarms[part]
    return judged(progress.labels[part], progress.scores[part], alarms, weights, progress)


def _blame(learner: Learner, point: int, split: Split, error: ValueError) -> ValueError:
    settings = ", ".join(f"{name}={value!r}" for name, value in learner.points[point].items())
    who = f"{learner.name} with {settings}" if settings else learner.name
    place = f"{who}, {split.name}"
    if isinstance(error, LopsidedError):
        return error.within(place)
    return ValueError(f"{place}: {error}")


def _sparsity(model: Any) -> tuple[int | None, float | None]:
    """Return the number of nonzero weights and the share of zero weights."""
    fitted = getattr(model, "fitted", None)
    nnz = None if fitted is None else fitted.core.banked_nonzeros
    if nnz is None:
        weights = getattr(model, "coef_", None)
        if weights is None:
            return None, None
        nnz = weights.nnz if hasattr(weights, "nnz") else int(np.count_nonzero(weights))
    return nnz, 1 - nnz / max(1, model.n_features_in_)


def _diverged(learner: Learner, point: int, at: int) -> Run:
    """Return the record of a run whose scores overflowed: it is never chosen."""
    return Run(
        learner=learner.name,
        point=point,
        parameters=learner.points[point],
        split=at,
        choice=math.nan,
        value=math.nan,
        counts=Counts(),
        seconds=0.0,
        nnz=None,
        sparsity=None,
        curve=(),
    )
