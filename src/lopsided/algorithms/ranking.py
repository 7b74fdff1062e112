"""Linear learners that rank: they maximise the chance that a positive scores above a negative.

Only differences of rows matter, so they have no intercept, and class costs have no meaning for
them. Choose a threshold on their scores afterwards.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ..estimator.base import LinearClassifier, OnlineClassifier
from ..estimator.parameters import choice, estimator, forgetting, integer, positive, sizes


@estimator
class RankingClassifier(LinearClassifier):
    """A linear classifier that learns from pairs of a positive and a negative event."""

    intercept: ClassVar[bool] = False  # type: ignore[misc]  # no parameter: it cancels in a pair

    _fixed = OnlineClassifier._fixed


@estimator
class OAM(RankingClassifier):
    """Online AUC maximisation: each event is paired with a sample of the other class.

    Event weights multiply the cap on the step.

    Parameters
    ----------
    variant : {"seq", "gra"}
        Step on one pair after another with the smallest step that separates it, or on all pairs of
        an event at once with the same step.
    C : float
        Cap on a step, times the events seen of the other class per event kept.
    buffer_size : int or pair of ints
        How many events of each class to keep, or of the negative and the positive class.
    factor : float
        Multiplies C; one half, since each pair can occur from both sides.
    seed : int
        Seed of the samples.

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
    """One-pass AUC optimisation: each event is paired with the mean and covariance of the other.

    A step reduces the squared loss of the event paired with all earlier events of the other class.
    Two matrices of size features by features are kept: for many features there is `OPAUCr`. Event
    weights multiply the step and count in the mean and covariance.

    Parameters
    ----------
    learning_rate : float
        Size of the step.
    regularization : float
        How strongly the weights are shrunk to zero.
    forget : int, optional
        Half-life in labels: after every `forget` labels the earlier events of both classes
        count half, and so do class counts and the running statistics of the scaling. Default:
        nothing is forgotten.

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
    forget: int | None = forgetting()

    _core_name = "opauc"


@estimator
class OPAUCr(RankingClassifier):
    """One-pass AUC optimisation for many features, with covariances of low rank.

    As `OPAUC`, but the covariance of a class is that of its events projected on a few random
    directions. Memory grows with the features, and the time of an event with those it has.

    Parameters
    ----------
    learning_rate : float
        Size of the step.
    regularization : float
        How strongly the weights are shrunk to zero.
    rank : int
        Number of random directions.
    seed : int
        Seed of the directions.

    References
    ----------
    Gao, Jin, Zhu & Zhou, "One-pass AUC optimization" (2013), with random signs for normal numbers.

    Examples
    --------
    >>> from lopsided import OPAUCr
    >>> X, y = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0]], [1, 0, 1]
    >>> model = OPAUCr(scaling="none", learning_rate=0.125, regularization=1)
    >>> model.fit(X, y).coef_.round(12).tolist()
    [0.21875, -0.21875]
    """

    learning_rate: float = positive(0.01)
    regularization: float = positive(0.01)
    rank: int = integer(50, 1, 256)
    seed: int = integer(0, 0, 2**32 - 1)

    _core_name = "opauc-low-rank"
    _fixed = (*RankingClassifier._fixed, "rank", "seed")


def pair(sizes: Any) -> tuple[int, int]:
    """Return the sizes of the buffers of the negative and the positive class."""
    negative, positive = sizes if isinstance(sizes, (tuple, list)) else (sizes, sizes)
    return int(negative), int(positive)
