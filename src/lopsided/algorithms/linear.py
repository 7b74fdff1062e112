"""Linear learners of first and second order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import ParameterError
from ..estimator import state as entry
from ..estimator.base import LinearClassifier
from ..estimator.costs import CostSensitiveClassifier
from ..estimator.parameters import (
    choice,
    estimator,
    forgetting,
    integer,
    number,
    positive,
    same,
    switch,
)
from ._covariance import check_covariance_dtype, covariance_kind
from ._sketch import check_directions, sketched_directions

_SKETCH_SHAPE = ("sketch_size", "sketch_every", "seed", "directions")


@estimator
class Perceptron(CostSensitiveClassifier):
    """Perceptron: a step on every mistake, nothing to tune.

    With `class_weight` the step is multiplied by the cost of the class.

    References
    ----------
    Rosenblatt, "The perceptron" (1958).

    Examples
    --------
    >>> from lopsided import Perceptron
    >>> X, y = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0]], [1, 0, 1]
    >>> Perceptron(scaling="none").fit(X, y).coef_.tolist()
    [3.0, -1.0]
    """

    _core_name = "perceptron"


@estimator
class ROMMA(LinearClassifier):
    """Relaxed online maximum margin algorithm: a large margin, nothing to tune.

    Parameters
    ----------
    aggressive : bool
        Also step on right answers with a margin below 1.
    eps : float
        Rows this close to parallel to the weights (relative) are skipped.

    References
    ----------
    Li & Long, "The relaxed online maximum margin algorithm" (1999).

    Examples
    --------
    >>> from lopsided import ROMMA
    >>> X, y = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0]], [1, 0, 1]
    >>> ROMMA(aggressive=True, scaling="none").fit(X, y).coef_.tolist()
    [2.0, -0.5]
    """

    aggressive: bool = switch(False)
    eps: float = number(1e-12, low=0)

    _core_name = "romma"

    def _weights_matter(self) -> bool:
        return False


@estimator
class PassiveAggressive(CostSensitiveClassifier):
    """Passive-aggressive learning: the smallest step that removes the hinge loss.

    Event weights multiply `C`; PA has no cap, so it takes no event weights.

    Parameters
    ----------
    variant : {"PA", "PA-I", "PA-II"}
        The full step, the step capped at C, or the step softened by 1 / (2 C).
    loss : {"I", "II"}
        With class weights: the cost of the class is the required margin (I), or it multiplies `C`
        (II).
    C : float
        Aggressiveness.

    References
    ----------
    Crammer et al., "Online passive-aggressive algorithms" (2006).

    Examples
    --------
    >>> from lopsided import PassiveAggressive
    >>> X, y = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0]], [1, 0, 1]
    >>> PassiveAggressive(scaling="none").fit(X, y).coef_.tolist()
    [0.5, -0.5]
    """

    variant: str = choice("PA-I", "PA", "PA-I", "PA-II")
    loss: str = choice("II", "I", "II")
    C: float = positive(1.0)

    _core_name = "passive-aggressive"

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        if self.loss == "I" and self.class_weight is None:
            raise ParameterError("loss", "has an effect only with class_weight")
        if self.variant == "PA":
            if self.class_weight is not None and self.loss == "II":
                raise ParameterError(
                    "class_weight", "has no effect on variant='PA', which has no cap"
                )
            if self.C != 1.0:
                raise ParameterError("C", "has no effect on variant='PA', which has no cap")

    def _weights_matter(self) -> bool:
        return self.variant != "PA"


@estimator
class PAUM(CostSensitiveClassifier):
    """Perceptron with uneven margins: each class has its own margin.

    A step is taken when y p <= margin, where the margin is `margin_pos` times the cost ratio for
    positives and `margin_neg` for negatives, times the event's weight.

    Parameters
    ----------
    learning_rate : float
        Size of the step.
    margin_pos, margin_neg : float
        Margins of the two classes before costs.
    bias : bool
        Learn an offset as well, in steps of the squared radius.
    radius : float, optional
        Length of the longest row, for the bias. Default: the longest so far.
    weight_mode : {"margin", "slope"}
        Whether an event's weight multiplies its margin or its step.

    References
    ----------
    Li et al., "The perceptron algorithm with uneven margins" (2002).

    Examples
    --------
    >>> from lopsided import PAUM
    >>> X, y = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0]], [1, 0, 1]
    >>> PAUM(scaling="none", class_weight={0: 1, 1: 5}).fit(X, y).coef_.tolist()
    [5.0, -1.0]
    """

    class_weight: Any = "balanced"
    learning_rate: float = positive(1.0)
    margin_pos: float = number(1.0)
    margin_neg: float = number(1.0)
    bias: bool = switch(False)
    radius: float | None = positive(None, optional=True)
    weight_mode: str = choice("margin", "margin", "slope")

    _core_name = "paum"

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        if self.radius is not None and not self.bias:
            raise ParameterError("radius", "has an effect only with bias=True")
        if self.bias and self.intercept:
            raise ParameterError("bias", "and intercept do the same work: choose one of them")


@estimator
class CPA(CostSensitiveClassifier):
    """Prediction-based cost-sensitive passive-aggressive: the target margin is sqrt(cost).

    Parameters
    ----------
    variant : {"hinge", "strict", "max-loss"}
        When to step: when the margin is below 1 (the form behind the published tables), on mistakes
        only, or whenever the target margin is missed.
    C : float, optional
        Cap on the step. Without it every step is full and event weights are not accepted.

    References
    ----------
    Crammer et al., "Online passive-aggressive algorithms" (2006), section 9.

    Examples
    --------
    >>> from lopsided import CPA
    >>> X, y = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0]], [1, 0, 1]
    >>> CPA(scaling="none", class_weight={0: 1, 1: 4}).fit(X, y).coef_.tolist()
    [1.0, -0.5]
    """

    class_weight: Any = "balanced"
    variant: str = choice("hinge", "hinge", "strict", "max-loss")
    C: float | None = positive(None, optional=True)

    _core_name = "cost-sensitive-passive-aggressive"

    def _weights_matter(self) -> bool:
        return self.C is not None


@estimator
class COG(CostSensitiveClassifier):
    """Cost-sensitive online gradient descent: minimises the weighted sum or cost directly.

    Parameters
    ----------
    learning_rate : float
        Size of the step.
    loss : {"I", "II"}
        Where the cost of the class enters the hinge loss: in its margin (I) or its slope (II).
    schedule : {"constant", "sqrt"}
        Keep the rate, or divide it by the square root of the round.
    weight_mode : {"margin", "slope"}
        With loss I: whether an event's weight multiplies its margin or its step.

    References
    ----------
    Wang, Zhao & Hoi, "Cost-sensitive online classification" (2012), algorithm 1.

    Examples
    --------
    >>> from lopsided import COG
    >>> X, y = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0]], [1, 0, 1]
    >>> COG(scaling="none", learning_rate=0.5, class_weight={0: 1, 1: 2}).fit(X, y).coef_.tolist()
    [2.0, -1.0]
    """

    class_weight: Any = "balanced"
    learning_rate: float = positive(0.1)
    loss: str = choice("II", "I", "II")
    schedule: str = choice("constant", "constant", "sqrt")
    weight_mode: str = choice("margin", "margin", "slope")

    _core_name = "cog"

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        _check_weight_mode(self.loss, self.weight_mode)


@estimator
class _SecondOrder(CostSensitiveClassifier):
    _has_variance = True
    covariance: str = choice("diagonal", "diagonal", "full")
    covariance_dtype: str = choice("float64", "float64", "float32")
    regularization: float = positive(1.0)
    weight_state: bool = switch(False)
    forget: int | None = forgetting()

    _fixed = (*CostSensitiveClassifier._fixed, "covariance_dtype")

    @property
    def covariance_(self) -> NDArray[np.float64]:
        """Sigma, as a matrix or as its diagonal; an intercept's own entries come first."""
        state = self._attribute("covariance_").state()
        full = "full" in self.fitted.kind
        return np.asarray(state[entry.COVARIANCE if full else entry.VARIANCE], dtype=np.float64)

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        check_covariance_dtype(self.covariance, self.covariance_dtype)
        if self.forget is not None and self.covariance != "diagonal":
            raise ParameterError("forget", "has an effect only with covariance='diagonal'")

    def core_kind(self) -> str:
        """Return the name of this learner in the core."""
        return covariance_kind(self._core_name, self.covariance, self.covariance_dtype)

    def _own_options(self) -> dict[str, Any]:
        own = super()._own_options()
        del own["covariance"], own["covariance_dtype"]
        return own


@estimator
class AROW(_SecondOrder):
    """Adaptive regularization of weights: second-order learning that is robust to noise.

    The weight of a class divides r, so that no step goes beyond the margin, whatever the cost.
    Event weights multiply the step of the mean.

    Parameters
    ----------
    covariance : {"diagonal", "full"}
        Whether the full matrix Sigma is kept or only its diagonal.
    covariance_dtype : {"float64", "float32"}
        With covariance="full": its precision. "float32" takes half the memory and less time;
        values of r below a thousandth of a row's squared length are raised to that.
    regularization : float
        r: larger means Sigma shrinks more slowly.
    weight_state : bool
        Let event weights enter Sigma.
    forget : int, optional
        Half-life in labels: after every `forget` labels the precisions learned so far
        count half, and so do class counts and the running statistics of the scaling. Default:
        nothing is forgotten.

    References
    ----------
    Crammer, Kulesza & Dredze, "Adaptive regularization of weight vectors" (2009).

    Examples
    --------
    >>> from lopsided import AROW
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [3.0, 1.0]], [1, 0, 1]
    >>> AROW(scaling="none").fit(X, y).coef_.tolist()
    [0.5, -0.5]
    """

    _core_name = "arow"


@estimator
class ACOG(_SecondOrder):
    """Adaptive cost-sensitive online gradient descent: COG with a step for each direction.

    Parameters
    ----------
    learning_rate : float
        Size of the step. Loss I needs about ten times as much as loss II.
    regularization : float
        gamma: larger means Sigma shrinks more slowly.
    loss : {"I", "II"}
        Where the cost of the class enters the hinge loss: in its margin (I) or its slope (II).
    covariance : {"diagonal", "full", "sketch", "dense-sketch"}
        How much of Sigma is kept: its diagonal, the full matrix, or, as a sketch, its strongest
        directions. A row costs O(features ** 2) with the full matrix; with a sketch O(sketch_size)
        per nonzero ("sketch") or per feature ("dense-sketch", the same model computed differently).
    covariance_dtype : {"float64", "float32"}
        With covariance="full": its precision. "float32" takes half the memory and less time;
        values of gamma below a thousandth of a row's squared length are raised to that.
    diag_rule : {"coordinate", "shared"}
        With covariance="diagonal": shrink each variance by its own share, or like the full matrix.
    sigma : {"new", "old"}
        Whether the mean moves along Sigma as it is after or before the row; with a sketch after.
    weight_mode : {"margin", "slope"}
        With loss I: whether an event's weight multiplies its margin or its step.
    weight_state : bool
        Let event weights enter Sigma.
    forget : int, optional
        Half-life in labels: after every `forget` labels the precisions learned so far
        count half, and so do class counts and the running statistics of the scaling. Default:
        nothing is forgotten.
    sketch_size : int
        Number of directions that a sketch keeps, 1 to 64.
    sketch_every : int
        Number of rows by which a sketch is updated at a time. Larger values save no time.
    sketch_on : {"always", "loss"}
        Whether a sketch sees every row or only those the mean moves on.
    seed : int
        Seed of the random initial directions of a sketch.
    directions : array of shape (sketch_size, features), optional
        Initial directions of a sketch, orthonormal rows; with an intercept its column comes first.
        Default: random ones, which grow with the features.

    References
    ----------
    Zhao et al., "Adaptive cost-sensitive online classification" (2018), algorithm 1; with a sketch
    algorithms 2 and 4.

    Examples
    --------
    >>> from lopsided import ACOG
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [3.0, 1.0]], [1, 0, 1]
    >>> model = ACOG(scaling="none", learning_rate=1, class_weight={0: 1, 1: 2}).fit(X, y)
    >>> model.coef_.tolist(), model.covariance_.tolist()
    ([1.0, -0.5], [0.5, 0.5])
    """

    class_weight: Any = "balanced"
    covariance: str = choice("diagonal", "diagonal", "full", "sketch", "dense-sketch")
    learning_rate: float = positive(0.1)
    loss: str = choice("II", "I", "II")
    diag_rule: str = choice("coordinate", "coordinate", "shared")
    sigma: str = choice("new", "new", "old")
    weight_mode: str = choice("margin", "margin", "slope")
    sketch_size: int = integer(5, 1, 64)
    sketch_every: int = integer(1, 1, 1000)
    sketch_on: str = choice("always", "always", "loss")
    seed: int = integer(0, 0, 2**32 - 1)
    directions: Any = None

    _core_name = "acog"
    _fixed = (*_SecondOrder._fixed, *_SKETCH_SHAPE)

    @property
    def covariance_(self) -> NDArray[np.float64]:
        """Sigma as a matrix, or its diagonal; an intercept's own entries come first."""
        if self._fitted is None or "sketch" not in self._fitted.kind:
            return super().covariance_
        energy = self.eigenvalues_
        return np.asarray(1 - (energy / (1 + energy)) @ self.directions_**2)

    @property
    def directions_(self) -> NDArray[np.float64]:
        """The directions of a sketch, one a row; an intercept's own column comes first."""
        model = self._sketched("directions_")
        return sketched_directions(model.state(), len(model.coefficients()))

    @property
    def eigenvalues_(self) -> NDArray[np.float64]:
        """The sum of x x' / gamma along each direction of a sketch, as Oja's rule estimates it."""
        return np.array(self._sketched("eigenvalues_").state()[entry.SKETCH_ENERGY])

    def _sketched(self, name: str) -> _core.Model:
        model = self._attribute(name)
        if "sketch" not in self.fitted.kind:
            raise AttributeError(f"{name}: only a model with a sketch has it")
        return model

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        _check_weight_mode(self.loss, self.weight_mode)
        idle = {
            "diag_rule": (self.covariance == "diagonal", "covariance='diagonal'"),
            "sigma": (self.covariance in ("diagonal", "full"), "covariance='diagonal' or 'full'"),
        }
        idle |= dict.fromkeys(
            (*_SKETCH_SHAPE, "sketch_on"), ("sketch" in self.covariance, "covariance='sketch'")
        )
        for name, (used, where) in idle.items():
            if not used and not same(getattr(self, name), getattr(type(self), name)):
                raise ParameterError(name, f"has an effect only with {where}")
        if self.directions is not None:
            check_directions(self.directions, self.sketch_size)

    def _own_options(self) -> dict[str, Any]:
        own = super()._own_options()
        if "sketch" not in self.covariance:
            for name in (*_SKETCH_SHAPE, "sketch_on"):
                own.pop(name, None)
        else:
            del own["sigma"]
            if self.directions is not None:
                own["directions"] = np.ravel(self.directions).tolist()
        if self.covariance != "diagonal":
            del own["diag_rule"]
        return own


def _check_weight_mode(loss: str, weight_mode: str) -> None:
    if loss == "II" and weight_mode != "margin":
        raise ParameterError(
            "weight_mode", "has an effect only with loss='I': II always weighs the step"
        )
