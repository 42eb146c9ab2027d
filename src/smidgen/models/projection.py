"""The first layer of every trained model: bytes → W x + b → bytes, in training and on the board.

In training the layer is ``p = W (x - mean) / spread + b``, which keeps the numbers of a mind to learn; on the board it is
``y = clip(z + (((W' x + b') >> pre) * m >> s), 0, 255)`` for whole W' and b', and one count of y stands for a `unit` of p.
In the last phase of training, p is what the board makes of it, ``unit * (y - z)``, and gradients pass straight through:
to p where the byte is not clipped, to the unit where it is. Written against the Array API; may import core and the
Program's arithmetic.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from smidgen.core.arrays import Array, namespace_of
from smidgen.program import Linear, Matrix, Rescale, arith

LARGEST_SHIFT, LARGEST_MULTIPLIER = 23, 255


@dataclass(frozen=True)
class Scale:
    """What training subtracts from the bytes of each feature, and the one number it divides all of them by."""

    mean: Array  # (d,)
    spread: float


class Shifts(NamedTuple):
    """The two shifts around the multiplier: plain numbers, chosen now and then."""

    pre: int
    shift: int


class Projected(NamedTuple):
    """p, and what its gradients need."""

    x: Array  # (n, d)
    values: Array  # (n, h) p itself, or in the last phase what the board makes of it
    free: Array | None  # (n, h) where a byte is not clipped; None before the last phase


def project(x: Array, W: Array, bias: Array, scale: Scale) -> Projected:
    """Return p in real numbers."""
    scaled = W * (1 / scale.spread)
    return Projected(x, x @ scaled.T + (bias - scaled @ scale.mean), None)


def project_to_bytes(
    x: Array, whole: Array, step: Array, bias: Array, unit: Array, scale: Scale, shifts: Shifts, zero: int
) -> tuple[Projected, Array]:
    """Return p as the board has it, and the bytes themselves."""
    xp = namespace_of(x)
    accumulators = arith.linear(x, whole, integer_bias(whole, step, bias, scale))
    m = multiplier(step, unit, scale, shifts)
    pre, shift = shifts
    y = arith.rescale(xp, accumulators, pre=pre, multiplier=m, shift=shift, zero=zero, high=255)
    unrounded = accumulators * (m * 2.0 ** -(pre + shift))
    free = (unrounded >= -zero) & (unrounded < 256 - zero)
    return Projected(x, unit * (y - zero), free), y


def project_back(gradient: Array, projected: Projected, scale: Scale) -> tuple[Array, Array, Array | float]:
    """Return the gradients of W, the bias, and the unit's logarithm, given that of p."""
    xp = namespace_of(gradient)
    of_log_unit: Array | float = 0.0
    if projected.free is not None:
        freely = xp.where(projected.free, gradient, xp.zeros_like(gradient))
        of_log_unit = xp.sum((gradient - freely) * projected.values)
        gradient = freely
    of_bias = xp.sum(gradient, axis=0)
    of_W = (gradient.T @ projected.x - of_bias[:, None] * scale.mean[None, :]) * (1 / scale.spread)
    return of_W, of_bias, of_log_unit


def integer_bias(whole: Array, step: Array, bias: Array, scale: Scale) -> Array:
    """b', in counts of the accumulator: the bias, less what the mean comes to."""
    xp = namespace_of(whole)
    return xp.round(bias * scale.spread / step - whole @ scale.mean)


def multiplier(step: Array, unit: Array, scale: Scale, shifts: Shifts) -> Array:
    """m, which brings counts of the accumulator to counts of the byte."""
    xp = namespace_of(step)
    pre, shift = shifts
    return xp.clip(xp.round(step / unit * (2.0 ** (pre + shift) / scale.spread)), 1, LARGEST_MULTIPLIER)


def choose_shifts(
    whole: NDArray, step: float, bias: NDArray, unit: float, scale: Scale, reach: tuple[NDArray, NDArray]
) -> Shifts:
    """Choose the least `pre` that provably fits int16, and the shift for which m is in 128..255.

    Parameters
    ----------
    whole, step, bias, unit
        As they are now, in NumPy.
    reach : (array, array)
        The least and the largest byte of each feature.
    """
    low, high = reach
    constant = np.asarray(integer_bias(whole, np.float64(step), bias, scale))
    positive, negative = np.maximum(whole, 0), np.minimum(whole, 0)
    most = float((positive @ high + negative @ low + constant).max()) + 1
    least = float((positive @ low + negative @ high + constant).min())
    bound = max(most, -least, 1.0)
    pre = max(0, math.ceil(math.log2(bound / 2**15)))
    wanted = step / scale.spread / unit * 2.0**pre
    shift = math.floor(math.log2((LARGEST_MULTIPLIER + 0.49) / wanted))
    return Shifts(min(pre, 15), min(max(shift, 0), LARGEST_SHIFT))


def linear_step(
    weight_format: Any, whole: Array, step: Array, bias: Array, unit: Array, scale: Scale, shifts: Shifts, *, relu: bool
) -> Linear:
    """Build the Program's step from what the last phase of training computed with."""
    counts = np.asarray(integer_bias(whole, step, bias, scale)).astype(np.int64)
    rescale = Rescale(int(multiplier(step, unit, scale, shifts)), shifts.shift, shifts.pre)
    weights = Matrix.pack(np.asarray(whole), weight_format)
    return Linear(weights, bias_array(counts), "relu" if relu else "none", rescale)


def bias_array(counts: NDArray[np.int64]) -> NDArray | None:
    """Return a bias in the narrowest integers that hold it, None where it is all zeros."""
    if not counts.any():
        return None
    return counts.astype(np.int16 if -(2**15) <= counts.min() and counts.max() < 2**15 else np.int32)
