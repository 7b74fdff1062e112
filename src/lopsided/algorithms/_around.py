"""An estimator around another: the parameters of both in one place."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..estimator.base import OnlineClassifier
from ..estimator.labels import Labels
from ..estimator.parameters import nearest, same

if TYPE_CHECKING:
    from typing_extensions import Self


class Around(OnlineClassifier):
    """An estimator that hands its rows to another one, its learner.

    The parameters of the learner can be read and set as `learner__name` or, where the name is not
    one of its own, as `name`.
    """

    learner: Any
    # The names of the own parameters, and what each must be.
    _own: ClassVar[Mapping[str, str]]

    @classmethod
    def _own_names(cls) -> list[str]:
        return list(cls._own)

    @classmethod
    def made(cls, **params: Any) -> Self:
        """Return an estimator; parameters that are not its own are those of its learner."""
        own = {name: value for name, value in params.items() if name in cls._own}
        rest = {name: value for name, value in params.items() if name not in cls._own}
        return cls(**own).set_params(**rest)

    def named_coef(self) -> dict[str, float]:
        """Return the weights of the learner by the names of their features, the strongest first."""
        view: Any = self._view("named_coef")
        weights: dict[str, float] = view.named_coef()
        return weights

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name.endswith("_"):
            return getattr(self._view(name), name)
        inner = self._inner()
        if name in inner.get_params():
            return getattr(inner, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or name in self._own:
            super().__setattr__(name, value)
        else:
            self.set_params(**{name: value})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, those of the learner as learner__name."""
        own = {name: getattr(self, name) for name in self._own}
        try:
            inner = self._inner().get_params() if deep else {}
        except ValueError:  # not a learner: it is refused when there is something to learn
            inner = {}
        return own | {f"learner__{name}": value for name, value in inner.items()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name; the learner is replaced, not changed."""
        own = {name: value for name, value in params.items() if name in self._own}
        rest = {k.removeprefix("learner__"): v for k, v in params.items() if k not in self._own}
        for name, value in own.items():
            setattr(self, name, value)
        if rest:
            inner = self._inner()
            known = inner.get_params()
            for name in rest:
                if name not in known:
                    hint = nearest(name, [*self._own, *known])
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}: {hint}")
            self.learner = type(inner)(**{**known, **rest})
        return self

    def parameter_names(self) -> list[str]:
        """Return the names that set_params takes, without prefixes."""
        return [*self._own, *self._inner().get_params()]

    def described(self) -> list[tuple[str, Any, str]]:
        """Return the name, value and range of each parameter, those of the learner too."""
        own = [(name, getattr(self, name), wanted) for name, wanted in self._own.items()]
        return own + [
            (f"learner__{name}" if name in self._own else name, *rest)
            for name, *rest in self._inner().described()
        ]

    def __repr__(self) -> str:
        usual: Mapping[str, Any] = type(self).__init__.__kwdefaults__ or {}
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if name == "learner" or not same(value, usual[name])
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def _inner(self) -> OnlineClassifier:
        """Return the learner, for its parameters."""
        return resolved(self.learner)

    def _view(self, name: str) -> OnlineClassifier:
        """Return the learner with what was learned."""
        model = self._attribute(name)
        inner = self._inner()
        view = type(inner)(**inner.get_params())
        view._keep(model, self._labels, self._made_with)
        return view

    def _invalid(self, name: str) -> ValueError:
        value = getattr(self, name)
        return ValueError(f"{name}={value!r} is invalid: it must be {self._own[name]}")

    def _kind(self) -> str:
        return self._inner()._kind()

    def _cost_options(self, labels: Labels) -> dict[str, Any]:
        return self._inner()._cost_options(labels)

    def _known_rho(
        self, codes: NDArray[np.int8], weights: NDArray[np.float64] | None
    ) -> float | None:
        return self._inner()._known_rho(codes, weights)

    def _weights_matter(self) -> bool:
        return self._inner()._weights_matter()

    def _constants(self) -> int:
        return self._view("coef_")._constants()

    def _scaling(self, form: str) -> dict[str, bool]:
        return self._inner()._scaling(form)

    def _make(self, labels: Labels, scaling: dict[str, bool]) -> tuple[_core.Model, dict[str, Any]]:
        model, made_with = super()._make(labels, scaling)
        if isinstance(self.learner, OnlineClassifier):  # the user's own may change
            made_with["parameters"]["learner"] = type(self.learner)(**self.learner.get_params())
        return model, made_with

    def _changed_shape(self, now: Mapping[str, Any], then: Mapping[str, Any]) -> list[str]:
        new, old = resolved(now["learner"]), resolved(then["learner"])
        if type(new) is not type(old):
            return ["learner"]
        return new._changed_shape(new.get_params(), old.get_params())


def _of_learner(name: str) -> Any:
    def read(self: Around) -> Any:
        return getattr(self._inner(), name)

    def write(self: Around, value: Any) -> None:
        self.set_params(**{name: value})

    return property(read, write)


for _name in ("scaling", "positive", "hash_bits"):
    setattr(Around, _name, _of_learner(_name))


@functools.lru_cache(maxsize=64)
def _named(name: str) -> OnlineClassifier:
    """Return the learner of a name; it is shared, so it must not be changed."""
    from ..catalog import find

    return find(name).make()


forget_named = _named.cache_clear


def resolved(learner: Any) -> OnlineClassifier:
    """Return the estimator that a parameter stands for."""
    if isinstance(learner, str):
        learner = _named(learner)
    if not isinstance(learner, OnlineClassifier):
        raise ValueError(f"learner={learner!r} is invalid: it must be an estimator or a name")
    if isinstance(learner, Around):
        raise ValueError(f"learner={learner!r} asks for labels already: give the learner in it")
    return learner
