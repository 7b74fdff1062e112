"""JSON lines: what is read, what is refused, and that blocks do not matter."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import tempfile
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lopsided.data.block import BadLines
from lopsided.data.readers.jsonl import JsonLinesReader
from lopsided.errors import DataError

FILE = "events.jsonl"


def rows_of(reader):
    return [
        (
            event,
            None if block.y is None else block.y[i].item(),
            None if block.weight is None else block.weight[i].item(),
            int(block.lines[i]),
        )
        for block in reader
        for i, event in enumerate(block.X)
    ]


def test_objects_become_dicts_without_label_and_weight(write):
    text = '{"a":1,"city":"Oslo","new":true,"label":0,"w":2}\n{"w":0.5,"label":1}\n'
    assert rows_of(JsonLinesReader(write(text), weight="w")) == [
        ({"a": 1, "city": "Oslo", "new": True}, 0, 2, 1),
        ({}, 1, 0.5, 2),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"label":0}\n{"a":2,"label":1}',
        '{"a":1,"label":0}\r\n{"a":2,"label":1}\r\n',
        '\ufeff{"a":1,"label":0}\n{"a":2,"label":1}\n',
        ' {"a" : 1, "label":\t0}  \n{"a":2,"label":1}\n',
    ],
)
def test_forms_of_text_that_are_accepted(write, text):
    rows = rows_of(JsonLinesReader(write(text)))
    assert rows == [({"a": 1}, 0, None, 1), ({"a": 2}, 1, None, 2)]


def test_blank_lines_are_skipped_and_counted(write):
    text = '\n{"a":1,"label":0}\n  \n\r\n{"a":2,"label":1}\n\n'
    assert [row[3] for row in rows_of(JsonLinesReader(write(text)))] == [2, 5]


@pytest.mark.parametrize(
    ("labels", "kind"),
    [("0 1", "i"), ("1.0 -1", "f"), ("true false", "b"), ('"no" "yes"', "U")],
)
def test_labels_of_any_plain_type(write, labels, kind):
    text = "".join(f'{{"kind":{label}}}\n' for label in labels.split())
    (block,) = JsonLinesReader(write(text), label="kind")
    assert block.y.dtype.kind == kind
    assert block.y.tolist() == [json.loads(label) for label in labels.split()]


FAULTS = [
    ("cut", '{"a":1,"label":0', None, "truncated"),
    ("no colon", '{"a" 1,"label":0}', 6, "':'"),
    ("bare name", '{a:1,"label":0}', 2, "object keys"),
    ("NaN", '{"a":NaN,"label":0}', 6, "invalid character"),
    ("infinite", '{"a":1e999,"label":0}', "a", "finite"),
    ("integer beyond float64", '{"a":1' + "0" * 400 + ',"label":0}', "a", "float64"),
    ("an integer of 9000 digits", '{"a":' + "9" * 9000 + ',"label":0}', None, ""),
    ("nested object", '{"a":{"b":1},"label":0}', "a", "not nested"),
    ("nested list", '{"a":[1],"label":0}', "a", "not nested"),
    ("deeply nested", '{"a":' + "[" * 100_000 + "]" * 100_000 + "}", None, ""),
    ("list", "[1,2]", None, "in braces"),
    ("number", "17", None, "in braces"),
    ("two objects", '{"label":0} {"label":1}', 13, "trailing"),
    ("no label", '{"a":1}', "label", "no such member"),
    ("null label", '{"a":1,"label":null}', "label", "a value"),
    ("null", '{"a":null,"label":0}', "a", "a value"),
    ("a name twice", '{"a":1,"a":2,"label":0}', "a", "once"),
    ("third label", '{"a":1,"label":2}', "label", "one of two labels (0 or 1)"),
    ("label of another kind", '{"a":1,"label":"x"}', "label", "a number as label"),
    ("not UTF-8", b'{"a":"\xff","label":0}', None, "UTF-8"),
    ("NUL", b'{"a":"\0","label":0}', 7, "invalid character"),
    ("lone surrogate", '{"a":"\\ud800","label":0}', None, ""),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault[0])
def test_bad_line_is_refused_with_its_place_and_tolerated_if_allowed(write, fault):
    _, line, column, expected = fault
    line = line if isinstance(line, bytes) else line.encode()
    path = write(b'{"a":1,"label":0}\n\n{"label":1}\n' + line + b'\n{"a":2,"label":1}\n')
    with pytest.raises(DataError) as caught:
        list(JsonLinesReader(path))
    assert caught.value.line == 4
    if column is not None:
        assert caught.value.column == column
    assert expected in str(caught.value)
    assert len(str(caught.value)) < 400

    bad = BadLines(allowed=1)
    rows = rows_of(JsonLinesReader(path, bad=bad))
    assert rows == [({"a": 1}, 0, None, 1), ({}, 1, None, 3), ({"a": 2}, 1, None, 5)]
    assert [error.line for error in bad.found] == [4]


@pytest.mark.parametrize("weight", ["-1", '"2"', "true", "null", None])
def test_bad_weights(write, weight):
    member = "" if weight is None else f',"w":{weight}'
    with pytest.raises(DataError, match='line 1, column "w"'):
        list(JsonLinesReader(write(f'{{"label":1{member}}}\n'), weight="w"))


def test_colons_in_texts_are_not_names(write):
    text = '{"when":"12:30:00","a:b":1,"u":"\\"x\\":1","label":0}\n'
    assert rows_of(JsonLinesReader(write(text)))[0][0] == {
        "when": "12:30:00",
        "a:b": 1,
        "u": '"x":1',
    }


def test_null_as_the_user_says(write):
    path = write('{"a":null,"b":1,"label":0}\n{"a":1,"b":2,"label":1}\n')
    zero = rows_of(JsonLinesReader(path, missing="zero"))
    assert [row[0] for row in zero] == [{"b": 1}, {"a": 1, "b": 2}]
    dropping = JsonLinesReader(path, missing="drop")
    assert [row[3] for row in rows_of(dropping)] == [2]
    assert dropping.dropped == 1


def test_without_labels_a_label_is_not_a_feature(write):
    text = '{"a":1}\n{"a":2,"label":null}\n{"a":3,"label":"z"}\n'
    rows = rows_of(JsonLinesReader(write(text), labelled=False))
    assert [row[:2] for row in rows] == [({"a": 1}, None), ({"a": 2}, None), ({"a": 3}, None)]


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_empty_is_an_error(write, text):
    with pytest.raises(DataError, match="no rows"):
        list(JsonLinesReader(write(text)))


def test_wrong_options(write):
    path = write("{}\n")
    with pytest.raises(ValueError, match="missing"):
        JsonLinesReader(path, missing="mean")
    with pytest.raises(ValueError, match="both"):
        JsonLinesReader(path, weight="label")
    with pytest.raises(ValueError, match="two labels"):
        JsonLinesReader(path, classes=[1, 2, 3])


def test_a_line_without_end_is_refused(write):
    path = write(b'{"label":1}\n' + b"x" * 5000)
    with pytest.raises(DataError, match=r"line 2.*at most 1000 bytes"):
        list(JsonLinesReader(path, chunk_bytes=100, max_line_bytes=1000))


def test_compressed_and_pipes(write, tmp_path):
    text = b'{"a":1,"label":0}\n{"a":2,"label":1}\n'
    expected = rows_of(JsonLinesReader(write(text)))
    assert rows_of(JsonLinesReader(write(gzip.compress(text), "events.jsonl.gz"))) == expected
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    seen = threading.Event()

    def feed():
        with open(path, "wb") as pipe:
            pipe.write(text[:20])
            pipe.flush()
            assert seen.wait(10)
            pipe.write(text[20:])

    writer = threading.Thread(target=feed)
    writer.start()
    blocks = iter(JsonLinesReader(path))
    assert next(blocks).X == [{"a": 1}]
    seen.set()
    assert next(blocks).X == [{"a": 2}]
    writer.join()


names = st.text(max_size=5).filter(lambda name: name != "label")
values = st.one_of(
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)


@settings(max_examples=100, deadline=None)
@given(
    events=st.lists(st.dictionaries(names, values, max_size=5), min_size=1, max_size=15),
    chunk_bytes=st.integers(1, 50),
    block_rows=st.integers(1, 6),
    ascii_only=st.booleans(),
)
def test_events_survive_writing_and_reading(events, chunk_bytes, block_rows, ascii_only):
    lines = [
        json.dumps({**e, "label": i % 2}, ensure_ascii=ascii_only) for i, e in enumerate(events)
    ]
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write("\n".join(lines).encode())
        file.flush()
        rows = rows_of(JsonLinesReader(file.name, block_rows=block_rows, chunk_bytes=chunk_bytes))
    expected = [(e, i % 2, None, i + 1) for i, e in enumerate(events)]
    assert repr(rows) == repr(expected)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=100))
def test_any_bytes_give_rows_or_a_data_error(content):
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(content)
        file.flush()
        with contextlib.suppress(DataError):
            list(JsonLinesReader(file.name, bad=BadLines(allowed=2)))
