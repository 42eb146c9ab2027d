"""Batches of what the Input makes of the rows, with noise: what training sees.

Rows are kept as small as they come (bytes where the Input gives bytes, sparse where they are sparse) and become float32
a batch at a time. The noise is uniform, drawn once into a pool of which every batch takes another stretch: a fresh
normal number for every input of every batch would cost more than all the rest. May import core, `rows` beside it and
the Program's Input.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smidgen.core.arrays import Array, namespace_of
from smidgen.core.random import generator
from smidgen.models.rows import dense_batch
from smidgen.program import Input

POOL_ROWS = 4096
BLOCK_VALUES = 1 << 20
UNIFORM_WIDTH = 12**0.5  # of a uniform distribution whose standard deviation is 1


@dataclass(frozen=True)
class Feed:
    """Rows to learn from; make one with `feed_of`.

    Parameters
    ----------
    rows : array or CSR matrix, shape (n, d')
        What the Input gives, or, with `scaling`, raw rows that become it a batch at a time.
    scaling : Input or None
    columns : array or None
        Which features of what `scaling` gives are wanted; None, all.
    mean, deviation : array of float32, shape (d,)
    noise : array of float32, shape (pool, d), or None
        What is added: a batch takes as many rows of it as it has itself.
    places : random.Random
        Where in the pool the next batch takes its noise from.
    """

    rows: Any
    scaling: Input | None
    columns: NDArray | None
    mean: Array
    deviation: Array
    noise: Array | None
    places: random.Random

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.rows.shape[0]

    @property
    def n_features(self) -> int:
        """How many numbers a row of a batch has."""
        return self.mean.shape[0]

    def varied_columns(self) -> Array:
        """Return the columns that are not constant; the first where all are."""
        xp = namespace_of(self.mean)
        varied = xp.nonzero(self.deviation > 0)[0]
        return varied if varied.shape[0] else xp.arange(1)

    def of_columns(self, columns: Array) -> Self:
        """Return a feed of some of the columns alone."""
        xp = namespace_of(self.mean)
        noise = None if self.noise is None else xp.take(self.noise, columns, axis=1)
        mean, deviation = xp.take(self.mean, columns), xp.take(self.deviation, columns)
        if self.scaling is None:
            rows = xp.take(self.rows, columns, axis=1)
            return replace(self, rows=rows, mean=mean, deviation=deviation, noise=noise)
        kept = columns if self.columns is None else self.columns[columns]
        return replace(self, columns=kept, mean=mean, deviation=deviation, noise=noise)

    def batches(self, batch_size: int, n_steps: int, seed: int) -> Iterator[Array]:
        """Yield the numbers of each batch's rows: epoch after epoch, each in an order of its own."""
        draw = generator(self.mean, seed)
        n = self.rows.shape[0]
        size, order, start = min(batch_size, n), draw.permutation(n), 0
        for _ in range(n_steps):
            if start + size > n:
                order, start = draw.permutation(n), 0
            yield order[start : start + size]
            start += size

    def batches_an_epoch(self, batch_size: int) -> int:
        """How many whole batches the rows make."""
        return max(1, self.n_rows // batch_size)

    def take(self, index: Array) -> Array:
        """Return a batch as float32, with noise."""
        x = self.clean(index)
        if self.noise is None:
            return x
        start = self.places.randrange(self.noise.shape[0] - x.shape[0] + 1)
        return x + self.noise[start : start + x.shape[0], :]

    def clean(self, index: Array) -> Array:
        """Return rows as float32, without noise."""
        xp = namespace_of(self.mean)
        if self.scaling is None:
            return xp.astype(xp.take(self.rows, index, axis=0), xp.float32)
        return xp.asarray(_scaled(self.rows, np.asarray(index), self.scaling, self.columns))

    def sample(self, index: Array) -> Array:
        """Return many rows as float32, without noise, in little more memory than they take themselves."""
        xp = namespace_of(self.mean)
        step = max(1, BLOCK_VALUES // self.n_features)
        starts = range(0, index.shape[0], step)
        return xp.concat([self.clean(index[start : start + step]) for start in starts], axis=0)


def feed_of(X: Any, weight: NDArray, scaling: Input, *, noise: float, batch_size: int, seed: int) -> Feed:
    """Make a feed of raw rows.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
    weight : array, shape (n,)
    scaling : Input
    noise : float
        The standard deviation of what is added: in deviations of each feature where the Input scales each by itself,
        else in the root mean square of them all, so that pixels at the rim are not taken for quiet.
    batch_size, seed : int
    """
    as_it_is = not sparse.issparse(X) and _is_identity(scaling)
    dense_bytes = not sparse.issparse(X) and scaling.output == "bytes"
    rows = X if as_it_is else _all_scaled(X, scaling) if dense_bytes else X
    later = None if as_it_is or dense_bytes else scaling
    mean, deviation = _moments(rows, weight, later)
    unit = deviation if _scales_each(scaling) else np.full_like(deviation, spread_of(deviation))
    pool = None
    if noise:
        n_rows = max(POOL_ROWS, 2 * min(batch_size, X.shape[0]))
        drawn = np.random.default_rng(seed).random((n_rows, len(mean)), dtype=np.float32)
        pool = (drawn - 0.5) * (UNIFORM_WIDTH * noise * unit)
    return Feed(rows, later, None, mean, deviation, pool, random.Random(seed))


def spread_of(deviation: NDArray) -> float:
    """Return the root mean square of the deviations of features that vary; 1 where none does."""
    varied = deviation[deviation > 0]
    return float(np.sqrt(np.mean(varied.astype(np.float64) ** 2))) if len(varied) else 1.0


def _is_identity(scaling: Input) -> bool:
    numbers = (scaling.offset, scaling.multiplier, scaling.shift)
    plain = not any(isinstance(number, np.ndarray) for number in numbers) and numbers == (0, 1, 0)
    codes_or_gaps = scaling.codes is not None or scaling.missing is not None
    return plain and not codes_or_gaps and scaling.raw == "uint8"


def _scales_each(scaling: Input) -> bool:
    return isinstance(scaling.shift, np.ndarray) or isinstance(scaling.multiplier, np.ndarray)


def _scaled(rows: Any, index: NDArray | slice, scaling: Input | None, columns: NDArray | None) -> NDArray:
    batch = dense_batch(rows, index)
    batch = batch if scaling is None else scaling.run(batch)
    return (batch if columns is None else batch[:, columns]).astype(np.float32, copy=False)


def _blocks(X: Any) -> Iterator[slice]:
    step = max(1, BLOCK_VALUES // X.shape[1])
    return (slice(start, start + step) for start in range(0, X.shape[0], step))


def _all_scaled(X: NDArray, scaling: Input) -> NDArray[np.uint8]:
    scaled = np.empty((X.shape[0], scaling.width), np.uint8)
    for block in _blocks(X):
        scaled[block] = scaling.run(X[block])
    return scaled


def _moments(rows: Any, weight: NDArray, scaling: Input | None) -> tuple[NDArray, NDArray]:
    """Weighted mean and standard deviation of every column; a column that never changes deviates by exactly 0."""
    width = rows.shape[1] if scaling is None else scaling.width
    first = _scaled(rows, slice(0, 1), scaling, None)[0].astype(np.float64)
    total, squares = np.zeros(width), np.zeros(width)
    for block in _blocks(rows):
        away = _scaled(rows, block, scaling, None) - first  # from a row of its own: a constant sums to 0 exactly
        total += weight[block] @ away
        squares += weight[block] @ (away * away)
    mean = total / weight.sum()
    deviation = np.sqrt(np.maximum(squares / weight.sum() - mean * mean, 0))
    return (first + mean).astype(np.float32), np.where(squares > 0, deviation, 0).astype(np.float32)
