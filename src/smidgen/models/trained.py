"""What the estimators that the engine trains have in common: `fit`, `partial_fit`, and what they leave.

The one place where a base of ours has a base of ours: so `fit` is written once, and estimators list their parameters
alone. May import the files of models/ that know no algorithm.
"""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from smidgen.core.threads import one_thread
from smidgen.errors import DataError, UsageError
from smidgen.models import plumbing
from smidgen.models.base import ProgramClassifier, ProgramRegressor
from smidgen.models.budget import parse_budget
from smidgen.models.fitting import Family, Fitted, Settings, train_further
from smidgen.models.rows import TrainingRows
from smidgen.models.sklearn_private import Interval, StrOptions, fit_context
from smidgen.models.trial import fit_family
from smidgen.program import Program

INTEGERS = Interval(Integral, 1, None, closed="left")
CONSTRAINTS = {
    "budget": [INTEGERS, str, None],
    "weight_format": [StrOptions({"auto", "int4", "int8", "float32"}), dict],
    "n_steps": [INTEGERS, None],
    "batch_size": [INTEGERS],
    "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
    "weight_decay": [Interval(Real, 0, None, closed="left")],
    "noise": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    "trial": ["boolean"],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "trusted_range": [tuple, list, None],
    "random_state": ["random_state"],
}
"""What the estimators that the engine trains take, for scikit-learn to check."""


def gives_probabilities(estimator: Any) -> bool:
    """Say whether the scores of a classifier are logarithms of probabilities; for `available_if`."""
    return estimator.loss == "cross_entropy" and getattr(estimator, "solver", "adam") == "adam"


class TrainedByEngine:
    """An estimator of a family that the engine trains; an estimator's own class lists its parameters."""

    plan_: Any
    trial_: list[dict[str, Any]]
    history_: list[dict[str, float]]
    noise_: float

    _family: Family
    _size_names: tuple[str, ...]  # parameters that fix a size by hand

    def _settings(self, rows: TrainingRows) -> Settings:  # noqa: ARG002  (sizes may come from the rows)
        """What the parameters come to, with a seed drawn from `random_state`."""
        given: Any = self
        return Settings(
            budget=parse_budget(given.budget),
            weight_format=given.weight_format,
            sizes={name: getattr(self, name) for name in self._size_names},
            loss=getattr(self, "loss", "squared"),
            n_steps=given.n_steps,
            batch_size=given.batch_size,
            learning_rate=given.learning_rate,
            weight_decay=given.weight_decay,
            noise=None if given.noise == "auto" else float(given.noise),
            trial=given.trial,
            validation_fraction=given.validation_fraction if given.early_stopping else None,
            trusted_range=given.trusted_range,
            seed=plumbing.seed_of(given.random_state),
        )

    def _train(self, rows: TrainingRows) -> Program:
        return self._leave(fit_family(self._family, rows, self._settings(rows)))

    def _train_further(self, rows: TrainingRows) -> Program:
        fitted = self._fitted
        if rows.X.dtype.kind == "f" and fitted.choice.scaling.raw != "float32":
            raise DataError(
                f"X holds fractions, but the model takes {fitted.choice.scaling.raw} numbers since its first rows: "
                "give whole numbers, or begin with rows that have fractions"
            )
        return self._leave(train_further(self._family, fitted, rows, self._settings(rows)))

    def _leave(self, fitted: Fitted) -> Program:
        self._fitted = fitted
        self.plan_, self.trial_, self.history_ = fitted.plan, fitted.trials, fitted.trained.history
        self.noise_ = fitted.choice.noise
        for name, matrix in self._family.matrices(fitted.trained).items():
            setattr(self, name, matrix)
        return replace(fitted.program, feature_names=plumbing.feature_names(self))


class TrainedClassifier(TrainedByEngine, ProgramClassifier):
    """`fit`, `partial_fit` and `predict_proba` of classes and of labels."""

    class_weight: Any

    _takes_indicator = True

    @fit_context(prefer_skip_nested_validation=True)
    @one_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the sizes, train, and build the Program.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Raw numbers, integers or floats; a large sparse matrix stays sparse.
        y : array-like, shape (n,); or an indicator of labels, shape (n, L)
        sample_weight : array-like, shape (n,), optional
            A weight of 2 counts as a row given twice; rows of weight zero are left out.

        Returns
        -------
        self : the estimator
        """
        rows = plumbing.training_rows(self, X, y, sample_weight, self.class_weight, multilabel=True, keep_sparse=True)
        self._keep(self._train(rows), rows)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    @one_thread()
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on with further rows, once over; the first call is a whole `fit` of its rows.

        The sizes, the Input and which weights stay are those of the first rows, so let them be many and typical. After
        every call there is a Program within the budget.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
        y : array-like, shape (n,); or an indicator of labels, shape (n, L)
        classes : array-like, optional
            All classes there will ever be; needed at the first call, and only there.
        sample_weight : array-like, shape (n,), optional

        Returns
        -------
        self : the estimator
        """
        first = not hasattr(self, "program_")
        if first and classes is None:
            raise UsageError("the first partial_fit needs classes: name all of them, as np.unique(y) does")
        known = classes if first else self.classes_
        rows = plumbing.training_rows(
            self, X, y, sample_weight, self.class_weight, multilabel=True, keep_sparse=True, classes=known
        )
        self._keep(self._train(rows) if first else self._train_further(rows), rows)
        return self

    @available_if(gives_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, or of each label by itself; where the loss is the cross-entropy.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)

        Returns
        -------
        probabilities : array, shape (n, n_classes)
        """
        check_is_fitted(self)
        return self._probabilities(X, self._fitted.unit)


class TrainedRegressor(TrainedByEngine, ProgramRegressor):
    """`fit` and `partial_fit` of values."""

    @fit_context(prefer_skip_nested_validation=True)
    @one_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the sizes, train, and build the Program.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Raw numbers, integers or floats; a large sparse matrix stays sparse.
        y : array-like, shape (n,) or (n, K)
        sample_weight : array-like, shape (n,), optional
            A weight of 2 counts as a row given twice; rows of weight zero are left out.

        Returns
        -------
        self : the estimator
        """
        rows = plumbing.regression_rows(self, X, y, sample_weight, keep_sparse=True)
        self._keep(self._train(rows), rows)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    @one_thread()
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on with further rows, once over; the first call is a whole `fit` of its rows.

        The sizes, the Input and which weights stay are those of the first rows, so let them be many and typical. After
        every call there is a Program within the budget.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
        y : array-like, shape (n,) or (n, K)
        sample_weight : array-like, shape (n,), optional

        Returns
        -------
        self : the estimator
        """
        first = not hasattr(self, "program_")
        rows = plumbing.regression_rows(
            self, X, y, sample_weight, keep_sparse=True, n_outputs=None if first else self.n_outputs_
        )
        self._keep(self._train(rows) if first else self._train_further(rows), rows)
        return self
