"""What every learner has in common: parameters, learning, predicting, saving."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from . import state as entry
from .batch import as_weights
from .columns import check_columns
from .fitted import Snapshot
from .frames import as_frame
from .has_model import put
from .labels import Labels, as_labels
from .learning import Learning
from .parameters import choice, integer, switch
from .prices import event_prices, price_table
from .reasons import Explanation, explanation, worded
from .routing import Routed
from .schema import Schema
from .sklearn_compat import classifier_tags

if TYPE_CHECKING:
    from typing_extensions import Self

_SCALINGS = ("auto", "none", "unit", "standard", "standard+unit")


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class OnlineClassifier(Routed, Learning):
    """A classifier of two classes that learns from each example once.

    Parameters
    ----------
    scaling : {"auto", "none", "unit", "standard", "standard+unit"}
        What happens to a row before it is scored. "unit" divides it by its length. "standard" turns
        features into standard scores with the mean and variance of the stream so far, this row
        included; rows of sparse matrices and dicts are not centred but divided by the root mean
        square, so that absent features stay 0. "auto" is "unit" for sparse matrices and
        "standard+unit" for anything else, decided by the first data.
    positive : label, optional
        The positive class: the rare one, which is expensive to miss. Default: the larger label.
    hash_bits : int, optional
        Hash the names of dict events into 2 ** hash_bits columns instead of storing them.
    costs : dict, optional
        What answers cost, {"miss": 60, "alarm": 3}, and "hit" and "pass" where right answers cost
        something or, below 0, gain something. Each is a number, the name of a feature, whose value
        is the price of the event, or a function of the event. Decisions are then made at the lowest
        expected cost, by the calibrated probability; scores and learning do not depend on it, and
        it may change at any time. Default: the sign of the score decides.
    capacity : str, optional
        A limit on alarms: "50/day", or "20/1000" for 20 in every 1000 events. They are
        raised about events of the highest expected gain, spread over the period. It binds the
        decisions of progressive and ask, which meet events one after the other; predict knows of
        no period.
    """

    scaling: str = choice("auto", *_SCALINGS)
    positive: Any = None
    hash_bits: int | None = integer(None, 1, 28, optional=True)
    costs: Any = None
    capacity: str | None = None

    # Learning ------------------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Start over and learn from the rows of X in one pass.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (rows, features)
            The events, in the order they came.
        y : array of two labels
            What each turned out to be.
        sample_weight : array, optional
            How much each event counts; 0 leaves it out altogether.

        Returns
        -------
        self
        """
        self.pass_over(X, y, sample_weight, fresh=True)
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
        classes : array of the two labels, optional
            Needed only if the first rows do not show which labels there are.

        Returns
        -------
        self
        """
        fitted = self._fitted
        if (
            fitted is None
            or not (fitted.current and classes is None and sample_weight is None)
            or not fitted.core.learn_events(X, y, fitted.labels.codes)
        ):
            self.pass_over(X, y, sample_weight, classes=classes)
        return self

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> Self:
        """Learn from one event: a dict of named features or a 1-D array.

        In a dict a number is the feature's value and a string makes the feature "name=string".
        """
        fitted = self._fitted
        if (
            fitted is None
            or not fitted.current
            or fitted.core.learn_one(x, y, weight, fitted.labels.codes) is None
        ):
            self._learn_one(x, y, weight)
        return self

    def step_one(self, x: Any, y: Any, weight: float = 1.0) -> float:
        """Learn from one event and return the score it had before: the one that progressive gives.

        As score_one and then learn_one, in less time.
        """
        fitted, score = self._fitted, None
        if fitted is not None and fitted.current:
            score = fitted.core.learn_one(x, y, weight, fitted.labels.codes)
        if score is None:
            score = self._learn_one(x, y, weight)
        return score if score == score else self.score_one(x)  # a weight of 0 leaves it to that

    # Predicting ----------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return how far each row is from the decision, as scikit-learn wants it.

        Above 0 means classes_[1], which is the positive class unless its label comes first in
        order; score_many and score_one are always about the positive class. Without costs these
        are the scores, with costs the log odds less those from which an alarm is worth its price.
        """
        X = as_frame(X)
        margins = self._margins(self.score_many(X), X, None)
        return -margins if self.labels.turned else margins

    def score_many(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows; without costs 0 and above means positive."""
        model = self.fitted.core
        batch = self._batch(as_frame(X), model, learning=False)
        check_columns(type(self).__name__, model, batch, learning=False)
        return np.asarray(model.score(batch.rows))

    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Return the labels predicted for rows.

        Parameters
        ----------
        X : array, CSR matrix, data frame or list of dicts
            The events.
        costs : dict, optional
            As the parameter of that name, for these rows; values may also be arrays.
        """
        X = as_frame(X)
        return self.decided(self.score_many(X), X, costs)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each label, in the order of classes_, for rows.

        They are calibrated by the labels met so far and the scores that events had before.
        """
        scores = self.score_many(X)
        positive = self.probabilities(scores)
        known = self.labels.classes.tolist()
        if len(known) == 1:
            return np.ones((len(scores), 1))
        both = (positive, 1 - positive) if self.labels.turned else (1 - positive, positive)
        return np.stack(both, axis=1)

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each label for one event."""
        score = self.score_one(x)
        core = self.fitted.core
        if not core.calibrated:
            self.probabilities(np.array([score]))  # which says what is missing
        positive = core.probability(score)
        labels = self.labels
        if labels.negative is None or labels.positive is None:
            return {labels.classes.tolist()[0]: 1.0}
        return {labels.negative: 1 - positive, labels.positive: positive}

    def score_one(self, x: Any) -> float:
        """Return the score of one event: what it would get if it came next."""
        fitted = self._fitted
        core = self.fitted.core if fitted is None else fitted.core
        score = core.score_one(x)
        if score is None:
            score = core.score_one(self._event_to_score(x, core), True)
        assert score is not None
        return score

    def predict_one(self, x: Any) -> Any:
        """Return the label predicted for one event."""
        fitted = self._fitted
        if fitted is not None and fitted.plain and fitted.labels.decoded:
            label = fitted.core.predict_one(x, fitted.labels.decoded)
            if label is not None:
                return label
        return self.label_at(self.score_one(x), x)

    def label_at(self, score: float, x: Any) -> Any:
        """Return the label predicted for an event that has this score."""
        fitted = self.fitted
        decoded = fitted.labels.decoded or fitted.labels.decode_both()
        costs = fitted.costs if fitted.current else self.costs
        if fitted.by_sign and costs is None:
            return decoded[score >= 0]
        return decoded[fitted.core.margin(score, event_prices(costs, x)) >= 0]

    def explain_one(self, x: Any) -> Explanation:
        """Return why an event gets its score: the effects of its features, which sum to it.

        For learners whose score is a sum over features and for Recommended, where curves count with
        their features, and pairs are named with the ranges of their values.

        Parameters
        ----------
        x : dict or 1-D array
            The event.
        """
        core = self.fitted.core
        found, event = core.explain_one(x), x
        if found is None:
            event = self._event_to_score(x, core)
            found = core.explain_one(event, True)
        assert found is not None
        return explanation(found, core.names, event)

    def strongest_reasons(self, x: Any, most: int) -> list[tuple[str, float]]:
        """Return feature and effect of the strongest reasons of `explain_one`, but sooner."""
        core = self.fitted.core
        found = core.strongest_one(x, most)
        if found is None:
            return [(one.feature, one.effect) for one in self.explain_one(x).reasons[:most]]
        return worded(found, core.names)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on X and y, as scikit-learn expects of a classifier."""
        predicted = self.predict(X)
        hit = predicted == as_labels(y, len(predicted))
        weights = as_weights(sample_weight, len(hit))
        return float(np.average(hit, weights=weights))

    def _margins(self, scores: NDArray[np.float64], X: Any, costs: Any) -> NDArray[np.float64]:
        """Return how far the scores of rows are above the decision for the positive class."""
        prices = price_table(self.costs if costs is None else costs, X, len(scores))
        fitted = self.fitted
        if fitted.by_sign and prices is None:
            return scores
        return np.asarray(fitted.core.margins(scores, prices))

    def decided(self, scores: NDArray[np.float64], X: Any, costs: Any = None) -> NDArray[Any]:
        """Return the labels predicted for rows that have these scores: see predict."""
        return self.labels.decode(self._margins(scores, X, costs) >= 0)

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of the positive label at these scores."""
        core = self.fitted.core
        if not core.calibrated:
            raise InputError(
                f"{type(self).__name__}: probabilities are learned from labels, and this model has "
                "met none since it was made, or was saved by a version that had no probabilities: "
                "let it learn from labelled events first"
            )
        return np.asarray(core.probabilities(scores))

    # What was learned ----------------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order."""
        self._attribute("classes_")
        return self.labels.classes

    @property
    def scaling_(self) -> str:
        """How rows are scaled: what "auto" became, "own" for a learner that scales by itself."""
        self._attribute("scaling_")
        used = self.fitted.scaling
        if used.get("scales"):
            return "own"
        return "+".join(word for word in ("standard", "unit") if used[word]) or "none"

    @property
    def n_features_in_(self) -> int:
        """How many features the model knows."""
        return self._attribute("n_features_in_").features

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the features, where they came with names."""
        names = self._attribute("feature_names_in_").names
        if not names:
            raise AttributeError("feature_names_in_: the features have no names")
        return np.array(names, dtype=object)

    @property
    def names_bytes_(self) -> int:
        """How much memory the names of the features take, as long as the model lives."""
        return self._attribute("names_bytes_").names_bytes

    @classmethod
    def restored(
        cls,
        parameters: dict[str, Any],
        built: dict[str, Any],
        labels: Labels,
        saved: Snapshot,
        *,
        current: bool = True,
    ) -> Self:
        """Return a model that continues from a saved state.

        Parameters
        ----------
        parameters : dict
            Those of the model.
        built : dict
            "parameters" with which the core was last built, and its "scaling".
        labels : Labels
            The labels it knows.
        saved : tuple
            The number of features, the state and the names, as the core's `snapshot` returned them.
        current : bool
            Whether the core was built with the model's parameters.
        """
        model = cls(**parameters)
        model.check_params()
        fitted = cls(**built["parameters"])._make(labels, built["scaling"])
        fitted.core.restore(*saved)
        put(model, "_fitted", fitted.replace(current=current))
        return model

    def restarted(self, labels: Labels) -> Self:
        """Return a model of the same parameters that knows these labels and has learned nothing."""
        before = self.fitted
        model = type(self)(**self.get_params(deep=False))
        put(model, "_fitted", type(self)(**before.parameters)._make(labels, before.scaling))
        return model

    def copied(self) -> Self:
        """Return a model that has learned the same."""
        model = self.restarted(self.labels)
        model.fitted.core.restore(*self.fitted.core.snapshot())
        model.schema_ = self.schema_
        return model

    @property
    def schema_(self) -> Schema | None:
        """How the tables it learned from were read, None if that is not known."""
        return self._schema

    @schema_.setter
    def schema_(self, schema: Schema | None) -> None:
        self._set_schema(schema)

    @property
    def changes_(self) -> tuple[tuple[int, str, float, float], ...]:
        """Changes that `lopsided run` found: event of the model's life, what, before and after."""
        return self._changes

    @changes_.setter
    def changes_(self, changes: tuple[tuple[int, str, float, float], ...]) -> None:
        put(self, "_changes", tuple(changes))

    # Notebooks -----------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        from ..report.model_view import html

        return html(self)

    def plot(self, top: int = 20) -> Any:
        """Return a figure of the largest weights, which a notebook shows; it needs matplotlib.

        Parameters
        ----------
        top : int
            How many.
        """
        from ..report.model_view import weights_figure

        return weights_figure(self, top)

    # Files ---------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model with all its training state to a file, completely or not at all."""
        from ..persist import save

        save(self, path)

    def __getstate__(self) -> dict[str, Any]:
        from ..persist import to_bytes

        return {
            "parameters": self.get_params(deep=False),
            "file": None if self._fitted is None else to_bytes(self),
            **self._kept_request(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        from ..persist import from_bytes

        if state["file"] is not None:
            saved = from_bytes(state["file"])
            put(self, "_fitted", saved.fitted)
            self._set_schema(saved.schema_)
            put(self, "_changes", saved.changes_)
        for name, value in state["parameters"].items():
            put(self, name, value)
        self._take_request(state)

    # For scikit-learn -----------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        return classifier_tags()

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted is not None


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class LinearClassifier(OnlineClassifier):
    """An online classifier whose score is a weighted sum of the features.

    Parameters
    ----------
    intercept : bool
        Prepend a constant 1 to every scaled row.
    """

    intercept: bool = switch(False)

    _fixed = (*OnlineClassifier._fixed, "intercept")

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weight of each scaled feature in the score of the positive class."""
        weights = np.asarray(self._attribute("coef_").coefficients())
        return weights[self.fitted.constants :]

    @property
    def intercept_(self) -> float:
        """The weight of the constant."""
        model = self._attribute("intercept_")
        if self.fitted.constants:
            return float(model.coefficients()[0])
        return float(model.state().get(entry.BIAS, 0.0))

    def named_coef(self) -> dict[str, float]:
        """Return the weights by the names of their features, the strongest first."""
        names = self.feature_names_in_.tolist()
        pairs = zip(names, self.coef_.tolist(), strict=True)
        return dict(sorted(pairs, key=lambda pair: -abs(pair[1])))
