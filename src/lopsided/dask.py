"""Training and scoring of Dask data frames: the partitions of a frame are the shards.

The two halves of `lopsided.sharding` as delayed functions; see docs/spark.md.
"""

from __future__ import annotations

import dataclasses
import importlib
import pickle
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from . import sharding
from .estimator.base import OnlineClassifier

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
) -> M:
    """Return a model that has learned from all partitions of a Dask data frame.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The rows; the order of the partitions is that of the merge.
    model : OnlineClassifier
        The model to continue, which is not changed.
    label : str
        The column of the labels.
    features : str or sequence of str, optional
        Default: all columns but label and weight.
    weight : str, optional
        The column of the sample weights.
    classes : sequence, optional
        The two labels. Default: those found in a pass over the column.
    rounds : int
        How often the models are mixed within the pass.
    """
    sharding.check_rounds(rounds)
    dask = importlib.import_module("dask")
    roles = sharding.choose(list(frame.columns), features, label, weight, classes, model.costs)
    if classes is None and not model.__sklearn_is_fitted__():
        found = sharding.classes_of(frame[label].unique().compute().tolist())
        roles = dataclasses.replace(roles, classes=tuple(found))
    partitions = frame[roles.columns].to_delayed()
    train = dask.delayed(_train, pure=True)
    for part in range(rounds):
        begun = sharding.start(model, len(partitions))
        tasks = (train(rows, begun, roles, part, rounds, k) for k, rows in enumerate(partitions))
        model = sharding.merged(dask.compute(*tasks), model, begun)  # type: ignore[assignment]
    return model


def score(
    frame: Any,
    model: OnlineClassifier,
    features: Sequence[str] | str | None = None,
    column: str = "score",
) -> Any:
    """Return the data frame with a column of scores.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The rows.
    model : OnlineClassifier
        One that has learned.
    features : str or sequence of str, optional
        Those that it was fitted with. Default: all columns.
    column : str
        The name of the new column.
    """
    roles = sharding.choose(list(frame.columns), features, None, None)
    meta = frame._meta.assign(**{column: 0.0})
    return frame.map_partitions(_scored, model, roles, column, meta=meta)


def _batches(rows: Any) -> list[Any]:
    pa = importlib.import_module("pyarrow")
    batches: list[Any] = pa.Table.from_pandas(rows, preserve_index=False).to_batches()
    return batches


def _copy(model: OnlineClassifier) -> OnlineClassifier:
    """Return a copy: threads share what they are given, and training changes it."""
    copied: OnlineClassifier = pickle.loads(pickle.dumps(model))
    return copied


def _train(
    rows: Any, model: OnlineClassifier, roles: sharding.Roles, part: int, parts: int, partition: int
) -> bytes | None:
    return sharding.train(_batches(rows), _copy(model), roles, part, parts, partition)


def _scored(rows: Any, model: OnlineClassifier, roles: sharding.Roles, column: str) -> Any:
    batches = sharding.slices(_batches(rows[roles.columns]), 0, 1)
    found = [sharding.score(batch, model, roles)[0] for batch in batches]
    return rows.assign(**{column: np.concatenate([np.zeros(0), *found])})
