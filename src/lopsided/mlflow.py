"""Models and runs in MLflow: save, load, log and serve.

It needs MLflow: `pip install "lopsided[mlflow]"`. The file of a model is that of `save`, which
holds no code.
"""

from __future__ import annotations

import importlib.metadata
import math
import os
import platform
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlflow
import mlflow.artifacts
import mlflow.models
from mlflow.entities import Metric

from .algorithms.one_vs_rest import OneVsRest
from .errors import InputError, ParameterError
from .estimator.base import OnlineClassifier
from .evaluation.progress import Progress
from .metrics import Counts
from .persist import load, save

__all__ = ["load_model", "log_model", "log_run", "save_model"]

FLAVOR_NAME = "lopsided"
_FILE = "model.lop"
_METHODS = ("predict", "predict_proba", "score_many")
_MOST = 1000  # metrics of a request


def save_model(
    model: OnlineClassifier | OneVsRest,
    path: str | os.PathLike[str],
    mlflow_model: Any = None,
    signature: Any = None,
    input_example: Any = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Write a model as a folder of MLflow.

    Parameters
    ----------
    model : estimator
        One that has learned.
    path : path
        A folder that is empty or not there.
    mlflow_model : mlflow.models.Model, optional
        What to add the model to.
    signature : mlflow.models.ModelSignature, optional
        What goes in and comes out. Default: inferred from the example, if there is one.
    input_example : data frame or array, optional
        A few rows, only to infer the signature from.
    metadata : dict, optional
        Kept with the model.
    """
    import mlflow.pyfunc  # late: it is large

    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise InputError(f"{folder} is not empty: name a new folder")
    made = mlflow.models.Model() if mlflow_model is None else mlflow_model
    if signature is None and input_example is not None:
        found = _Scorer(model).predict(input_example)
        signature = mlflow.models.infer_signature(input_example, found)
    if signature is not None:
        made.signature = signature
    if metadata is not None:
        made.metadata = metadata
    save(model, folder / _FILE)
    version = importlib.metadata.version("lopsided")
    made.add_flavor(FLAVOR_NAME, data=_FILE, lopsided_version=version, learner=repr(model))
    mlflow.pyfunc.add_to_model(
        made, loader_module=__name__, data=_FILE, python_env="python_env.yaml"
    )
    (folder / "requirements.txt").write_text(f"lopsided[mlflow]=={version}\n")
    (folder / "python_env.yaml").write_text(
        f"python: {platform.python_version()}\nbuild_dependencies:\n- pip\n"
        "dependencies:\n- -r requirements.txt\n"
    )
    made.save(str(folder / "MLmodel"))


def log_model(
    model: OnlineClassifier | OneVsRest,
    name: str = "model",
    registered_model_name: str | None = None,
    **options: Any,
) -> Any:
    """Log a model to the current run.

    Parameters
    ----------
    model : estimator
        One that has learned.
    name : str
        What the model is called.
    registered_model_name : str, optional
        The model in the registry of which this becomes a new version.
    **options
        Those of `save_model`.

    Returns
    -------
    mlflow.models.model.ModelInfo
    """
    return mlflow.models.Model.log(
        artifact_path=None,
        name=name,
        flavor=sys.modules[__name__],
        registered_model_name=registered_model_name,
        model=model,
        **options,
    )


def load_model(model_uri: str, dst_path: str | None = None) -> Any:
    """Return a model as it was saved; it can continue learning.

    Parameters
    ----------
    model_uri : str
        Where it is: a folder, or an address such as "runs:/RUN/model" or "models:/NAME/1".
    dst_path : str, optional
        An existing folder to download to.
    """
    folder = mlflow.artifacts.download_artifacts(artifact_uri=model_uri, dst_path=dst_path)
    flavors = mlflow.models.Model.load(folder).flavors
    if FLAVOR_NAME not in flavors:
        raise InputError(f"{model_uri} holds no model of lopsided but {', '.join(flavors)}")
    return load(Path(folder) / flavors[FLAVOR_NAME]["data"])


def log_run(
    progress: Progress, model: OnlineClassifier | None = None, run_id: str | None = None
) -> None:
    """Log what a progressive pass came to, and its curve: a step is an event.

    Parameters
    ----------
    progress : Progress
        What `lopsided.progressive` returned.
    model : estimator, optional
        Its parameters are logged, too.
    run_id : str, optional
        The run. Default: the current one, or a new one.
    """
    client = mlflow.MlflowClient()
    if run_id is None:
        run_id = (mlflow.active_run() or mlflow.start_run()).info.run_id
    if model is not None:
        for name, value in model.get_params(deep=False).items():
            client.log_param(run_id, name, value)
    now = int(time.time() * 1000)
    points = [
        Metric(name, value, now, step)
        for step, name, value in _measures(progress)
        if math.isfinite(value)
    ]
    for first in range(0, len(points), _MOST):
        client.log_batch(run_id, metrics=points[first : first + _MOST])


def _measures(progress: Progress) -> Iterator[tuple[int, str, float]]:
    """Yield what there is to log: step, name and value."""
    for point, auc in zip(progress.curve, progress.auc_curve, strict=True):
        yield point.events, "auc", auc
        yield from _counted(point, progress.prices is not None)
    if not progress.curve or progress.curve[-1].events != progress.events:
        yield progress.events, "auc", progress._auc
        yield from _counted(progress, progress.prices is not None)
    yield progress.events, "seconds", progress.seconds
    if progress.positives and progress.negatives:
        yield progress.events, "average_precision", progress.average_precision
    if progress.chances is not None:
        yield progress.events, "log_loss", progress.log_loss
        yield progress.events, "calibration_error", progress.calibration_error


def _counted(counts: Counts, paid: bool) -> Iterator[tuple[int, str, float]]:
    found = {
        "sensitivity": counts.sensitivity,
        "specificity": counts.specificity,
        "balanced_accuracy": counts.sum(unseen=math.nan),
        "precision": counts.precision,
        "positives": counts.positives,
        "false_negatives": counts.false_negatives,
        "false_positives": counts.false_positives,
        "labels": float(counts.queries),
        **({"money": counts.money} if paid else {}),
    }
    for name, value in found.items():
        yield counts.events, name, value


class _Scorer:
    """A model as MLflow serves it."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def get_raw_model(self) -> Any:
        """Return the model itself."""
        return self.model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Return the labels of rows, or what `params["method"]` returns."""
        method = (params or {}).get("method", "predict")
        if method not in _METHODS:
            raise ParameterError("method", f"must be one of {', '.join(_METHODS)}", value=method)
        return getattr(self.model, method)(self._rows(model_input))

    def _rows(self, given: Any) -> Any:
        """Return a frame as events, unless its columns are those that the model learned from."""
        if not hasattr(given, "to_dict"):
            return given
        known = getattr(self.model, "feature_names_in_", None)
        if known is None:
            return given.to_numpy()
        if list(given.columns) == known.tolist():
            return given
        return given.to_dict("records")


def _load_pyfunc(path: str) -> _Scorer:
    return _Scorer(load(path))
