"""Training and scoring of Spark data frames: the partitions of a frame are the shards.

A round is one stage of `mapInArrow`: every task trains on its partition and returns one row with
its model, the driver merges them in the order of the partitions. There is no barrier and nothing
passes between tasks, so Spark may run them in any number at a time and repeat them as it likes.
"""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from . import persist, sharding, spark_tasks
from .data.readers.tabular.sources import ArrowDataset, source_of
from .errors import InputError, InputTypeError, ModelFileError, ParameterError
from .estimator.base import OnlineClassifier
from .metrics import Counts

M = TypeVar("M", bound=OnlineClassifier)


class Files:
    """Parquet files that `fit` and `evaluate` take for a frame: its tasks read them with Arrow.

    Spark still runs, repeats and spreads the tasks, but no row passes through Java, where most of
    the time of a frame goes. The executors must reach the files under the same paths.

    Parameters
    ----------
    data : path or object
        A folder of Parquet files, whose name=value folders are columns; a pyarrow Dataset, such as
        `pyarrow.dataset.dataset("s3://lake/events", partitioning="hive")`; or a table of Delta
        Lake.
    partitions : int, optional
        Into how many partitions the files are put, in the order of their paths. Default: each file
        is one.
    """

    def __init__(self, data: Any, partitions: int | None = None) -> None:
        if partitions is not None and partitions < 1:
            raise ParameterError("partitions", "must be at least 1", value=partitions)
        source = source_of(data)
        if not isinstance(source, ArrowDataset):
            raise InputTypeError(
                f"{source.name} is no folder of Parquet files, data set or table of Delta Lake"
            )
        self.columns: list[str] = source.schema.names
        self.shards = source.shards(partitions)

    def mapInArrow(self, task: spark_tasks.Task, schema: str) -> Any:  # noqa: N802  as Spark has it
        """Return the frame of what the task yields for the rows of each partition."""
        from pyspark.sql import SparkSession

        session = SparkSession.active()
        count = len(self.shards)
        rows = session.range(0, count, 1, count)
        return rows.mapInArrow(spark_tasks.reader(self.shards, self.columns, task), schema)

    def select(self, *columns: str) -> Files:
        """Return these files with some of their columns."""
        out = copy.copy(self)
        out.columns = list(columns)
        return out


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
    frame : pyspark.sql.DataFrame or Files
        The rows. Its partitions, and the order of the rows in each, must be the same whenever it is
        computed: read it from files, or cache it after a shuffle.
    model : OnlineClassifier
        The model to continue, which is not changed.
    label : str
        The column of the labels.
    features : str or sequence of str, optional
        Columns of numbers, of strings, which are categories, or of maps; or one column of arrays or
        vectors. Default: all columns but label and weight. Columns that the model's `costs` name
        are read as well.
    weight : str, optional
        The column of the sample weights.
    classes : sequence, optional
        The two labels. Default: those found in a pass over the column; `Files` need them.
    rounds : int
        How often the models are mixed within the pass: in round r every partition learns from the
        rows r, r + rounds, ... of its own. The frame is computed once a round.
    checkpoint : path, optional
        A file of the driver that holds the merged model after every round. If it exists, the fit
        resumes after its last round; it is removed when the fit is done.

    Returns
    -------
    model
        With one partition and one round it has the bits of `model.partial_fit` on the rows.

    Raises
    ------
    LopsidedError
        With the partition and the row, from 0, of the first value that cannot be used.
    """
    sharding.check_rounds(rounds)
    shards = _partitions(frame)
    first, model = _resumed(checkpoint, model, shards, rounds)
    roles = _roles(frame, model, label, features, weight, classes)
    rows = _selected(frame, roles)
    for part in range(first, rounds):
        begun = sharding.start(model, shards)
        found = rows.mapInArrow(
            spark_tasks.trainer(begun, roles, part, rounds), spark_tasks.row_of(spark_tasks.MODEL)
        )
        blobs: list[bytes | None] = [None] * shards
        for row in _collected(found):
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

    roles = sharding.choose(frame.columns, features, None, None, costs=model.costs)
    _check_names(frame.columns)
    added = [StructField(column, DoubleType())]
    if prediction is not None:
        text = model.classes_.dtype.kind in "OU"
        added.append(StructField(prediction, StringType() if text else DoubleType()))
    schema = StructType([*frame.schema.fields, *added])
    return frame.mapInArrow(
        spark_tasks.scorer(model, roles, [field.name for field in added]), schema
    )


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
    roles = _roles(frame, model, label, features, weight, classes)
    found = _collected(
        _selected(frame, roles).mapInArrow(
            spark_tasks.evaluator(model, roles), spark_tasks.row_of(spark_tasks.COUNTS)
        )
    )
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
        The file of the model. If it exists, learning continues from it.
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


# On the driver ---------------------------------------------------------------------------------


def _roles(
    frame: Any,
    model: OnlineClassifier,
    label: str,
    features: Sequence[str] | str | None,
    weight: str | None,
    classes: Sequence[Any] | None,
) -> sharding.Roles:
    roles = sharding.choose(frame.columns, features, label, weight, classes, model.costs)
    _check_names(roles.columns)
    if classes is None and not model.__sklearn_is_fitted__():
        if isinstance(frame, Files):
            raise ParameterError("classes", "must be given with Files", remedy=["classes=[0, 1]"])
        found = frame.select(label).distinct().limit(4).collect()
        classes = sharding.classes_of(row[0] for row in found)
        roles = dataclasses.replace(roles, classes=tuple(classes))
    return roles


def _selected(frame: Any, roles: sharding.Roles) -> Any:
    return frame.select(*roles.columns)


def _check_names(names: Sequence[str]) -> None:
    """Raise if Spark would take a name for a field of a struct."""
    for name in names:
        if "." in name:
            raise ParameterError(
                "frame",
                f"has the column {name!r}, and mapInArrow takes no names with dots",
                remedy=["rename it: frame.withColumnRenamed(...)"],
            )


def _collected(frame: Any) -> list[Any]:
    """Return what the partitions found, in their order, or raise the fault of the first."""
    found = sorted(frame.collect(), key=lambda row: row["partition"])
    for row in found:
        if row["fault"] is not None:
            raise pickle.loads(bytes(row["fault"]))
    return found


def _partitions(frame: Any) -> int:
    return len(frame.shards) if isinstance(frame, Files) else int(frame.rdd.getNumPartitions())


def _resumed(path: Any, model: M, shards: int, rounds: int) -> tuple[int, M]:
    """Return the round to resume, and its model."""
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
