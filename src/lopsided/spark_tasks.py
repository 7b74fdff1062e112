"""What runs in the tasks of Spark: functions for `mapInArrow`."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from . import sharding
from .data.readers.tabular.sources import ArrowDataset
from .errors import LopsidedError
from .estimator.base import OnlineClassifier

MODEL = {"model": "binary"}
COUNTS = {
    **dict.fromkeys(("positives", "negatives", "false_negatives", "false_positives"), "double"),
    **dict.fromkeys(("events", "updates"), "long"),
}
ROWS = 10_000  # in a batch, as Spark has them
Task = Callable[[Iterator[Any]], Iterator[Any]]


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


def row_of(fields: Mapping[str, str]) -> str:
    """Return the schema of a row that a task yields."""
    columns = {"partition": "int", "fault": "binary", **fields}
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())


def _task(
    work: Callable[[Iterator[Any], int], dict[str, Any] | None], fields: Mapping[str, str]
) -> Task:
    """Return a task that yields what work returns for its partition, as a row.

    A fault in the data is such a row too: it would be the same in every attempt, so that Spark
    need not repeat the task.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        pa = importlib.import_module("pyarrow")
        types = {"binary": pa.binary(), "double": pa.float64(), "long": pa.int64()}
        partition, fault = _partition(), None
        found: dict[str, Any] | None = None
        try:
            found = work(batches, partition)
        except LopsidedError as error:
            fault = pickle.dumps(error)
            for _ in batches:  # Spark wants all of them taken
                pass
        if fault is None and found is None:
            return
        row = {
            "partition": pa.array([partition], pa.int32()),
            "fault": pa.array([fault], pa.binary()),
        }
        for name, kind in fields.items():
            row[name] = pa.array([None if found is None else found[name]], types[kind])
        yield pa.RecordBatch.from_pydict(row)

    return run


def trainer(model: OnlineClassifier, roles: sharding.Roles, part: int, parts: int) -> Task:
    """Return a task that trains on every `parts`-th row of its partition."""

    def work(batches: Iterator[Any], partition: int) -> dict[str, Any] | None:
        blob = sharding.train(batches, model, roles, part, parts, partition)
        return None if blob is None else {"model": blob}

    return _task(work, MODEL)


def reader(shards: Sequence[ArrowDataset], columns: Sequence[str], task: Task) -> Task:
    """Return a task that takes the rows of its shard, and not those that Spark has read."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for _ in batches:  # one row for each partition
            pass
        yield from task(shards[_partition()].batches(columns, ROWS))

    return run


def evaluator(model: OnlineClassifier, roles: sharding.Roles) -> Task:
    """Return a task that counts what a progressive run over its partition gets wrong."""

    def work(batches: Iterator[Any], partition: int) -> dict[str, Any]:
        counts = sharding.evaluate(batches, model, roles, partition)
        return {name: getattr(counts, name) for name in COUNTS}

    return _task(work, COUNTS)


def scorer(model: OnlineClassifier, roles: sharding.Roles, names: list[str]) -> Task:
    """Return a task that appends scores, and predictions if there is a second name."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        pa = importlib.import_module("pyarrow")
        for rows in sharding.slices(batches, 0, 1):
            scores, predicted = sharding.score(rows, model, roles, _partition())
            added = [pa.array(scores)]
            if len(names) == 2:
                text = predicted.dtype.kind in "OU"
                added.append(pa.array(predicted.tolist() if text else predicted.astype(float)))
            yield pa.RecordBatch.from_arrays(
                [*rows.batch.columns, *added], names=[*rows.batch.schema.names, *names]
            )

    return run
