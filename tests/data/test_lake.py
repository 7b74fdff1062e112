"""Tables of many files: in a fixed order, with the folders as columns, in bounded memory."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

import lopsided
from lopsided.data import open_reader
from lopsided.data.readers.tabular import sources
from lopsided.data.readers.tabular.sources import ahead, source_of
from lopsided.errors import DataError, InputTypeError
from lopsided.evaluation.stream import StreamRun
from lopsided.persist import to_bytes

pa = pytest.importorskip("pyarrow")
datasets = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")
DAYS = ("a", "b", "c")


def table(day, rows=40):
    rng = np.random.default_rng(DAYS.index(day))
    x = rng.normal(size=rows)
    return pa.table({"x": x, "kind": ["u", "v"] * (rows // 2), "y": (x > 0.5).astype(int)})


@pytest.fixture
def lake(tmp_path):
    for day in reversed(DAYS):  # not in the order of their names
        for k in range(2):
            folder = tmp_path / f"day={day}"
            folder.mkdir(exist_ok=True)
            pq.write_table(table(day).slice(20 * k, 20), folder / f"{k}.parquet", row_group_size=7)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "notes.txt").write_text("not data")
    return tmp_path


def learned(source, **options):
    run = StreamRun(lopsided.Recommended())
    for _ in run.over(open_reader(source, label="y", **options)):
        pass
    return run.model


def whole():
    parts = [table(day).append_column("day", pa.array([day] * 40)) for day in DAYS]
    return pa.concat_tables(parts)


def test_folders_are_read_in_the_order_of_their_names_and_are_columns(lake):
    model = learned(str(lake))
    assert set(model.feature_names_in_) >= {"x", "kind=u", "day=a", "day=c"}
    assert model.fitted.core.rounds == 120
    # As one table in that order, whatever the size of the blocks.
    assert to_bytes(learned(whole())) == to_bytes(model)
    assert to_bytes(learned(str(lake), block_rows=11)) == to_bytes(model)


def test_objects_of_arrow_and_of_lakes_are_read(lake):
    expected = to_bytes(learned(str(lake)))
    dataset = datasets.dataset(
        lake, format="parquet", partitioning="hive", exclude_invalid_files=True
    )

    class Delta:
        def to_pyarrow_dataset(self):
            return dataset

    class Iceberg:
        def to_arrow_batch_reader(self):
            return whole().to_reader(max_chunksize=9)

    class Table:  # of Iceberg
        def scan(self):
            return Iceberg()

    for source in (dataset, Delta(), Iceberg(), Table(), whole().to_reader()):
        assert to_bytes(learned(source)) == expected


def test_tables_of_delta_lake(tmp_path):
    deltalake = pytest.importorskip("deltalake")
    for day in DAYS:
        part = whole().filter(np.array(whole()["day"].to_pylist()) == day)
        deltalake.write_deltalake(tmp_path / "delta", part, mode="append", partition_by=["day"])
    found = deltalake.DeltaTable(tmp_path / "delta")
    assert to_bytes(learned(found)) == to_bytes(learned(whole()))


def test_tables_of_iceberg(tmp_path):
    sql = pytest.importorskip("pyiceberg.catalog.sql")
    home = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}"}
    catalog = sql.SqlCatalog("test", **home)
    catalog.create_namespace("lake")
    found = catalog.create_table("lake.events", whole().schema)
    found.append(whole())
    expected = to_bytes(learned(whole()))
    for source in (found, found.scan()):
        assert to_bytes(learned(source)) == expected
    kept = learned(found.scan(row_filter="x > 0"))
    assert kept.fitted.core.rounds == np.sum(whole()["x"].to_numpy() > 0)


def test_what_is_no_table_is_said(tmp_path):
    with pytest.raises(DataError, match="this is a folder"):
        open_reader(str(tmp_path), label="y")
    with pytest.raises(InputTypeError, match="int is no table"):
        open_reader(3, label="y")
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"not a folder of Parquet|reading failed"):
        list(open_reader(str(tmp_path), label="y"))


def test_a_file_without_a_column_is_said(lake):
    pq.write_table(pa.table({"x": [1.0], "y": ["text"]}), lake / "day=a" / "9.parquet")
    with pytest.raises(DataError, match="reading failed"):
        list(open_reader(str(lake), label="y"))


def test_a_data_set_that_was_filtered_has_its_rows_only(lake):
    dataset = datasets.dataset(
        lake, format="parquet", partitioning="hive", exclude_invalid_files=True
    ).filter(datasets.field("x") > 0)
    table = whole()
    kept = table.filter(table["x"].to_numpy() > 0)
    assert 0 < kept.num_rows < table.num_rows
    assert to_bytes(learned(dataset)) == to_bytes(learned(kept))


def test_files_may_lack_columns_and_have_narrower_ones(tmp_path):
    pq.write_table(
        pa.table({"x": [1.5, 2.5], "z": [1.0, 2.0], "y": [0, 1]}), tmp_path / "0.parquet"
    )
    narrow = pa.table({"y": pa.array([1, 0], pa.int8()), "x": [3, 4]})
    pq.write_table(narrow, tmp_path / "1.parquet")
    blocks = list(open_reader(str(tmp_path), label="y", missing="zero"))
    rows = np.concatenate([np.asarray(b.X.array) for b in blocks])
    assert rows.tolist() == [[1.5, 1], [2.5, 2], [3, 0], [4, 0]]


@pytest.mark.parametrize("count", [None, 1, 4, 99])
def test_shards_have_the_files_in_order_and_can_be_sent(lake, count):
    shards = pickle.loads(pickle.dumps(source_of(str(lake)).shards(count)))
    assert len(shards) == min(count or 6, 6)
    names = ["day", "y", "x"]
    found = [batch for shard in shards for batch in shard.batches(names, 9)]
    assert pa.Table.from_batches(found).to_pydict() == whole().select(names).to_pydict()


def test_rows_that_are_not_those_of_files_have_no_shards(lake):
    chosen = datasets.dataset(lake / "day=a", format="parquet").filter(datasets.field("x") > 0)
    with pytest.raises(InputTypeError, match="not those of whole Parquet files"):
        source_of(chosen).shards()


def peak(folder, rows):
    """The most that Arrow holds while a file of one row group is read."""
    folder.mkdir()
    columns = {f"x{k}": np.random.default_rng(k).normal(size=rows) for k in range(3)}
    pq.write_table(pa.table(columns), folder / "0.parquet", row_group_size=rows)
    before, most, read = pa.total_allocated_bytes(), 0, 0
    for batch in source_of(str(folder)).batches(list(columns), 5000):
        most = max(most, pa.total_allocated_bytes() - before)
        read += batch.num_rows
    assert read == rows
    return most


def test_memory_does_not_grow_with_row_groups(tmp_path):
    small, large = peak(tmp_path / "small", 200_000), peak(tmp_path / "large", 1_000_000)
    assert large < small + 2_000_000


def test_files_are_read_side_by_side_in_order(lake, monkeypatch):
    both, threads = threading.Barrier(2, timeout=20), set()

    def batches(first):
        threads.add(threading.get_ident())
        both.wait()  # passed only when two files are read at a time
        yield from range(first, first + 3)

    def broken():
        yield 6
        raise OSError("the end is missing")

    monkeypatch.setattr(sources._core, "threads_allowed", lambda: 2)
    reading = ahead([batches(0), batches(3), broken()])
    assert [next(reading) for _ in range(7)] == list(range(7))
    with pytest.raises(OSError, match="the end is missing"):
        next(reading)
    assert len(threads) == 2
    assert threading.get_ident() not in threads
    parallel = to_bytes(learned(str(lake)))
    monkeypatch.setattr(sources._core, "threads_allowed", lambda: 1)
    assert to_bytes(learned(str(lake))) == parallel


def test_reading_ahead_is_bounded_and_ends_with_its_reader(monkeypatch):
    monkeypatch.setattr(sources._core, "threads_allowed", lambda: 3)
    read = [0] * 9

    def batches(file):
        for _ in range(100):
            read[file] += 1
            yield file

    before = threading.active_count()
    reading = ahead(map(batches, range(9)))
    for _ in range(10):
        next(reading)
    reading.close()
    assert threading.active_count() == before
    assert read[0] <= 12
    assert all(count <= 2 for count in read[1:3])
    assert not any(read[3:])
