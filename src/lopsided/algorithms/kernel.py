"""Learners whose score is a sum of kernels at rows they keep."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, ParameterError
from ..estimator import state as entry
from ..estimator.parameters import (
    choice,
    estimator,
    fraction,
    integer,
    is_number,
    number,
    parameter,
    positive,
    sizes,
    switch,
)
from .kernel_base import KERNEL_PARAMETERS, KernelClassifier, is_kernels, kernel_options


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


@estimator
class KOIL(KernelClassifier):
    """Kernelized online imbalanced learning: nonlinear ranking of the classes on a fixed budget.

    Each class has a buffer of rows. A new row is compared with the nearest rows of the other class;
    those that are not ranked correctly by a margin of 1 lose weight, which the new row gains.
    Scores rank events: they maximise the area under the ROC curve, whatever the class ratio.

    Event weights multiply `C`.

    Parameters
    ----------
    policy : {"rs++", "rs", "fifo++", "fifo", "infinite"}
        What a full buffer does: "rs" keeps a uniform sample of all rows, "fifo" the newest;
        "infinite" is never full. With "++" the weight of a dropped row goes to the nearest row of
        its class.
    loss : {"hinge", "squared"}
        Loss of a pair of rows.
    C : float
        Weight of the loss of a pair against the regularization.
    learning_rate : float
        Size of the step; weights shrink by 1 - learning_rate with every row.
    schedule : {"constant", "sqrt"}
        Whether the rate stays the same or is divided by the square root of the round.
    buffer_size : int or (int, int)
        Capacity of the buffer of each class, or of the negative and the positive class.
    n_neighbors : int, optional
        How many rows of the other class a row is compared with. Default: a tenth of the buffer.
    neighbors : {"paper", "code"}
        Of the nearest rows those that violate the margin (paper), or the nearest of those that
        violate it (the authors' code).
    scale_C : bool
        Multiply C by the events seen of the other class per row in its buffer, if that is above 1.
    fit_threshold : bool
        Subtract a threshold from the scores that separates the buffered rows: half-way between the
        classes if they are separable, otherwise the best of 500 candidates.
    kernels : list of dicts, optional
        Several kernels at once, each like {"kernel": "gaussian", "gamma": 0.5}, instead of `kernel`
        and its parameters. Each has its own buffers. The score is a weighted mean of votes: the
        rank of an event among the last 100 of either class by one kernel, from -1 (below all) to 1
        (above all). The weight of a vote is exp(-eta L), where L is the sum over events of the
        share of the last 100 of the other class that the kernel ranked wrongly, and
        eta = sqrt(8 ln(kernels) / events).
    seed : int
        Seed of the random numbers of "rs" and "rs++".

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
    schedule: str = choice("constant", "constant", "sqrt")
    buffer_size: Any = sizes(100)
    n_neighbors: int | None = integer(None, 1, 10**6, optional=True)
    neighbors: str = choice("paper", "paper", "code")
    scale_C: bool = switch(False)  # noqa: N815
    fit_threshold: bool = switch(False)
    kernels: Any = parameter(None, "a list of dicts or None", is_kernels)
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
        losses = np.array(state[entry.HEDGE_LOSSES])
        rate = math.sqrt(8 * math.log(len(losses)) / max(state[entry.HEDGE_ROUNDS], 1e-300))
        votes = np.exp(-rate * (losses - losses.min()))
        return [
            KernelMember(
                kernel=one.get("kernel", "gaussian"),
                gamma=float(state[entry.GAMMA_OF.format(k)]),
                weight=float(votes[k] / votes.sum()),
                loss=float(losses[k] / max(state[entry.HEDGE_ROUNDS], 1e-300)),
                n_support=tuple(
                    int(state[entry.LIST_SIZE_OF.format(name, k)]) for name in self._lists
                ),
            )
            for k, one in enumerate(self.kernels)
        ]

    def _kept(self, name: str) -> list[tuple[Any, NDArray[np.float64]]]:
        if self.kernels is not None:
            raise AttributeError(f"{name}: with kernels= there is more than one list, see members_")
        return super()._kept(name)

    def _scale(self, state: Mapping[str, Any]) -> float:
        return float(state[entry.KOIL_SCALE])

    def core_kind(self) -> str:
        """Return the name of this learner in the core."""
        return self._core_name if self.kernels is None else f"{self._core_name}-mixture"

    def _kernel_options(self) -> dict[str, Any]:
        if self.kernels is None:
            return super()._kernel_options()
        for name, usual in (("kernel", "gaussian"), *dict.fromkeys(KERNEL_PARAMETERS).items()):
            if getattr(self, name) != usual:
                raise ParameterError(name, "has no effect with kernels=: it belongs into the dicts")
        options: dict[str, Any] = {"members": float(len(self.kernels))}
        for k, one in enumerate(self.kernels):
            given = dict(one)
            found = dict.fromkeys(KERNEL_PARAMETERS, 1.0)
            found |= kernel_options(given.pop("kernel", "gaussian"), given)
            options |= {f"{name}.{k}": value for name, value in found.items()}
        return options

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        if self.policy == "infinite":
            for name, usual in (("buffer_size", 100), ("scale_C", False)):
                if getattr(self, name) != usual:
                    raise ParameterError(name, "has no effect on policy='infinite'")
        if self.seed != 0 and not self.policy.startswith("rs"):
            raise ParameterError("seed", f"has no effect on policy={self.policy!r}")

    def _own_options(self) -> dict[str, Any]:
        own = super()._own_options()
        for name in ("buffer_size", "n_neighbors", "neighbors", "kernels"):
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


@estimator
class KernelPerceptron(KernelClassifier):
    """Kernel perceptron: every misclassified row is kept.

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


@estimator
class NORMA(KernelClassifier):
    """NORMA: gradient steps on the hinge loss in the kernel's feature space, decaying weights.

    Event weights multiply the weight of a row.

    Parameters
    ----------
    learning_rate : float
        Size of the step.
    regularization : float
        In every round weights are multiplied by 1 - learning_rate * regularization.
    nu : float, optional
        Adapt the margin so that about this share of the rows falls below it; above 0, at most 1.
        Default: the margin is 1.
    bias : bool
        Learn a constant as well, `intercept_`.
    truncation : int, optional
        Drop rows after this number of rounds.

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
    nu: float | None = parameter(
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
        return float(self._attribute("intercept_").state()[entry.BIAS])

    def _scale(self, state: Mapping[str, Any]) -> float:
        return float(state[entry.NORMA_SCALE])

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        if self.learning_rate * self.regularization >= 1:
            raise InputError("learning_rate * regularization must be below 1: weights shrink by it")


@estimator
class RBP(KernelClassifier):
    """Randomized budget perceptron: a misclassified row replaces a random one.

    Event weights multiply the weight of a row.

    Parameters
    ----------
    buffer_size : int
        How many rows are kept.
    seed : int
        Seed of the random numbers.

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


@estimator
class Forgetron(KernelClassifier):
    """Forgetron: weights shrink until dropping the oldest row does little harm.

    It needs a kernel with k(x, x) <= 1: "gaussian" or "laplacian".

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

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        super().check_params()
        if self.kernel not in ("gaussian", "laplacian"):
            raise ParameterError(
                "kernel",
                "is invalid: the Forgetron needs k(x, x) <= 1, as of 'gaussian' and 'laplacian'",
                value=self.kernel,
            )


@estimator
class Projectron(KernelClassifier):
    """Projectron: a row close to the span of those kept changes their weights and is not kept.

    The number of rows kept follows from `tolerance`; time and memory per step grow with its square.
    Event weights multiply the step, except for Projectron++, which takes none.

    Parameters
    ----------
    tolerance : float
        Rows within this distance of the span of those kept are not kept.
    plus_plus : bool
        Projectron++: also step on right answers with a margin below 1.
    threshold : {"norm", "squared"}
        Whether `tolerance` is compared with the distance or its square.

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
