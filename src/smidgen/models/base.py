"""The base of every estimator: `predict` is what its Program answers.

Two classes, which `fit` leaves ready by `_keep`; nothing stands between them and an estimator. May import scikit-learn,
core, `smidgen.program`, and `plumbing` and `rows` beside it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from smidgen.core.probability import logistic, softmax
from smidgen.models.plumbing import checked_features
from smidgen.models.rows import TrainingRows
from smidgen.program import Program, Result


class ProgramClassifier(ClassifierMixin, BaseEstimator):
    """A classifier, of classes or of labels, whose `predict` is its Program's answer."""

    classes_: NDArray
    program_: Program

    _takes_indicator = False  # whether `fit` takes an indicator of labels for y

    def _keep(self, program: Program, rows: TrainingRows) -> None:
        """End `fit`: keep what `predict` needs."""
        self.program_, self.classes_ = program, rows.classes

    def predict(self, X: Any) -> NDArray:
        """Predict for every row: what Python says here is what the board will say.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Raw numbers, as in `fit`; what the sensor's type cannot hold is rounded and clipped to it.

        Returns
        -------
        y : array, shape (n,), or (n, n_classes) where `fit` was given an indicator of labels
            A class a row, or 1 for each label that is on and 0 for the others.
        """
        prediction = _answer(self, X).prediction
        return prediction.astype(np.int64) if self.program_.task == "multilabel" else self.classes_[prediction]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores from which the Program decides, in its own units.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)

        Returns
        -------
        scores : array, shape (n, n_classes), or (n,) for two classes
            The larger, the likelier the class, and a label is on above 0. For two classes how much likelier the second
            is than the first: above 0 means the second.
        """
        scores = self._rising_scores(X)
        if self.program_.task == "multilabel" or scores.shape[1] > 2:
            return scores
        return scores[:, 0] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]

    def _rising_scores(self, X: Any) -> NDArray[np.float64]:
        """The Program's scores, turned so that the largest wins."""
        scores = _answer(self, X).scores.astype(np.float64)
        return -scores if self.program_.decide.kind == "argmin" else scores

    def _probabilities(self, X: Any, temperature: float) -> NDArray[np.float64]:
        """What `predict_proba` gives where scores times a temperature are the logarithms of odds."""
        scores = self._rising_scores(X)
        if self.program_.task == "multilabel":
            return logistic(scores, temperature)
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        return softmax(scores, temperature)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = self._takes_indicator
        return tags


class ProgramRegressor(RegressorMixin, BaseEstimator):
    """A regressor, of one value or several, whose `predict` is its Program's answer."""

    program_: Program
    n_outputs_: int

    _takes_several_outputs = True

    def _keep(self, program: Program, rows: TrainingRows) -> None:
        """End `fit`: keep what `predict` needs."""
        self.program_, self.n_outputs_, self._y_is_1d = program, rows.n_outputs, rows.y_is_1d

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the value or values of every row: what Python says here is what the board will say.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Raw numbers, as in `fit`; what the sensor's type cannot hold is rounded and clipped to it.

        Returns
        -------
        y : array, shape (n,) or (n, n_outputs), as y was in `fit`
        """
        values = _answer(self, X).prediction
        return values[:, 0] if self._y_is_1d else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = self._takes_several_outputs
        return tags


def _answer(estimator: Any, X: Any) -> Result:
    check_is_fitted(estimator)
    return estimator.program_.run(checked_features(estimator, X))
