"""How our estimators scale raw rows by themselves: a few candidate Input steps, of which held-out rows choose one.

`smidgen.program.scaling` lists them; docs/arithmetic.md (Input) says what each computes. A feature's range runs from
its 1 % to its 99 % quantile over the training rows (another share where an estimator asks for it), tails are clipped;
powers of two bring it to 128..255. Only the dearest, levelled, can enlarge a small integer beside large ones, as where
indicators stand beside thousands of metres. On held-out training rows at 1 and 2 kB it was worth 3 to 7 points on
covtype and 2 to 6 on a9a, and lost nothing on five other sets. May import NumPy and `smidgen.program`.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smidgen.errors import UsageError
from smidgen.program import Input
from smidgen.program.scaling import Ranges, n_constant_bytes, ranged_inputs, raw_type_of, raw_values

__all__ = [
    "best_candidate",
    "candidate_float_inputs",
    "candidate_inputs",
    "feature_ranges",
    "n_constant_bytes",
    "raw_type",
    "raw_values",
]

TAIL = 0.01
BLOCK_VALUES = 1 << 20  # are looked at together: a copy of a large table would double it

Candidate = TypeVar("Candidate")


def raw_type(X: Any) -> str:
    """Return the narrowest type a sensor can have that gives these values, dense or CSR: uint8, int8, int16 or float32.

    Examples
    --------
    >>> raw_type(np.array([[0.0, 16.0]])), raw_type(np.array([[-1, 300]])), raw_type(np.array([[0.5]]))
    ('uint8', 'int16', 'float32')
    """
    if X.dtype == bool:
        return "uint8"
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind == "f" and any((np.rint(block) != block).any() for block in _blocks(values)):
        return "float32"
    return raw_type_of(values.min(initial=0), values.max(initial=0))  # every type holds 0


def _blocks(values: NDArray) -> Iterator[NDArray]:
    """Some rows of an array after the other."""
    n_rows = max(1, BLOCK_VALUES * len(values) // max(values.size, 1))
    return (values[start : start + n_rows] for start in range(0, len(values), n_rows))


def candidate_inputs(
    X: Any, weight: NDArray, trusted_range: tuple[int, int] | None = None, tail: float = TAIL
) -> list[Input]:
    """Return the Inputs that may suit these rows, the cheapest first.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
    weight : array, shape (n,)
    trusted_range : (int, int), optional
        The caller vouches that sensors give whole numbers in this part of 0..255: they are taken as they are.
    tail : float
        The share of the training rows that is clipped at either end of a feature.
    """
    raw = raw_type(X)
    if trusted_range is not None:
        return [_trusting_input(X, raw, trusted_range)]
    return ranged_inputs(raw, feature_ranges(X, weight, tail))


def candidate_float_inputs(X: Any, weight: NDArray) -> list[Input]:
    """Return the Inputs that may suit a float32 Program on these rows: rows as they are, or a multiplier a feature.

    Each multiplier is one over the feature's standard deviation, 0 for a constant. Rows as they are, unless their
    squares would leave float32.
    """
    raw, n_features = raw_type(X), X.shape[1]
    multiplier = np.empty(n_features)
    for feature, (column, mass) in enumerate(_columns(X, weight)):
        values = column.astype(np.float64)
        deviation = np.sqrt(np.average((values - np.average(values, weights=mass)) ** 2, weights=mass))
        multiplier[feature] = 0 if values.min() == values.max() else 1 / max(deviation, 1e-38)
    standardised = Input(raw, n_features, output="float32", multiplier=multiplier.astype(np.float32))
    largest = max(abs(float(X.min())), abs(float(X.max())))
    as_they_are = [Input(raw, n_features, output="float32")] if largest == 0 or 1e-15 < largest < 1e15 else []
    return [*as_they_are, standardised]


def best_candidate(candidates: Sequence[Candidate], accuracy: Callable[[Candidate], float], n_rows: int) -> Candidate:
    """Return the first candidate within one standard error of the best; one alone is not tried.

    Parameters
    ----------
    candidates : sequence, the simplest first
    accuracy : callable, candidate → share of held-out rows that it gets right
    n_rows : int
        How many rows were held out.

    Examples
    --------
    >>> best_candidate(["shared", "shifts", "offsets"], {"shared": 0.5, "shifts": 0.89, "offsets": 0.9}.get, n_rows=100)
    'shifts'
    """
    if len(candidates) == 1:
        return candidates[0]
    accuracies = np.array([accuracy(candidate) for candidate in candidates])
    best = accuracies.max()
    enough = best - np.sqrt(max(best * (1 - best), 0) / n_rows)
    return candidates[int((accuracies >= enough).argmax())]


def _columns(X: Any, weight: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """The values of each feature and their weights; the zeros that a CSR matrix does not store are one heavy value."""
    if not sparse.issparse(X):
        yield from ((column, weight) for column in X.T)
        return
    by_column, total = X.tocsc(), weight.sum()
    for start, stop in pairwise(by_column.indptr):
        values, mass = by_column.data[start:stop], weight[by_column.indices[start:stop]]
        if stop - start < X.shape[0]:
            values, mass = np.append(values, values.dtype.type(0)), np.append(mass, max(total - mass.sum(), 0))
        yield values, mass


def feature_ranges(X: Any, weight: NDArray, tail: float = TAIL) -> Ranges:
    """Return the ends of every feature; a quantile is a value that occurs, and a weight of two is a row seen twice."""
    ends = np.empty((4, X.shape[1]))
    for feature, (column, mass) in enumerate(_columns(X, weight)):
        order = np.argsort(column, kind="stable")
        share = np.cumsum(mass[order]) / mass.sum()
        places = np.searchsorted(share, [tail, 1 - tail])
        ends[:, feature] = column[order[[0, *np.minimum(places, len(order) - 1), -1]]]
    least, low, high, largest = ends
    rare = low == high  # all but a tail is one value: what is left of the feature is in its tail
    return Ranges(least, np.where(rare, least, low), np.where(rare, largest, high), largest)


def _trusting_input(X: Any, raw: str, trusted_range: tuple[int, int]) -> Input:
    scaling = Input("uint8", X.shape[1], trusted_range=trusted_range)
    low, high = trusted_range
    if raw != "uint8" or X.min() < low or X.max() > high:
        raise UsageError(
            f"trusted_range is {low}..{high}, but the training rows are {raw} numbers in {X.min():g}..{X.max():g}: "
            "name a range of whole numbers that holds them, or leave it out"
        )
    return scaling
