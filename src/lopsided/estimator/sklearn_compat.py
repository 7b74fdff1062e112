"""What scikit-learn expects to see, without importing it before it is there."""

from __future__ import annotations

import functools
import sys
import warnings
from typing import Any

from ..errors import NotFittedError


def _exceptions() -> Any:
    return sys.modules.get("sklearn.exceptions")


def not_fitted(name: str, first: str = "fit or learn_one") -> NotFittedError:
    """Return the error of a model that has not learned yet: scikit-learn's too if it is loaded."""
    theirs = getattr(_exceptions(), "NotFittedError", None)
    kind = NotFittedError if theirs is None else _also(theirs)
    return kind(f"this {name} has not learned anything yet: call {first} first")


@functools.cache
def _also(theirs: type[Exception]) -> type[NotFittedError]:
    """Return our error as a class that is scikit-learn's error as well."""

    def reduced(error: NotFittedError) -> tuple[Any, ...]:
        return NotFittedError, (error.what,)  # another process may not have scikit-learn

    return type("NotFittedError", (NotFittedError, theirs), {"__reduce__": reduced})


def warn_column_vector() -> None:
    """Warn that y came as a column."""
    category = getattr(_exceptions(), "DataConversionWarning", UserWarning)
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; it was flattened.",
        category,
        stacklevel=4,
    )


def classifier_tags(*, multi_class: bool = False) -> Any:
    """Return scikit-learn's tags of a classifier that takes sparse input."""
    from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

    return Tags(
        estimator_type="classifier",
        target_tags=TargetTags(required=True),
        classifier_tags=ClassifierTags(multi_class=multi_class),
        input_tags=InputTags(sparse=True),
    )
