"""The plan of a comparison: learners with their grids, rows, splits and what decides."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, ParameterError
from ..estimator.base import OnlineClassifier
from ..estimator.labels import Labels
from ..estimator.times import as_delays
from ..evaluation.late import delays_by_time
from ..evaluation.progressive import checked_refit
from .dataset import Dataset, read_dataset
from .grids import Learner, learners_of
from .journal import digest
from .measures import Prices, measure
from .sklearn_models import Outside
from .splits import Splits, check_classes, folded, in_time, permuted


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that decides the result of a comparison, validated; nothing has been run.

    Attributes
    ----------
    learners : list of Learner
        The learners with their grids.
    data : Dataset
        Rows to learn from.
    held_out : Dataset or None
        Rows to report on.
    splits : Splits
        Which rows each run learns from and reports on.
    metric : str
        What decides.
    prices : Prices
        Weight of sensitivity and costs of mistakes.
    points : int
        Approximate length of a curve.
    known_counts : bool
        Whether class counts are known in advance.
    select, search : str
        As given to `compare`.
    inner : int
        Number of folds inside a training part; 0 for none.
    seed : int
        Seed of permutations and folds.
    given : tuple
        X and held_out as the caller passed them.
    late : dict
        delay, or time and label_time, as given to `compare`; empty if labels come at once.
    """

    learners: list[Learner]
    data: Dataset
    held_out: Dataset | None
    splits: Splits
    metric: str
    prices: Prices
    points: int
    known_counts: bool
    select: str
    search: str
    inner: int
    seed: int
    given: tuple[Any, Any] = dataclasses.field(repr=False)
    late: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    @property
    def choosing(self) -> bool:
        """Whether a learner has more than one point in its grid."""
        return any(len(learner.points) > 1 for learner in self.learners)

    @property
    def rule(self) -> str:
        """How parameters are chosen: a kind of splits, "inner", "best" or "none"."""
        if self.inner:
            return "inner"
        if not self.choosing:
            return "none"
        return self.splits.kind if self.select == "honest" else self.select

    @property
    def larger_is_better(self) -> bool:
        """Which way the metric goes."""
        return measure(self.metric).larger_is_better

    def facts(self) -> dict[str, str]:
        """Return what a journal must match to be resumed by this comparison."""
        from .. import __version__  # slow to look up, rarely needed

        X, held_out = self.given
        orders = [(split.train, split.test, split.inner) for split in self.splits.all]
        return {
            "version of lopsided": __version__,
            "data": digest(X),
            "labels": digest(self.data.y),
            "weights": digest(self.data.weights),
            "held-out data": digest(held_out),
            "learners": ", ".join(f"{one.name} = {one.model!r}" for one in self.learners),
            "arrays": digest([_arrays(one) for one in self.learners]),
            "grids": "; ".join(str(one.points) for one in self.learners),
            "kind of runs": self.splits.words,
            "runs": digest(orders),
            "metric": self.metric,
            "prices": repr(self.prices),
            "points": repr(self.points),
            "known_counts": repr(self.known_counts),
            **({"late labels": digest([*self.late.items()])} if self.late else {}),
        }


def make_plan(
    learners: Any,
    X: Any,
    y: ArrayLike,
    *,
    grid: Any = None,
    permutations: Any = None,
    folds: Any = None,
    held_out: tuple[Any, ...] | None = None,
    metric: str = "sum",
    alpha: float = 0.5,
    fn: float = 0.9,
    fp: float = 0.1,
    select: str = "honest",
    inner: int | None = None,
    search: str = "all",
    sample_weight: ArrayLike | None = None,
    seed: int = 0,
    points: int = 15,
    order: str = "random",
    known_counts: bool | None = None,
    positive: Any = None,
    delay: Any = None,
    time: Any = None,
    label_time: Any = None,
    refit_every: int | None = None,
) -> Plan:
    """Validate the options of a comparison; the parameters are those of `compare`."""
    _check(select, order, permutations, folds, held_out)
    refit_every = checked_refit(refit_every)
    contenders = learners_of(learners, grid, positive=positive, refit_every=refit_every)
    measure(metric)
    data = read_dataset(X, y, sample_weight, _labels(contenders, positive))
    choosing = any(len(one.points) > 1 for one in contenders)
    within = _inner(inner, folds, choosing, select)
    honest = choosing and select == "honest"
    splits = _splits(data.y, permutations, folds, held_out, seed, order, honest, within)
    _check_search(search, choosing, select, splits.kind)
    if honest and splits.kind == "permutations" and len(splits.all) < 2:
        raise InputError(
            "one permutation leaves no other to choose parameters on: take more, or no grid, or "
            "select the best"
        )
    for one in contenders:
        _check_sklearn(
            one, sample_weight, folds is None and held_out is None, honest and not within
        )
    late = _late(delay, time, label_time, len(data.y), order == "time" or folds is not None)
    prices = Prices(alpha=alpha, fn=fn, fp=fp)
    return Plan(
        learners=contenders,
        data=data,
        held_out=_held_out(held_out, data.labels),
        splits=splits,
        metric=metric,
        prices=prices,
        points=points,
        known_counts=order != "time" if known_counts is None else known_counts,
        select=select,
        search=search,
        inner=within,
        seed=seed,
        given=(X, held_out),
        late=late,
    )


def _late(delay: Any, time: Any, label_time: Any, rows: int, in_order: bool) -> dict[str, Any]:
    """Return when labels come; raise unless it is said in one way."""
    if delay is not None:
        if label_time is not None:
            raise ParameterError("delay", "and label_time contradict each other: give one of them")
        as_delays(delay, rows, 0)
    if label_time is None:
        if time is not None:
            raise ParameterError("time", "has an effect only with label_time: leave it out")
        return {} if delay is None else {"delay": delay}
    if not in_order:
        raise ParameterError("label_time", "needs rows in their order: order='time' or folds")
    delays_by_time(time, label_time, rows)
    return {"time": time, "label_time": label_time}


def _labels(contenders: list[Learner], positive: Any) -> Labels:
    """Return what the learners say of the labels; those from elsewhere say nothing."""
    for one in contenders:
        if isinstance(one.model, OnlineClassifier):
            weight = getattr(one.model, "class_weight", None)
            return Labels.start(one.model.positive, None, weight)
    return Labels.start(positive, None, None)


def _check_sklearn(one: Learner, weights: Any, progressive: bool, by_pass: bool) -> None:
    """Raise if a classifier from elsewhere cannot do what the comparison needs."""
    if not isinstance(one.model, Outside):
        return
    if weights is not None:
        one.model.check_weights(one.name)
    if one.model.online:
        return
    if progressive:
        raise InputError(
            f"{one.name} has no partial_fit, so it cannot be scored while it learns: compare on "
            "folds or held_out, or give refit_every"
        )
    if by_pass and len(one.points) > 1:
        raise InputError(
            f"{one.name} has no partial_fit, so its parameters cannot be chosen by the training "
            "pass: take folds with inner folds, or one setting"
        )


def _held_out(held_out: tuple[Any, ...] | None, labels: Labels) -> Dataset | None:
    if held_out is None:
        return None
    X, y, weights = (*held_out, None)[:3]
    held = read_dataset(X, y, weights, labels)
    check_classes(held.y, "held_out")
    return held


def _check(select: str, order: str, permutations: Any, folds: Any, held_out: Any) -> None:
    if select not in ("honest", "best"):
        raise ParameterError("select", "is invalid: it must be 'honest' or 'best'", value=select)
    if order not in ("random", "time"):
        raise ParameterError("order", "is invalid: it must be 'random' or 'time'", value=order)
    if permutations is not None and order == "time":
        raise ParameterError(
            "permutations", "and order='time' contradict each other: leave one of the two out"
        )
    if folds is not None and (permutations is not None or held_out is not None or order == "time"):
        raise InputError(
            "folds learn from the rows in their order and hold out the rest: leave out "
            "permutations, held_out and order"
        )
    if held_out is not None and not (isinstance(held_out, tuple) and len(held_out) in (2, 3)):
        raise ParameterError("held_out", "must be a tuple (X, y) or (X, y, sample_weight)")


def _inner(inner: Any, folds: Any, choosing: bool, select: str) -> int:
    """Return the number of folds inside a training part."""
    applies = folds is not None and choosing and select == "honest"
    if inner is None:
        return 5 if applies else 0
    if not applies:
        raise ParameterError(
            "inner", "is for choosing parameters honestly inside folds: leave it out"
        )
    is_int = isinstance(inner, (int, np.integer)) and not isinstance(inner, bool)
    if not is_int or inner < 0 or inner == 1:
        raise ParameterError("inner", "is invalid: it must be 0 or at least 2", value=inner)
    return int(inner)


def _check_search(search: str, choosing: bool, select: str, kind: str) -> None:
    if search not in ("all", "coarse"):
        raise ParameterError("search", "is invalid: it must be 'all' or 'coarse'", value=search)
    if search == "all":
        return
    if not choosing:
        raise InputError("search='coarse' needs a grid, and no learner has one: leave it out")
    if select == "best" or kind == "permutations":
        raise InputError(
            "search='coarse' needs runs that each choose their own parameters: take folds, "
            "held_out or order='time', and select='honest'"
        )


def _splits(
    y: NDArray[Any],
    permutations: Any,
    folds: Any,
    held_out: Any,
    seed: int,
    order: str,
    honest: bool,
    inner: int,
) -> Splits:
    if folds is not None:
        return folded(folds, y, seed, inner)
    if order == "time":
        return in_time(y, choosing=honest, held_out=held_out is not None)
    return permuted(20 if permutations is None else permutations, y, seed, held_out is not None)


def _arrays(learner: Learner) -> list[Any]:
    """Return the parameters that are arrays, which NumPy abbreviates in a repr."""
    given = [learner.model.get_params(), *learner.points]
    return [
        [name, value]
        for parameters in given
        for name, value in parameters.items()
        if isinstance(value, np.ndarray)
    ]
