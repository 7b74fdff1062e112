"""Training on Spark, on two executors: the same bits whatever happens to them."""

from __future__ import annotations

import os
import signal
import subprocess

import numpy as np
import pytest
import scipy.sparse
from lake import NAMES, X, Y, local, named, write
from spark import session

import lopsided
from lopsided import sharding
from lopsided.errors import InputError, InputTypeError, ModelFileError, ParameterError
from lopsided.persist import load_run, to_bytes

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore")  # of pandas and Spark about each other


@pytest.fixture(scope="module")
def spark():
    found = session()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    return str(folder), write(folder)


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

    from lopsided.spark import Files

    files = Files(folder).select(*NAMES, "y")
    assert to_bytes(fit(files, lopsided.Recommended(), "y", classes=[0, 1], rounds=2)) == wanted

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


def test_tasks_read_files_themselves(spark, lake, tmp_path):
    import pyarrow.dataset as datasets
    import pyarrow.parquet as pq

    from lopsided.spark import Files, evaluate, fit

    folder = lake[0]
    frame = spark.read.parquet(folder)
    found = fit(Files(folder), lopsided.COG(), "y", NAMES, weight="w", classes=[0, 1])
    assert to_bytes(found) == to_bytes(
        fit(frame, lopsided.COG(), "y", NAMES, weight="w", classes=[0, 1])
    )
    counts = evaluate(Files(folder), lopsided.COG(), "y", NAMES, classes=[0, 1])
    assert counts == evaluate(frame, lopsided.COG(), "y", NAMES, classes=[0, 1])
    for data in (folder, datasets.dataset(folder)):
        two = fit(Files(data, 2), lopsided.COG(), "y", NAMES, classes=[0, 1])
        halves = (slice(0, 500), slice(500, 1200))
        assert to_bytes(two) == to_bytes(local(lopsided.COG(), halves, 1))
    for k, day in enumerate(("a", "b")):  # a column that is a folder
        (tmp_path / f"day={day}").mkdir()
        own = pq.read_table(f"{folder}/{k}.parquet")
        pq.write_table(own, tmp_path / f"day={day}" / "0.parquet")
    days = fit(Files(tmp_path), lopsided.COG(), "y", ["f0", "day"], classes=[0, 1])
    assert set(days.feature_names_in_) == {"f0", "day=a", "day=b"}
    with pytest.raises(ParameterError, match="classes must be given with Files"):
        fit(Files(folder), lopsided.COG(), "y", NAMES)
    with pytest.raises(ParameterError, match="partitions"):
        Files(folder, 0)
    chosen = datasets.dataset(folder).filter(datasets.field("f0") > 0)
    with pytest.raises(InputTypeError, match="not those of whole Parquet files"):
        Files(chosen)
    with pytest.raises(InputTypeError, match="no folder of Parquet files"):
        Files(f"{folder}/0.parquet")
    bad = pq.read_table(f"{folder}/1.parquet")
    values = bad["f1"].to_pylist()
    values[7] = None
    bad = bad.set_column(1, "f1", [values])
    pq.write_table(bad, tmp_path / "day=b" / "0.parquet")
    with pytest.raises(InputError, match=r"partition 1, row 7: Input X contains NaN in column 1"):
        fit(Files(tmp_path), lopsided.COG(), "y", NAMES, classes=[0, 1])


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


def features_of_all_kinds(spark):
    """Rows with a column of each kind, in a partition, and what they are to a local model."""
    from pyspark.ml.linalg import DenseVector, SparseVector

    n = 150
    dense, kinds = X[:n].copy(), np.where(X[:n, 1] > 0, "up", "down").tolist()
    dense[::3, 1:] = 0  # where Spark may keep vectors as sparse ones
    lists = [list(map(float, x)) for x in dense]
    maps = [{"p": x[0], "q": x[1]} for x in lists]
    short = [
        SparseVector(3, {0: x[0]}) if k % 3 == 0 else DenseVector(x) for k, x in enumerate(lists)
    ]
    long = [SparseVector(5000, {0: x[0], 4999: x[2]}) for x in lists]
    weights = np.linspace(0.5, 2, n).tolist()
    data = zip(*np.array(lists).T.tolist(), kinds, lists, maps, short, long, weights, strict=True)
    rows = [(*row, int(y)) for row, y in zip(data, Y[:n], strict=True)]
    names = [*NAMES, "kind", "list", "map", "short", "long", "w", "y"]
    frame = spark.createDataFrame(rows, names).coalesce(1)
    sparse = np.zeros((n, 5000))
    sparse[:, [0, 4999]] = dense[:, [0, 2]]
    events = [{"f0": x[0], "kind": k, **m} for x, k, m in zip(lists, kinds, maps, strict=True)]
    wanted = {"list": dense, "short": dense, "long": scipy.sparse.csr_matrix(sparse)}
    return frame, weights, {**wanted, ("f0", "kind", "map"): events}


def test_features_are_vectors_arrays_maps_and_strings(spark):
    from lopsided.spark import fit, score

    frame, weights, wanted = features_of_all_kinds(spark)
    for features, rows in wanted.items():
        found = fit(frame, lopsided.COG(), "y", features, weight="w", classes=[0, 1])
        y = Y[: len(weights)]
        expected = lopsided.COG().partial_fit(rows, y, classes=[0, 1], sample_weight=weights)
        assert to_bytes(found) == to_bytes(expected), features
        scores = [row["score"] for row in score(frame, found, features).collect()]
        np.testing.assert_array_equal(scores, expected.score_many(rows))


def test_costs_are_a_column(spark, lake):
    from pyspark.sql.functions import abs as absolute

    from lopsided.spark import fit, score

    frame = spark.read.parquet(lake[0]).coalesce(1)
    frame = frame.withColumn("amount", absolute("f2") * 50)
    model = lopsided.Recommended(costs={"miss": "amount", "alarm": 5})
    found = fit(frame, model, "y", NAMES)
    guessed = score(frame, found, NAMES, prediction="guess").collect()
    amounts = {"miss": np.abs(X[:, 2]) * 50, "alarm": 5}
    expected = lopsided.Recommended().partial_fit(named(slice(None)), Y)
    np.testing.assert_array_equal(
        [row["guess"] for row in guessed], expected.predict(named(slice(None)), amounts)
    )


def test_partitions_without_rows_or_with_one_label(spark, lake):
    from lopsided.spark import evaluate, fit

    frame = spark.read.parquet(lake[0]).select(*NAMES, "y")
    sorted_ = frame.filter("y = 0").union(frame.filter("y = 1")).union(frame.limit(0))
    model = fit(sorted_, lopsided.Recommended(), "y", rounds=2)
    assert model.fitted.core.rounds == len(Y)
    assert model.predict(X).mean() == pytest.approx(Y.mean(), abs=0.1)
    counts = evaluate(sorted_, lopsided.Recommended(), "y")
    assert (counts.positives, counts.negatives) == (Y.sum(), len(Y) - Y.sum())


def test_bad_rows_are_said_with_their_place_and_tasks_are_not_repeated(spark, lake, tmp_path):
    from lopsided.spark import evaluate, fit, score

    frame = spark.read.parquet(lake[0]).select(*NAMES, "y")
    attempts = tmp_path / "attempts"

    def spoiled(batches):
        import pyarrow as pa
        from pyspark import TaskContext

        number = TaskContext.get().partitionId()
        if number == 1:
            with open(attempts, "a") as file:
                file.write(".")
        for batch in batches:
            columns = batch.to_pydict()
            if number == 1:
                columns["f1"][7] = None
            yield pa.RecordBatch.from_pydict(columns, schema=batch.schema)

    bad = frame.mapInArrow(spoiled, frame.schema)
    expected = r"partition 1, row 7: Input X contains NaN in column 1 \('f1'\): fill in, drop"
    with pytest.raises(InputError, match=expected):
        fit(bad, lopsided.COG(), "y", classes=[0, 1])
    assert attempts.read_text() == "."
    with pytest.raises(InputError, match=expected):
        evaluate(bad, lopsided.COG(), "y", classes=[0, 1])
    model = fit(frame, lopsided.COG(), "y", classes=[0, 1])
    with pytest.raises(Exception, match=expected):
        score(bad, model, NAMES).collect()
    with pytest.raises(ParameterError, match="features is not a column: 'f9'; did you mean 'f"):
        fit(frame, lopsided.COG(), "y", ["f9"])
    with pytest.raises(ParameterError, match=r"'f\.1', and mapInArrow takes no names with dots"):
        score(frame.withColumnRenamed("f1", "f.1"), model, ["f.1"])
    with pytest.raises(InputError, match="no rows to learn from"):
        fit(frame.limit(0), lopsided.COG(), "y", classes=[0, 1])


def test_a_pipeline_with_vectors(spark, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import VectorAssembler

    from lopsided.spark_ml import LopsidedClassifier

    data = [(*map(float, x), int(y)) for x, y in zip(X[:200], Y[:200], strict=True)]
    frame = spark.createDataFrame(data, [*NAMES, "y"]).coalesce(1)
    learner = LopsidedClassifier(lopsided.COG(scaling="unit"), labelCol="y")
    pipeline = Pipeline(stages=[VectorAssembler(inputCols=NAMES, outputCol="features"), learner])
    fitted = pipeline.fit(frame)
    expected = lopsided.COG(scaling="unit").partial_fit(X[:200], Y[:200], classes=[0, 1])
    assert to_bytes(fitted.stages[-1].model) == to_bytes(expected)

    fitted.save(str(tmp_path / "model"))
    fitted.write().overwrite().save(str(tmp_path / "model"))
    again = PipelineModel.load(str(tmp_path / "model"))
    assert to_bytes(again.stages[-1].model) == to_bytes(expected)
    for model in (fitted, again):
        found = [row["rawPrediction"] for row in model.transform(frame).collect()]
        np.testing.assert_array_equal(found, expected.score_many(X[:200]))
    pipeline.save(str(tmp_path / "pipeline"))
    fresh = Pipeline.load(str(tmp_path / "pipeline"))
    assert fresh.getStages()[-1].uid == learner.uid
    assert to_bytes(fresh.fit(frame).stages[-1].model) == to_bytes(expected)
    warm = LopsidedClassifier(expected, labelCol="y", rounds=2)
    warm.save(str(tmp_path / "warm"))
    loaded = LopsidedClassifier.load(str(tmp_path / "warm"))
    assert to_bytes(loaded.learner) == to_bytes(expected)
    assert loaded.getOrDefault("rounds") == 2


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
    write(tmp_path)  # files that come while scores are written
    incoming = spark.readStream.schema(frame.schema).parquet(str(tmp_path / "?.parquet"))
    for _ in range(2):  # the second time nothing is new
        out = score(incoming, model, NAMES).writeStream.format("parquet")
        out = out.option("checkpointLocation", str(tmp_path / "scoring"))
        query = out.trigger(availableNow=True).start(str(tmp_path / "scores"))
        query.awaitTermination()
        scored = spark.read.parquet(str(tmp_path / "scores")).toPandas()
        assert len(scored) == 1200
    np.testing.assert_array_equal(scored["score"], model.score_many(scored[NAMES]))
