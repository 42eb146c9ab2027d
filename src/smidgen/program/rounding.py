"""Float steps → integer steps: weights to their grid, results to bytes, a Gaussian to its table.

Each function takes a float32 step, the calibration rows as they reach it in both Programs, and gives the integer step
and what its results stand for. docs/arithmetic.md says what the integers mean. May import NumPy and this package.

    stored(scaling, ...)          what the bytes of an Input stand for
    scoring_linear, sign_linear   accumulators that a consumer takes; bits
    byte_linear                   a Linear and its Rescale
    rounded_distance              points on their grid, and the Gaussian's table
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smidgen.errors import ProgramError
from smidgen.program.distance import Distance, Gaussian
from smidgen.program.input import Input
from smidgen.program.linear import INT16, Linear, Rescale
from smidgen.program.scaling import byte_steps
from smidgen.program.signal import Interval, Signal
from smidgen.program.storage import LIMITS, Format, Matrix

Floats = NDArray[np.float64]

LARGEST_BIAS = 2.0**29
LARGEST_PRE, LARGEST_SHIFT = 15, 23  # of a Rescale
MOST_TABLE_ENTRIES = 56  # 28 to 56: fewer show in the labels, more do not help (FINDINGS: 28 serve as well as 56)
LARGEST_FEEDBACK = 1_024  # columns whose covariance is inverted
DAMPING = 0.1  # of the mean variance: keeps the feedback from trusting in a few calibration rows
# of the largest weight: where the grid may end, rarer weights beyond are clipped
GRID_ENDS = np.linspace(1, 0.4, 25)


@dataclass(frozen=True, eq=False)
class Stored:
    """What stands in scratch memory for the calibration rows: a byte u of output j stands for `start[j] + unit[j] * u`.

    A unit of 0 says that the output tells nothing.
    """

    signal: Signal
    rows: NDArray[Any]
    unit: Floats
    start: Floats

    @cached_property
    def variance(self) -> Floats:
        """How much each output varies; a little more than nothing for those that never do here."""
        variance: Floats = self.rows.astype(np.float64).var(axis=0)
        return variance + 1e-3 * variance.mean() + 1e-9

    @cached_property
    def feedback(self) -> Floats | None:
        """What the rounding error of one weight asks of those behind it; None where that is too much work.

        An upper triangle U with `inv(covariance) = U.T @ U`: the least squares answer to an error in column j is to
        move the columns behind it by `-error * U[j] / U[j, j]` (the method is known as GPTQ).
        """
        if self.rows.shape[1] > LARGEST_FEEDBACK:
            return None
        covariance = np.atleast_2d(np.cov(self.rows.astype(np.float64), rowvar=False, bias=True))
        damping = DAMPING * self.variance.mean() * np.eye(len(covariance))
        return np.linalg.cholesky(np.linalg.inv(covariance + damping)).T


def stored(scaling: Input, original: Input, rows: NDArray[Any], *, weighed: bool) -> Stored:
    """Return the bytes of raw rows, and what they stand for among the values of the float32 Input.

    Where the bytes are to be weighed, a feature with a scaling of its own that never varies here tells nothing.
    """
    first, step, width = byte_steps(scaling)
    multiplier = np.broadcast_to(np.asarray(original.multiplier, np.float64), scaling.n_features)
    unused = (multiplier == 0) | ~np.isfinite(step)
    if weighed and (isinstance(scaling.shift, np.ndarray) or isinstance(scaling.offset, np.ndarray)):
        unused = unused | _constant(rows)
    unit = np.where(unused, 0, multiplier * np.where(unused, 0, step))
    start = multiplier * (first + np.where(unused, 0, width) / 2 - original.offset)
    if scaling.codes is not None:
        repeats = np.maximum(scaling.codes, 1)
        hot = np.repeat(scaling.codes > 0, repeats)
        unit = np.where(hot, original.hot / scaling.hot, np.repeat(unit, repeats))
        start = np.where(hot, 0, np.repeat(start, repeats))
    return Stored(scaling.check(None), scaling.run(rows), unit, start)


def _constant(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Features that have one value in all rows, missing ones apart."""
    same: NDArray[np.bool_] = ((rows == rows[0]) | np.isnan(rows)).all(axis=0)
    return same


# Linear.


def scoring_linear(
    step: Linear, sums: Floats, given: Stored, weight_format: Format, *, own_units: bool
) -> tuple[Linear, Floats]:
    """Return a Linear whose accumulators are taken as they are, and their units: one for all rows, or one a row."""
    weights = step.weights.values * given.unit
    unit = grid_steps(weights, given.variance, weight_format, own=own_units)
    reach = np.abs(sums).max(axis=0) / LARGEST_BIAS
    unit = np.maximum(unit, reach if own_units else reach.max())
    return _rounded_linear(weights, sums, given, weight_format, unit, activation="none"), unit


def sign_linear(step: Linear, sums: Floats, given: Stored, weight_format: Format) -> Linear:
    """Return a Linear whose accumulators' signs are taken: each row may have its own unit."""
    weights = step.weights.values * given.unit
    unit = grid_steps(weights, given.variance, weight_format, own=True)
    unit = np.maximum(unit, np.abs(sums).max(axis=0) / LARGEST_BIAS)
    return _rounded_linear(weights, sums, given, weight_format, unit, activation="sign")


def byte_linear(
    step: Linear, sums: Floats, given: Stored, weight_format: Format, *, taker: Linear | Distance, own: bool
) -> tuple[Linear, Stored]:
    """Return a Linear to bytes and what its bytes stand for.

    Where a Linear takes them, each row has its own unit, which the taker's weights absorb; where a Distance does, all
    share one. `own` gives each row its own multiplier, hence the whole grid of its weights.
    """
    weights = step.weights.values * given.unit
    seen = np.vstack((sums, taker.points.values)) if isinstance(taker, Distance) else sums  # points need room as well
    if step.activation == "relu":
        zero, levels, low, high = 0, 255, np.zeros(sums.shape[1]), np.maximum(seen.max(axis=0), 0)
        centre = low
    else:
        zero, levels, low, high = 128, 254, seen.min(axis=0), seen.max(axis=0)
        centre = (low + high) / 2
    unit = _byte_units(weights, (high - low) / levels, shared=isinstance(taker, Distance), own=own)
    silent = unit == 0
    scale = np.where(silent, 1, unit)
    wanted = np.where(silent, 0, (sums - centre) / scale)
    weights = np.where(silent[:, None], 0, weights / scale[:, None])
    rounded = _rescaled_linear(weights, wanted, given, weight_format, step.activation, own=own)
    signal, rows = rounded.check(given.signal), rounded.run(given.rows)
    return rounded, Stored(signal, rows, unit, centre - zero * unit)


def _byte_units(weights: Floats, unit: Floats, *, shared: bool, own: bool) -> Floats:
    """How much of the float results one step of a byte is, a row each; 0 where a row never changes."""
    if shared:
        return np.full_like(unit, unit.max() or 1.0)
    if own:  # but for rows that hardly matter, which the multiplier's 8 bits need not reach
        return np.where(unit > 0, np.maximum(unit, unit.max() / 16), 0)
    # one multiplier for all rows: a unit each that serves the row's range and the row's weights alike
    largest = np.abs(weights).max(axis=1)
    balance = np.sqrt(unit * largest)
    heard = balance > 0
    if not heard.any():
        return np.zeros_like(unit)
    return np.where(heard, balance * (unit[heard] / balance[heard]).max(), 0)


def _rescaled_linear(
    weights: Floats, wanted: Floats, given: Stored, weight_format: Format, activation: str, *, own: bool
) -> Linear:
    """A Linear whose bytes are the nearest to `wanted` (plus the zero point), for weights in units of those bytes."""
    step = grid_steps(weights, given.variance, weight_format, own=own)
    step = np.maximum(step, np.abs(wanted).max() / LARGEST_BIAS)
    pre = 0
    while True:
        # the multiplier takes 8 bits of what is at hand; the grid's step then is what it makes of an accumulator
        shift = int(np.clip(np.floor(np.log2(255 / step.max())), pre, pre + LARGEST_SHIFT))
        multiplier = np.clip(np.rint(np.ldexp(step, shift)), 1, 255)
        unit = np.ldexp(multiplier, -shift)
        half = 0.5 / unit + ((1 << pre) - 1) / 2  # both floors become roundings
        plain = _rounded_linear(weights, wanted, given, weight_format, unit, activation="none", half=half)
        needed = _least_pre(plain.accumulators(given.signal))
        if needed <= pre:
            break
        pre = needed
    shared = multiplier[0] if (multiplier == multiplier[0]).all() else None
    rescale = Rescale(multiplier.astype(np.uint8) if shared is None else int(shared), shift - pre, pre)
    return Linear(plain.weights, plain.bias, activation, rescale)


def _least_pre(sums: Interval) -> int:
    """The least shift after which every sum fits int16."""
    for pre in range(LARGEST_PRE + 1):
        if sums.low.min() >> pre >= INT16[0] and sums.high.max() >> pre <= INT16[1]:
            return pre
    raise ProgramError("the sums of a Linear leave 31 bits; use fewer features or int4 weights")


def _rounded_linear(
    weights: Floats,
    wanted: Floats,
    given: Stored,
    weight_format: Format,
    unit: Floats,
    *,
    activation: str,
    half: Floats | float = 0.0,
) -> Linear:
    """Weights on the grid of this unit, and the bias that leaves no error in the median of the calibration rows."""
    whole = _whole_weights(weights / unit[:, None], given.feedback, LIMITS[weight_format])
    bias = np.rint(np.median(wanted / unit - given.rows @ whole.T, axis=0) + half).astype(np.int64)
    return Linear(Matrix.pack(whole, weight_format), narrowest_bias(bias), activation)


def _whole_weights(weights: Floats, feedback: Floats | None, limits: tuple[float, float]) -> Floats:
    """Weights in whole numbers; the errors of each column are made good by those behind it. What is 0 stays 0."""
    if feedback is None:
        return np.clip(np.rint(weights), *limits)
    left, kept = weights.copy(), weights != 0
    for column, row in enumerate(feedback):
        rounded = np.clip(np.rint(left[:, column]), *limits)
        error = (left[:, column] - rounded) / row[column]
        left[:, column] = rounded
        left[:, column + 1 :] -= error[:, None] * row[column + 1 :] * kept[:, column + 1 :]
    return left


def narrowest_bias(bias: NDArray[np.int64]) -> NDArray[Any] | None:
    """The bias in int16 or int32, whichever holds it; None where it is all zeros."""
    if not bias.any():
        return None
    fits = bias.min() >= INT16[0] and bias.max() <= INT16[1]
    return bias.astype(np.int16 if fits else np.int32)


def grid_steps(weights: Floats, importance: Floats, weight_format: Format, *, own: bool) -> Floats:
    """Return the step of each row's grid that loses least to rounding and clipping, one for all rows or one each.

    A column's errors count by its importance: the variance of what it is multiplied with.
    """
    end = LIMITS[weight_format][1]
    largest = np.abs(weights).max(axis=1)
    largest = np.where(largest > 0, largest, 1) if own else np.full_like(largest, largest.max() or 1)
    losses = []
    ends = GRID_ENDS if weight_format == "int4" else GRID_ENDS[:1]
    for share in ends:
        step = (share * largest / end)[:, None]
        errors = weights - step * np.clip(np.rint(weights / step), *LIMITS[weight_format])
        losses.append(errors**2 @ importance)
    loss = np.array(losses)
    best = loss.argmin(axis=0) if own else loss.sum(axis=1).argmin()
    return ends[best] * largest / end


# Distance.


def rounded_distance(
    step: Distance, values: Floats, given: Stored, weight_format: Format
) -> tuple[Distance, float, float]:
    """Return points on their grid, the kernel as a table, and what a result of 1 stands for.

    `values` are the float rows as they reach the step: the nearest of them says what the table's 255 should mean.
    The last number returned is the unit of the distances.
    """
    if step.metric == "hamming":
        return step, 1.0, 1.0
    unit = np.where(given.unit == 0, 1, given.unit)
    places = np.floor((step.points.values - given.start) / unit + 0.5)
    places = np.clip(np.where(given.unit == 0, 0, places), 0, 255)
    points, zero, shift = points_on_grid(places, weight_format)
    heard = given.unit != 0
    sq_unit = float(np.mean(given.unit[heard] ** 2)) if heard.any() else 1.0
    plain = Distance(points, zero, shift)
    if step.kernel is None:
        return plain, sq_unit, sq_unit
    assert isinstance(step.kernel, float)
    nearest = max(float(step.run(values).max()), 1e-30)
    most = int(plain.accumulators(given.signal).high.max())
    kernel = gaussian_table(step.kernel * sq_unit, 1 / nearest, most)
    return Distance(points, zero, shift, kernel=kernel), nearest / 255, sq_unit


def gaussian_table(decay: float, scale: float, most: int) -> Gaussian:
    """Return the table of `min(255, 255 * scale * exp(-decay * D))` for D up to `most`.

    Examples
    --------
    >>> table = gaussian_table(decay=1e-4, scale=1.0, most=100_000)
    >>> table.shift, table.table[:3].tolist(), len(table.table)
    (11, [255, 208, 169], 33)
    """
    end = min(np.log(510 * scale) / decay, float(most) + 1)  # from there on it rounds to 0, or is never asked for
    shift = int(np.clip(np.ceil(np.log2(max(end, 1) / (MOST_TABLE_ENTRIES - 2))), 8, 31))
    entries = int(min(end // (1 << shift) + 2, 254)) + 1
    places = np.arange(entries) * float(1 << shift)
    table = np.minimum(np.rint(255 * scale * np.exp(-decay * places)), 255).astype(np.uint8)
    table[0] = max(table[0], 1)
    return Gaussian(table, shift)


def points_on_grid(points: Floats, weight_format: str) -> tuple[Matrix, int, int]:
    """Return points within 0..255 as a packed matrix, with the zero and the shift that place it."""
    if weight_format == "int8":
        return Matrix.pack(np.rint(points) - 128, "int8", "dense"), 128, 0
    start, shift = int4_grid(points)
    values = np.clip(np.rint((points - start) / 2**shift), 0, 15) - 8
    return Matrix.pack(values, "int4", "dense"), start + (8 << shift), shift


def int4_grid(points: Floats) -> tuple[int, int]:
    """Return the start and shift of the levels `start + (0..15 << shift)` that lose least to rounding and clipping."""
    levels = np.arange(256)
    telling = points[:, points.min(axis=0) < points.max(axis=0)]  # where all points agree, any level will do
    occurrences = np.bincount(np.rint(telling).astype(np.int64).ravel(), minlength=256)
    grids = [(start, shift) for shift in range(5) for start in range(256 - (15 << shift))]
    starts, shifts = np.array(grids).T[:, :, None]
    rounded = starts + (np.clip(np.rint((levels - starts) / 2.0**shifts), 0, 15).astype(np.int64) << shifts)
    return grids[int((((levels - rounded) ** 2) @ occurrences).argmin())]
