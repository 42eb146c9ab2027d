"""`TrainingRows`: what `fit` learns from, whatever the task, and what may be done with it.

    task             y                                                classes
    classification   (n,) intp, an index into classes                 (L,) sorted names, at least two
    multilabel       (n, L) uint8, 1 where a label is on              (L,) 0, 1, ..., L - 1
    regression       (n, K) float64, a column an output               None

Imports NumPy, SciPy and `clusters` beside it, no scikit-learn. Rows come from `plumbing`, which checks them.
"""

import hashlib
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smidgen.models.clusters import distinct_rows, without_negative_zeros


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows that count: checked, encoded, none of weight zero."""

    X: Any  # (n, d) uint8, int8, int16 or float32: the narrowest that holds every value; dense, or a csr_array if asked
    y: NDArray  # see above
    weight: NDArray[np.float64]  # (n,) all above 0
    classes: Any = None  # see above
    y_is_1d: bool = True  # of values to predict: how the caller gave them, and wants the predictions

    @property
    def task(self) -> str:
        """`classification`, `multilabel` or `regression`, as Programs call it."""
        if self.classes is None:
            return "regression"
        return "multilabel" if self.y.ndim == 2 else "classification"

    @property
    def n_outputs(self) -> int:
        """How many classes, labels or values there are."""
        return self.y.shape[1] if self.classes is None else len(self.classes)

    def take(self, index: NDArray) -> "TrainingRows":
        """Return some of the rows, with the same classes."""
        return replace(self, X=self.X[index], y=self.y[index], weight=self.weight[index])


def dense_batch(X: Any, index: NDArray | slice) -> NDArray:
    """Return some rows of a dense or CSR X as a dense array of the same type.

    Examples
    --------
    >>> dense_batch(sparse.csr_array(np.array([[0, 7], [0, 0], [5, 0]], np.uint8)), np.array([2, 0]))
    array([[5, 0],
           [0, 7]], dtype=uint8)
    """
    rows = X[index]
    return rows.toarray() if sparse.issparse(rows) else rows


def merge_repeated(rows: TrainingRows) -> TrainingRows:
    """Merge repeated rows of one target into one that carries their weight, in an order that no shuffling changes.

    So weights mean repetition by construction: whatever is computed from the result cannot tell a row of weight two
    from a row given twice.
    """
    X = rows.X if sparse.issparse(rows.X) else without_negative_zeros(rows.X)
    y = without_negative_zeros(rows.y.reshape(len(rows.y), -1))
    marks = _digests(X) if sparse.issparse(X) else X.view(np.uint8).reshape(len(X), -1)
    first, weight, _ = distinct_rows(np.hstack([marks, y.view(np.uint8)]), rows.weight)
    return replace(rows, X=X[first], y=rows.y[first], weight=weight)


def _digests(X: Any) -> NDArray[np.uint8]:
    """Sixteen bytes a row that are the same for the same row, whichever zeros are stored."""
    plain = X.copy()
    plain.sum_duplicates()  # sorts the indices, too
    plain.eliminate_zeros()
    indices, ends = plain.indices.astype(np.int64), plain.indptr
    spans = [slice(start, stop) for start, stop in pairwise(ends)]
    parts = [indices[span].tobytes() + plain.data[span].tobytes() for span in spans]
    digests = b"".join(hashlib.blake2b(part, digest_size=16).digest() for part in parts)
    return np.frombuffer(digests, np.uint8).reshape(len(parts), 16)


def set_aside(rows: TrainingRows, seed: int, share: float = 0.25) -> tuple[TrainingRows, TrainingRows]:
    """Split training rows for fit's own choices: rows to learn from, and rows to choose by (test rows never come here).

    Of classes stratified: of every class the share, rounded down, is held out, so a class always keeps a row to learn
    from. Labels and values to predict are drawn plainly. Where there are too few rows to spare one, the rows to choose
    by are the rows to learn from.
    """
    draw = np.random.default_rng(seed)
    held = np.zeros(len(rows.y), dtype=bool)
    for members in _strata(rows):
        held[draw.permutation(members)[: int(share * len(members))]] = True
    if not held.any():
        return rows, rows
    return rows.take(np.flatnonzero(~held)), rows.take(np.flatnonzero(held))


def _strata(rows: TrainingRows) -> list[NDArray[np.intp]]:
    if rows.task != "classification":
        return [np.arange(len(rows.y))]
    return [np.flatnonzero(rows.y == label) for label in range(rows.n_outputs)]
