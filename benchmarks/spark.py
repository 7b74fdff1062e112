"""Training on Spark beside Spark ML: rows per second of processor time, from one set in Parquet.

python -m benchmarks.spark [--rows N] [--iterations N] [--cores N] [--only TEXT]
python -m benchmarks.spark --merges

"without Spark" is what the tasks do, in this process: Arrow reads the files, the core learns from
their batches, and the models are merged. Processor time is that of the Java machine, the Python
workers and this process together; Spark is warmed up on a hundredth of the rows. Balanced accuracy
is that of a tenth of the rows, held out. Spark ML weighs the classes by a column, as ours does by
its costs. With --merges: what the driver does between rounds, and how many bytes a model has.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import dataset as datasets
from pyarrow import parquet

import lopsided
import lopsided.spark as ls
from lopsided import persist, sharding

FEATURES, NONZERO, FILES = 100_000, 75, 8
# Those of AROW-diag were chosen on rows of seed 5.
PARAMETERS: dict[str, dict[str, Any]] = {
    "COG-II": {"scaling": "none"},
    "AROW-diag": {
        "scaling": "none",
        "class_weight": "balanced",
        "regularization": 1000,
        "intercept": True,
    },
}


def write(folder: Path, rows: int) -> None:
    """Write rows with the features of Spark's vectors, in files for partitions."""
    rng = np.random.default_rng(7)
    truth = rng.normal(size=FEATURES)
    for number in range(FILES):
        n = rows // FILES
        indices = np.sort(rng.integers(0, FEATURES, (n, NONZERO), dtype=np.int32), axis=1)
        indices += np.arange(NONZERO, dtype=np.int32)  # none twice
        values = rng.exponential(size=(n, NONZERO))
        scores = (values * truth[np.minimum(indices, FEATURES - 1)]).sum(1)
        y = scores + rng.normal(size=n) * 3 > 18
        ends = pa.array(np.arange(0, n * NONZERO + 1, NONZERO, dtype=np.int32))
        vectors = pa.StructArray.from_arrays(
            [
                pa.array(np.zeros(n, np.int8)),
                pa.array(np.full(n, FEATURES + NONZERO, np.int32)),
                pa.ListArray.from_arrays(ends, pa.array(indices.ravel())),
                pa.ListArray.from_arrays(ends, pa.array(values.ravel())),
            ],
            ["type", "size", "indices", "values"],
        )
        weight = np.where(y, (n - y.sum()) / max(y.sum(), 1), 1.0)
        columns = {"features": vectors, "label": y.astype(float), "weight": weight}
        path = folder / f"{number}.parquet"
        parquet.write_table(pa.table(columns), path, compression="none")  # read anywhere


def processor_seconds(session: str) -> float:
    """Return the processor time of this process and of all that belong to the Java machine."""
    parents, spent = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[entry.name] = text[1]
            spent[entry.name] = sum(map(int, text[11:15])) / os.sysconf("SC_CLK_TCK")
    mine = {str(os.getpid()), session}
    for _ in range(5):
        mine |= {child for child, parent in parents.items() if parent in mine}
    return sum(spent[one] for one in mine if one in spent)


def measured(work: Callable[[], Any], session: str) -> tuple[Any, float, float]:
    before, start = processor_seconds(session), time.perf_counter()
    found = work()
    return found, processor_seconds(session) - before, time.perf_counter() - start


def without_spark(learner: str, files: list[str]) -> Any:
    """Return the model of the files, each of which is a partition, trained one after the other."""
    roles = sharding.Roles(("features",), "label", None, (0.0, 1.0))
    models = []
    for number, path in enumerate(files):
        batches = parquet.ParquetFile(path).iter_batches(10_000, columns=["features", "label"])
        own = lopsided.make(learner, **PARAMETERS[learner])
        models.append(sharding.train(batches, own, roles, 0, 1, number))
    model = lopsided.make(learner, **PARAMETERS[learner])
    return sharding.merged(models, model, model)


def merges() -> None:
    """Print the size of models and the processor time in which the driver takes and merges them."""
    rng = np.random.default_rng(5)
    X, wide = rng.normal(size=(5000, 30)), np.zeros((1, FEATURES + NONZERO))
    y = X[:, 0] + X[:, 1] ** 2 > 3
    models = {
        "Recommended, 30 columns": lopsided.Recommended().fit(X, y),
        f"COG-II, {FEATURES:,} features": lopsided.make("COG-II", scaling="none").partial_fit(
            wide + rng.normal(size=wide.shape), [1], classes=[0, 1]
        ),
    }
    print("| model | bytes | models | ms a model |\n|---|---:|---:|---:|")
    for name, model in models.items():
        for count in (2, 16, 64):
            blobs = [persist.to_bytes(part) for part in lopsided.split(model, count)]
            start = time.process_time()
            sharding.merged(blobs, model, model)
            spent = (time.process_time() - start) / count
            print(f"| {name} | {len(blobs[0]):,} | {count} | {1000 * spent:.1f} |", flush=True)


def balanced(labels: Any, predicted: Any) -> float:
    y, p = np.asarray(labels) > 0, np.asarray(predicted) > 0
    return float((p[y].mean() + (~p[~y]).mean()) / 2)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--iterations", type=int, default=10, help="of Spark ML, at most")
    parser.add_argument("--folder", help="where the rows are kept; default: nowhere")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--only", default="", help="contenders with this in their name")
    parser.add_argument("--merges", action="store_true", help="only what the driver does")
    options = parser.parse_args()
    if options.merges:
        merges()
        return
    from pyspark.ml.classification import LinearSVC, LogisticRegression
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DoubleType, StructField, StructType

    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master(f"local[{options.cores}]")
        .config("spark.driver.memory", "6g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.files.maxPartitionBytes", 1 << 40)
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    java = str(spark.sparkContext._gateway.proc.pid)
    schema = StructType(
        [
            StructField("features", VectorUDT()),
            StructField("label", DoubleType()),
            StructField("weight", DoubleType()),
        ]
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        if not any(Path(folder).glob("*.parquet")):
            print(f"writing {options.rows:,} rows of {NONZERO} values", flush=True)
            Path(folder).mkdir(exist_ok=True)
            write(Path(folder), options.rows)
        files = sorted(map(str, Path(folder).glob("*.parquet")))
        rows = spark.read.schema(schema).parquet(*files[1:])
        held = spark.read.schema(schema).parquet(files[0]).limit(options.rows // 10)
        truth = [row[0] for row in held.select("label").collect()]

        def ours(learner: str, rounds: int, read: Any = None) -> Callable[[Any], Any]:
            model = lopsided.make(learner, **PARAMETERS[learner])
            return lambda frame: ls.fit(
                read or frame, model, "label", "features", classes=[0.0, 1.0], rounds=rounds
            )

        arrow = ls.Files(datasets.dataset(files[1:]), options.cores)

        common = {"featuresCol": "features", "labelCol": "label", "weightCol": "weight"}
        contenders: dict[str, Callable[[Any], Any]] = {
            "lopsided.spark, COG-II, 1 round": ours("COG-II", 1),
            "lopsided.spark, AROW-diag, 1 round": ours("AROW-diag", 1),
            "lopsided.spark, COG-II, 4 rounds": ours("COG-II", 4),
            "lopsided.spark.Files, COG-II, 1 round": ours("COG-II", 1, arrow),
            "lopsided.spark.Files, AROW-diag, 1 round": ours("AROW-diag", 1, arrow),
            "Spark ML LogisticRegression": LogisticRegression(
                maxIter=options.iterations, standardization=False, **common
            ).fit,
            "Spark ML LinearSVC": LinearSVC(
                maxIter=options.iterations, standardization=False, **common
            ).fit,
        }
        contenders["COG-II without Spark"] = lambda _: without_spark("COG-II", files[1:])
        found = []
        small = spark.read.schema(schema).parquet(files[1])
        for name, work in contenders.items():
            if options.only not in name:
                continue
            work(small.limit(options.rows // 100))  # warm; all rows, where the tasks read files
            model, seconds, wall = measured(lambda work=work: work(rows), java)
            if isinstance(model, lopsided.COG | lopsided.AROW):
                scored = ls.score(held.select("features"), model, "features")
                predicted = np.array([row[0] for row in scored.select("score").collect()]) >= 0
            else:
                predicted = [row[0] for row in model.transform(held).select("prediction").collect()]
            n = options.rows * (FILES - 1) // FILES
            found.append((name, balanced(truth, predicted), seconds, wall, n / seconds))
            print(*found[-1], flush=True)
    best = max((rate for name, *_, rate in found if name.startswith("Spark ML")), default=np.nan)
    print("| | balanced | CPU s | wall s | rows per CPU s | x the best of Spark ML |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, accuracy, cpu, wall, rate in found:
        figures = f"{accuracy:.1%} | {cpu:.1f} | {wall:.1f} | {rate:,.0f} | {rate / best:.1f}"
        print(f"| {name} | {figures} |")
    spark.stop()


if __name__ == "__main__":
    main()
