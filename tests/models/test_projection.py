import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smidgen.errors import DataError
from smidgen.models.projection import INT16, Projection, whole_array
from smidgen.models.support import Columns
from smidgen.program import Decide, Input, Program
from smidgen.program.arith import shift_right

cases = st.tuples(
    st.integers(1, 6), st.integers(1, 40), st.sampled_from([0, 128]), st.sampled_from([7, 127]), st.integers(0, 10_000)
)


def drawn(case):
    """A layer as training has it in its last phase: whole weights, their step, a bias and a unit, and bytes."""
    n_rows, d, zero, largest, seed = case
    draw = np.random.default_rng(seed)
    low = draw.integers(0, 100, d).astype(float)
    high = draw.integers(100, 256, d).astype(float)
    mean, spread = (low + high) / 2, float(draw.uniform(5, 60))
    projection = Projection(mean, spread, low, high, Columns(np.arange(d), d), zero=zero, largest_bias=2**31 - 1)
    whole = draw.integers(-largest, largest + 1, (n_rows, d)).astype(float)
    step, bias = float(draw.uniform(0.001, 0.5)), draw.normal(size=n_rows)
    unit = np.array(step * draw.uniform(0.2, 20))
    x = draw.integers(low, high + 1, (50, d)).astype(float)
    return projection, whole, np.array(step), bias, unit, x


@settings(max_examples=60, deadline=None)
@given(case=cases)
def test_what_training_computes_is_what_the_step_computes(case):
    projection, whole, step, bias, unit, x = drawn(case)
    projection = replace(projection, low=np.zeros(x.shape[1]), high=np.full(x.shape[1], 255.0))
    shifts = projection.choose_shifts(whole, step, bias, unit)
    projected, y = projection.forward_whole(x, whole, step, bias, unit=unit, shifts=shifts)
    linear = projection.whole_step(whole, step, bias, unit=unit, shifts=shifts, weight_format="int8")
    last = type(linear)(type(linear.weights).pack(np.eye(len(whole), dtype=np.int8), "int8"))
    decide = Decide("value", scale=np.ones(len(whole), np.float32))
    program = Program((Input("uint8", x.shape[1]), linear, last, decide))
    np.testing.assert_array_equal(program.run(x.astype(np.uint8)).scores, y)
    np.testing.assert_allclose(projected.values, unit * (y - projection.zero))


@settings(max_examples=60, deadline=None)
@given(case=cases)
def test_the_byte_is_the_real_layer_in_units(case):
    projection, whole, step, bias, unit, x = drawn(case)
    shifts = projection.choose_shifts(whole, step, bias, unit)
    projected, y = projection.forward_whole(x, whole, step, bias, unit=unit, shifts=shifts)
    real = projection.forward(x, whole * step, bias).values / unit + projection.zero
    m = float(projection.multiplier(step, unit, shifts))
    exact = step / unit / projection.spread * 2.0 ** (shifts.pre + shifts.shift)
    # m and the bias are rounded, `pre` and the shift drop what is below them
    off = abs(m / exact - 1) * np.abs(real - projection.zero) + m / exact * step / unit / projection.spread
    below = 2 + 2.0**shifts.pre * step / unit / projection.spread
    inside = projected.free
    assert (np.abs(y - real)[inside] <= (off + below)[inside]).all()
    assert np.isin(y[~inside], (0, 255)).all()


@settings(max_examples=60, deadline=None)
@given(case=cases)
def test_shifts_are_the_least_that_are_safe_and_the_finest_that_fit(case):
    projection, whole, step, bias, unit, _ = drawn(case)
    pre, shift = shifts = projection.choose_shifts(whole, step, bias, unit)
    counts = projection.whole_bias(whole, step, bias)
    corners = np.where(whole > 0, projection.high, projection.low), np.where(whole > 0, projection.low, projection.high)
    most, least = ((whole * corner).sum(axis=1) + counts for corner in corners)
    assert shift_right(np, most.max(), pre) <= INT16
    assert shift_right(np, least.min(), pre) >= -(2**15)
    if pre:
        assert shift_right(np, most.max(), pre - 1) > INT16 or shift_right(np, least.min(), pre - 1) < -(2**15)
    m = float(projection.multiplier(step, unit, shifts))
    assert 127 <= m <= 255 or shift in (0, 23)


def test_only_some_features():
    projection, whole, step, bias, _, x = drawn((3, 10, 128, 7, 0))
    columns = np.array([7, 2])
    fewer = projection.of_columns(columns)
    W = np.zeros_like(whole)
    W[:, columns] = whole[:, columns]
    ours = fewer.forward(x[:, columns], whole[:, columns] * step, bias).values
    np.testing.assert_allclose(ours, projection.forward(x, W * step, bias).values, atol=1e-10)
    assert fewer.of_columns(np.array([1])).columns.kept.tolist() == [2]


def test_biases_are_as_narrow_as_can_be():
    assert whole_array(np.zeros(3, np.int64)) is None
    assert whole_array(np.array([INT16, -5])).dtype == np.int16
    assert whole_array(np.array([INT16 + 1, -5])).dtype == np.int32
    assert math.isclose(whole_array(np.array([2**30]))[0], 2**30)
    with pytest.raises(DataError, match="too far from zero"):
        whole_array(np.array([2**31]))
