r"""The regret bound of KOIL, computed from a run.

As `lopsided.theory.bounds`, for Theorem 1 of KOIL, equations (16) and (17). With

    L_t(f) = |f|^2 / 2 + C sum of the losses against the k nearest kept rows of the other class

and the step f' = f - eta dL_t(f), the paper says that the regret against any f* is at most

    |f*|^2 / (2 eta) + eta C k sum_t (U - 1 + (k + 1) C (X^2 - xi_1^2)),                        (16)

U being the largest loss, X^2 the largest k(x, x) and xi_1^2 the least kernel of a row and one of
its neighbours. A compensated buffer adds to it (17). Write dL_t(f_t) = f_t - g_t. Summing |f_t|^2
gives

    sum |f_t - g_t|^2 <= (sum |g_t|^2 + |f_1|^2 / eta) / (1 - eta),

so that for 0 < eta < 1 the regret is at most ("corrected")

    |f_1 - f*|^2 / (2 eta) + |f_1|^2 / (2 - 2 eta) + T eta / (2 - 2 eta) max |g|^2,

|g|^2 <= 2 (C k)^2 (X^2 - xi_1^2) for the hinge and 4 U times as much for its square. Hence (16) is
true for the hinge and eta <= 1 / (k + 1). It is false for larger rates, and for the squared hinge,
whose slope it forgets: the tests hold streams that show it. Rounds count from when both classes are
kept, because before there are no pairs.

References
----------
J. Hu et al., "Kernelized Online Imbalanced Learning with Fixed Budgets" (KOIL).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, InputTypeError, ParameterError
from ._shared import Bound, Floats, labelled_rows

__all__ = ["KernelRun", "koil_theorem1", "record"]

Form = Literal["corrected", "printed", "compensated"]
Kept = dict[int, list[tuple[Floats, float]]]


@dataclass(frozen=True, eq=False)
class KernelRun:
    """One pass of KOIL as functions, which are vectors of weights of the rows of the stream.

    Parameters
    ----------
    functions : array of shape (T + 1, n)
        f_t before each round that has pairs, and after the last.
    y, rows : arrays of shape (T,)
        The label and the row of each round.
    near : list of T arrays
        The k nearest kept rows of the other class in each round.
    K : array of shape (n, n)
        The kernel matrix of the stream.
    C, learning_rate : float
        Parameters of the learner.
    n_neighbors : int
        k.
    squared : bool
        Whether the loss is the squared hinge.
    largest : float
        The largest weight of a kept row during the pass.
    """

    functions: Floats
    y: Floats
    rows: NDArray[np.int64]
    near: list[NDArray[np.int64]]
    K: Floats
    C: float
    learning_rate: float
    n_neighbors: int
    squared: bool
    largest: float

    @property
    def rounds(self) -> range:
        """The numbers of the rounds."""
        return range(len(self.rows))

    def inner(self, a: Floats, b: Floats) -> float:
        """Inner product of two functions."""
        return float(a @ self.K @ b)

    def _hinges(self, f: Floats, t: int) -> Floats:
        values = self.K @ f
        pairs = self.y[t] * (values[self.rows[t]] - values[self.near[t]])
        return np.asarray(np.maximum(0.0, 1.0 - pairs))

    def losses(self, f: Floats, t: int) -> Floats:
        """Losses of a function on the pairs of a round."""
        hinges = self._hinges(f, t)
        return hinges**2 if self.squared else hinges

    def objective(self, f: Floats, t: int) -> float:
        """L_t of a function."""
        return self.inner(f, f) / 2 + self.C * float(self.losses(f, t).sum())

    def pull(self, f: Floats, t: int) -> Floats:
        """g_t at a function: f less it is the gradient of L_t."""
        hinges = self._hinges(f, t)
        slope = self.C * self.y[t] * (2 * hinges if self.squared else (hinges > 0).astype(float))
        g = np.zeros(len(self.K))
        np.add.at(g, self.near[t], -slope)
        g[self.rows[t]] += slope.sum()
        return g

    def regret(self, best: Floats) -> float:
        """How much more the functions of the run lost than `best`."""
        gaps = (self.objective(self.functions[t], t) - self.objective(best, t) for t in self.rounds)
        return math.fsum(gaps)

    @property
    def spread(self) -> float:
        """X^2 - xi_1^2."""
        pairs = [float(self.K[self.rows[t], self.near[t]].min()) for t in self.rounds]
        return float(self.K.diagonal().max()) - max(0.0, min(pairs))

    @property
    def largest_loss(self) -> float:
        """U."""
        losses = [float(self.losses(self.functions[t], t).max()) for t in self.rounds]
        return max(1.0, *losses)

    def moved(self) -> Iterator[Floats]:
        """Yield what each replacement did to the function beyond the step."""
        eta = self.learning_rate
        for t in self.rounds:
            step = (1 - eta) * self.functions[t] + eta * self.pull(self.functions[t], t)
            change = self.functions[t + 1] - step
            change[np.abs(change) < 1e-12 * self.largest] = 0
            yield change


def record(model: Any, X: ArrayLike, y: ArrayLike) -> KernelRun:
    """Run a new learner with the parameters of ``model`` over a stream and keep the material.

    Parameters
    ----------
    model : KOIL
        Only its parameters are used: a Gaussian kernel with a given gamma, a given number of
        neighbours, and rows as they are.
    X, y : arrays of shape (T, d) and (T,)
        The stream, labels -1 or +1.

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.KOIL(gamma=1.0, C=1.0, learning_rate=0.1, n_neighbors=1, scaling="none")
    >>> run = record(model, [[0.0], [1.0], [0.1], [0.9]], [1, -1, 1, -1])
    >>> len(run.rows), koil_theorem1(run).holds
    (2, True)
    """
    params = model.get_params()
    if type(model).__name__ != "KOIL":
        raise InputTypeError(f"there is a bound for KOIL, not for {type(model).__name__}")
    assumed = {
        "scaling": ("none",),
        "kernel": ("gaussian",),
        "kernels": (None,),
        "scale_C": (False,),
        "schedule": ("constant",),
    }
    for key, allowed in assumed.items():
        if params.get(key, allowed[0]) not in allowed:
            raise InputError(f"the bound assumes {key}={allowed[0]!r}, got {params[key]!r}")
    for key in ("gamma", "n_neighbors"):
        if not isinstance(params[key], (int, float)):
            raise InputError(f"the bound assumes a given {key}, got {params[key]!r}")
    X, y = labelled_rows(X, y)
    K = np.exp(-float(params["gamma"]) * np.sum((X[:, None] - X) ** 2, axis=2))
    states = list(_states(type(model)(**{**params, "positive": 1}), X, y))
    return _as_functions(states, X, y, K, params)


def _states(learner: Any, X: Floats, y: Floats) -> Iterator[Kept]:
    """Yield both buffers before each round and after the last."""
    yield {-1: [], 1: []}
    for x, label in zip(X, y, strict=True):
        learner.partial_fit(x[None], [int(label)], classes=[-1, 1])
        negatives = int(learner.n_support_[0])
        kept = list(zip(np.asarray(learner.support_vectors_), learner.dual_coef_, strict=True))
        yield {-1: kept[:negatives], 1: kept[negatives:]}


def _as_functions(
    states: list[Kept], X: Floats, y: Floats, K: Floats, params: dict[str, Any]
) -> KernelRun:
    place: dict[bytes, int] = {}
    for i, x in enumerate(X):
        place.setdefault(x.tobytes(), i)
    begin = next((t for t, s in enumerate(states[:-1]) if s[-1] and s[1]), len(y))
    functions = np.zeros((len(states) - begin, len(y)))
    rows: list[int] = []
    near: list[NDArray[np.int64]] = []
    largest = 0.0
    k = int(params["n_neighbors"])
    for t, state in enumerate(states[begin:]):
        for x, weight in state[-1] + state[1]:
            functions[t, place[x.tobytes()]] += weight
            largest = max(largest, abs(float(weight)))
        if begin + t < len(y):
            i = place[X[begin + t].tobytes()]
            other = [place[x.tobytes()] for x, _ in state[-int(y[begin + t])]]
            rows.append(i)
            closest = np.argsort(-K[i, other], kind="stable")[:k]
            near.append(np.array(other, dtype=np.int64)[closest])
    return KernelRun(
        functions=functions,
        y=y[begin:],
        rows=np.array(rows, dtype=np.int64),
        near=near,
        K=K,
        C=float(params["C"]),
        learning_rate=float(params["learning_rate"]),
        n_neighbors=k,
        squared=params["loss"] == "squared",
        largest=largest,
    )


def koil_theorem1(
    run: KernelRun, best: ArrayLike | None = None, *, form: Form = "corrected"
) -> Bound:
    r"""Regret of the localized objective (KOIL, Theorem 1).

    Parameters
    ----------
    run : KernelRun
        A run of KOIL with at least one round that has pairs.
    best : array of shape (n,), optional
        f*, by the weights of the rows of the stream. Default: 0.
    form : {"corrected", "printed", "compensated"}
        ``"corrected"`` holds without a replacement and below a rate of 1. ``"printed"`` is
        equation (16), with :math:`\|f_1 - f^*\|^2` for :math:`\|f^*\|^2`, because the first rounds
        have no pairs. ``"compensated"`` is (17), for the policies that end in ++.
    """
    if not len(run.rows):
        raise InputError("the run has no round with a pair")
    wanted = np.zeros(len(run.K)) if best is None else np.asarray(best, dtype=np.float64)
    if wanted.shape != (len(run.K),):
        raise ParameterError("best", f"must be {len(run.K)} weights")
    rights = {"corrected": _corrected, "printed": _printed, "compensated": _compensated}
    if form not in rights:
        raise ParameterError("form", f"is {form!r}, expected one of {tuple(rights)}")
    name = "KOIL Theorem 1" + ("" if form == "corrected" else f" ({form})")
    return Bound(name, run.regret(wanted), rights[form](run, wanted))


def _start(run: KernelRun, best: Floats) -> float:
    away = run.functions[0] - best
    return run.inner(away, away) / (2 * run.learning_rate)


def _corrected(run: KernelRun, best: Floats) -> float:
    eta = run.learning_rate
    largest = 2 * (run.C * run.n_neighbors) ** 2 * run.spread
    if run.squared:
        largest *= 4 * run.largest_loss
    first = run.inner(run.functions[0], run.functions[0])
    return _start(run, best) + (first + eta * len(run.rows) * largest) / (2 - 2 * eta)


def _printed(run: KernelRun, best: Floats) -> float:
    C, k = run.C, run.n_neighbors
    more = run.largest_loss - 1 + (k + 1) * C * run.spread
    return _start(run, best) + run.learning_rate * C * k * len(run.rows) * more


def _compensated(run: KernelRun, best: Floats) -> float:
    pairs = [np.flatnonzero(change) for change in run.moved()]
    if any(len(pair) not in (0, 2) for pair in pairs):
        raise InputError("the compensated form is about the policies rs++ and fifo++")
    likeness = [float(run.K[pair[0], pair[1]]) for pair in pairs if len(pair)]
    away = float(run.K.diagonal().max()) - max(0.0, min(likeness, default=0.0))
    gamma = run.largest / run.learning_rate
    root = math.sqrt(away * run.spread)
    more = 4 * gamma * run.C * run.n_neighbors * root + 2 * gamma**2 * away
    return _printed(run, best) + len(run.rows) * more
