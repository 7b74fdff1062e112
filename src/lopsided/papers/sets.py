"""Data sets as the papers used them: which class is positive, which rows, in which order."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import open_reader
from ..data.block import Block, DataError, Sparse
from ..data.folds import read_folds
from ..data.gather import gather, taken
from ..data.sets import downloads as cache
from ..data.sets import registry
from . import raw

SEED = 0  # of samples and splits that are not published
# Positive rows by the counts behind the printed costs, where the paper does not say or is wrong.
_POSITIVES = {"protein": 8198, "mushrooms": 4208}
_SHARE = {"cifar10": 0.2}  # of the rows
# Rows to train on, the rest to test; the first ones where the paper says so, else at random.
_TRAIN = {"news20": 10_000, "url": 2_000_000, "webspam": 300_000}
_IN_ORDER = ("url",)
# Positives and negatives to train and to test on, sampled.
_SAMPLES = {
    "url2": ((10_000, 990_000), (1_000, 99_000)),
    "webspam2": ((1_000, 99_000), (100, 9_900)),
}
_DENSE = 0.25  # share of cells that are not 0 from which rows are kept as arrays


class Absent(LookupError):  # noqa: N818  (reads as what it is)
    """A data set is not on this machine; the message says how to get it."""


@dataclasses.dataclass
class Stream:
    """A data set, ready to be learned from.

    Attributes
    ----------
    name : str
        What was read: another set than asked for if it stands in for it.
    X, y : rows and labels +1 and -1
        To learn from.
    test : pair of X and y, or None
        Held-out rows.
    other : bool
        Whether it is known not to be the data of the paper.
    zeros : pair of int
        Positive and negative rows of zeros that were taken out, where they are.
    notes : list of str
        What differs from the paper's data, or had to be decided here.
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
        """How many rows to learn from are positive."""
        return int(np.count_nonzero(self.y > 0))


def load(
    name: str,
    folders: Sequence[str] = (),
    *,
    rows: str = "all",
    scaling: str = "none",
    zero_rows: str = "",
    held_out: bool = False,
    substitute: bool = False,
    limit: int | None = None,
) -> Stream:
    """Return a data set of the registry as the papers prepared it.

    Parameters
    ----------
    name : str
        Its name.
    folders : sequence of str
        Where to look before LOPSIDED_DATA and the cache.
    rows : str
        "all" rows, or one part of the set: "train".
    scaling : str
        "unit": rows of length one; "standard+unit": standard scores before that; or "none".
    zero_rows : str
        "mistakes": take rows of zeros out and count them.
    held_out : bool
        Keep training and test rows apart.
    substitute : bool
        Take what stands in for it if it is absent.
    limit : int, optional
        Rows to make of a made-up set.
    """
    read = name
    dataset = registry.lookup(name)
    if dataset.generator is None and _find(name, folders, rows) is None:
        stand_ins = [s for s in dataset.substitutes if _find(s, folders, "all")]
        if not substitute or not stand_ins:
            raise Absent(how_to_get(name, folders))
        read, rows = stand_ins[0], "all"
    stream = _read(read, folders, rows, held_out, limit)
    if read != name:
        stream.other = True
        stream.notes.insert(0, f"{read} in place of {name}: not the data of the paper")
    if zero_rows:
        _take_zero_rows_out(stream)
    stream.X = scaled(_compact(stream.X), scaling)
    if stream.test is not None:
        stream.test = scaled(_compact(stream.test[0]), scaling), stream.test[1]
    return stream


def is_here(name: str, folders: Sequence[str] = (), rows: str = "all") -> bool:
    """Say whether a data set, or a part of it, is on this machine or can be made."""
    return registry.lookup(name).generator is not None or _find(name, folders, rows) is not None


def how_to_get(name: str, folders: Sequence[str] = ()) -> str:
    """Return what to do about a data set that is absent."""
    d = registry.lookup(name)
    files = ", ".join(source.name for source in d.sources) or d.prepared[0].name
    text = f"{name} is not on this machine: "
    if any(source.address for source in d.sources):
        text += f"`lopsided data fetch {name}`, or put {files} into the folder given with --data"
    else:
        page = f" (see {d.page})" if d.page else ""
        text += f"no address is known{page}; put {files} into the folder given with --data"
    here = [s for s in d.substitutes if _find(s, folders, "all")]
    if here:
        text += f"; --substitute takes {here[0]} in its place"
    return text


def orders(name: str, folders: Sequence[str], size: int) -> NDArray[np.int64] | None:
    """Return the published permutations of a set, one a row; None if they are not there."""
    for folder in cache.search_folders(folders):
        path = folder / "oa3" / f"{name}.ID_ALL.npz"
        if path.is_file():
            with np.load(path) as arrays:
                found: NDArray[np.int64] = arrays["ID_ALL"].astype(np.int64) - 1
            if found.shape[1] != size or (np.sort(found, axis=1) != np.arange(size)).any():
                raise DataError(str(path), expected=f"permutations of {size} rows")
            return found
    return None


def folds(name: str, folders: Sequence[str], size: int) -> NDArray[np.int64] | None:
    """Return the published folds of a set, a column a repeat; None if they are not there."""
    for folder in cache.search_folders(folders):
        for ending in ("", ".xz", ".gz", ".bz2", ".zst"):
            path = folder / f"{name}.IdxCv.txt{ending}"
            if path.is_file():
                return read_folds(str(path), size)
    return None


def scaled(X: Any, scaling: str) -> Any:
    """Return rows scaled as a paper did.

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
        raise ValueError(f"scaling={scaling!r} is invalid")
    if isinstance(X, Sparse):
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        norms = np.sqrt(np.bincount(row, X.data**2, X.shape[0]))
        return dataclasses.replace(X, data=X.data / np.where(norms > 0, norms, 1.0)[row])
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1.0)


# Reading -----------------------------------------------------------------------------------------


def _find(name: str, folders: Sequence[str], rows: str) -> cache.Found | Path | None:
    """Return the files of a set, or the folder with the two files of kddcup08."""
    found = cache.find(name, folders, parts=None if rows == "all" else (rows,))
    if found is None and name == "kddcup08":
        return next(filter(None, map(raw.kddcup08_folder, cache.search_folders(folders))), None)
    return found


def _read(
    name: str, folders: Sequence[str], rows: str, held_out: bool, limit: int | None
) -> Stream:
    d = registry.lookup(name)
    if d.generator:
        return _made(name, limit)
    found = _find(name, folders, rows)
    if isinstance(found, Path):
        return _labelled(name, *raw.kddcup08(found), d.positive)
    assert found is not None
    if found.kind == "base":
        return _sampled(name, _read(str(d.derived_from), folders, "all", True, None))
    notes = list(found.notes)
    positive = None if found.kind == "prepared" else d.positive
    if positive and d.format == "csv":
        X, y, dropped = raw.commas(found.paths[0])
        notes += [f"{dropped} rows with missing values left out"] if dropped else []
        return _labelled(name, X, y, positive, notes)
    if positive and d.format == "cifar-binary":
        return _part_of(_labelled(name, *raw.cifar10(found.paths[0]), positive, notes))
    blocks = {
        path: gather(open_reader(str(path), "libsvm"))
        for path, part in zip(found.paths, found.parts, strict=True)
        if part != "topics"
    }
    whole = gather(blocks.values())
    _widen(whole.X, d.features or 0)
    for path, part in zip(found.paths, found.parts, strict=True):
        if part == "topics":
            whole.y = np.where(
                np.isin(np.asarray(whole.y), raw.documents(path, d.positive.labels[0])), 1, -1
            )
    stream = _part_of(_labelled(name, whole.X, whole.y, positive, notes))
    stream.other = bool(found.notes)
    if held_out:
        tests = [
            path for path, part in zip(found.paths, found.parts, strict=True) if part == "test"
        ]
        return _split(stream, len(stream.y) - sum(len(blocks[path].lines) for path in tests))
    return stream


def _widen(X: Any, columns: int) -> None:
    if isinstance(X, Sparse):
        X.shape = (X.shape[0], max(X.shape[1], columns))


def _made(name: str, limit: int | None) -> Stream:
    from ..data.generators import sparse_paper

    train, test = (gather(sparse_paper(limit, test=test)) for test in (False, True))
    labels = [np.where(np.asarray(block.y) > 0, 1, -1) for block in (train, test)]
    notes = [] if limit is None else [f"{limit:,} rows to train and to test on instead of all"]
    return Stream(name, train.X, labels[0], (test.X, labels[1]), notes=notes)


def _labelled(
    name: str,
    X: Any,
    y: Any,
    positive: registry.Positive | None,
    notes: list[str] | None = None,
) -> Stream:
    y = np.asarray(y)
    notes = notes or []
    is_positive, note = _positive(name, y, positive)
    return Stream(name, X, np.where(is_positive, 1, -1), notes=notes + ([note] if note else []))


def _positive(
    name: str, y: NDArray[Any], positive: registry.Positive | None
) -> tuple[NDArray[np.bool_], str]:
    """Say which rows are positive, and what had to be decided."""
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise DataError(name, expected="rows of two classes")
    if name in _POSITIVES:
        return _counted(name, y, _POSITIVES[name])
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


def _counted(name: str, y: NDArray[Any], wanted: int) -> tuple[NDArray[np.bool_], str]:
    """Return the rows of the classes that together have so many."""
    classes, counts = np.unique(y, return_counts=True)
    for size in range(1, len(classes)):
        for chosen in itertools.combinations(range(len(classes)), size):
            if counts[list(chosen)].sum() == wanted:
                which = " and ".join(f"{classes[k]:g}" for k in chosen)
                note = f"positive: class {which}, the {wanted:,} rows behind the printed costs"
                return np.isin(y, classes[list(chosen)]), note
    raise DataError(name, expected=f"classes of {wanted:,} rows, the count behind the figures")


def _part_of(stream: Stream) -> Stream:
    """Return a random part where the paper took one."""
    share = _SHARE.get(stream.name)
    if share is None:
        return stream
    size = len(stream.y)
    rows = np.sort(np.random.default_rng(SEED).permutation(size)[: round(share * size)])
    X, y = _rows(stream, rows)
    note = f"{share:.0%} of the rows, drawn here: those of the paper are not published"
    return dataclasses.replace(stream, X=X, y=y, notes=[*stream.notes, note])


def _split(stream: Stream, train: int) -> Stream:
    """Return the first rows to train on and the rest to test; drawn where there is one file."""
    size = len(stream.y)
    order = np.arange(size)
    notes = list(stream.notes)
    if train == size:
        wanted = _TRAIN.get(stream.name)
        train = 3 * size // 4 if wanted is None else round(wanted * size / _whole(stream))
        if stream.name not in _IN_ORDER:
            order = np.random.default_rng(SEED).permutation(size)
            notes.append("training and test rows drawn here: those of the paper are not published")
    first, rest = order[:train], order[train:]
    X, y = _rows(stream, first)
    return dataclasses.replace(stream, X=X, y=y, test=_rows(stream, rest), notes=notes)


def _whole(stream: Stream) -> int:
    return registry.lookup(stream.name).rows or len(stream.y)


def _sampled(name: str, whole: Stream) -> Stream:
    """Return rows of a set at another ratio of the classes."""
    assert whole.test is not None
    rng = np.random.default_rng(SEED)
    parts = []
    for (X, y), (positives, negatives) in zip(
        ((whole.X, whole.y), whole.test), _SAMPLES[name], strict=True
    ):
        own = [np.flatnonzero(y > 0), np.flatnonzero(y < 0)]
        wanted = [positives, negatives]
        share = min(1.0, *(len(o) / w for o, w in zip(own, wanted, strict=True)))
        drawn = [
            rng.permutation(o)[: max(1, int(share * w))] for o, w in zip(own, wanted, strict=True)
        ]
        rows = np.sort(np.concatenate(drawn))
        parts.append(_rows(Stream(name, X, y), rows))
    notes = [*whole.notes, "the sample is drawn here: that of the paper is not published"]
    return Stream(name, *parts[0], test=parts[1], notes=notes)


def _rows(stream: Stream, rows: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64]]:
    lines = np.arange(len(stream.y))
    block = taken(Block(stream.X, stream.y, None, lines, stream.name), rows)
    assert block.y is not None
    return block.X, block.y


def _take_zero_rows_out(stream: Stream) -> None:
    if isinstance(stream.X, Sparse):
        row = np.repeat(np.arange(len(stream.y)), np.diff(stream.X.indptr))
        empty = np.bincount(row, stream.X.data != 0, len(stream.y)) == 0
    else:
        empty = ~np.any(stream.X, axis=1)
    if empty.any():
        gone = stream.y[empty]
        stream.zeros = int((gone > 0).sum()), int((gone < 0).sum())
        stream.X, stream.y = _rows(stream, np.flatnonzero(~empty))
        stream.notes.append(
            f"{len(gone):,} rows of zeros count as mistakes and are not learned from, as in the "
            "published program"
        )


def _compact(X: Any) -> Any:
    """Return rows as an array where few cells are 0."""
    if isinstance(X, Sparse) and len(X.data) >= _DENSE * X.shape[0] * X.shape[1]:
        return _dense(X)
    return X


def _dense(X: Sparse) -> NDArray[np.float64]:
    array = np.zeros(X.shape)
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    array[row, X.indices] = X.data
    return array
