"""Error, time and balanced accuracy by sparsity."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..algorithms.sparse import SparseClassifier
from ..catalog import find
from ..errors import DivergedError, InputError
from ..estimator.bank import may_share
from ..estimator.base import OnlineClassifier
from ..evaluation.progressive import progressive, run_bank
from ..metrics import Counts


@dataclasses.dataclass(frozen=True)
class SweepPoint:
    """One learner with one regularization strength, averaged over permutations.

    Attributes
    ----------
    learner, parameter, value
        Which learner, and the value of `l1` or `target_sparsity`.
    sparsity : float
        The share of features with zero weight in the final model.
    error, balanced : float
        Error rate and balanced accuracy on the test rows, or of the progressive pass without test
        rows.
    seconds : float
        Time of the pass in the core.
    """

    learner: str
    parameter: str
    value: float
    sparsity: float
    error: float
    balanced: float
    seconds: float


def sparsity_sweep(
    learners: Iterable[str],
    X: Any,
    y: ArrayLike,
    *,
    l1: Iterable[float] | None = None,
    target_sparsity: Iterable[float] | None = None,
    test: tuple[Any, ArrayLike] | None = None,
    permutations: int = 1,
    seed: int = 0,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[SweepPoint]:
    """Run learners over a stream with several regularization strengths.

    Parameters
    ----------
    learners : names
        Sparse learners of the catalog.
    X, y : as for fit
        The stream.
    l1, target_sparsity : values
        The values to try; give one of the two.
    test : pair of X and y, optional
        Rows to evaluate the final models on.
    permutations : int
        Number of row orders to average over; the first is the given order.
    seed : int
        Seed of the other orders.
    parameters : mapping from names to parameters, optional
        Parameters of the learners, for example from :func:`tuned`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 20))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> for point in sparsity_sweep(["FSOL"], X, y, target_sparsity=[0.5, 0.9]):
    ...     print(point.learner, f"{point.sparsity:.2f} {point.error:.3f}")
    FSOL 0.50 0.110
    FSOL 0.90 0.072
    """
    if (l1 is None) == (target_sparsity is None):
        raise InputError("give l1 or target_sparsity: the values to try")
    parameter = "l1" if l1 is not None else "target_sparsity"
    values = list(l1 if l1 is not None else target_sparsity or ())
    orders = list(_orders(np.size(y), permutations, seed))
    points = []
    for name, value in itertools.product(learners, values):
        own = {**(parameters or {}).get(name, {}), parameter: value}
        # One pass each, because its time is reported.
        runs = [_run(name, own, X, y, order, test) for order in orders]
        points.append(SweepPoint(name, parameter, value, *np.mean(runs, axis=0).tolist()))
    return points


def tuned(
    name: str,
    X: Any,
    y: ArrayLike,
    *,
    balanced: bool = False,
    fixed: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the best grid point of a learner on a stream, without regularization.

    Parameters
    ----------
    name : str
        A learner of the catalog.
    X, y : as for fit
        The stream; the progressive pass over it is compared.
    balanced : bool
        Compare balanced accuracy instead of the number of mistakes.
    fixed : mapping, optional
        Parameters that every point of the grid has, such as `scaling`; they are not returned.
    """
    entry = find(name)
    grid = [dict(zip(entry.grid, v, strict=True)) for v in itertools.product(*entry.grid.values())]

    def plain(params: dict[str, Any]) -> OnlineClassifier:
        model = entry.make(**{**(fixed or {}), **params})
        if isinstance(model, SparseClassifier):
            model.l1 = 0.0
        return model

    # Without a shared pass, one model at a time saves memory.
    size = len(grid) if may_share(plain(grid[0]), X) else 1
    best: dict[str, Any] = {}
    least = np.inf
    for first in range(0, len(grid), size):
        part = grid[first : first + size]
        runs = run_bank(
            [plain(params) for params in part],
            X,
            y,
            order=None,
            sample_weight=None,
            resume=False,
            points=0,
        )
        for params, run in zip(part, runs, strict=True):
            if isinstance(run, DivergedError):  # scores overflow at this rate
                continue
            loss = -run.sum() if balanced else 1 - run.accuracy
            if loss < least:
                least, best = loss, params
    return best


def _run(
    name: str, params: dict[str, Any], X: Any, y: ArrayLike, order: Any, test: Any
) -> tuple[float, float, float, float]:
    model = find(name).make(**params)
    if not isinstance(model, SparseClassifier):
        raise InputError(f"{name} has no sparse model: there is nothing to sweep")
    progress = progressive(model, X, y, order=order, points=0)
    counts: Counts = progress
    if test is not None:
        rows, labels = test
        positive = model.labels.positive
        counts = Counts.tally(np.asarray(labels) == positive, model.predict(rows) == positive)
    return model.sparsity_, 1 - counts.accuracy, counts.sum(), progress.seconds


def _orders(rows: int, permutations: int, seed: int) -> Iterator[Any]:
    yield None
    rng = np.random.default_rng(seed)
    for _ in range(permutations - 1):
        yield rng.permutation(rows)
