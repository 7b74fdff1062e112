"""Active learners by label budget and by their parameters."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..algorithms.active import Active
from ..algorithms.wrapper import resolved
from ..catalog import find
from ..errors import InputError
from ..estimator.base import OnlineClassifier
from ..evaluation.progress import Progress
from ..evaluation.progressive import progressive

METHODS = ("PAA", "OAAL", "CSOAL", "SOAL", "SOAL-CS", "OA3", "OA3-diag", "SOA3", "SSOA3")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Aim:
    """What learners are optimized for, and how they are run.

    Parameters
    ----------
    metric : {"sum", "cost"}
        Cost-sensitive learners get their costs from it.
    alpha : float
        Weight of sensitivity in the sum.
    fn, fp : float
        Cost of a missed positive and of a false alarm.
    known_counts : bool
        For the sum: give learners the class counts in advance, as the papers do, instead of letting
        them estimate the ratio from the queried labels.
    settings : mapping
        Further parameters of all learners, such as scaling.
    """

    metric: Literal["sum", "cost"] = "sum"
    alpha: float = 0.5
    fn: float = 0.9
    fp: float = 0.1
    known_counts: bool = False
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def loss(self, counts: Any) -> float:
        """Return the quantity to minimize."""
        if self.metric == "sum":
            return -float(counts.sum(self.alpha))
        return float(counts.cost(self.fn, self.fp))

    def model(self, name: str, params: Mapping[str, Any], labels: Sequence[Any]) -> Active:
        """Return a learner with the costs of this aim."""
        model = find(name).make(**{**self.settings, **params})
        if not isinstance(model, Active):
            raise InputError(f"{name} does not ask for labels: take one of {', '.join(METHODS)}")
        if model.class_weight is None:
            return model
        if self.metric == "sum":
            return model.set_params(class_weight="balanced", sensitivity_weight=self.alpha)
        return model.set_params(class_weight={labels[1]: self.fn, labels[0]: self.fp})


@dataclasses.dataclass(frozen=True, kw_only=True)
class LabelPoint:
    """One learner with one budget, averaged over orders of the stream.

    Attributes
    ----------
    learner, parameters, budget
        The learner, its parameters, and the most labels it may query; None for every label.
    labels : float
        Number of queried labels.
    sum, cost, sensitivity, specificity : float
        Over all events, including those after the budget is spent.
    sum_std, cost_std : float
        Sample standard deviations over the orders.
    seconds : float
        Time of a pass in the core.
    curve : list of dicts
        "events", "labels", "sum" and "cost" (per event) at points along the pass.
    """

    learner: str
    parameters: Mapping[str, Any]
    budget: int | None
    labels: float
    sum: float
    sum_std: float
    cost: float
    cost_std: float
    sensitivity: float
    specificity: float
    seconds: float
    curve: list[dict[str, float]] = dataclasses.field(repr=False)


def label_point(
    name: str,
    X: Any,
    y: ArrayLike,
    orders: Iterable[ArrayLike],
    *,
    budget: int | None,
    parameters: Mapping[str, Any] | None = None,
    aim: Aim | None = None,
) -> LabelPoint:
    """Run a learner over a stream in several orders.

    Parameters
    ----------
    name : str
        An active learner of the catalog.
    X, y : as for fit
        The stream.
    orders : arrays
        The rows to visit, one array per run; run k uses seed k.
    budget : int or None
        The most labels that may be queried. None: every label is given, nothing is queried.
    parameters : mapping, optional
        Parameters of the learner.
    aim : Aim, optional
        Default: balanced accuracy with unknown class counts.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> y = X[:, 0] + X[:, 1] > 2
    >>> orders, aim = [np.arange(2000)], Aim(settings={"intercept": True})
    >>> for budget in (50, None):
    ...     point = label_point("OA3", X, y, orders, budget=budget, aim=aim)
    ...     print(point.labels, round(point.sum, 2))
    50.0 0.67
    2000.0 0.81
    """
    aim = aim or Aim()
    given = dict(parameters or {})
    orders = list(orders)
    runs = [
        _run(name, X, y, order, budget, given, aim, seed=seed, points=15)
        for seed, order in enumerate(orders)
    ]
    sums, costs = [run.sum(aim.alpha) for run in runs], [run.cost(aim.fn, aim.fp) for run in runs]
    labels = [run.events if budget is None else run.queries for run in runs]
    return LabelPoint(
        learner=name,
        parameters=given,
        budget=budget,
        labels=float(np.mean(labels)),
        sum=float(np.mean(sums)),
        sum_std=_std(sums),
        cost=float(np.mean(costs)),
        cost_std=_std(costs),
        sensitivity=float(np.mean([run.sensitivity for run in runs])),
        specificity=float(np.mean([run.specificity for run in runs])),
        seconds=float(np.mean([run.seconds for run in runs])),
        curve=[
            {
                "events": float(np.mean([c.events for c in at])),
                "labels": float(np.mean([c.queries for c in at])),
                "sum": float(np.mean([c.sum(aim.alpha) for c in at])),
                "cost": float(np.mean([c.cost(aim.fn, aim.fp) / c.events for c in at])),
            }
            for at in zip(*(run.curve for run in runs), strict=False)
        ],
    )


def chosen(
    name: str,
    X: Any,
    y: ArrayLike,
    orders: Iterable[ArrayLike],
    *,
    budget: int | None,
    aim: Aim | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
) -> dict[str, Any]:
    """Return the grid point with the best mean over some orders.

    Parameters
    ----------
    name, X, y, orders, budget, aim
        As for label_point. The choice is honest if these orders are not reported; shorter ones get
        the same share of the budget.
    grid : mapping, optional
        Values by parameter. Default: the grid of the catalog.
    """
    aim = aim or Aim()
    grid = find(name).grid if grid is None else grid
    if budget is None:
        grid = {k: values for k, values in grid.items() if not k.startswith("delta")}
    orders = list(orders)
    best: dict[str, Any] | None = None
    least, refused = np.inf, None
    for values in itertools.product(*grid.values()):
        params = dict(zip(grid, values, strict=True))
        try:
            losses = [
                aim.loss(_run(name, X, y, order, _share(budget, order, y), params, aim, seed=seed))
                for seed, order in enumerate(orders)
            ]
        except ValueError as error:  # scores overflow at this rate
            refused = error
            continue
        if np.mean(losses) < least:
            least, best = float(np.mean(losses)), params
    if best is None:
        raise InputError(f"{name}: no point of the grid is possible") from refused
    return best


def budget_sweep(
    names: Iterable[str],
    X: Any,
    y: ArrayLike,
    budgets: Iterable[int | None],
    *,
    orders: Iterable[ArrayLike],
    choose_on: Iterable[ArrayLike],
    aim: Aim | None = None,
) -> list[LabelPoint]:
    """Run learners with several budgets and parameters chosen for each budget.

    Parameters
    ----------
    names, X, y, orders, aim
        As for label_point.
    budgets : numbers of labels
        None for every label.
    choose_on : arrays
        Orders to choose parameters on.
    """
    orders, choose_on = list(orders), list(choose_on)
    points = []
    for name, budget in itertools.product(names, list(budgets)):
        params = chosen(name, X, y, choose_on, budget=budget, aim=aim)
        points.append(label_point(name, X, y, orders, budget=budget, parameters=params, aim=aim))
    return points


def labels_needed(points: Iterable[LabelPoint], goal: float) -> float | None:
    """Return the number of labels a learner needs for a sum of `goal`.

    Interpolates the logarithm of the labels between two budgets. Returns the labels of the
    smallest budget if that is enough, and None if no budget is.
    """
    ordered = sorted((p for p in points if p.budget is not None), key=lambda p: p.labels)
    before = None
    for point in ordered:
        if point.sum >= goal:
            if before is None or point.sum == before.sum:
                return point.labels
            part = (goal - before.sum) / (point.sum - before.sum)
            logs = np.log([max(1.0, before.labels), max(1.0, point.labels)])
            return float(np.exp(logs[0] + part * (logs[1] - logs[0])))
        before = point
    return None


def _run(
    name: str,
    X: Any,
    y: ArrayLike,
    order: ArrayLike,
    budget: int | None,
    params: Mapping[str, Any],
    aim: Aim,
    *,
    seed: int,
    points: int = 0,
) -> Progress:
    asking = aim.model(name, params, np.unique(y).tolist())
    model: OnlineClassifier = asking
    if budget is None:
        inner = resolved(asking.learner)
        model = type(inner)(**inner.get_params())
    else:
        asking.set_params(budget=int(budget), seed=seed)
    fresh = aim.known_counts or aim.metric == "cost"
    return progressive(model, X, y, order=order, resume=not fresh, points=points)


def _share(budget: int | None, order: ArrayLike, y: ArrayLike) -> int | None:
    return None if budget is None else max(1, round(budget * np.size(order) / np.size(y)))


def _std(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
