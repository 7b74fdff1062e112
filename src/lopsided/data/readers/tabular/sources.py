"""Where record batches come from: a Parquet file, a folder of them, or a data set of Arrow."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice, pairwise
from typing import Any

from .... import _core
from ....errors import DataError, InputTypeError
from ..files import open_bytes, plain_name
from .arrow import arrow


def parquet_files(folder: str) -> Iterator[str]:
    """Yield the Parquet files below a folder; names that begin with _ or . are not data."""
    for here, inner, files in os.walk(folder):
        inner[:] = [name for name in inner if name[0] not in "_."]
        for name in files:
            if name.endswith((".parquet", ".pq")) and name[0] not in "_.":
                yield os.path.join(here, name)


# Without a buffer size Arrow would hold entire columns of a row group.
_BOUNDED: dict[str, Any] = {"buffer_size": 1 << 20, "pre_buffer": False}


class _Ahead:
    """Batches in order, of which a thread reads the next ones."""

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches, self._thread = batches, ThreadPoolExecutor(1)
        self._coming = deque(self._next() for _ in range(2))

    def _next(self) -> Future[Any]:
        return self._thread.submit(next, self._batches, None)

    def __iter__(self) -> Iterator[Any]:
        while (batch := self._coming.popleft().result()) is not None:
            self._coming.append(self._next())
            yield batch

    def close(self) -> None:
        """Wait for the thread."""
        self._thread.shutdown(cancel_futures=True)


def ahead(files: Iterable[Iterator[Any]]) -> Iterator[Any]:
    """Yield the batches of the first file, then those of the next one, and so on.

    Meanwhile threads read on: one in each of the next files, up to four, each two batches ahead.
    """
    threads, waiting = min(4, _core.threads_allowed()), iter(files)
    if threads == 1:
        yield from chain.from_iterable(waiting)
        return
    reading: deque[_Ahead] = deque()
    try:
        reading.extend(map(_Ahead, islice(waiting, threads)))
        while reading:
            yield from reading[0]
            reading.popleft().close()
            reading.extend(map(_Ahead, islice(waiting, 1)))
    finally:
        for one in reading:
            one.close()


class ParquetFile:
    """One plain file."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._pa, parquet = arrow("pyarrow"), arrow("pyarrow.parquet")
        with open_bytes(path) as stream:  # its errors about a path are better than those of Arrow
            if stream.size is None or plain_name(path) != path:
                raise DataError(
                    stream.name, expected="Parquet is read from a plain file only; save it as one"
                )
        try:
            self._file = parquet.ParquetFile(path, **_BOUNDED)
        except (self._pa.ArrowException, OSError) as error:
            raise DataError(path, expected=f"not a Parquet file: {error}") from None
        self.schema = self._file.schema_arrow
        self.rows: int | None = self._file.metadata.num_rows

    def batches(self, names: Sequence[str], size: int) -> Iterator[Any]:
        """Yield the rows in order, in batches of at most `size`."""
        yield from ahead([self._file.iter_batches(batch_size=size, columns=list(names))])

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ArrowDataset:
    """A data set of many files, read side by side; rows come in the order of their paths."""

    def __init__(self, dataset: Any, name: str) -> None:
        self.name, self.schema, self.rows = name, dataset.schema, None
        self._dataset = dataset

    @classmethod
    def of_folder(cls, path: str) -> ArrowDataset:
        """Return the Parquet files below a folder; its name=value folders are columns."""
        pa, datasets = arrow("pyarrow"), arrow("pyarrow.dataset")
        files = sorted(parquet_files(path))
        try:
            parts = {"partitioning": "hive", "partition_base_dir": path}
            return cls(datasets.dataset(files, format="parquet", **parts), path)
        except (pa.ArrowException, OSError) as error:
            raise DataError(path, expected=f"not a folder of Parquet files: {error}") from None

    def batches(self, names: Sequence[str], size: int) -> Iterator[Any]:
        """Yield the rows in order, in batches of at most `size`."""
        yield from ahead(self._files(list(names), size))

    def shards(self, count: int | None = None) -> list[ArrowDataset]:
        """Return a data set for each file, or of several files, in the order of the paths."""
        datasets = arrow("pyarrow.dataset")
        fragments = self._fragments()
        if not fragments or not all(hasattr(one, "row_groups") for one in fragments):
            raise InputTypeError(f"{self.name}: its rows are not those of whole Parquet files")
        count = min(count or len(fragments), len(fragments))
        ends = [len(fragments) * k // count for k in range(count + 1)]
        return [
            ArrowDataset(
                datasets.FileSystemDataset(own, self.schema, own[0].format, own[0].filesystem),
                self.name,
            )
            for own in (fragments[first:last] for first, last in pairwise(ends))
        ]

    def _fragments(self) -> list[Any] | None:
        """Return the files in the order of their paths; None of a data set that was filtered."""
        try:
            fragments = list(self._dataset.get_fragments())
        except ValueError:
            return None
        if all(hasattr(fragment, "path") for fragment in fragments):
            fragments.sort(key=lambda fragment: str(fragment.path))
        return fragments

    def _files(self, names: list[str], size: int) -> Iterator[Iterator[Any]]:
        """Yield the batches of each file, in order."""
        fragments = self._fragments()
        if fragments is None:  # it has an order of its own
            options = {"batch_readahead": 2, "fragment_readahead": 1}
            yield self._dataset.to_batches(columns=names, batch_size=size, **options)
            return
        for fragment in fragments:
            if hasattr(fragment, "row_groups"):
                yield self._of_parquet(fragment, names, size)
            else:
                yield fragment.to_batches(
                    schema=self.schema, columns=names, batch_size=size, batch_readahead=2
                )

    def _of_parquet(self, fragment: Any, names: list[str], size: int) -> Iterator[Any]:
        """Yield the rows of a file; a scan of Arrow would hold entire row groups in memory."""
        pa, parquet, datasets = map(arrow, ("pyarrow", "pyarrow.parquet", "pyarrow.dataset"))
        folders = datasets.get_partition_keys(fragment.partition_expression)
        groups = [group.id for group in fragment.row_groups]
        path, system = fragment.path, fragment.filesystem
        with parquet.ParquetFile(path, filesystem=system, **_BOUNDED) as file:
            there = set(file.schema_arrow.names) - set(folders)
            stored = [name for name in names if name in there]
            for batch in file.iter_batches(size, row_groups=groups, columns=stored):
                columns = []
                for name in names:
                    kind, rows = self.schema.field(name).type, batch.num_rows
                    if name in there:
                        column = batch.column(name)
                    elif name in folders:
                        column = pa.repeat(folders[name], rows)
                    else:
                        column = pa.nulls(rows, kind)
                    columns.append(column if column.type == kind else column.cast(kind))
                yield pa.RecordBatch.from_arrays(columns, names=names)

    def close(self) -> None:
        """Nothing is open."""


class ArrowStream:
    """Record batches in the order in which they come."""

    def __init__(self, reader: Any, name: str) -> None:
        self.name, self.schema, self.rows = name, reader.schema, None
        self._reader = reader

    def batches(self, names: Sequence[str], size: int) -> Iterator[Any]:
        """Yield the rows in order, in batches of at most `size`."""
        for batch in self._reader:
            chosen = batch.select(list(names))
            for first in range(0, chosen.num_rows, size):
                yield chosen.slice(first, size)

    def close(self) -> None:
        """Nothing is open."""


Source = ParquetFile | ArrowDataset | ArrowStream


def source_of(data: Any) -> Source:
    """Return what record batches are read from.

    Parameters
    ----------
    data : str, path or object
        A file or folder; a pyarrow Dataset; a table of Delta Lake, which has to_pyarrow_dataset,
        or a table of Iceberg or a scan of it, which has to_arrow_batch_reader; a table or reader of
        Arrow, which has __arrow_c_stream__.
    """
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        whole = os.path.isdir(path) and next(parquet_files(path), None) is not None
        return ArrowDataset.of_folder(path) if whole else ParquetFile(path)
    name = type(data).__name__
    if hasattr(data, "to_pyarrow_dataset"):  # before scan: that of Delta Lake has no order
        data = data.to_pyarrow_dataset()
    if hasattr(data, "get_fragments"):
        return ArrowDataset(data, name)
    if hasattr(data, "scan"):
        data = data.scan()
    if hasattr(data, "to_arrow_batch_reader"):
        return ArrowStream(data.to_arrow_batch_reader(), name)
    if hasattr(data, "__arrow_c_stream__"):
        return ArrowStream(arrow("pyarrow").RecordBatchReader.from_stream(data), name)
    raise InputTypeError(f"{name} is no table: give a path, or a data set or table of Arrow")
