"""The learner for those who name none."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimator import state as entry
from ..estimator.costs import CostSensitive
from ..estimator.parameters import estimator

# In the order of the core: what a member sees, the precision of its prior, what it remembers.
_LINEAR, _CURVES, _PAIRS = "linear", "linear, curves", "linear, curves, pairs"
_MEMBERS = (
    (_LINEAR, 4.0, "all"),
    (_LINEAR, 1.0, "all"),
    (_LINEAR, 0.25, "all"),
    (_LINEAR, 1.0, "recent"),
    (_CURVES, 1.0, "all"),
    (_PAIRS, 1.0, "all"),
    (_PAIRS, 1.0, "recent"),
    (_PAIRS, 0.25, "all"),
)


@dataclasses.dataclass(frozen=True)
class Member:
    """One of the models within Recommended.

    Attributes
    ----------
    inputs : str
        What it sees: "linear" terms, "curves" of numeric columns, "pairs".
    prior : float
        The precision of the prior of its weights.
    memory : {"all", "recent"}
        Whether it forgets.
    loss : float
        Its log losses so far, the recent ones in full.
    share : float
        Its weight in the mixture; the shares sum to 1.
    """

    inputs: str
    prior: float
    memory: str
    loss: float
    share: float


@estimator
class Recommended(CostSensitive):
    """Probabilities and decisions by price without tuning: the default.

    Logistic regression with curves and pairs, learned online. Every feature has a linear term.
    Numeric features that most rows have also get a curve, piecewise linear between quantiles, and
    the most useful of them are combined in pairs with each other and with the most useful frequent
    categories. A feature with one nonzero value is a category: it enters as an indicator, however
    rare it is. Eight models that differ in prior, inputs and memory learn at once by Bayesian steps
    (assumed density filtering with a diagonal covariance); their log odds are mixed by recent log
    loss and calibrated. While one class has few labels, probabilities keep away from 0 and 1.

    The score is the log odds of the positive class. Learning does not depend on prices: they only
    move the threshold of decisions, so the ranking is the same at any price.

    Parameters
    ----------
    scaling : {"auto", "none", "unit", "standard", "standard+unit"}
        "auto" as above; anything else is applied to a row first.
    class_weight : None, "balanced" or {label: weight}
        What a mistake on each class costs; only the ratio matters, and only for decisions.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import Recommended
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5)) * [1, 10, 100, 1000, 1]
    >>> y = abs(X[:, 0]) + X[:, 3] / 1000 > 2.5
    >>> model = Recommended().fit(X, y)
    >>> model.predict_proba([[2, 0, 0, 3000, 0], [0, 0, 0, 0, 0]]).round(2)
    array([[0., 1.],
           [1., 0.]])
    """

    class_weight: Any = "balanced"

    _core_name = "additive-logistic"
    _log_odds = True

    @property
    def members_(self) -> list[Member]:
        """The members with their recent log losses and their shares in the mixture."""
        losses = np.asarray(self._attribute("members_").state()[entry.LOSSES])
        shares = np.exp(losses.min() - losses)
        shares /= shares.sum()
        return [
            Member(*about, loss=float(loss), share=float(share))
            for about, loss, share in zip(_MEMBERS, losses, shares, strict=True)
        ]

    @property
    def leader_(self) -> Member:
        """The member with the largest share."""
        return max(self.members_, key=lambda member: member.share)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weight of each feature's linear term, before a row is scaled to its length."""
        return np.asarray(self._attribute("coef_").coefficients())

    @property
    def intercept_(self) -> float:
        """The score of an event without any input."""
        state = self._attribute("intercept_").state()
        positives, negatives = state[entry.POSITIVES], state[entry.NEGATIVES]
        odds = (positives + 0.5) / (negatives + 0.5)
        logit = np.clip(state[entry.SLOPE] * np.log(odds) + state[entry.SHIFT], -30, 30)
        p, q = 1 / (1 + np.exp([-logit, logit]))
        doubt = 0.5 / (min(positives, negatives) + 1)
        share = odds / (1 + odds)
        return float(np.log((p + doubt * (share - p)) / (q + doubt * (1 - share - q))))

    def _scaling(self, form: str) -> dict[str, bool]:
        if self.scaling == "auto":
            return {"scales": True}
        return {**super()._scaling(form), "scales": False}
