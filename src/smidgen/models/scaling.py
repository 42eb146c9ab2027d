"""How our estimators scale raw rows by themselves: a few candidate Input steps, of which held-out rows choose one.

docs/arithmetic.md (Input) says what each computes. A feature's range runs from its 1 % to its 99 % quantile over the
training rows (another share where an estimator asks for it), tails are clipped; powers of two bring it to 128..255. The
candidates differ in what is shared by all features, which is free as it stands in the code, and what each feature has
of its own, which costs constants:

    shared               one offset, one shift                    0 bytes; nothing at all for uint8
    shifts               one offset, a shift a feature            1/2 byte a feature
    offsets and shifts   an offset and a shift a feature          2 1/2 bytes a feature (4 1/2 for float32 sensors)
    levelled             a multiplier too, integer sensors only   3 1/2 bytes a feature

Only the last can enlarge a small integer beside large ones, as where indicators stand beside thousands of metres. On
held-out training rows at 1 and 2 kB it was worth 3 to 7 points on covtype and 2 to 6 on a9a, and lost nothing on five
other sets. May import NumPy and `smidgen.program`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smidgen.errors import UsageError
from smidgen.program import Input
from smidgen.program.input import LARGEST_SHIFT, RAW_LIMITS

TAIL = 0.01
LEAST_BASE, LARGEST_BASE = -126, 112  # of 2^(base + nibble), which float32 must hold
BLOCK_VALUES = 1 << 20  # are looked at together: a copy of a large table would double it

Candidate = TypeVar("Candidate")


@dataclass(frozen=True)
class Ranges:
    """For every feature, the ends of its values and the ends that leave the tails out."""

    least: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    largest: NDArray[np.float64]

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which features have but one value."""
        return self.least == self.largest

    def pooled(self) -> "Ranges":
        """Return the ranges that hold those of all features, but for constant ones: those need no room."""
        varied = ~self.constant if not self.constant.all() else slice(None)
        ends = (self.least[varied].min(), self.low[varied].min(), self.high[varied].max(), self.largest[varied].max())
        return Ranges(*(np.full(len(self.low), end) for end in ends))


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
    least, largest = values.min(initial=0), values.max(initial=0)  # every type holds 0
    for name, (low, high) in RAW_LIMITS.items():
        if least >= low and largest <= high:
            return name
    return "float32"


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
    raw, n_features = raw_type(X), X.shape[1]
    if trusted_range is not None:
        return [_trusting_input(X, raw, trusted_range)]
    ranges = feature_ranges(X, weight, tail)
    kinds = [
        Input(raw, n_features) if raw == "uint8" else _scaled(raw, ranges, own_offset=False, own_shift=False),
        _scaled(raw, ranges, own_offset=False, own_shift=True),
        _scaled(raw, ranges, own_offset=True, own_shift=True),
        *([] if raw == "float32" else [_levelled(raw, ranges)]),
    ]
    candidates = kinds[:1]
    for candidate in kinds[1:]:
        if n_constant_bytes(candidate) > n_constant_bytes(candidates[-1]):  # else the features agree with each other
            candidates.append(candidate)
    return candidates


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


def n_constant_bytes(scaling: Input) -> int:
    """Return the bytes of flash that an Input's own constants take."""
    return sum(array.nbytes for array in scaling.constants().values())


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


def raw_values(
    scaling: Input, outputs: NDArray, least: NDArray | float = -np.inf, largest: NDArray | float = np.inf
) -> NDArray[np.float64]:
    """Return raw numbers that become these outputs of an Input: the middle ones, moved towards a range if given.

    Parameters
    ----------
    scaling : Input
    outputs : array, shape (n, d)
    least, largest : array, shape (d,), optional
        The range of each feature: an output may stand for many raw numbers, of which some never occur.

    Examples
    --------
    >>> scaling = Input("int16", 1, offset=1000, shift=2)
    >>> raw_values(scaling, np.array([[3.0]])), raw_values(scaling, np.array([[3.0]]), largest=1010.0)
    (array([[1013.5]]), array([[1012.]]))
    """
    shift, multiplier = np.asarray(scaling.shift, np.int64), np.asarray(scaling.multiplier, np.float64)
    if scaling.output == "float32":
        return scaling.offset + outputs / np.where(multiplier == 0, 1, multiplier)
    if scaling.raw == "float32":
        step = width = np.ldexp(1.0, -(scaling.base + shift))
    else:
        step, width = 2.0**shift / multiplier, (2.0**shift - 1) / multiplier
    start = scaling.offset + outputs * step
    # 0 and 255 stand for all that lies beyond, too
    ends = np.where(outputs <= 0, -np.inf, start), np.where(outputs >= 255, np.inf, start + width)
    return np.clip(np.clip(start + width / 2, least, largest), *ends)


def _trusting_input(X: Any, raw: str, trusted_range: tuple[int, int]) -> Input:
    scaling = Input("uint8", X.shape[1], trusted_range=trusted_range)
    low, high = trusted_range
    if raw != "uint8" or X.min() < low or X.max() > high:
        raise UsageError(
            f"trusted_range is {low}..{high}, but the training rows are {raw} numbers in {X.min():g}..{X.max():g}: "
            "name a range of whole numbers that holds them, or leave it out"
        )
    return scaling


def _scaled(raw: str, ranges: Ranges, *, own_offset: bool, own_shift: bool) -> Input:
    """Bring every range to 128..255 by powers of two: `(x - o) / 2^e`, with e a whole number."""
    ends = ranges if own_offset else ranges.pooled()
    unit = 1 if raw in RAW_LIMITS else 0  # whole numbers a..b span b - a + 1 values
    exponent = _exponents(ends.high - ends.low + unit, raw)
    offset = np.maximum(ends.least, ends.high - np.ldexp(256.0, exponent) + unit)  # what has room is not clipped
    if own_shift and not own_offset:
        exponent = _exponents(ranges.high - offset + unit, raw)
    # a feature that is constant, or wholly below a shared offset, tells nothing in training: the coarsest step keeps it
    # from counting if it should vary later
    silent = own_shift & (ranges.constant | (ranges.high <= offset))
    if raw in RAW_LIMITS:
        shift = np.where(silent, LARGEST_SHIFT, exponent)
        return Input(raw, len(shift), offset=_shared_or_each(offset, "int16"), shift=_shared_or_each(shift, "uint8"))
    base, nibbles = _base_and_nibbles(-exponent, silent)
    return Input(
        raw,
        len(nibbles),
        offset=_shared_or_each(offset, "float32"),
        base=base,
        shift=_shared_or_each(nibbles, "uint8"),
    )


def _levelled(raw: str, ranges: Ranges) -> Input:
    """`((x - o) * m) >> s`: bring every range to all of 0..255, small ones too."""
    silent = ranges.constant
    span = np.where(silent, 1, ranges.high - ranges.low)
    mantissa, exponent = np.frexp(span)
    shift = np.maximum(exponent - 1 - (mantissa == 0.5), 0)  # 2^s < span <= 2^(s + 1), so m is in 128..255
    multiplier = np.where(silent, 1, np.minimum(256 * 2.0**shift // span, 255)).astype(np.uint8)
    return Input(
        raw,
        len(span),
        offset=_shared_or_each(ranges.low, "int16"),
        multiplier=1 if (multiplier == 1).all() else multiplier,
        shift=_shared_or_each(np.where(silent, LARGEST_SHIFT, shift), "uint8"),
    )


def _exponents(spans: NDArray, raw: str) -> NDArray[np.int64]:
    """The least e with ``256 * 2^e >= span``, exactly."""
    mantissa, exponent = np.frexp(spans / 256)
    exponent = exponent.astype(np.int64) - (mantissa == 0.5)
    return np.clip(exponent, 0, LARGEST_SHIFT) if raw in RAW_LIMITS else exponent


def _base_and_nibbles(exponents: NDArray[np.int64], silent: NDArray[np.bool_]) -> tuple[int, NDArray[np.int64]]:
    """The base for which 16 exponents from it on cost the features least, and each feature's step above it.

    What is counted is about the share of a feature's variance that is lost: below its own exponent a feature has a bit
    less for every step, and the rounding error's variance is four times as large; above it, its values saturate.
    """
    heard = exponents[~silent] if not silent.all() else np.zeros(1, np.int64)
    bases = np.arange(heard.min(), heard.max() + 1)[:, None]
    too_coarse = np.maximum(heard - (bases + LARGEST_SHIFT), 0)
    too_fine = np.maximum(bases - heard, 0)
    rounded, clipped = 4.0 ** (too_coarse - 8), np.where(too_fine > 0, 4.0 ** np.minimum(too_fine - 2, 0), 0)
    lost = np.minimum(rounded + clipped, 1).sum(axis=1)
    base = int(np.clip(bases[lost.argmin(), 0], LEAST_BASE, LARGEST_BASE))
    return base, np.where(silent, 0, np.clip(exponents - base, 0, LARGEST_SHIFT))


def _shared_or_each(values: NDArray, dtype: str) -> Any:
    """One number, which stands in the code, where all are the same; else an array of constants."""
    values = values.astype(dtype)
    return values[0].item() if (values == values[0]).all() else values
