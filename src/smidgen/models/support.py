"""Which weights stay: the strongest, as many as a schedule or the bytes allow. May import core and the byte formula."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from smidgen.core.arrays import Array, namespace_of
from smidgen.core.threshold import keep_largest, keep_largest_per_row
from smidgen.program import Matrix
from smidgen.program.storage import Format


class Columns(NamedTuple):
    """Which features a part's columns are, of how many."""

    kept: NDArray
    n_features: int


def spread_out(values: Array, columns: Columns) -> NDArray:
    """Return a matrix of all features, 0 where no weight looks."""
    full = np.zeros((values.shape[0], columns.n_features), np.float32)
    full[:, columns.kept] = np.asarray(values)
    return full


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


def fill_room(magnitudes: Array, columns: Columns, n_bytes: int, weight_format: Format, least_a_row: int) -> Array:
    """Mark as many of the largest entries as the bytes hold, by the Program's own account of all features."""
    n_rows, n_columns = magnitudes.shape
    of_row = np.asarray(keep_largest_per_row(magnitudes, least_a_row)[0])
    strength = np.asarray(magnitudes)
    order = np.argsort(-(strength + of_row * (1 + strength.max())), axis=None, kind="stable")
    rank = np.empty(n_rows * n_columns, np.int64)
    rank[order] = np.arange(n_rows * n_columns)
    rank = rank.reshape(n_rows, n_columns)

    def n_bytes_of(n_entries: int) -> int:
        return Matrix.pack(spread_out(rank < n_entries, columns), weight_format).n_bytes

    least, most = n_rows * min(least_a_row, n_columns), n_rows * n_columns
    if n_bytes_of(most) <= n_bytes:
        return namespace_of(magnitudes).asarray(rank < most)
    fits, too_many = least, most
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        fits, too_many = (middle, too_many) if n_bytes_of(middle) <= n_bytes else (fits, middle)
    return namespace_of(magnitudes).asarray(rank < fits)
