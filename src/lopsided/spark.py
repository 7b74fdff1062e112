"""Training and scoring of Spark data frames: the partitions of a frame are the shards.

A round is one stage of `mapInArrow`: every task trains on its partition and returns one row with
its model, the driver merges them in the order of the partitions. There is no barrier and nothing
passes between tasks, so Spark may run them in any number at a time and repeat them as it likes.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from . import persist, sharding
from .errors import InputError, ModelFileError
from .estimator.base import OnlineClassifier
from .metrics import Counts

M = TypeVar("M", bound=OnlineClassifier)


def fit(
    frame: Any,
    model: M,
    label: str,
    features: Sequence[str] | str | None = None,
    *,
    weight: str | None = None,
    classes: Sequence[Any] | None = None,
    rounds: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
) -> M:
    """Return a model that has learned from all partitions of a Spark data frame.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The rows. Its partitions, and the order of the rows in each, must be the same whenever it is
        computed: read it from files, or cache it after a shuffle.
    model : OnlineClassifier
        The model to go on from, which is not changed.
    label : str
        The column of the labels.
    features : str or sequence of str, optional
        Columns of numbers, of strings, which are categories, or of maps; or one column of arrays or
        vectors. Default: all columns but label and weight.
    weight : str, optional
        The column of the sample weights.
    classes : sequence, optional
        The two labels. Default: those found in a pass over the column.
    rounds : int
        How often the models are mixed within the pass: in round r every partition learns from the
        rows r, r + rounds, ... of its own. The frame is computed once a round.
    checkpoint : path, optional
        A file of the driver that holds the merged model after every round. If it exists, the fit
        goes on behind its last round; it is removed when the fit is done.

    Returns
    -------
    model
        With one partition and one round it has the bits of `model.partial_fit` on the rows.
    """
    sharding.check_rounds(rounds)
    shards = _partitions(frame)
    first, model = _resumed(checkpoint, model, shards, rounds)
    if classes is None and not model.__sklearn_is_fitted__():
        found = frame.select(label).distinct().limit(4).collect()
        classes = sharding.classes_of(row[0] for row in found)
    roles = sharding.choose(frame.columns, features, label, weight, classes)
    rows = frame.select(*roles.columns)
    for part in range(first, rounds):
        begun = sharding.start(model, shards)
        found = rows.mapInArrow(_trainer(begun, roles, part, rounds), _FOUND).collect()
        blobs: list[bytes | None] = [None] * shards
        for row in found:
            blobs[row["partition"]] = bytes(row["model"])
        model = sharding.merged(blobs, model, begun)  # type: ignore[assignment]
        if checkpoint is not None:
            persist.save(model, checkpoint, {"round": part + 1, "of": rounds, "shards": shards})
    if checkpoint is not None and os.path.exists(checkpoint):
        os.unlink(checkpoint)  # the next fit begins anew
    return model


def score(
    frame: Any,
    model: OnlineClassifier,
    features: Sequence[str] | str | None = None,
    *,
    column: str = "score",
    prediction: str | None = None,
) -> Any:
    """Return the data frame, which may be a stream, with a column of scores.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The rows.
    model : OnlineClassifier
        One that has learned.
    features : str or sequence of str, optional
        Those that it was fitted with. Default: all columns.
    column : str
        The name of the new column.
    prediction : str, optional
        The name of a second column, for the predicted labels.
    """
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    roles = sharding.choose(frame.columns, features, None, None)
    added = [StructField(column, DoubleType())]
    if prediction is not None:
        text = model.classes_.dtype.kind in "OU"
        added.append(StructField(prediction, StringType() if text else DoubleType()))
    schema = StructType([*frame.schema.fields, *added])
    return frame.mapInArrow(_scorer(model, roles, [field.name for field in added]), schema)


def evaluate(
    frame: Any,
    model: OnlineClassifier,
    label: str,
    features: Sequence[str] | str | None = None,
    *,
    weight: str | None = None,
    classes: Sequence[Any] | None = None,
) -> Counts:
    """Return the counts of a progressive run over each partition, summed.

    Every partition starts from the model, predicts each row and then learns from it; what is
    learned is thrown away.

    Parameters
    ----------
    frame, model, label, features, weight, classes
        As for `fit`.
    """
    roles = sharding.choose(frame.columns, features, label, weight, classes)
    rows = frame.select(*roles.columns).mapInArrow(_evaluator(model, roles), _COUNTED).collect()
    found = sorted(rows, key=lambda row: row["partition"])
    return sum((Counts.of(row.asDict()) for row in found), Counts())


def each_batch(
    path: str | os.PathLike[str],
    model: OnlineClassifier,
    label: str,
    features: Sequence[str] | str | None = None,
    **options: Any,
) -> Callable[[Any, int], None]:
    """Return a function for `foreachBatch` that learns from every micro-batch exactly once.

    The file holds the model together with the number of the last batch, and is replaced as a whole:
    a batch that Spark delivers again is left out.

    Parameters
    ----------
    path : path
        The file of the model. If it exists, learning goes on from it.
    model : OnlineClassifier
        The model to begin with.
    label, features, **options
        As for `fit`.
    """

    def learn(frame: Any, batch: int) -> None:
        now, last = model, -1
        if os.path.exists(path):
            now, run = persist.load_run(path)
            last = _of(run, "batch", path)
        if batch <= last:
            return
        try:
            now = fit(frame, now, label, features, **options)
        except InputError:
            if not frame.isEmpty():
                raise
        if now.__sklearn_is_fitted__():
            persist.save(now, path, {"batch": batch})

    return learn


# What runs in tasks ----------------------------------------------------------------------------

_FOUND = "partition int, model binary"
_COUNTED = (
    "partition int, positives double, negatives double, false_negatives double, "
    "false_positives double, events long, updates long"
)
_NUMBERS = ("positives", "negatives", "false_negatives", "false_positives", "events", "updates")
Task = Callable[[Iterator[Any]], Iterator[Any]]


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())


def _trainer(model: OnlineClassifier, roles: sharding.Roles, part: int, parts: int) -> Task:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        pa = importlib.import_module("pyarrow")
        blob = sharding.train(batches, model, roles, part, parts)
        if blob is not None:
            columns = [pa.array([_partition()], pa.int32()), pa.array([blob], pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, names=["partition", "model"])

    return run


def _scorer(model: OnlineClassifier, roles: sharding.Roles, names: list[str]) -> Task:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        pa = importlib.import_module("pyarrow")
        for batch in batches:
            scores, predicted = sharding.score(batch, model, roles)
            added = [pa.array(scores)]
            if len(names) == 2:
                text = predicted.dtype.kind in "OU"
                added.append(pa.array(predicted.tolist() if text else predicted.astype(float)))
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, *added], names=[*batch.schema.names, *names]
            )

    return run


def _evaluator(model: OnlineClassifier, roles: sharding.Roles) -> Task:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        pa = importlib.import_module("pyarrow")
        counts = sharding.evaluate(batches, model, roles)
        found = {name: [getattr(counts, name)] for name in _NUMBERS}
        yield pa.RecordBatch.from_pydict(
            {"partition": pa.array([_partition()], pa.int32()), **found}
        )

    return run


def _partitions(frame: Any) -> int:
    return int(frame.rdd.getNumPartitions())


def _resumed(path: Any, model: M, shards: int, rounds: int) -> tuple[int, M]:
    """Return the round to go on with, and its model."""
    if path is None or not os.path.exists(path):
        return 0, model
    saved, run = persist.load_run(path)
    for name, wanted in (("of", rounds), ("shards", shards)):
        if _of(run, name, path) != wanted:
            raise ModelFileError(
                f"it is the checkpoint of a fit with {run[name]} "
                f"{'rounds' if name == 'of' else 'partitions'}, not {wanted}",
                os.fspath(path),
            )
    return int(run["round"]), saved  # type: ignore[return-value]


def _of(run: Any, name: str, path: Any) -> Any:
    if not isinstance(run, dict) or name not in run:
        raise ModelFileError("it is not a checkpoint of this kind", os.fspath(path))
    return run[name]
