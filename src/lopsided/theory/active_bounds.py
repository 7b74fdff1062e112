"""The guarantees of OA3, which buys its labels, computed from runs.

As `lopsided.theory.bounds`, for a learner that asks:

=====================  =================================================================
`oa3_proposition1`     expected number of questions
`oa3_lemma1`           mistakes among the labels that were bought, in any run
`oa3_theorem1`         expected mistakes while there is a budget
`oa3_theorem2`         expected weighted sum of sensitivity and specificity, from below
`oa3_theorem3`         expected weighted cost
`oa3_theorem4`         mistakes after the budget is spent
`oa3_theorem5`         weighted sum after the budget is spent, from below
`oa3_theorem6`         weighted cost after the budget is spent
=====================  =================================================================

Each takes ``form``: ``"corrected"`` (the default) is an inequality that is proved below;
``"printed"`` is the statement of the paper. The tests hold streams on which each of the printed
ones fails. What the paper leaves out: OA3 also learns from labels that it predicted with a small
margin, so that its weights move without a mistake; a question that is certain (q set to 0) stands
for less than the proof counts; and a comparator that changes with the predicted class does not
telescope.

Proof of the corrected lemma. In a round with an update, by the definition of the step, for any
vector w,

    2 eta rho_t y_t x_t'(w - mu_t) - eta^2 rho_t^2 s_t
        = |mu_t - w|^2 - |mu_t+1 - w|^2, lengths by the inverse of Sigma_t+1,

where s_t = x_t' Sigma_t+1 x_t. Take w = delta u: then y_t x_t'w is at least delta (1 - l_t(u) /
rho_t). The right sides add up to at most R^2 Tr, and -y_t x_t'mu_t is abs(p_t) after a mistake,
-abs(p_t) otherwise. The theorems take the expectation: a mistake is asked for with the probability
d / (d + q_t), d >= delta, so delta + q_t counts it delta times at least.

References
----------
Y. Zhang et al., "Online Adaptive Asymmetric Active Learning with Limited Budgets" (OA3).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, InputTypeError, ParameterError
from ..evaluation.progressive import progressive
from ._shared import ASSUMED, Bound, Floats, Losses, known_rho, labelled_rows

__all__ = [
    "ActiveRun",
    "follow",
    "oa3_lemma1",
    "oa3_proposition1",
    "oa3_theorem1",
    "oa3_theorem2",
    "oa3_theorem3",
    "oa3_theorem4",
    "oa3_theorem5",
    "oa3_theorem6",
    "record",
]

Form = Literal["corrected", "printed"]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ActiveRun(Losses):
    """What the theorems need of one pass of OA3 over a stream.

    Parameters
    ----------
    X, y : arrays of shape (T, d) and (T,)
        The rows, and their labels, -1 or +1.
    asked : array of shape (T,)
        Whether the label was bought.
    open : array of shape (T,)
        Whether it could be bought: False once the budget is spent.
    scores, confidence, shrunk : arrays of shape (T,)
        p_t, q_t (0 where the question is certain) and s_t = x' Sigma_t+1 x if round t moved the
        covariance.
    means : array of shape (T + 1, d)
        Weights before each round, and after the last.
    rho, learning_rate, regularization, delta_pos, delta_neg : float
        Parameters of the learner.
    """

    X: Floats
    y: Floats
    asked: Bools
    open: Bools
    scores: Floats
    confidence: Floats
    shrunk: Floats
    means: Floats
    rho: float
    learning_rate: float
    regularization: float
    delta_pos: float
    delta_neg: float
    loss: str = "II"

    @cached_property
    def updates(self) -> Bools:
        """The rounds in which the learner moved."""
        return np.asarray(self.asked & (self.y * self.scores < 1.0))

    @cached_property
    def mistakes(self) -> Bools:
        """The rounds predicted wrongly; a score of 0 predicts +1."""
        return np.asarray((self.scores >= 0) != (self.y > 0))

    @cached_property
    def probabilities(self) -> Floats:
        """The chance of a question in each round, without regard to the budget."""
        delta = np.where(self.scores >= 0, self.delta_pos, self.delta_neg)
        return np.asarray(delta / (delta + self.confidence))

    @cached_property
    def probability(self) -> float:
        """The chance of all the decisions of this run."""
        chances = np.where(self.asked, self.probabilities, 1 - self.probabilities)
        return float(np.prod(chances[self.open]))

    @cached_property
    def trace(self) -> float:
        """Of the inverse of the last covariance."""
        moved = float((self.X[self.updates] ** 2).sum())
        return float(self.X.shape[1] + moved / self.regularization)

    def distance(self, w: Floats) -> float:
        """``max_t ||mu_t - w||^2`` over the weights while there is a budget."""
        return float(((self.means[:-1][self.open] - w) ** 2).sum(axis=1).max(initial=0.0))

    def losses(self, u: ArrayLike) -> Floats:
        """Loss of the fixed linear model ``u`` in each round."""
        return np.asarray(self.weights * np.maximum(0.0, 1.0 - self.y * (self.X @ self.vector(u))))


def follow(
    X: ArrayLike,
    y: ArrayLike,
    asked: Iterable[bool | None],
    *,
    rho: float = 1.0,
    learning_rate: float = 1.0,
    regularization: float = 1.0,
    delta_pos: float = 1.0,
    delta_neg: float = 1.0,
    diagonal: bool = False,
) -> ActiveRun:
    """Return the run of OA3 in which these labels are bought, however unlikely it is.

    Parameters
    ----------
    X, y : arrays of shape (T, d) and (T,)
        The stream.
    asked : array of shape (T,)
        Whether each label is bought; None where the budget was spent.
    rho, learning_rate, regularization, delta_pos, delta_neg
        Of OA3.
    diagonal : bool
        OA3-diag.

    Examples
    --------
    >>> run = follow([[1.0], [1.0]], [1, -1], [True, True], regularization=1e9)
    >>> run.scores.round(6).tolist(), run.confidence.round(6).tolist()
    ([0.0, 1.0], [0.0, 0.5])
    """
    X, y = labelled_rows(X, y)
    given = list(asked)
    T, d = X.shape
    bought = np.array([bool(a) for a in given])
    scores, confidence, shrunk = np.zeros(T), np.zeros(T), np.zeros(T)
    mu, means = np.zeros(d), np.zeros((T + 1, d))
    sigma: Floats = np.ones(d) if diagonal else np.eye(d)
    gamma, cost = regularization, max(1.0, rho)
    for t, x in enumerate(X):
        Sx = sigma * x if diagonal else sigma @ x
        v = float(x @ Sx)
        scores[t] = x @ mu
        confidence[t] = max(
            0.0, abs(scores[t]) - learning_rate * cost * v * gamma / (v + gamma) / 2
        )
        new: Floats = (
            sigma / (1 + sigma * x**2 / gamma)
            if diagonal
            else sigma - np.outer(Sx, Sx) / (gamma + v)
        )
        step = new * x if diagonal else new @ x
        shrunk[t] = x @ step
        if bought[t] and y[t] * scores[t] < 1:
            sigma = new
            mu = mu + learning_rate * (rho if y[t] > 0 else 1.0) * y[t] * step
        means[t + 1] = mu
    return ActiveRun(
        X=X,
        y=y,
        asked=bought,
        open=np.array([a is not None for a in given]),
        scores=scores,
        confidence=confidence,
        shrunk=shrunk,
        means=means,
        rho=rho,
        learning_rate=learning_rate,
        regularization=regularization,
        delta_pos=delta_pos,
        delta_neg=delta_neg,
    )


def record(model: Any, X: ArrayLike, y: ArrayLike) -> ActiveRun:
    """Run a new learner with the parameters of ``model`` over a stream and keep the material.

    Parameters
    ----------
    model : Active
        OA3 or OA3-diag. Only its parameters are used: a known rho, rows as they are, no intercept,
        loss II, and a budget that is a number of labels.
    X, y : arrays of shape (T, d) and (T,)
        The stream, labels -1 or +1.

    Examples
    --------
    >>> import lopsided
    >>> model = lopsided.make("OA3", class_weight=None, scaling="none", budget=1)
    >>> record(model, [[1.0], [1.0]], [1, -1]).asked.tolist()
    [True, False]
    """
    params = model.get_params()
    inner = {k.removeprefix("learner__"): v for k, v in params.items() if k.startswith("learner__")}
    if params.get("query") != "confidence" or inner.get("loss") != "II":
        raise InputTypeError(f"there are bounds for OA3 and OA3-diag, not for {model!r}")
    rho = known_rho(inner, ASSUMED)
    if params["explore"]:
        raise InputError("the bounds assume explore=0")
    if not (params["budget"] is None or isinstance(params["budget"], int)):
        raise InputError(f"the bounds assume a number of labels, got {params['budget']!r}")
    X, y = labelled_rows(X, y)
    learner = type(model)(**model.get_params(deep=False)).set_params(positive=1)
    progress = progressive(learner, X, y.astype(int), points=0)
    assert progress.asked is not None
    assert progress.probabilities is not None
    both = 1.0 if params["delta"] is None else params["delta"]
    return follow(
        X,
        y,
        [
            bool(a) if p > 0 else None
            for a, p in zip(progress.asked, progress.probabilities, strict=True)
        ],
        rho=rho,
        learning_rate=float(inner["learning_rate"]),
        regularization=float(inner["regularization"]),
        delta_pos=float(both if params["delta_pos"] is None else params["delta_pos"]),
        delta_neg=float(both if params["delta_neg"] is None else params["delta_neg"]),
        diagonal=inner["covariance"] == "diagonal",
    )


def oa3_proposition1(runs: Sequence[ActiveRun], *, chances: ArrayLike | None = None) -> float:
    r"""Return the expected number of questions without a budget (OA3, Proposition 1).

    .. math:: \mathrm{E} \left[ \sum 1[q_t \le 0]
              + \sum_{q_t > 0, p_t \ge 0} \frac{\delta_+}{\delta_+ + q_t}
              + \sum_{q_t > 0, p_t < 0} \frac{\delta_-}{\delta_- + q_t} \right]

    Parameters
    ----------
    runs : sequence of ActiveRun
        Of one learner without a budget over one stream, with different random numbers.
    chances : array, optional
        The weight of each run in the expectation; default, all the same.

    Examples
    --------
    >>> oa3_proposition1([follow([[1.0], [1.0]], [1, -1], [True, True], regularization=1e9)])
    1.6666666...
    """
    if not all(run.open.all() for run in runs):
        raise InputError("the proposition is about a learner without a budget")
    return _mean([float(run.probabilities.sum()) for run in runs], chances)


def oa3_lemma1(run: ActiveRun, u: ArrayLike, delta: float, *, form: Form = "corrected") -> Bound:
    r"""Mistakes among the labels that were bought (OA3, Lemma 1).

    With U the rounds with an update, M those of them with a mistake, R the largest distance of the
    weights from delta u, and q_t, s_t as in `ActiveRun`:

    .. math:: \sum_{M} \rho_t (\delta + q_t) \le \delta \sum_U \ell_t(u)
              + \frac{R^2}{2\eta} \mathrm{Tr}(\Sigma^{-1})
              + \sum_{U} \rho_t \left(\tfrac{\eta}{2} \rho_t s_t - c_t\right)

    where :math:`c_t = |p_t| - q_t` after a mistake and :math:`\delta - |p_t|` otherwise.

    Parameters
    ----------
    run : ActiveRun
        A run of OA3.
    u : array of shape (d,)
        The comparator.
    delta : float
        Any positive number.
    form : {"corrected", "printed"}
        ``"printed"``: without rho_t on the left and without the last sum, and with
        :math:`\max \|\mu_t - u\|^2 + (1 - \delta)^2 \|u\|^2` for half of R squared, all divided by
        min(1, rho).

    Examples
    --------
    >>> run = follow([[1.0]], [-1], [True])
    >>> oa3_lemma1(run, [0.0], 2.0)
    Bound(name='OA3 Lemma 1', left=2.0, right=2.25)
    """
    bought = run.mistakes & run.asked
    if form == "printed":
        left = float((delta + run.confidence)[bought].sum())
        least = min(1.0, run.rho)
        losses = float(run.losses(u)[run.open].sum())
        spread = _printed_spread(run, u, delta) * run.trace / run.learning_rate
        return Bound("OA3 Lemma 1 (printed)", left, (delta * losses + spread) / least)
    _check_form(form)
    left = float((run.weights * (delta + run.confidence))[bought].sum())
    return Bound("OA3 Lemma 1", left, _right(run, u, delta))


def oa3_theorem1(
    runs: Sequence[ActiveRun],
    u: ArrayLike,
    *,
    chances: ArrayLike | None = None,
    form: Form = "corrected",
) -> Bound:
    r"""Mistakes while there is a budget, in expectation (OA3, Theorem 1).

    With B the right side of `oa3_lemma1` at delta = min(delta_pos, delta_neg):

    .. math:: \mathrm{E} \sum_t \rho_t 1[\text{mistake}] \le \mathrm{E}[B] / \delta

    Parameters
    ----------
    runs : sequence of ActiveRun
        Of one learner over one stream, with different random numbers.
    u : array of shape (d,)
        The comparator.
    chances : array, optional
        The weight of each run in the expectation; default, all the same.
    form : {"corrected", "printed"}
        ``"printed"``: mistakes without rho_t, at most
        :math:`\frac{1}{\rho_{min}} [\sum \ell_t(u) + \frac{1}{\eta} D(u) \mathrm{Tr}(\Sigma^{-1})]`
        with D(u) the larger of
        :math:`(\max \|\mu_t - u\|^2 + (1 - \delta)^2 \|u\|^2) / \delta` at delta_pos and delta_neg.

    Examples
    --------
    >>> run = follow([[1.0]], [-1], [True])
    >>> oa3_theorem1([run], [0.0])
    Bound(name='OA3 Theorem 1', left=1.0, right=1.25)
    """
    name = "OA3 Theorem 1"
    if form == "printed":
        left = _mean([float(run.mistakes[run.open].sum()) for run in runs], chances)
        right = _mean([_printed(run, u) / min(1.0, run.rho) for run in runs], chances)
        return Bound(f"{name} (printed)", left, right)
    _check_form(form)
    return Bound(name, *_weighted(runs, u, chances))


def oa3_theorem2(
    runs: Sequence[ActiveRun],
    u: ArrayLike,
    *,
    chances: ArrayLike | None = None,
    form: Form = "corrected",
) -> Bound:
    r"""Weighted sum of sensitivity and specificity, expected, from below (OA3, Theorem 2).

    With :math:`\rho = \alpha_p T_n / (\alpha_n T_p)` and the counts of the whole stream, mistakes
    being those while there is a budget, and C the right side of `oa3_theorem1`:

    .. math:: 1 - \frac{\alpha_n}{T_n} C \le \mathrm{E}[\mathrm{sum}], \qquad
              \frac{\alpha_n}{T_n} = \frac{1}{\rho T_p + T_n}

    Parameters are those of `oa3_theorem1`; the printed form multiplies its right side by
    max(1, rho).
    """
    if np.all(runs[0].y == runs[0].y[0]):
        raise InputError("the weighted sum needs both classes in the run")
    left, right = _sides(runs, u, chances, form)
    share = 1.0 / float(runs[0].weights.sum())
    return Bound(_named(2, form), 1.0 - share * right, 1.0 - share * left)


def oa3_theorem3(
    runs: Sequence[ActiveRun],
    u: ArrayLike,
    *,
    chances: ArrayLike | None = None,
    form: Form = "corrected",
) -> Bound:
    r"""Weighted cost while there is a budget, in expectation (OA3, Theorem 3).

    With :math:`\rho = c_p / c_n`, :math:`c_p + c_n = 1` and C the right side of `oa3_theorem1`:

    .. math:: \mathrm{E}[c_p M_p + c_n M_n] \le c_n C

    Parameters are those of `oa3_theorem1`; the printed form multiplies its right side by
    max(1, rho).
    """
    left, right = _sides(runs, u, chances, form)
    negative_cost = 1.0 / (1.0 + runs[0].rho)
    return Bound(_named(3, form), negative_cost * left, negative_cost * right)


def oa3_theorem4(run: ActiveRun, u: ArrayLike | None = None, *, form: Form = "corrected") -> Bound:
    r"""Mistakes after the budget is spent (OA3, Theorem 4).

    The model no longer changes, so nothing but its own loss bounds them:

    .. math:: \sum_{t > T_B} \rho_t 1[\text{mistake}] \le \sum_{t > T_B} \ell_t(\mu_{T_B + 1})

    Parameters
    ----------
    run : ActiveRun
        A run of OA3 whose budget was spent.
    u : array of shape (d,), optional
        The comparator of the printed form.
    form : {"corrected", "printed"}
        ``"printed"``: mistakes without rho_t, at most
        :math:`\sum [\ell_t(u) / \rho_{min} + y_t x_t' \mu_{T_B + 1}]`.
    """
    after = ~run.open
    if form == "printed":
        if u is None:
            raise InputError("the printed form is about a comparator: give u")
        right = run.losses(u) / min(1.0, run.rho) + run.y * run.scores
        left = float(run.mistakes[after].sum())
        return Bound(_named(4, form), left, float(right[after].sum()))
    _check_form(form)
    mistakes = float((run.weights * run.mistakes)[after].sum())
    return Bound(_named(4, form), mistakes, float(run.losses(run.means[-1])[after].sum()))


def oa3_theorem5(run: ActiveRun, u: ArrayLike | None = None, *, form: Form = "corrected") -> Bound:
    r"""Weighted sum of sensitivity and specificity after the budget, from below (OA3, Theorem 5).

    With :math:`\rho = \alpha_p T_n / (\alpha_n T_p)`, the counts of the whole stream,
    mistakes being those after the budget, and B the right side of `oa3_theorem4`:

    .. math:: 1 - \frac{\alpha_n}{T_n} B \le \mathrm{sum}, \qquad
              \frac{\alpha_n}{T_n} = \frac{1}{\rho T_p + T_n}

    Parameters are those of `oa3_theorem4`; the printed form multiplies its right side by
    max(1, rho).
    """
    if np.all(run.y == run.y[0]):
        raise InputError("the weighted sum needs both classes in the run")
    left, right = _after(run, u, form)
    share = 1.0 / float(run.weights.sum())
    return Bound(_named(5, form), 1.0 - share * right, 1.0 - share * left)


def oa3_theorem6(run: ActiveRun, u: ArrayLike | None = None, *, form: Form = "corrected") -> Bound:
    r"""Weighted cost after the budget is spent (OA3, Theorem 6).

    With :math:`\rho = c_p / c_n`, :math:`c_p + c_n = 1` and B the right side of `oa3_theorem4`:

    .. math:: c_p M_p + c_n M_n \le c_n B

    Parameters are those of `oa3_theorem4`; the printed form multiplies its right side by
    max(1, rho).
    """
    left, right = _after(run, u, form)
    negative_cost = 1.0 / (1.0 + run.rho)
    return Bound(_named(6, form), negative_cost * left, negative_cost * right)


def _after(run: ActiveRun, u: ArrayLike | None, form: Form) -> tuple[float, float]:
    """Return the weighted mistakes after the budget and what is to bound them."""
    bound = oa3_theorem4(run, u, form=form)
    if form == "corrected":
        return bound.left, bound.right
    mistakes = float((run.weights * run.mistakes)[~run.open].sum())
    return mistakes, max(1.0, run.rho) * bound.right


def _right(run: ActiveRun, u: ArrayLike, delta: float) -> float:
    """Return the right side of the corrected lemma."""
    eta, p = run.learning_rate, np.abs(run.scores)
    counted = np.where(run.mistakes, p - run.confidence, delta - p)
    extra = run.weights * (eta / 2 * run.weights * run.shrunk - counted)
    losses = delta * run.losses(u) + extra
    spread = run.distance(delta * run.vector(u)) * run.trace / (2 * eta)
    return float(losses[run.updates].sum()) + spread


def _printed_spread(run: ActiveRun, u: ArrayLike, delta: float) -> float:
    vector = run.vector(u)
    return run.distance(vector) + (1 - delta) ** 2 * float(vector @ vector)


def _printed(run: ActiveRun, u: ArrayLike) -> float:
    """Return what stands in the brackets of the printed theorems."""
    D = max(_printed_spread(run, u, d) / d for d in (run.delta_pos, run.delta_neg))
    return float(run.losses(u)[run.open].sum()) + D * run.trace / run.learning_rate


def _weighted(
    runs: Sequence[ActiveRun], u: ArrayLike, chances: ArrayLike | None
) -> tuple[float, float]:
    """Return the sides of the corrected theorem 1."""
    delta = min(runs[0].delta_pos, runs[0].delta_neg)
    left = [float((run.weights * run.mistakes)[run.open].sum()) for run in runs]
    return _mean(left, chances), _mean([_right(run, u, delta) / delta for run in runs], chances)


def _sides(
    runs: Sequence[ActiveRun], u: ArrayLike, chances: ArrayLike | None, form: Form
) -> tuple[float, float]:
    _check_form(form)
    left, right = _weighted(runs, u, chances)
    if form == "printed":
        rho = runs[0].rho
        ratio = max(1.0, rho) / min(1.0, rho)
        right = _mean([ratio * _printed(run, u) for run in runs], chances)
    return left, right


def _mean(values: list[float], chances: ArrayLike | None) -> float:
    if chances is None:
        return math.fsum(values) / len(values)
    return float(np.dot(values, np.asarray(chances, dtype=np.float64)))


def _named(theorem: int, form: Form) -> str:
    return f"OA3 Theorem {theorem}" + ("" if form == "corrected" else f" ({form})")


def _check_form(form: str) -> None:
    if form not in ("corrected", "printed"):
        raise ParameterError("form", f'is {form!r}, expected "corrected" or "printed"')
