"""Models that learned from shards of one stream, merged into one: docs/merge.md."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .errors import InputError, InputTypeError, ParameterError
from .estimator.base import OnlineClassifier
from .estimator.fitted import Fitted
from .estimator.labels import Labels
from .estimator.parameters import same
from .estimator.schema import Schema

M = TypeVar("M", bound=OnlineClassifier)


def merge(models: Sequence[M], weights: ArrayLike | None = None, base: M | None = None) -> M:
    """Return one model of several that learned from shards of one stream.

    Parameters
    ----------
    models : sequence of models
        Of one class with the same parameters, in the order of their shards: another order gives
        the same model up to rounding.
    weights : array, optional
        How much a row of each model's shard counts. Default: all rows count alike.
    base : model, optional
        The model that all of them started from, as `split` returned it. Default: each has started
        from nothing.

    Returns
    -------
    model
        A new one, of the same class. Of a single model it has the bits.

    Examples
    --------
    >>> import numpy as np
    >>> import lopsided
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> y = (X[:, 0] > 1).astype(int)
    >>> shards = [lopsided.AROW().fit(X[k::4], y[k::4]) for k in range(4)]
    >>> model = lopsided.merge(shards)
    >>> for _ in range(2):  # rounds of mixing
    ...     parts = lopsided.split(model, 4)
    ...     for k, part in enumerate(parts):
    ...         _ = part.partial_fit(X[k::4], y[k::4])
    ...     model = lopsided.merge(parts, base=model)
    """
    models = list(models)
    everything = [*models] if base is None else [base, *models]
    if not models:
        raise InputError("there is no model to merge")
    first = everything[0]
    for model in everything:
        _check_mergeable(first, model)
    wanted = _weights(weights, len(models))
    if len(models) == 1:
        return models[0].copied()
    labels = _labels(everything)
    out = first.restarted(labels)
    start = out.restarted(labels) if base is None else base
    names, places = _names([m.fitted for m in everything])
    try:
        out.fitted.core.merge(
            start.fitted.core,
            [m.fitted.core for m in models],
            wanted,
            places[-len(models) :],
            names,
        )
    except ValueError as error:
        raise InputError(f"{type(first).__name__}: the models cannot be merged: {error}") from None
    out.schema_ = _schema(
        [model.schema_ for model in models], None if base is None else base.schema_
    )
    return out


def split(model: M, shards: int) -> list[M]:
    """Return models with which shards continue one model, to be merged with it as the base.

    Their precisions hold a share of what the model has learned, so that they sum to that of all
    rows. Everything else is as in the model.

    Parameters
    ----------
    model : model
        One that has learned.
    shards : int
        How many models there will be.
    """
    if shards < 1:
        raise ParameterError("shards", "must be at least 1", value=shards)
    _check_mergeable(model, model)
    if shards == 1:
        return [model.copied()]
    out = []
    for _ in range(shards):
        part = model.restarted(model.labels)
        try:
            part.fitted.core.split(model.fitted.core, float(shards))
        except ValueError as error:
            raise InputError(f"{type(model).__name__} cannot be split: {error}") from None
        part.schema_ = model.schema_
        out.append(part)
    return out


def _schema(found: Sequence[Schema | None], base: Schema | None) -> Schema | None:
    """Return how the tables of merged models are read: with the columns and cells of all."""
    known = [schema for schema in found if schema is not None]
    if not known:
        return base
    columns: dict[str, Any] = {
        name: tuple(dict.fromkeys(column for one in known for column in getattr(one, name)))
        for name in ("numbers", "flags", "categories", "optional")
    }
    means = {}
    for column in dict.fromkeys(column for one in known for column in one.means):
        begun = (base.means if base else {}).get(column, (0.0, 0))
        parts = [one.means.get(column, begun) for one in known]
        total = begun[0] + sum(part[0] - begun[0] for part in parts)
        means[column] = (total, begun[1] + sum(part[1] - begun[1] for part in parts))
    return dataclasses.replace(known[0], **columns, means=means)


def _check_mergeable(first: OnlineClassifier, other: OnlineClassifier) -> None:
    """Raise unless two models have learned in the same way."""
    if not isinstance(other, OnlineClassifier):
        raise InputTypeError(f"{other!r} is no model of this package")
    name = type(first).__name__
    if hasattr(other, "ask"):
        raise InputError(
            f"{type(other).__name__}: a model that asks cannot be merged: its budget and the "
            "events that wait for labels belong to one stream. Merge the learners inside"
        )
    if type(other) is not type(first):
        raise InputError(f"{name} and {type(other).__name__} cannot be merged: use one learner")
    mine, others = first.fitted, other.fitted
    for key, value in mine.parameters.items():
        if not same(value, others.parameters[key]):
            raise InputError(
                f"{name}: models with {key}={value!r} and {key}={others.parameters[key]!r} "
                "cannot be merged"
            )
    if mine.scaling != others.scaling:
        raise InputError(
            f"{name}: models of dense and of sparse rows cannot be merged under scaling='auto': "
            "give the scaling"
        )


def _weights(weights: ArrayLike | None, size: int) -> list[float]:
    if weights is None:
        return [1.0] * size
    found = np.asarray(weights, dtype=float)
    if found.shape != (size,) or not np.isfinite(found).all() or (found < 0).any():
        raise ParameterError("weights", f"must be {size} numbers of at least 0", value=weights)
    if not found.any():
        raise ParameterError("weights", "must not all be 0", value=weights)
    return [float(w) for w in found]


def _labels(models: Sequence[OnlineClassifier]) -> Labels:
    """Return the labels that all models know together."""
    best = max((m.labels for m in models), key=lambda labels: len(labels.codes))
    positive, negative = best.positive, best.negative
    for model in models:
        own = model.labels
        positive = own.positive if positive is None else positive
        negative = own.negative if negative is None else negative
        for known, mine in ((own.positive, positive), (own.negative, negative)):
            if known is not None and known != mine:
                raise InputError(
                    f"the models learned different labels, {mine!r} and {known!r}: give `positive`"
                )
    if (positive, negative) == (best.positive, best.negative):
        return best
    return Labels(positive, negative, best.by_custom, best.dtype)


def _names(all_fitted: Sequence[Fitted]) -> tuple[list[str], list[list[int]]]:
    """Return the names of all features, and where those of each model are among them."""
    lists: list[Any] = [fitted.core.names for fitted in all_fitted]
    longest = max(lists, key=len)
    if all(names == longest[: len(names)] for names in lists):
        return longest, [[] for _ in lists]
    if any(not n and f.core.features for n, f in zip(lists, all_fitted, strict=True)):
        raise InputError("models of rows with and without names cannot be merged")
    union = list(dict.fromkeys(name for names in lists for name in names))
    at = {name: k for k, name in enumerate(union)}
    places = []
    for names in lists:
        own = [at[name] for name in names]
        taken = set(own)
        places.append(own + [k for k in range(len(union)) if k not in taken])
    return union, places
