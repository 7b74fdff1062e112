"""Streams of data: readers, data sets by name, generators."""

from __future__ import annotations

import importlib
import os
from typing import Any

from .._parameters import nearest
from .block import BadLines, DataError
from .files import plain_name

_READERS = {
    "libsvm": ("libsvm", "LibsvmReader"),
    "csv": ("tables", "CsvReader"),
    "parquet": ("tables", "ParquetReader"),
    "jsonl": ("jsonl", "JsonLinesReader"),
    "npz": ("npz", "NpzReader"),
}
_ENDINGS = {
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
}


def open_reader(
    path: str,
    form: str | None = None,
    *,
    labelled: bool = True,
    bad: BadLines | None = None,
    names: list[str] | None = None,
    **options: Any,
) -> Any:
    """Open a file, "-" or a pipe as a stream of blocks.

    Parameters
    ----------
    path : str
        What to read.
    form : str, optional
        libsvm, csv, parquet, jsonl or npz. Default: by the ending of the file, else libsvm.
    labelled : bool
        Whether every row must have a label.
    bad : BadLines, optional
        Tolerated bad lines.
    names : list of str, optional
        Names that a model already has.
    **options
        Of the reader; one it does not have is an error.
    """
    if form is None:
        form = _ENDINGS.get(os.path.splitext(plain_name(path))[1].lower(), "libsvm")
    if form not in _READERS:
        raise ValueError(f"there is no format {form!r}: {nearest(form, _READERS)}")
    module, name = _READERS[form]
    reader = getattr(importlib.import_module(f".{module}", __name__), name)
    known = set(reader.__init__.__kwdefaults__)
    for option in options:
        if option not in known:
            raise ValueError(f"{option} says nothing to the {form} reader: leave it out")
    if "names" in known:
        options["names"] = names
    if path.endswith(".tsv") and "delimiter" in known:
        options.setdefault("delimiter", "\t")
    return reader(path, labelled=labelled, bad=bad, **options)


__all__ = ["BadLines", "DataError", "open_reader"]
