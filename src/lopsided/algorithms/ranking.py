"""Linear learners that rank: they maximise the chance that a positive scores above a negative.

Only differences of rows count, so they offer no intercept, and costs of classes have no meaning for
them. Choose a threshold on their scores afterwards.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..estimator.base import LinearClassifier, OnlineClassifier
from ..estimator.parameters import choice, estimator, integer, positive, sizes


@estimator
class RankingClassifier(LinearClassifier):
    """A linear classifier that learns from pairs of a positive and a negative event."""

    intercept: ClassVar[bool] = False  # type: ignore[misc]  # no parameter: it cancels in a pair

    _fixed = OnlineClassifier._fixed

    def _constants(self) -> int:
        return 0


@estimator
class OAM(RankingClassifier):
    """Online AUC maximisation: each event meets a sample of the events of the other class.

    Parameters
    ----------
    variant : {"seq", "gra"}
        Step on one pair after the other with the smallest step that separates it, or on all pairs
        of an event at once with the same step.
    C : float
        Cap on a step, times the events of the other class for each that is kept.
    buffer_size : int or pair of ints
        How many events of each class to keep: of both, or of the negative and the positive one.
    factor : float
        Times C; a half, since each pair can be met from both sides.
    seed : int
        Of the samples.

    Other parameters: see `OnlineClassifier`. A weight multiplies the cap.

    References
    ----------
    Zhao, Hoi, Jin & Yang, "Online AUC maximization" (2011).

    Examples
    --------
    >>> from lopsided import OAM
    >>> X, y = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0]], [1, 0, 1]
    >>> OAM(scaling="none").fit(X, y).coef_.tolist()
    [0.25, -0.25]
    """

    variant: str = choice("seq", "seq", "gra")
    C: float = positive(1.0)
    buffer_size: Any = sizes(100)
    factor: float = positive(0.5)
    seed: int = integer(0, 0, 2**32 - 1)

    _core_name = "oam"
    _fixed = (*RankingClassifier._fixed, "buffer_size", "seed")

    def _own_options(self) -> dict[str, Any]:
        own = super()._own_options()
        negative, positive = pair(own.pop("buffer_size"))
        return {**own, "buffer_negative": float(negative), "buffer_positive": float(positive)}


@estimator
class OPAUC(RankingClassifier):
    """One-pass AUC optimisation: each event meets mean and covariance of the other class.

    A step goes down the square loss of the event with all of the other class before it. Two
    matrices of features by features are kept: it is not for many features.

    Parameters
    ----------
    learning_rate : float
        Size of the step.
    regularization : float
        How strongly the weights are drawn to zero.

    Other parameters: see `OnlineClassifier`. A weight multiplies the step and counts in mean and
    covariance.

    References
    ----------
    Gao, Jin, Zhu & Zhou, "One-pass AUC optimization" (2013).

    Examples
    --------
    >>> from lopsided import OPAUC
    >>> X, y = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0]], [1, 0, 1]
    >>> OPAUC(scaling="none", learning_rate=0.125, regularization=1).fit(X, y).coef_.tolist()
    [0.21875, -0.21875]
    """

    learning_rate: float = positive(0.01)
    regularization: float = positive(0.01)

    _core_name = "opauc"


def pair(sizes: Any) -> tuple[int, int]:
    """Return the sizes of the buffers of the negative and the positive class."""
    negative, positive = sizes if isinstance(sizes, (tuple, list)) else (sizes, sizes)
    return int(negative), int(positive)
