"""How a table is read, kept with the model: rows of new tables become what they were before."""

import copy
import dataclasses
import gzip
import json
import pickle

import numpy as np
import pytest

import lopsided
from lopsided.data import open_reader
from lopsided.data.gather import gather
from lopsided.data.readers.csv import CsvReader
from lopsided.errors import DataError, ModelFileError
from lopsided.estimator.reasons import explanation
from lopsided.estimator.schema import Schema
from lopsided.persist import from_bytes, to_bytes
from support.table_rows import rows_of

TABLE = "id,a,b,city,when,label\n1,5,2,Oslo,1,0\n2,,3,,2,1\n3,7,?,Rome,3,0\n"


@pytest.fixture
def write(tmp_path):
    def written(text, name="d.csv"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return written


def read(path, **options):
    reader = open_reader(path, missing="indicate", key="id", drop=["when"], **options)
    return rows_of(reader), reader.schema()


def events_of(reader):
    return [event for block in reader for event in block.X]


def test_a_schema_names_every_column(write):
    _, schema = read(write(TABLE), categorical=["city"], keep=["b"])
    assert (schema.label, schema.key, schema.drop, schema.keep) == (
        "label",
        "id",
        ("when",),
        ("b",),
    )
    assert (schema.numbers, schema.categories) == (("a", "b"), ("city",))
    assert schema.missing == "indicate"


def test_an_empty_cell_has_a_feature_of_its_own(write):
    rows, _ = read(write(TABLE), categorical=["city"])
    assert [row[0] for row in rows] == [
        {"a": 5, "b": 2, "city=Oslo": 1},
        {"b": 3, "city=(missing)": 1, "a=(missing)": 1},
        {"a": 7, "city=Rome": 1, "b=(missing)": 1},
    ]


def test_in_a_table_of_numbers_it_is_the_mean_of_those_before_it(write):
    text = "id,a,when,label\n1,,0,0\n2,4,0,1\n3,8,0,0\n4,NA,0,1\n5,3,0,0\n"
    rows, schema = read(write(text))
    assert [row[0]["a"] for row in rows] == [0, 4, 8, 6, 3]
    assert [row[0]["a=(missing)"] for row in rows] == [1, 0, 0, 1, 0]
    assert schema.means == {"a": (15.0, 3)}
    new = open_reader(write('a\n100\n""\n', "n.csv"), schema=schema, labelled=False)
    assert [row[0]["a"] for row in rows_of(new)] == [100, 5]  # a row alone: it does not see others


def test_a_row_of_weight_0_leaves_the_means_alone(write):
    text = "a,w,label\n1,1,0\n900,0,1\n,1,0\n"
    reader = CsvReader(write(text), weight="w", missing="indicate")
    assert [row[0]["a"] for row in rows_of(reader)] == [1, 900, 1]


@pytest.mark.parametrize("block_rows", [1, 2, 7])
def test_means_do_not_depend_on_blocks(write, block_rows):
    rng = np.random.default_rng(3)
    cells = [[f"{v:.3f}" if u > 0.3 else "" for v, u in rng.random((3, 2))] for _ in range(50)]
    path = write("a,b,c,y\n" + "".join(f"{','.join(row)},{i % 2}\n" for i, row in enumerate(cells)))
    whole, parts = (
        gather(CsvReader(path, missing="indicate", block_rows=n)).X for n in (4096, block_rows)
    )
    assert whole.names == parts.names
    np.testing.assert_array_equal(whole.array, parts.array)


def test_a_new_table_is_read_as_the_old_one_was(write):
    path = write(TABLE)
    rows, schema = read(path, categorical=["city"])
    again = open_reader(path, schema=schema)
    assert rows_of(again) == rows
    assert again.schema() == schema
    blocks = list(open_reader(path, schema=dataclasses.replace(schema, keep=("when",))))
    assert blocks[0].kept == {"id": ["1", "2", "3"], "when": ["1", "2", "3"]}


def test_parquet_and_json_lines_have_the_same_schema(write, tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"id": ["x", "y"], "a": [1.5, None], "city": ["Oslo", None], "ok": [True, False]}
    table = pa.table({**columns, "label": [0, 1]})
    parquet.write_table(table, tmp_path / "d.parquet")
    lines = "".join(f"{json.dumps(row)}\n" for row in table.to_pylist())
    found = [
        (reader, gather(reader))
        for path in (str(tmp_path / "d.parquet"), write(lines, "d.jsonl"))
        for reader in [open_reader(path, key="id", missing="indicate")]
    ]
    schemas = [reader.schema() for reader, _ in found]
    assert {frozenset(s.numbers) for s in schemas} == {frozenset(("a", "ok"))}
    assert {s.categories for s in schemas} == {("city",)}
    # A model of one reads the other.
    for schema in schemas:
        for path in (tmp_path / "d.parquet", tmp_path / "d.jsonl"):
            assert len(gather(open_reader(str(path), schema=schema)).lines) == 2


def test_columns_that_changed_are_an_error_that_names_them_all(write):
    _, schema = read(write(TABLE), categorical=["city"])
    other = write("a,town,city,label\n1,2,3,0\n", "n.csv")
    with pytest.raises(DataError, match=r'no column "b"; "town", which the model does not know'):
        open_reader(other, schema=schema, labelled=False)
    with pytest.raises(DataError, match='"a" as categories, which were numbers'):
        open_reader(write(TABLE), schema=schema, categorical=["a"])


def test_a_role_given_now_goes_before_that_of_the_schema(write):
    _, schema = read(write(TABLE), categorical=["city"])
    block = next(iter(open_reader(write(TABLE), schema=schema, time="when")))
    assert block.time.tolist() == [1, 2, 3]


def test_an_open_vocabulary_is_no_schema(write):
    lines = "".join(f'{{"w{i}": 1, "label": {i % 2}}}\n' for i in range(10_002))
    reader = open_reader(write(lines, "d.jsonl"))
    list(reader)
    assert reader.schema().features == frozenset()
    known = Schema(numbers=("a",), flags=("a",), optional=("a",))
    reader = open_reader(write(lines.replace("{", '{"a": 1, '), "e.jsonl"), schema=known)
    list(reader)
    assert reader.schema() == Schema(label="label")


@pytest.mark.parametrize("values", [("A1", 1), (1, "A1"), (1, True), (True, 2.5), ("x", False)])
def test_a_member_of_several_kinds_is_read_again_as_it_was(write, values):
    path = write("".join(json.dumps({"a": v, "label": 0}) + "\n" for v in values), "d.jsonl")
    first = open_reader(path)
    events = events_of(first)
    for labelled in (True, False):
        again = open_reader(path, schema=first.schema(), labelled=labelled)
        assert events_of(again) == events
        assert again.schema() == first.schema()
        assert not again.notes


def test_a_table_may_have_members_of_several_kinds(write):
    values = [1, "A1", 2.5, "B"]
    lines = [{"a": v, "n": i, "label": i % 2} for i, v in enumerate(values)]
    first = open_reader(write("".join(f"{json.dumps(line)}\n" for line in lines), "d.jsonl"))
    list(first)
    names = ["a", "n", "a=A1", "a=B"]
    table = write("a,n\n" + "".join(f"{v},1\n" for v in values), "n.csv")
    reader = open_reader(table, schema=first.schema(), names=names, labelled=False)
    assert [row[0] for row in rows_of(reader)] == [
        {"a": 1, "n": 1},
        {"a=A1": 1, "n": 1},
        {"a": 2.5, "n": 1},
        {"a=B": 1, "n": 1},
    ]


def test_new_members_of_several_kinds_are_learned_from(write):
    path = write('{"a": 1, "b": 1, "label": 0}\n{"a": 1, "b": "x", "label": 1}\n', "d.jsonl")
    reader = open_reader(path, schema=Schema(numbers=("a",)))
    assert events_of(reader) == [{"a": 1, "b": 1}, {"a": 1, "b": "x"}]
    assert (reader.schema().numbers, reader.schema().categories) == (("a", "b"), ("b",))
    assert "in 2 events" in reader.notes[0][0]


def test_a_null_is_what_an_empty_cell_of_numbers_was(write):
    _, schema = read(write("id,a,b,when,label\n1,5,2,0,0\n2,,3,0,1\n3,7,1,0,0\n"))
    lines = write('{"a": null, "b": 1}\n{"b": 2}\n{"a": 3, "b": null}\n', "n.jsonl")
    names = ["a", "b", "a=(missing)"]
    assert events_of(open_reader(lines, schema=schema, labelled=False, names=names)) == [
        {"a": 6, "b": 1, "a=(missing)": 1},
        {"a": 6, "b": 2, "a=(missing)": 1},
        {"a": 3, "b": 2},
    ]


def test_json_lines_add_to_the_means_of_a_table(write):
    table = "a,w,label\n5,1,0\n,1,1\n7,1,0\n"
    rows = [(3, 1), (None, 1), (900, 0), (9, 1)]
    events = [{"a": a, "w": w, "label": i % 2} for i, (a, w) in enumerate(rows)]
    lines = write("".join(f"{json.dumps(event)}\n" for event in events), "n.jsonl")
    cells = "".join(f"{'' if a is None else a},{w},{i % 2}\n" for i, (a, w) in enumerate(rows))
    reader = open_reader(write(table), missing="indicate", weight="w")
    list(reader)
    found = []
    for path in (lines, write("a,w,label\n" + cells, "n.csv")):
        more = open_reader(path, schema=reader.schema(), names=["a", "a=(missing)"])
        list(more)
        found.append((more.schema().means, [more.schema_after(n)["means"] for n in range(5)]))
    assert found[0] == found[1]
    assert found[0][0] == {"a": (24.0, 4)}
    events = events_of(open_reader(lines, schema=reader.schema(), names=["a", "a=(missing)"]))
    assert events[1]["a"] == 5  # of 5, 7 and 3


def test_few_unknown_members_are_named(write):
    event = {"a": 1, **{f"w{i}": 1 for i in range(13)}}
    path = write(f"{json.dumps(event)}\n", "n.jsonl")
    reader = open_reader(path, schema=Schema(numbers=("a",)), labelled=False)
    assert events_of(reader) == [{"a": 1}]
    assert len(reader.notes) == 11
    assert reader.notes[-1] == "and 3 more, which the model does not know: ignored"


@pytest.mark.parametrize(("given", "shown"), [(None, None), ("(missing)", None), (2, 2)])
def test_the_value_of_a_missing_number_is_not_1(given, shown):
    whole, none = (0, -np.inf, np.inf), (-1, 0.0, 0.0)
    why = explanation((0.0, [(whole, none, 0.5)]), ["a"], {"a": given})
    assert [reason.value for reason in why.reasons] == [shown]


@pytest.fixture
def model():
    made = lopsided.make("COG-II").fit([[1.0], [2.0]], [0, 1])
    made.schema_ = Schema(label="y", numbers=("a",), means={"a": (0.1, 3)}, empty=("-",))
    return made


def test_files_pickles_and_copies_have_it(model):
    for copied in (from_bytes(to_bytes(model)), pickle.loads(pickle.dumps(model))):
        assert copied.schema_ == model.schema_
    assert copy.deepcopy(model).schema_ == model.schema_
    assert lopsided.Active.around(model).schema_ == model.schema_


@pytest.mark.parametrize(
    "record",
    [
        {"nonsense": 1},
        {"label": 3, "means": {}},
        {"drop": [1], "means": {}},
        {"means": {"a": [1]}},
        {"means": {}, "header": "yes"},
    ],
)
def test_a_file_with_another_schema_is_refused(model, record, monkeypatch):
    monkeypatch.setattr(Schema, "record", lambda self: record)
    with pytest.raises(ModelFileError):
        from_bytes(to_bytes(model))


@pytest.mark.parametrize("missing", ["zero", "error"])
def test_a_model_with_features_for_empty_cells_takes_rows_without_them(write, missing):
    reader = CsvReader(write("a,b,label\n1,2,0\n,3,1\n"), missing="indicate")
    names, schema = gather(reader).X.names, reader.schema()
    assert names == ["a", "b", "a=(missing)"]
    path = write("b,a,c,label\n5,4,6,0\n", "n.csv")
    rows = gather(CsvReader(path, missing=missing, names=names, schema=schema)).X
    assert rows.names == [*names, "c"]
    assert rows.array.tolist() == [[4, 5, 0, 6]]


def test_numbers_are_kept_as_they_are_written(write):
    cells = ["00123", "1.50", "NA", "12345678901234567", "", "1e3"]
    text = "a,w,label\n" + "".join(f"{cell},1.0,{i % 2}\n" for i, cell in enumerate(cells))
    for rows in (2, 4096):
        reader = CsvReader(
            write(text), keep=["a", "w"], weight="w", missing="zero", block_rows=rows
        )
        kept = [block.kept for block in reader]
        assert [cell for some in kept for cell in some["a"]] == cells
        assert {cell for some in kept for cell in some["w"]} == {"1.0"}


def test_a_dropped_column_may_become_the_id(write):
    path = write("txn,a,label\nx,1,0\ny,2,1\n")
    schema = open_reader(path, drop=["txn"]).schema()
    schema = open_reader(path, key="txn", schema=schema).schema()
    assert (schema.key, schema.drop) == ("txn", ())
    schema = dataclasses.replace(schema, drop=("txn",))
    assert next(iter(open_reader(path, schema=schema))).kept == {"txn": ["x", "y"]}


def test_a_tab_by_extension_is_not_for_other_files(write, tmp_path):
    tsv, semicolons = write("a\tlabel\n1\t0\n", "d.tsv"), write("a;label\n1;0\n", "s.csv")
    schema = open_reader(tsv).schema()
    assert schema.delimiter is None
    assert rows_of(open_reader(write("a,label\n1,0\n"), schema=schema))
    (tmp_path / "d.TSV.gz").write_bytes(gzip.compress(b"a\tlabel\n1\t0\n"))
    compressed = open_reader(str(tmp_path / "d.TSV.gz"))
    assert (compressed.schema().delimiter, rows_of(compressed)[0][0]) == (None, {"a": 1})
    schema = open_reader(semicolons, delimiter=";").schema()
    schema = open_reader(tsv, schema=schema).schema()
    assert rows_of(open_reader(semicolons, schema=schema))


def test_a_column_known_as_a_number_cannot_become_categorical(write):
    schema = open_reader(write("a,label\n1,0\n")).schema()
    path = write("a,label\nx,0\n", "n.csv")
    with pytest.raises(DataError) as known:
        list(open_reader(path, schema=schema))
    with pytest.raises(DataError) as new:
        list(open_reader(path))
    assert (bool(known.value.remedy), bool(new.value.remedy)) == (False, True)
