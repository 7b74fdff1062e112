"""CSV: what is read, and what is refused."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import threading
from unittest import mock

import pytest
from table_rows import rows_of

from lopsided.data.block import BadLines, Dense, Sparse
from lopsided.data.readers.csv import CsvReader, ParquetReader
from lopsided.errors import DataError

pytest.importorskip("pyarrow")

PLAIN = "a,b,label\n1,2.5,0\n-3,4e2,1\n"


FILE = "data.csv"


def test_a_table_of_numbers_is_dense_and_named(write):
    (block,) = CsvReader(write(PLAIN))
    assert isinstance(block.X, Dense)
    assert block.X.names == ["a", "b"]
    assert block.X.array.tolist() == [[1, 2.5], [-3, 400]]
    assert block.y.tolist() == [0, 1]
    assert block.y.dtype.kind == "i"
    assert block.lines.tolist() == [2, 3]
    assert block.weight is None


def test_categories_are_one_hot_in_order_of_appearance(write):
    text = "n,city,job,y\n1,Oslo,cook,0\n0,Rome,smith,1\n2,Oslo,smith,0\n"
    (block,) = CsvReader(write(text), categorical=["city", "job"])
    assert isinstance(block.X, Sparse)
    assert block.X.names == ["n", "city=Oslo", "job=cook", "city=Rome", "job=smith"]
    assert block.X.shape == (3, 5)
    assert rows_of(CsvReader(write(text), categorical=[1, 2]))[1][0] == {
        "city=Rome": 1,
        "job=smith": 1,
    }
    assert block.X.indptr.tolist() == [0, 3, 5, 8]  # the zero of row 2 is not there


@pytest.mark.parametrize(
    ("label", "names"),
    [("b", ["a", "label"]), (0, ["b", "label"]), (-1, ["a", "b"]), ("-2", ["a", "label"])],
)
def test_label_by_name_or_position(write, label, names):
    (block,) = CsvReader(write(PLAIN), label=label, classes=None)
    assert block.X.names == names


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("0 1 1", [0, 1, 1]),
        ("+1 -1 +1", [1, -1, 1]),
        ("1.0 2.0 1", [1, 2, 1]),
        ("true False TRUE", [True, False, True]),
        ("no yes no", ["no", "yes", "no"]),
        ("no 1 1", ["no", "1", "1"]),
    ],
)
def test_labels_are_numbers_bools_or_texts(write, written, expected):
    text = "x,y\n" + "".join(f"1,{label}\n" for label in written.split())
    for size in (1, 3):
        got = [label for _, label, _, _ in rows_of(CsvReader(write(text), block_rows=size))]
        assert got == expected


def test_drop_weight_and_no_header(write):
    text = "7,1.5,0,2\n8,2.5,1,0\n"
    reader = CsvReader(write(text), header=False, label=2, weight="c3", drop=["c0"])
    assert rows_of(reader) == [({"c1": 1.5}, 0, 2, 1), ({"c1": 2.5}, 1, 0, 2)]


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN.rstrip("\n"),
        "\ufeff" + PLAIN,
        PLAIN.replace(",", " , "),
        "\n\r\n" + PLAIN.replace("\n", "\n\n") + "\n\n",
        PLAIN.replace("2.5", '"2.5"').replace("a,", '"a",'),
    ],
)
def test_forms_of_text_that_are_accepted(write, text):
    rows = rows_of(CsvReader(write(text)))
    assert [row[:2] for row in rows] == [({"a": 1, "b": 2.5}, 0), ({"a": -3, "b": 400}, 1)]
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert [lines[row[3] - 1][:1] for row in rows] == ["1", "-"]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_delimiters(write, delimiter):
    path = write(PLAIN.replace(",", delimiter))
    assert len(rows_of(CsvReader(path, delimiter=delimiter))) == 2
    with pytest.raises(DataError, match="is the delimiter"):
        CsvReader(path)


def test_a_column_may_look_whole_for_long(write):
    text = "x,y\n" + "1,0\n" * 300_000 + "1.5,1\n"
    last = list(CsvReader(write(text)))[-1]
    assert last.X.array[-1].tolist() == [1.5]
    assert last.lines[-1] == 300_002


# Faults ------------------------------------------------------------------------------------------

FAULTS = [
    ("ragged", "1,2,0\n1,2\n", 3, None, "1,2", "3 cells"),
    ("too many", "1,2,0\n1,2,3,0\n", 3, None, "1,2,3,0", "3 cells"),
    ("text", "1,2,0\n1,abc,0\n", 3, "b", "abc", "a number"),
    ("empty", "1,2,0\n,2,0\n", 3, "a", "", "a value"),
    ("NA", "1,NA,0\n", 2, "b", "NA", "a value"),
    ("infinite", "1,2,0\n1,1e999,0\n", 3, "b", "1e999", "finite"),
    ("nan", "1,2,0\nnan,1,0\n", 3, "a", "nan", "a value"),
    ("hexadecimal", "1,0x10,0\n", 2, "b", "0x10", "a number"),
    ("underscores", "1,1_0,0\n", 2, "b", "1_0", "a number"),
    ("no label", "1,2,0\n1,2,\n", 3, "label", "", "a value"),
    ("third label", "1,2,0\n1,2,1\n1,2,2\n", 4, "label", "2", "one of two labels (0 or 1)"),
    ("label of another kind", "1,2,0\n1,2,yes\n", 3, "label", "yes", "a number as label"),
    ("NUL", "1,2,0\n1,2\0,0\n", 3, "b", "2\0", "NUL"),
    ("not UTF-8", b"1,2,0\n1,\xff,0\n", 3, "b", "\\xff", "UTF-8"),
    ("after quoted line ends", '1,"2\n",0\n"a\n\n",2,0\n1,2,0\n', 2, "b", "2\n", "a number"),
    ("after blank lines", "\n\n1,2,0\n\nx,2,0\n", 6, "a", "x", "a number"),
    ("quote not closed", '1,2,0\n1,"2,0\n1,2,0\n', 3, None, '1,"2,0', "closing quote"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault[0])
def test_bad_row_is_refused_with_its_place_and_tolerated_if_allowed(write, fault):
    _, rows, line, column, found, expected = fault
    rows = rows if isinstance(rows, bytes) else rows.encode()
    path = write(b"a,b,label\n" + rows + b"5,6,0\n" * 3)
    with pytest.raises(DataError) as caught:
        list(CsvReader(path))
    error = caught.value
    assert (error.line, error.column, error.found) == (line, column, found)
    assert expected in str(error)
    assert path in str(error)

    bad = BadLines(allowed=2)
    got = rows_of(CsvReader(path, bad=bad))
    assert got[-3:] == [({"a": 5, "b": 6}, 0, None, at) for at in (row[3] for row in got[-3:])]
    assert line not in [row[3] for row in got]
    assert bad.found[0].line == line
    assert all(features in ({"a": 1, "b": 2}, {"a": 5, "b": 6}) for features, *_ in got)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "is empty"),
        ("\n\n", {}, "is empty"),
        ("a,b,label\n", {}, "there are no rows"),
        ("a,b,label\n", {"categorical": "auto"}, "there are no rows"),
        ("a,b,c\n1,2,3\n", {}, 'which column is the label.*"a", "b", "c"'),
        ("class,y\n1,2\n", {}, "more than one column"),
        (PLAIN, {"label": "lable"}, 'no column "lable"; did you mean "label"'),
        (PLAIN, {"label": 3}, "no column 3; they are 0 to 2"),
        (PLAIN, {"drop": ["z"]}, 'drop: there is no column "z"'),
        (PLAIN, {"categorical": ["label"]}, "categorical but not a feature"),
        (PLAIN, {"weight": "label"}, "both the label and the weight"),
        (PLAIN, {"drop": ["label"], "label": "label"}, "both dropped and the label"),
        (PLAIN, {"drop": ["a", "b"]}, "no columns are left"),
        (PLAIN, {"names": ["b", "amount"]}, 'the model knows the column "amount"'),
        ("a,a,label\n1,2,0\n", {}, 'two columns are called "a"'),
        ("a,a=b,label\n1,2,0\n", {"categorical": ["a"]}, "rename or drop"),
        (PLAIN, {"weight": "a"}, 'line 3, column "a": found "-3", expected a weight'),
        (PLAIN, {"classes": [0, 2]}, r'line 3.*"1", expected one of two labels \(0 or 2\)'),
        (PLAIN.encode("utf-16"), {}, "UTF-8"),
        (b"\x00\x01\x02\xff\n\x03", {}, "UTF-8"),
    ],
)
def test_what_cannot_be_read_is_said(write, text, options, message):
    with pytest.raises(DataError, match=message):
        list(CsvReader(write(text), **options))


@pytest.mark.parametrize(
    "options",
    [{"missing": "mean"}, {"block_rows": 0}, {"delimiter": ",,"}, {"categorical": "city"}],
)
def test_wrong_options_are_usage_errors(write, options):
    with pytest.raises(ValueError, match=next(iter(options))) as caught:
        CsvReader(write(PLAIN), **options)
    assert not isinstance(caught.value, DataError)


def test_one_bad_row_more_than_allowed_stops(write):
    path = write("a,y\n1,0\nx,0\n2,0\ny,1\n")
    bad = BadLines(allowed=1)
    with pytest.raises(DataError, match="line 5"):
        list(CsvReader(path, bad=bad))
    assert [error.line for error in bad.found] == [3]


def test_nothing_of_a_bad_row_is_named_or_counted(write):
    text = "n,c,y\n1,u,0\ninf,v,1\n2,w,1\n3,w,0,\n4,x,2\n"
    bad = BadLines(allowed=3)
    reader = CsvReader(write(text), categorical=["c"], bad=bad)
    assert rows_of(reader) == [({"n": 1, "c=u": 1}, 0, None, 2), ({"n": 2, "c=w": 1}, 1, None, 4)]
    assert reader.names == ["n", "c=u", "c=w"]
    assert [error.line for error in bad.found] == [3, 5, 6]


def test_missing_as_the_user_says(write):
    path = write("n,c,w,y\n,u,1,0\n2,,1,1\n?,v,1,1\n4,v,1,0\n")
    options = {"categorical": ["c"], "weight": "w"}
    zero = rows_of(CsvReader(path, missing="zero", **options))
    assert [row[0] for row in zero] == [{"c=u": 1}, {"n": 2}, {"c=v": 1}, {"n": 4, "c=v": 1}]
    dropping = CsvReader(path, missing="drop", **options)
    assert rows_of(dropping) == [({"n": 4, "c=v": 1}, 0, 1, 5)]
    assert dropping.dropped == 3
    dense = CsvReader(write("n,y\nNA,0\n1,1\n"), missing="zero")
    assert [row[0]["n"] for row in rows_of(dense)] == [0, 1]
    with pytest.raises(DataError, match="expected a label"):
        list(CsvReader(write("n,y\n1,\n"), missing="zero"))


def test_auto_takes_columns_of_text_only(write):
    text = "n,c,m,y\n1,u,3,0\n2,v,x,1\n3,w,4,0\n"
    with pytest.raises(DataError, match='line 3, column "m": found "x"'):
        list(CsvReader(write(text), categorical="auto"))
    got = rows_of(CsvReader(write(text), categorical="auto", drop=["m"]))
    assert got[2][0] == {"n": 3, "c=w": 1}


# Models that have names already ------------------------------------------------------------------


def test_known_names_keep_their_places(write):
    (block,) = CsvReader(
        write(PLAIN.replace("label", "new,label").replace(",0", ",9,0").replace(",1\n", ",8,1\n")),
        names=["b", "a"],
    )
    assert block.X.names == ["b", "a", "new"]
    assert block.X.array.tolist() == [[2.5, 1, 9], [400, -3, 8]]
    text = "c,n,y\nv,1,0\nw,2,1\n"
    (block,) = CsvReader(write(text), names=["c=w", "n"], categorical="auto")
    assert block.X.names == ["c=w", "n", "c=v"]
    assert rows_of(CsvReader(write(text), names=["c=w", "n"], categorical=["c"]))[1][0] == {
        "c=w": 1,
        "n": 2,
    }


@pytest.mark.parametrize("text", [PLAIN, "a,b\n1,2.5\n-3,400\n"])
@pytest.mark.parametrize("label", [None, "label"])
def test_without_labels_the_label_column_may_be_there_or_not(write, text, label):
    got = rows_of(CsvReader(write(text), labelled=False, label=label))
    assert [row[:2] for row in got] == [({"a": 1, "b": 2.5}, None), ({"a": -3, "b": 400}, None)]


# Sources -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed(write, ending, compress):
    assert len(rows_of(CsvReader(write(compress(PLAIN.encode()), "data.csv" + ending)))) == 2
    cut = write(compress(PLAIN.encode() * 99)[:-9], "cut.csv" + ending)
    with pytest.raises(DataError, match="byte"):
        list(CsvReader(cut, bad=BadLines(allowed=99)))


def test_a_pipe_is_read_as_it_comes(tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    seen = threading.Event()

    def feed():
        with open(path, "w") as pipe:
            pipe.write(PLAIN + "7,")
            pipe.flush()
            assert seen.wait(10)
            pipe.write("8,1\n")

    writer = threading.Thread(target=feed)
    writer.start()
    blocks = iter(CsvReader(path))
    assert next(blocks).lines.tolist() == [2, 3]
    seen.set()
    assert next(blocks).X.array.tolist() == [[7, 8]]
    writer.join()


def test_missing_file_and_folder(tmp_path):
    for path, message in ((tmp_path / "none.csv", "no such file"), (tmp_path, "folder")):
        for kind in (CsvReader, ParquetReader):
            with pytest.raises(DataError, match=message):
                kind(str(path))


def test_a_reader_is_used_once(write):
    reader = CsvReader(write(PLAIN))
    list(reader)
    with pytest.raises(ValueError, match="used once"):
        list(reader)


@pytest.mark.parametrize("kind", [CsvReader, ParquetReader])
def test_without_pyarrow_it_says_what_to_install(write, kind):
    hidden = dict.fromkeys(["pyarrow", "pyarrow.csv", "pyarrow.parquet"])
    with (
        mock.patch.dict(sys.modules, hidden),
        pytest.raises(ImportError, match="pip install pyarrow"),
    ):
        kind(write(PLAIN))
