"""What scikit-learn expects to see, without importing it before it is there."""

from __future__ import annotations

import sys
import warnings
from typing import Any


class NotFittedError(ValueError, AttributeError):
    """A model was asked before it had learned anything."""


def _exceptions() -> Any:
    return sys.modules.get("sklearn.exceptions")


def not_fitted(name: str, first: str = "fit or learn_one") -> Exception:
    """Return the error of a model that has not learned yet: scikit-learn's own if it is loaded."""
    kind = getattr(_exceptions(), "NotFittedError", NotFittedError)
    error: Exception = kind(f"this {name} has not learned anything yet: call {first} first")
    return error


def warn_column_vector() -> None:
    """Warn that y came as a column."""
    category = getattr(_exceptions(), "DataConversionWarning", UserWarning)
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; it was flattened.",
        category,
        stacklevel=4,
    )


def binary_classifier_tags() -> Any:
    """Return scikit-learn's tags of a classifier for two classes that takes sparse input."""
    from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

    return Tags(
        estimator_type="classifier",
        target_tags=TargetTags(required=True),
        classifier_tags=ClassifierTags(multi_class=False),
        input_tags=InputTags(sparse=True),
    )
