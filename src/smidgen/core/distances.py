"""Squared Euclidean distances between rows.

Written against the Array API; imports nothing of the house but `core.arrays`.
"""

from smidgen.core.arrays import Array, namespace_of


def squared_distances(X: Array, points: Array, rows_at_once: int | None = None) -> Array:
    """Return ``|x|² - 2 x·p + |p|²`` for every row x of X and every point p, never below 0.

    Parameters
    ----------
    X : array of real floats, shape (..., n, d)
    points : array of the same dtype, shape (..., m, d)
        Leading axes are batches and broadcast.
    rows_at_once : int, optional
        Work through the n rows in blocks of this many, so that no temporary is larger than a block. The last bits
        may differ from those of a single block, as BLAS sums in another order.

    Returns
    -------
    sq_dist : array, shape (..., n, m)

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[0.0, 4.0]]))
    array([[16.],
           [ 9.]])
    """
    xp = namespace_of(X, points)
    sq_norms = xp.sum(points * points, axis=-1)[..., None, :]
    transposed = xp.matrix_transpose(points)
    n = X.shape[-2]
    step = rows_at_once or max(n, 1)
    blocks = [X[..., start : min(start + step, n), :] for start in range(0, n, step)] or [X]
    parts = [_of_block(block, transposed, sq_norms) for block in blocks]
    return parts[0] if len(parts) == 1 else xp.concat(parts, axis=-2)


def _of_block(block: Array, transposed: Array, sq_norms: Array) -> Array:
    xp = namespace_of(block)
    own = xp.sum(block * block, axis=-1, keepdims=True)
    return xp.clip(own - 2 * xp.matmul(block, transposed) + sq_norms, min=0)
