"""A stage for pipelines of Spark ML: `LopsidedClassifier` and the model it fits."""

from __future__ import annotations

from typing import Any

from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters

from . import spark
from .estimator.base import OnlineClassifier


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


class LopsidedClassifier(Estimator, _Columns):  # type: ignore[misc, type-arg, unused-ignore]
    """An online classifier as a stage of a Spark ML pipeline.

    Parameters
    ----------
    learner : OnlineClassifier
        The model to go on from, which is not changed.
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


class LopsidedModel(Model, _Columns):  # type: ignore[misc, type-arg, unused-ignore]
    """What `LopsidedClassifier` fits; `model.save` writes it to a file.

    Parameters
    ----------
    model : OnlineClassifier
        One that has learned.
    """

    def __init__(self, model: OnlineClassifier) -> None:
        super().__init__()
        self.model = model
        self._set_defaults()

    def _transform(self, dataset: Any) -> Any:
        value = self.getOrDefault
        return spark.score(
            dataset,
            self.model,
            value(self.featuresCol),
            column=value(self.rawPredictionCol),
            prediction=value(self.predictionCol),
        )
