"""LIBSVM text: what is read, from where, in which pieces, and what bad lines do."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

from lopsided import ACOG, COG, Perceptron, _core
from lopsided.data import libsvm
from lopsided.data.block import BadLines, DataError
from lopsided.data.libsvm import LibsvmReader
from lopsided.persist import to_bytes

PIECES = (1, 2, 7, 64, 1000, 1 << 16, 1 << 20)


@pytest.fixture
def write(tmp_path):
    def write(content, name="rows.svm"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@contextmanager
def pipe(chunks, pause=0.0, stays_open=False):
    """A path that gives these chunks one after the other."""
    out, into = os.pipe()
    enough = threading.Event()

    def send():
        with os.fdopen(into, "wb", buffering=0) as stream:
            for chunk in chunks:
                try:
                    stream.write(chunk)
                except BrokenPipeError:
                    return
                time.sleep(pause)
            if stays_open:
                enough.wait(60)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield f"/dev/fd/{out}"
    finally:
        enough.set()
        os.close(out)
        sender.join()


@contextmanager
def file_of(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.svm")
        path.write_bytes(text)
        yield str(path)


def _pairs(a, b):
    return zip(a.tolist(), b.tolist(), strict=True)


def labels_and_lines(blocks):
    return [(y, line) for b in blocks for y, line in _pairs(b.y, b.lines)]


def values(block, columns):
    """What each row holds: a perceptron that has learned it alone has it as its weights."""
    rows = np.zeros((len(block.y), columns))
    negative = np.full(len(block.y), -1)
    for row, alone in zip(rows, np.eye(len(block.y)), strict=True):
        model = Perceptron(scaling="none")
        coef = model.partial_fit(block.X, negative, [-1, 1], sample_weight=alone).coef_
        row[: len(coef)] = -coef
    return rows


def learned(path, model=None, **options):
    model = COG() if model is None else model
    for block in LibsvmReader(path, **options):
        model.partial_fit(block.X, block.y, [-1, 1])
    return to_bytes(model)


def some_text(rows=400, seed=0, columns=300):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(rows):
        places = np.sort(rng.choice(columns, rng.integers(1, 12), replace=False)) + 1
        pairs = " ".join(f"{j}:{v:.6g}" for j, v in _pairs(places, rng.normal(size=len(places))))
        lines.append(f"{rng.choice([-1, 1])} {pairs}\n")
    return "".join(["-1 1:1 2:1\n", *lines]).encode()


# Odd but legal text -------------------------------------------------------------------------------

FORMATS = (repr, "{:g}".format, "{:e}".format, "{:+.17e}".format, "{:.20f}".format, "{:+G}".format)
NUMBERS = st.one_of(
    st.floats(1e-100, 1e100),  # whose squares neither overflow nor vanish
    st.floats(-1e100, -1e-100),
    st.floats(1e-9, 10),
    st.integers(-1000, 1000).map(float),
)
BLANKS = st.sampled_from([" ", "\t", "  ", " \t ", "\r "])
LABELS = {1: ["1", "+1", "1.0", "1e0", "01", "10E-1"], -1: ["-1", "-1.", "-1.00", "-01", "-1e+00"]}


@st.composite
def number_texts(draw):
    text = draw(st.sampled_from(FORMATS))(draw(NUMBERS))
    return text if 1e-101 < abs(float(text)) < 1e101 else "0"


@st.composite
def texts(draw, base, in_order=False):
    """Rows in LIBSVM text, their values, their labels and the lines they stand in."""
    places = st.integers(0, draw(st.sampled_from([3, 40])))
    rows, labels, at, lines = [], [], [], []
    for label in draw(st.lists(st.sampled_from([-1, 1]), min_size=1, max_size=8)):
        lines.extend(draw(st.lists(st.sampled_from(["", " \t", "# 1 2:3", "\r"]), max_size=2)))
        row = draw(st.dictionaries(places, number_texts(), max_size=6))
        pairs = [f"{k + base}:{v}" for k, v in (sorted(row.items()) if in_order else row.items())]
        words = [draw(st.sampled_from(LABELS[label])), *draw(QID), *pairs]
        blank = draw(BLANKS)
        lines.append(draw(st.sampled_from(["", " ", "\t"])) + blank.join(words) + draw(ENDS))
        rows.append({k: float(v) for k, v in row.items()})
        labels.append(label)
        at.append(len(lines))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    text = newline.join(lines) + draw(st.sampled_from(["", newline]))
    return text.encode(), rows, labels, at


QID = st.sampled_from([[], [], ["qid:3"]])
ENDS = st.sampled_from(["", " ", "\t", " # 7:8", "#", " #\tnote 1:x", "\r"])


def dense(rows, columns):
    out = np.zeros((len(rows), columns))
    for i, row in enumerate(rows):
        for k, v in row.items():
            out[i, k] = v
    return out


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1).flatmap(lambda b: st.tuples(st.just(b), texts(b))))
def test_what_was_written_is_read_to_the_bit(case):
    base, (text, rows, labels, lines) = case
    columns = 41
    with file_of(text) as path:
        blocks = list(LibsvmReader(path, base=base))
        assert labels_and_lines(blocks) == list(zip(labels, lines, strict=True))
        assert np.array_equal(values(blocks[0], columns), dense(rows, columns))


def as_csr(rows):
    pairs = [(i, k, row[k]) for i, row in enumerate(rows) for k in sorted(row)]
    i, k, v = (list(part) for part in zip(*pairs, strict=True))
    return csr_matrix((v, (i, k)), shape=(len(rows), 41))  # keeps zeros that are written


@settings(max_examples=60, deadline=None)
@given(texts(1).filter(lambda case: any(case[1])), st.sampled_from([COG, ACOG]))
def test_text_and_csr_matrix_give_the_same_model(case, make):
    text, rows, labels, _ = case
    expected = make().partial_fit(as_csr(rows), labels, [-1, 1]).coef_
    got = make()
    with file_of(text) as path:
        for block in LibsvmReader(path, base=1):
            got.partial_fit(block.X, block.y, [-1, 1])
    width = got.n_features_in_
    assert got.coef_.tobytes() == expected[:width].tobytes()
    assert not expected[width:].any()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1).flatmap(lambda base: texts(base, in_order=True)))
def test_agrees_with_the_reader_of_scikit_learn(case):
    text = case[0]
    with file_of(text) as path:
        try:
            X, y = load_svmlight_file(path)
        except ValueError:
            return
        (block,) = LibsvmReader(path)
        assert block.y.tolist() == y.tolist()
        if X.nnz:
            assert np.array_equal(values(block, 42)[:, : X.shape[1]], X.toarray())


ODD = st.sampled_from(" \t\r\n:.-+e#x0")


@settings(max_examples=80, deadline=None)
@given(texts(1), st.lists(st.tuples(st.floats(0, 1), ODD), max_size=2), st.integers(0, 1))
def test_parsing_with_avx2_and_byte_by_byte_is_the_same(case, changes, base):
    text = case[0]
    for place, byte in changes:
        at = int(place * len(text))
        text = text[:at] + byte.encode() + text[at + 1 :]
    ours, other = (
        _core.parse_libsvm(20 * b"1 1:1\n" + text, 1, base, 100, True, 5, bytewise)
        for bytewise in (False, True)
    )
    assert [a.tobytes() for a in ours.csr()] == [a.tobytes() for a in other.csr()]
    for name in ("labels", "lines"):
        assert getattr(ours, name).tolist() == getattr(other, name).tolist()
    for name in ("faults", "lines_read", "columns", "has_zero", "labelled"):
        assert getattr(ours, name) == getattr(other, name)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60) | st.text("0123456789:.+-e# \t\r\nqidnaf", max_size=60))
def test_any_bytes_are_read_or_refused(data):
    text = data if isinstance(data, bytes) else data.encode()
    with file_of(text) as path, suppress(DataError):
        assert all(len(b.y) == len(b.lines) for b in LibsvmReader(path, bad=BadLines(2)))


# Where columns are counted from -------------------------------------------------------------------


@pytest.mark.parametrize(("text", "columns"), [("-1 1:1 3:1\n1 2:1\n", 3), ("-1 0:1 3:1\n", 4)])
def test_the_base_is_found_in_the_first_block(write, text, columns):
    (block,) = LibsvmReader(write(text))
    assert block.X.columns == columns


def test_the_base_is_found_after_rows_and_pieces_without_columns(write):
    text = "# notes\n" * 50 + "-1\n" + "-1 0:5 2:1\n1 1:2\n"
    assert [b.X.columns for b in LibsvmReader(write(text), piece=16)][-1] <= 3
    assert learned(write(text), piece=16) == learned(write(text), base=0)


def test_a_base_that_is_told_is_kept(write):
    path = write("-1 1:1 2:1\n")
    assert [next(iter(LibsvmReader(path, base=base))).X.columns for base in (0, 1)] == [3, 2]


def test_index_0_in_a_file_that_counts_from_1_is_an_error(write):
    path = write("-1 1:1\n1 0:1\n")
    with pytest.raises(DataError, match=r"line 2, column 3.*counts from 0"):
        list(LibsvmReader(path, base=1))
    text = b"-1 1:1 2:2\n" * 1000 + b"1 0:1\n"
    with pytest.raises(DataError, match=r"line 1001, column 3.*counts from 0"):
        list(LibsvmReader(write(text), piece=100))


@pytest.mark.parametrize(
    ("base", "good", "bad"), [(None, "1:1 5:1", "1:1 6:1"), (0, "4:1", "5:1"), (1, "5:1", "6:1")]
)
def test_an_index_beyond_the_limit_is_an_error(write, base, good, bad):
    for file in (f"-1 {good}\n", f"1 1:1\n-1 {bad}\n"):
        reader = LibsvmReader(write(file), base=base, max_features=5)
        if bad in file:
            with pytest.raises(DataError, match=r"line 2.*an index of at most .*max_features"):
                list(reader)
        else:
            assert len(list(reader)) == 1


def test_the_limit_holds_for_a_file_found_to_count_from_0(write):
    path = write("-1 0:1 5:1\n")
    with pytest.raises(DataError, match="an index of at most 4 "):
        list(LibsvmReader(path, max_features=5))


# Pieces, pipes and compression --------------------------------------------------------------------


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("make", [COG, ACOG])
def test_pieces_of_any_size_give_the_same_rows_and_the_same_model(write, piece, make):
    path = write(some_text())
    assert learned(path, make(), piece=piece) == learned(path, make())
    whole = labels_and_lines(LibsvmReader(path))
    assert labels_and_lines(LibsvmReader(path, piece=piece)) == whole
    assert [line for _, line in whole] == list(range(1, 402))


@settings(max_examples=60, deadline=None)
@given(texts(1), st.integers(1, 100))
def test_pieces_cut_anywhere_give_the_same_rows(case, piece):
    text, _, labels, lines = case
    with file_of(text) as path:
        blocks = list(LibsvmReader(path, base=1, piece=piece))
        assert labels_and_lines(blocks) == list(zip(labels, lines, strict=True))
        (whole,) = LibsvmReader(path, base=1)
        parts = np.concatenate([values(b, 41) for b in blocks])
        assert np.array_equal(parts, values(whole, 41))


def test_a_line_longer_than_a_piece_is_read(write):
    long_line = "-1 " + " ".join(f"{k}:{k}" for k in range(1, 20_000)) + "\n"
    path = write("1 1:1\n" + 3 * (long_line + "1 2:2\n") + long_line.rstrip())
    blocks = list(LibsvmReader(path, piece=4096))
    assert labels_and_lines(blocks) == labels_and_lines(LibsvmReader(path))
    assert learned(path, piece=4096) == learned(path)


def halves(text):
    cut = len(text) // 2 + 3  # in the middle of a line
    return text[:cut], text[cut:]


COMPRESSIONS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("ending", COMPRESSIONS)
@pytest.mark.parametrize("piece", [100, 1 << 20])
def test_compressed_files_give_what_plain_ones_give(write, ending, piece):
    text, pack = some_text(), COMPRESSIONS[ending]
    plain = learned(write(text))
    assert learned(write(pack(text), "one.svm" + ending), piece=piece) == plain
    members = b"".join(map(pack, halves(text)))
    assert learned(write(members, "two.svm" + ending), piece=piece) == plain


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_a_cut_compressed_file_is_an_error_with_its_place(write, ending):
    packed = COMPRESSIONS[ending](some_text(4000))
    path = write(packed[: len(packed) * 2 // 3], "cut.svm" + ending)
    with pytest.raises(DataError, match=rf"cut\.svm{ending}: .*byte \d+"):
        list(LibsvmReader(path))


@pytest.mark.parametrize("size", [1, 3, 17, 1000, 100_000])
def test_a_pipe_may_give_bytes_as_it_likes(write, size):
    text = some_text(60 if size < 10 else 400)
    expected = learned(write(text))
    with pipe(text[k : k + size] for k in range(0, len(text), size)) as path:
        assert learned(path) == expected


def test_rows_of_a_pipe_come_as_soon_as_they_are_there():
    with pipe([b"-1 1:1\n1 2:", b"2\n"], pause=0.2, stays_open=True) as path:
        blocks = iter(LibsvmReader(path))
        assert next(blocks).lines.tolist() == [1]
        assert next(blocks).lines.tolist() == [2]
        blocks.close()


def test_standard_input_is_read():
    code = (
        "from lopsided.data.libsvm import LibsvmReader as R; print(sum(len(b.y) for b in R('-')))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=some_text(), capture_output=True)
    assert done.stdout.strip() == b"401", done.stderr


# Threads and files --------------------------------------------------------------------------------


@pytest.fixture(params=[1, 2, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(libsvm, "_threads", lambda: request.param)
    return request.param


def until_it_fails(path, **options):
    """Return the lines that are read, and the error that ends the reading."""
    lines = []
    try:
        for block in LibsvmReader(path, **options):
            lines.extend(block.lines.tolist())
    except DataError as error:
        return lines, str(error)
    return lines, None


@pytest.mark.parametrize("piece", [1, 64, 1000])
def test_any_number_of_threads_gives_the_same_model(write, threads, piece):
    path = write(some_text())
    assert learned(path, piece=piece) == learned(path)
    assert until_it_fails(path, piece=piece) == (list(range(1, 402)), None)


def test_a_bad_line_ends_the_reading_at_its_place_with_any_number_of_threads(write, threads):
    path = write(b"1 1:1\n" * 500 + b"spam\n" + b"1 1:x\n" * 500)
    lines, error = until_it_fails(path, piece=60)
    assert lines == list(range(1, 501))
    assert "line 501, column 1" in error
    bad = BadLines(2)
    lines, error = until_it_fails(path, piece=60, bad=bad)
    assert [fault.line for fault in bad.found] == [501, 502]
    assert "line 503, column 5" in error


def test_what_comes_before_the_damage_is_read_with_any_number_of_threads(write, threads):
    packed = gzip.compress(some_text(4000))
    path = write(packed[: len(packed) // 2], "cut.svm.gz")
    lines, error = until_it_fails(path, piece=1000)
    assert lines == list(range(1, len(lines) + 1))
    assert len(lines) > 1000
    assert "byte" in error


def test_many_threads_and_pieces_stay_in_order(write, monkeypatch):
    monkeypatch.setattr(libsvm, "_threads", lambda: 8)
    path = write(some_text(3000))
    for _ in range(5):
        assert until_it_fails(path, piece=50) == (list(range(1, 3002)), None)


def open_files():
    return sorted(os.readlink(f"/proc/self/fd/{n}") for n in _numbers())


def _numbers():
    return [n for n in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{n}")]


class NotTodayError(Exception):
    pass


def _to_the_end(path):
    assert list(LibsvmReader(path, piece=100))


def _early_break(path):
    for _ in LibsvmReader(path, piece=100):
        break


def _consumer_fails(path):
    def use():
        for _ in LibsvmReader(path, piece=100):
            raise NotTodayError

    with pytest.raises(NotTodayError):
        use()


def _bad_line(path):
    with pytest.raises(DataError):
        list(LibsvmReader(path, piece=100, max_features=2))


@pytest.mark.parametrize("use", [_to_the_end, _early_break, _consumer_fails, _bad_line])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_no_thread_and_no_open_file_stays_behind(write, use, ending, threads):
    packed = gzip.compress(some_text()) if ending else some_text()
    path = write(packed, "rows.svm" + ending)
    running, files = set(threading.enumerate()), open_files()
    use(path)
    assert set(threading.enumerate()) == running
    assert open_files() == files


def test_a_silent_pipe_does_not_keep_a_reader_that_is_done(threads):
    running = threading.active_count()
    with pipe([b"-1 1:1\n"], stays_open=True) as path:
        start = time.perf_counter()
        for _ in LibsvmReader(path):
            break
        assert time.perf_counter() - start < 20  # the pipe stays open for a minute
    assert threading.active_count() == running


MEASURED = """
import lopsided
from lopsided.data.libsvm import LibsvmReader
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if "VmHWM" in line)
model, rows, early = lopsided.COG(), 0, None
for block in LibsvmReader("-"):
    model.partial_fit(block.X, block.y)
    rows += len(block.y)
    if early is None and rows > 20_000:
        early = peak()
print(rows, peak() - early)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_memory_is_flat_however_long_the_stream(tmp_path):
    text, times = some_text(10_000), 100  # about 100 MB
    child = subprocess.Popen(
        [sys.executable, "-c", MEASURED], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    for _ in range(times):
        child.stdin.write(text)
    out, _ = child.communicate()
    rows, grown = map(int, out.split())
    assert rows == times * 10_001
    assert grown < 40_000  # kB


# Bad lines ----------------------------------------------------------------------------------------

# What stands in line 3, the column of the fault, the text found, and a word of what was expected.
FAULTS = [
    ("1:2 3:4", 1, "1:2", "a label before the first pair"),
    ("  abc 1:2", 3, "abc", "a class label"),
    ("nan 1:2", 1, "nan", "a class label"),
    ("1.5 1:2", 1, "1.5", "a class label"),
    ("1 1:", 5, "", "a number after the colon"),
    ("1 :1", 3, ":1", "index:value"),
    ("1 1:2:3", 3, "1:2:3", "index:value"),
    ("1 1:nan", 5, "nan", "a number after the colon"),
    ("1 2:inf", 5, "inf", "a number after the colon"),
    ("1 2:1e400", 5, "1e400", "a finite number"),
    ("1 1:2 0:1", 7, "0:1", "indices from 1 on"),
    ("1 -1:2", 3, "-1:2", "not negative index"),
    ("1 1:1 2000000000:1", 7, "2000000000:1", "at most 50000000"),
    ("1 qid:x 1:1", 3, "qid:x", "qid:number"),
    ("1\t2:1\tx", 7, "x", "index:value"),
    ("1 1:1 \xff\xfe:1", 7, "\\xff\\xfe:1", "index:value"),
]


@pytest.mark.parametrize("piece", [5, 1 << 20])
@pytest.mark.parametrize(("line", "column", "found", "expected"), FAULTS)
def test_a_fault_names_file_line_column_text_and_what_was_expected(
    write, line, column, found, expected, piece
):
    text = f"-1 1:1 2:2\n# note\n{line}\n1 1:1\n".encode("latin-1")
    path = write(text)
    with pytest.raises(DataError) as caught:
        list(LibsvmReader(path, piece=piece, base=1))
    error = caught.value
    assert (error.file, error.line, error.column, error.found) == (path, 3, column, found)
    assert expected in error.expected
    assert str(error).startswith(f"{path}, line 3, column {column}: ")


@pytest.mark.parametrize("line", [*(fault[0] for fault in FAULTS), "1 3:1 3:2", "1 9:1 3:1 9:2"])
@pytest.mark.parametrize("piece", [30, 1 << 20])
def test_nothing_of_a_bad_line_is_learned(write, line, piece):
    good = some_text(50).splitlines(keepends=True)
    bad = [*good[:20], line.encode("latin-1") + b"\n", *good[20:]]
    tolerated = BadLines(1)
    got = learned(write(b"".join(bad)), bad=tolerated, piece=piece, base=1)
    assert got == learned(write(b"".join(good)), base=1)
    assert [error.line for error in tolerated.found] == [21]


@pytest.mark.parametrize("piece", [10, 1 << 20])
def test_one_bad_line_more_than_allowed_stops(write, piece):
    path = write("-1 1:1\nx\n1 1:1\ny\n1 1:2\nz\n1 1:1\n")
    few = BadLines(2)
    with pytest.raises(DataError, match=r"line 6, column 1: found \"z\""):
        list(LibsvmReader(path, bad=few, piece=piece))
    assert [error.line for error in few.found] == [2, 4]
    enough = BadLines(3)
    assert labels_and_lines(LibsvmReader(path, bad=enough, piece=piece)) == [
        (-1, 1), (1, 3), (1, 5), (1, 7),
    ]  # fmt: skip
    assert [error.found for error in enough.found] == ["x", "y", "z"]


@pytest.mark.parametrize("text", ["", "\n\n", "# only\n# notes", "\r\n \t\n"])
def test_a_file_without_rows_is_an_error(write, text):
    path = write(text)
    with pytest.raises(DataError, match=r"rows\.svm: there are no rows"):
        list(LibsvmReader(path))


def test_labels_may_be_absent_where_none_are_needed(write):
    (block,) = LibsvmReader(write("1:1 2:2\n2:3\n"), labelled=False)
    assert block.y is None
    assert block.lines.tolist() == [1, 2]
    (block,) = LibsvmReader(write("1 1:1 2:2\n-1 2:3\n"), labelled=False)
    assert block.y.tolist() == [1, -1]
