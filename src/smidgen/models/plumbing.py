"""What every estimator shares with scikit-learn: checked rows, encoded classes, weights, a split for fit's own choices.

Functions, and one small base class for classifiers whose `predict` is their Program's answer. May import scikit-learn
(its private names by way of `sklearn_private`), `smidgen.program`, and `clusters` and `scaling` beside it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from smidgen.errors import DataError
from smidgen.models.clusters import distinct_rows, without_negative_zeros
from smidgen.models.scaling import raw_type
from smidgen.models.sklearn_private import check_sample_weight
from smidgen.program import Program, Result
from smidgen.program.signal import MAX_DIMENSION
from smidgen.program.storage import LARGEST_DENSE


class ProgramClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose `fit` leaves `classes_` and `program_`, and whose `predict` is that Program's answer."""

    classes_: NDArray
    program_: Program

    def predict(self, X: Any) -> NDArray:
        """Predict a class for every row: what Python says here is what the board will say.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Raw numbers, as in `fit`; what the sensor's type cannot hold is rounded and clipped to it.

        Returns
        -------
        y : array, shape (n,)
        """
        prediction = self._answer(X).prediction
        return self.classes_[prediction]

    def _answer(self, X: Any) -> Result:
        check_is_fitted(self)
        _refuse_masked(X)
        X = validate_data(self, X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False, reset=False)
        _refuse_not_finite(X, self)
        return self.program_.run(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True)
class TrainingRows:
    """Rows that count: checked, encoded, none of weight zero."""

    X: NDArray  # (n, d) uint8, int8, int16 or float32: the narrowest that holds every value
    y: NDArray[np.intp]  # (n,) index into classes
    weight: NDArray[np.float64]  # (n,) all above 0
    classes: NDArray  # (L,) sorted names, at least two

    def take(self, index: NDArray) -> "TrainingRows":
        """Return some of the rows, with the same classes."""
        return TrainingRows(self.X[index], self.y[index], self.weight[index], self.classes)


def training_rows(estimator: Any, X: Any, y: Any, sample_weight: Any = None, class_weight: Any = None) -> TrainingRows:
    """Check what `fit` was given and return the rows that count.

    Parameters
    ----------
    estimator : estimator
        Gets `n_features_in_`, and `feature_names_in_` where the columns have names.
    X : array-like or sparse matrix, shape (n, d)
        Becomes what a sensor gives: whole numbers the narrowest integers, floats or not; all others float32.
    y : array-like, shape (n,)
    sample_weight : array-like, shape (n,), optional
        Rows of weight zero are dropped before anything else looks at them.
    class_weight : dict, "balanced" or None
        Multiplies the sample weights; "balanced" counts total weight, not rows.
    """
    _refuse_masked(X)
    X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype="numeric", ensure_all_finite=False)
    _refuse_not_finite(X, estimator)
    _refuse_huge(X)
    check_classification_targets(y)
    if y.dtype.kind in "mM":
        raise DataError(f"y holds {y.dtype}, which no model file can hold: name the classes by words, as y.astype(str)")
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    counts = np.flatnonzero(weight > 0)
    if not len(counts):
        raise DataError("sample_weight is zero for every row: give some rows, of at least two classes, a weight")
    classes, encoded = np.unique(y[counts], return_inverse=True)
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise DataError(f"y holds only one class, {only!r}: a classifier needs rows of at least two classes")
    weight = weight[counts] * _class_weights(class_weight, classes, encoded, weight[counts])[encoded]
    return TrainingRows(_as_sensed(X[counts], counts, estimator), encoded, weight, classes)


def _refuse_masked(X: Any) -> None:
    """scikit-learn drops a mask and takes the numbers under it."""
    if np.ma.is_masked(X):
        raise DataError("X is a masked array with masked entries, which are missing values: fill them in first")


def _refuse_not_finite(X: Any, estimator: Any) -> None:
    """Name the row and the column, which scikit-learn's own check does not."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    entries = X.tocoo() if sparse.issparse(X) else None
    first = np.argwhere(~np.isfinite(values))[0]
    row, column = first if entries is None else (entries.row[first[0]], entries.col[first[0]])
    found = values[tuple(first)]
    what = "NaN, a missing value: fill it in" if np.isnan(found) else f"{found:g}: correct it"
    raise DataError(f"row {row}, {_column(column, estimator)} of X is {what}, or leave the row out")


def _column(column: int, estimator: Any) -> str:
    """What to call a column: by its name, or by its number from 0 as Python counts."""
    names = getattr(estimator, "feature_names_in_", None)
    return f"column {column}" if names is None else f"column {names[column]!r}"


def _refuse_huge(X: Any) -> None:
    """Say so before a sparse X that no memory holds is made dense, or rows that no Program takes are learned from."""
    n_rows, n_features = X.shape
    if n_features > MAX_DIMENSION:
        raise DataError(
            f"X has {n_features:,} features: a Program takes {MAX_DIMENSION:,} at most, so choose among them"
        )
    if sparse.issparse(X) and n_rows * n_features > LARGEST_DENSE:
        raise DataError(
            f"X is sparse, with {n_rows:,} x {n_features:,} numbers when made dense, as training needs it: "
            f"{LARGEST_DENSE:,} at most, so give fewer rows or choose among the features"
        )


def _class_weights(class_weight: Any, classes: NDArray, encoded: NDArray, weight: NDArray) -> NDArray[np.float64]:
    if isinstance(class_weight, str) and class_weight == "balanced":
        return weight.sum() / (len(classes) * np.bincount(encoded, weights=weight))
    of_class = compute_class_weight(class_weight, classes=classes, y=classes[encoded])
    if not (of_class > 0).all():
        least = classes.tolist()[of_class.argmin()]
        raise DataError(f"class_weight gives class {least!r} {of_class.min():g}: leave its rows out, or weigh them")
    return of_class


def _as_sensed(X: Any, numbers: NDArray, estimator: Any) -> NDArray:
    """Make rows dense, in the narrowest type of a sensor that gives them; refuse what float32 cannot hold."""
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    raw = raw_type(X)
    with np.errstate(over="ignore", under="ignore"):
        sensed = X.astype(raw)
    if not np.isfinite(sensed).all():
        row, column = np.argwhere(~np.isfinite(sensed))[0]
        raise DataError(
            f"row {numbers[row]}, {_column(column, estimator)} of X holds {X[row, column]:g}, more than a float32 can "
            "hold: use a larger unit for it"
        )
    return sensed


def feature_names(estimator: Any) -> tuple[str, ...] | None:
    """Return the columns' names for a Program, if they have any and no two are the same."""
    names = tuple(map(str, getattr(estimator, "feature_names_in_", ())))
    return names if names and len(set(names)) == len(names) else None


def seed_of(random_state: Any) -> int:
    """Turn scikit-learn's `random_state` (None, an int or a generator, which moves on) into one seed."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def merge_repeated(rows: TrainingRows) -> TrainingRows:
    """Merge repeated rows of one class into one that carries their weight, in an order that no shuffling changes.

    So weights mean repetition by construction: whatever is computed from the result cannot tell a row of weight two
    from a row given twice.
    """
    marks = rows.y.astype(np.uint32).view(np.uint8).reshape(len(rows.y), 4)
    values = without_negative_zeros(rows.X)
    keys = np.hstack([values.view(np.uint8).reshape(len(values), -1), marks])
    first, weight, _ = distinct_rows(keys, rows.weight)
    return TrainingRows(values[first], rows.y[first], weight, rows.classes)


def set_aside(rows: TrainingRows, seed: int, share: float = 0.25) -> tuple[TrainingRows, TrainingRows]:
    """Split training rows for fit's own choices: rows to learn from, and rows to choose by (test rows never come here).

    Stratified: of every class the share, rounded down, is held out, so a class always keeps a row to learn from.
    Where all classes are too small to spare one, the rows to choose by are the rows to learn from.
    """
    draw = np.random.default_rng(seed)
    held = np.zeros(len(rows.y), dtype=bool)
    for label in range(len(rows.classes)):
        members = np.flatnonzero(rows.y == label)
        held[draw.permutation(members)[: int(share * len(members))]] = True
    if not held.any():
        return rows, rows
    return rows.take(np.flatnonzero(~held)), rows.take(np.flatnonzero(held))
