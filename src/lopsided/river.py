"""Learners in river: in its pipelines, its evaluation and its active learning.

It needs the package river: `pip install "lopsided[river]"`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from river import base
from river.active.base import ActiveLearningClassifier

from .algorithms.active import Active
from .algorithms.decision import Decision
from .algorithms.one_vs_rest import OneVsRest
from .algorithms.wrapper import resolved
from .errors import InputTypeError, LabelError
from .estimator.base import OnlineClassifier
from .estimator.labels import Labels
from .persist import to_bytes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ActiveClassifier", "Classifier"]


class Classifier(base.MiniBatchClassifier):
    """A learner as a classifier of river.

    Labels are True and False, as everywhere in river. With other labels give the learner its
    parameter `positive`, or use OneVsRest, which takes any number of classes.

    Parameters
    ----------
    learner
        An estimator or a name of `lopsided.learners()`. Only its parameters are used.

    Attributes
    ----------
    model
        The estimator that learns: it can be saved and asked for reasons, as any other.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> import lopsided.river
    >>> model = preprocessing.StandardScaler() | lopsided.river.Classifier("AROW-diag")
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.ROCAUC())
    ROCAUC: 94.96%

    """

    def __init__(self, learner: Any = "Recommended") -> None:
        self.learner = learner
        self.model: Any = _begun(learner)

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn from one event.

        Parameters
        ----------
        x
            A dictionary of features.
        y
            A label.
        w
            How much the event counts.

        """
        _check_label(self.model, y)
        self.model.learn_one(_event(x), y, w)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each label, all the same before the first label."""
        return _probabilities(self.model, _event(x))

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Return the label predicted for one event, None if no label is known."""
        model = self.model
        known = model.__sklearn_is_fitted__() and len(model.classes_)
        return model.predict_one(_event(x)) if known else None

    def learn_many(self, X: pd.DataFrame, y: pd.Series, w: Any = None) -> None:
        """Learn from the rows of a data frame, one after the other.

        Parameters
        ----------
        X
            A data frame of features; a column may be new or missing.
        y
            The labels.
        w
            How much each row counts.

        """
        labels = y.tolist()
        for label in labels:
            _check_label(self.model, label)
        if not labels and X.empty:
            return
        self.model.partial_fit(_events(X), labels, sample_weight=w)

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the probabilities of the labels, which are the columns."""
        import pandas as pd

        found = [self.predict_proba_one(x) for x in _events(X)]
        known = None if found else _probabilities(self.model, {})
        return pd.DataFrame(found, index=X.index, columns=known)

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Return the labels predicted for the rows."""
        import pandas as pd

        return pd.Series([self.predict_one(x) for x in _events(X)], index=X.index)

    @property
    def _multiclass(self) -> bool:
        return isinstance(self.model, OneVsRest)

    @property
    def _raw_memory_usage(self) -> int:
        return cast(int, super()._raw_memory_usage) + _size(self.model)


class ActiveClassifier(ActiveLearningClassifier):
    """A learner that asks for labels, with a budget, as an active learner of river.

    A label that is brought to `learn_one` is that of the earliest such event which was predicted
    and asked for; other labels are learned as well, and cost nothing.

    Parameters
    ----------
    learner
        An `Active`, or the name of one such as "OA3"; anything else becomes the learner of one.

    Attributes
    ----------
    model
        The `Active` that learns.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> import lopsided, lopsided.river
    >>> model = lopsided.river.ActiveClassifier(lopsided.Active("Recommended", budget=200))
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 89.68%
    >>> model.model.queries_
    200

    """

    def __init__(self, learner: Any = "Recommended") -> None:
        self.learner = learner
        self.model: Any = _begun(learner, asks=True)
        self._asked: dict[Any, deque[int]] = {}  # events that wait, by what they are

    @property
    def _wrapped_model(self) -> Any:
        return Classifier(self.model.learner)

    def _ask_for_label(self, x: Any, y_pred: Any) -> bool:
        return self._ask(x).asked

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Return the label predicted for one event, and whether its label is wanted."""
        found = self._ask(x)
        return found.predicted, found.asked

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Return the probability of each label, and whether the label is wanted."""
        likely = _probabilities(self.model, _event(x))
        return likely, self._ask(x).asked

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0, **kwargs: Any) -> None:
        """Learn from the label of an event.

        Parameters
        ----------
        x
            A dictionary of features.
        y
            A label.
        w
            How much the event counts.

        """
        _check_label(self.model, y)
        self.model.checked_weight(w)  # before the event is asked for
        key = _key(x)
        if key not in self._asked:
            self._ask(x)
        waiting = self._asked.get(key)
        if waiting is None:
            self.model.teach(_event(x), y, w)
            return
        self.model.tell(waiting[0], y, w)
        waiting.popleft()
        if not waiting:
            del self._asked[key]

    def _unit_test_skips(self) -> set[str]:
        # It takes what predict_proba_one returns for a dict, which it is of no active learner.
        return {"check_predict_proba_one_binary"}

    def _ask(self, x: dict[Any, Any]) -> Decision:
        found: Decision = self.model.ask(_event(x))
        if found.forgotten is not None:
            self._forget(found.forgotten)
        if found.asked:
            self._asked.setdefault(_key(x), deque()).append(found.id)
        return found

    def _forget(self, event: int) -> None:
        """Stop waiting for the label of an event that the model has forgotten: its oldest."""
        key = next(key for key, waiting in self._asked.items() if waiting[0] == event)
        self._asked[key].popleft()
        if not self._asked[key]:
            del self._asked[key]

    @property
    def _raw_memory_usage(self) -> int:
        return cast(int, super()._raw_memory_usage) + _size(self.model)


def _begun(learner: Any, *, asks: bool = False) -> OnlineClassifier | OneVsRest:
    """Return a model of the parameters of a learner that has learned nothing, and its labels."""
    if isinstance(learner, OneVsRest) and not asks:
        several = OneVsRest(**learner.get_params(deep=False))
        several.check_params()
        return several
    if not asks:
        learner = resolved(learner)
        model: OnlineClassifier = type(learner)(**learner.get_params(deep=False))
    else:
        model = _active(learner)
    model.begin_events(Labels(True, False) if model.positive is None else None)
    return model


def _active(learner: Any) -> Active:
    from .catalog import find

    if isinstance(learner, str) and issubclass(find(learner).cls, Active):
        learner = find(learner).make()
    if isinstance(learner, Active):
        return Active(**learner.get_params(deep=False))
    return Active(learner=learner)


def _check_label(model: Any, y: Any) -> None:
    if not isinstance(model, OnlineClassifier) or model.positive is not None:
        return
    if np.ndim(y) > 0 or y not in (True, False):
        raise LabelError(
            f"the label {y!r} is neither True nor False: give the learner `positive`, or use "
            "OneVsRest"
        )


def _probabilities(model: Any, x: dict[str, Any]) -> dict[Any, float]:
    if isinstance(model, OneVsRest):
        return model.predict_proba_one(x) if model.__sklearn_is_fitted__() else {}
    if not model.fitted.core.calibrated:
        known = model.classes_.tolist()
        return {label: 1 / len(known) for label in known}
    found: dict[Any, float] = model.predict_proba_one(x)
    return found


def _event(x: dict[Any, Any]) -> dict[str, Any]:
    """Return an event with names that are texts: those of river can be numbers."""
    if not isinstance(x, Mapping):
        raise InputTypeError(f"an event is a dict of features, not a {type(x).__name__}")
    if not isinstance(x, dict):
        x = dict(x)
    if all(type(name) is str for name in x):
        return x
    return {str(name): value for name, value in x.items()}


def _events(X: pd.DataFrame) -> list[dict[str, Any]]:
    return [_event(x) for x in X.to_dict("records")]


def _key(x: dict[Any, Any]) -> Any:
    try:
        return frozenset(x.items())
    except (AttributeError, TypeError):  # no event: asking says why
        return None


def _size(model: Any) -> int:
    """Return about how many bytes the core of a model takes, which Python does not see."""
    return len(to_bytes(model)) if model.__sklearn_is_fitted__() else 0
