"""Which weights stay: the strongest, as many as a schedule or the bytes allow. May import core and the byte formula."""

import numpy as np

from smidgen.core.arrays import Array, namespace_of
from smidgen.core.threshold import keep_largest, keep_largest_per_row
from smidgen.program import Matrix
from smidgen.program.storage import Format


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


def fill_room(magnitudes: Array, n_bytes: int, weight_format: Format, least_a_row: int) -> Array:
    """Mark as many of the largest entries as the bytes hold, by the Program's own account."""
    rows, columns = magnitudes.shape
    of_row = np.asarray(keep_largest_per_row(magnitudes, least_a_row)[0])
    strength = np.asarray(magnitudes)
    order = np.argsort(-(strength + of_row * (1 + strength.max())), axis=None, kind="stable")
    rank = np.empty(rows * columns, np.int64)
    rank[order] = np.arange(rows * columns)
    rank = rank.reshape(rows, columns)

    def n_bytes_of(n_entries: int) -> int:
        return Matrix.pack((rank < n_entries).astype(np.int8), weight_format).n_bytes

    least, most = rows * min(least_a_row, columns), rows * columns
    if n_bytes_of(most) <= n_bytes:
        return namespace_of(magnitudes).asarray(rank < most)
    fits, too_many = least, most
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        fits, too_many = (middle, too_many) if n_bytes_of(middle) <= n_bytes else (fits, middle)
    return namespace_of(magnitudes).asarray(rank < fits)
