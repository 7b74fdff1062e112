"""An estimator around another one: its parameters are parameters, what it learned is in it."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..catalog import Entry, find
from ..errors import ParameterError
from ..estimator.base import OnlineClassifier
from ..estimator.fitted import Fitted
from ..estimator.labels import Labels
from ..estimator.parameters import estimator, parameter
from ..estimator.sklearn_compat import not_fitted
from .has_learner import HasLearner

if TYPE_CHECKING:
    from typing_extensions import Self


def _of_learner(name: str) -> Any:
    """Return a property that reads and sets a parameter of the learner."""

    def read(self: Wrapper) -> Any:
        return getattr(self._inner(), name)

    def write(self: Wrapper, value: Any) -> None:
        self.set_params(**{name: value})

    return property(read, write)


@estimator
class Wrapper(HasLearner, OnlineClassifier):
    """Has one core with its learner, and the parameters of both.

    The parameters of the learner can be read and set as `learner__name` or, where the name is not
    one of the wrapper's own, as `name`.

    Parameters
    ----------
    learner : estimator or str
        What learns. One that has learned is continued from, and stays unchanged; `fit` starts
        over. A name is one of `lopsided.learners()`.
    """

    learner: Any = parameter("Recommended", "an estimator or a name", kw_only=False)

    # These are parameters of the learner.
    scaling: ClassVar[Any] = _of_learner("scaling")  # type: ignore[misc]
    positive: ClassVar[Any] = _of_learner("positive")  # type: ignore[misc]
    hash_bits: ClassVar[Any] = _of_learner("hash_bits")  # type: ignore[misc]
    costs: ClassVar[Any] = _of_learner("costs")  # type: ignore[misc]
    capacity: ClassVar[Any] = _of_learner("capacity")  # type: ignore[misc]

    _shares_passes = False
    _always_shown = ("learner",)

    def __post_init__(self) -> None:
        learner = self.learner
        if isinstance(learner, OnlineClassifier) and not isinstance(learner, Wrapper):
            self._adopt(learner)

    def _adopt(self, model: OnlineClassifier) -> None:
        """Continue from what a model has learned, if it has."""
        before = model.refresh()
        if model.schema_ is not None:
            self.schema_ = model.schema_
        if before is not None:
            made = self._make(before.labels, before.scaling)
            features, state, names = before.core.snapshot()
            made.core.restore(features, {**made.core.state(), **state}, names)
            self._keep(made)

    @classmethod
    def made(cls, **params: Any) -> Self:
        """Return an estimator; parameters that are not its own are those of its learner."""
        own = {name: value for name, value in params.items() if name in cls._own_names()}
        rest = {name: value for name, value in params.items() if name not in own}
        return cls(**own).set_params(**rest)

    def named_coef(self) -> dict[str, float]:
        """Return the weights of the learner by the names of their features, the strongest first."""
        view: Any = self._view("named_coef")
        weights: dict[str, float] = view.named_coef()
        return weights

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "fitted":  # a property that raised
            raise not_fitted(type(self).__name__)
        if name.endswith("_"):
            return getattr(self._view(name), name)
        inner = self._inner()
        if name in inner.get_params():
            return getattr(inner, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        own = name.startswith("_") or self._has_attribute(name)
        if own or name.removeprefix("learner__") not in self._inner().get_params():
            super().__setattr__(name, value)
        else:
            self.set_params(**{name: value})

    def parameter_names(self) -> list[str]:
        """Return the names that set_params takes, without prefixes."""
        return [*self._own_names(), *self._inner().get_params()]

    def described(self) -> list[tuple[str, Any, str]]:
        """Return the name, value and range of each parameter, those of the learner too."""
        own = self._own_names()
        return super().described() + [
            (f"learner__{name}" if name in own else name, *rest)
            for name, *rest in self._inner().described()
        ]

    def _inner(self) -> OnlineClassifier:
        """Return the learner, for its parameters."""
        return resolved(self.learner)

    def _view(self, name: str) -> OnlineClassifier:
        """Return the learner with what was learned."""
        self._attribute(name)
        inner = self._inner()
        view = type(inner)(**inner.get_params())
        view._keep(self.fitted)
        return view

    def core_kind(self) -> str:
        """Return the name of the learner in the core."""
        return self._inner().core_kind()

    def _cost_options(self, labels: Labels) -> dict[str, Any]:
        return self._inner()._cost_options(labels)

    def _known_rho(
        self, codes: NDArray[np.int8], weights: NDArray[np.float64] | None
    ) -> float | None:
        return self._inner()._known_rho(codes, weights)

    def _weights_matter(self) -> bool:
        return self._inner()._weights_matter()

    def _constants(self, options: Mapping[str, Any]) -> int:
        return self._inner()._constants(options)

    def _scaling(self, form: str) -> dict[str, bool]:
        return self._inner()._scaling(form)

    def _make(self, labels: Labels, scaling: dict[str, bool]) -> Fitted:
        fitted = super()._make(labels, scaling)
        if isinstance(self.learner, OnlineClassifier):  # the user's own may change
            fitted.parameters["learner"] = type(self.learner)(**self.learner.get_params())
        return fitted

    def _changed_shape(self, now: Mapping[str, Any], then: Mapping[str, Any]) -> list[str]:
        new, old = resolved(now["learner"]), resolved(then["learner"])
        if type(new) is not type(old):
            return ["learner"]
        return new._changed_shape(new.get_params(), old.get_params())


@functools.lru_cache(maxsize=64)
def _made(entry: Entry) -> OnlineClassifier:
    """Return the learner of an entry; it is shared, so it must not be changed."""
    return entry.make()


def resolved(learner: Any) -> OnlineClassifier:
    """Return the estimator that a parameter stands for."""
    if isinstance(learner, str):
        learner = _made(find(learner))
    if not isinstance(learner, OnlineClassifier):
        raise ParameterError(
            "learner", "is invalid: it must be an estimator or a name", value=learner
        )
    if isinstance(learner, Wrapper):
        raise ParameterError(
            "learner", "asks for labels already: give the learner in it", value=learner
        )
    return learner
