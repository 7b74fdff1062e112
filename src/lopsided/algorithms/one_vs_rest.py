"""More than two classes: a learner for each class against the rest."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._text import html_rows
from ..errors import InputError, LabelError, ParameterError
from ..estimator.base import OnlineClassifier
from ..estimator.batch import Batch, as_event_row, as_weights
from ..estimator.labels import as_labels
from ..estimator.locking import locked
from ..estimator.parameters import estimator, is_number, parameter, same
from ..estimator.prices import price_table
from ..estimator.reasons import Explanation
from ..estimator.routing import Routed
from ..estimator.sklearn_compat import classifier_tags, not_fitted
from ._classes import (
    Learned,
    distinct,
    dtype_of,
    in_order,
    is_key,
    rows_in,
    shared_rows,
    teach,
)
from .has_learner import HasLearner
from .wrapper import resolved

if TYPE_CHECKING:
    from typing_extensions import Self

_EQUAL = price_table({"miss": 1, "alarm": 1}, None, 1)  # margins at equal prices are log odds
# What has no meaning for a class against the rest, and what has it instead.
_OURS = {
    "positive": "every class is the positive one of its own model",
    "costs": "give the costs to OneVsRest",
    "capacity": "alarms are for two classes",
}


@estimator
class OneVsRest(Routed, HasLearner):
    """A classifier for any number of classes, which grows with those that appear.

    Each class has a model that tells it from the rest, and the calibrated probabilities of these
    models decide. Every event is also learned as a negative one by one more model, the rest. A new
    class starts as a copy of it: the same bits as if the class had been known from the beginning.

    Parameters
    ----------
    learner : estimator or str
        What learns each class: any learner that does not ask for labels. Only its parameters are
        used; they can be read and set as `learner__name`. A name is one of `lopsided.learners()`.
    costs : dict, optional
        What it costs to miss an event of each class, {"fraud": 60, "abuse": 20}; 1 for classes
        that are not named. Predictions are then those of the lowest expected cost. Scores,
        probabilities and learning do not depend on it, and it may change at any time. Default: the
        likeliest class.

    Examples
    --------
    >>> from lopsided import OneVsRest
    >>> model = OneVsRest("AROW-diag")
    >>> for _ in range(20):
    ...     for amount, outcome in [(3.0, "fine"), (40.0, "abuse"), (900.0, "fraud")]:
    ...         _ = model.learn_one({"amount": amount, "band": str(len(str(amount)))}, outcome)
    >>> model.classes_.tolist(), model.predict_one({"amount": 850.0, "band": "5"})
    (['abuse', 'fine', 'fraud'], 'fraud')
    """

    learner: Any = parameter("Recommended", "an estimator or a name", kw_only=False)
    costs: Any = None

    _always_shown = ("learner",)
    _learned: Learned | None = dataclasses.field(default=None, init=False)
    _current: bool = dataclasses.field(default=True, init=False)  # no parameter was set since

    # Learning ------------------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Start over and learn from the rows of X in one pass.

        Parameters
        ----------
        X : array, CSR matrix, data frame or list of dicts
            The events, in the order they came.
        y : array of labels
            What each turned out to be.
        sample_weight : array, optional
            How much each event counts; 0 leaves it out altogether.

        Returns
        -------
        self
        """
        self._learn(X, y, sample_weight, fresh=True)
        return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue learning. However the stream is cut into calls, the result has the same bits.

        Parameters
        ----------
        X, y, sample_weight
            As for fit.
        classes : array of labels, optional
            Labels to know before they are met. Others may come all the same.

        Returns
        -------
        self
        """
        self._learn(X, y, sample_weight, classes)
        return self

    @locked
    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> Self:
        """Learn from one event: a dict of named features or a 1-D array."""
        learned = self._learned
        if learned is None or not self._current or not is_key(y, learned.models):
            if not isinstance(y, Hashable):
                raise LabelError(f"y must be one label, not {y!r}")
            rows = [x] if isinstance(x, dict) else as_event_row(x)[None]
            self._learn(rows, [y], [weight])
            return self
        learned.rest.learn_one(x, 0, weight)
        for label, model in learned.models.items():
            model.learn_one(x, int(label == y), weight)
        return self

    @locked
    def _learn(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        classes: ArrayLike | None = None,
        fresh: bool = False,
    ) -> None:
        self.check_params()
        before = None if fresh else self._refreshed()
        rest = self._model() if before is None else before.rest
        rows = shared_rows(rest, X, learning=True)
        size = rows_in(rows)
        labels = as_labels(y, size)
        weights = as_weights(sample_weight, size)
        counted = labels if weights is None else labels[weights != 0]
        met = distinct(counted)
        named = [] if classes is None else distinct(as_labels(classes, np.size(classes)))
        known = [] if before is None else before.labels
        every = in_order([*known, *named, *met])
        new = [label for label in met if before is None or label not in before.models]
        models = {} if before is None else dict(before.models)
        models |= {label: self._model() if before is None else rest.copied() for label in new}

        # What is wrong with the rows is found by the rest, before anything else has changed.
        teach(rest, rows, np.zeros(size, np.int64), weights, fresh)
        if not rest.__sklearn_is_fitted__():  # every weight is 0
            return
        for label, model in models.items():
            codes = np.asarray(labels == label, np.int64)
            teach(model, rows, codes, weights, fresh, f"class {label!r}")
        dtype = dtype_of(counted) if before is None else before.dtype
        self._learned = Learned(tuple(every), dtype, rest, models)
        self._current = True

    def _refreshed(self) -> Learned | None:
        """Return what was learned, with the parameters as they are now."""
        learned = self._learned
        if learned is None:
            return None
        wanted = self._model()
        if type(wanted) is not type(learned.rest):
            raise ParameterError(
                "learner", "cannot change in a model that has learned", remedy=["call fit"]
            )
        for model in (learned.rest, *learned.models.values()):
            now = model.get_params()
            model.set_params(
                **{k: v for k, v in wanted.get_params().items() if not same(v, now[k])}
            )
            model.refresh()
        return learned

    # Predicting ----------------------------------------------------------------------------------

    def score_many(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows, a column for each of classes_."""
        learned = self.fitted
        rows = shared_rows(learned.rest, X, learning=False)
        found = np.empty((rows_in(rows), len(learned.labels)))
        for k, label in enumerate(learned.labels):
            core = learned.of(label).fitted.core
            found[:, k] = core.score(
                rows.rows if isinstance(rows, Batch) else core.event_rows(rows)
            )
        return found

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log of each class's probability times its cost: the largest is predicted.

        Of two classes it is the difference, above 0 for classes_[1], as scikit-learn wants it.
        """
        found = self._logs(self.score_many(X)) + self._log_costs()
        return found[:, 1] - found[:, 0] if found.shape[1] == 2 else found

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels predicted for rows."""
        found = self._logs(self.score_many(X)) + self._log_costs()
        labels: NDArray[Any] = self.fitted.classes[np.argmax(found, axis=1)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each label, in the order of classes_, for rows.

        Each class against the rest has a calibrated probability; they are divided by their sum.
        """
        found = self._logs(self.score_many(X))
        likely = np.exp(found - found.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = likely / likely.sum(axis=1, keepdims=True)
        return shares

    def score_one(self, x: Any) -> dict[Any, float]:
        """Return the scores of one event by label."""
        learned = self.fitted
        return {label: learned.of(label).score_one(x) for label in learned.labels}

    def predict_one(self, x: Any) -> Any:
        """Return the label predicted for one event."""
        found = self._logs(self._row(x))[0] + self._log_costs()
        return self.fitted.labels[int(np.argmax(found))]

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each label for one event."""
        found = self._logs(self._row(x))[0]
        likely = np.exp(found - found.max())
        shares = (likely / likely.sum()).tolist()
        return dict(zip(self.fitted.labels, shares, strict=True))

    def explain_one(self, x: Any, label: Any = None) -> Explanation:
        """Return why an event gets the score of a label.

        Parameters
        ----------
        x : dict or 1-D array
            The event.
        label : label, optional
            The label to explain. Default: the predicted one.
        """
        learned = self.fitted
        label = self.predict_one(x) if label is None else label
        if not is_key(label, learned.labels):
            raise ParameterError("label", f"is none of {list(learned.labels)!r}", value=label)
        return learned.of(label).explain_one(x)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on X and y, as scikit-learn expects of a classifier."""
        predicted = self.predict(X)
        hit = predicted == as_labels(y, len(predicted))
        return float(np.average(hit, weights=as_weights(sample_weight, len(hit))))

    def _row(self, x: Any) -> NDArray[np.float64]:
        return np.array([list(self.score_one(x).values())])

    def _logs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithms of the probability that each class has against the rest."""
        learned = self.fitted
        odds = np.empty(scores.shape)
        for k, label in enumerate(learned.labels):
            core = learned.of(label).fitted.core
            odds[:, k] = core.margins(np.ascontiguousarray(scores[:, k]), _EQUAL)
        found: NDArray[np.float64] = -np.logaddexp(0, -odds)
        return found

    def _log_costs(self) -> NDArray[np.float64]:
        costs = self._checked_costs()
        return np.log([float(costs.get(label, 1.0)) for label in self.fitted.labels])

    # What was learned ----------------------------------------------------------------------------

    @property
    def fitted(self) -> Learned:
        """What was learned."""
        if self._learned is None:
            raise not_fitted(type(self).__name__)
        return self._learned

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order."""
        return self.fitted.classes

    @property
    def models_(self) -> dict[Any, OnlineClassifier]:
        """The model of each label; to it the label is 1 and any other 0."""
        learned = self.fitted
        return {label: learned.of(label) for label in learned.labels}

    @property
    def n_features_in_(self) -> int:
        """How many features the models know."""
        return self.fitted.rest.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the features, where they came with names."""
        return self.fitted.rest.feature_names_in_

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights, a row for each of classes_, of a linear learner."""
        models: Iterable[Any] = self.models_.values()
        return np.stack([model.coef_ for model in models])

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The weights of the constant, one for each of classes_, of a linear learner."""
        models: Iterable[Any] = self.models_.values()
        return np.array([model.intercept_ for model in models])

    def _repr_html_(self) -> str:
        rows = [("model", repr(self))]
        if self._learned is not None:
            core = self._learned.rest.fitted.core
            rows += [
                ("classes", ", ".join(map(repr, self._learned.labels))),
                ("features", f"{core.features:,}"),
                ("learned from", f"{core.rounds:,} events"),
            ]
        else:
            rows.append(("learned from", "nothing yet"))
        return html_rows(type(self).__name__, rows)

    # Parameters ----------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            object.__setattr__(self, "_current", False)
        super().__setattr__(name, value)

    def check_params(self) -> None:
        """Raise a ValueError that names the first parameter that is not valid."""
        inner = self._inner()
        inner.check_params()
        for name, why in _OURS.items():
            if getattr(inner, name) is not None:
                raise ParameterError(name, f"cannot be set in the learner: {why}")
        if isinstance(getattr(inner, "class_weight", None), Mapping):
            raise ParameterError(
                "class_weight",
                "cannot be a dict in the learner, where each class meets the rest",
                remedy=["leave it to 'balanced'", "give sample_weight"],
            )
        self._checked_costs()

    def _checked_costs(self) -> Mapping[Any, Any]:
        costs = {} if self.costs is None else self.costs
        if not isinstance(costs, Mapping):
            raise ParameterError("costs", "is invalid: it must be a dict by label", value=costs)
        for label, price in costs.items():
            if not (is_number(price) and price > 0):
                raise ParameterError(
                    "costs", f"must be positive numbers, not {price!r} for {label!r}"
                )
        return costs

    def _inner(self) -> OnlineClassifier:
        return resolved(self.learner)

    def _model(self) -> OnlineClassifier:
        """Return a model of one class that has learned nothing."""
        inner = self._inner()
        return type(inner)(**{**inner.get_params(deep=False), "positive": 1})

    # Files ---------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model with all its training state to a file, completely or not at all."""
        from ..persist import save

        save(self, path)

    def __getstate__(self) -> dict[str, Any]:
        from ..persist import to_bytes

        return {
            "parameters": self.get_params(deep=False),
            "file": None if self._learned is None else to_bytes(self),
            **self._kept_request(),
        }

    def __setstate__(self, saved: dict[str, Any]) -> None:
        from ..persist import from_bytes

        self.__init__(**saved["parameters"])  # type: ignore[misc]
        if saved["file"] is not None:
            self._learned = from_bytes(saved["file"])._learned
            self._current = False
        self._take_request(saved)

    @classmethod
    def restored(cls, parameters: dict[str, Any], learned: Learned) -> Self:
        """Return a model that continues from what was learned."""
        model = cls(**parameters)
        model.check_params()
        of = type(model._model())
        if not all(type(m) is of for m in (learned.rest, *learned.models.values())):
            raise InputError("its models are of different learners")
        if in_order(learned.labels) != list(learned.labels):
            raise InputError("its labels are not in order")
        model._learned, model._current = learned, False
        return model

    # For scikit-learn ----------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        return classifier_tags(multi_class=True)

    def __sklearn_is_fitted__(self) -> bool:
        return self._learned is not None
