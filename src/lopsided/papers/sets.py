"""Finding and loading the data sets of the papers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import open_reader
from ..data.block import Sparse
from ..data.folds import read_folds
from ..data.gather import gather
from ..data.sets import downloads, registry
from ..errors import AbsentDataError, DataError
from . import raw
from .prepare import (
    PaperData,
    compact,
    labelled,
    remove_zero_rows,
    sampled,
    scaled,
    share_of,
    split,
)


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
) -> PaperData:
    """Return a data set of the registry as the papers prepared it.

    Parameters
    ----------
    name : str
        Its name.
    folders : sequence of str
        Where to look before LOPSIDED_DATA and the downloads.
    rows : str
        "all", or one part of the set: "train".
    scaling : str
        "unit": rows of length one; "standard+unit": standard scores before that; or "none".
    zero_rows : str
        "mistakes": remove all-zero rows and count them.
    held_out : bool
        Keep training and test rows apart.
    substitute : bool
        Use a substitute if it is not available.
    limit : int, optional
        Number of rows of a synthetic set.
    """
    read = name
    dataset = registry.lookup(name)
    if not is_here(name, folders, rows):
        stand_ins = [s for s in dataset.substitutes if _find(s, folders, "all")]
        if not substitute or not stand_ins:
            raise AbsentDataError(how_to_get(name, folders))
        read, rows = stand_ins[0], "all"
    is_sample = read != name and dataset.derived_from is not None
    stream = _read(read, folders, rows, held_out or is_sample, limit)
    if is_sample:  # with the ratio of classes of the set that it stands in for
        stream = dataclasses.replace(sampled(name, stream), name=read)
    if read != name:
        stream.other = True
        stream.notes.insert(0, f"{read} in place of {name}: not the data of the paper")
    if zero_rows:
        remove_zero_rows(stream)
    stream.X = scaled(compact(stream.X), scaling)
    if stream.test is not None:
        stream.test = scaled(compact(stream.test[0]), scaling), stream.test[1]
    return stream


def is_here(name: str, folders: Sequence[str] = (), rows: str = "all") -> bool:
    """Say whether a data set, or a part of it, is available or can be generated."""
    return registry.lookup(name).generator is not None or _find(name, folders, rows) is not None


def how_to_get(name: str, folders: Sequence[str] = ()) -> str:
    """Say how to get a data set that is not available."""
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
    """Return the published permutations of a set, one per row; None if not available."""
    for folder in downloads.search_folders(folders):
        path = folder / "oa3" / f"{name}.ID_ALL.npz"
        if path.is_file():
            with np.load(path) as arrays:
                found: NDArray[np.int64] = arrays["ID_ALL"].astype(np.int64) - 1
            if found.shape[1] != size or (np.sort(found, axis=1) != np.arange(size)).any():
                raise DataError(str(path), expected=f"permutations of {size} rows")
            return found
    return None


def folds(name: str, folders: Sequence[str], size: int) -> NDArray[np.int64] | None:
    """Return the published folds of a set, one column per repeat; None if not available."""
    for folder in downloads.search_folders(folders):
        for extension in ("", ".xz", ".gz", ".bz2", ".zst"):
            path = folder / f"{name}.IdxCv.txt{extension}"
            if path.is_file():
                return read_folds(str(path), size)
    return None


# Reading -----------------------------------------------------------------------------------------


def _find(name: str, folders: Sequence[str], rows: str) -> downloads.Found | Path | None:
    """Return the files of a set, or the folder with the two files of kddcup08."""
    found = downloads.find(name, folders, parts=None if rows == "all" else (rows,))
    if found is None and name == "kddcup08":
        return next(filter(None, map(raw.kddcup08_folder, downloads.search_folders(folders))), None)
    return found


def _read(
    name: str, folders: Sequence[str], rows: str, held_out: bool, limit: int | None
) -> PaperData:
    d = registry.lookup(name)
    if d.generator:
        return _generated(name, limit)
    found = _find(name, folders, rows)
    if isinstance(found, Path):
        return labelled(name, *raw.kddcup08(found), d.positive)
    assert found is not None
    if found.kind == "base":
        return sampled(name, _read(str(d.derived_from), folders, "all", True, None))
    notes = list(found.notes)
    positive = None if found.kind == "prepared" else d.positive
    if positive and d.format == "csv":
        X, y, dropped = raw.commas(found.paths[0])
        notes += [f"{dropped} rows with missing values left out"] if dropped else []
        return labelled(name, X, y, positive, notes)
    if positive and d.format == "cifar-binary":
        return share_of(labelled(name, *raw.cifar10(found.paths[0]), positive, notes))
    blocks = {
        path: gather(open_reader(str(path), "libsvm"))
        for path, part in zip(found.paths, found.parts, strict=True)
        if part != "topics"
    }
    block = gather(blocks.values())
    _widen(block.X, d.features or 0)
    for path, part in zip(found.paths, found.parts, strict=True):
        if part == "topics":
            block.y = np.where(
                np.isin(np.asarray(block.y), raw.documents(path, d.positive.labels[0])), 1, -1
            )
    stream = share_of(labelled(name, block.X, block.y, positive, notes))
    stream.other = bool(found.notes)
    if held_out:
        tests = [
            path for path, part in zip(found.paths, found.parts, strict=True) if part == "test"
        ]
        return split(stream, len(stream.y) - sum(len(blocks[path].lines) for path in tests))
    return stream


def _widen(X: Any, columns: int) -> None:
    if isinstance(X, Sparse):
        X.shape = (X.shape[0], max(X.shape[1], columns))


def _generated(name: str, limit: int | None) -> PaperData:
    from ..data.generators import sparse_paper

    train, test = (gather(sparse_paper(limit, test=test)) for test in (False, True))
    labels = [np.where(np.asarray(block.y) > 0, 1, -1) for block in (train, test)]
    notes = [] if limit is None else [f"{limit:,} rows to train and to test on instead of all"]
    return PaperData(name, train.X, labels[0], (test.X, labels[1]), notes=notes)
