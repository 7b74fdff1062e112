"""The guarantees of the sparse dual-averaging learners, computed from a run.

As `lopsided.theory.bounds`, for the theorems of the sparse learners:

=====================  =================================================================
`sol_theorem2`         loss of FSOL against the loss of any ``u``
`sol_theorem3`         loss of SSOL against the loss of any ``u``
`sol_theorem5`         weighted loss of CS-FSOL against that of any ``u``
`sol_theorem6`         weighted loss of CS-SSOL against that of any ``u``
=====================  =================================================================

The paper bounds the regret against the best model by terms of any ``u``, which cannot be: with
u = 0 no term is left that would let the best model be good. Here both sides speak of the same
``u``, as the proofs do. Each function takes ``form``: ``"any-rate"`` (the default) is the sum at
the end of the proof, row by row; ``"printed"`` is the statement of the theorem. The tests hold
streams on which the printed forms of theorems 5 and 6 fail.

References
----------
D. Wang et al., "A Framework of Sparse Online Learning and Its Applications" (SOL).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, InputTypeError, ParameterError
from ..evaluation.progressive import progressive
from ._shared import STREAM, Bound, Floats, Losses, known_rho, labelled_rows

__all__ = ["SparseRun", "record", "sol_theorem2", "sol_theorem3", "sol_theorem5", "sol_theorem6"]

Form = Literal["any-rate", "printed", "tuned"]


@dataclass(frozen=True, eq=False)
class SparseRun(Losses):
    """What the theorems need of one pass of FSOL or SSOL over a stream.

    Parameters
    ----------
    X : array of shape (T, d)
        The rows as the learner saw them.
    y : array of shape (T,)
        Labels, -1 or +1.
    scores : array of shape (T,)
        Progressive scores: the score of row t before its label was learned.
    last : array of shape (d,)
        Weights after the last round.
    rho : float
        Weight of a positive relative to a negative, the same in all rounds.
    learning_rate : float
        eta.
    l1 : float
        lambda: the threshold of round t is eta lambda for FSOL and lambda / t for SSOL.
    regularization : float, optional
        SSOL's r; None for FSOL.
    memory : {None, "full", "coordinate", "shared"}
        SSOL's matrix A, or the rule of its diagonal; None for FSOL.
    """

    X: Floats
    y: Floats
    scores: Floats
    last: Floats
    rho: float
    learning_rate: float
    l1: float
    regularization: float | None = None
    memory: str | None = None
    loss: str = "II"

    @cached_property
    def thresholds(self) -> Floats:
        """lambda_t of each round."""
        rounds = np.arange(1.0, len(self.y) + 1)
        if self.regularization is None:
            return np.full(len(rounds), self.learning_rate * self.l1)
        return self.l1 / rounds

    @cached_property
    def geometry(self) -> tuple[Floats, Floats]:
        """A after the last round (its diagonal if it is one), and x'A^-1 x of each round.

        A holds the row of its round already, as in learning.
        """
        d = self.X.shape[1]
        A = np.eye(d) if self.memory == "full" else np.ones(d)
        lengths = np.zeros(len(self.X))
        for t, x in enumerate(self.X):
            A = A + self._growth(A, x)
            lengths[t] = x @ (np.linalg.solve(A, x) if A.ndim == 2 else x / A)
        return A, lengths

    def _growth(self, A: Floats, x: Floats) -> Floats:
        if self.regularization is None:
            return np.zeros_like(A)
        if self.memory == "full":
            return np.outer(x, x) / self.regularization
        others = 0.0
        if self.memory == "shared":
            parts = x**2 / A
            others = parts.sum() - parts
        return np.asarray(x**2 / (self.regularization + others))

    def spread(self, u: ArrayLike) -> float:
        """``u'A u`` with the last A: the squared length of u for FSOL."""
        A, vector = self.geometry[0], self.vector(u)
        return float(vector @ (A @ vector if A.ndim == 2 else A * vector))

    @cached_property
    def longest(self) -> float:
        """X of the theorems: the largest l1 norm of a row."""
        return float(np.abs(self.X).sum(axis=1).max())


def record(model: Any, X: ArrayLike, y: ArrayLike) -> SparseRun:
    """Run a new learner with the parameters of ``model`` over a stream and keep the material.

    Parameters
    ----------
    model : DualAveraging or SSOL
        Only its parameters are used. They must describe the learner of the theorems: a known
        constant rho, rows as they are, no intercept, and the paper's thresholds.
    X : array of shape (T, d)
        Rows in the order of arrival.
    y : array of shape (T,)
        Labels, -1 or +1.

    Returns
    -------
    SparseRun

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.DualAveraging(learning_rate=0.5, l1=0.5, scaling="none")
    >>> run = record(model, [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [1, -1, 1])
    >>> run.scores.tolist()
    [0.0, 0.25, 0.0]
    >>> run.learner_loss
    3.25
    """
    params = model.get_params()
    if "l1_schedule" not in params:
        name = type(model).__name__
        raise InputTypeError(f"there are bounds for DualAveraging and SSOL, not for {name}")
    second_order = "regularization" in params
    schedule = "inverse" if second_order else "constant"
    schedules = {"schedule": ("constant",), "l1_schedule": (schedule,), "target_sparsity": (None,)}
    rho = known_rho(params, STREAM | schedules)
    if params["l1"] is None:
        raise InputError("the bounds assume a given l1: pass l1=0.1, for example")
    X, y = labelled_rows(X, y)
    learner = type(model)(**{**params, "positive": 1})
    progress = progressive(learner, X, y.astype(int))
    memory = None
    if second_order:
        memory = "full" if params["covariance"] == "full" else params["diag_rule"]
    return SparseRun(
        X=X,
        y=y,
        scores=np.asarray(progress.scores),
        last=np.asarray(learner.coef_),
        rho=rho,
        learning_rate=float(params["learning_rate"]),
        l1=float(params["l1"]),
        regularization=float(params["regularization"]) if second_order else None,
        memory=memory,
    )


def sol_theorem2(run: SparseRun, u: ArrayLike, *, form: Form = "any-rate") -> Bound:
    r"""Loss of FSOL against the loss of ``u`` (SOL, Theorem 2).

    Over the rounds with a positive loss:

    .. math:: \sum_t \ell_t(w_t) \le \sum_t \ell_t(u) + \frac{\|u\|_2^2}{2\eta}
              + \sum_t \left( \frac{\eta}{2} \|x_t\|_2^2 + \eta\lambda \|x_t\|_1 \right)

    Parameters
    ----------
    run : SparseRun
        A run of FSOL without costs.
    u : array of shape (d,)
        The comparator.
    form : {"any-rate", "printed", "tuned"}
        ``"printed"``: all T rounds, with X, the largest l1 norm of a row, for both norms; a looser
        bound. ``"tuned"``: :math:`\|u\|_2 \sqrt{(X^2 + 2\lambda X) T}`, which is the printed one at
        the learning rate that minimises it, :math:`\|u\|_2 / \sqrt{(X^2 + 2\lambda X) T}`, and
        no bound at others.

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.DualAveraging(learning_rate=0.5, l1=0.0, scaling="none")
    >>> sol_theorem2(record(model, [[1.0], [1.0]], [1, -1]), [0.0])
    Bound(name='SOL Theorem 2', left=2.5, right=2.5)
    """
    return _bound(2, run, u, form)


def sol_theorem3(run: SparseRun, u: ArrayLike, *, form: Form = "any-rate") -> Bound:
    r"""Loss of SSOL against the loss of ``u`` (SOL, Theorem 3).

    Over the rounds with a positive loss, with A the matrix of the learner, which holds a row from
    its own round on:

    .. math:: \sum_t \ell_t(w_t) \le \sum_t \ell_t(u) + \frac{u^\top A_T u}{2\eta}
              + \sum_t \left( \frac{\eta}{2} x_t^\top A_t^{-1} x_t
              + \frac{\lambda}{t} \|x_t\|_1 \right)

    It holds for the full matrix and for both rules of the diagonal.

    Parameters
    ----------
    run : SparseRun
        A run of SSOL without costs.
    u : array of shape (d,)
        The comparator.
    form : {"any-rate", "printed"}
        ``"printed"``: :math:`\frac{\eta}{2} r d \log(1 + X^2 T / r) + \lambda X (\log T + 1)`, with
        X the largest l1 norm of a row, for the sum; a looser bound for the full matrix and for
        ``diag_rule="coordinate"``, none for ``diag_rule="shared"``. The paper calls it
        logarithmic in T, but :math:`u^\top A_T u` grows like T.

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.SSOL(learning_rate=0.5, l1=0.0, scaling="none")
    >>> sol_theorem3(record(model, [[1.0], [1.0]], [1, -1]), [0.0]).slack > 0
    True
    """
    return _bound(3, run, u, form)


def sol_theorem5(run: SparseRun, u: ArrayLike, *, form: Form = "any-rate") -> Bound:
    r"""Weighted loss of CS-FSOL against that of ``u`` (SOL, Theorem 5).

    With c_t the cost of the class, over the rounds with a positive loss:

    .. math:: \sum_t c_t \ell_t(w_t) \le \sum_t c_t \ell_t(u) + \frac{\|u\|_2^2}{2\eta}
              + \sum_t \left( \frac{\eta}{2} c_t^2 \|x_t\|_2^2 + \eta\lambda c_t \|x_t\|_1 \right)

    Parameters and forms are those of `sol_theorem2`, with the sum of c_t for T. The printed forms
    have c_t for its square: no bound where a cost exceeds 1.

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.DualAveraging(
    ...     learning_rate=0.1, l1=0.0, class_weight={1: 4.0, -1: 1.0}, scaling="none"
    ... )
    >>> run = record(model, [[1.0]], [1])
    >>> sol_theorem5(run, run.last).holds, sol_theorem5(run, run.last, form="printed").holds
    (True, False)
    """
    return _bound(5, run, u, form)


def sol_theorem6(run: SparseRun, u: ArrayLike, *, form: Form = "any-rate") -> Bound:
    r"""Weighted loss of CS-SSOL against that of ``u`` (SOL, Theorem 6).

    With c_t the cost of the class, over the rounds with a positive loss:

    .. math:: \sum_t c_t \ell_t(w_t) \le \sum_t c_t \ell_t(u) + \frac{u^\top A_T u}{2\eta}
              + \sum_t \left( \frac{\eta}{2} c_t^2 x_t^\top A_t^{-1} x_t
              + \frac{\lambda}{t} c_t \|x_t\|_1 \right)

    Parameters and forms are those of `sol_theorem3`. The printed form multiplies the terms of
    Theorem 3 by the larger cost, where the first needs its square: no bound if it exceeds 1.

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.SSOL(
    ...     learning_rate=0.1, l1=0.0, class_weight={1: 4.0, -1: 1.0}, scaling="none"
    ... )
    >>> run = record(model, [[1.0]], [1])
    >>> sol_theorem6(run, run.last).holds, sol_theorem6(run, run.last, form="printed").holds
    (True, False)
    """
    return _bound(6, run, u, form)


def _bound(theorem: int, run: SparseRun, u: ArrayLike, form: Form) -> Bound:
    second_order = theorem in (3, 6)
    if second_order != (run.regularization is not None):
        raise InputError(f"theorem {theorem} is about {'SSOL' if second_order else 'FSOL'}")
    if theorem in (2, 3) and run.rho != 1:
        raise InputError(f"theorem {theorem} is about equal costs, use theorem {theorem + 3}")
    forms = ("any-rate", "printed") if second_order else ("any-rate", "printed", "tuned")
    if form not in forms:
        raise ParameterError("form", f"is {form!r}, expected one of {forms}")
    regret = {"any-rate": _any_rate, "printed": _printed, "tuned": _tuned}[form]
    name = f"SOL Theorem {theorem}" + ("" if form == "any-rate" else f" ({form})")
    return Bound(name, run.learner_loss, run.comparator_loss(u) + regret(run, u))


def _any_rate(run: SparseRun, u: ArrayLike) -> float:
    eta, costs = run.learning_rate, run.weights
    steps = eta / 2 * costs**2 * run.geometry[1]
    shrinks = run.thresholds * costs * np.abs(run.X).sum(axis=1)
    return run.spread(u) / (2 * eta) + float((steps + shrinks)[run.updates].sum())


def _printed(run: SparseRun, u: ArrayLike) -> float:
    eta, X, T = run.learning_rate, run.longest, len(run.y)
    if run.regularization is None:
        rounds = float(run.weights.sum())
        return run.spread(u) / (2 * eta) + eta * (X**2 / 2 + run.l1 * X) * rounds
    r, d, cost = run.regularization, len(run.X.T), max(1.0, run.rho)
    steps = eta / 2 * r * d * math.log1p(X**2 * T / r)
    shrinks = run.l1 * X * (math.log(T) + 1)
    return run.spread(u) / (2 * eta) + cost * (steps + shrinks)


def _tuned(run: SparseRun, u: ArrayLike) -> float:
    X = run.longest
    rounds = float(run.weights.sum())
    return math.sqrt(run.spread(u) * (X**2 + 2 * run.l1 * X) * rounds)
