"""What every learner has in common: parameters, learning, predicting, saving."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .batch import as_weights
from .columns import check_columns
from .fitted import Snapshot
from .labels import Labels, as_labels
from .learning import Learning, put
from .parameters import choice, integer, switch
from .sklearn_compat import binary_classifier_tags

if TYPE_CHECKING:
    from typing_extensions import Self

_SCALINGS = ("auto", "none", "unit", "standard", "standard+unit")


@dataclasses.dataclass(kw_only=True, eq=False, repr=False)
class OnlineClassifier(Learning):
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
    """

    scaling: str = choice("auto", *_SCALINGS)
    positive: Any = None
    hash_bits: int | None = integer(None, 1, 28, optional=True)

    # Learning ------------------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Start anew and learn from the rows of X in one pass.

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
        """Go on learning. However the stream is cut into calls, the result has the same bits.

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
        """Return the scores of rows as scikit-learn wants them: above 0 means classes_[1].

        That is the positive class unless its label comes first in order; score_many and score_one
        are always about the positive class.
        """
        scores = self.score_many(X)
        return -scores if self.labels.turned else scores

    def score_many(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows; 0 and above means positive."""
        model = self.fitted.core
        batch = self._batch(X, model)
        check_columns(type(self).__name__, model, batch, learning=False)
        return np.asarray(model.score(batch.rows))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels predicted for rows."""
        return self.labels.decode(self.score_many(X) >= 0)

    def score_one(self, x: Any) -> float:
        """Return the score of one event: what it would get if it came next."""
        fitted = self._fitted
        core = self.fitted.core if fitted is None else fitted.core
        score = core.score_one(x)
        if score is None:
            score = core.score_one(self._event_row(x, core, learning=False))
        assert score is not None
        return score

    def predict_one(self, x: Any) -> Any:
        """Return the label predicted for one event."""
        fitted = self._fitted
        score = None if fitted is None else fitted.core.score_one(x)
        if fitted is None or score is None:
            score, fitted = self.score_one(x), self.fitted
        decoded = fitted.labels.decoded or fitted.labels.decode_both()
        return decoded[score >= 0]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on X and y, as scikit-learn expects of a classifier."""
        predicted = self.predict(X)
        hit = predicted == as_labels(y, len(predicted))
        weights = as_weights(sample_weight, len(hit))
        return float(np.average(hit, weights=weights))

    # What was learned ----------------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order."""
        self._attribute("classes_")
        return self.labels.classes

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
        """Return a model that goes on from a saved state.

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

    # Files ---------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model with all its training state to a file, whole or not at all."""
        from ..persist import save

        save(self, path)

    def __getstate__(self) -> dict[str, Any]:
        from ..persist import to_bytes

        return {
            "parameters": self.get_params(deep=False),
            "file": None if self._fitted is None else to_bytes(self),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        from ..persist import from_bytes

        if state["file"] is not None:
            put(self, "_fitted", from_bytes(state["file"]).fitted)
        for name, value in state["parameters"].items():
            put(self, name, value)

    # For scikit-learn -----------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        return binary_classifier_tags()

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
        return float(model.state().get("bias", 0.0))

    def named_coef(self) -> dict[str, float]:
        """Return the weights by the names of their features, the strongest first."""
        names = self.feature_names_in_.tolist()
        pairs = zip(names, self.coef_.tolist(), strict=True)
        return dict(sorted(pairs, key=lambda pair: -abs(pair[1])))
