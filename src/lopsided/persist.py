"""Model files: everything that training needs to resume, in the layout of `_container`.

The description holds the format version, class, parameters, labels, options and the scalars of the
state; the arrays are those of the state, and the names of features.
"""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._atomic import write_atomically
from ._container import from_file, to_file
from .algorithms._classes import Learned
from .algorithms.budget import Budget
from .algorithms.one_vs_rest import OneVsRest
from .catalog import class_named
from .errors import DivergedError, InputTypeError, ModelFileError
from .estimator import state as entry
from .estimator.base import OnlineClassifier
from .estimator.labels import Labels
from .estimator.locking import lock_of
from .estimator.schema import Schema

FORMAT = 2  # 2: with the calibration of scores
_RENAMED = {"Recommended": "WeightedMajority"}  # learners of format 1 that have another name now
_SCALARS = (bool, int, float, str, type(None))
_NO_DAY_YET = -(2.0**53)  # the first day of a budget, in format 1
_NO_CALIBRATION: dict[str, Any] = {
    **dict.fromkeys((entry.CALIBRATION_LABELS, entry.CALIBRATION_CHECKPOINT), 0),
    **{entry.CALIBRATION_UNIT: 1.0, entry.CALIBRATION_MASS: 0.0},
    **dict.fromkeys((entry.CALIBRATION_NOW, entry.CALIBRATION_BEFORE), np.zeros(0)),
}


def save(
    model: OnlineClassifier | OneVsRest,
    path: str | os.PathLike[str],
    run: dict[str, Any] | None = None,
) -> None:
    """Write a model to a file. The file is the old one or the new one, never half of either.

    `run` is the state of the run the model is in, kept with it.
    """
    write_atomically(path, to_bytes(model, run, sound=True))


def load(
    path: str | os.PathLike[str], kind: type[OnlineClassifier | OneVsRest] | None = None
) -> Any:
    """Read a model from a file.

    Parameters
    ----------
    path : path
        A file written by save.
    kind : class, optional
        Raise unless the model is of this class.

    Returns
    -------
    OnlineClassifier or OneVsRest
        The model as it was saved; resuming from it gives the same bits as never having stopped.
    """
    model, _ = _read(path)
    if kind is not None and not isinstance(model, kind):
        raise ModelFileError(
            f"holds a {type(model).__name__}, not a {kind.__name__}", os.fspath(path)
        )
    return model


def load_run(path: str | os.PathLike[str]) -> tuple[OnlineClassifier, Any]:
    """Read a model of two classes and the state of the run it was in, None if it was in none."""
    model, run = _read(path)
    if isinstance(model, OneVsRest):
        raise ModelFileError(
            "holds a OneVsRest, and this is for two classes: use lopsided.load in Python",
            os.fspath(path),
        )
    return model, run


def _read(path: str | os.PathLike[str]) -> tuple[Any, Any]:
    try:
        with open(path, "rb") as file:
            start = file.read(9)
            # What does not start like a model may be a device without an end.
            return _from_bytes(start + file.read() if start[8:] == b"{" else start)
    except ModelFileError as error:
        raise ModelFileError(error.what, os.fspath(path)) from None


def to_bytes(
    model: OnlineClassifier | OneVsRest, run: dict[str, Any] | None = None, *, sound: bool = False
) -> bytes:
    """Return the file of a model that has learned; with `sound` only if it can be loaded again."""
    _check_class(model)
    if isinstance(model, OneVsRest):
        return _of_classes(model, sound)
    with lock_of(model):  # no label is added in between
        fitted = model.fitted
        labels, parameters = fitted.labels, model.get_params(deep=False)
        features, state, names = fitted.core.snapshot()
    arrays = {k: v for k, v in state.items() if isinstance(v, np.ndarray)}
    for name, values in arrays.items():
        if sound and not np.isfinite(values).all():
            raise DivergedError(
                f"the model is beyond use and is not saved: its {name} is not finite. "
                "Learn anew with scaled features or a smaller step"
            )
    if names:
        texts = [name.encode("utf-8", "surrogatepass") for name in names]
        arrays["names.text"] = np.frombuffer(b"".join(texts), dtype=np.uint8)
        arrays["names.ends"] = np.cumsum([len(t) for t in texts], dtype=np.uint64)
    about = {
        "format": FORMAT,
        "class": type(model).__name__,
        "parameters": _pack(parameters),
        "labels": _pack([labels.positive, labels.negative, labels.by_custom, labels.dtype]),
        "made_with": _pack({"parameters": fitted.parameters, "scaling": fitted.scaling}),
        "features": features,
        "state": {k: _pack(v) for k, v in state.items() if k not in arrays},
        "run": _pack(run),
    }
    if model.schema_ is not None:
        about["schema"] = _pack(model.schema_.record())
    if model.changes_:
        about["changes"] = _pack(model.changes_)
    if not type(model).__module__.startswith("lopsided."):  # for the message when it is not there
        about["module"] = type(model).__module__
    return to_file(about, arrays)


def _of_classes(model: OneVsRest, sound: bool) -> bytes:
    """Return the file of a model of several classes: the files of its models are its arrays."""
    with lock_of(model):
        learned = model.fitted
        parts = {"rest": learned.rest}
        parts |= {
            str(k): learned.models[c] for k, c in enumerate(learned.labels) if c in learned.models
        }
        files = {name: to_bytes(part, sound=sound) for name, part in parts.items()}
    about = {
        "format": FORMAT,
        "class": type(model).__name__,
        "parameters": _pack(model.get_params(deep=False)),
        "labels": _pack([list(learned.labels), learned.dtype]),
    }
    return to_file(about, {name: np.frombuffer(file, np.uint8) for name, file in files.items()})


def _with_classes(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> OneVsRest:
    labels, dtype = _unpack(about["labels"])
    np.dtype(dtype)
    parts = {name: from_bytes(array.tobytes()) for name, array in arrays.items()}
    rest = parts.pop("rest")
    models = {labels[int(name)]: part for name, part in parts.items()}
    return OneVsRest.restored(
        _unpack(about["parameters"]), Learned(tuple(labels), dtype, rest, models)
    )


def from_bytes(data: bytes) -> Any:
    """Return the model of a file's bytes."""
    return _from_bytes(data)[0]


def _from_bytes(data: bytes) -> tuple[Any, Any]:
    about, arrays = from_file(data, FORMAT)
    try:
        if about["class"] == OneVsRest.__name__:
            return _with_classes(about, arrays), None
        if about["format"] == 1:
            about = _with_new_names(about)
        cls = class_named(about["class"])
        if cls is None:
            raise _unregistered(about["class"], about.get("module"))
        names = _names(arrays)
        state = {**{k: _unpack(v) for k, v in about["state"].items()}, **arrays}
        if about["format"] == 1:
            state = _of_format_1(state)
        positive, negative, by_custom, dtype = _unpack(about["labels"])
        labels = Labels(positive, negative, by_custom, dtype)
        np.dtype(dtype)
        if labels.positive is not None and labels.positive == labels.negative:
            raise ValueError("it has one label for both classes")
        _check_sizes(about["features"], arrays, names)
        parameters, built = about["parameters"], about["made_with"]
        model = cls.restored(
            _unpack(parameters),
            _unpack(built),
            labels,
            (about["features"], state, names),
            current=parameters == built["dict"][0][1],  # else set after the model last learned
        )
        run = _unpack(about["run"])
        if "schema" in about:
            model.schema_ = Schema.of(_unpack(about["schema"]))
        if "changes" in about:
            model.changes_ = tuple(map(_change, _unpack(about["changes"])))
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RuntimeError) as error:
        first = str(error).partition("\n")[0]
        raise ModelFileError(f"its contents do not fit together ({first})") from None
    return model, run


def _change(found: Any) -> tuple[int, str, float, float]:
    event, what, before, after = found
    return int(event), str(what), float(before), float(after)


def _of_format_1(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state of format 1 with what it lacks."""
    if entry.BUDGET_FIRST in state:
        begun = state[entry.BUDGET_EVENTS] > 0 and state[entry.BUDGET_FIRST] != _NO_DAY_YET
        state = {entry.BUDGET_BEGUN: int(begun), **state}
    return _NO_CALIBRATION | state


def _with_new_names(about: dict[str, Any]) -> dict[str, Any]:
    """Return what a file of format 1 says, with the names that its learners have now."""

    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            if len(value) == 2 and value[0] == "learner" and str(value[1]) in _RENAMED:
                return ["learner", _RENAMED[value[1]]]
            return [renamed(v) for v in value]
        if isinstance(value, dict):
            if "learner" in value:
                name, parameters = value["learner"]
                return {"learner": [_RENAMED.get(name, name), renamed(parameters)]}
            return {k: renamed(v) for k, v in value.items()}
        return value

    return {
        **about,
        "class": _RENAMED.get(about["class"], about["class"]),
        "parameters": renamed(about["parameters"]),
        "made_with": renamed(about["made_with"]),
    }


def _check_class(model: OnlineClassifier | OneVsRest) -> None:
    name = type(model).__name__
    if isinstance(model, OneVsRest):
        if type(model) is not OneVsRest:
            raise InputTypeError(f"{name} cannot be saved: only OneVsRest itself can")
    elif class_named(name) is not type(model):
        raise InputTypeError(
            f"{name} cannot be saved until it is registered: lopsided.register({name})"
        )


def _unregistered(name: Any, module: Any = None) -> ModelFileError:
    """Return what is wrong with a file of an unknown class: a file never causes an import."""
    where = f" of the module {module!r}" if module else ""
    remedy = f"import {module}" if module else "import the module that defines it"
    return ModelFileError(
        f"it holds a {name!r}{where}, which is not registered here: {remedy}, and if that does not "
        f"register it, call lopsided.register({name})"
    )


def _check_sizes(features: Any, arrays: dict[str, NDArray[Any]], names: list[str]) -> None:
    """Check how many features there are before room is made for them."""
    if type(features) is not int or not 0 <= features < 2**31 - 1:
        raise ValueError(f"{features!r} features")
    if names and len(names) != features:
        raise ValueError(f"{len(names)} names for {features} features")
    others = ("pending.", "kept.", "calibration.")
    of_features = {n: a for n, a in arrays.items() if not n.startswith(others)}
    backed = not of_features and len(arrays) > 0  # rows that are kept: the core checks them
    for name, array in of_features.items():
        table = array.dtype == np.uint32 and array.ndim == 1  # features that have numbers
        if not (table or array.dtype.kind == "f") or len(array) > features + 1:
            raise ValueError(f"{name} is of {array.dtype} and shape {array.shape}")
        backed = backed or table or len(array) >= features
    if features and not backed:
        raise ValueError(f"{features} features, but no array of that size")


def _names(arrays: dict[str, NDArray[Any]]) -> list[str]:
    if "names.ends" not in arrays:
        return []
    text = arrays.pop("names.text").tobytes()
    ends = arrays.pop("names.ends").tolist()
    return [
        text[first:last].decode("utf-8", "surrogatepass")
        for first, last in zip([0, *ends], ends, strict=False)
    ]


def parameters_to_text(model: OnlineClassifier) -> str:
    """Return the class and the parameters of a model as JSON, without what it has learned."""
    return json.dumps(_pack(model))


def from_parameters(text: str) -> OnlineClassifier:
    """Return a model that has learned nothing, from what `parameters_to_text` returned."""
    found: OnlineClassifier = _unpack(json.loads(text))
    return found


def _pack(value: Any) -> Any:
    """Return JSON for plain values; floats keep all their bits, dict keys their types."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, Budget):
        return {"budget": _pack(dataclasses.asdict(value))}
    if isinstance(value, OnlineClassifier):
        _check_class(value)
        return {"learner": [type(value).__name__, _pack(value.get_params(deep=False))]}
    if isinstance(value, dict):
        return {"dict": [[_pack(k), _pack(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return [_pack(v) for v in value]
    if isinstance(value, _SCALARS):
        return value
    raise InputTypeError(f"{value!r} cannot be saved: labels and parameters must be plain values")


def _unpack(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpack(v) for v in value]
    if isinstance(value, dict):
        if "float" in value:
            return float.fromhex(value["float"])
        if "bytes" in value:
            return bytes.fromhex(value["bytes"])
        if "budget" in value:
            return Budget(**_unpack(value["budget"]))
        if "learner" in value:
            name, parameters = value["learner"]
            cls = class_named(name)
            if cls is None:
                raise _unregistered(name)
            return cls(**_unpack(parameters))
        return {_unpack(k): _unpack(v) for k, v in value["dict"]}
    return value
