"""`Split`, and the one rule for rows that come without a split; what becomes of missing values.

A quarter of the rows is for testing, stratified by class, `random_state=0`. NaN becomes the training median.

May import NumPy, SciPy and scikit-learn (when called) and `smidgen.errors`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from smidgen.errors import DataError


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Rows to train on and rows to test on.

    Attributes
    ----------
    X_train, X_test : ndarray or scipy.sparse.csr_array
        The features.
    y_train, y_test : ndarray or scipy.sparse.csr_array
        Classes (integers, truth values or words, one a row), numbers (float, for regression) or an indicator
        of labels (two-dimensional).
    feature_names : tuple of str
        One name a column, or empty where the source names none.
    name : str
        What the set is called.
    """

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    feature_names: tuple[str, ...] = ()
    name: str = ""

    def __repr__(self) -> str:
        rows, columns = self.X_train.shape
        return f"Split({self.name}: {rows} + {self.X_test.shape[0]} rows, {columns} features of {self.X_train.dtype})"


def hold_out(X: Any, y: Any, feature_names: tuple[str, ...] = (), name: str = "") -> Split:
    """Split rows by the one rule, and fill what is missing with the training rows' medians.

    Examples
    --------
    >>> import numpy as np
    >>> split = hold_out(np.arange(16.0).reshape(8, 2), np.array(["a", "b"] * 4))
    >>> split
    Split(: 6 + 2 rows, 2 features of float64)
    >>> sorted(split.y_test.tolist())
    ['a', 'b']
    """
    train, test = hold_out_rows(y)
    X_train, X_test = fill_missing(X[train], X[test])
    return Split(X_train, y[train], X_test, y[test], feature_names, name)


def hold_out_rows(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The training rows and the test rows: a quarter, rounded up, drawn with `random_state=0`.

    Stratified where y is one class a row: integers, truth values or words. Rows whose class has no other row all train.
    Where the rest cannot be stratified (fewer rows on one side than classes), and for numbers (floats) and labels
    (two-dimensional), the draw is plain. It is that of scikit-learn's `train_test_split`, rows in its order.

    Examples
    --------
    >>> import numpy as np
    >>> train, test = hold_out_rows(np.array([0, 0, 0, 0, 1, 1, 1, 1, 2]))
    >>> len(train), sorted(test.tolist())[-1] < 8
    (6, True)
    """
    from sklearn.model_selection import train_test_split

    rows = np.arange(y.shape[0])
    n_test = math.ceil(len(rows) / 4)
    if len(rows) < 2:
        raise DataError(f"{len(rows)} row cannot be split into training and test rows, give at least 2")
    if y.ndim == 1 and y.dtype.kind in "biuU":
        _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        shared = counts[codes] > 1
        n_classes = int((counts > 1).sum())
        if n_classes and n_test >= n_classes and shared.sum() - n_test >= n_classes:
            train, test = train_test_split(rows[shared], test_size=n_test, stratify=codes[shared], random_state=0)
            return np.concatenate([train, rows[~shared]]), test
    train, test = train_test_split(rows, test_size=n_test, random_state=0)
    return train, test


def fill_missing(X_train: Any, *others: Any) -> tuple[Any, ...]:
    """X_train and the others with every NaN replaced by the median of its column in X_train.

    Zero where a column of X_train is NaN throughout. Dense or CSR; arrays without a NaN are handed back as they are.

    Examples
    --------
    >>> import numpy as np
    >>> nan = float("nan")
    >>> train, test = fill_missing(np.array([[1.0, nan], [3.0, nan], [nan, nan]]), np.array([[nan, 7.0]]))
    >>> train.tolist(), test.tolist()
    ([[1.0, 0.0], [3.0, 0.0], [2.0, 0.0]], [[2.0, 7.0]])
    """
    columns = sorted(set().union(*(_columns_with_nan(X) for X in (X_train, *others))))
    if not columns:
        return (X_train, *others)
    medians = np.zeros(X_train.shape[1], dtype=np.result_type(X_train.dtype, np.float32))
    by_column = X_train if isinstance(X_train, np.ndarray) else X_train.tocsc()
    for j in columns:
        known = _column(by_column, j)
        known = known[~np.isnan(known)]
        medians[j] = np.median(known) if known.size else 0
    return tuple(_filled(X, medians) if len(_columns_with_nan(X)) else X for X in (X_train, *others))


def _columns_with_nan(X: Any) -> np.ndarray:
    if X.dtype.kind != "f":
        return np.array([], dtype=np.intp)
    if isinstance(X, np.ndarray):
        return np.flatnonzero(np.isnan(X).any(axis=0))
    return np.unique(X.indices[np.isnan(X.data)])


def _column(X: Any, j: int) -> np.ndarray:
    return X[:, j] if isinstance(X, np.ndarray) else X[:, [j]].toarray().ravel()


def _filled(X: Any, medians: np.ndarray) -> Any:
    if isinstance(X, np.ndarray):
        return np.where(np.isnan(X), medians, X)
    filled = X.copy()
    gaps = np.isnan(filled.data)
    filled.data[gaps] = medians[filled.indices[gaps]]
    return filled
