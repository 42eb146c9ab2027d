"""Input steps for raw numbers whose ranges are known: every kind that may suit, and what the bytes then stand for.

Estimators choose among these by training rows (`smidgen.models.scaling`), `quantise` by calibration rows. The kinds
differ in what is shared by all features, which is free as it stands in the code, and what each feature has of its own,
which costs constants:

    shared               one offset, one shift                    0 bytes; nothing at all for uint8
    shifts               one offset, a shift a feature            1/2 byte a feature
    offsets and shifts   an offset and a shift a feature          2 1/2 bytes a feature (4 1/2 for float32 sensors)
    levelled             a multiplier too, integer sensors only   3 1/2 bytes a feature

`affine_input` makes the last kind for any offset and factor, and for float32 sensors too. May import NumPy and this
package.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smidgen.program.input import LARGEST_SHIFT, RAW_LIMITS, Input

LEAST_BASE, LARGEST_BASE = -126, 112  # of 2^(base + nibble), which float32 must hold
MULTIPLIER_BITS = 8

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ranges:
    """For every feature, the ends of its values and the ends that leave the tails out."""

    least: Floats
    low: Floats
    high: Floats
    largest: Floats

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which features have but one value."""
        return self.least == self.largest

    def pooled(self) -> "Ranges":
        """Return the ranges that hold those of all features, but for constant ones: those need no room."""
        varied = ~self.constant if not self.constant.all() else slice(None)
        ends = (self.least[varied].min(), self.low[varied].min(), self.high[varied].max(), self.largest[varied].max())
        return Ranges(*(np.full(len(self.low), end) for end in ends))


def raw_type_of(least: float, largest: float) -> str:
    """Return the narrowest type of a sensor that gives whole numbers between these: uint8, int8, int16 or float32.

    Examples
    --------
    >>> raw_type_of(0, 255), raw_type_of(-1, 100), raw_type_of(0, 300), raw_type_of(0, 1e6)
    ('uint8', 'int8', 'int16', 'float32')
    """
    fitting = (name for name, (low, high) in RAW_LIMITS.items() if least >= low and largest <= high)
    return next(fitting, "float32")


def ranged_inputs(raw: str, ranges: Ranges) -> list[Input]:
    """Return the Inputs of the module's table that bring these ranges to bytes, the cheapest first.

    A kind that costs no more than the one before it is left out: where features agree with each other, they share.
    """
    n_features = len(ranges.low)
    kinds = [
        Input(raw, n_features) if raw == "uint8" else _scaled(raw, ranges, own_offset=False, own_shift=False),
        _scaled(raw, ranges, own_offset=False, own_shift=True),
        _scaled(raw, ranges, own_offset=True, own_shift=True),
        *([] if raw == "float32" else [_levelled(raw, ranges)]),
    ]
    candidates = kinds[:1]
    for candidate in kinds[1:]:
        if n_constant_bytes(candidate) > n_constant_bytes(candidates[-1]):
            candidates.append(candidate)
    return candidates


def n_constant_bytes(scaling: Input) -> int:
    """Return the bytes of flash that an Input's own constants take."""
    return sum(array.nbytes for array in scaling.constants().values())


def affine_input(raw: str, offset: Floats, factor: Floats) -> Input:
    """Return the Input to bytes nearest to `clip(floor((x - offset) * factor), 0, 255)`.

    Factors become a uint8 times a power of two, within 0.4 % of what was asked for; integer sensors take whole offsets.
    A factor of 0 leaves a feature out: its byte is always 0.

    Parameters
    ----------
    raw : str
    offset, factor : array, shape (d,)

    Examples
    --------
    >>> affine_input("int16", np.array([-40.0, 3.0]), np.array([0.5, 0.5])).describe()
    '2 int16, an offset a feature, shift 1'
    >>> affine_input("float32", np.array([0.0, 0.0]), np.array([0.3, 7.0])).run([[100, 10]])
    array([[30., 70.]], dtype=float32)
    """
    unused = factor == 0
    mantissa, exponent = np.frexp(np.where(unused, 1, factor))
    multiplier = np.rint(np.ldexp(mantissa, MULTIPLIER_BITS))
    grown = multiplier == 1 << MULTIPLIER_BITS  # rounded up to the next power of two
    multiplier = np.where(grown, multiplier / 2, multiplier).astype(np.int64)
    exponent = exponent.astype(np.int64) - MULTIPLIER_BITS + grown
    alone = exponent + MULTIPLIER_BITS - 1  # what powers of two are without a multiplier, if nibbles reach them
    reach = (-LARGEST_SHIFT, 0) if raw in RAW_LIMITS else (alone[~unused].max(initial=0) - LARGEST_SHIFT, np.inf)
    within = (multiplier == 1 << (MULTIPLIER_BITS - 1)) & (alone >= reach[0]) & (alone <= reach[1])
    if (unused | within).all():
        multiplier, exponent = np.ones_like(multiplier), alone
    if raw in RAW_LIMITS:
        least, largest = RAW_LIMITS[raw]
        return _assembled(
            raw, np.where(unused, largest, np.clip(np.floor(offset), least, largest)), multiplier, exponent
        )
    away = np.where(unused, np.finfo(np.float32).max, offset)  # so far below its offset, everything is clipped to 0
    return _assembled(raw, away, multiplier, np.where(unused, exponent[~unused].max(initial=0), exponent))


def _assembled(raw: str, offset: Floats, multiplier: NDArray[np.int64], exponent: NDArray[np.int64]) -> Input:
    """`(x - o) * m * 2^exponent` in shifts of a nibble; exponents out of their reach are taken from the multiplier."""
    if raw in RAW_LIMITS:
        base, reachable = 0, np.clip(exponent, -LARGEST_SHIFT, 0)
        shift = -reachable
    else:
        base = int(np.clip(max(exponent.min(), exponent.max() - LARGEST_SHIFT), LEAST_BASE, LARGEST_BASE))
        reachable = np.clip(exponent, base, base + LARGEST_SHIFT)
        shift = reachable - base
    whole = np.clip(np.rint(np.ldexp(multiplier.astype(np.float64), exponent - reachable)), 1, 255)
    return Input(
        raw,
        len(shift),
        offset=_shared_or_each(offset, "int16" if raw in RAW_LIMITS else "float32"),
        multiplier=1 if (whole == 1).all() else whole.astype(np.uint8),
        shift=_shared_or_each(shift, "uint8"),
        base=base,
    )


def byte_steps(scaling: Input) -> tuple[Floats, Floats, Floats]:
    """Return, for every feature, where byte 0 begins, how far the next byte is, and how far a byte reaches.

    Byte u stands for the raw numbers from `start + u * step` to `start + u * step + width`; of integers the last one.
    """
    shift, multiplier = np.asarray(scaling.shift, np.int64), np.asarray(scaling.multiplier, np.float64)
    with np.errstate(divide="ignore"):
        if scaling.raw == "float32":
            step = width = np.ldexp(1 / multiplier, -(scaling.base + shift))
        else:
            step, width = 2.0**shift / multiplier, (2.0**shift - 1) / multiplier
    start, step, width = np.broadcast_arrays(scaling.offset, step, width, np.zeros(scaling.n_features))[:3]
    return start.astype(np.float64), step, width


def raw_values(
    scaling: Input, outputs: NDArray[Any], least: Floats | float = -np.inf, largest: Floats | float = np.inf
) -> Floats:
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
    if scaling.output == "float32":
        multiplier = np.asarray(scaling.multiplier, np.float64)
        return scaling.offset + outputs / np.where(multiplier == 0, 1, multiplier)
    first, step, width = byte_steps(scaling)
    start = first + outputs * step
    # 0 and 255 stand for all that lies beyond, too
    ends = np.where(outputs <= 0, -np.inf, start), np.where(outputs >= 255, np.inf, start + width)
    return np.clip(np.clip(start + width / 2, least, largest), *ends)


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


def _exponents(spans: NDArray[Any], raw: str) -> NDArray[np.int64]:
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


def _shared_or_each(values: NDArray[Any], dtype: str) -> Any:
    """One number, which stands in the code, where all are the same; else an array of constants."""
    values = values.astype(dtype)
    return values[0].item() if (values == values[0]).all() else values
