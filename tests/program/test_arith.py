"""arith's functions against Python integers, in NumPy and under the Array API standard, in float32 and float64."""

import array_api_strict
import numpy as np
import pytest

from smidgen.program import arith

NAMESPACES = [
    pytest.param(xp, dtype, id=f"{xp.__name__}-{dtype}")
    for xp in (np, array_api_strict)
    for dtype in ("float32", "float64")
]
every_namespace = pytest.mark.parametrize(("xp", "dtype"), NAMESPACES)


def floats(xp, dtype, values):
    return xp.asarray(np.asarray(values, dtype=dtype))


def whole_numbers(array):
    """Nested lists of Python ints; a fraction or a NaN would show."""
    numbers = np.from_dlpack(array)
    assert (numbers == np.floor(numbers)).all()
    return numbers.astype(np.int64).tolist()


@every_namespace
def test_shift_right_is_the_shift_of_integers(xp, dtype):
    values = [-(2**24), -(2**15), -257, -256, -255, -1, 0, 1, 255, 256, 2**15 - 1, 2**24]
    for bits in range(25):
        shifted = arith.shift_right(xp, floats(xp, dtype, values), bits)
        assert whole_numbers(shifted) == [value >> bits for value in values]


def test_scale_input_of_integers_is_exact_in_float64():
    rng = np.random.default_rng(0)
    x, offset = rng.integers(-(2**15), 2**15, (2, 1000))
    multiplier, shift = rng.integers(1, 256, 1000), rng.integers(0, 16, 1000)
    scaled = arith.scale_input(np, x.astype(float), offset.astype(float), multiplier / 2.0**shift)
    expected = [
        min(max(((a - o) * m) >> s, 0), 255)
        for a, o, m, s in zip(x.tolist(), offset.tolist(), multiplier.tolist(), shift.tolist(), strict=True)
    ]
    assert scaled.tolist() == expected


@every_namespace
def test_scale_input_floors_and_clips(xp, dtype):
    scaled = arith.scale_input(xp, floats(xp, dtype, [-9.0, -0.25, 0.0, 1.9, 255.9, 1e30]), 0.0, 1.0)
    assert whole_numbers(scaled) == [0, 0, 0, 1, 255, 255]


@every_namespace
def test_linear_is_exact_up_to_two_to_the_24_in_float32(xp, dtype):
    # 257 columns of 255 * 255 and a bias that leads to exactly 2^24 and to -(2^24)
    values = [[255.0] * 257, [0.0] * 257]
    weights = [[255.0] * 257, [-255.0] * 257]
    bias = [2**24 - 257 * 255**2, 257 * 255**2 - 2**24]
    sums = arith.linear(floats(xp, dtype, values), floats(xp, dtype, weights), floats(xp, dtype, bias))
    assert whole_numbers(sums) == [[2**24, -(2**24)], bias]
    assert whole_numbers(arith.linear(floats(xp, dtype, values), floats(xp, dtype, weights), None))[1] == [0, 0]


def test_the_limits_of_exactness_are_where_they_are_said_to_be():
    for dtype, limit in ((np.float32, arith.FLOAT32_EXACT), (np.float64, 2**53)):
        assert int(dtype(limit)) == limit
        assert int(dtype(limit - 1)) == limit - 1
        assert int(dtype(limit) + dtype(1)) == limit  # the next one is lost


@every_namespace
@pytest.mark.parametrize("zero", [0, 128])
def test_rescale_is_the_formula_of_the_page(xp, dtype, zero):
    rng = np.random.default_rng(1)
    for _ in range(60):
        pre, shift, high = int(rng.integers(0, 10)), int(rng.integers(0, 24)), int(rng.integers(1, 256))
        multiplier = int(rng.integers(0, 256))
        sums = [-(2**15) << pre, ((2**15 - 1) << pre) | ((1 << pre) - 1), *rng.integers(-30000, 30000, 20).tolist()]
        if max(map(abs, sums)) > arith.FLOAT32_EXACT:
            sums = sums[2:]
        got = arith.rescale(
            xp, floats(xp, dtype, sums), pre=pre, multiplier=multiplier, shift=shift, zero=zero, high=high
        )
        assert whole_numbers(got) == [min(max(zero + (((a >> pre) * multiplier) >> shift), 0), high) for a in sums]


@every_namespace
def test_rescale_takes_a_multiplier_a_row(xp, dtype):
    got = arith.rescale(
        xp,
        floats(xp, dtype, [[100.0, 100.0], [-7.0, -7.0]]),
        pre=0,
        multiplier=floats(xp, dtype, [1.0, 3.0]),
        shift=1,
        zero=128,
        high=255,
    )
    assert whole_numbers(got) == [[178, 255], [124, 117]]  # -7 >> 1 = -4, -21 >> 1 = -11


@every_namespace
def test_sign_bits_count_zero_as_one(xp, dtype):
    bits = arith.sign_bits(xp, floats(xp, dtype, [-1.0, 0.0, 1.0]))
    assert whole_numbers(bits) == [0, 1, 1]
    assert bits.dtype == floats(xp, dtype, [0]).dtype


@every_namespace
def test_square_distances_are_exact_for_64_bytes(xp, dtype):
    values, points = np.zeros((2, 64)), np.zeros((2, 64))
    values[0], points[1] = 255, 255
    values[1], points[0, ::2] = 3, 1
    got = whole_numbers(arith.square_distances(xp, floats(xp, dtype, values), floats(xp, dtype, points)))
    assert got == [[32 * 254**2 + 32 * 255**2, 0], [32 * 4 + 32 * 9, 64 * 252**2]]


@every_namespace
def test_the_expanded_table_is_the_interpolation_of_the_page(xp, dtype):
    table = [255, 254, 100, 100, 1, 0, 7 - 7]
    expanded = whole_numbers(arith.expand_table(xp, floats(xp, dtype, table)))
    expected = [
        table[i] - (((table[i] - table[i + 1]) * fraction) >> 8)
        for i in range(len(table) - 1)
        for fraction in range(256)
    ]
    assert expanded == [*expected, 0]


@every_namespace
@pytest.mark.parametrize("shift", [8, 9, 13])
def test_gaussian_looks_up_every_distance(xp, dtype, shift):
    table = [200, 120, 50, 3]
    distances = [0, 1, (1 << shift) - 1, 1 << shift, (5 << shift) // 2, (3 << shift) - 1, 3 << shift, 2**24]
    expanded = arith.expand_table(xp, floats(xp, dtype, table))
    got = arith.gaussian(xp, floats(xp, dtype, [distances, distances]), expanded, shift)

    def kernel(distance):
        index, fraction = distance >> shift, (distance >> (shift - 8)) & 255
        return 0 if index >= 3 else table[index] - (((table[index] - table[index + 1]) * fraction) >> 8)

    assert whole_numbers(got) == [[kernel(distance) for distance in distances]] * 2


@every_namespace
@pytest.mark.parametrize(("operation", "best"), [("max", max), ("min", min)])
def test_group_reduce_takes_the_best_of_each_class(xp, dtype, operation, best):
    row = [5.0, -3.0, 2.0, 2.0, 9.0]
    got = arith.group_reduce(xp, floats(xp, dtype, [row]), [2, 3], operation, None)
    assert whole_numbers(got) == [[best(5, -3), best(2, 2, 9)]]


@every_namespace
def test_group_reduce_lets_the_floor_compete_everywhere(xp, dtype):
    got = arith.group_reduce(xp, floats(xp, dtype, [[5.0, -3.0, -7.0], [-9.0, -9.0, 4.0]]), [2, 0, 1], "max", -2)
    assert whole_numbers(got) == [[5, -2, -2], [-2, -2, 4]]


@every_namespace
def test_best_labels_fall_by_score_and_rise_by_index(xp, dtype):
    scores = [[1.0, 3.0, 3.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0, 0.0], [-5.0, -1.0, -2.0, -1.0, -9.0]]
    got = arith.best_labels(xp, floats(xp, dtype, scores), 2)
    assert np.from_dlpack(got).astype(int).tolist() == [[0, 1, 1, 0, 0], [1, 1, 0, 0, 0], [0, 1, 0, 1, 0]]
