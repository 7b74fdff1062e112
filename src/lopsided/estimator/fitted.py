"""What an estimator has learned, as one record."""

from __future__ import annotations

import dataclasses
from typing import Any

from .. import _core
from .labels import Labels

Snapshot = tuple[int, dict[str, Any], list[str]]  # features, state and names at one moment


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A model of the core and what it was built from. `model.fitted` returns it.

    Attributes
    ----------
    core : _core.Model
        The learner in the core, with everything it has learned.
    labels : Labels
        The two labels as far as they are known.
    kind : str
        The name of the learner in the core.
    options : dict
        The options that the core was given.
    scaling : dict
        The options among them that the first data settled.
    parameters : dict
        The estimator's parameters when the core was built.
    constants : int
        How many of the core's coefficients come before those of the features.
    by_sign : bool
        Whether the sign of the score decides, where no costs are given.
    costs : dict or None
        The estimator's costs, which are not the core's.
    current : bool
        Whether the parameters are still those of the estimator. A parameter that is set makes this
        False until the estimator learns again.
    plain : bool
        Whether the sign of a score is the prediction, whatever the event.
    """

    core: _core.Model
    labels: Labels
    kind: str
    options: dict[str, Any]
    scaling: dict[str, bool]
    parameters: dict[str, Any]
    constants: int = 0
    by_sign: bool = True
    costs: Any = None
    current: bool = True
    plain: bool = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        plain = self.by_sign and self.costs is None and self.current
        object.__setattr__(self, "plain", plain)

    def replace(self, **changes: Any) -> Fitted:
        """Return the record with some fields changed."""
        return dataclasses.replace(self, **changes)
