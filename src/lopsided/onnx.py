"""Linear models as ONNX graphs: their scaling and their score, for programs without Python.

It needs the package onnx: `pip install "lopsided[onnx]"`.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from . import _core
from ._atomic import write_atomically
from .algorithms.one_vs_rest import OneVsRest
from .errors import InputError, ParameterError
from .estimator import state as entry
from .estimator.base import OnlineClassifier

__all__ = ["export"]

_OPSET, _IR = 17, 8  # of 2022, which every runtime in use reads
_TINY = 1e-300  # below this some runtimes take a root for 0
_TYPES = {"float64": onnx.TensorProto.DOUBLE, "float32": onnx.TensorProto.FLOAT}


def export(
    model: OnlineClassifier | OneVsRest,
    path: str | os.PathLike[str] | None = None,
    *,
    dtype: str = "float64",
) -> Any:
    """Return a linear model as an ONNX graph that gives the same scores.

    The graph takes rows "X", with the columns that the model knows in the order of
    `feature_names_in_`, and gives their "score". Where the sign of the score decides and labels are
    integers or texts it gives the "label", too. A row is scaled by what the model has met so far,
    as if it came next.

    Parameters
    ----------
    model : estimator
        A linear learner that has learned, `Active` around one, or `OneVsRest`, whose scores have a
        column for each class.
    path : path, optional
        A file to write.
    dtype : {"float64", "float32"}
        The type of X. The graph computes in float64.

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> import lopsided, lopsided.onnx
    >>> model = lopsided.AROW().fit([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]], [1, 0, 1])
    >>> graph = lopsided.onnx.export(model)
    >>> [each.name for each in graph.graph.output]
    ['score', 'label']
    """
    if dtype not in _TYPES:
        raise ParameterError("dtype", "must be 'float64' or 'float32'", value=dtype)
    weights, constants = _weights(model)
    one = model.fitted.rest if isinstance(model, OneVsRest) else model
    graph = _Graph()
    z = graph.node("Cast", "X", to=_TYPES["float64"])
    z = _scaled(graph, z, one)
    total = graph.node("MatMul", z, graph.number(weights))
    if one.fitted.scaling["unit"]:
        total = graph.node("Mul", total, _stretch(graph, z))
    score = graph.node("Add", total, graph.number(constants))
    outputs = [helper.make_tensor_value_info("score", _TYPES["float64"], ["rows", len(constants)])]
    if isinstance(model, OneVsRest):
        graph.node("Identity", score, name="score")
    else:
        graph.node("Reshape", score, graph.number(np.array([-1])), name="score")
        outputs[0] = helper.make_tensor_value_info("score", _TYPES["float64"], ["rows"])
        outputs += _label(graph, model)
    inputs = [helper.make_tensor_value_info("X", _TYPES[dtype], ["rows", len(weights)])]
    made = helper.make_model(
        helper.make_graph(graph.nodes, type(model).__name__, inputs, outputs, graph.numbers),
        producer_name="lopsided",
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR,
    )
    _describe(made, model, one)
    onnx.checker.check_model(made)
    _check_scores(made, model, len(weights), dtype)
    if path is not None:
        write_atomically(path, made.SerializeToString())
    return made


class _Graph:
    """Nodes and numbers under names that are made up."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.numbers: list[Any] = []

    def node(self, kind: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        name = name or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def number(self, value: Any) -> str:
        name = f"number_{len(self.numbers)}"
        self.numbers.append(numpy_helper.from_array(np.asarray(value), name))
        return name


def _weights(model: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights of the scaled features, a column for each score, and the constants."""
    models: list[Any] = list(model.models_.values()) if isinstance(model, OneVsRest) else [model]
    for one in models:
        one.fitted  # noqa: B018  # one that has learned nothing says so
        if not hasattr(one, "coef_") or one.scaling_ == "own":
            raise _not_linear(one)
    weights = np.stack([one.coef_ for one in models], axis=1)
    return weights, np.array([float(one.intercept_) for one in models])


def _scaled(graph: _Graph, x: str, model: OnlineClassifier) -> str:
    """Return the standard scores of rows, each as if it came next."""
    scaling = model.fitted.scaling
    if not scaling["standard"]:
        return x
    state = model.fitted.core.state()
    share = graph.number(1 / (float(state[entry.SCALING_ROWS]) + 1))
    spread = graph.number(np.asarray(state[entry.SCALING_SPREAD]))
    above, gap = x, x
    if scaling["centred"]:
        mean = graph.number(np.asarray(state[entry.SCALING_MEAN]))
        gap = graph.node("Sub", x, mean)
        above = graph.node("Sub", x, graph.node("Add", mean, graph.node("Mul", gap, share)))
    wide = graph.node("Add", spread, graph.node("Mul", gap, above))
    return graph.node("Div", above, _root(graph, graph.node("Mul", wide, share)))


def _stretch(graph: _Graph, z: str) -> str:
    """Return what makes each row as long as 1; rows of zeros stay."""
    square = graph.node(
        "ReduceSum", graph.node("Mul", z, z), graph.number(np.array([1])), keepdims=1
    )
    return graph.node("Div", graph.number(1.0), _root(graph, square))


def _root(graph: _Graph, square: str) -> str:
    """Return roots, and 1 where there is nothing to divide: a constant column, a row of zeros."""
    some = graph.node("Greater", square, graph.number(_TINY))
    return graph.node("Sqrt", graph.node("Where", some, square, graph.number(1.0)))


def _label(graph: _Graph, model: OnlineClassifier) -> list[Any]:
    """Return the output for labels, if the sign of the score decides and ONNX has their type."""
    labels = model.labels
    pair = [labels.negative, labels.positive]
    texts = all(isinstance(label, str) for label in pair)
    whole = all(isinstance(label, int) and abs(label) < 2**63 for label in pair)
    if not (texts or whole) or not model.fitted.by_sign or model.costs is not None:
        return []
    kind = onnx.TensorProto.STRING if texts else onnx.TensorProto.INT64
    both = np.array(pair, dtype=object if texts else np.int64)
    alarm = graph.node("GreaterOrEqual", "score", graph.number(0.0))
    place = graph.node("Cast", alarm, to=onnx.TensorProto.INT64)
    graph.node("Gather", graph.number(both), place, name="label")
    return [helper.make_tensor_value_info("label", kind, ["rows"])]


def _check_scores(made: Any, model: Any, columns: int, dtype: str) -> None:
    """Raise unless the graph gives the model's scores of a few rows: ensembles have coef_, too."""
    rows = np.random.default_rng(0).normal(size=(3, columns)).astype(dtype)
    (found,) = ReferenceEvaluator(made).run(["score"], {"X": rows})
    models = list(model.models_.values()) if isinstance(model, OneVsRest) else [model]
    given = _core.Rows.dense(rows.astype(np.float64))
    wanted = np.stack([one.fitted.core.score(given) for one in models], axis=1)
    if not np.allclose(found.reshape(wanted.shape), wanted, rtol=1e-9, atol=1e-9):
        raise _not_linear(models[0])


def _not_linear(model: OnlineClassifier) -> InputError:
    return InputError(
        f"{type(model).__name__} cannot be exported: its score is no weighted sum of features. "
        "Learners such as AROW, COG and SSOL can"
    )


def _describe(made: Any, model: Any, one: OnlineClassifier) -> None:
    about: dict[str, Any] = {"model": repr(model), "classes": list(map(str, model.classes_))}
    names = one.fitted.core.names
    if names:
        about["features"] = list(names)
    for key, value in about.items():
        made.metadata_props.add(key=key, value=value if key == "model" else json.dumps(value))
