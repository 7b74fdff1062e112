"""Training on Spark, on two executors: the same bits whatever happens to them."""

from __future__ import annotations

import os
import signal
import subprocess
from itertools import pairwise

import numpy as np
import pytest
from spark import session

import lopsided
from lopsided import sharding
from lopsided.errors import InputError, ModelFileError, ParameterError
from lopsided.persist import load_run, to_bytes

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.filterwarnings("ignore")  # of pandas and Spark about each other
NAMES = ["f0", "f1", "f2"]


def rows(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0.8).astype(int)


X, Y = rows()


def write(folder, sizes=(500, 400, 300)):
    """Files of falling size, the order in which Spark makes partitions of them."""
    ends = np.cumsum([0, *sizes])
    for k, (first, last) in enumerate(pairwise(ends)):
        columns = {name: X[first:last, j] for j, name in enumerate(NAMES)}
        table = pa.table({**columns, "y": Y[first:last], "w": np.ones(last - first)})
        pq.write_table(table, folder / f"{k}.parquet")
    return [slice(a, b) for a, b in pairwise(ends)]


@pytest.fixture(scope="module")
def spark():
    found = session()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    return str(folder), write(folder)


def named(part):
    return sharding.Dense(X[part], NAMES)


def local(model, parts, rounds):
    """Rounds of mixing in this process."""
    for r in range(rounds):
        begun = sharding.start(model, len(parts))
        found = []
        for part in parts:
            one = lopsided.persist.from_bytes(to_bytes(begun)) if r else type(model)()
            own = slice(part.start + r, part.stop, rounds)
            one.partial_fit(named(own), Y[own], classes=[0, 1])
            found.append(to_bytes(one))
        model = sharding.merged(found, model, begun)
    return model


def test_fit_equals_local_rounds_and_survives_a_killed_executor(spark, lake, tmp_path):
    from lopsided.spark import fit

    folder, parts = lake
    frame = spark.read.parquet(folder).drop("w")
    assert frame.rdd.getNumPartitions() == 3
    wanted = to_bytes(local(lopsided.Recommended(), parts, 2))
    assert to_bytes(fit(frame, lopsided.Recommended(), "y", rounds=2)) == wanted

    flag = tmp_path / "killed"

    def slow(batches):  # the first task to come here kills its executor
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            parent = os.getppid()  # the daemon of the executor's Python workers
            status = subprocess.run(
                ["ps", "-o", "ppid=", "-p", str(parent)], capture_output=True, text=True
            )
            os.kill(int(status.stdout), signal.SIGKILL)
        yield from batches

    fragile = frame.mapInArrow(slow, frame.schema)
    assert to_bytes(fit(fragile, lopsided.Recommended(), "y", rounds=2)) == wanted
    assert flag.exists()


def test_one_partition_has_the_bits_of_the_local_model(spark, lake):
    from lopsided.spark import evaluate, fit, score

    frame = spark.read.parquet(lake[0]).coalesce(1)
    model = lopsided.AROW(scaling="standard")
    found = fit(frame, model, "y", NAMES, weight="w", classes=[0, 1])
    expected = lopsided.AROW(scaling="standard").partial_fit(named(slice(None)), Y, classes=[0, 1])
    assert to_bytes(found) == to_bytes(expected)
    with pytest.raises(lopsided.errors.NotFittedError):
        model.fitted  # noqa: B018  it is not changed
    scored = score(frame, found, NAMES, prediction="guess").collect()
    np.testing.assert_array_equal(
        [r["score"] for r in scored], expected.score_many(named(slice(None)))
    )
    guessed = expected.predict(named(slice(None)))
    np.testing.assert_array_equal([r["guess"] for r in scored], guessed)
    counts = evaluate(frame, lopsided.COG(), "y", NAMES, classes=[0, 1])
    alone = lopsided.COG().pass_over(X, Y, None, classes=[0, 1])
    assert counts.false_positives == alone["false_positives"]
    assert (counts.events, counts.positives) == (1200, Y.sum())


def test_rounds_resume_from_a_checkpoint(spark, lake, tmp_path):
    from lopsided.spark import fit

    frame = spark.read.parquet(lake[0]).select(*NAMES, "y")
    path = tmp_path / "model.lop"
    whole = fit(frame, lopsided.COG(), "y", classes=[0, 1], rounds=2, checkpoint=path)
    assert not path.exists()
    begun = sharding.start(lopsided.COG(), 3)
    first = [
        to_bytes(lopsided.COG().partial_fit(named(own), Y[own], classes=[0, 1]))
        for own in (slice(p.start, p.stop, 2) for p in lake[1])
    ]
    half = sharding.merged(first, lopsided.COG(), begun)
    lopsided.persist.save(half, path, {"round": 1, "of": 2, "shards": 3})
    again = fit(frame, lopsided.COG(), "y", classes=[0, 1], rounds=2, checkpoint=path)
    assert to_bytes(again) == to_bytes(whole)
    lopsided.persist.save(half, path, {"round": 1, "of": 2, "shards": 3})
    with pytest.raises(ModelFileError, match="3 partitions, not 1"):
        fit(frame.coalesce(1), lopsided.COG(), "y", rounds=2, checkpoint=path)


def test_a_pipeline_with_vectors(spark):
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import VectorAssembler

    from lopsided.spark_ml import LopsidedClassifier

    data = [(*map(float, x), int(y)) for x, y in zip(X[:200], Y[:200], strict=True)]
    frame = spark.createDataFrame(data, [*NAMES, "y"]).coalesce(1)
    learner = LopsidedClassifier(lopsided.COG(scaling="unit"), labelCol="y")
    pipeline = Pipeline(stages=[VectorAssembler(inputCols=NAMES, outputCol="features"), learner])
    fitted = pipeline.fit(frame)
    expected = lopsided.COG(scaling="unit").partial_fit(X[:200], Y[:200], classes=[0, 1])
    assert to_bytes(fitted.stages[-1].model) == to_bytes(expected)
    found = [row["rawPrediction"] for row in fitted.transform(frame).collect()]
    np.testing.assert_array_equal(found, expected.score_many(X[:200]))


def test_a_stream_learns_every_batch_once(spark, lake, tmp_path):
    from lopsided.spark import each_batch, score

    path = tmp_path / "model.lop"
    frame = spark.read.parquet(lake[0]).select(*NAMES, "y")
    learn = each_batch(path, lopsided.COG(), "y", classes=[0, 1])
    stream = spark.readStream.schema(frame.schema).option("maxFilesPerTrigger", 1).parquet(lake[0])
    options = {"checkpointLocation": str(tmp_path / "state")}
    query = stream.writeStream.foreachBatch(learn).options(**options).trigger(availableNow=True)
    query.start().awaitTermination()
    model, run = load_run(path)
    assert (model.fitted.core.rounds, run) == (1200, {"batch": 2})
    learn(frame, 2)  # delivered again
    assert to_bytes(load_run(path)[0]) == to_bytes(model)
    learn(frame.limit(0), 3)
    assert load_run(path)[1] == {"batch": 3}
    out = score(stream, model, NAMES).writeStream.format("memory").queryName("scores")
    out.trigger(availableNow=True).start().awaitTermination()
    assert spark.table("scores").count() == 1200


# Without Spark -----------------------------------------------------------------------------------


def batch(**columns):
    return pa.RecordBatch.from_pydict(columns)


def test_columns_become_rows():
    numbers = batch(a=[1, 2], b=[0.5, 1.5], c=[True, False])
    found = sharding.rows_of(numbers, ["a", "c"])
    assert (found.array.tolist(), found.names) == ([[1, 1], [2, 0]], ["a", "c"])
    mixed = batch(
        a=[1.0, None],
        s=["x", None],
        m=pa.array([[("p", 2.0)], None], pa.map_(pa.string(), pa.float64())),
    )
    assert sharding.rows_of(mixed, ["a", "s", "m"]) == [{"a": 1.0, "s": "x", "p": 2.0}, {}]
    lists = batch(v=[[1.0, 2.0], [3.0, 4.0]])
    assert sharding.rows_of(lists, ["v"]).tolist() == [[1, 2], [3, 4]]
    kind = pa.struct(
        {
            "type": pa.int8(),
            "size": pa.int32(),
            "indices": pa.list_(pa.int32()),
            "values": pa.list_(pa.float64()),
        }
    )
    vectors = [
        {"type": 0, "size": 3, "indices": [2], "values": [7.0]},
        {"type": 1, "size": None, "indices": None, "values": [1.0, 2.0, 3.0]},
    ]
    sparse = sharding.rows_of(batch(v=pa.array(vectors, kind)), ["v"])
    assert sparse.shape == (2, 3)
    assert sparse.indices.tolist() == [2, 0, 1, 2]
    assert sharding.rows_of(batch(v=pa.array(vectors[1:], kind)), ["v"]).tolist() == [[1, 2, 3]]


def test_columns_that_cannot_be_rows_are_named():
    with pytest.raises(ParameterError, match="'t' of timestamp"):
        sharding.rows_of(batch(t=pa.array([0], pa.timestamp("s"))), ["t"])
    with pytest.raises(InputError, match="row 1 has 1 values"):
        sharding.rows_of(batch(v=[[1.0, 2.0], [3.0]]), ["v"])
    with pytest.raises(ParameterError, match="one column"):
        sharding.rows_of(batch(v=[[1.0, 2.0]], a=[1.0]), ["v", "a"])
    with pytest.raises(InputError, match="row 1 of a batch has no label"):
        sharding.labels_of(batch(y=[1, None]), sharding.Roles(("a",), "y"))
    for wrong in ({"features": ["q"]}, {"label": "q"}, {"weight": "q"}):
        with pytest.raises(ParameterError, match="'q'"):
            sharding.choose(["a", "y"], **{"features": None, "label": "y", "weight": None, **wrong})


def test_a_round_takes_every_nth_row_of_a_partition():
    parts = [batch(a=list(range(k, k + 3))) for k in (0, 3, 6)]
    for r in range(4):
        found = [v for b in sharding.slices(parts, r, 4) for v in b.column(0).to_pylist()]
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
    with pytest.raises(InputError):
        fit(dask.from_pandas(table, npartitions=3, sort=False), lopsided.COG(), "y")
