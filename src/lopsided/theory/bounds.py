"""The guarantees of the cost-sensitive gradient learners, computed from a run.

A theorem that can be computed can be tested: `record` runs a learner over a stream and keeps what
the theorems speak about, and each function here puts one of them into numbers for a comparator
``u``, a fixed linear model that may have been chosen after seeing the whole stream.

=====================  =================================================================
`csogd_lemma1`         loss of COG against the loss of any ``u``
`csogd_theorem1`       weighted sum of sensitivity and specificity of COG
`csogd_theorem2`       weighted cost of COG
`acog_theorem1`        loss of ACOG (full or diagonal covariance) against the loss of any ``u``
`acog_theorem2`        weighted sum of sensitivity and specificity of ACOG
`acog_theorem3`        weighted cost of ACOG
=====================  =================================================================

`sparse_bounds` has those of the sparse learners, `active_bounds` those of OA3.

Each takes ``form``: ``"any-rate"`` (the default) is the corrected inequality, proved for every
learning rate; ``"printed"`` is the statement of the paper; ``"proof"`` (ACOG only) is the last line
of the paper's proof, before its learning rate is put in. The tests hold streams on which the last
two fail.

References
----------
J. Wang, P. Zhao, S. C. H. Hoi, "Cost-Sensitive Online Classification", ICDM 2012 (CSOGD).

P. Zhao et al., "Adaptive Cost-Sensitive Online Classification", IEEE TKDE 2018 (ACOG).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, InputTypeError, ParameterError
from ._shared import ASSUMED, Bound, Floats, Losses, known_rho, labelled_rows

__all__ = [
    "Bound",
    "Run",
    "acog_theorem1",
    "acog_theorem2",
    "acog_theorem3",
    "csogd_lemma1",
    "csogd_theorem1",
    "csogd_theorem2",
    "record",
]

Form = Literal["any-rate", "proof", "printed"]


@dataclass(frozen=True, eq=False)
class Run(Losses):
    """What the theorems need of one pass of COG or ACOG over a stream.

    Parameters
    ----------
    X : array of shape (T, d)
        The rows as the learner saw them.
    y : array of shape (T,)
        Labels, -1 or +1.
    scores : array of shape (T,)
        Progressive scores: the score of row t before its label was learned.
    means : array of shape (T + 1, d)
        Weights before each round, and after the last.
    rho : float
        Weight of a positive relative to a negative, the same in all rounds.
    learning_rate : float
        The constant rate.
    loss : {"I", "II"}
        ``max(0, rho_t - y u.x)`` or ``rho_t max(0, 1 - y u.x)``; rho_t is rho for a positive, 1
        for a negative.
    regularization : float, optional
        ACOG's gamma; None for COG.
    covariance : array of shape (d, d) or (d,), optional
        ACOG's covariance after the last round, full or diagonal; None for COG.
    """

    X: Floats
    y: Floats
    scores: Floats
    means: Floats
    rho: float
    learning_rate: float
    loss: str
    regularization: float | None = None
    covariance: Floats | None = None

    def __post_init__(self) -> None:
        rounds, features = self.X.shape
        shapes = {"y": (rounds,), "scores": (rounds,), "means": (rounds + 1, features)}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ParameterError(
                    name, f"has shape {getattr(self, name).shape}, expected {shape}"
                )
        if not np.isin(self.y, (-1.0, 1.0)).all():
            raise InputError("y must hold -1 and +1 only")
        if self.loss not in ("I", "II"):
            raise ParameterError("loss", f'is {self.loss!r}, expected "I" or "II"')
        for name in ("rho", "learning_rate", "regularization"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise ParameterError(name, f"is {value}, expected a positive number")
        if (self.regularization is None) != (self.covariance is None):
            raise ParameterError(
                "regularization", "and covariance go together: both (ACOG) or none (COG)"
            )

    def distance(self, u: ArrayLike) -> float:
        """``D = max_t ||mu_t - u||`` over the weights before rounds 1 to T."""
        return float(np.linalg.norm(self.means[:-1] - self.vector(u), axis=1).max(initial=0.0))

    @cached_property
    def precision(self) -> tuple[float, float]:
        """Trace and log-determinant of the inverse of ACOG's last covariance.

        Summed from the rows of the updates, which loses nothing where inverting ``covariance``
        would: ``I + sum x x^T / gamma``, or its diagonal.
        """
        if self.regularization is None or self.covariance is None:
            raise InputError("this run has no covariance: the bounds of ACOG need a run of ACOG")
        rows = self.X[self.updates] / math.sqrt(self.regularization)
        trace = self.X.shape[1] + float((rows**2).sum())
        if self.covariance.ndim == 1:
            return trace, float(np.log1p((rows**2).sum(axis=0)).sum())
        # The singular values of the rows give each factor of the determinant to full accuracy.
        return trace, float(np.log1p(np.linalg.svd(rows, compute_uv=False) ** 2).sum())


def record(model: Any, X: ArrayLike, y: ArrayLike) -> Run:
    """Run a new learner with the parameters of ``model`` over a stream and keep the material.

    Parameters
    ----------
    model : COG or ACOG
        Only its parameters are used. They must describe the learner of the theorems: a known
        constant rho, a constant rate, rows as they are, no intercept, and for ACOG the mean moved
        with the new covariance.
    X : array of shape (T, d)
        Rows in the order of arrival.
    y : array of shape (T,)
        Labels, -1 or +1.

    Returns
    -------
    Run

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.COG(
    ...     loss="II", learning_rate=0.5, class_weight={1: 2.0, -1: 1.0}, scaling="none"
    ... )
    >>> run = record(model, [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [1, -1, 1])
    >>> run.scores.tolist()
    [0.0, 1.0, 0.0]
    >>> run.learner_loss
    6.0
    """
    params = model.get_params()
    if not {"loss", "learning_rate", "class_weight"} <= params.keys():
        raise InputTypeError(f"there are bounds for COG and ACOG, not for {type(model).__name__}")
    rho = known_rho(params, ASSUMED)
    X, y = labelled_rows(X, y)
    learner = type(model)(**params)
    scores = np.zeros(len(X))  # before the first round the weights are 0 and so is the score
    means = np.zeros((len(X) + 1, X.shape[1]))
    for t, (row, label) in enumerate(zip(X, y.astype(int).tolist(), strict=True)):
        if t == 0:
            learner.partial_fit(X[:1], [label], classes=[-1, 1])
        else:
            scores[t] = learner.score_one(row)
            learner.learn_one(row, label)
        means[t + 1] = learner.coef_
    adaptive = "regularization" in params
    return Run(
        X=X,
        y=y,
        scores=scores,
        means=means,
        rho=rho,
        learning_rate=float(params["learning_rate"]),
        loss=params["loss"],
        regularization=float(params["regularization"]) if adaptive else None,
        covariance=np.array(learner.covariance_) if adaptive else None,
    )


def csogd_lemma1(run: Run, u: ArrayLike, *, form: Form = "any-rate") -> Bound:
    r"""Loss of COG against the loss of ``u`` (CSOGD, Lemma 1).

    With S_p, S_n the updates on positives and negatives, G = S_p + S_n for loss I and
    rho^2 S_p + S_n for loss II, and R the norm of the longest row, at least 1:

    .. math:: \sum_t \ell_t(w_t) \le \sum_t \ell_t(u)
              + \frac{\|u\|^2}{2\lambda} + \frac{\lambda}{2} R^2 G

    Parameters
    ----------
    run : Run
        A run of COG.
    u : array of shape (d,)
        The comparator.
    form : {"any-rate", "printed"}
        ``"printed"``: the paper's ``||u|| sqrt(G)``, without a learning rate.

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.COG(loss="I", learning_rate=1.0, class_weight=None, scaling="none")
    >>> run = record(model, [[1.0], [1.0]], [1, -1])
    >>> csogd_lemma1(run, [0.0])
    Bound(name='CSOGD-I Lemma 1', left=3.0, right=3.0)
    >>> csogd_lemma1(run, [0.0], form="printed").holds
    False
    """
    return _loss_bound("CSOGD", "Lemma 1", run, u, form)


def csogd_theorem1(run: Run, u: ArrayLike, *, form: Form = "any-rate") -> Bound:
    r"""Weighted sum of sensitivity and specificity of COG, from below (CSOGD, Theorem 1).

    The paper sets :math:`\rho = \alpha_p T_n / (\alpha_n T_p)`; so rho and the counts give the
    weights, and with B the right side of `csogd_lemma1`

    .. math:: 1 - \frac{\alpha_n}{T_n} B \le \alpha_p\,\mathrm{sensitivity}
              + \alpha_n\,\mathrm{specificity}, \qquad
              \frac{\alpha_n}{T_n} = \frac{1}{\rho T_p + T_n}

    Parameters and forms are those of `csogd_lemma1`; both classes must occur.

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.COG(loss="I", learning_rate=0.5, class_weight=None, scaling="none")
    >>> run = record(model, [[1.0], [-1.0], [-1.0], [1.0]], [1, -1, -1, 1])
    >>> csogd_theorem1(run, [1.0])
    Bound(name='CSOGD-I Theorem 1', left=0.625, right=1.0)
    """
    return _sum_bound("CSOGD", "Theorem 1", run, u, form)


def csogd_theorem2(run: Run, u: ArrayLike, *, form: Form = "any-rate") -> Bound:
    r"""Weighted cost of COG (CSOGD, Theorem 2).

    The paper sets :math:`\rho = c_p / c_n` with :math:`c_p + c_n = 1`, so
    :math:`c_n = 1/(1 + \rho)`, and with B the right side of `csogd_lemma1`

    .. math:: c_p M_p + c_n M_n \le c_n B

    Parameters and forms are those of `csogd_lemma1`.

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.COG(loss="I", learning_rate=0.5, class_weight=None, scaling="none")
    >>> run = record(model, [[1.0], [-1.0], [-1.0], [1.0]], [1, -1, -1, 1])
    >>> csogd_theorem2(run, [1.0])
    Bound(name='CSOGD-I Theorem 2', left=0.0, right=0.75)
    """
    return _cost_bound("CSOGD", "Theorem 2", run, u, form)


def acog_theorem1(run: Run, u: ArrayLike, *, form: Form = "any-rate") -> Bound:
    r"""Loss of ACOG against the loss of ``u`` (ACOG, Theorem 1).

    With :math:`D = \max_{t \le T} \|\mu_t - u\|`, the last covariance :math:`\Sigma`, and k = 1
    for loss I, k = max(1, rho) for loss II:

    .. math:: \sum_t \ell_t(\mu_t) \le \sum_t \ell_t(u) + \frac{D^2}{2\eta}
              \mathrm{Tr}(\Sigma^{-1}) + \frac{\eta k^2 \gamma}{2} \log|\Sigma^{-1}|

    It holds for the full covariance and, coordinate by coordinate, for the diagonal one.

    Parameters
    ----------
    run : Run
        A run of ACOG.
    u : array of shape (d,)
        The comparator.
    form : {"any-rate", "proof", "printed"}
        ``"proof"``: k = rho for loss II, as at the end of the paper's proof; no bound if rho < 1.
        ``"printed"``: the last two terms, with that k, at the learning rate that minimises them,
        :math:`\eta = (D/k) \sqrt{\mathrm{Tr}(\Sigma^{-1}) / (\gamma \log|\Sigma^{-1}|)}`; but D and
        :math:`\Sigma` depend on the rate, and a rate that solves this need not exist. Where it
        does, the printed form is a bound for loss I, and for loss II if rho >= 1.

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.ACOG(
    ...     loss="I", covariance="full", learning_rate=2.0, class_weight=None, scaling="none"
    ... )
    >>> bound = acog_theorem1(record(model, [[1.0]], [-1]), [-1.0])
    >>> bound.left, round(bound.right, 6)
    (1.0, 1.193147)
    """
    return _loss_bound("ACOG", "Theorem 1", run, u, form)


def acog_theorem2(run: Run, u: ArrayLike, *, form: Form = "any-rate") -> Bound:
    r"""Weighted sum of sensitivity and specificity of ACOG, from below (ACOG, Theorem 2).

    As `csogd_theorem1`, with B the right side of `acog_theorem1`, whose parameters and forms it
    shares.

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.ACOG(loss="I", learning_rate=2.0, class_weight=None, scaling="none")
    >>> bound = acog_theorem2(record(model, [[1.0], [-1.0]], [1, -1]), [1.0])
    >>> round(bound.left, 6), bound.right
    (0.403426, 1.0)
    """
    return _sum_bound("ACOG", "Theorem 2", run, u, form)


def acog_theorem3(run: Run, u: ArrayLike, *, form: Form = "any-rate") -> Bound:
    r"""Weighted cost of ACOG (ACOG, Theorem 3).

    As `csogd_theorem2`, with B the right side of `acog_theorem1`, whose parameters and forms it
    shares.

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.ACOG(loss="I", learning_rate=2.0, class_weight=None, scaling="none")
    >>> bound = acog_theorem3(record(model, [[1.0], [-1.0]], [1, -1]), [1.0])
    >>> bound.left, round(bound.right, 6)
    (0.0, 0.596574)
    """
    return _cost_bound("ACOG", "Theorem 3", run, u, form)


def _loss_bound(paper: str, theorem: str, run: Run, u: ArrayLike, form: Form) -> Bound:
    regret = _csogd_regret if paper == "CSOGD" else _acog_regret
    name = f"{paper}-{run.loss} {theorem}" + ("" if form == "any-rate" else f" ({form})")
    return Bound(name, run.learner_loss, run.comparator_loss(u) + regret(run, u, form))


def _sum_bound(paper: str, theorem: str, run: Run, u: ArrayLike, form: Form) -> Bound:
    if np.all(run.y == run.y[0]):
        raise InputError("the weighted sum needs both classes in the run")
    loss = _loss_bound(paper, theorem, run, u, form)
    # alpha_p + alpha_n = 1 and rho = alpha_p T_n / (alpha_n T_p) leave one value of alpha_n / T_n,
    # 1 / (rho T_p + T_n).
    share = 1.0 / float(run.weights.sum())
    return Bound(loss.name, 1.0 - share * loss.right, 1.0 - share * run.weighted_mistakes)


def _cost_bound(paper: str, theorem: str, run: Run, u: ArrayLike, form: Form) -> Bound:
    loss = _loss_bound(paper, theorem, run, u, form)
    negative_cost = 1.0 / (1.0 + run.rho)
    return Bound(loss.name, negative_cost * run.weighted_mistakes, negative_cost * loss.right)


def _csogd_regret(run: Run, u: ArrayLike, form: Form) -> float:
    """How much more than ``u`` COG may lose."""
    if run.regularization is not None:
        raise InputError("the bounds of CSOGD need a run of COG, this is a run of ACOG")
    slopes = run.weights if run.loss == "II" else np.ones(len(run.y))
    steps = float((slopes[run.updates] ** 2).sum())
    norm = float(np.linalg.norm(run.vector(u)))
    if form == "printed":
        # Minimises the right side over the rate, but that rate, norm / sqrt(steps), depends on u
        # and on the updates to come: for a given rate and any u (say 0) it is not a bound.
        return norm * math.sqrt(steps)
    if form != "any-rate":
        raise ParameterError("form", f'is {form!r}, expected "any-rate" or "printed"')
    radius = max(1.0, float(np.linalg.norm(run.X, axis=1).max(initial=0.0)))
    rate = run.learning_rate
    return norm**2 / (2 * rate) + rate / 2 * radius**2 * steps


def _acog_regret(run: Run, u: ArrayLike, form: Form) -> float:
    """How much more than ``u`` ACOG may lose."""
    if form not in ("any-rate", "proof", "printed"):
        raise ParameterError("form", f'is {form!r}, expected "any-rate", "proof" or "printed"')
    trace, log_det = run.precision
    assert run.regularization is not None
    slope = run.rho if run.loss == "II" else 1.0
    if form == "any-rate":
        # The gradient of a negative has slope 1, not rho: the paper's step to rho^2 for both
        # classes enlarges the term only if rho >= 1.
        slope = max(1.0, slope)
    spread = run.distance(u) ** 2 * trace
    steps = slope**2 * run.regularization * log_det
    if form == "printed":
        # Minimises the sum below over the rate, but distance, trace and log_det depend on it.
        return math.sqrt(spread * steps)
    return spread / (2 * run.learning_rate) + run.learning_rate / 2 * steps
