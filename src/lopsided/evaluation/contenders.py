"""Which classifiers from elsewhere can be run, and how."""

from __future__ import annotations

from typing import Any

from ..errors import InputTypeError
from .event_models import EventModel
from .outside import Outside
from .sklearn_models import SklearnModel


def as_outside(classifier: Any, refit_every: int | None = None) -> Outside:
    """Return a classifier from elsewhere as passes run it; raise if it cannot be run."""
    if isinstance(classifier, type):
        raise InputTypeError(f"{classifier.__name__} is a class: give an instance of it")
    if hasattr(classifier, "learn_one"):
        ways = ("score_one", "predict_proba_one", "predict_one")
        if not any(hasattr(classifier, way) for way in ways):
            raise InputTypeError(
                f"{classifier!r} has none of {', '.join(ways)}: it gives no scores"
            )
        return EventModel(classifier)
    learns = hasattr(classifier, "partial_fit") or hasattr(classifier, "fit")
    if not (learns and hasattr(classifier, "get_params") and hasattr(classifier, "set_params")):
        raise InputTypeError(
            "a learner is a name or an estimator, of lopsided or a classifier of scikit-learn or "
            f"river, or an object with learn_one and score_one, not {classifier!r}"
        )
    if not (hasattr(classifier, "decision_function") or hasattr(classifier, "predict_proba")):
        raise InputTypeError(
            f"{classifier!r} has neither decision_function nor predict_proba: it gives no scores"
        )
    return SklearnModel(classifier, refit_every)
