"""What the bounds of all learners share: an inequality, the losses of a run, what is assumed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, ParameterError

Floats = NDArray[np.float64]

ROUNDING = 1e-9  # sums over a run agree with exact arithmetic far better than this

# What the theorems assume; any other value is another algorithm, without these bounds.
STREAM = {"scaling": ("none",), "intercept": (False,), "positive": (None, 1), "hash_bits": (None,)}
ASSUMED = STREAM | {
    "schedule": ("constant",),
    "covariance": ("full", "diagonal"),
    "diag_rule": ("coordinate",),
    "sigma": ("new",),
}


@dataclass(frozen=True)
class Bound:
    """An inequality ``left <= right`` with its two sides as numbers.

    Examples
    --------
    >>> bound = Bound("one below two", 1.0, 2.0)
    >>> bound.holds, bound.slack
    (True, 1.0)
    """

    name: str
    left: float
    right: float

    @property
    def slack(self) -> float:
        """``right - left``: how much room is left, negative when the inequality fails."""
        return self.right - self.left

    @property
    def holds(self) -> bool:
        """Whether ``left <= right``, up to rounding."""
        return self.left <= self.right + ROUNDING * max(1.0, abs(self.left), abs(self.right))


class Losses:
    """What the losses of a run come to: of its learner, and of a comparator."""

    X: Floats
    y: Floats
    scores: Floats
    rho: float
    loss: str

    @cached_property
    def weights(self) -> Floats:
        """rho_t of each round: rho for a positive, 1 for a negative."""
        return np.where(self.y > 0, self.rho, 1.0)

    @cached_property
    def updates(self) -> NDArray[np.bool_]:
        """The rounds with a positive loss, in which the learner moved."""
        margin = self.weights if self.loss == "I" else 1.0
        return np.asarray(self.y * self.scores < margin)

    @cached_property
    def learner_loss(self) -> float:
        """Progressive loss of the learner, summed over the run."""
        return self._total_loss(self.scores)

    def comparator_loss(self, u: ArrayLike) -> float:
        """Loss of the fixed linear model ``u``, summed over the run."""
        return self._total_loss(self.X @ self.vector(u))

    def _total_loss(self, scores: Floats) -> float:
        if self.loss == "I":
            return float(np.maximum(0.0, self.weights - self.y * scores).sum())
        return float((self.weights * np.maximum(0.0, 1.0 - self.y * scores)).sum())

    @cached_property
    def weighted_mistakes(self) -> float:
        """``rho M_p + M_n``; a score of 0 predicts +1."""
        return float(self.weights[np.where(self.scores >= 0, 1.0, -1.0) != self.y].sum())

    def vector(self, u: ArrayLike) -> Floats:
        """Check that ``u`` is a comparator for this run and return it as an array."""
        vector = np.asarray(u, dtype=np.float64)
        if vector.shape != self.X.shape[1:] or not np.isfinite(vector).all():
            raise ParameterError("u", f"must be {self.X.shape[1]} finite numbers, got {u!r}")
        return vector


def known_rho(params: dict[str, Any], assumed: dict[str, tuple[Any, ...]]) -> float:
    """Refuse parameters the theorems do not speak about; return rho."""
    for key, allowed in assumed.items():
        if key in params and params[key] not in allowed:
            raise InputError(f"the bounds assume {key}={allowed[0]!r}, got {params[key]!r}")
    class_weight = params["class_weight"]
    if class_weight is None:
        return 1.0
    if not isinstance(class_weight, dict) or not {1, -1} <= class_weight.keys():
        raise InputError(
            "the bounds assume a known rho: pass class_weight={1: rho, -1: 1.0}, "
            f"got {class_weight!r}"
        )
    return float(class_weight[1] / class_weight[-1])


def labelled_rows(X: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Return X and y as arrays, if they are a stream."""
    X = np.asarray(X, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or len(X) == 0 or y.shape != (len(X),):
        raise InputError(f"X of shape {X.shape} and y of shape {y.shape} are no rows with labels")
    if not np.isin(y, (-1.0, 1.0)).all():
        raise InputError("y must hold -1 and +1 only")
    return X, y
