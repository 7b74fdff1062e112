"""A pipe that is compressed gives what the plain one gives, however its bytes arrive."""

import bz2
import gzip
import lzma
import os
import threading
import time

import pytest
import zstandard

from lopsided.data.readers.files import is_row_cache, open_bytes
from lopsided.errors import DataError

COMPRESS = {
    "plain": bytes,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}
TEXT = b"".join(b"%d %d:1\n" % (n % 2, n) for n in range(1, 5000))


def through_a_pipe(folder, data, *, first=0):
    """Return what comes out of a named pipe into which some first bytes go one by one."""
    path = str(folder / "pipe")
    os.mkfifo(path)

    def fill():
        with open(path, "wb", buffering=0) as pipe:
            for at in range(first):
                pipe.write(data[at : at + 1])
                time.sleep(0.002)
            pipe.write(data[first:])

    writer = threading.Thread(target=fill)
    writer.start()
    try:
        with open_bytes(path) as stream:
            return stream.read()
    finally:
        writer.join()


@pytest.mark.parametrize("first", [0, 8])
@pytest.mark.parametrize("kind", COMPRESS)
def test_a_pipe_is_known_by_its_first_bytes(tmp_path, kind, first):
    assert through_a_pipe(tmp_path, COMPRESS[kind](TEXT), first=first) == TEXT


@pytest.mark.parametrize("text", [b"", b"(", b"B", b"BZ", b"(1\n", b"\x1f", b"\xfd7z", b"1\n"])
def test_what_only_begins_like_it_is_plain(tmp_path, text):
    assert through_a_pipe(tmp_path, text) == text


def test_a_cut_pipe_is_an_error(tmp_path):
    with pytest.raises(DataError, match="reading failed near byte"):
        through_a_pipe(tmp_path, gzip.compress(TEXT)[:-20])


def test_a_named_pipe_is_not_opened_to_see_what_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    looking = threading.Thread(
        target=lambda: found.append(is_row_cache(str(tmp_path / "pipe"))), daemon=True
    )
    looking.start()
    looking.join(timeout=10)  # nobody writes: to open it would take for ever
    assert found == [False]
