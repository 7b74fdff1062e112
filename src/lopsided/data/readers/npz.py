"""NPZ files: arrays saved by NumPy, or a CSR matrix saved by SciPy, with labels."""

from __future__ import annotations

import io
import lzma
import math
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError, Parameter
from ..block import BadLines, Block, Dense, Sparse
from .base import BLOCK_ROWS, Missing, Reader, check_options
from .files import ByteStream, open_bytes, plain_name
from .tabular.classes import Classes

DEFAULT_MAX_BYTES = 1 << 33
_UNREADABLE = (
    *(ValueError, TypeError, OSError, EOFError, RuntimeError, NotImplementedError, OverflowError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)
_CSR = ("data", "indices", "indptr", "shape")


class NpzReader(Reader):
    """Read an NPZ file as a stream of blocks, which are views of its arrays.

    The file holds `X` (rows by columns) or the CSR arrays `data`, `indices`, `indptr` and `shape`
    that `scipy.sparse.save_npz` writes, the labels `y`, and optionally `weight` and
    `feature_names`. Pickled objects are never loaded.

    Parameters
    ----------
    path : str
        A file, or "-".
    missing : {"error", "zero", "drop"}
        A NaN is an error, or counts as 0, or its row is left out.
    names : sequence of str, optional
        Feature names of the model: they keep their columns, new ones are appended. Only used if the
        file has `feature_names`.
    classes : sequence, optional
        Labels of the model. Default: the first two found; a third is a bad row. None: any number of
        labels.
    labelled : bool
        Whether there are labels to read; if not, `Block.y` is None.
    bad : BadLines, optional
        Tolerated bad rows.
    block_rows : int
        The most rows of a block.
    max_bytes : int
        Compressed arrays that take more memory are an error.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "data.npz")
    ...     np.savez(path, X=[[1.0, 2.0], [3.0, 4.0]], y=[0, 1])
    ...     for block in NpzReader(path):
    ...         print(block.X.tolist(), block.y)
    [[1.0, 2.0], [3.0, 4.0]] [0 1]
    """

    def __init__(
        self,
        path: str,
        *,
        missing: Missing = "error",
        names: Sequence[str] | None = None,
        classes: Sequence[Any] | None = (),
        labelled: bool = True,
        bad: BadLines | None = None,
        block_rows: int = BLOCK_ROWS,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        super().__init__(labelled=labelled, bad=bad)
        check_options(missing, block_rows)
        self._missing, self._block_rows = missing, block_rows
        self._classes = Classes(classes, written=False)
        self._file, arrays = _load(path, max_bytes)
        self._X = self._matrix(arrays)
        self.rows = self._X.shape[0]
        self._y = self._vector(arrays, "y") if labelled else None
        self._weight = self._vector(arrays, "weight") if "weight" in arrays else None
        if self._weight is not None and self._weight.dtype.kind not in "biuf":
            raise self._fault(f'"weight" must be numbers, but it is of {self._weight.dtype}')
        self._names: list[str] | None = None
        if "feature_names" in arrays:
            self._name(self._texts(arrays, "feature_names"), names)

    def __iter__(self) -> Iterator[Block]:
        """Yield blocks."""
        empty = True
        for start in range(0, self.rows, self._block_rows):
            block = self._block(start, min(start + self._block_rows, self.rows))
            if block is not None:
                empty = False
                yield block
        if empty:
            raise self._fault(
                "no row of it can be used" if self.rows else "there are no rows in it"
            )

    # Loading -------------------------------------------------------------------------------------

    def _fault(self, text: str) -> DataError:
        return DataError(self._file, expected=text)

    def _matrix(self, arrays: dict[str, NDArray[Any]]) -> NDArray[Any] | Sparse:
        if "X" in arrays:
            X = arrays["X"]
            if X.ndim != 2 or X.dtype.kind not in "biuf":
                raise self._fault(
                    f'"X" must be a 2-D array of numbers, but it is {X.ndim}-D of {X.dtype}'
                )
            return X
        if "format" in arrays and (kind := ", ".join(self._texts(arrays, "format"))) != "csr":
            raise self._fault(f"the matrix is {kind}; save it as CSR with X.tocsr()")
        absent = [name for name in _CSR if name not in arrays]
        if absent:
            raise self._fault(
                f'there is neither "X" nor a CSR matrix: no {", ".join(absent)}; '
                f"the arrays are {', '.join(arrays) or 'none'}"
            )
        return self._csr(arrays)

    def _csr(self, arrays: dict[str, NDArray[Any]]) -> Sparse:
        data, indices, indptr, shape = (arrays[name] for name in _CSR)
        kinds = {"data": "biuf", "indices": "iu", "indptr": "iu", "shape": "iu"}
        for (name, kind), array in zip(kinds.items(), (data, indices, indptr, shape), strict=True):
            if array.ndim != 1 or array.dtype.kind not in kind:
                raise self._fault(f'"{name}" is {array.ndim}-D of {array.dtype}, not as in CSR')
        if len(shape) != 2 or len(indptr) != shape[0] + 1 or len(data) != len(indices):
            raise self._fault(
                f"not a CSR matrix: shape {shape.tolist()} with {len(indptr)} row starts, "
                f"{len(indices)} indices and {len(data)} values"
            )
        starts = indptr.astype(np.int64, copy=False)
        if starts[0] != 0 or starts[-1] != len(data) or (np.diff(starts) < 0).any():
            raise self._fault('not a CSR matrix: "indptr" does not rise from 0 to the last value')
        if len(indices) and not (indices.min() >= 0 and indices.max() < shape[1]):
            wrong = (indices < 0) | (indices >= shape[1])
            at = int(np.argmax(wrong))
            row = int(np.searchsorted(starts, at, "right"))
            expected = f"a column from 0 to {int(shape[1]) - 1}"
            raise DataError(self._file, row, None, str(indices[at]), expected, "row")
        return Sparse(starts, indices, data, (int(shape[0]), int(shape[1])))

    def _vector(self, arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
        if name not in arrays:
            raise self._fault(
                f'there is no "{name}" with the labels; the arrays are {", ".join(arrays)}'
            )
        array = arrays[name]
        if array.shape != (self.rows,):
            raise self._fault(f'"{name}" has shape {array.shape}, but there are {self.rows} rows')
        return np.array(self._texts(arrays, name)) if array.dtype.kind == "S" else array

    def _texts(self, arrays: dict[str, NDArray[Any]], name: str) -> list[str]:
        try:
            return [_text(value) for value in arrays[name].ravel().tolist()]
        except UnicodeDecodeError:
            raise self._fault(f'"{name}" is not UTF-8') from None

    def _name(self, found: list[str], known: Sequence[str] | None) -> None:
        """Reorder named columns as in the model."""
        width = self._X.shape[1]
        if len(found) != width or len(set(found)) != width:
            raise self._fault(
                f'"feature_names" must be {width} different names, one a column; '
                f"it has {len(found)}, {len(set(found))} of them different"
            )
        for name in known or ():
            if name not in found and not isinstance(self._X, Sparse):
                raise self._fault(f'the model knows the column "{name}", but here is none')
        self._names = list(dict.fromkeys([*(known or ()), *found]))
        place = {name: j for j, name in enumerate(self._names)}
        places = np.array([place[name] for name in found])
        if self._names == found:
            return
        if isinstance(self._X, Sparse):
            X = self._X
            shape = (X.shape[0], len(self._names))
            self._X = Sparse(X.indptr, places[X.indices], X.data, shape)
        else:
            self._X = self._X[:, np.argsort(places)]

    # Blocks --------------------------------------------------------------------------------------

    def _block(self, start: int, end: int) -> Block | None:
        rows = np.arange(start, end)
        good = rows[self._checked(start, end)]
        if not len(good):
            return None
        part: Any = slice(start, end) if len(good) == len(rows) else good
        X = self._taken(part, len(good))
        if isinstance(X, np.ndarray):
            if self._missing == "zero" and X.dtype.kind == "f" and np.isnan(X).any():
                X = np.where(np.isnan(X), 0, X)
            if self._names is not None:
                X = Dense(X.astype(np.float64, copy=False), self._names)
        elif self._missing == "zero" and X.data.dtype.kind == "f":
            X.data = np.where(np.isnan(X.data), 0, X.data)
        y = None if self._y is None else self._y[part]
        weight = None if self._weight is None else self._weight[part].astype(np.float64, copy=False)
        return Block(X, y, weight, good + 1, self._file)

    def _taken(self, part: Any, rows: int) -> Any:
        X = self._X
        if not isinstance(X, Sparse):
            return X[part]
        places: Any
        if isinstance(part, slice):
            first, last = X.indptr[part.start], X.indptr[part.stop]
            starts, places = X.indptr[part.start : part.stop + 1] - first, slice(first, last)
        else:
            counts = X.indptr[part + 1] - X.indptr[part]
            starts = np.concatenate([[0], np.cumsum(counts)])
            places = np.concatenate([np.arange(X.indptr[r], X.indptr[r + 1]) for r in part])
        shape = (rows, X.shape[1])
        return Sparse(starts, X.indices[places], X.data[places], shape, self._names)

    def _checked(self, start: int, end: int) -> NDArray[np.bool_]:
        """Return which rows are valid; report the others."""
        good = np.ones(end - start, dtype=bool)
        faults: dict[int, tuple[int | str, Any, str]] = {}  # the first of each row
        for row, at, value in self._odd(start, end):
            if np.isnan(value) and self._missing == "drop":
                good[row] = False
            else:
                name = self._names[at] if self._names else at
                faults.setdefault(row, (name, value, "a finite number"))
        self._dropped += int(np.sum(~good))
        if self._weight is not None:
            weight = self._weight[start:end]
            for row in np.flatnonzero(~(np.isfinite(weight) & (weight >= 0))).tolist():
                expected = "a weight: a finite number, 0 or more"
                faults.setdefault(row, ("weight", weight[row], expected))
        self._check_labels(start, good, faults)
        for row in sorted(row for row in faults if good[row]):
            column, value, expected = faults[row]
            error = DataError(self._file, start + row + 1, column, str(value), expected, unit="row")
            self.bad.add(error)
            good[row] = False
        return good

    def _odd(self, start: int, end: int) -> Iterator[tuple[int, int, Any]]:
        """Yield row, column and value of values that are not finite (NaN is fine if it means 0)."""
        X, infinite_only = self._X, self._missing == "zero"
        if not isinstance(X, Sparse):
            part = X[start:end]
            for row, column in np.argwhere(_odd(part, infinite_only)).tolist():
                yield row, column, part[row, column]
            return
        first, last = X.indptr[start], X.indptr[end]
        for at in (first + np.flatnonzero(_odd(X.data[first:last], infinite_only))).tolist():
            row = int(np.searchsorted(X.indptr, at, "right")) - 1
            yield row - start, int(X.indices[at]), X.data[at]

    def _check_labels(self, start: int, good: NDArray[np.bool_], faults: dict[int, Any]) -> None:
        if self._y is None:
            return
        usable = good.copy()
        usable[list(faults)] = False
        rows = np.flatnonzero(usable)
        labels = self._y[start + rows]
        values, first = np.unique(labels, return_index=True)
        for value in values[np.argsort(first)]:
            expected = self._classes.admit(value.item())
            if expected:
                same = labels == value if value == value else labels != labels
                faults.update(dict.fromkeys(rows[same].tolist(), ("y", value, expected)))


def _odd(values: NDArray[Any], infinite_only: bool) -> Any:
    return np.isinf(values) if infinite_only else ~np.isfinite(values)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _load(path: str, max_bytes: int) -> tuple[str, dict[str, NDArray[Any]]]:
    """Return the name of a file and its arrays."""
    with open_bytes(path) as stream:
        file: str = stream.name
        plain = stream.size is not None and plain_name(path) == path
        source: Any = path if plain else io.BytesIO(_bounded(stream, max_bytes))
    if not zipfile.is_zipfile(source):
        raise DataError(file, expected="not an NPZ file; numpy.savez(path, X=X, y=y) writes one")
    arrays: dict[str, NDArray[Any]] = {}
    name: str | None = None
    try:
        with zipfile.ZipFile(source) as archive:
            _check_size(file, archive, max_bytes)
            for info in archive.infolist():
                name = info.filename.removesuffix(".npy")
                if info.flag_bits & 1:
                    raise ValueError("it is encrypted")
                with archive.open(info) as member:
                    arrays[name] = _array(member, info.file_size)
    except DataError:
        raise
    except _UNREADABLE as error:
        raise DataError(file, None, name, None, f"cannot be read: {error}") from None
    return file, arrays


def _bounded(stream: ByteStream, most: int) -> bytes:
    data = bytearray()
    while chunk := stream.read(1 << 20):
        data += chunk
        if len(data) > most:
            raise _too_large(stream.name, most)
    return bytes(data)


def _check_size(file: str, archive: zipfile.ZipFile, most: int) -> None:
    """Raise if the arrays take more memory than they may, before any is read."""
    unpacked = sum(i.file_size for i in archive.infolist() if i.compress_type)
    if unpacked > most:
        raise _too_large(file, most)


def _too_large(file: str, most: int) -> DataError:
    return DataError(
        file,
        expected=f"it would unpack to more than {most:,} bytes",
        remedy=(("raise ", Parameter("max_bytes")), "store it uncompressed with numpy.savez"),
    )


def _array(member: Any, size: int) -> NDArray[Any]:
    """Return an array; raise a ValueError if the file does not hold what its header promises."""
    version = np.lib.format.read_magic(member)
    if version == (1, 0):
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(member)
    elif version in ((2, 0), (3, 0)):
        shape, by_column, dtype = np.lib.format.read_array_header_2_0(member)
    else:
        raise ValueError(f"format version {version} is not known")
    if dtype.hasobject:
        raise ValueError("it holds Python objects; save it as numbers or plain strings")
    length = math.prod(shape) * dtype.itemsize
    if member.tell() + length != size:
        raise ValueError(f"its shape {shape} does not fit its {size:,} bytes")
    data, filled = np.empty(length, np.uint8), 0
    while filled < length:
        some = member.readinto(data[filled:])
        if not some:
            raise ValueError("it is cut short")
        filled += some
    letters = np.dtype("u4").newbyteorder(dtype.byteorder)
    if dtype.kind == "U" and (data.view(letters) > sys.maxunicode).any():
        raise ValueError("it has characters that do not exist")
    return data.view(dtype).reshape(shape, order="F" if by_column else "C")
