"""The first layer of every trained model: bytes → W x + b → bytes, in training and on the board.

In training the layer is ``p = W (x - mean) / spread + b``, which keeps the numbers of a kind to learn from; on the
board it is ``y = clip(z + (((W' x + b') >> pre) * m >> s), 0, 255)`` with whole W' and b', and one count of y is a
`unit` of p. In the last phase of training p is what the board makes of it, ``unit * (y - z)``, and gradients pass
straight through: to p where the byte is not clipped, to the unit where it is. Written against the Array API; may import
core and the Program.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from smidgen.core.arrays import Array, namespace_of
from smidgen.errors import DataError
from smidgen.models.support import Columns, spread_out
from smidgen.program import Linear, Matrix, Rescale, arith
from smidgen.program.storage import Format

LARGEST_SHIFT, LARGEST_MULTIPLIER = 23, 255
INT16 = 2**15 - 1
LARGEST_COUNT = 2**31 - 2**26  # of a bias, beside what weights may add


class Shifts(NamedTuple):
    """The two shifts around the multiplier: plain numbers, chosen now and then."""

    pre: int
    shift: int


class Projected(NamedTuple):
    """p, and what its gradients need."""

    x: Array  # (n, d)
    values: Array  # (n, h) p itself, or in the last phase what the board makes of it
    free: Array | None  # (n, h) where a byte is not clipped; None before the last phase


@dataclass(frozen=True, eq=False)
class Projection:
    """What the layer knows beside its weights.

    Parameters
    ----------
    mean : array, shape (d,)
        Of each feature's bytes.
    spread : float
        The one number by which all of them are divided.
    low, high : array, shape (d,)
        The least and the largest byte that each feature may be, in NumPy: what proofs rest on.
    zero : int
        z, the byte that stands for 0: 128, or 0 after relu.
    columns : Columns
        Which of all features these are.
    largest_bias : int
        What the whole bias is clipped to.
    """

    mean: Array
    spread: float
    low: NDArray
    high: NDArray
    columns: Columns
    zero: int = 128
    largest_bias: int = 2**31 - 1

    def of_columns(self, columns: Array) -> Self:
        """Return the layer of some of the features."""
        index = np.asarray(columns)
        mean = namespace_of(self.mean).take(self.mean, columns)
        kept = Columns(self.columns.kept[index], self.columns.n_features)
        return replace(self, mean=mean, low=self.low[index], high=self.high[index], columns=kept)

    # In training.

    def forward(self, x: Array, W: Array, bias: Array) -> Projected:
        """Return p in real numbers."""
        scaled, constant = self.real_layer(W, bias)
        return Projected(x, x @ scaled.T + constant, None)

    def real_layer(self, W: Array, bias: Array) -> tuple[Array, Array]:
        """Return the layer as a matrix and a bias for bytes as they are."""
        scaled = W * (1 / self.spread)
        return scaled, bias - scaled @ self.mean

    def forward_whole(
        self, x: Array, whole: Array, step: Array, bias: Array, *, unit: Array, shifts: Shifts
    ) -> tuple[Projected, Array]:
        """Return p as the board has it, and the bytes themselves."""
        xp = namespace_of(x)
        pre, shift = shifts
        m = self.multiplier(step, unit, shifts)
        accumulators = arith.linear(x, whole, self.whole_bias(whole, step, bias))
        y = arith.rescale(xp, accumulators, pre=pre, multiplier=m, shift=shift, zero=self.zero, high=255)
        unrounded = accumulators * (m * 2.0 ** -(pre + shift))
        free = (unrounded >= -self.zero) & (unrounded < 256 - self.zero)
        return Projected(x, unit * (y - self.zero), free), y

    def backward(self, gradient: Array, projected: Projected) -> tuple[Array, Array, Array | None]:
        """Return the gradients of W, of the bias, and (in the last phase) of the unit's logarithm, given that of p."""
        xp = namespace_of(gradient)
        of_log_unit = None
        if projected.free is not None:
            freely = xp.where(projected.free, gradient, xp.zeros_like(gradient))
            of_log_unit = xp.sum((gradient - freely) * projected.values)
            gradient = freely
        of_bias = xp.sum(gradient, axis=0)
        of_W = (gradient.T @ projected.x - of_bias[:, None] * self.mean[None, :]) * (1 / self.spread)
        return of_W, of_bias, of_log_unit

    # What the board computes with.

    def whole_bias(self, whole: Array, step: Array, bias: Array) -> Array:
        """b', in counts of the accumulator: the bias, less what the mean comes to."""
        xp = namespace_of(whole)
        counts = xp.round(bias * self.spread / step - whole @ self.mean)
        return xp.clip(counts, -self.largest_bias, self.largest_bias)

    def multiplier(self, step: Array, unit: Array, shifts: Shifts) -> Array:
        """m, which makes counts of the byte out of counts of the accumulator."""
        xp = namespace_of(step)
        ratio = step / unit * (2.0 ** (shifts.pre + shifts.shift) / self.spread)
        return xp.clip(xp.round(ratio), 1, LARGEST_MULTIPLIER)

    def choose_shifts(self, whole: Array, step: Array, bias: Array, unit: Array) -> Shifts:
        """Choose the least `pre` that provably fits int16, and the shift for which m lies in 128..255."""
        constant = np.asarray(self.whole_bias(whole, step, bias), np.float64)
        weights = np.asarray(whole, np.float64)
        positive, negative = np.maximum(weights, 0), np.minimum(weights, 0)
        most = float((positive @ self.high + negative @ self.low + constant).max())
        least = float((positive @ self.low + negative @ self.high + constant).min())
        pre = max(0, math.ceil(math.log2(max(most + 1, -least, 1.0) / 2**15)))
        wanted = float(step) / self.spread / float(unit) * 2.0**pre
        shift = math.floor(math.log2((LARGEST_MULTIPLIER + 0.49) / wanted))
        return Shifts(min(pre, 15), min(max(shift, 0), LARGEST_SHIFT))

    def whole_step(
        self,
        whole: Array,
        step: Array,
        bias: Array,
        *,
        unit: Array,
        shifts: Shifts,
        weight_format: Format,
    ) -> Linear:
        """Build the Program's step of what the last phase computed with."""
        counts = np.asarray(self.whole_bias(whole, step, bias)).astype(np.int64)
        rescale = Rescale(int(self.multiplier(step, unit, shifts)), shifts.shift, shifts.pre)
        weights = Matrix.pack(spread_out(whole, self.columns), weight_format)
        return Linear(weights, whole_array(counts), "none" if self.zero else "relu", rescale)


def real_bias(values: NDArray) -> NDArray | None:
    """Return a bias in float32; None where it is all zeros."""
    single = values.astype(np.float32)
    return single if single.any() else None


def whole_array(counts: NDArray[np.int64]) -> NDArray | None:
    """Return a bias in the narrowest integers that hold it; None where it is all zeros."""
    if not counts.any():
        return None
    if np.abs(counts).max() > LARGEST_COUNT:
        raise DataError(
            "the values to predict lie too far from zero for how little they differ: subtract a constant from them"
        )
    return counts.astype(np.int16 if np.abs(counts).max() <= INT16 else np.int32)
