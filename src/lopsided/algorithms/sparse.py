"""Linear learners that shrink weights to exactly zero; `target_sparsity` says how many."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..errors import InputError, ParameterError
from ..estimator import state as entry
from ..estimator.costs import CostSensitiveClassifier
from ..estimator.parameters import (
    choice,
    estimator,
    forgetting,
    fraction,
    integer,
    number,
    positive,
    switch,
)
from ._covariance import check_covariance_dtype, covariance_kind

L1_SCHEDULES = ("constant", "rda", "inverse", "sqrt", "inverse_sqrt")
_DEFAULT_L1 = dict(zip(L1_SCHEDULES, (0.1, 1e-4, 1.0, 0.01, 1.0), strict=True))


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class SparseVector:
    """The weights of a sparse model: those that are not zero, with their features in order.

    NumPy takes it for the array of all weights, which is made only then.

    Attributes
    ----------
    indices, values : array
        The features with a weight, and the weights.
    size : int
        How many features there are.
    """

    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    size: int

    @property
    def shape(self) -> tuple[int]:
        """The shape of the array of all weights."""
        return (self.size,)

    @property
    def nnz(self) -> int:
        """How many weights are not zero."""
        return len(self.values)

    def toarray(self) -> NDArray[np.float64]:
        """Return all weights."""
        out = np.zeros(self.size)
        out[self.indices] = self.values
        return out

    def tolist(self) -> list[float]:
        """Return all weights as a list."""
        return [float(w) for w in self.toarray()]

    def tocsr(self) -> Any:
        """Return a CSR matrix of one row; needs SciPy."""
        from scipy.sparse import csr_matrix

        ends = np.array([0, self.nnz], dtype=np.int32)
        return csr_matrix((self.values, self.indices, ends), shape=(1, self.size))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise InputError("the array of all weights of a sparse model is always a new one")
        return self.toarray().astype(dtype or np.float64, copy=False)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, key: Any) -> Any:
        return self.toarray()[key]

    def __iter__(self) -> Iterator[float]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> Any:
        return self.toarray() == other

    def __ne__(self, other: object) -> Any:
        return self.toarray() != other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<SparseVector of {self.size:,} weights, {self.nnz:,} not zero>"


@estimator
class SparseClassifier(CostSensitiveClassifier):
    """A cost-sensitive online classifier whose model is sparse.

    All sparse learners step on the hinge loss, times the costs of the class and the event. The time
    per row depends on its nonzeros, not on the features of the model: the shrinkage of other
    features is applied when they next occur, with the same result.

    Parameters
    ----------
    l1 : float, optional
        How strongly weights are shrunk to zero; None is a small default of each learner.
    target_sparsity : float, optional
        Instead of `l1`: the share of features that have no weight. After every round the shrinkage
        is chosen so that at most the rest of the features seen so far have one. Dual averaging
        shrinks by the size of the largest weight to be removed, which may decrease again;
        truncation increases its total shrinkage until enough weights are zero. All features up to
        the last one seen count; weights of equal size are removed together.
    clip : float
        In the finished model weights smaller than this are zero. It does not affect learning.
    """

    l1: float | None = number(None, low=0, optional=True)
    target_sparsity: float | None = fraction(None, optional=True)
    clip: float = number(0.0, low=0)

    @property
    def coef_(self) -> SparseVector:  # type: ignore[override]
        """The weights of the scaled features, as a sparse vector."""
        model = self._attribute("coef_")
        indices, values = map(np.asarray, model.nonzeros())
        if self.fitted.constants:
            first = int(len(indices) > 0 and indices[0] == 0)
            indices, values = indices[first:] - np.int32(1), values[first:]
        return SparseVector(indices, values, model.features)

    @property
    def intercept_(self) -> float:
        """The weight of the constant; it is shrunk like any other."""
        model = self._attribute("intercept_")
        indices, values = model.nonzeros()
        constant = self.fitted.constants and len(indices) and indices[0] == 0
        return float(values[0]) if constant else 0.0

    @property
    def nnz_(self) -> int:
        """How many features have a weight."""
        return self.coef_.nnz

    @property
    def sparsity_(self) -> float:
        """The share of features without a weight; nan before the first feature."""
        weights = self.coef_
        return 1 - weights.nnz / weights.size if weights.size else math.nan

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        if self.target_sparsity is not None and self.l1 is not None:
            raise ParameterError("target_sparsity", "chooses l1: give one of the two")

    def _own_options(self) -> dict[str, Any]:
        own = super()._own_options()
        if "target_sparsity" not in own:
            own.setdefault("l1", self._default_l1())
        return own

    def _default_l1(self) -> float:
        return 1e-4

    def named_coef(self) -> dict[str, float]:
        """Return the weights other than zero by the names of their features, strongest first."""
        names, weights = self.feature_names_in_, self.coef_
        pairs = zip(names[weights.indices].tolist(), weights.values.tolist(), strict=True)
        return dict(sorted(pairs, key=lambda pair: -abs(pair[1])))


@estimator
class TruncatedGradient(SparseClassifier):
    """Truncated gradient: gradient steps, and weights shrunk by a constant every few rounds.

    With `period=1` it is FOBOS.

    Parameters
    ----------
    learning_rate : float
        Size of the step.
    l1 : float
        Gravity: weights shrink by learning_rate * l1 per round.
    period : int
        Rounds between truncations; each covers all rounds since the one before. A
        `target_sparsity` holds at each truncation, not between them.
    ceiling : float, optional
        Weights larger than this are not shrunk.
    schedule : {"constant", "sqrt"}
        Keep the rate, or divide it by the square root of the round.

    References
    ----------
    Langford, Li & Zhang, "Sparse online learning via truncated gradient" (2009); Duchi & Singer,
    "Efficient online and batch learning using forward backward splitting" (2009).

    Examples
    --------
    >>> from lopsided import TruncatedGradient
    >>> X, y = [[2.0, 0.0], [0.0, 0.5], [3.0, 1.0]], [1, 0, 1]
    >>> model = TruncatedGradient(scaling="none", learning_rate=0.5, l1=0.25).fit(X, y)
    >>> model.coef_.tolist(), model.nnz_
    ([0.625, 0.0], 1)
    """

    learning_rate: float = positive(0.5)
    period: int = integer(1, 1, 10**9)
    ceiling: float | None = positive(None, optional=True)
    schedule: str = choice("constant", "constant", "sqrt")

    _core_name = "truncated-gradient"

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        if self.target_sparsity is not None and self.ceiling is not None:
            raise ParameterError(
                "ceiling", "keeps weights that target_sparsity ends: give one of them"
            )


@estimator
class AdaFOBOS(SparseClassifier):
    """Adaptive FOBOS: gradient steps and shrinkage with a rate per feature.

    Parameters
    ----------
    learning_rate : float
        Size of the step; it is divided by delta plus the root of the sum of the feature's squared
        gradients.
    l1 : float
        Weights shrink by l1 times the feature's rate per round.
    delta : float
        Larger values make the rates more alike.
    forget : int, optional
        Half-life in labels: after every `forget` labels the sums of squared gradients
        count half, and so do class counts and the running statistics of the scaling. Default:
        nothing is forgotten.

    References
    ----------
    Duchi, Hazan & Singer, "Adaptive subgradient methods" (2011).

    Examples
    --------
    >>> from lopsided import AdaFOBOS
    >>> X, y = [[2.0, 0.0], [0.0, 0.5], [3.0, 1.0]], [1, 0, 1]
    >>> model = AdaFOBOS(scaling="none", learning_rate=1, delta=2, l1=1).fit(X, y)
    >>> [round(w, 4) for w in model.coef_.tolist()], model.nnz_
    ([0.3568, 0.0], 1)
    """

    learning_rate: float = positive(1.0)
    delta: float = positive(1.0)
    forget: int | None = forgetting()

    _core_name = "adaptive-fobos"


@estimator
class AdaRDA(SparseClassifier):
    """Adaptive dual averaging: weights from the sum of all gradients, a rate per feature.

    Parameters
    ----------
    learning_rate : float
        Size of the step; it is divided by delta plus the root of the sum of the feature's squared
        gradients.
    l1 : float
        The sum of gradients is shrunk by l1 per round.
    delta : float
        Larger values make the rates more alike.
    offset : {0, 1}
        Rounds of shrinkage beyond those learned from.

    References
    ----------
    Duchi, Hazan & Singer, "Adaptive subgradient methods" (2011).

    Examples
    --------
    >>> from lopsided import AdaRDA
    >>> X, y = [[2.0, 0.0], [0.0, 0.5], [3.0, 1.0]], [1, 0, 1]
    >>> model = AdaRDA(scaling="none", learning_rate=1, delta=2, l1=0.25).fit(X, y)
    >>> model.coef_.tolist(), model.nnz_
    ([0.3125, 0.0], 1)
    """

    learning_rate: float = positive(1.0)
    delta: float = positive(1.0)
    offset: int = integer(0, 0, 1)

    _core_name = "adaptive-rda"

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        if self.target_sparsity is not None and self.offset:
            raise ParameterError("target_sparsity", "chooses the shrink: offset has no effect")

    def _own_options(self) -> dict[str, Any]:
        own = super()._own_options()
        own["offset"] = bool(own["offset"])
        return own


@estimator
class DualAveraging(SparseClassifier):
    """Sparse learning by dual averaging: weights are the shrunken sum of all steps.

    FSOL shrinks by a constant, RDA by an amount that grows with the rounds.

    Parameters
    ----------
    learning_rate : float
        Size of the step.
    schedule : {"constant", "sqrt"}
        Whether the rate stays the same or is divided by the square root of the round.
    l1 : float
        How much the sum is shrunk, by `l1_schedule`.
    l1_schedule : {"constant", "rda", "inverse", "sqrt", "inverse_sqrt"}
        In round t by learning_rate * l1, learning_rate * l1 * (t - 1), l1 / t, l1 * sqrt(t) or
        l1 / sqrt(t). For any other schedule of the rate or of l1 set them with `set_params` before
        each `partial_fit`.
    beta : {"constant", "sqrt", "linear"}
        With "rda": the divisor of the shrunken sum: 1, the square root of t - 1, or t - 1.
    enhancement : float
        With "rda": additional shrinkage, as a multiple of the square root of t - 1.

    References
    ----------
    Wang et al., "A framework of sparse online learning and its applications", algorithm 3;
    Xiao, "Dual averaging methods for regularized stochastic learning and online optimization"
    (2010).

    Examples
    --------
    >>> from lopsided import DualAveraging
    >>> X, y = [[2.0, 0.0], [0.0, 0.5], [3.0, 1.0]], [1, 0, 1]
    >>> model = DualAveraging(scaling="none", learning_rate=0.5, l1=0.5).fit(X, y)
    >>> model.coef_.tolist(), model.nnz_
    ([0.75, 0.0], 1)
    """

    learning_rate: float = positive(1.0)
    schedule: str = choice("constant", "constant", "sqrt")
    l1_schedule: str = choice("constant", *L1_SCHEDULES)
    beta: str = choice("constant", "constant", "sqrt", "linear")
    enhancement: float = number(0.0, low=0)

    _core_name = "dual-averaging"

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        if self.l1_schedule != "rda" and (self.beta != "constant" or self.enhancement != 0):
            raise ParameterError("beta", "and enhancement are only for l1_schedule='rda'")
        if self.target_sparsity is not None:
            if self.enhancement != 0:
                raise ParameterError(
                    "target_sparsity", "chooses the shrink: enhancement has no effect"
                )
            if self.beta == "constant":
                _check_no_schedule(self.l1_schedule, "constant")

    def _default_l1(self) -> float:
        return _DEFAULT_L1[self.l1_schedule]


@estimator
class SSOL(SparseClassifier):
    """Second-order sparse online learning: dual averaging with a step for each direction.

    Each row enters the second-order memory before it is scored, whether or not there is a step.

    Parameters
    ----------
    learning_rate : float
        Size of the step.
    schedule : {"constant", "sqrt"}
        Whether the rate stays the same or is divided by the square root of the round.
    l1 : float
        How much the weights are shrunk, by `l1_schedule`.
    l1_schedule : {"constant", "rda", "inverse", "sqrt", "inverse_sqrt"}
        In round t by learning_rate * l1, learning_rate * l1 * (t - 1), l1 / t, l1 * sqrt(t) or
        l1 / sqrt(t). The inverse ones tend to 0: for a sparse model choose another one, or
        `target_sparsity`.
    regularization : float
        r: larger values make the steps shrink more slowly.
    covariance : {"diagonal", "full"}
        Whether the full matrix is kept or only its diagonal.
    covariance_dtype : {"float64", "float32"}
        With covariance="full": its precision. "float32" takes half the memory and less time;
        values of r below a thousandth of a row's squared length are raised to that.
    diag_rule : {"shared", "coordinate"}
        With covariance="diagonal": shrink it like the full matrix, or each entry by its own share.
    transductive : bool
        Let a row enter a copy of the memory when it is only scored, as in learning, but without
        features that are new in it.

    References
    ----------
    Wang et al., "A framework of sparse online learning and its applications", algorithms 4 and 5.

    Examples
    --------
    >>> from lopsided import SSOL
    >>> X, y = [[1.0, 0.0], [0.0, 0.5], [1.0, 1.0]], [1, 0, 1]
    >>> model = SSOL(scaling="none", learning_rate=1, l1=1.5).fit(X, y)
    >>> [round(w, 4) for w in model.coef_.tolist()], model.nnz_
    ([0.4076, 0.0], 1)
    """

    learning_rate: float = positive(1.0)
    schedule: str = choice("constant", "constant", "sqrt")
    l1_schedule: str = choice("inverse", *L1_SCHEDULES)
    regularization: float = positive(1.0)
    covariance: str = choice("diagonal", "diagonal", "full")
    covariance_dtype: str = choice("float64", "float64", "float32")
    diag_rule: str = choice("shared", "shared", "coordinate")
    transductive: bool = switch(False)

    _core_name = "ssol"
    _fixed = (*SparseClassifier._fixed, "covariance_dtype")

    @property
    def covariance_(self) -> NDArray[np.float64]:
        """The second-order memory, a matrix or its diagonal; an intercept's entries come first."""
        state = self._attribute("covariance_").state()
        if "full" in self.fitted.kind:
            return np.asarray(state[entry.COVARIANCE], dtype=np.float64)
        diagonal = np.ones(self.n_features_in_ + self.fitted.constants)
        kept = np.asarray(state[entry.FEATURE_VALUES])[:, 1]
        diagonal[state[entry.FEATURES]] = np.where(kept == 0, 1, kept)
        return diagonal

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        check_covariance_dtype(self.covariance, self.covariance_dtype)
        if self.covariance == "full" and self.diag_rule != "shared":
            raise ParameterError("diag_rule", "has an effect only with covariance='diagonal'")
        if self.transductive and self.clip != 0:
            raise InputError("transductive scores are not clipped: leave clip or transductive out")
        if self.target_sparsity is not None:
            _check_no_schedule(self.l1_schedule, "inverse")

    def _default_l1(self) -> float:
        return _DEFAULT_L1[self.l1_schedule]

    def core_kind(self) -> str:
        """Return the name of this learner in the core."""
        return covariance_kind(self._core_name, self.covariance, self.covariance_dtype)

    def _own_options(self) -> dict[str, Any]:
        own = super()._own_options()
        del own["covariance"], own["covariance_dtype"]
        if self.covariance == "full":
            del own["diag_rule"]
        return own


def _check_no_schedule(given: str, default: str) -> None:
    if given != default:
        raise ParameterError("target_sparsity", "chooses the shrink: l1_schedule has no effect")
