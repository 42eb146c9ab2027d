"""How good are scores and predictions of several labels a row? Truth is an indicator: 1 where a label is on.

Classes and values have their measures in scikit-learn. May import NumPy, SciPy and the errors.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from smidgen.errors import UsageError


def precision_at_k(Y: Any, scores: ArrayLike, k: int) -> float:
    """Return the share of true labels among the k of highest score, averaged over the rows.

    Equal scores are taken from the lowest index on, as everywhere here. As in the literature, every row counts by 1/k
    of its hits, so one with fewer than k labels cannot reach 1, and one without any label counts as 0.

    Parameters
    ----------
    Y : array or sparse matrix, shape (n, L)
        The truth, an indicator of labels.
    scores : array, shape (n, L)
        As `decision_function` gives them: the higher, the likelier the label.
    k : int

    Examples
    --------
    >>> Y = [[1, 0, 1], [0, 1, 0]]
    >>> scores = [[0.9, 0.5, 0.1], [0.2, 0.2, 0.2]]
    >>> precision_at_k(Y, scores, k=1), precision_at_k(Y, scores, k=2)
    (0.5, 0.5)
    """
    truth, scores = _indicator(Y), np.asarray(scores)
    _refuse_unlike(truth, scores, "scores")
    n_labels = scores.shape[1]
    if not 1 <= k <= n_labels:
        raise UsageError(f"k is {k}: it must be from 1 to the number of labels, {n_labels}")
    if scores.dtype.kind == "f" and np.isnan(scores).any():
        raise UsageError("scores hold NaN, which has no rank: give numbers")
    falling = -scores if scores.dtype.kind == "f" else -scores.astype(np.int64)
    best = np.argsort(falling, axis=1, kind="stable")[:, :k]
    return float(truth[np.arange(len(best)).repeat(k), best.ravel()].sum() / best.size)


def micro_f1(Y: Any, predicted: Any) -> float:
    """Return the F1 score of all labels of all rows together; 0 where no label is on in either.

    Parameters
    ----------
    Y : array or sparse matrix, shape (n, L)
        The truth, an indicator of labels.
    predicted : array or sparse matrix, shape (n, L)
        As `predict` gives it, an indicator too.

    Examples
    --------
    >>> round(micro_f1([[1, 0, 1], [0, 1, 0]], [[1, 1, 0], [0, 1, 0]]), 3)
    0.667
    """
    truth, claimed = _indicator(Y), _indicator(predicted)
    _refuse_unlike(truth, claimed, "predictions")
    on = int(truth.sum()) + int(claimed.sum())
    return 2 * int(truth.multiply(claimed).sum()) / on if on else 0.0


def _indicator(Y: Any) -> sparse.csr_array:
    truth = sparse.csr_array(Y if sparse.issparse(Y) else np.atleast_2d(np.asarray(Y)), copy=True)
    truth.sum_duplicates()
    if truth.dtype.kind not in "biuf" or not np.isin(truth.data, (0, 1)).all():
        raise UsageError("labels are given as an indicator: 1 where a label is on and 0 elsewhere")
    return truth.astype(np.int64)


def _refuse_unlike(truth: Any, other: Any, name: str) -> None:
    if truth.shape != other.shape or not truth.shape[0]:
        raise UsageError(
            f"the labels have shape {truth.shape} and the {name} {other.shape}: both need a row for each row of X, "
            "a column for each label, and a row at least"
        )
