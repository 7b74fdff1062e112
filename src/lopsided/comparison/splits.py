"""The splits of a comparison: training rows in their order, and reported rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, ParameterError
from ..estimator.batch import as_order


@dataclasses.dataclass(frozen=True)
class Split:
    """Training rows in this order (None: all, in their order) and held-out rows.

    If nothing is held out the pass itself is reported, from event `start` on. `inner` are pairs of
    training and held-out rows within `train`, by which parameters are chosen. `seed` is added to
    the seed of a learner, so that runs do not all share the same random draws.
    """

    name: str
    train: NDArray[np.int64] | None
    test: NDArray[np.int64] | None = None
    start: int = 0
    inner: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...] = ()
    seed: int = 0


@dataclasses.dataclass(frozen=True)
class Splits:
    """All splits. `kind` is "permutations", "folds", "held out" or "time"."""

    kind: str
    words: str
    all: tuple[Split, ...]


_NO_NUMBER = "permutations={!r} is invalid: give a whole number, or the orders"


def permuted(permutations: Any, y: NDArray[Any], seed: int, held_out: bool) -> Splits:
    """Return splits over permutations: a number of random ones, or the given ones."""
    if isinstance(permutations, bool):
        raise InputError(_NO_NUMBER.format(permutations))
    if isinstance(permutations, (int, np.integer)):
        if permutations < 1:
            raise ParameterError(
                "permutations", "is invalid: at least 1 is needed", value=permutations
            )
        rng = np.random.default_rng(seed)
        orders: list[Any] = [rng.permutation(len(y)) for _ in range(permutations)]
    else:
        if not isinstance(permutations, Iterable):
            raise InputError(_NO_NUMBER.format(permutations))
        if isinstance(permutations, np.ndarray) and permutations.ndim == 1:
            raise ParameterError(
                "permutations", "must be a number, or several orders: one order per row"
            )
        orders = [as_order(order, len(y)) for order in permutations]
        if not orders:
            raise InputError("permutations is empty")
    splits = tuple(Split(f"permutation {k}", order, seed=k) for k, order in enumerate(orders))
    for split in splits:
        check_classes(y[split.train], split.name)
    many = "1 permutation" if len(splits) == 1 else f"{len(splits)} permutations"
    if held_out:
        return Splits(
            "held out", f"held-out rows after each of {many} of the training rows", splits
        )
    return Splits("permutations", many, splits)


def in_time(y: NDArray[Any], *, choosing: bool, held_out: bool) -> Splits:
    """Return the one split in the order of the rows; the first third may be for choosing."""
    if held_out:
        check_classes(y, "y")
        return Splits("held out", "held-out rows after one pass", (Split("held out", None),))
    start = len(y) // 3 if choosing else 0
    if choosing:
        check_classes(y[:start], "the first third of the rows, on which parameters are chosen,")
    check_classes(y[start:], "the reported part" if choosing else "y")
    words = f"one pass in order of time, from row {start}" if start else "one pass in order of time"
    return Splits("time", words, (Split("in order of time", None, start=start),))


def folded(folds: Any, y: NDArray[Any], seed: int, inner: int) -> Splits:
    """Return splits that each hold out one fold: k random ones, or the given ones."""
    if isinstance(folds, (int, np.integer)):
        numbers = stratified_folds(int(folds), y, seed)[:, None]
    else:
        numbers = np.asarray(folds)
        if numbers.ndim == 1:
            numbers = numbers[:, None]
        if numbers.ndim != 2 or numbers.dtype.kind not in "iu":
            raise ParameterError("folds", "must be a number, or an integer per row of X")
        if len(numbers) != len(y):
            raise InputError(f"X has {len(y)} rows but folds has {len(numbers)}")
    splits: list[Split] = []
    for repeat, column in enumerate(numbers.T):
        for fold in np.unique(column):
            name = f"fold {fold}" if numbers.shape[1] == 1 else f"fold {fold} of repeat {repeat}"
            held = column == fold
            if held.all():
                raise InputError(f"{name} has all rows: none are left to learn from")
            check_classes(y[held], name)
            check_classes(y[~held], f"the rest without {name}")
            train = np.flatnonzero(~held)
            parts = _parts(train, y, inner, seed + len(splits), name) if inner else ()
            splits.append(Split(name, train, np.flatnonzero(held), inner=parts))
    return Splits("folds", f"{len(splits)} held-out folds", tuple(splits))


def _parts(
    train: NDArray[np.int64], y: NDArray[Any], inner: int, seed: int, name: str
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]:
    """Return the folds of a training part as pairs of training and held-out rows."""
    few = int(np.unique(y[train], return_counts=True)[1].min())
    if few < inner:
        raise InputError(
            f"the rest without {name} has {few} rows of a class, too few for {inner} inner folds: "
            "take fewer"
        )
    numbers = stratified_folds(inner, y[train], seed)
    return tuple((train[numbers != k], train[numbers == k]) for k in range(inner))


def stratified_folds(k: int, y: NDArray[Any], seed: int) -> NDArray[np.int64]:
    """Return a random fold for every row, with each class spread evenly."""
    if k < 2:
        raise ParameterError("folds", "is invalid: at least 2 are needed", value=k)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    numbers = np.empty(len(y), np.int64)
    numbers[order] = np.arange(len(y)) % k
    return numbers


def check_classes(y: NDArray[Any], name: str) -> None:
    """Raise unless there are two classes in y."""
    if len(y) == 0:
        raise InputError(f"{name} has no rows")
    if (y == y[0]).all():
        label = y[:1].tolist()[0]
        raise InputError(f"{name} has only the class {label!r}: learners cannot be compared on it")
