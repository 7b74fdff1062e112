r"""The framework behind the sparse learners (SOL, algorithm 2) and what is proved about it.

Any rates eta_t and any thresholds lambda_t: the learners have two schedules of the rate and five of
the threshold, and run any other if both are set before each row. In round t, with
:math:`\Phi_t(w) = w^\top A_t w / 2`,

.. math:: u_t = A_t^{-1} \theta_t, \quad w_t = \mathrm{sign}(u_t) [|u_t| - \lambda_t]_+, \quad
          \theta_{t+1} = \theta_t - \eta_t z_t, \quad z_t = \nabla \ell_t(w_t),

=====================  =================================================================
`sol_lemma1`           linearised regret, at any rates and thresholds
`sol_corollary1`       regret at a constant rate
`sol_corollary4`       weighted regret where the cost of the class multiplies the rate
=====================  =================================================================

The paper states the corollaries against the best model with the terms of any ``u``; here, as in the
proofs, both sides speak of the same ``u``.

References
----------
D. Wang et al., "A Framework of Sparse Online Learning and Its Applications" (SOL).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, ParameterError
from ._shared import Bound, Floats, Losses, labelled_rows

__all__ = ["FrameworkRun", "follow", "sol_corollary1", "sol_corollary4", "sol_lemma1"]

Schedule = float | Callable[[int], float]


@dataclass(frozen=True, eq=False)
class FrameworkRun(Losses):
    r"""One pass of the framework.

    Parameters
    ----------
    X, y : arrays of shape (T, d) and (T,)
        The stream, labels -1 or +1.
    models : array of shape (T, d)
        w_t, which scored row t.
    scores : array of shape (T,)
        The scores.
    rates, thresholds : arrays of shape (T,)
        eta_t, with the cost of the class, and lambda_t.
    lengths : array of shape (T,)
        The squared dual norm of x_t: x'A_t^-1 x.
    gains : array of shape (T,)
        :math:`\Phi_t^*(\theta_t) - \Phi_{t-1}^*(\theta_t)`, at most 0 as A_t grows.
    last : array of shape (d, d)
        A_T.
    rho : float
        Weight of a positive relative to a negative.
    """

    X: Floats
    y: Floats
    models: Floats
    scores: Floats
    rates: Floats
    thresholds: Floats
    lengths: Floats
    gains: Floats
    last: Floats
    rho: float
    loss: str = "II"

    def potential(self, u: ArrayLike) -> float:
        """``u'A_T u / 2``."""
        vector = self.vector(u)
        return float(vector @ self.last @ vector) / 2


def follow(
    X: ArrayLike,
    y: ArrayLike,
    *,
    rate: Schedule = 1.0,
    threshold: Schedule = 0.0,
    rho: float = 1.0,
    regularization: float | None = None,
) -> FrameworkRun:
    """Run the framework over a stream.

    Parameters
    ----------
    X, y : arrays of shape (T, d) and (T,)
        The stream, labels -1 or +1.
    rate, threshold : float or callable
        eta_t and lambda_t: a constant, or a function of the round, which counts from 1.
    rho : float
        The cost of a positive, which multiplies its rate; that of a negative is 1.
    regularization : float, optional
        r of the second-order learners: A_t grows by x x' / r in every round. Default: A_t is 1.

    Examples
    --------
    >>> run = follow([[1.0], [1.0]], [1, 1], rate=lambda t: 1 / t, threshold=0.25)
    >>> run.scores.tolist()
    [0.0, 0.75]
    """
    X, y = labelled_rows(X, y)
    T, d = X.shape
    rounds = range(1, T + 1)
    costs = np.where(y > 0, rho, 1.0)
    rates = costs * np.array([_at(rate, t) for t in rounds])
    thresholds = np.array([_at(threshold, t) for t in rounds])
    if (rates <= 0).any() or (thresholds < 0).any():
        raise InputError("rates must be above 0, and thresholds must not be below 0")
    theta, A = np.zeros(d), np.eye(d)
    models, lengths, gains = np.zeros((T, d)), np.zeros(T), np.zeros(T)
    for t, x in enumerate(X):
        before = _dual(A, theta)
        if regularization is not None:
            A = A + np.outer(x, x) / regularization
        gains[t] = _dual(A, theta) - before
        u = np.linalg.solve(A, theta)
        models[t] = np.sign(u) * np.maximum(0.0, np.abs(u) - thresholds[t])
        lengths[t] = 2 * _dual(A, x)
        if y[t] * (models[t] @ x) < 1:
            theta = theta + rates[t] * y[t] * x
    return FrameworkRun(
        X=X,
        y=y,
        models=models,
        scores=np.einsum("td,td->t", models, X),
        rates=rates,
        thresholds=thresholds,
        lengths=lengths,
        gains=gains,
        last=A,
        rho=rho,
    )


def sol_lemma1(run: FrameworkRun, u: ArrayLike) -> Bound:
    r"""Linearised regret at any rates and thresholds (SOL, Lemma 1).

    Over the rounds with a positive loss:

    .. math:: \sum_t \eta_t (w_t - u)^\top z_t \le \Phi_T(u) + \sum_t \left[
              \Phi_t^*(\theta_t) - \Phi_{t-1}^*(\theta_t) + \frac{\eta_t^2}{2} z_t^\top A_t^{-1} z_t
              + \eta_t \lambda_t \|z_t\|_1 \right]

    Examples
    --------
    >>> sol_lemma1(follow([[1.0], [1.0]], [1, -1]), [0.0])
    Bound(name='SOL Lemma 1', left=1.0, right=1.0)
    """
    left = run.rates * -run.y * (run.scores - run.X @ run.vector(u))
    return Bound("SOL Lemma 1", float(left[run.updates].sum()), _right(run, u, run.rates))


def sol_corollary1(run: FrameworkRun, u: ArrayLike) -> Bound:
    r"""Loss against that of ``u`` at a constant rate (SOL, Corollary 1).

    .. math:: \sum_t \ell_t(w_t) \le \sum_t \ell_t(u) + \frac{\Phi_T(u)}{\eta}
              + \sum_t \left[ \frac{\eta}{2} z_t^\top A_t^{-1} z_t + \lambda_t \|z_t\|_1 \right]
              + \frac{1}{\eta} \sum_t \left[ \Phi_t^*(\theta_t) - \Phi_{t-1}^*(\theta_t) \right]
    """
    if run.rho != 1:
        raise InputError("corollary 1 is about equal costs, use corollary 4")
    return _corollary(1, run, u)


def sol_corollary4(run: FrameworkRun, u: ArrayLike) -> Bound:
    r"""Weighted loss against that of ``u``, at the rates eta c_t (SOL, Corollary 4).

    As `sol_corollary1`, with the loss and z_t of each round multiplied by c_t, the cost of the
    class. The paper's c_t z_t is this product; its form needs the square of c_t in the second term,
    which Theorem 5 then leaves out.
    """
    return _corollary(4, run, u)


def _corollary(number: int, run: FrameworkRun, u: ArrayLike) -> Bound:
    eta = run.rates / run.weights
    if not np.allclose(eta, eta[0]):
        raise ParameterError("rate", f"must be constant for corollary {number}")
    # Lemma 1 divided by eta: its rates are eta c_t.
    right = run.comparator_loss(u) + _right(run, u, run.rates) / float(eta[0])
    return Bound(f"SOL Corollary {number}", run.learner_loss, right)


def _right(run: FrameworkRun, u: ArrayLike, rates: Floats) -> float:
    steps = rates**2 / 2 * run.lengths + rates * run.thresholds * np.abs(run.X).sum(axis=1)
    return run.potential(u) + float(run.gains.sum()) + float(steps[run.updates].sum())


def _dual(A: Floats, theta: Floats) -> float:
    return float(theta @ np.linalg.solve(A, theta)) / 2


def _at(schedule: Schedule, t: int) -> float:
    return float(schedule(t)) if callable(schedule) else float(schedule)
