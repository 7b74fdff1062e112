"""Learners that weigh their mistakes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from .base import LinearClassifier, OnlineClassifier
from .labels import Labels
from .parameters import fraction, is_number, switch


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class CostSensitive(OnlineClassifier):
    """A classifier that can weigh a missed positive against a false alarm.

    Parameters
    ----------
    class_weight : None, "balanced" or {label: weight}
        What a mistake on each class costs; only the ratio matters. "balanced" takes it from the
        class counts: those of the data in fit, a running estimate in partial_fit and learn_one.
    sensitivity_weight : float
        With "balanced": the weight of sensitivity against specificity, between 0 and 1.
    count_current : bool
        With "balanced": let the running estimate include the label it is used for.
    """

    class_weight: Any = None
    sensitivity_weight: float = fraction(0.5)
    count_current: bool = switch(False)

    @property
    def rho_(self) -> float:
        """The cost of a missed positive in false alarms, for the next event."""
        return self._attribute("rho_").rho

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        weight = self.class_weight
        if isinstance(weight, Mapping):
            if len(weight) != 2:
                raise ParameterError(
                    "class_weight",
                    "must have a weight for each of the two labels",
                    value=dict(weight),
                )
            for label, value in weight.items():
                if not (is_number(value) and value > 0):
                    raise ParameterError(
                        "class_weight",
                        f"gives {label!r} the weight {value!r}; it must be positive",
                    )
            low, high = sorted(weight.values())
            if not (np.isfinite(float(high) / float(low)) and float(low) / float(high) > 0):
                raise ParameterError(
                    "class_weight", "must have weights of a finite ratio", value=dict(weight)
                )
        elif weight is not None and not (isinstance(weight, str) and weight == "balanced"):
            raise ParameterError(
                "class_weight",
                "is invalid: it must be None, 'balanced' or a dict",
                value=weight,
            )
        if weight is None or isinstance(weight, Mapping):
            for name in ("sensitivity_weight", "count_current"):
                if getattr(self, name) != type(self).__dataclass_fields__[name].default:
                    raise ParameterError(name, "has an effect only with class_weight='balanced'")

    def _own_options(self) -> dict[str, Any]:
        own = super()._own_options()
        for name in ("class_weight", "sensitivity_weight", "count_current"):
            own.pop(name, None)
        return own

    def _cost_options(self, labels: Labels) -> dict[str, Any]:
        weight = self.class_weight
        if weight is None:
            return {}
        if isinstance(weight, Mapping):
            for label in labels.codes:
                if label not in weight:
                    raise ParameterError("class_weight", f"has no weight for the label {label!r}")
            return {"ratio": float(weight[labels.positive] / weight[labels.negative])}
        return {"balanced": True, "odds": self._odds(), "count_current": bool(self.count_current)}

    def _odds(self) -> float:
        return self.sensitivity_weight / (1 - self.sensitivity_weight)

    def _known_rho(
        self, codes: NDArray[np.int8], weights: NDArray[np.float64] | None
    ) -> float | None:
        if not isinstance(self.class_weight, str):
            return None
        positive = codes > 0
        if weights is None:
            positives = float(np.count_nonzero(positive))
            negatives = len(codes) - positives
        else:
            positives, negatives = float(weights[positive].sum()), float(weights[~positive].sum())
        if positives == 0 or negatives == 0:
            positives, negatives = positives + 1, negatives + 1
        return self._odds() * negatives / positives


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class CostSensitiveClassifier(CostSensitive, LinearClassifier):
    """A linear classifier that can weigh a missed positive against a false alarm."""
