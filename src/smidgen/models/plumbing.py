"""What every estimator's `fit` shares with scikit-learn: checked rows, encoded targets, weights.

`training_rows` for classes and labels, `regression_rows` for values; both give `TrainingRows` (rows.py). May import
scikit-learn (its private names by way of `sklearn_private`), `smidgen.program`, and `rows` and `scaling` beside it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array, check_random_state, column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from smidgen.errors import DataError, UsageError
from smidgen.models.rows import TrainingRows
from smidgen.models.scaling import raw_type
from smidgen.models.sklearn_private import check_sample_weight
from smidgen.program.checks import counted
from smidgen.program.signal import MAX_DIMENSION
from smidgen.program.storage import LARGEST_DENSE

DENSE_ANYWAY = 1 << 24
"""A sparse X of no more numbers, zeros included, is made dense even by who can learn from CSR: that is quicker."""

INDEX_BYTES = 4  # that an entry of a CSR matrix takes beside its value
FLOAT32_END = 2.0**128 - 2.0**103  # the least float64 that rounds to an infinite float32


def training_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    class_weight: Any = None,
    *,
    multilabel: bool = False,
    keep_sparse: bool = False,
    classes: Any = None,
) -> TrainingRows:
    """Check what a classifier's `fit` was given and return the rows that count.

    Parameters
    ----------
    estimator : estimator
        Gets `n_features_in_`, and `feature_names_in_` where the columns have names.
    X : array-like or sparse matrix, shape (n, d)
        Becomes what a sensor gives: whole numbers the narrowest integers, floats or not; all others float32.
    y : array-like, shape (n,); where `multilabel`, also an indicator matrix, dense or sparse, shape (n, L)
    sample_weight : array-like, shape (n,), optional
        Rows of weight zero are dropped before anything else looks at them.
    class_weight : dict, "balanced" or None
        Multiplies the sample weights; "balanced" counts total weight, not rows.
    multilabel : bool
        Whether the estimator takes an indicator matrix.
    keep_sparse : bool
        Whether the estimator takes a CSR matrix, whose rows `dense_batch` gives: where X is sparse, large (more than
        `DENSE_ANYWAY` numbers) and smaller so than dense. Otherwise a sparse X is made dense.
    classes : array-like, optional
        For `partial_fit`: all classes (of labels 0..L - 1), of which these rows need not show more than one. If the
        estimator has seen rows before, X must have the same features.
    """
    X, y = _checked(estimator, X, y, multi_output=multilabel, more=classes is not None)
    if multilabel and y.ndim == 2 and y.shape[1] > 1:
        if class_weight is not None:
            raise UsageError("class_weight weighs classes, and y is an indicator of labels: leave it out")
        counts, weight = _counting_rows(X, sample_weight, "some rows")
        names, target = np.arange(y.shape[1]), _indicator(y, counts, classes)
    else:
        y = _one_class_a_row(y)
        counts, weight = _counting_rows(X, sample_weight, "some rows, of at least two classes,")
        names, target = _encoded(y[counts]) if classes is None else _encoded_among(classes, y[counts])
        if classes is not None and class_weight == "balanced":
            raise UsageError('class_weight="balanced" counts all rows, which partial_fit never sees: give a dict')
        weight *= _class_weights(class_weight, names, target, weight)[target]
    return TrainingRows(_as_sensed(X, counts, estimator, keep_sparse), target, weight, names)


def regression_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    keep_sparse: bool = False,
    n_outputs: int | None = None,
) -> TrainingRows:
    """Check what a regressor's `fit` was given and return the rows that count.

    Parameters
    ----------
    estimator, X, sample_weight, keep_sparse
        As those of `training_rows`.
    y : array-like of real numbers, shape (n,) or (n, K)
    n_outputs : int, optional
        For every `partial_fit` but the first: how many columns y must have; X must have the features it had before.
    """
    X, y = _checked(estimator, X, _real_numbers(y), multi_output=True, more=n_outputs is not None)
    counts, weight = _counting_rows(X, sample_weight, "some rows")
    values = y[counts].reshape(len(counts), -1)
    if n_outputs not in (None, values.shape[1]):
        raise DataError(f"y has {counted(values.shape[1], 'column')}, but the rows before had {n_outputs}")
    X = _as_sensed(X, counts, estimator, keep_sparse)
    return TrainingRows(X, values, weight, None, y_is_1d=y.ndim == 1)


# y.


def _one_class_a_row(y: Any) -> NDArray:
    y = column_or_1d(y.toarray() if sparse.issparse(y) else y, warn=True)
    check_classification_targets(y)
    if y.dtype.kind in "mM":
        raise DataError(f"y holds {y.dtype}, which no model file can hold: name the classes by words, as y.astype(str)")
    return y


def _encoded(y: NDArray) -> tuple[NDArray, NDArray]:
    """Return the names of the classes, sorted, and the index of each row's own."""
    classes, encoded = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise DataError(f"y holds only one class, {only!r}: a classifier needs rows of at least two classes")
    return classes, encoded


def _encoded_among(classes: Any, y: NDArray) -> tuple[NDArray, NDArray]:
    """Return the given classes, sorted, and the index of each row's own."""
    names = np.unique(column_or_1d(classes))
    if len(names) < 2:
        raise DataError(f"classes names {len(names)}: a classifier needs at least two")
    unknown = y[~np.isin(y, names)]
    if len(unknown):
        raise DataError(f"y holds {unknown.tolist()[0]!r}, which is not among the classes: name all of them at first")
    return names, np.searchsorted(names, y)


def _indicator(y: Any, counts: NDArray, classes: Any = None) -> NDArray:
    """Make rows of an indicator dense; refuse what is none."""
    n_labels = y.shape[1]
    if classes is not None and len(classes) != n_labels:
        raise DataError(f"y is an indicator of {n_labels:,} labels, but there are {len(classes):,} classes")
    if n_labels > MAX_DIMENSION:
        raise DataError(f"y has {n_labels:,} labels: a Program gives {MAX_DIMENSION:,} at most")
    _refuse_too_large_dense("y", len(counts), n_labels)
    indicator = y[counts].toarray() if sparse.issparse(y) else y[counts]
    wrong = np.argwhere((indicator != 0) & (indicator != 1))
    if len(wrong):
        row, label = wrong[0]
        raise DataError(
            f"y has {n_labels} columns, so it must be an indicator of labels, but row {counts[row]}, column {label} of "
            f"y holds {indicator[row, label]}: give 1 where a label is on and 0 elsewhere, or one column of classes"
        )
    if classes is None and not indicator.any():
        raise DataError("y is an indicator without a single label on: there is nothing to learn from it")
    return indicator.astype(np.uint8)


def _real_numbers(y: Any) -> Any:
    """Check that values to predict are numbers that a float32 can hold, and make them float64."""
    if y is None:
        return y  # scikit-learn has a sentence for that
    if sparse.issparse(y):
        raise DataError("y is a sparse matrix: a regressor takes an array of numbers, so give y.toarray()")
    _refuse_masked(y, "y")
    y = check_array(y, ensure_2d=False, dtype=None, ensure_all_finite=False, input_name="y")
    try:
        numbers = y.astype(np.float64) if y.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None:
        kind = "words" if y.dtype.kind in "OU" else str(y.dtype)
        raise DataError(f"y holds {kind}: a regressor predicts numbers, so give numbers or use a classifier")
    beyond = np.argwhere(~(np.abs(numbers) < FLOAT32_END))
    if len(beyond):
        place = f"row {beyond[0][0]}" + (f", column {beyond[0][1]}" if y.ndim == 2 else "") + " of y"
        found = numbers[tuple(beyond[0])]
        raise DataError(_too_large(place, found) if np.isfinite(found) else _not_finite(place, found))
    return numbers


def _counting_rows(X: Any, sample_weight: Any, what: str) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The numbers of the rows that weigh anything, and their weights."""
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    counts = np.flatnonzero(weight > 0)
    if not len(counts):
        raise DataError(f"sample_weight is zero for every row: give {what} a weight")
    return counts, weight[counts]


def _class_weights(class_weight: Any, classes: NDArray, encoded: NDArray, weight: NDArray) -> NDArray[np.float64]:
    if isinstance(class_weight, str) and class_weight == "balanced":
        return weight.sum() / (len(classes) * np.bincount(encoded, weights=weight))
    of_class = compute_class_weight(class_weight, classes=classes, y=classes[encoded])
    if not (of_class > 0).all():
        least = classes.tolist()[of_class.argmin()]
        raise DataError(f"class_weight gives class {least!r} {of_class.min():g}: leave its rows out, or weigh them")
    return of_class


# X.


def checked_features(estimator: Any, X: Any) -> Any:
    """Check the X that a fitted estimator is to answer for; dense or sparse, as it came."""
    _refuse_masked(X, "X")
    X = validate_data(estimator, X, accept_sparse="csr", dtype="numeric", ensure_all_finite=False, reset=False)
    _refuse_not_finite(X, estimator)
    return X


def _checked(estimator: Any, X: Any, y: Any, *, multi_output: bool, more: bool) -> tuple[Any, Any]:
    """X and y as arrays of as many rows, X finite and no wider than a Program takes; if more, as wide as before."""
    _refuse_masked(X, "X")
    X, y = validate_data(
        estimator,
        X,
        y,
        accept_sparse="csr",
        dtype="numeric",
        ensure_all_finite=False,
        multi_output=multi_output,
        reset=not (more and hasattr(estimator, "n_features_in_")),
    )
    _refuse_not_finite(X, estimator)
    if X.shape[1] > MAX_DIMENSION:
        raise DataError(
            f"X has {X.shape[1]:,} features: a Program takes {MAX_DIMENSION:,} at most, so choose among them"
        )
    return X, y


def _refuse_masked(values: Any, name: str) -> None:
    """scikit-learn drops a mask and takes the numbers under it."""
    if np.ma.is_masked(values):
        raise DataError(f"{name} is a masked array with masked entries, which are missing values: fill them in first")


def _refuse_not_finite(X: Any, estimator: Any) -> None:
    """Name the row and the column, which scikit-learn's own check does not."""
    if place := _first_not_finite(X):
        raise DataError(_not_finite(f"row {place[0]}, {_column(place[1], estimator)} of X", X[place]))


def _first_not_finite(X: Any) -> tuple[int, int] | None:
    """Row and column of the first NaN or infinity of a dense or CSR matrix."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return None
    first = np.argwhere(~np.isfinite(values))[0]
    if not sparse.issparse(X):
        return int(first[0]), int(first[1])
    return int(np.searchsorted(X.indptr, first[0], side="right")) - 1, int(X.indices[first[0]])


def _not_finite(place: str, found: float) -> str:
    what = "NaN, a missing value: fill it in" if np.isnan(found) else f"{found:g}: correct it"
    return f"{place} is {what}, or leave the row out"


def _too_large(place: str, found: float) -> str:
    return f"{place} holds {found:g}, more than a float32 can hold: use a larger unit for it"


def _column(column: int, estimator: Any) -> str:
    """What to call a column: by its name, or by its number from 0 as Python counts."""
    names = getattr(estimator, "feature_names_in_", None)
    return f"column {column}" if names is None else f"column {names[column]!r}"


def _as_sensed(X: Any, counts: NDArray, estimator: Any, keep_sparse: bool) -> Any:
    """Return the rows of these numbers in the narrowest type of a sensor that gives them; nothing is copied in vain.

    Sparse ones are made dense, unless they shall and may stay as they are. What float32 cannot hold is refused.
    """
    X = X if len(counts) == X.shape[0] else X[counts]
    if sparse.issparse(X):
        X = _without_repeats(sparse.csr_array(X))
        if not (keep_sparse and _is_large_and_empty(X)):
            _refuse_too_large_dense("X", *X.shape)
            X = X.toarray()
    with np.errstate(over="ignore", under="ignore"):
        sensed = X.astype(raw_type(X), copy=False)
    if place := _first_not_finite(sensed):
        where = f"row {counts[place[0]]}, {_column(place[1], estimator)} of X"
        raise DataError(_too_large(where, X[place]))
    return sensed


def _without_repeats(X: sparse.csr_array) -> sparse.csr_array:
    """Add up what stands in one place more than once; the caller's own matrix stays as it is."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def _is_large_and_empty(X: sparse.csr_array) -> bool:
    """Whether X had better stay sparse."""
    n_numbers, n_bytes = X.shape[0] * X.shape[1], np.dtype(raw_type(X)).itemsize
    return n_numbers > DENSE_ANYWAY and X.nnz * (n_bytes + INDEX_BYTES) < n_numbers * n_bytes


def _refuse_too_large_dense(name: str, n_rows: int, n_columns: int) -> None:
    """Say so before a sparse matrix that no memory holds is made dense."""
    if n_rows * n_columns > LARGEST_DENSE:
        what = "features" if name == "X" else "labels"
        raise DataError(
            f"{name} is sparse, with {n_rows:,} x {n_columns:,} numbers when made dense, as training needs it: "
            f"{LARGEST_DENSE:,} at most, so give fewer rows or choose among the {what}"
        )


# Names and seeds.


def feature_names(estimator: Any) -> tuple[str, ...] | None:
    """Return the columns' names for a Program, if they have any and no two are the same."""
    names = tuple(map(str, getattr(estimator, "feature_names_in_", ())))
    return names if names and len(set(names)) == len(names) else None


def seed_of(random_state: Any) -> int:
    """Turn scikit-learn's `random_state` (None, an int or a generator, which moves on) into one seed."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
