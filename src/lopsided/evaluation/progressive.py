"""The progressive pass: predict each event before learning from it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._notebook import notebook_bar
from ..algorithms.active import Active
from ..errors import DivergedError, InputError, InputTypeError, ParameterError
from ..estimator.bank import learn_together
from ..estimator.base import OnlineClassifier
from ..estimator.batch import as_order, as_weights
from ..estimator.labels import Labels
from ..estimator.times import as_days, as_delays
from .contenders import as_outside
from .delayed import pass_with_delay
from .event_models import EventModel
from .labelled import LabelledRows, read_rows
from .late import delays_by_time
from .outside import Outside
from .progress import Progress, progress_of

_NO_ALARMS = np.zeros(0, bool)


def progressive(
    model: OnlineClassifier,
    X: Any,
    y: ArrayLike,
    *,
    order: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    resume: bool = False,
    points: int = 15,
    delay: Any = None,
    time: ArrayLike | None = None,
    label_time: ArrayLike | None = None,
    costs: Any = None,
    chances: bool = False,
    positive: Any = None,
    refit_every: int | None = None,
    progress: Callable[[int, int], None] | Literal[False] | None = None,
) -> Progress:
    """Run a model over a stream in one pass, predicting each event before learning from it.

    Parameters
    ----------
    model : OnlineClassifier or classifier from elsewhere
        It learns during the pass. Classifiers of scikit-learn score and learn chunks of at most 100
        rows. Those of river, and any object with `learn_one` and `score_one`, `predict_proba_one`
        or `predict_one`, learn row by row in Python, which is slow: a warning says so. Classifiers
        from elsewhere continue from what they have learned, whatever `resume` says; costs and
        chances are not for them.
    X, y : as for fit
        The stream.
    order : array, optional
        The rows to visit, in this order: a permutation or a part of one.
    sample_weight : array, optional
        One weight per row of X, for learning and for the counts.
    resume : bool
        Continue training, as partial_fit does, instead of starting over as fit does.
        Under class_weight="balanced" a fresh pass knows the class counts of the visited rows
        beforehand, as the papers assume; a resumed one estimates them.
    points : int
        About how many points of the curve to keep; 0 for none.
    delay : int, float, ("geometric", mean) or array, optional
        How many further events are met before the label of an event comes; inf for never. Random
        ones are drawn with the learner's seed if it has one, an array has one for each row of X.
        Events wait with the features and the score of their time. Labels that have not come by the
        end are left pending in a learner that asks (the number of an event is its place in a fresh
        pass), and are not learned by others. Default: labels come at once.
    time : array, optional
        When each event happened, for a daily budget or capacity, for label times and for
        `Progress.periods`.
    label_time : array, optional
        Instead of a delay: when the label of each row was known. It comes before the first event
        whose time is not earlier; None, NaN or NaT for never.
    costs : dict, optional
        As the parameter of the model, for this pass; values may also be arrays with one for each
        row of X. `money` sums what the decisions cost.
    chances : bool
        Keep the probability of each event before it was learned, for `log_loss`,
        `calibration_error` and `reliability`.
    positive : label, optional
        For classifiers from elsewhere: the positive label. Default: the larger of the two.
    refit_every : int, optional
        For classifiers with `fit` only: fit to all labels known whenever this many more are.
    progress : callable or False, optional
        For classifiers from elsewhere, whose passes take long: called with how many events are
        done and how many there are. Default: a bar in a notebook, which False leaves out.

    Returns
    -------
    Progress

    Examples
    --------
    >>> import numpy as np, lopsided
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5))
    >>> y = X[:, 0] + 0.3 * rng.normal(size=1000) > 1.5
    >>> result = lopsided.progressive(lopsided.COG(intercept=True), X, y)
    >>> round(result.sum(), 3)
    0.83
    """
    if delay is not None and label_time is not None:
        raise ParameterError("delay", "and label_time contradict each other: give one of them")
    if not isinstance(model, OnlineClassifier):
        _check_instance(model)
        return _outside(
            as_outside(model, checked_refit(refit_every)),
            (X, y, sample_weight, Labels.start(positive, None, None)),
            order,
            points,
            (delay, time, label_time),
            {"costs": costs, "chances": chances or None},
            notebook_bar("events") if progress is None else progress or None,
        )
    elsewhere = {"positive": positive, "refit_every": refit_every, "progress": progress or None}
    for name, value in elsewhere.items():
        if value is not None:
            raise ParameterError(name, "is for classifiers from elsewhere: leave it out")
    if label_time is not None:
        rows = int(np.size(y))
        visit, weights = as_order(order, rows), as_weights(sample_weight, rows)
        delay = delays_by_time(time, label_time, rows, visit, weights)
    options: dict[str, Any] = {
        "fresh": not resume,
        "order": order,
        "every": curve_step(points, y, order),
        "scores": True,
        "time": time if model.needs_time else None,
        "costs": costs,
        "chances": chances,
    }
    if delay is None or isinstance(model, Active):
        result = model.pass_over(X, y, sample_weight, delay=delay, **options)
    else:
        result = pass_with_delay(model, X, y, sample_weight, delay, **options)
    days = None if time is None else as_days(time, np.size(y))
    return progress_of(
        result,
        *_visited(result, order),
        days=_in_order(days, order),
        prices=_in_order(result["prices"], order),
    )


def _check_instance(model: Any) -> None:
    if isinstance(model, type):
        raise InputTypeError(f"the model {model.__name__} is a class: give an instance of it")
    if isinstance(model, str):
        raise InputTypeError(f"model must be an estimator, not the name {model!r}")


def _outside(
    model: Outside,
    given: tuple[Any, ...],
    order: ArrayLike | None,
    points: int,
    late: tuple[Any, Any, Any],
    ours: dict[str, Any],
    progress: Callable[[int, int], None] | None,
) -> Progress:
    """Run a classifier from elsewhere."""
    for name, value in ours.items():
        if value is not None:
            raise ParameterError(name, "is not for classifiers from elsewhere: leave it out")
    data = LabelledRows(*read_rows(*given))
    if data.weights is not None:
        model.check_weights(repr(model))
    if not model.online:
        raise InputError(
            f"{model!r} has no partial_fit: give refit_every to fit it again and again"
        )
    rows = len(data.y)
    visit = as_order(order, rows)
    visit = np.arange(rows) if visit is None else visit
    delays = outside_delays(late, data, visit)
    if isinstance(model, EventModel):
        warnings.warn(
            f"{type(model.classifier).__name__} learns row by row in Python: slow", stacklevel=3
        )
    every = curve_step(points, data.y, order)
    days = None if late[1] is None else as_days(late[1], rows)
    days = _in_order(days, order)
    return outside_progress(model, data, visit, every, delays, progress, days=days)


def outside_delays(
    late: tuple[Any, ...], data: LabelledRows, order: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Return how late the label of each row comes, from delay, time and label time."""
    delay, time, label_time = late
    if label_time is not None:
        return delays_by_time(time, label_time, len(data.y), order, data.weights)
    return None if delay is None else as_delays(delay, len(data.y), 0)


def outside_progress(
    model: Outside,
    data: LabelledRows,
    order: NDArray[np.int64],
    every: int,
    delays: NDArray[np.float64] | None,
    progress: Callable[[int, int], None] | None = None,
    **others: Any,
) -> Progress:
    """Return the progressive pass of a classifier from elsewhere."""
    result = model.pass_over(data, order, every, delays, progress)
    return progress_of(result, result["labels"], result["weights"], **others)


def checked_refit(refit_every: Any) -> int | None:
    """Return after how many labels to fit again; raise unless it is a number of labels."""
    if refit_every is None:
        return None
    if not isinstance(refit_every, (int, np.integer)) or refit_every < 1:
        raise ParameterError(
            "refit_every", "is invalid: it must be a whole number of at least 1", value=refit_every
        )
    return int(refit_every)


def progressive_bank(
    models: Sequence[OnlineClassifier],
    X: Any,
    y: ArrayLike,
    *,
    order: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    resume: bool = False,
    points: int = 15,
) -> list[Progress]:
    """Run several models over a stream; the results are bit-identical to `progressive`.

    Models of one class that differ only in numbers such as `learning_rate`, `C`, `regularization`
    or `l1` learn in one shared pass, which takes about as long as a few passes of one model. This
    works for Perceptron, PassiveAggressive, PAUM, CPA, COG, AdaRDA, DualAveraging and, with a
    diagonal covariance, AROW, ACOG and SSOL, unless rows are dicts. Others learn one by one.

    Parameters
    ----------
    models : sequence of OnlineClassifier
        They learn during the pass.
    X, y, order, sample_weight, resume, points
        As for `progressive`. Models that continue training do so one by one.

    Returns
    -------
    list of Progress
        In the order of the models. The time of a shared pass is split evenly.

    Examples
    --------
    >>> import numpy as np, lopsided
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 5))
    >>> y = X[:, 0] + 0.3 * rng.normal(size=1000) > 1.5
    >>> models = [lopsided.COG(intercept=True, learning_rate=r) for r in (0.01, 0.1, 1.0)]
    >>> [round(result.sum(), 3) for result in lopsided.progressive_bank(models, X, y)]
    [0.827, 0.83, 0.816]
    """
    found = run_bank(
        models,
        X,
        y,
        order=order,
        sample_weight=sample_weight,
        resume=resume,
        points=points,
    )
    results = []
    for place, result in enumerate(found):
        if isinstance(result, DivergedError):
            raise result.within(f"models[{place}]")
        results.append(result)
    return results


def run_bank(
    models: Sequence[OnlineClassifier],
    X: Any,
    y: ArrayLike,
    *,
    order: ArrayLike | None,
    sample_weight: ArrayLike | None,
    resume: bool,
    points: int,
    **late: Any,
) -> list[Progress | DivergedError]:
    """Run several models; one that diverges does not stop the others.

    `late` are delay, time and label_time of `progressive`: then each runs by itself.
    """
    for model in models:
        _check_model(model)
    every = curve_step(points, y, order)
    together = None
    if not late:
        together = learn_together(
            models, X, y, sample_weight, fresh=not resume, order=order, every=every
        )
    if together is not None:
        return _all_progress(together, order)

    def run(model: OnlineClassifier) -> Progress | DivergedError:
        try:
            return progressive(
                model,
                X,
                y,
                order=order,
                sample_weight=sample_weight,
                resume=resume,
                points=points,
                **late,
            )
        except DivergedError as error:
            return error

    return [run(model) for model in models]


def _check_model(model: Any) -> None:
    if not isinstance(model, OnlineClassifier):
        raise InputTypeError(f"model must be an estimator, for example COG(), not {model!r}")


def curve_step(points: int, y: ArrayLike, order: ArrayLike | None) -> int:
    """Return the number of events between points of the curve."""
    if not isinstance(points, (int, np.integer)) or points < 0:
        raise ParameterError(
            "points", "is invalid: it must be a whole number of at least 0", value=points
        )
    visits = np.size(y if order is None else order)
    return max(1, round(visits / points)) if points else 0


def _all_progress(
    results: Sequence[dict[str, Any] | DivergedError], order: ArrayLike | None
) -> list[Progress | DivergedError]:
    """Return the results of a bank; all models share one array of labels and one of weights."""
    found: list[Progress | DivergedError] = []
    seen: tuple[Any, ...] | None = None
    for result in results:
        if isinstance(result, DivergedError):
            found.append(result)
        else:
            seen = seen or tuple(map(_read_only, _visited(result, order)))
            found.append(progress_of(result, *seen))
    return found


def _visited(result: dict[str, Any], order: ArrayLike | None) -> tuple[Any, Any]:
    """Return labels and weights in the order visited."""
    return _in_order(result["labels"], order), _in_order(result["weights"], order)


def _in_order(values: NDArray[Any] | None, order: ArrayLike | None) -> NDArray[Any] | None:
    """Return the values of rows in the order visited; one for all stays so."""
    if values is None or order is None or len(values) == 1:
        return values
    visited: NDArray[Any] = values[np.asarray(order)]
    return visited


def _read_only(shared: NDArray[Any] | None) -> NDArray[Any] | None:
    if shared is not None:
        shared = shared.view()  # it may belong to the caller
        shared.flags.writeable = False
    return shared
