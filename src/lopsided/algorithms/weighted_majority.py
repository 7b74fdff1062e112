"""Learners that vote."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ..estimator import state as entry
from ..estimator.costs import CostSensitiveClassifier
from ..estimator.parameters import estimator, switch


@dataclasses.dataclass(frozen=True)
class Voter:
    """One of the learners within WeightedMajority.

    Attributes
    ----------
    learner : str
        Its name in the catalog.
    learning_rate, regularization : float, optional
        Its rate if it is ACOG, its regularization if it is AROW.
    scaling : str
        What it sees.
    intercept : bool
        Whether it has a constant.
    missed, alarmed : float
        Its mistakes so far, in sums of weights.
    """

    learner: str
    learning_rate: float | None
    regularization: float | None
    scaling: str
    intercept: bool
    missed: float = 0.0
    alarmed: float = 0.0

    def lane_options(self) -> dict[str, Any]:
        """Return the core options of a member with a diagonal covariance."""
        if self.learning_rate is None:
            return {"rule": "arow", "regularization": self.regularization}
        return {"rule": "acog", "learning_rate": self.learning_rate}


# In the order of the core, and what they are with more than 64 features from the start. Chosen on
# the real data sets of benchmarks/quality.
_MEMBERS = (
    Voter("AROW-diag", None, 1.0, "standard+unit", True),
    Voter("ACOG-II-diag", 0.1, None, "standard+unit", True),
    Voter("ACOG-II-diag", 1.0, None, "standard+unit", True),
    Voter("ACOG-II-diag", 0.01, None, "unit", True),
    Voter("AROW", None, 0.3, "standard+unit, not centred", True),
    Voter("AROW", None, 0.1, "unit", True),
)
_WIDE_MEMBERS = (
    Voter("AROW-diag", None, 10.0, "standard+unit", False),
    Voter("ACOG-II-diag", 0.1, None, "standard+unit", False),
    Voter("ACOG-II-diag", 10.0, None, "standard+unit", True),
    Voter("AROW-diag", None, 1.0, "unit", False),
)
_LANES = len(_WIDE_MEMBERS)
_TRIAL = 1 << 17  # values after which of those with a full covariance only the leader stays


@estimator
class WeightedMajority(CostSensitiveClassifier):
    """Good without tuning: several learners at once, weighted by what they have cost so far.

    The members are AROW and ACOG at several rates, over raw values or standard scores, always as
    rows of unit length. With at most 64 features two members have a full covariance; after 131,072
    feature values they are kept only if one of them leads. The more a member's mistakes have cost
    under the class weights, the smaller the weight of its vote. Scores are between -1 and 1;
    `coef_` and `intercept_` are those of the leading member. With at most 64 features, sparse rows
    and dicts are centred like dense rows.

    Parameters
    ----------
    scaling : {"auto", "none", "unit", "standard", "standard+unit"}
        "auto" as above; anything else applies to all members.
    intercept : bool
        Whether members have an intercept.
    class_weight : None, "balanced" or {label: weight}
        What a mistake on each class costs, as for every cost-sensitive learner.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import WeightedMajority, progressive
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5)) * [1, 10, 100, 1000, 1]
    >>> y = X[:, 0] + X[:, 3] / 1000 > 2.5
    >>> round(progressive(WeightedMajority(), X, y).sum(), 2)
    0.9
    """

    class_weight: Any = "balanced"
    intercept: bool = switch(True)

    _core_name = "weighted-majority"

    @property
    def members_(self) -> list[Voter]:
        """The members with their mistakes so far."""
        state = self._attribute("members_").state()
        own = self.fitted.options["scales"]
        full = [k for k in range(_LANES, len(_MEMBERS)) if state[entry.LEFT] in (0, k - _LANES + 1)]
        members = _WIDE_MEMBERS if state[entry.WIDE] else _MEMBERS
        return [
            dataclasses.replace(
                members[k],
                scaling=members[k].scaling if own else self.scaling,
                intercept=members[k].intercept and bool(self.intercept),
                missed=state[entry.MISSED.format(k)],
                alarmed=state[entry.ALARMED.format(k)],
            )
            for k in (*range(_LANES), *(full if state[entry.NARROW] else ()))
        ]

    @property
    def leader_(self) -> Voter:
        """The member whose mistakes have cost least."""
        rho = self._attribute("leader_").state()[entry.RHO]
        return min(self.members_, key=lambda member: rho * member.missed + member.alarmed)

    def _constants(self, options: Mapping[str, Any]) -> int:
        return 1

    def _scaling(self, form: str) -> dict[str, bool]:
        if self.scaling == "auto":
            return {"scales": True, "dense": form == "dense"}
        return {**super()._scaling(form), "scales": False, "dense": form == "dense"}

    def _own_options(self) -> dict[str, Any]:
        lanes = [("", _MEMBERS[:_LANES]), ("wide.", _WIDE_MEMBERS)]
        return {
            **{
                f"{prefix}{name}.{k}": value
                for prefix, members in lanes
                for k, member in enumerate(members)
                for name, value in member.lane_options().items()
            },
            **{
                f"regularization.{k}": member.regularization
                for k, member in enumerate(_MEMBERS[_LANES:], _LANES)
            },
            "trial": float(_TRIAL),
            "constant": bool(self.intercept),
            "intercept": False,
        }
