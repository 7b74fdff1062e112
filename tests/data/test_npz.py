"""NPZ: dense and CSR arrays, views, and what is refused."""

from __future__ import annotations

import gzip
import io
import os
import struct
import threading
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from lopsided.data.block import BadLines, Dense, Sparse
from lopsided.data.readers.npz import NpzReader
from lopsided.errors import DataError

X = np.array([[1.0, 0, 2], [0, 3, 0], [0, 0, 0], [4, 5, 6]])
Y = np.array([0, 1, 1, 0])


@pytest.fixture
def save(tmp_path):
    def save(**arrays):
        path = str(tmp_path / "data.npz")
        np.savez(path, **arrays)
        return path

    return save


def csr(matrix=X):
    m = sp.csr_matrix(matrix)
    return {"data": m.data, "indices": m.indices, "indptr": m.indptr, "shape": m.shape}


def dense(block):
    X = block.X
    if isinstance(X, Sparse):
        return sp.csr_matrix((X.data, X.indices, X.indptr), X.shape).toarray()
    return X.array if isinstance(X, Dense) else X


@pytest.mark.parametrize("arrays", [{"X": X}, csr()], ids=["dense", "csr"])
@pytest.mark.parametrize("block_rows", [1, 3, 4, 100])
def test_blocks_are_the_rows_in_order(save, arrays, block_rows):
    blocks = list(NpzReader(save(**arrays, y=Y, weight=[1, 2, 0, 3]), block_rows=block_rows))
    assert np.vstack([dense(block) for block in blocks]).tolist() == X.tolist()
    assert np.concatenate([block.y for block in blocks]).tolist() == Y.tolist()
    assert np.concatenate([block.weight for block in blocks]).tolist() == [1, 2, 0, 3]
    assert np.concatenate([block.lines for block in blocks]).tolist() == [1, 2, 3, 4]


def test_blocks_are_views(save):
    first, second = NpzReader(save(X=X, y=Y), block_rows=2)
    assert first.X.base is second.X.base is not None
    first, second = NpzReader(save(**csr(), y=Y), block_rows=2)
    assert first.X.data.base is second.X.data.base is not None


def test_what_scipy_saves_with_labels_added(tmp_path):
    path = tmp_path / "scipy.npz"
    sp.save_npz(path, sp.csr_array(X))
    (block,) = NpzReader(str(path), labelled=False)
    assert dense(block).tolist() == X.tolist()
    assert block.y is None
    with np.load(path) as saved:
        np.savez_compressed(path, **saved, y=Y)
    (block,) = NpzReader(str(path))
    assert block.y.tolist() == Y.tolist()


@pytest.mark.parametrize("arrays", [{"X": X}, csr()], ids=["dense", "csr"])
def test_names_take_the_places_a_model_gives_them(save, arrays):
    path = save(**arrays, y=Y, feature_names=["a", "b", "c"])
    (block,) = NpzReader(path)
    assert block.X.names == ["a", "b", "c"]
    (block,) = NpzReader(path, names=["c", "a"])
    assert block.X.names == ["c", "a", "b"]
    assert dense(block).tolist() == X[:, [2, 0, 1]].tolist()


@pytest.mark.parametrize("labels", [["no", "yes"], [b"no", b"yes"], [True, False], [1.0, -1.0]])
def test_labels_of_any_plain_type(save, labels):
    (block,) = NpzReader(save(X=X[:2], y=labels))
    assert block.y.tolist() == [v.decode() if isinstance(v, bytes) else v for v in labels]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X}, 'no "y" with the labels'),
        ({"X": X, "labels": Y}, 'no "y".*the arrays are X, labels'),
        ({"y": Y}, 'neither "X" nor a CSR matrix: no data, indices, indptr, shape'),
        ({"X": X[0], "y": Y}, "2-D array of numbers"),
        ({"X": X.astype(str), "y": Y}, "2-D array of numbers"),
        ({"X": X, "y": Y[:2]}, "there are 4 rows"),
        ({"X": X, "y": Y, "weight": [1, 2]}, '"weight" has shape'),
        ({"X": X, "y": Y, "weight": ["a"] * 4}, "must be numbers"),
        ({"X": X, "y": Y, "weight": [1, -1, 1, 1]}, 'row 2, column "weight": found "-1'),
        ({"X": X, "y": [0, 1, 2, 0]}, 'row 3, column "y": found "2", expected one of two'),
        ({"X": X, "y": [0, np.nan, 0, 0]}, 'row 2, column "y"'),
        ({"X": X, "y": np.array([0, 1, None, 0])}, 'column "y": cannot be read.*Python objects'),
        ({"X": X[:0], "y": Y[:0]}, "no rows in it"),
        ({"X": X, "y": Y, "feature_names": ["a", "b"]}, "3 different names"),
        ({"X": X, "y": Y, "feature_names": ["a", "b", "b"]}, "3 different names"),
        ({**csr(), "indptr": [0, 2], "y": Y}, "not a CSR matrix"),
        ({**csr(), "indptr": [0, 3, 2, 3, 6], "y": Y}, "indptr"),
        ({**csr(), "indices": [0, 2, 1, 0, 1, 9], "y": Y}, 'row 4: found "9", expected a column'),
        ({**csr(), "indices": [0, -2, 1, 0, 1, 2], "y": Y}, 'row 1: found "-2"'),
        ({**csr(), "data": ["a"] * 6, "y": Y}, '"data" is 1-D of'),
        ({**csr(), "format": b"csc", "y": Y}, "tocsr"),
    ],
)
def test_what_cannot_be_used_is_said(save, arrays, message):
    with pytest.raises(DataError, match=message):
        list(NpzReader(save(**arrays)))


@pytest.mark.parametrize("form", ["dense", "csr", "named"])
@pytest.mark.parametrize("block_rows", [1, 2, 100])
def test_odd_values_follow_missing_and_bad(save, form, block_rows):
    odd = X.copy()
    odd[0, 2], odd[1, 1] = np.nan, np.inf
    arrays = csr(odd) if form == "csr" else {"X": odd}
    if form == "named":
        arrays["feature_names"] = ["a", "b", "c"]
    path = save(**arrays, y=Y)
    with pytest.raises(DataError, match=r'row 1, column (2|"c"): found "nan"'):
        list(NpzReader(path))
    bad = BadLines(allowed=2)
    blocks = list(NpzReader(path, bad=bad, block_rows=block_rows))
    assert np.vstack([dense(block) for block in blocks]).tolist() == X[2:].tolist()
    assert [error.line for error in bad.found] == [1, 2]
    bad = BadLines(allowed=1)
    blocks = list(NpzReader(path, bad=bad, missing="zero", block_rows=block_rows))
    assert dense(blocks[0])[0].tolist() == [1, 0, 0]
    assert [error.line for error in bad.found] == [2]
    reader = NpzReader(path, bad=BadLines(allowed=1), missing="drop", block_rows=block_rows)
    assert np.concatenate([block.lines for block in reader]).tolist() == [3, 4]
    assert reader.dropped == 1


def test_damaged_and_foreign_files(save, tmp_path):
    path = save(X=X, y=Y)
    with open(path, "rb") as file:
        content = file.read()
    with io.BytesIO() as one:
        np.save(one, X)
        foreign = one.getvalue()
    for broken in (content[:-30], content[: len(content) // 2], foreign, b"", b"text"):
        (tmp_path / "broken.npz").write_bytes(broken)
        with pytest.raises(DataError, match=r"broken\.npz"):
            NpzReader(str(tmp_path / "broken.npz"))
    damaged = bytearray(content)
    damaged[200] ^= 0xFF
    (tmp_path / "broken.npz").write_bytes(damaged)
    with pytest.raises(DataError, match="cannot be read"):
        NpzReader(str(tmp_path / "broken.npz"))
    with pytest.raises(DataError, match="no such file"):
        NpzReader(str(tmp_path / "none.npz"))


def test_pipes_and_compressed(save, tmp_path):
    with open(save(X=X, y=Y), "rb") as file:
        content = file.read()
    (tmp_path / "data.npz.gz").write_bytes(gzip.compress(content))
    (block,) = NpzReader(str(tmp_path / "data.npz.gz"))
    assert dense(block).tolist() == X.tolist()
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)

    def feed():
        with open(pipe, "wb") as out:
            out.write(content)

    writer = threading.Thread(target=feed)
    writer.start()
    (block,) = NpzReader(pipe)
    writer.join()
    assert dense(block).tolist() == X.tolist()


# Archives that are not as numpy writes them ------------------------------------------------------


def archive(path, data=b"", **options):
    with zipfile.ZipFile(path, "w", **options) as file:
        file.writestr("X.npy", data)
    return path


def header(shape):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def patched(path, local, central, value):
    """Change a byte of the headers of an archive with one member."""
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x03\x04") + local] = value
    data[data.index(b"PK\x01\x02") + central] = value
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"hello", "cannot be read"),
        (b"\x93NUMPY\x09\x00" + b" " * 100, r"format version \(9, 0\) is not known"),
        (header("(1000000000000, 2)"), "its shape .* does not fit its 128 bytes"),
        (header("(2, 2)") + bytes(31), "does not fit"),
        (header("(-1, 2)"), "cannot be read|does not fit"),
    ],
)
def test_members_that_are_not_arrays(tmp_path, data, says):
    path = str(archive(tmp_path / "a.npz", data))
    with pytest.raises(DataError, match=says):
        NpzReader(path)


@pytest.mark.parametrize(
    ("places", "value", "says"),
    [((6, 8), 1, "it is encrypted"), ((8, 10), 99, "compression method is not supported")],
)
def test_archives_that_cannot_be_unpacked(tmp_path, places, value, says):
    path = archive(tmp_path / "a.npz", header("(2, 2)") + bytes(32))
    patched(path, *places, value)
    with pytest.raises(DataError, match=says):
        NpzReader(str(path))


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_an_archive_that_unpacks_to_too_much(tmp_path, suffix):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=np.zeros((1000, 100)), y=[0, 1] * 500)
    assert path.stat().st_size < 10_000
    if suffix:
        path = tmp_path / "a.npz.gz"
        path.write_bytes(gzip.compress((tmp_path / "a.npz").read_bytes()))
    with pytest.raises(DataError, match="unpack to more than 100,000 bytes"):
        NpzReader(str(path), max_bytes=100_000)
    assert NpzReader(str(path), max_bytes=2_000_000).rows == 1000
