"""Input: raw numbers → bytes (integer Programs) or float32. The first step of every Program.

Integer sensors       clip((x - o) >> s, 0, 255), or clip(((x - o) * m) >> s, 0, 255), m a uint8
float32 sensors       clip(floor((x - o) * m * 2^k), 0, 255), k a nibble a feature above a common base
float32 Programs      (x - o) * m
any of these          a missing marker → the feature's fill; a small integer code → one-hot

An offset, a shift or a multiplier that all features share is a plain number: it stands in the code and takes no
constant. With nothing to do there is no code and no copy. May import NumPy and this package.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from smidgen.errors import DataError
from smidgen.program import arith
from smidgen.program.checks import Array, choice, real, require, vector, whole
from smidgen.program.signal import MAX_DIMENSION, Interval, Signal

RAW_LIMITS = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-32_768, 32_767)}
RAW_TYPES = (*RAW_LIMITS, "float32")
LARGEST_SHIFT = 15
"""Shifts are nibbles."""


@dataclass(frozen=True, eq=False)
class Input:
    """Raw numbers of one type → what the rest of the Program computes with.

    Parameters
    ----------
    raw
        What the sensor gives: `uint8`, `int8`, `int16` or `float32`, one type for all features.
    n_features
        How many raw numbers a row has.
    output
        `bytes`, or `float32` for a float32 Program.
    trusted_range
        For uint8 without any scaling: the range the caller vouches for; rows outside it are refused in Python.
    offset
        o: a number that all features share, or an array (int16; float32 for float32 sensors).
    multiplier
        m: 1, or an array (uint8; float32 for float32 Programs).
    shift
        s of integer sensors; for float32 sensors the part of k above `base`. Shared, or a uint8 array of nibbles.
    base
        The common part of k (float32 sensors to bytes only).
    missing
        None, `"nan"`, or the integer that marks a missing value; tested before anything else.
    fill
        What a missing value becomes: an array, in the units of the output.
    codes
        For each feature 0, or how many codes it has: such a feature becomes that many outputs, of which number x - o is
        `hot` and all others are 0; an unknown code writes zeros.
    hot
        A power of two.

    Examples
    --------
    >>> import numpy as np
    >>> Input("int16", 2, offset=-512, shift=np.array([2, 0], np.uint8)).run(np.array([[0, -300]]))
    array([[128., 212.]], dtype=float32)
    """

    raw: str
    n_features: int
    output: Literal["bytes", "float32"] = "bytes"
    trusted_range: tuple[int, int] | None = None
    offset: float | Array = 0
    multiplier: int | Array = 1
    shift: int | Array = 0
    base: int = 0
    missing: int | str | None = None
    fill: Array | None = None
    codes: Array | None = None
    hot: int = 1

    def __post_init__(self) -> None:
        choice(self.raw, RAW_TYPES, "the raw type")
        choice(self.output, ("bytes", "float32"), "an Input's output")
        store = object.__setattr__
        n = whole(self.n_features, 1, MAX_DIMENSION, "the number of features")
        store(self, "n_features", n)
        store(self, "offset", self._checked_offset(n))
        store(self, "multiplier", self._checked_multiplier(n))
        store(self, "shift", self._checked_shift(n))
        store(self, "base", whole(self.base, -126, 126, "the base exponent"))
        float_bytes = self.raw == "float32" and self.output == "bytes"
        require(self.base == 0 or float_bytes, "a base exponent belongs to float32 sensors that become bytes")
        if float_bytes:
            self._check_float_factor()
        self._check_missing(n)
        self._check_codes(n)
        store(self, "trusted_range", self._checked_trust())

    # What the constants may be.

    def _checked_offset(self, n: int) -> float | Array:
        if self.raw == "float32":
            if isinstance(self.offset, np.ndarray):
                return vector(self.offset, ("float32",), "the offset", n)
            return real(self.offset, "the offset")
        if isinstance(self.offset, np.ndarray):
            return vector(self.offset, ("int16",), "the offset", n)
        return whole(self.offset, -32_768, 32_767, "the offset")

    def _checked_multiplier(self, n: int) -> int | Array:
        if not isinstance(self.multiplier, np.ndarray):
            return whole(self.multiplier, 1, 1, "a multiplier that is no array")
        return vector(self.multiplier, ("uint8" if self.output == "bytes" else "float32",), "the multiplier", n)

    def _checked_shift(self, n: int) -> int | Array:
        if not isinstance(self.shift, np.ndarray):
            shift = whole(self.shift, 0, LARGEST_SHIFT, "the shift")
            require(shift == 0 or self.output == "bytes", "a float32 Program's Input has no shift")
            return shift
        require(self.output == "bytes", "a float32 Program's Input has no shift")
        shifts = vector(self.shift, ("uint8",), "the shift", n)
        require(int(shifts.max()) <= LARGEST_SHIFT, f"a shift is {shifts.max()}; it must be in 0..{LARGEST_SHIFT}")
        return shifts

    def _check_float_factor(self) -> None:
        """No factor may be infinite or 0 in float32: 0 times infinity is no number."""
        largest = float(self._factor.max())
        require(largest < 2.0**128, f"a factor m * 2^k is {largest:g}, which float32 cannot hold; use a smaller base")
        require(bool(np.all(self.multiplier)), "a multiplier of float32 sensors is 0; leave such a feature out")

    def _check_missing(self, n: int) -> None:
        if self.missing is None:
            require(self.fill is None, "an Input with a fill needs a missing marker")
            return
        if self.raw == "float32":
            require(self.missing == "nan", "float32 sensors mark a missing value by NaN")
        else:
            marker = whole(self.missing, *RAW_LIMITS[self.raw], "the missing marker")
            object.__setattr__(self, "missing", marker)
        fill = vector(self.fill, ("uint8" if self.output == "bytes" else "float32",), "the fill", n)
        object.__setattr__(self, "fill", fill)

    def _check_codes(self, n: int) -> None:
        largest = 128 if self.output == "bytes" else 1 << 15
        hot = whole(self.hot, 1, largest, "the one-hot value")
        require(hot & (hot - 1) == 0, f"the one-hot value is {hot}; it must be a power of two")
        object.__setattr__(self, "hot", hot)
        if self.codes is None:
            require(hot == 1, "a one-hot value needs codes")
            return
        codes = vector(self.codes, ("uint8",), "the codes", n)
        object.__setattr__(self, "codes", codes)
        require(bool(codes.any()), "an Input whose features all have 0 codes should have no codes at all")
        require(self.width <= MAX_DIMENSION, f"the one-hot outputs are {self.width:,}; at most {MAX_DIMENSION:,} fit")
        if self.fill is not None:  # a missing code is an unknown one, hence zeros
            require(not self.fill[codes > 0].any(), "a one-hot feature's fill must be 0: a missing code writes zeros")

    def _checked_trust(self) -> tuple[int, int] | None:
        if self.trusted_range is None:
            return None
        plain = self.raw == "uint8" and self.output == "bytes" and not self.copies
        require(plain, "a trusted range belongs to uint8 sensors that need no scaling")
        require(
            isinstance(self.trusted_range, (tuple, list)) and len(self.trusted_range) == 2,
            "a trusted range is a pair, low and high",
        )
        low = whole(self.trusted_range[0], 0, 255, "the low end of the trusted range")
        return low, whole(self.trusted_range[1], low, 255, "the high end of the trusted range")

    @property
    def copies(self) -> bool:
        """Whether the board must make a copy: false where the raw numbers serve as they are."""
        scaled = any(isinstance(part, np.ndarray) for part in (self.offset, self.multiplier, self.shift))
        scaled = scaled or bool(self.offset) or bool(self.shift) or bool(self.base)
        native = self.raw == ("uint8" if self.output == "bytes" else "float32")
        return scaled or not native or self.missing is not None or self.codes is not None

    @cached_property
    def width(self) -> int:
        """How many values come out: more than `n_features` where codes are one-hot."""
        return self.n_features if self.codes is None else int(np.maximum(self.codes, 1).sum(dtype=np.int64))

    # The proof.

    def check(self, incoming: Signal | None) -> Signal:
        """Bounds of every output over the declared range of the sensor."""
        require(incoming is None, "Input must be the first step, and the only one of its kind")
        if self.output == "float32":
            return Signal("float32", self.width)
        low, high = self._numeric_range()
        if self.fill is not None:
            low, high = np.minimum(low, self.fill), np.maximum(high, self.fill)
        if self.codes is not None:
            repeats = np.maximum(self.codes, 1)
            hot = np.repeat(self.codes > 0, repeats)
            low, high = np.where(hot, 0, np.repeat(low, repeats)), np.where(hot, self.hot, np.repeat(high, repeats))
        return Signal("bytes", self.width, Interval(low.astype(np.int64), high.astype(np.int64)))

    def _numeric_range(self) -> tuple[Array, Array]:
        if self.raw == "float32":
            return np.zeros(self.n_features), np.full(self.n_features, 255)
        ends = self.trusted_range or RAW_LIMITS[self.raw]
        low, high = (self._scaled(np.full((1, self.n_features), float(end)))[0] for end in ends)  # it never falls
        return low, high

    # The meaning.

    def run(self, X: npt.ArrayLike, first_row: int = 0) -> Array:
        """Rows of raw numbers → rows of bytes (held in float32), or of float32 values (held in float64).

        `first_row` is the number of X's first row where X is part of a larger table: errors name rows.
        """
        raw, missing = self._as_sensed(unmasked(X), first_row)
        values = self._scaled(raw)
        if self.fill is not None:
            values = np.where(missing, self.fill, values)
        if self.codes is not None:
            values = self._one_hot(raw, missing, values)
        return values.astype(np.float32 if self.output == "bytes" else np.float64)

    def sensed(self, X: npt.ArrayLike, first_row: int = 0) -> Array:
        """Rows as the sensor gives them, in its type; what is missing is marked as the Input expects it."""
        raw, missing = self._as_sensed(unmasked(X), first_row)
        if self.missing is not None:
            raw = np.where(missing, np.nan if self.missing == "nan" else self.missing, raw)
        return raw.astype(self.raw)

    def _as_sensed(self, X: Array, first_row: int) -> tuple[Array, npt.NDArray[np.bool_]]:
        """The numbers as the sensor would give them (rounded, clipped to its type), and which ones are missing."""
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise DataError(f"X has shape {X.shape}; the Program takes rows of {self.n_features:,} numbers")
        if X.dtype.kind not in "biuf":
            raise DataError(f"X has dtype {X.dtype}; the Program takes numbers")
        missing = np.isnan(X) if X.dtype.kind == "f" else np.zeros(X.shape, bool)
        if missing.any() and self.missing is None:
            row, column = np.argwhere(missing)[0]
            raise DataError(
                f"row {first_row + row}, feature {column} of X is missing; the Program knows no missing values"
            )
        if self.raw == "float32":
            with np.errstate(over="ignore"):
                sensed = np.where(missing, np.float32(0), X.astype(np.float32))
            if self.output == "float32" and not np.isfinite(sensed).all():
                row, column = np.argwhere(~np.isfinite(sensed))[0]
                raise DataError(f"row {first_row + row}, feature {column} of X is infinite in float32")
            return sensed, missing
        whole_numbers = np.where(missing, 0, np.rint(X.astype(np.float64)))  # rint of uint8 would go by way of float16
        if self.trusted_range is not None:
            self._require_trusted(whole_numbers, first_row)
        sensed = np.clip(whole_numbers, *RAW_LIMITS[self.raw])
        return sensed, missing if self.missing is None else missing | (sensed == self.missing)

    def _require_trusted(self, values: Array, first_row: int) -> None:
        low, high = self.trusted_range or (0, 255)
        outside = (values < low) | (values > high)
        if outside.any():
            row, column = np.argwhere(outside)[0]
            raise DataError(
                f"row {first_row + row}, feature {column} of X is {values[row, column]:g};"
                f" the Program trusts in {low}..{high}"
            )

    def _scaled(self, raw: Array) -> Array:
        if self.output == "float32":
            return (raw.astype(np.float64) - self.offset) * self.multiplier
        if not self.copies:
            return raw
        with np.errstate(over="ignore", under="ignore"):  # beyond float32 it saturates: the clip's business
            return arith.scale_input(np, raw, self._offset_in(raw.dtype), self._factor.astype(raw.dtype))

    def _offset_in(self, dtype: npt.DTypeLike) -> Array:
        return np.asarray(self.offset).astype(dtype)

    @cached_property
    def _factor(self) -> Array:
        """What x - o is multiplied with: m / 2^s, or m * 2^(base + k): exact in both floats."""
        shift = np.asarray(self.shift, np.int64)
        exponent = self.base + shift if self.raw == "float32" else -shift
        return np.ldexp(np.asarray(self.multiplier, np.float64), exponent)

    def _one_hot(self, raw: Array, missing: npt.NDArray[np.bool_], values: Array) -> Array:
        codes = np.zeros(self.n_features, np.uint8) if self.codes is None else self.codes
        ends = np.cumsum(np.maximum(codes, 1))
        out = np.zeros((len(values), self.width), values.dtype)
        out[:, ends[codes == 0] - 1] = values[:, codes == 0]
        positions = raw - self._offset_in(raw.dtype)
        for feature in np.flatnonzero(codes):
            position, count = positions[:, feature], int(codes[feature])
            known = (position >= 0) & (position < count) & (position == np.floor(position)) & ~missing[:, feature]
            column = (ends[feature] - count + position[known]).astype(np.int64)
            out[np.flatnonzero(known), column] = self.hot
        return out

    # The cost.

    def constants(self) -> dict[str, Array]:
        """The arrays that land in flash, packed as the board holds them."""
        arrays = {"offset": self.offset, "multiplier": self.multiplier, "fill": self.fill, "codes": self.codes}
        packed = {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}
        if isinstance(self.shift, np.ndarray):
            padded = np.zeros(len(self.shift) + len(self.shift) % 2, np.uint8)
            padded[: len(self.shift)] = self.shift
            packed["shift"] = padded[0::2] | padded[1::2] << 4
        return packed

    def multiply_accumulates(self) -> int:
        """None: scaling an input is counted as copying."""
        return 0

    def describe(self) -> str:
        """One line: what becomes of the raw numbers."""
        if not self.copies:
            trusted = (
                "" if self.trusted_range is None else f", trusted in {self.trusted_range[0]}..{self.trusted_range[1]}"
            )
            return f"{self.n_features:,} {self.raw} taken as they are{trusted}"
        parts = [f"{self.n_features:,} {self.raw}"]
        for name in ("offset", "multiplier", "shift"):
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                parts.append(f"{'an' if name == 'offset' else 'a'} {name} a feature")
            elif value != (1 if name == "multiplier" else 0):
                parts.append(f"{name} {value:g}")
        parts += [f"times 2^{self.base}"] if self.base else []
        parts += [f"missing ({self.missing}) filled"] if self.missing is not None else []
        parts += [f"{int((self.codes > 0).sum())} one-hot"] if self.codes is not None else []
        return ", ".join(parts)


def unmasked(X: npt.ArrayLike) -> Array:
    """A plain array, in which what a masked array hides is a NaN: a missing value, not the number under the mask."""
    if np.ma.is_masked(X):
        return np.ma.filled(np.ma.asarray(X).astype(np.float64), np.nan)
    return np.asarray(X)
