"""Estimators around a learner, whose parameters are reached through theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import UnknownParameterError
from ..estimator.base import OnlineClassifier
from ..estimator.parameters import Parameterised, parameter_hint

if TYPE_CHECKING:
    from typing_extensions import Self


class HasLearner(Parameterised):
    """An estimator with a parameter `learner`."""

    learner: Any

    def _inner(self) -> OnlineClassifier:
        """Return the learner, for its parameters."""
        raise NotImplementedError

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, those of the learner as learner__name."""
        own = super().get_params()
        try:
            inner = self._inner().get_params() if deep else {}
        except ValueError:  # not a learner: it is refused when there is something to learn
            inner = {}
        return own | {f"learner__{name}": value for name, value in inner.items()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name; the learner is replaced, not changed."""
        known = self._own_names()
        rest = {k.removeprefix("learner__"): v for k, v in params.items() if k not in known}
        for name, value in params.items():
            if name in known:
                setattr(self, name, value)
        if rest:
            inner = self._inner()
            now = inner.get_params()
            for name in rest:
                if name not in now:
                    hint = parameter_hint(name, [*known, *now])
                    raise UnknownParameterError(repr(self), name, hint)
            self.learner = type(inner)(**{**now, **rest})
        return self
