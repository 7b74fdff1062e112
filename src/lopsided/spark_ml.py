"""A stage for pipelines of Spark ML: `LopsidedClassifier` and the model it fits."""

from __future__ import annotations

from typing import Any

from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.util import (
    DefaultParamsReader,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)

from . import persist, spark
from .estimator.base import OnlineClassifier


class _Writer(MLWriter):  # type: ignore[misc, unused-ignore]
    """Write a stage: parameters as Spark ML has them, the learner as its file in a table.

    A table goes wherever Spark writes, and not only to the disk of the driver.
    """

    def __init__(self, stage: Any) -> None:
        super().__init__()
        self._stage = stage

    def saveImpl(self, path: str) -> None:  # noqa: N802
        learner = self._stage.learner
        fitted = learner.__sklearn_is_fitted__()
        extra = {"learner": persist.parameters_to_text(learner), "fitted": fitted}
        DefaultParamsWriter.saveMetadata(self._stage, path, self.sc, extraMetadata=extra)
        if fitted:
            row = (bytearray(persist.to_bytes(learner, sound=True)),)
            table = self.sparkSession.createDataFrame([row], "model binary").coalesce(1)
            table.write.parquet(f"{path}/model")


class _Reader(MLReader):  # type: ignore[misc, type-arg, unused-ignore]
    def __init__(self, stage: Any) -> None:
        super().__init__()
        self._stage = stage

    def load(self, path: str) -> Any:
        metadata = DefaultParamsReader.loadMetadata(path, self.sc)
        learner = persist.from_parameters(metadata["learner"])
        if metadata["fitted"]:
            row = self.sparkSession.read.parquet(f"{path}/model").first()
            learner = persist.from_bytes(bytes(row["model"]))
        stage = self._stage(learner)
        stage._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(stage, metadata)
        return stage


class _Saved(MLWritable, MLReadable):  # type: ignore[misc, type-arg, unused-ignore]
    """A stage that `Pipeline.save` and `load` know how to keep."""

    def write(self) -> MLWriter:
        """Return what writes this stage."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader:  # type: ignore[type-arg, unused-ignore]
        """Return what reads such a stage."""
        return _Reader(cls)


class _Columns(Params):  # type: ignore[misc, type-arg, unused-ignore]
    """The columns of both, under the names that Spark ML uses."""

    featuresCol: Any = Param(  # noqa: N815
        Params._dummy(), "featuresCol", "vectors of features", TypeConverters.toString
    )
    labelCol: Any = Param(  # noqa: N815
        Params._dummy(), "labelCol", "labels", TypeConverters.toString
    )
    weightCol: Any = Param(  # noqa: N815
        Params._dummy(), "weightCol", "sample weights", TypeConverters.toString
    )
    predictionCol: Any = Param(  # noqa: N815
        Params._dummy(), "predictionCol", "predicted labels", TypeConverters.toString
    )
    rawPredictionCol: Any = Param(  # noqa: N815
        Params._dummy(), "rawPredictionCol", "scores", TypeConverters.toString
    )
    rounds: Any = Param(Params._dummy(), "rounds", "rounds of mixing", TypeConverters.toInt)

    def _set_defaults(self) -> None:
        self._setDefault(
            featuresCol="features",
            labelCol="label",
            predictionCol="prediction",
            rawPredictionCol="rawPrediction",
            rounds=1,
        )


class LopsidedClassifier(Estimator, _Columns, _Saved):  # type: ignore[misc, type-arg, unused-ignore]
    """An online classifier as a stage of a Spark ML pipeline.

    Parameters
    ----------
    learner : OnlineClassifier
        The model to continue, which is not changed.
    featuresCol, labelCol, weightCol, predictionCol, rawPredictionCol : str
        Columns, as in Spark ML.
    rounds : int
        Rounds of mixing: see `lopsided.spark.fit`.
    """

    def __init__(self, learner: OnlineClassifier, **columns: Any) -> None:
        super().__init__()
        self.learner = learner
        self._set_defaults()
        self._set(**columns)

    def _fit(self, dataset: Any) -> LopsidedModel:
        value = self.getOrDefault
        weight = value(self.weightCol) if self.isDefined(self.weightCol) else None
        features, label = value(self.featuresCol), value(self.labelCol)
        rounds = value(self.rounds)
        model = spark.fit(dataset, self.learner, label, features, weight=weight, rounds=rounds)
        fitted: LopsidedModel = self._copyValues(LopsidedModel(model))
        return fitted


class LopsidedModel(Model, _Columns, _Saved):  # type: ignore[misc, type-arg, unused-ignore]
    """What `LopsidedClassifier` fits; `model.save` of its `model` writes that alone to a file.

    Parameters
    ----------
    model : OnlineClassifier
        One that has learned.
    """

    def __init__(self, model: OnlineClassifier) -> None:
        super().__init__()
        self.model = model
        self._set_defaults()

    @property
    def learner(self) -> OnlineClassifier:
        """The model, under the name that both stages have for it."""
        return self.model

    def _transform(self, dataset: Any) -> Any:
        value = self.getOrDefault
        return spark.score(
            dataset,
            self.model,
            value(self.featuresCol),
            column=value(self.rawPredictionCol),
            prediction=value(self.predictionCol),
        )
