"""Data streams: readers, data sets by name, generators."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import DataError, Parameter, ParameterError, UnknownNameError
from ..estimator.parameters import nearest
from ..estimator.schema import Schema, is_tsv
from .block import BadLines, Block
from .readers.base import Reader
from .readers.files import is_row_cache, plain_name

_READERS = {
    "libsvm": ("readers.libsvm", "LibsvmReader"),
    "csv": ("readers.csv", "CsvReader"),
    "parquet": ("readers.parquet", "ParquetReader"),
    "jsonl": ("readers.jsonl", "JsonLinesReader"),
    "npz": ("readers.npz", "NpzReader"),
    "lopc": ("readers.row_cache", "RowCacheReader"),
}
_EXTENSIONS = {
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".txt": "libsvm",
    ".dat": "libsvm",
    ".t": "libsvm",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".npz": "npz",
    ".lopc": "lopc",
}


def form_of(path: str) -> str:
    """Return the format of a file by its extension."""
    return _EXTENSIONS.get(os.path.splitext(plain_name(path))[1].lower(), "libsvm")


_NAME_FORMAT = ("say which format it is with ", Parameter("form"))


def open_reader(
    path: Any,
    form: str | None = None,
    *,
    labelled: bool = True,
    bad: BadLines | None = None,
    names: list[str] | None = None,
    classes: Sequence[Any] = (),
    hash_bits: int | None = None,
    schema: Schema | None = None,
    **options: Any,
) -> Reader:
    """Open a file, "-", a pipe or a table as a stream of blocks.

    Parameters
    ----------
    path : str or object
        What to read: a path, or a table that `ParquetReader` takes.
    form : str, optional
        libsvm, csv, parquet, jsonl, npz or lopc. Default: by the extension of the file, else
        libsvm. A row cache is recognized by its first bytes wherever LIBSVM text is accepted.
    labelled : bool
        Whether every row must have a label.
    bad : BadLines, optional
        Tolerated bad lines.
    names : list of str, optional
        Feature names of the model, if it has any.
    classes : sequence, optional
        Labels of the model, if it has any.
    hash_bits : int, optional
        Hash the names of columns, as the model does.
    schema : Schema, optional
        How the model's tables are read, `model.schema_`: it has the options that are not given.
    **options
        Options of the reader; one it does not have is an error.
    """
    hint = [_NAME_FORMAT] if form is None else []
    if form is None:
        form = form_of(path) if isinstance(path, str) and not os.path.isdir(path) else "parquet"
    if form == "libsvm" and isinstance(path, str) and is_row_cache(path):
        form = "lopc"
    if form not in _READERS:
        raise UnknownNameError("format", form, nearest(form, _READERS))
    module, name = _READERS[form]
    reader = getattr(importlib.import_module(f".{module}", __name__), name)
    known = reader.options()
    for option in options:
        if option not in known:
            raise ParameterError(
                option, f"has no effect on the {form} reader", remedy=["leave it out", *hint]
            )
    model = {"names": names, "hash_bits": hash_bits, "classes": list(classes), "schema": schema}
    if schema is not None:
        options = schema.options(options, str(path), known)
    options |= {name: value for name, value in model.items() if name in known}
    if isinstance(path, str) and is_tsv(path) and "delimiter" in known:
        options.setdefault("delimiter", "\t")
    opened: Reader = reader(path, labelled=labelled, bad=bad, **options)
    return opened


class NamedReader(Reader):
    """Read a data set of the registry that is on this machine, part by part.

    Parameters
    ----------
    name : str
        The data set, or "name:part" for one part of it.
    folders : sequence of str
        Folders to search first.
    bad : BadLines, optional
        Tolerated bad lines.
    **options
        As for open_reader.
    """

    def __init__(
        self,
        name: str,
        folders: tuple[str, ...] = (),
        *,
        bad: BadLines | None = None,
        **options: Any,
    ) -> None:
        from .sets import downloads

        name, _, part = name.partition(":")
        found = downloads.find(name, folders, parts=(part,) if part else None)
        if found is None:
            raise DataError(
                name,
                expected="this data set is not on this machine; try `lopsided data fetch` with its "
                "name, or `lopsided data describe` to see where it is from",
            )
        if found.kind == "base":
            raise DataError(name, expected="only the set it is sampled from is here")
        super().__init__(labelled=options.get("labelled", True), bad=bad)
        self._positive = None if found.kind == "prepared" else found.dataset.positive
        self._readers = [open_reader(str(p), bad=self.bad, **options) for p in found.paths]

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks of all parts, with labels as defined by the registry."""
        for reader in self._readers:
            self.stream = reader.stream
            for block in reader:
                yield self._relabelled(block)

    def _relabelled(self, block: Block) -> Block:
        positive = self._positive
        if positive is not None and positive.rule == "label" and block.y is not None:
            labels = np.array([float(label) for label in positive.labels])
            block.y = np.where(np.isin(block.y, labels), 1, -1)
        return block


__all__ = ["BadLines", "DataError", "NamedReader", "open_reader"]
