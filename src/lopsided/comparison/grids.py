"""Learners and the settings of each that a comparison tries."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..catalog import find
from ..errors import InputError, InputTypeError
from ..estimator.base import OnlineClassifier
from ..estimator.parameters import nearest
from .sklearn_models import Outside, as_contender

Model = OnlineClassifier | Outside


@dataclasses.dataclass(frozen=True)
class Learner:
    """A named estimator and the points of its grid: parameters to set over its own."""

    name: str
    model: Model
    points: tuple[dict[str, Any], ...]
    grid: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)

    def make(self, point: int, run: int = 0) -> Model:
        """Return a fresh estimator at a point of the grid, with `run` added to its seed."""
        if isinstance(self.model, Outside):
            fresh = self.model.fresh(run)
            fresh.set_params(**self.points[point])
            return fresh
        model = type(self.model)(**self.model.get_params(deep=False))
        model.set_params(**self.points[point])
        return _reseeded(model, run) if run else model

    def around(self, best: int | None, stride: int) -> set[int]:
        """Return points a stride apart: all over the grid, or those next to a point.

        Short or unordered lists of values are not thinned out.
        """
        axes = []
        sizes = [len(values) for values in self.grid.values()]
        here = None if best is None else np.unravel_index(best, sizes)
        for k, values in enumerate(self.grid.values()):
            every, n = range(len(values)), len(values)
            if not _is_scale(values):
                axes.append(every)
            elif here is None:
                axes.append(range((n - 1) % stride // 2, n, stride))
            else:
                at = int(here[k])
                axes.append(range(max(at % stride, at - stride), min(n, at + stride + 1), stride))
        return {int(np.ravel_multi_index(at, sizes)) for at in itertools.product(*axes)}


def _reseeded(model: OnlineClassifier, run: int) -> OnlineClassifier:
    if "seed" not in model.get_params(deep=False):
        return model
    parameters = model.get_params(deep=False)
    other = type(model)(**{**parameters, "seed": (parameters["seed"] + run) % 2**32})
    try:
        other.check_params()
    except ValueError:  # a seed that has no effect
        return model
    return other


def _is_scale(values: Sequence[Any]) -> bool:
    numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    return len(values) > 4 and numbers and list(values) == sorted(values)


def learners_of(
    learners: Any, grid: Any, *, positive: Any = None, refit_every: int | None = None
) -> list[Learner]:
    """Return the learners with their grids, each point of which is valid.

    Parameters
    ----------
    learners, grid, positive, refit_every
        As for `compare`.
    """
    paper = isinstance(grid, str) and grid == "paper"
    named = _named(learners, paper, refit_every)
    if positive is not None:
        named = {name: (_with(model, positive), own) for name, (model, own) in named.items()}
    grids = _grids(named, None if paper else grid)
    found = []
    for name, (model, own) in named.items():
        chosen = grids.get(name, own)
        learner = Learner(name, model, tuple(_points(name, model, chosen)), chosen)
        for point in range(len(learner.points)):
            made = learner.make(point)
            if isinstance(made, OnlineClassifier):
                made.check_params()
        found.append(learner)
    ours = [learner.model for learner in found if isinstance(learner.model, OnlineClassifier)]
    positives = {repr(model.positive) for model in ours}
    if len(positives) > 1:
        raise InputError(f"learners have different positive labels: {', '.join(sorted(positives))}")
    return found


def _with(model: Model, positive: Any) -> Model:
    """Return a learner with this positive label."""
    if isinstance(model, Outside) or model.positive == positive:
        return model
    if model.positive is not None:
        raise InputError(f"{model!r} has another positive label than {positive!r}: give one")
    return type(model)(**model.get_params(deep=False)).set_params(positive=positive)


def _named(
    learners: Any, paper: bool, refit_every: int | None
) -> dict[str, tuple[Model, Mapping[str, Any]]]:
    if isinstance(learners, str) or hasattr(learners, "fit") or hasattr(learners, "learn_one"):
        learners = [learners]
    if isinstance(learners, Mapping):
        pairs: Iterable[tuple[Any, Any]] = learners.items()
    elif isinstance(learners, Iterable):
        pairs = ((None, learner) for learner in learners)
    else:
        raise InputTypeError(f"learners must be names or estimators, not {learners!r}")
    found: dict[str, tuple[Model, Mapping[str, Any]]] = {}
    for name, learner in pairs:
        if isinstance(learner, str):
            entry = find(learner)
            name = entry.name if name is None else str(name)
            tried = entry.paper_grid if paper else entry.grid
            made: tuple[Model, Mapping[str, Any]] = entry.make(), tried
        elif isinstance(learner, OnlineClassifier):
            if learner.__sklearn_is_fitted__():
                raise InputError(f"{learner!r} has learned already: give an estimator that has not")
            name = repr(learner) if name is None else str(name)
            made = learner, {}
        else:
            made = as_contender(learner, refit_every), {}
            name = repr(learner) if name is None else str(name)
        if name in found:
            raise InputError(f"two learners are called {name!r}: name them with a dict")
        found[name] = made
    if not found:
        raise InputError("there is no learner to compare")
    return found


def _grids(named: Mapping[str, Any], grid: Any) -> dict[str, Mapping[str, Any]]:
    """Return the grid of each learner for which one is given."""
    if grid is None:
        return {}
    if not isinstance(grid, Mapping):
        raise InputTypeError(
            f"grid must be a dict of parameters to values or 'paper', not {grid!r}"
        )
    if grid and all(isinstance(values, Mapping) for values in grid.values()):
        for name in grid:
            if name not in named:
                raise InputError(f"grid: no learner is called {name!r}: {nearest(name, named)}")
        return dict(grid)
    parameters = {name: set(model.parameter_names()) for name, (model, _) in named.items()}
    for parameter in grid:
        if not any(parameter in own for own in parameters.values()):
            known = sorted(set().union(*parameters.values()))
            hint = nearest(str(parameter), known)
            raise InputError(f"grid: no learner has the parameter {parameter!r}: {hint}")
    return {
        name: {p: values for p, values in grid.items() if p in own}
        for name, own in parameters.items()
    }


def _points(name: str, model: Model, grid: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    known = model.parameter_names()
    for parameter, values in grid.items():
        if parameter not in known:
            hint = nearest(str(parameter), known)
            raise InputError(f"grid: {name} has no parameter {parameter!r}: {hint}")
        if isinstance(values, str) or not isinstance(values, (Sequence, np.ndarray)):
            raise InputTypeError(f"grid: {parameter} must have a list of values, not {values!r}")
        if len(values) == 0:
            raise InputError(f"grid: {parameter} has no values")
    columns = [[v.item() if isinstance(v, np.generic) else v for v in grid[p]] for p in grid]
    for combination in itertools.product(*columns):
        yield dict(zip(grid, combination, strict=True))
