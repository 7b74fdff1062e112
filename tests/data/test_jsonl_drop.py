"""JSON lines: members that are left out."""

import pytest

from lopsided.data.block import BadLines
from lopsided.data.readers.jsonl import JsonLinesReader
from lopsided.errors import DataError
from lopsided.estimator.schema import Schema

LINES = """{"id": "a7", "amount": 1, "tags": ["x", {"y": 1}], "label": 0}
{"amount": 2, "note": null, "label": 1}
{"id": "b9", "amount": 3, "label": 0}
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "e.jsonl"
    file.write_text(LINES)
    return str(file)


def events(path, **options):
    return [event for block in JsonLinesReader(path, **options) for event in block.X]


def test_members_to_drop_may_be_of_any_kind_and_absent(path):
    wanted = [{"amount": 1}, {"amount": 2}, {"amount": 3}]
    assert events(path, drop=("id", "tags", "note")) == wanted


def test_without_drop_they_are_faults(path):
    with pytest.raises(DataError, match='line 1, column "tags"'):
        events(path)
    with pytest.raises(DataError, match='line 2, column "note": found "null"'):
        events(path, drop=["tags"])


def test_a_member_that_no_event_has(path):
    drop = ("tags", "note", "ids")
    with pytest.raises(DataError, match=r'drop: no event has "ids"; did you mean "id"\?'):
        events(path, drop=drop)
    assert len(events(path, drop=drop, labelled=False)) == 3


def test_label_and_time_cannot_be_dropped(path):
    with pytest.raises(ValueError, match="'label' is both dropped and the label"):
        JsonLinesReader(path, drop=["label"])
    with pytest.raises(ValueError, match="'when' is both dropped and the time"):
        JsonLinesReader(path, time="when", drop=["when"])


def test_other_faults_of_the_line_are_told(tmp_path):
    file = tmp_path / "e.jsonl"
    file.write_text('{"id": [1], "a": [2], "label": 0}\n{"id": 1, "id": 2, "label": 0}\n{"a": 1\n')
    bad = BadLines(3)
    with pytest.raises(DataError, match="no line of it can be used"):
        list(JsonLinesReader(str(file), drop=["id"], bad=bad))
    assert [(e.line, e.column) for e in bad.found] == [(1, "a"), (2, "id"), (3, None)]


def test_a_member_dropped_and_kept_is_kept_beside_nested_ones(path):
    (block,) = JsonLinesReader(path, drop=["id", "tags", "note"], keep=["id", "tags"])
    assert block.kept == {"id": ["a7", "", "b9"], "tags": ['["x", {"y": 1}]', "", ""]}
    assert block.X == [{"amount": 1}, {"amount": 2}, {"amount": 3}]


@pytest.mark.parametrize(
    ("options", "name"), [({"key": "idd"}, "key"), ({"keep": ["idd"]}, "keep")]
)
def test_a_member_to_keep_that_no_event_has(path, options, name):
    drop = ("tags", "note", "id")
    with pytest.raises(DataError, match=f'{name}: no event has "idd"'):
        events(path, drop=drop, **options)
    reader = JsonLinesReader(path, drop=drop, labelled=False, **options)
    list(reader)
    assert ': no event has "idd"' in reader.notes[-1]


def test_the_id_of_a_model_may_be_absent(path):
    reader = JsonLinesReader(path, drop=("tags", "note"), key="txn", schema=Schema(key="txn"))
    list(reader)
    assert reader.notes == ['no event has "txn": they have no id']
