"""Linear: A x + b → rescaled to bytes | sign bits | handed on as accumulators | (float32 Programs) none, relu, sign.

Takes bytes or float32. What it gives is bytes where it holds a `Rescale`, bits where its activation is `sign`, else
accumulators, which only GroupReduce and Decide can take. May import NumPy and this package.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from smidgen.program import arith
from smidgen.program.checks import Array, choice, require, vector, whole
from smidgen.program.signal import Interval, Kind, Signal, bits_signal, received
from smidgen.program.storage import Matrix

INT16 = (-(2**15), 2**15 - 1)


@dataclass(frozen=True, eq=False)
class Rescale:
    """`y = clip(z + (((acc >> pre) * m) >> s), 0, high)`; z is 0 after relu, else 128.

    `multiplier` is one uint8 for all rows (it stands in the code) or a uint8 array, one a row.
    """

    multiplier: int | Array
    shift: int
    pre: int = 0
    high: int = 255

    def __post_init__(self) -> None:
        store = object.__setattr__
        if isinstance(self.multiplier, np.ndarray):
            store(self, "multiplier", vector(self.multiplier, ("uint8",), "the multiplier"))
        else:
            store(self, "multiplier", whole(self.multiplier, 0, 255, "the multiplier"))
        store(self, "shift", whole(self.shift, 0, 23, "the shift after the multiplier"))
        store(self, "pre", whole(self.pre, 0, 15, "the shift before the multiplier"))
        store(self, "high", whole(self.high, 1, 255, "the high end of the clip"))


@dataclass(frozen=True, eq=False)
class Linear:
    """A x + b for a packed matrix A.

    Parameters
    ----------
    weights
        A, a row for each output; `bits` mean +1 and -1.
    bias
        None, an int16 or int32 array, or float32 for float32 weights.
    activation
        `none`, `relu` (needs a rescale, except in float32), or `sign` (a bit: accumulator >= 0).
    rescale
        How accumulators become bytes; None where they are handed on as they are.

    Examples
    --------
    >>> import numpy as np
    >>> step = Linear(Matrix.pack([[1, -2], [0, 3]], "int4"), np.array([5, -7], np.int16))
    >>> step.run(np.array([[10.0, 20.0]]))
    array([[-25.,  53.]], dtype=float32)
    """

    weights: Matrix
    bias: Array | None = None
    activation: str = "none"
    rescale: Rescale | None = None

    def __post_init__(self) -> None:
        require(isinstance(self.weights, Matrix), "Linear's weights must be a Matrix")
        choice(self.activation, ("none", "relu", "sign"), "Linear's activation")
        if self.bias is not None:
            dtypes = ("float32",) if self.is_float else ("int16", "int32")
            bias = vector(self.bias, dtypes, "Linear's bias", self.n_outputs)
            require(bool(bias.any()), "Linear's bias is all zeros; leave it out")
            object.__setattr__(self, "bias", bias)
        if self.rescale is None:
            require(self.is_float or self.activation != "relu", "Linear's relu needs a rescale")
            return
        require(isinstance(self.rescale, Rescale), "Linear's rescale must be a Rescale")
        require(not self.is_float, "Linear's float32 results are not rescaled")
        require(self.activation != "sign", "Linear's sign bits are not rescaled")
        if isinstance(self.rescale.multiplier, np.ndarray):
            vector(self.rescale.multiplier, ("uint8",), "the multiplier", self.n_outputs)

    @property
    def is_float(self) -> bool:
        """Whether this is a step of a float32 Program."""
        return self.weights.format == "float32"

    @property
    def n_outputs(self) -> int:
        """The number of rows of A."""
        return self.weights.shape[0]

    @property
    def zero(self) -> int:
        """z, the byte that stands for 0."""
        return 0 if self.activation == "relu" else 128

    # The proof.

    def check(self, incoming: Signal | None) -> Signal:
        """Prove that every result fits its accumulator, and give the bounds of what is handed on."""
        kind: Kind = "float32" if self.is_float else "bytes"
        what = f"Linear with {self.weights.format} weights"
        incoming = received(incoming, (kind,), what, self.weights.shape[1])
        signs = self.activation == "sign"
        if self.is_float:
            return bits_signal(self.n_outputs) if signs else Signal("float32", self.n_outputs)
        sums = self.accumulators(incoming)
        sums.bits("Linear's sum")
        if signs:
            return bits_signal(self.n_outputs)
        return Signal("integers", self.n_outputs, sums) if self.rescale is None else self._rescaled(sums, self.rescale)

    def accumulators(self, incoming: Signal) -> Interval:
        """Bounds of each row's sum, from its own weights and bias over the range of what comes in."""
        assert incoming.range is not None
        sums = (
            self._dense_sums(incoming.range) if self.weights.storage == "dense" else self._sparse_sums(incoming.range)
        )
        bias = np.zeros(self.n_outputs, np.int64) if self.bias is None else self.bias.astype(np.int64)
        return Interval(bias + sums.low, bias + sums.high)

    # Both sum in float64: exact, since no sum of 65,535 products of bytes reaches 2^53.

    def _dense_sums(self, span: Interval) -> Interval:
        ends = np.stack((span.low, span.high), axis=1).astype(np.float64)
        sums = np.empty((self.n_outputs, 2))
        for rows in self.weights.row_blocks():
            weights = self._signed(self.weights.values[rows]).astype(np.float64)
            sums[rows] = np.maximum(weights, 0) @ ends + np.minimum(weights, 0) @ ends[:, ::-1]
        return Interval(sums[:, 0].astype(np.int64), sums[:, 1].astype(np.int64))

    def _sparse_sums(self, span: Interval) -> Interval:
        row, column, value = self.weights.entries
        weight, low, high = value.astype(np.int64), span.low[column], span.high[column]
        ends = np.minimum(weight * low, weight * high), np.maximum(weight * low, weight * high)
        least, most = (np.bincount(row, weights=part, minlength=self.n_outputs).astype(np.int64) for part in ends)
        return Interval(least, most)

    def _rescaled(self, sums: Interval, rescale: Rescale) -> Signal:
        least, most = sums.low >> rescale.pre, sums.high >> rescale.pre
        fits = least.min() >= INT16[0] and most.max() <= INT16[1]
        require(
            fits,
            f"Linear's sums lie in {int(sums.low.min())}..{int(sums.high.max())}, which shifted by pre = {rescale.pre} "
            "leave int16; use a larger pre",
        )
        low, high = (self._to_bytes(ends.astype(np.float64)[None, :])[0] for ends in (sums.low, sums.high))
        return Signal("bytes", self.n_outputs, Interval(low.astype(np.int64), high.astype(np.int64)))

    # The meaning.

    @cached_property
    def _dense(self) -> Array:
        """The weights as numbers, bits as +1 and -1."""
        return self._signed(self.weights.values)

    def _signed(self, values: Array) -> Array:
        """Stored values as weights: bits mean +1 and -1."""
        return 2 * values - np.int8(1) if self.weights.format == "bits" else values

    @cached_property
    def _exact(self) -> tuple[Array, Array | None]:
        """Weights and bias in the narrowest float in which every sum over bytes is exact, whatever its order."""
        if self.is_float:
            return self._dense.astype(np.float64), None if self.bias is None else self.bias.astype(np.float64)
        largest = 255 * np.abs(self._dense.astype(np.int64)).sum(axis=1)
        if self.bias is not None:
            largest = largest + np.abs(self.bias.astype(np.int64))
        dtype = np.float32 if largest.max() < arith.FLOAT32_EXACT else np.float64
        return self._dense.astype(dtype), None if self.bias is None else self.bias.astype(dtype)

    def run(self, values: Array) -> Array:
        """Rows in, rows out: bytes and bits in float32, accumulators in the float that holds them exactly."""
        sums = self.sums(values)
        if self.activation == "sign":
            return arith.sign_bits(np, sums).astype(np.float32)
        if self.rescale is not None:
            return self._to_bytes(sums).astype(np.float32, copy=False)
        return np.maximum(sums, 0) if self.activation == "relu" else sums

    def sums(self, values: Array) -> Array:
        """A x + b, before anything is made of it."""
        weights, bias = self._exact
        return arith.linear(values.astype(weights.dtype, copy=False), weights, bias)

    def magnitudes(self, values: Array) -> Array:
        """The terms' magnitudes in each result, added up: what near-ties are measured by (docs/arithmetic.md)."""
        weights, bias = self._exact
        return arith.linear(np.abs(values), np.abs(weights), None if bias is None else np.abs(bias))

    def _to_bytes(self, sums: Array) -> Array:
        assert self.rescale is not None
        multiplier = self.rescale.multiplier
        if isinstance(multiplier, np.ndarray):
            multiplier = multiplier.astype(sums.dtype)
        return arith.rescale(
            np,
            sums,
            pre=self.rescale.pre,
            multiplier=multiplier,
            shift=self.rescale.shift,
            zero=self.zero,
            high=self.rescale.high,
        )

    # The cost.

    def constants(self) -> dict[str, Array]:
        """The arrays that land in flash, packed as the board holds them."""
        packed = {f"weights.{name}": part for name, part in self.weights.parts.items()}
        if self.bias is not None:
            packed["bias"] = self.bias
        if self.rescale is not None and isinstance(self.rescale.multiplier, np.ndarray):
            packed["multiplier"] = self.rescale.multiplier
        return packed

    def multiply_accumulates(self) -> int:
        """One for each stored weight."""
        return self.weights.n_stored

    def describe(self) -> str:
        """One line: the matrix and what is made of its sums."""
        bias = "" if self.bias is None else f" + {self.bias.dtype.name} bias"
        ending = {"none": "", "relu": " → relu", "sign": " → sign bits"}[self.activation]
        return f"{self.weights.describe()}{bias}{ending}{'' if self.rescale is None else ' → bytes'}"
