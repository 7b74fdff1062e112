"""What engines share: rows of record batches, training of partitions, and Dask on top of it."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from lake import NAMES, X, Y, local, named

import lopsided
import lopsided.spark
from lopsided import sharding, spark_tasks
from lopsided.data.arrow_rows import labels_of, rows_of
from lopsided.errors import InputError, ParameterError
from lopsided.persist import to_bytes

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore")  # of pandas and Dask about each other


def batch(**columns):
    return pa.RecordBatch.from_pydict(columns)


def test_columns_become_rows():
    numbers = batch(a=[1, 2], b=[0.5, 1.5], c=[True, False])
    found = rows_of(numbers, ["a", "c"])
    assert (found.array.tolist(), found.names) == ([[1, 1], [2, 0]], ["a", "c"])
    mixed = batch(
        a=[1.0, None],
        s=["x", None],
        m=pa.array([[("p", 2.0)], None], pa.map_(pa.string(), pa.float64())),
    )
    assert rows_of(mixed, ["a", "s", "m"]) == [{"a": 1.0, "s": "x", "p": 2.0}, {}]
    lists = batch(v=[[1.0, 2.0], [3.0, 4.0]])
    assert rows_of(lists, ["v"]).tolist() == [[1, 2], [3, 4]]


VECTOR = pa.struct(
    {
        "type": pa.int8(),
        "size": pa.int32(),
        "indices": pa.list_(pa.int32()),
        "values": pa.list_(pa.float64()),
    }
)


def vectors(*rows):
    """Vectors of Spark: a dict is sparse, with its size under "size", a list is dense."""
    made = [
        {"type": 1, "size": None, "indices": None, "values": row}
        if isinstance(row, list)
        else {
            "type": 0,
            "size": row["size"],
            "indices": [k for k in row if k != "size"],
            "values": [v for k, v in row.items() if k != "size"],
        }
        for row in rows
    ]
    return batch(v=pa.array(made, VECTOR))


def test_short_vectors_are_dense_rows_whatever_else_is_in_their_batch():
    mixed = vectors({"size": 3, 2: 7.0}, [1.0, 2.0, 3.0], {"size": 3})
    assert rows_of(mixed, ["v"]).tolist() == [[0, 0, 7], [1, 2, 3], [0, 0, 0]]
    assert rows_of(mixed.slice(1), ["v"]).tolist() == [[1, 2, 3], [0, 0, 0]]
    assert rows_of(vectors([1.0, 2.0, 3.0]), ["v"]).tolist() == [[1, 2, 3]]
    assert rows_of(vectors({"size": 3, 0: 5.0}), ["v"]).tolist() == [[5, 0, 0]]


def test_long_vectors_are_sparse_rows():
    full = np.arange(2000.0)
    found = rows_of(vectors({"size": 2000, 7: 1.0, 1999: 2.0}, full.tolist()), ["v"])
    assert (found.shape, found.indptr.tolist()) == ((2, 2000), [0, 2, 2002])
    assert found.indices.tolist() == [7, 1999, *range(2000)]
    assert found.data.tolist() == [1, 2, *full]
    assert hasattr(rows_of(vectors(full.tolist()), ["v"]), "indptr")


def test_columns_that_cannot_be_rows_are_named():
    with pytest.raises(ParameterError, match="'t' of timestamp"):
        rows_of(batch(t=pa.array([0], pa.timestamp("s"))), ["t"])
    with pytest.raises(InputError, match="row 1 has 1 values"):
        rows_of(batch(v=[[1.0, 2.0], [3.0]]), ["v"])
    with pytest.raises(ParameterError, match="one column"):
        rows_of(batch(v=[[1.0, 2.0]], a=[1.0]), ["v", "a"])
    for labels in ([1, None], [1.0, np.nan], ["a", None]):
        with pytest.raises(InputError, match=r"row 1: column 'y' has no label.*drop such rows"):
            labels_of(batch(y=labels), "y")
    with pytest.raises(InputError, match=r"row 1: column 'v' is null"):
        rows_of(batch(v=[[1.0, 2.0], None]), ["v"])
    with pytest.raises(InputError, match="row 1 has 3 values and others 4"):
        rows_of(vectors({"size": 4, 1: 1.0}, [1.0, 2.0, 3.0]), ["v"])
    for wrong in ({"features": ["q"]}, {"label": "q"}, {"weight": "q"}):
        with pytest.raises(ParameterError, match="'q'"):
            sharding.choose(["a", "y"], **{"features": None, "label": "y", "weight": None, **wrong})
    with pytest.raises(ParameterError, match="did you mean 'amount'"):
        sharding.choose(["amount", "y"], ["amuont"], "y", None)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [([0, 1], "i8"), (pa.array([0, 1], pa.int8()), "i8"), ([0.0, 1.0], "f8"), (["a", "b"], "U1")],
)
def test_labels_are_those_of_python(labels, kind):
    assert labels_of(batch(y=labels), "y").dtype == np.dtype(kind)
    assert labels_of(batch(y=labels), "y").tolist() == batch(y=labels).column(0).to_pylist()


def faulty(**columns):
    """What training says of a partition of two batches, in the second of two rounds."""
    n = len(next(iter(columns.values())))
    columns = {"a": [1.0] * n, "y": [0, 1] * (n // 2), **columns}
    first = batch(a=[0.5] * 3, y=[0, 1, 0], **{k: [1.0] * 3 for k in columns if k not in "ay"})
    roles = sharding.choose(list(columns), ["a"], "y", "w" if "w" in columns else None, [0, 1])
    with pytest.raises(InputError) as raised:
        sharding.train([first, batch(**columns)], lopsided.COG(), roles, 1, 2, 6)
    return str(raised.value)


def test_a_fault_is_said_with_its_place_in_the_partition():
    # Rows 3 to 8 are in the second batch, of which the round has 3, 5 and 7.
    assert "partition 6, row 5: Input X contains NaN" in faulty(a=[1.0, 1, np.nan, 1, 1, 1])
    assert "partition 6, row 7: Input X contains NaN" in faulty(a=[1.0, 1, 1, 1, None, 1])
    assert "partition 6, row 3: column 'y' has no label" in faulty(y=[None, 1, 0, 0, 0, 1])
    assert "partition 6, row 7: found the label 2" in faulty(y=[0, 1, 0, 0, 2, 1])
    assert "partition 6, rows 3 to 7: a weight must be" in faulty(w=[1, 1, -1.0, 1, 1, 1])


def test_costs_are_found_in_columns_that_are_no_features():
    amounts = np.linspace(1, 200, len(Y))
    costs = {"miss": "amount", "alarm": 20}
    table = batch(**{n: X[:, j] for j, n in enumerate(NAMES)}, amount=amounts, y=Y)
    model = lopsided.Recommended(costs=costs)
    roles = sharding.choose(table.schema.names, NAMES, "y", None, [0, 1], costs)
    assert (roles.features, roles.columns[-1]) == (tuple(NAMES), "amount")
    counts = sharding.evaluate([table], model, roles)
    alone = lopsided.Recommended()
    expected = alone.pass_over(
        named(slice(None)), Y, None, classes=[0, 1], costs={**costs, "miss": amounts}
    )
    assert (counts.false_negatives, counts.false_positives) == (
        expected["false_negatives"],
        expected["false_positives"],
    )
    rows = next(sharding.slices([table], 0, 1))
    scores, found = sharding.score(rows, model, roles)
    guessed = alone.predict(named(slice(None)), {**costs, "miss": amounts})
    np.testing.assert_array_equal(found, guessed)
    assert (found != (scores >= 0)).any()


def test_a_round_takes_every_nth_row_of_a_partition():
    parts = [batch(a=list(range(k, k + 3))) for k in (0, 3, 6)]
    for r in range(4):
        found = [v for b in sharding.slices(parts, r, 4) for v in b.batch.column(0).to_pylist()]
        assert found == list(range(r, 9, 4))


def test_partitions_without_rows_bring_what_they_started_with():
    model = lopsided.AROW(scaling="unit").fit(X, Y)
    begun = sharding.start(model, 2)
    roles = sharding.Roles((*NAMES,), "y")
    assert sharding.train([], begun, roles) is None
    again = lopsided.AROW(scaling="unit").fit(X, Y)
    start = sharding.start(again, 2)
    table = batch(**{n: X[:50, j] for j, n in enumerate(NAMES)}, y=Y[:50])
    unnamed = sharding.Roles(("v",), "y")
    lists = batch(v=X[:50].tolist(), y=Y[:50])
    found = sharding.merged([sharding.train([lists], start, unnamed), None], model, begun)
    assert found.fitted.core.rounds == 1250
    assert table.num_rows == 50
    with pytest.raises(InputError, match="no rows"):
        sharding.merged([None, None], model, begun)


def test_dask_frames():
    dask = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    from lopsided.dask import fit, score

    table = pd.DataFrame({**{n: X[:, j] for j, n in enumerate(NAMES)}, "y": Y})
    frame = dask.from_pandas(table, npartitions=3, sort=False)
    sizes = frame.map_partitions(len).compute().tolist()
    ends = np.cumsum([0, *sizes])
    parts = [slice(a, b) for a, b in pairwise(ends)]
    found = fit(frame, lopsided.Recommended(), "y", rounds=2)
    assert to_bytes(found) == to_bytes(local(lopsided.Recommended(), parts, 2))
    scored = score(frame, found, NAMES).compute()
    np.testing.assert_array_equal(scored["score"], found.score_many(named(slice(None))))
    with pytest.raises(ParameterError, match="at least 1"):
        fit(frame, lopsided.COG(), "y", rounds=0)
    table.loc[5, "y"] = np.nan
    with pytest.raises(InputError, match="partition 0, row 5: column 'y' has no label"):
        fit(dask.from_pandas(table, npartitions=3, sort=False), lopsided.COG(), "y")


class Frame:
    """What `lopsided.spark` needs of a data frame, without Spark: partitions of record batches."""

    def __init__(self, partitions, current):
        self.partitions, self.current = partitions, current
        self.columns = list(partitions[0][0].schema.names)
        self.rdd = self

    def getNumPartitions(self):  # noqa: N802
        return len(self.partitions)

    def select(self, *names):
        return Frame([[b.select(list(names)) for b in p] for p in self.partitions], self.current)

    def mapInArrow(self, function, schema):  # noqa: N802
        found = []
        for k, part in enumerate(self.partitions):
            self.current.append(k)
            found.append(list(function(iter(part))))
        assert [f.split()[0] for f in schema.split(", ")] == found[0][0].schema.names
        return Frame(found[::-1], self.current)  # in whatever order they end

    def collect(self):
        return [Row(row) for p in self.partitions for b in p for row in b.to_pylist()]


class Row(dict):
    """A row of Spark."""

    def asDict(self):  # noqa: N802
        return dict(self)


def with_a_model_of_its_own(work):
    """What a task does in Spark, where none shares its model with another."""

    def alone(batches, model, *others):
        return work(batches, pickle.loads(pickle.dumps(model)), *others)

    return alone


@pytest.fixture
def frame(monkeypatch):
    current = []
    monkeypatch.setattr(spark_tasks, "_partition", lambda: current[-1])
    for name in ("train", "evaluate"):
        monkeypatch.setattr(sharding, name, with_a_model_of_its_own(getattr(sharding, name)))
    columns = {**{n: X[:, j] for j, n in enumerate(NAMES)}, "y": Y}
    whole = batch(**columns)
    cuts = [(0, 200), (200, 500)], [(500, 900)], [(900, 1200)]
    return Frame([[whole.slice(a, b - a) for a, b in part] for part in cuts], current)


def test_partitions_are_merged_in_their_order(frame):
    parts = [slice(0, 500), slice(500, 900), slice(900, 1200)]
    found = lopsided.spark.fit(frame, lopsided.Recommended(), "y", classes=[0, 1], rounds=2)
    assert to_bytes(found) == to_bytes(local(lopsided.Recommended(), parts, 2))
    counts = lopsided.spark.evaluate(frame, lopsided.COG(), "y", classes=[0, 1])
    assert (counts.events, counts.positives) == (len(Y), Y.sum())


def test_faults_are_returned_by_tasks_and_raised_on_the_driver(frame):
    for k, row in ((2, 5), (1, 7)):
        spoiled = frame.partitions[k][0].to_pydict()
        spoiled["f1"][row] = None
        frame.partitions[k][0] = batch(**spoiled)
    expected = r"partition 1, row 7: Input X contains NaN in column 1 \('f1'\): fill in, drop"
    for work in (lopsided.spark.fit, lopsided.spark.evaluate):
        with pytest.raises(InputError, match=expected):
            work(frame, lopsided.COG(), "y", classes=[0, 1])
    frame.columns.append("a.b")
    with pytest.raises(ParameterError, match=r"'a\.b', and mapInArrow takes no names with dots"):
        lopsided.spark.fit(frame, lopsided.COG(), "y", ["a.b"], classes=[0, 1])
