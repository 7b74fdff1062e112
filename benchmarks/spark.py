"""Training on Spark beside Spark ML: rows per second of processor time, from one set in Parquet.

python -m benchmarks.spark [--rows N] [--iterations N] [--cores N]

Processor time is that of the Java machine, the Python workers and this process together; Spark is
warmed up on a tenth of the rows. Balanced accuracy is that of a tenth of the rows, held out. Spark
ML weighs the classes by a column, as ours does by its costs.
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
from pyarrow import parquet

import lopsided
import lopsided.spark as ls

FEATURES, NONZERO, FILES = 100_000, 75, 8


def write(folder: Path, rows: int) -> None:
    """Write rows with the features of Spark's vectors, in files for partitions."""
    rng = np.random.default_rng(5)
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
        parquet.write_table(pa.table(columns), folder / f"{number}.parquet")


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


def balanced(labels: Any, predicted: Any) -> float:
    y, p = np.asarray(labels) > 0, np.asarray(predicted) > 0
    return float((p[y].mean() + (~p[~y]).mean()) / 2)


def main() -> None:
    from pyspark.ml.classification import LinearSVC, LogisticRegression
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DoubleType, StructField, StructType

    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--iterations", type=int, default=10, help="of Spark ML, at most")
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
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
    with tempfile.TemporaryDirectory() as folder:
        print(f"writing {options.rows:,} rows of {NONZERO} values", flush=True)
        write(Path(folder), options.rows)
        files = sorted(map(str, Path(folder).glob("*.parquet")))
        rows = spark.read.schema(schema).parquet(*files[1:])
        held = spark.read.schema(schema).parquet(files[0]).limit(options.rows // 10)
        truth = [row[0] for row in held.select("label").collect()]

        def ours(learner: str, rounds: int) -> Callable[[Any], Any]:
            model = lopsided.make(learner, scaling="none")
            return lambda frame: ls.fit(
                frame, model, "label", "features", classes=[0.0, 1.0], rounds=rounds
            )

        common = {"featuresCol": "features", "labelCol": "label", "weightCol": "weight"}
        contenders: dict[str, Callable[[Any], Any]] = {
            "lopsided.spark, COG-II, 1 round": ours("COG-II", 1),
            "lopsided.spark, AROW-diag, 1 round": ours("AROW-diag", 1),
            "lopsided.spark, COG-II, 4 rounds": ours("COG-II", 4),
            "Spark ML LogisticRegression": LogisticRegression(
                maxIter=options.iterations, standardization=False, **common
            ).fit,
            "Spark ML LinearSVC": LinearSVC(
                maxIter=options.iterations, standardization=False, **common
            ).fit,
        }
        found = []
        small = spark.read.schema(schema).parquet(files[1])
        for name, work in contenders.items():
            work(small.limit(options.rows // 100))  # warm
            model, seconds, wall = measured(lambda work=work: work(rows), java)
            if name.startswith("lopsided"):
                scored = ls.score(held.select("features"), model, "features")
                predicted = np.array([row[0] for row in scored.select("score").collect()]) >= 0
            else:
                predicted = [row[0] for row in model.transform(held).select("prediction").collect()]
            n = options.rows * (FILES - 1) // FILES
            found.append((name, balanced(truth, predicted), seconds, wall, n / seconds))
            print(*found[-1], flush=True)
    best = max(rate for name, *_, rate in found if not name.startswith("lopsided"))
    print("| | balanced | CPU s | wall s | rows per CPU s | x the best of Spark ML |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, accuracy, cpu, wall, rate in found:
        figures = f"{accuracy:.1%} | {cpu:.1f} | {wall:.1f} | {rate:,.0f} | {rate / best:.1f}"
        print(f"| {name} | {figures} |")
    spark.stop()


if __name__ == "__main__":
    main()
