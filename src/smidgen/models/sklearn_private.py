"""The one file that imports scikit-learn's private names, so that a new release breaks one file at most."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = ["Interval", "StrOptions", "check_sample_weight", "fit_context", "neighbours"]


def neighbours(model: Any) -> tuple[NDArray, NDArray[np.intp]]:
    """Return the rows that a fitted KNeighborsClassifier keeps, dense, and their places in `classes_`."""
    rows = model._fit_X
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows), model._y
