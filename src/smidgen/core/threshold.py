"""Exact hard thresholding: the projection onto arrays with at most k entries.

Written against the Array API; imports nothing of the house but `core.arrays` and the errors. No shape depends on the
data and nothing is read back to Python, so a GPU can capture it in a graph.
"""

from smidgen.core.arrays import Array, namespace_of
from smidgen.errors import UsageError


def keep_largest(values: Array, k: int) -> tuple[Array, Array]:
    """Keep the k entries of the whole array that are largest in magnitude, set the others to zero.

    Parameters
    ----------
    values : array of signed integers or real floats, any shape, free of NaN
    k : int
        How many entries stay; all of them where the array holds no more than k.

    Returns
    -------
    kept : array of bool, the shape of `values`
        True at exactly ``min(k, size)`` positions; ties go to the lowest index in row-major order.
    thresholded : array, the shape and dtype of `values`

    Examples
    --------
    >>> import numpy as np
    >>> kept, thresholded = keep_largest(np.array([[3.0, -5.0], [0.5, 3.0]]), k=2)
    >>> thresholded
    array([[ 3., -5.],
           [ 0.,  0.]])
    """
    xp = namespace_of(values)
    kept = xp.reshape(_largest_of_rows(xp.reshape(values, (1, -1)), k), values.shape)
    return kept, xp.where(kept, values, xp.zeros_like(values))


def keep_largest_per_row(values: Array, k: int) -> tuple[Array, Array]:
    """Keep the k entries largest in magnitude of each row (the last axis), set the others to zero.

    Parameters and returns are those of `keep_largest`, k counted a row.

    Examples
    --------
    >>> import numpy as np
    >>> kept, thresholded = keep_largest_per_row(np.array([[1, -2, 2], [0, 0, 0]]), k=1)
    >>> kept
    array([[False,  True, False],
           [ True, False, False]])
    """
    xp = namespace_of(values)
    kept = _largest_of_rows(values, k)
    return kept, xp.where(kept, values, xp.zeros_like(values))


def _largest_of_rows(values: Array, k: int) -> Array:
    """Mark the k entries of each row largest in magnitude: all above the k-th, and the first of those equal to it."""
    if k < 0:
        raise UsageError(f"k is {k}: the number of entries to keep cannot be negative")
    xp = namespace_of(values)
    if k == 0 or k >= values.shape[-1]:
        return xp.full(values.shape, k > 0, dtype=xp.bool, device=values.device)
    falling = xp.where(values > 0, -values, values)  # minus the magnitude: unlike abs, exact for the least integer too
    kth = xp.sort(falling, axis=-1)[..., k - 1 : k]
    above, tied = falling < kth, falling == kth
    count = xp.sum(xp.astype(above, xp.int64), axis=-1, keepdims=True)
    order_among_ties = xp.cumulative_sum(xp.astype(tied, xp.int64), axis=-1)
    return above | (tied & (order_among_ties <= k - count))
