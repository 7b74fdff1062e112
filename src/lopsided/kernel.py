"""Learners whose score is a sum of kernels at rows they keep."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._parameters import (
    _parameter,
    choice,
    fraction,
    integer,
    is_number,
    number,
    positive,
    sizes,
    switch,
)
from .base import OnlineClassifier

_learner = dataclasses.dataclass(kw_only=True, eq=False, repr=False)
_KERNELS = ("gaussian", "laplacian", "linear", "polynomial")
# What each kernel takes, and what it is where it is not given.
_TAKES: dict[str, dict[str, Any]] = {
    "gaussian": {"gamma": "median"},
    "laplacian": {"gamma": "median"},
    "linear": {},
    "polynomial": {"gamma": 1.0, "degree": 3, "coef0": 1.0},
}


_KERNEL_PARAMETERS = ("gamma", "degree", "coef0")


def _is_gamma(value: Any) -> bool:
    if isinstance(value, str):
        return value == "median"
    return value is None or (is_number(value) and value > 0)


def _is_degree(value: Any) -> bool:
    return value is None or (is_number(value) and value == int(value) and 1 <= value <= 64)


def _is_coef0(value: Any) -> bool:
    return value is None or (is_number(value) and value >= 0)


_CHECKS: dict[Any, Callable[[Any], bool]] = {
    "kernel": lambda v: v in _KERNELS,
    "gamma": _is_gamma,
    "degree": _is_degree,
    "coef0": _is_coef0,
}


def _is_kernel(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        name in _CHECKS and _CHECKS[name](v) for name, v in value.items()
    )


def _is_kernels(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(map(_is_kernel, value))


def kernel_options(kernel: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a kernel as the core takes it; a gamma of 0 is to be taken from the first rows."""
    takes = _TAKES[kernel]
    for name, value in given.items():
        if value is not None and name not in takes:
            raise ValueError(f"{name} has no effect on kernel={kernel!r}")
    chosen = takes | {name: value for name, value in given.items() if value is not None}
    if chosen.get("gamma") == "median":
        if kernel == "polynomial":
            raise ValueError("gamma='median' is for kernels of a distance, not for 'polynomial'")
        chosen["gamma"] = 0.0
    return {"kernel": kernel} | {name: float(value) for name, value in chosen.items()}


@_learner
class KernelClassifier(OnlineClassifier):
    """An online classifier whose score is a sum of kernels, one at each row it keeps.

    `scaling="auto"` is "unit" for sparse matrices and "standard" for anything else.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian", "linear", "polynomial"}
        exp(-gamma |x - z|^2), exp(-gamma |x - z|_1), x.z or (gamma x.z + coef0)^degree.
    gamma : float or "median", optional
        Default "median", of the polynomial kernel 1. "median" is 1 / median of the distances
        between the first 50 rows, squared ones for "gaussian", leaving out those that are 0. As
        long as fewer have come it is taken from those, and they are learned anew with every row.
    degree : int, optional
        Of the polynomial kernel; default 3.
    coef0 : float, optional
        Of the polynomial kernel; default 1.
    """

    kernel: str = choice("gaussian", *_KERNELS)
    gamma: Any = _parameter(None, "a positive number, 'median' or None", _is_gamma)
    degree: int | None = _parameter(None, "a whole number from 1 to 64 or None", _is_degree)
    coef0: float | None = _parameter(None, "a number of at least 0 or None", _is_coef0)

    _fixed = (*OnlineClassifier._fixed, "kernel", "gamma", "degree", "coef0")
    _lists: ClassVar[tuple[str, ...]] = ("kept",)  # the names of the lists of rows in the core

    @property
    def support_vectors_(self) -> Any:
        """The rows it keeps, as they were scaled: an array, or a CSR matrix of sparse rows."""
        parts = [part for part, _ in self._kept("support_vectors_")]
        if all(isinstance(part, np.ndarray) for part in parts):
            return np.vstack(parts)
        from scipy.sparse import csr_matrix, vstack

        return vstack([csr_matrix(part) for part in parts], format="csr")

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The weight of each row it keeps."""
        weights = np.concatenate([weights for _, weights in self._kept("dual_coef_")])
        return self._scale(self._attribute("dual_coef_").state()) * weights

    @property
    def n_support_(self) -> Any:
        """How many rows it keeps."""
        return sum(len(weights) for _, weights in self._kept("n_support_"))

    @property
    def gamma_(self) -> float:
        """The gamma of the kernel, as it is now."""
        gamma = self._attribute("gamma_").state().get("kernel.gamma")
        if gamma is None:
            raise AttributeError("gamma_: with kernels= there is more than one, see members_")
        return float(gamma)

    def _scale(self, state: Mapping[str, Any]) -> float:
        """Return what the weights in the core are to be multiplied by."""
        return 1.0

    def _kept(self, name: str) -> list[tuple[Any, NDArray[np.float64]]]:
        """Return the rows and weights of each list, in its order."""
        model = self._attribute(name)
        state, features = model.state(), model.features
        return [_rows(state, one, features) for one in self._lists]

    def _scaling(self, form: str) -> dict[str, bool]:
        if self.scaling == "auto" and form != "sparse":
            return {"unit": False, "standard": True, "centred": form == "dense"}
        return super()._scaling(form)

    def _check(self) -> None:
        super()._check()
        self._kernel_options()

    def _kernel_options(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in _KERNEL_PARAMETERS}
        return kernel_options(self.kernel, given)

    def _own_options(self) -> dict[str, Any]:
        own = super()._own_options()
        for name in ("kernel", *_KERNEL_PARAMETERS):
            own.pop(name, None)
        return {**own, **self._kernel_options()}


def _rows(state: Mapping[str, Any], name: str, features: int) -> tuple[Any, NDArray[np.float64]]:
    """Return the rows and weights of a list of the core, in its order."""
    slots, size, first = (int(state[f"{name}.{k}"]) for k in ("slots", "size", "first"))
    order = (first + np.arange(size)) % max(slots, 1)
    values = np.asarray(state[f"kept.{name}.values"])
    weights = np.asarray(state[f"kept.{name}.weights"])[order]
    if not state[f"{name}.sparse"]:
        return values.reshape(slots, features)[order], weights
    from scipy.sparse import csr_matrix

    indices = np.asarray(state[f"kept.{name}.indices"]).astype(np.int32)
    ends = np.asarray(state[f"kept.{name}.ends"]).astype(np.int64)
    return csr_matrix((values, indices, np.r_[0, ends]), shape=(slots, features))[order], weights


@dataclasses.dataclass(frozen=True)
class KernelMember:
    """One of several kernels of a model.

    Attributes
    ----------
    kernel : str
        Its name.
    gamma : float
        Its gamma.
    weight : float
        Of its vote; all sum to 1.
    loss : float
        The share of pairs it has ranked wrongly so far.
    n_support : (int, int)
        How many negative and positive rows it keeps.
    """

    kernel: str
    gamma: float
    weight: float
    loss: float
    n_support: tuple[int, ...]


@_learner
class KOIL(KernelClassifier):
    """Kernelized online imbalanced learning: nonlinear ranking of the classes on a fixed budget.

    Each class has a list of rows. A new row is held against the nearest rows of the other class;
    those it does not beat by 1 lose weight, and it gets what they lose. Scores rank events: they
    are trained for a large area under the ROC curve, whatever the share of the classes.

    Event weights multiply `C`.

    Parameters
    ----------
    policy : {"rs++", "rs", "fifo++", "fifo", "infinite"}
        What a full list does: "rs" keeps a uniform sample of all rows, "fifo" the newest;
        "infinite" is never full. With "++" the weight of the row dropped goes to the nearest of its
        class.
    loss : {"hinge", "squared"}
        Of a pair of rows.
    C : float
        How much a pair counts against the size of the weights.
    learning_rate : float
        Size of the step; weights shrink by 1 - learning_rate with every row.
    buffer_size : int or (int, int)
        The longest list of each class, or of the negative and the positive class.
    n_neighbors : int, optional
        How many rows of the other class a row is held against. Default: a tenth of their list.
    neighbors : {"paper", "code"}
        Those of the nearest rows that are not beaten by 1 (paper), or the nearest of those that
        are not (the authors' code).
    scale_C : bool
        Multiply C by the events of the other class for each row in its list, where that is above 1.
    fit_threshold : bool
        Subtract from the scores a threshold between the rows of the lists: half-way between the
        classes if they are apart, otherwise the best of 500 steps.
    kernels : list of dicts, optional
        Several kernels at once, each like {"kernel": "gaussian", "gamma": 0.5}, instead of `kernel`
        and its parameters. Each has its own lists. The score is a mean of votes: where an event
        stands among the last 100 of either class by one kernel, from -1 (below all) to 1 (above
        all). A vote weighs exp(-eta L), where L is the sum over events of the share of the last 100
        of the other class that the kernel ranked wrongly, eta = sqrt(8 ln(kernels) / events).
    seed : int
        Of the random numbers of "rs" and "rs++".

    References
    ----------
    Hu et al., "Kernelized online imbalanced learning with fixed budgets" (2015), algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KOIL, progressive
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = (X**2).sum(axis=1) < 0.2
    >>> round(progressive(KOIL(), X, y).auc, 2)
    0.96
    """

    policy: str = choice("rs++", "rs", "rs++", "fifo", "fifo++", "infinite")
    loss: str = choice("hinge", "hinge", "squared")
    C: float = positive(1.0)
    learning_rate: float = fraction(0.01)
    buffer_size: Any = sizes(100)
    n_neighbors: int | None = integer(None, 1, 10**6, optional=True)
    neighbors: str = choice("paper", "paper", "code")
    scale_C: bool = switch(False)  # noqa: N815
    fit_threshold: bool = switch(False)
    kernels: Any = _parameter(None, "a list of dicts or None", _is_kernels)
    seed: int = integer(0, 0, 2**32 - 1)

    _core_name = "koil"
    _fixed = (*KernelClassifier._fixed, "policy", "buffer_size", "kernels", "seed")
    _lists = ("negative", "positive")

    @property
    def n_support_(self) -> tuple[int, int]:
        """How many negative and positive rows it keeps."""
        negative, positive = (len(weights) for _, weights in self._kept("n_support_"))
        return negative, positive

    @property
    def members_(self) -> list[KernelMember]:
        """The kernels of `kernels` with their weights in the vote."""
        state = self._attribute("members_").state()
        if self.kernels is None:
            raise AttributeError("members_: there is one kernel only")
        losses = np.array(state["hedge.losses"])
        rate = math.sqrt(8 * math.log(len(losses)) / max(state["hedge.rounds"], 1e-300))
        votes = np.exp(-rate * (losses - losses.min()))
        return [
            KernelMember(
                kernel=one.get("kernel", "gaussian"),
                gamma=float(state[f"kernel.gamma.{k}"]),
                weight=float(votes[k] / votes.sum()),
                loss=float(losses[k] / max(state["hedge.rounds"], 1e-300)),
                n_support=tuple(int(state[f"{name}.size.{k}"]) for name in self._lists),
            )
            for k, one in enumerate(self.kernels)
        ]

    def _kept(self, name: str) -> list[tuple[Any, NDArray[np.float64]]]:
        if self.kernels is not None:
            raise AttributeError(f"{name}: with kernels= there is more than one list, see members_")
        return super()._kept(name)

    def _scale(self, state: Mapping[str, Any]) -> float:
        return float(state["koil.scale"])

    def _kind(self) -> str:
        return self._core_name if self.kernels is None else f"{self._core_name}-mixture"

    def _kernel_options(self) -> dict[str, Any]:
        if self.kernels is None:
            return super()._kernel_options()
        for name, usual in (("kernel", "gaussian"), *dict.fromkeys(_KERNEL_PARAMETERS).items()):
            if getattr(self, name) != usual:
                raise ValueError(f"{name} has no effect with kernels=: it belongs into the dicts")
        fours = []
        for one in self.kernels:
            given = dict(one)
            options = kernel_options(given.pop("kernel", "gaussian"), given)
            form = float(_KERNELS.index(options["kernel"]))
            fours += [form, *(options.get(k, 1.0) for k in _KERNEL_PARAMETERS)]
        return {"kernels": fours}

    def _check(self) -> None:
        super()._check()
        if self.policy == "infinite":
            for name, usual in (("buffer_size", 100), ("scale_C", False)):
                if getattr(self, name) != usual:
                    raise ValueError(f"{name} has no effect on policy='infinite'")
        if self.seed != 0 and not self.policy.startswith("rs"):
            raise ValueError(f"seed has no effect on policy={self.policy!r}")

    def _own_options(self) -> dict[str, Any]:
        own = super()._own_options()
        for name in ("buffer_size", "n_neighbors", "neighbors"):
            own.pop(name, None)
        pair = self.buffer_size
        pair = tuple(pair) if isinstance(pair, (tuple, list)) else (pair, pair)
        for name, size in zip(self._lists, pair, strict=True):
            own[f"size.{name}"] = float(size)
            own[f"neighbors.{name}"] = float(self.n_neighbors or math.ceil(size / 10))
        return {
            **own,
            "C": float(self.C),
            "violators_first": self.neighbors == "code",
            "seed": float(self.seed),
        }


@_learner
class KernelPerceptron(KernelClassifier):
    """Kernel perceptron: every row that it gets wrong is kept, for good.

    Event weights multiply the weight of a row.

    References
    ----------
    Freund & Schapire, "Large margin classification using the perceptron algorithm" (1999).

    Examples
    --------
    >>> from lopsided import KernelPerceptron
    >>> X, y = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]] * 2, [1, 0, 1, 0] * 2
    >>> model = KernelPerceptron(scaling="none", gamma=1).fit(X, y)
    >>> model.predict(X[:4]).tolist(), model.n_support_
    ([1, 0, 1, 0], 4)
    """

    _core_name = "kernel-perceptron"


@_learner
class NORMA(KernelClassifier):
    """NORMA: gradient steps on a hinge loss in the space of the kernel, with weights that fade.

    Event weights multiply the weight of a row.

    Parameters
    ----------
    learning_rate : float
        Size of the step.
    regularization : float
        In every round weights shrink by 1 - learning_rate * regularization.
    nu : float, optional
        Let the margin move so that about this share of the rows falls below it; from above 0 to 1.
        Default: the margin is 1.
    bias : bool
        Learn a constant as well, `intercept_`.
    truncation : int, optional
        Drop rows that are so many rounds old.

    References
    ----------
    Kivinen, Smola & Williamson, "Online learning with kernels" (2004).

    Examples
    --------
    >>> from lopsided import NORMA
    >>> X, y = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]] * 2, [1, 0, 1, 0] * 2
    >>> model = NORMA(scaling="none", gamma=1, truncation=3).fit(X, y)
    >>> model.n_support_
    3
    """

    learning_rate: float = positive(0.01)
    regularization: float = number(0.01, low=0)
    nu: float | None = _parameter(
        None,
        "a number above 0 and up to 1, or None",
        lambda v: v is None or (is_number(v) and 0 < v <= 1),
    )
    bias: bool = switch(False)
    truncation: int | None = integer(None, 1, 10**9, optional=True)

    _core_name = "norma"
    _fixed = (*KernelClassifier._fixed, "nu", "bias", "truncation")

    @property
    def intercept_(self) -> float:
        """The constant, 0 without bias."""
        return float(self._attribute("intercept_").state()["bias"])

    def _scale(self, state: Mapping[str, Any]) -> float:
        return float(state["norma.scale"])

    def _check(self) -> None:
        super()._check()
        if self.learning_rate * self.regularization >= 1:
            raise ValueError("learning_rate * regularization must be below 1: weights shrink by it")


@_learner
class RBP(KernelClassifier):
    """Randomized budget perceptron: a random row makes room for one that it gets wrong.

    Event weights multiply the weight of a row.

    Parameters
    ----------
    buffer_size : int
        How many rows it keeps.
    seed : int
        Of the random numbers.

    References
    ----------
    Cavallanti, Cesa-Bianchi & Gentile, "Tracking the best hyperplane with a simple budget
    perceptron" (2007).

    Examples
    --------
    >>> from lopsided import RBP
    >>> X, y = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]] * 2, [1, 0, 1, 0] * 2
    >>> RBP(scaling="none", gamma=1, buffer_size=3).fit(X, y).n_support_
    3
    """

    buffer_size: int = integer(200, 1, 10**6)
    seed: int = integer(0, 0, 2**32 - 1)

    _core_name = "rbp"
    _fixed = (*KernelClassifier._fixed, "buffer_size", "seed")


@_learner
class Forgetron(KernelClassifier):
    """Forgetron: all weights shrink until the oldest row can be forgotten at little cost.

    It needs a kernel of at most 1, "gaussian" or "laplacian".

    Parameters
    ----------
    buffer_size : int
        How many rows it keeps.

    References
    ----------
    Dekel, Shalev-Shwartz & Singer, "The Forgetron: a kernel-based perceptron on a budget" (2008),
    the self-tuned form.

    Examples
    --------
    >>> from lopsided import Forgetron
    >>> X, y = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]] * 2, [1, 0, 1, 0] * 2
    >>> Forgetron(scaling="none", gamma=1, buffer_size=3).fit(X, y).n_support_
    3
    """

    buffer_size: int = integer(200, 1, 10**6)

    _core_name = "forgetron"
    _fixed = (*KernelClassifier._fixed, "buffer_size")

    def _weights_matter(self) -> bool:
        return False

    def _check(self) -> None:
        super()._check()
        if self.kernel not in ("gaussian", "laplacian"):
            raise ValueError(
                f"kernel={self.kernel!r} is not possible: the Forgetron needs k(x, x) <= 1, as of "
                "'gaussian' and 'laplacian'"
            )


@_learner
class Projectron(KernelClassifier):
    """Projectron: a row that the kept ones nearly span changes their weights instead of being kept.

    How many rows are kept follows from `tolerance`; time and memory of a step grow with the square
    of it. Event weights multiply the step, except for Projectron++, which takes none.

    Parameters
    ----------
    tolerance : float
        Rows as close as this to the span of those kept are not kept.
    plus_plus : bool
        Projectron++: also step on right answers with a margin below 1.
    threshold : {"norm", "squared"}
        Whether `tolerance` is held against the distance or its square.

    References
    ----------
    Orabona, Keshet & Caputo, "Bounded kernel-based online learning" (2009).

    Examples
    --------
    >>> from lopsided import Projectron
    >>> X, y = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]] * 2, [1, 0, 1, 0] * 2
    >>> model = Projectron(scaling="none", kernel="polynomial", degree=2, coef0=0).fit(X, y)
    >>> model.predict(X[:4]).tolist(), model.n_support_
    ([1, 0, 1, 0], 2)
    """

    tolerance: float = positive(0.1)
    plus_plus: bool = switch(False)
    threshold: str = choice("norm", "norm", "squared")

    _core_name = "projectron"

    def _weights_matter(self) -> bool:
        return not self.plus_plus
