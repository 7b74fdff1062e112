"""LIBSVM text: what is read, and from which column on."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from libsvm_text import file_of, labels_and_lines, learned, texts, values
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

from lopsided import ACOG, COG, _core
from lopsided.data.block import BadLines
from lopsided.data.readers.libsvm import LibsvmReader
from lopsided.errors import DataError

FILE = "rows.svm"


# Odd but legal text -------------------------------------------------------------------------------


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


def test_labels_may_be_absent_where_none_are_needed(write):
    (block,) = LibsvmReader(write("1:1 2:2\n2:3\n"), labelled=False)
    assert block.y is None
    assert block.lines.tolist() == [1, 2]
    (block,) = LibsvmReader(write("1 1:1 2:2\n-1 2:3\n"), labelled=False)
    assert block.y.tolist() == [1, -1]


# Where columns are counted from -------------------------------------------------------------------


@pytest.mark.parametrize(("text", "columns"), [("-1 1:1 3:1\n1 2:1\n", 3), ("-1 0:1 3:1\n", 4)])
def test_the_base_is_found_in_the_first_block(write, text, columns):
    (block,) = LibsvmReader(write(text))
    assert block.X.columns == columns


def test_the_base_is_found_after_rows_and_pieces_without_columns(write):
    text = "# notes\n" * 50 + "-1\n" + "-1 0:5 2:1\n1 1:2\n"
    assert [b.X.columns for b in LibsvmReader(write(text), chunk_bytes=16)][-1] <= 3
    assert learned(write(text), chunk_bytes=16) == learned(write(text), base=0)


def test_a_base_that_is_told_is_kept(write):
    path = write("-1 1:1 2:1\n")
    assert [next(iter(LibsvmReader(path, base=base))).X.columns for base in (0, 1)] == [3, 2]


def test_index_0_in_a_file_that_counts_from_1_is_an_error(write):
    path = write("-1 1:1\n1 0:1\n")
    with pytest.raises(DataError, match=r"line 2, column 3.*counts from 0"):
        list(LibsvmReader(path, base=1))
    text = b"-1 1:1 2:2\n" * 1000 + b"1 0:1\n"
    with pytest.raises(DataError, match=r"line 1001, column 3.*counts from 0"):
        list(LibsvmReader(write(text), chunk_bytes=100))


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
