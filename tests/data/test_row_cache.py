"""Caches of rows: they say what the text says, and a damaged one is an error."""

from __future__ import annotations

import gzip
import os
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from libsvm_text import file_of, open_files, pipe, some_text, texts

from lopsided import ACOG, COG, _core
from lopsided.data import open_reader
from lopsided.data.block import BadLines
from lopsided.data.gather import gather
from lopsided.data.readers.files import ROW_CACHE_MAGIC
from lopsided.data.readers.row_cache import RowCacheReader, write_row_cache
from lopsided.errors import DataError
from lopsided.persist import to_bytes

ROWS = b"-1 1:1 2:2\n# note\n1 2:0.5 7:-3\n\n-1\n1 3:0.1\n"
SPREAD = b"1 1:1\n-1 1:-2 3:100\n1 2:0.5\n-1 4:-0.25\n1 1:0.1 5:1e-300\n-1 2:-0\n"


@pytest.fixture
def cache(tmp_path):
    def cache(text=ROWS, name="rows.svm", **options):
        source = tmp_path / name
        source.write_bytes(text)
        out = str(tmp_path / f"{name}.lopc")
        write_row_cache(str(source), out, **options)
        return out

    return cache


def contents(blocks):
    """Everything that a stream holds, to the bit."""
    whole = gather(blocks)
    X = whole.X
    labels = None if whole.y is None else whole.y.tolist()
    parts = (np.asarray(X.indptr, np.int64), X.indices, X.data)
    return [part.tobytes() for part in parts], X.shape[1], labels, whole.lines.tolist()


def text_of(cache):
    return cache.removesuffix(".lopc")


# What is read -------------------------------------------------------------------------------------


@pytest.mark.parametrize("piece", [1, 20, 1 << 20])
@pytest.mark.parametrize("text", [ROWS, SPREAD, some_text(), b"1 0:1 4:2\n", b"-1\n1\n"])
def test_a_cache_says_what_the_text_says(cache, text, piece):
    path = cache(text, chunk_bytes=piece)
    assert contents(open_reader(path)) == contents(open_reader(text_of(path), chunk_bytes=piece))


@settings(max_examples=60, deadline=None)
@given(texts(1), st.integers(1, 100))
def test_any_text_has_a_cache(case, piece):
    with file_of(case[0]) as path:
        write_row_cache(path, path + ".lopc", base=1, chunk_bytes=piece)
        assert contents(open_reader(path + ".lopc")) == contents(open_reader(path, base=1))


@pytest.mark.parametrize("make", [COG, ACOG])
def test_a_cache_gives_the_same_model(cache, make):
    path = cache(some_text(), chunk_bytes=1000)
    models = [make(), make()]
    for model, data in zip(models, (path, text_of(path)), strict=True):
        for block in open_reader(data):
            model.partial_fit(block.X, block.y, [-1, 1])
    assert to_bytes(models[0]) == to_bytes(models[1])


@pytest.mark.parametrize(
    ("values", "width"),
    [("1", 0), ("-3", 1), ("127", 1), ("-0", 4), ("0.5", 4), ("128", 4), ("1e39", 8), ("0.1", 8)],
)
def test_values_take_the_bytes_they_need(cache, values, width):
    text = "".join(f"1 {k}:1 {k + 1}:{values}\n" for k in range(1, 101)).encode()
    path = cache(text)
    heads = 64 + 448 + 448 + 832  # of the block, starts, labels and indices, rounded up to 64
    block = _core.parse_libsvm(text, 1, 1, 200, True, 0)
    assert 0 <= len(_core.pack(block, 0)) - heads - 200 * width < 64
    assert contents(open_reader(path)) == contents(open_reader(text_of(path)))


def test_rows_to_predict_may_lack_labels(cache):
    path = cache(b"1:1 2:2\n3:1\n", labelled=False)
    assert contents(open_reader(path, labelled=False))[2] is None
    with pytest.raises(DataError, match="line 1: a label on every row"):
        list(open_reader(path))


def test_a_cache_is_known_by_its_first_bytes(cache, tmp_path):
    os.rename(cache(), tmp_path / "other.svm")
    assert isinstance(open_reader(str(tmp_path / "other.svm")), RowCacheReader)
    assert isinstance(open_reader(str(tmp_path / "other.svm"), "libsvm"), RowCacheReader)


def test_an_option_of_the_text_says_nothing_to_a_cache(cache):
    with pytest.raises(ValueError, match="base has no effect on the lopc reader"):
        open_reader(cache(), base=1)
    with pytest.raises(DataError, match=r"7 columns and the limit is 6 .*max_features"):
        open_reader(cache(), max_features=6)


def test_bad_lines_are_left_out_if_they_may_be(cache):
    bad = BadLines(1)
    path = cache(b"1 1:1\nspam\n-1 2:1\n", bad=bad)
    assert [error.line for error in bad.found] == [2]
    assert contents(open_reader(path))[3] == [1, 3]
    assert RowCacheReader(path).about.left_out == 1


def test_a_cache_in_a_pipe_or_compressed_is_an_error(cache, tmp_path):
    data = Path(cache()).read_bytes()
    (tmp_path / "packed.svm.gz").write_bytes(gzip.compress(data))
    with pytest.raises(DataError, match="this is a cache: give the plain file"):
        list(open_reader(str(tmp_path / "packed.svm.gz")))
    for sent in (data, ROW_CACHE_MAGIC + bytes(50)):
        with pipe([sent]) as path, pytest.raises(DataError, match="this is a cache"):
            list(open_reader(path))
    with pipe([data]) as path, pytest.raises(DataError, match="name a plain file"):
        list(open_reader(path, "lopc"))


def test_a_file_is_open_while_its_blocks_are_in_use(cache):
    path = cache(some_text(), chunk_bytes=100)
    files = open_files()
    block = next(iter(RowCacheReader(path)))
    assert len(open_files()) == len(files) + 1
    del block
    assert len(list(RowCacheReader(path))) > 10
    assert open_files() == files


def test_blocks_outlive_their_reader(cache):
    path = cache(some_text(), chunk_bytes=100)
    blocks = list(RowCacheReader(path))
    os.unlink(path)
    assert contents(blocks) == contents(open_reader(text_of(path)))


# What it was made of ------------------------------------------------------------------------------


def test_a_cache_does_not_go_stale_silently(cache, tmp_path):
    path = cache()
    text = Path(text_of(path))
    was = text.stat().st_mtime_ns
    os.utime(text, ns=(was, was + 1))
    with pytest.raises(DataError, match=r"rows\.svm is not as it was .*lopsided data cache"):
        open_reader(path)
    assert RowCacheReader(path, fresh=False).about.source.state(path) == "changed"
    os.utime(text, ns=(was, was))
    assert len(list(open_reader(path))) == 1
    text.write_bytes(ROWS + b"1 1:1\n")
    os.utime(text, ns=(was, was))
    with pytest.raises(DataError, match="is not as it was"):
        open_reader(path)
    text.unlink()
    assert len(list(open_reader(path))) == 1


def test_the_source_is_found_from_another_folder(cache, tmp_path, monkeypatch):
    path = cache()
    (tmp_path / "kept").mkdir()
    out = tmp_path / "kept" / "rows.lopc"
    about = write_row_cache(text_of(path), str(out))
    assert about.source.name == os.path.join("..", "rows.svm")
    monkeypatch.chdir(tmp_path / "kept")
    assert about.source.state("rows.lopc") == "unchanged"


# Written whole or not at all ----------------------------------------------------------------------


def test_a_bad_line_leaves_the_old_cache_and_no_other_file(cache, tmp_path):
    path = cache()
    before = Path(path).read_bytes()
    with pytest.raises(DataError, match="line 401"):
        cache(b"1 1:1\n" * 400 + b"spam\n", chunk_bytes=100)
    assert Path(path).read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["rows.svm", "rows.svm.lopc"]


def test_a_text_that_changes_meanwhile_is_an_error(cache, tmp_path, monkeypatch):
    def changing(block, before):
        os.utime(tmp_path / "rows.svm", ns=(0, 0))
        return pack(block, before)

    pack = _core.pack
    monkeypatch.setattr(_core, "pack", changing)
    with pytest.raises(DataError, match="changed while it was read"):
        cache()
    assert os.listdir(tmp_path) == ["rows.svm"]


def test_what_is_no_text_cannot_be_cached(cache, tmp_path):
    path = cache()
    with pytest.raises(DataError, match="this is a cache already"):
        write_row_cache(path, str(tmp_path / "again"))
    with pytest.raises(DataError, match="not a plain file"):
        write_row_cache(text_of(path), "/dev/null")
    with pytest.raises(DataError, match="no rows"):
        cache(b"# nothing\n", "empty.svm")


# Damage -------------------------------------------------------------------------------------------


def read_all(path):
    for block in RowCacheReader(path, labelled=False):
        block.X.csr()
        COG().partial_fit(block.X, block.y, [-1, 1])


def test_every_changed_byte_is_an_error(cache, tmp_path):
    data = Path(cache(SPREAD, chunk_bytes=20)).read_bytes()
    path = tmp_path / "damaged.lopc"
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        path.write_bytes(changed)
        with pytest.raises(DataError, match=r"damaged\.lopc: "):
            read_all(str(path))


def test_every_cut_file_is_an_error(cache, tmp_path):
    data = Path(cache()).read_bytes()
    path = tmp_path / "cut.lopc"
    for size in range(len(data)):
        path.write_bytes(data[:size])
        with pytest.raises(DataError, match=r"cut\.lopc: "):
            read_all(str(path))
    path.write_bytes(data + b"x")
    with pytest.raises(DataError, match="should have"):
        read_all(str(path))


def headed(data, **changes):
    """Change fields of the head and make its checksum right."""
    names = ["magic", "version", "unused", "place", "size", "total"]
    fields = dict(zip(names, struct.unpack_from("<8sIIQQQ", data), strict=True)) | changes
    head = struct.pack("<8sIIQQQ16x", *fields.values())
    return head + struct.pack("<Q", _core.checksum(head)) + data[64:]


def test_another_format_is_an_error_that_says_so(cache, tmp_path):
    data, path = Path(cache()).read_bytes(), tmp_path / "new.lopc"
    path.write_bytes(headed(data))
    read_all(str(path))
    path.write_bytes(headed(data, version=2))
    with pytest.raises(DataError, match="it has format 2 and this version reads format 1"):
        read_all(str(path))


@pytest.mark.parametrize(
    "text",
    [b"[]", b"{}", b"not json", b"\xff", b'{"rows": 1}', b'{"source": 3}', b"null", b"9" * 5000],
)
def test_a_strange_description_is_an_error(cache, tmp_path, text):
    data, path = Path(cache()).read_bytes(), tmp_path / "strange.lopc"
    place = struct.unpack_from("<Q", data, 16)[0]
    changes = {"size": len(text), "total": _core.checksum(text)}
    path.write_bytes(headed(data[:place] + text, **changes))
    with pytest.raises(DataError, match="its description"):
        read_all(str(path))


def test_blocks_that_are_missing_are_an_error(cache, tmp_path):
    data, path = Path(cache(some_text(), chunk_bytes=1000)).read_bytes(), tmp_path / "less.lopc"
    first = struct.unpack_from("<Q", data, 64 + 32)[0]
    place = struct.unpack_from("<Q", data, 16)[0]
    path.write_bytes(headed(data[:64] + data[64 + first :], place=place - first))
    with pytest.raises(DataError, match="and should have 401"):
        read_all(str(path))


@pytest.mark.parametrize("data", [b"", b"1 1:1\n", b"\x89PNG\r\n\x1a\n" * 20, bytes(1000)])
def test_another_file_is_no_cache(tmp_path, data):
    path = tmp_path / "x.lopc"
    path.write_bytes(data)
    with pytest.raises(DataError, match="this is no cache"):
        RowCacheReader(str(path))


def test_a_missing_cache_and_a_folder_are_errors(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        RowCacheReader(str(tmp_path / "no.lopc"))
    with pytest.raises(DataError, match="a folder"):
        RowCacheReader(str(tmp_path))
