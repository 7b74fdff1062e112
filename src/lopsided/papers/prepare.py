"""Preparing a data set as a paper did: classes, samples, splits and scaling."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..comparison.journal import digest
from ..data.block import Block, Sparse
from ..data.gather import taken
from ..data.sets import registry
from ..errors import DataError, ParameterError

SEED = 0  # for samples and splits that are not published
# Number of positive rows implied by the printed costs, where the paper is silent or wrong.
_POSITIVES = {"protein": 8198, "mushrooms": 4208}
_SHARE = {"cifar10": 0.2}  # of the rows
# Training rows; the rest is for testing. Random rows, or the first ones where the paper says so.
_TRAIN = {"news20": 10_000, "url": 2_000_000, "webspam": 300_000}
_IN_ORDER = ("url",)
# Sampled positives and negatives, for training and for testing.
_SAMPLES = {
    "url2": ((10_000, 990_000), (1_000, 99_000)),
    "webspam2": ((1_000, 99_000), (100, 9_900)),
}
_DENSE = 0.25  # share of nonzeros from which rows are stored as arrays


@dataclasses.dataclass
class PaperData:
    """A data set as a paper used it.

    Attributes
    ----------
    name : str
        The data set that was read, which may be a substitute.
    X, y : rows and labels +1 and -1
        Training rows.
    test : pair of X and y, or None
        Held-out rows.
    other : bool
        Whether it is known to differ from the data of the paper.
    zeros : pair of int
        Number of positive and of negative all-zero rows that were removed.
    notes : list of str
        Differences from the paper's data, and decisions made here.
    """

    name: str
    X: Any
    y: NDArray[np.int64]
    test: tuple[Any, NDArray[np.int64]] | None = None
    other: bool = False
    zeros: tuple[int, int] = (0, 0)
    notes: list[str] = dataclasses.field(default_factory=list)

    @property
    def positives(self) -> int:
        """The number of positive training rows."""
        return int(np.count_nonzero(self.y > 0))

    @functools.cached_property
    def fingerprint(self) -> str:
        """A fingerprint of all rows and labels."""
        return digest([self.X, self.y, *(self.test or ())])


def scaled(X: Any, scaling: str) -> Any:
    """Scale rows as a paper did.

    Examples
    --------
    >>> scaled(np.array([[3.0, 4.0], [0.0, 0.0]]), "unit").tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    if scaling == "none":
        return X
    if scaling == "standard+unit":
        X = _dense(X) if isinstance(X, Sparse) else X
        deviations = X.std(axis=0, ddof=1)
        X = (X - X.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
    elif scaling != "unit":
        raise ParameterError("scaling", "is invalid", value=scaling)
    if isinstance(X, Sparse):
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        norms = np.sqrt(np.bincount(row, X.data**2, X.shape[0]))
        return dataclasses.replace(X, data=X.data / np.where(norms > 0, norms, 1.0)[row])
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1.0)


def labelled(
    name: str,
    X: Any,
    y: Any,
    positive: registry.Positive | None,
    notes: list[str] | None = None,
) -> PaperData:
    """Turn the labels of a file into +1 and -1."""
    y = np.asarray(y)
    notes = notes or []
    is_positive, note = _positive_rows(name, y, positive)
    return PaperData(name, X, np.where(is_positive, 1, -1), notes=notes + ([note] if note else []))


def _positive_rows(
    name: str, y: NDArray[Any], positive: registry.Positive | None
) -> tuple[NDArray[np.bool_], str]:
    """Return which rows are positive, and a note if this had to be decided here."""
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise DataError(name, expected="rows of two classes")
    if name in _POSITIVES:
        return _classes_with(name, y, _POSITIVES[name])
    if positive is None or positive.rule == "topic":
        return y > 0, ""
    if positive.rule == "label":
        if y.dtype.kind in "US":
            return np.isin(y, positive.labels), ""
        return np.isin(y, [float(label) for label in positive.labels]), ""
    if positive.rule == "rarer":
        return y == classes[np.argmin(counts)], ""
    if len(classes) > 2:
        raise DataError(name, expected="two classes: the paper does not say which is positive")
    return y == classes[-1], f"positive: {classes[-1]:g}, the larger label; the paper is silent"


def _classes_with(name: str, y: NDArray[Any], wanted: int) -> tuple[NDArray[np.bool_], str]:
    """Return the rows of the classes that together have the wanted number of rows."""
    classes, counts = np.unique(y, return_counts=True)
    for size in range(1, len(classes)):
        for chosen in itertools.combinations(range(len(classes)), size):
            if counts[list(chosen)].sum() == wanted:
                which = " and ".join(f"{classes[k]:g}" for k in chosen)
                note = f"positive: class {which}, the {wanted:,} rows behind the printed costs"
                return np.isin(y, classes[list(chosen)]), note
    raise DataError(name, expected=f"classes of {wanted:,} rows, the count behind the figures")


def share_of(data: PaperData) -> PaperData:
    """Return a random sample where the paper used one."""
    share = _SHARE.get(data.name)
    if share is None:
        return data
    size = len(data.y)
    rows = np.sort(np.random.default_rng(SEED).permutation(size)[: round(share * size)])
    X, y = _rows(data, rows)
    note = f"{share:.0%} of the rows, drawn here: those of the paper are not published"
    return dataclasses.replace(data, X=X, y=y, notes=[*data.notes, note])


def split(data: PaperData, train: int) -> PaperData:
    """Split into training and test rows, at random where there is only one file."""
    size = len(data.y)
    order = np.arange(size)
    notes = list(data.notes)
    if train == size:
        wanted = _TRAIN.get(data.name)
        train = 3 * size // 4 if wanted is None else round(wanted * size / _published_rows(data))
        if data.name not in _IN_ORDER:
            order = np.random.default_rng(SEED).permutation(size)
            notes.append("training and test rows drawn here: those of the paper are not published")
    first, rest = order[:train], order[train:]
    X, y = _rows(data, first)
    return dataclasses.replace(data, X=X, y=y, test=_rows(data, rest), notes=notes)


def _published_rows(data: PaperData) -> int:
    return registry.lookup(data.name).rows or len(data.y)


def sampled(name: str, base: PaperData) -> PaperData:
    """Return a sample of a set with another ratio of the classes."""
    assert base.test is not None
    rng = np.random.default_rng(SEED)
    parts = []
    for (X, y), (positives, negatives) in zip(
        ((base.X, base.y), base.test), _SAMPLES[name], strict=True
    ):
        own = [np.flatnonzero(y > 0), np.flatnonzero(y < 0)]
        wanted = [positives, negatives]
        share = min(1.0, *(len(o) / w for o, w in zip(own, wanted, strict=True)))
        drawn = [
            rng.permutation(o)[: max(1, int(share * w))] for o, w in zip(own, wanted, strict=True)
        ]
        rows = np.sort(np.concatenate(drawn))
        parts.append(_rows(PaperData(name, X, y), rows))
    train, test = (int(np.count_nonzero(y > 0)) for _, y in parts)
    notes = [
        *base.notes,
        "the sample is drawn here: that of the paper is not published",
        f"{train:,} positives to train on, {test:,} to test on",
    ]
    return PaperData(name, *parts[0], test=parts[1], notes=notes)


def _rows(data: PaperData, rows: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64]]:
    lines = np.arange(len(data.y))
    block = taken(Block(data.X, data.y, None, lines, data.name), rows)
    assert block.y is not None
    return block.X, block.y


def remove_zero_rows(data: PaperData) -> None:
    """Remove all-zero rows and count them."""
    if isinstance(data.X, Sparse):
        row = np.repeat(np.arange(len(data.y)), np.diff(data.X.indptr))
        empty = np.bincount(row, data.X.data != 0, len(data.y)) == 0
    else:
        empty = ~np.any(data.X, axis=1)
    if empty.any():
        gone = data.y[empty]
        data.zeros = int((gone > 0).sum()), int((gone < 0).sum())
        data.X, data.y = _rows(data, np.flatnonzero(~empty))
        data.notes.append(
            f"{len(gone):,} rows of zeros count as mistakes and are not learned from, as in the "
            "published program"
        )


def compact(X: Any) -> Any:
    """Return rows as an array if few cells are 0."""
    if isinstance(X, Sparse) and len(X.data) >= _DENSE * X.shape[0] * X.shape[1]:
        return _dense(X)
    return X


def _dense(X: Sparse) -> NDArray[np.float64]:
    array = np.zeros(X.shape)
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    array[row, X.indices] = X.data
    return array
