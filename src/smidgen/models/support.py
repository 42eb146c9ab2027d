"""Which weights stay: the strongest, as many as a schedule or the bytes allow. May import core and the byte formula."""

import math

import numpy as np
from numpy.typing import NDArray

from smidgen.core.arrays import Array, namespace_of
from smidgen.core.threshold import keep_largest, keep_largest_per_row
from smidgen.program import Matrix


def shrinking(n_all: int, n_end: int, progress: float) -> int:
    """Return how many entries stay on the cubic way from all of them to the final number.

    >>> [shrinking(1000, 100, progress) for progress in (0.0, 0.5, 1.0)]
    [1000, 212, 100]
    """
    return round(n_end + (n_all - n_end) * (1 - progress) ** 3)


def strongest(magnitudes: Array, n_entries: int, least_a_row: int) -> Array:
    """Mark the largest entries of all, but in every row the largest few."""
    xp = namespace_of(magnitudes)
    of_row, _ = keep_largest_per_row(magnitudes, least_a_row)
    above_all = 1 + xp.max(magnitudes)
    keep, _ = keep_largest(xp.where(of_row, magnitudes + above_all, magnitudes), n_entries)
    return keep


def fill_room(magnitudes: Array, n_bytes: int, weight_format: str, least_a_row: int = 2) -> Array:
    """Mark as many of the largest entries as the bytes hold, by the Program's own account."""
    xp = namespace_of(magnitudes)
    rows, columns = magnitudes.shape
    order_of = np.empty(rows * columns, np.int64)
    host = np.asarray(magnitudes)
    of_row = np.asarray(keep_largest_per_row(magnitudes, least_a_row)[0])
    order = np.argsort(-(host + of_row * (1 + host.max())), axis=None, kind="stable")
    order_of[order] = np.arange(rows * columns)
    rank = order_of.reshape(rows, columns)

    def fits(n_entries: int) -> bool:
        return Matrix.pack((rank < n_entries).astype(np.int8), weight_format).n_bytes <= n_bytes

    fewest, too_many = rows * min(least_a_row, columns), rows * columns + 1
    if fits(rows * columns):
        fewest = rows * columns
    while too_many - fewest > 1 and fewest < rows * columns:
        middle = (fewest + too_many) // 2
        if fits(middle):
            fewest = middle
        else:
            too_many = middle
    return xp.asarray(rank < fewest)
