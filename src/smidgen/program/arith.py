"""What the integers mean (docs/arithmetic.md), once, for the interpreter and for training alike.

Every function takes the array namespace `xp` first (the Array API standard: NumPy here, torch in training) and holds
integers in floats: those below 2^24 are exact in float32, below 2^53 in float64. The one rounding rule is floor.
Multiplying by a power of two and taking the floor is exactly the `>>` that the board computes. Imports nothing.
"""

from typing import Any

FLOAT32_EXACT = 2**24

FRACTION_BITS = 8
"""The Gaussian interpolates on the 8 bits below its table index."""


def shift_right(xp: Any, values: Any, bits: int) -> Any:
    """`values >> bits` of integers held in floats: floor, also of negative numbers.

    >>> import numpy as np
    >>> shift_right(np, np.array([-5.0, 5.0]), 1)
    array([-3.,  2.])
    """
    return xp.floor(values * 2.0**-bits) if bits else values


def scale_input(xp: Any, values: Any, offset: Any, factor: Any) -> Any:
    """`clip(floor((x - o) * factor), 0, 255)`: the byte that a raw number becomes.

    `factor` is m / 2^s for integer sensors (in float64, where nothing rounds) and m * 2^k for float32 sensors (in
    float32, where subtraction and product round once each, as on the board).
    """
    return xp.clip(xp.floor((values - offset) * factor), 0, 255)


def linear(values: Any, weights: Any, bias: Any) -> Any:
    """`A x + b` for rows of x; exact in any order of summation within the float's range."""
    product = values @ weights.T
    return product if bias is None else product + bias


def rescale(xp: Any, accumulators: Any, *, pre: int, multiplier: Any, shift: int, zero: int, high: int) -> Any:
    """`clip(z + (((acc >> pre) * m) >> s), 0, hi)`: a byte from an accumulator.

    >>> import numpy as np
    >>> rescale(np, np.array([-300.0, 0.0, 1000.0]), pre=1, multiplier=128, shift=8, zero=128, high=255)
    array([ 53., 128., 255.])
    """
    products = shift_right(xp, accumulators, pre) * multiplier
    return xp.clip(shift_right(xp, products, shift) + zero, 0, high)


def sign_bits(xp: Any, accumulators: Any) -> Any:
    """1 where the accumulator is >= 0, else 0, in the accumulators' own dtype."""
    return xp.astype(accumulators >= 0, accumulators.dtype)


def square_distances(xp: Any, values: Any, points: Any) -> Any:
    """Exact sums of squared differences, one for each row and point; of zeros and ones they are Hamming counts."""
    squares = xp.sum(values * values, axis=1)[:, None] + xp.sum(points * points, axis=1)[None, :]
    return squares - 2 * (values @ points.T)


def expand_table(xp: Any, table: Any) -> Any:
    """The Gaussian at every `D >> (ts - 8)`: `T[i] - (((T[i] - T[i + 1]) * f) >> 8)` for all i and f, then a last 0."""
    steps = 1 << FRACTION_BITS
    left, right = table[:-1, None], table[1:, None]
    fraction = xp.arange(steps, dtype=table.dtype)[None, :]
    interpolated = left - shift_right(xp, (left - right) * fraction, FRACTION_BITS)
    return xp.concat((xp.reshape(interpolated, (-1,)), xp.zeros(1, dtype=table.dtype)))


def gaussian(xp: Any, sq_dist: Any, expanded: Any, shift: int) -> Any:
    """Kernel values, one lookup a distance; `expanded` comes from `expand_table`, `shift` is ts.

    >>> import numpy as np
    >>> gaussian(np, np.array([[0.0, 128.0, 256.0, 9999.0]]), expand_table(np, np.array([255.0, 100.0, 0.0])), 8)
    array([[255., 178., 100.,   0.]])
    """
    last = expanded.shape[0] - 1
    index = xp.astype(xp.clip(shift_right(xp, sq_dist, shift - FRACTION_BITS), 0, last), xp.int64)
    return xp.reshape(xp.take(expanded, xp.reshape(index, (-1,)), axis=0), index.shape)


def group_reduce(xp: Any, values: Any, counts: list[int], operation: str, floor: float | None) -> Any:
    """The largest or least entry of each class; a class without entries has its floor alone."""
    reduce = xp.max if operation == "max" else xp.min
    columns, start = [], 0
    for count in counts:
        if count:
            columns.append(reduce(values[:, start : start + count], axis=1))
        else:
            columns.append(xp.full((values.shape[0],), floor, dtype=values.dtype))
        start += count
    reduced = xp.stack(columns, axis=1)
    return reduced if floor is None else xp.clip(reduced, floor, None)


def best_labels(xp: Any, scores: Any, k: int) -> Any:
    """An indicator of the k highest scores of each row, ties to the lowest index."""
    order = xp.argsort(-scores, axis=1, stable=True)
    return xp.argsort(order, axis=1, stable=True) < k
