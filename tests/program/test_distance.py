"""Distance: squared and Hamming, its proof, and the Gaussian table."""

import numpy as np
import pytest

from smidgen.errors import ProgramError
from smidgen.program import Distance, Gaussian, Input, Matrix
from smidgen.program.signal import Interval, Signal, bits_signal

FLOATS = Matrix.pack([[1.0, 2.0]], "float32", "dense")
NIBBLES = Matrix.pack([[-8, 7]], "int4", "dense")
BITS = Matrix.pack([[1, 0]], "bits")


def u8(*values):
    return np.array(values, np.uint8)


def signal(low, high):
    low, high = np.asarray(low, np.int64), np.asarray(high, np.int64)
    return Signal("bytes", len(low), Interval(low, high))


BYTES = signal([0, 0], [255, 255])


@pytest.mark.parametrize(
    ("zero", "shift", "points"),
    [(128, 4, (0, 240)), (128, 0, (120, 135)), (100, 3, (36, 156)), (255 - 56, 3, (135, 255))],
)
def test_integer_points_are_zero_plus_the_shifted_value(zero, shift, points):
    step = Distance(NIBBLES, zero, shift)
    got = step.run(np.array([[0.0, 0.0], [points[0], points[1]]]))
    assert got.tolist() == [[points[0] ** 2 + points[1] ** 2], [0]]


def test_hamming_counts_the_bits_that_differ():
    codes = [[1, 0, 1, 1, 0, 0, 1, 0, 1], [0] * 9, [1] * 9]
    step = Distance(Matrix.pack(codes, "bits"), metric="hamming")
    assert step.run(np.array([codes[0], codes[1]], float)).tolist() == [[0, 5, 4], [5, 0, 9]]
    proven = step.check(bits_signal(9)).range
    assert (proven.low.tolist(), proven.high.tolist()) == ([0, 0, 0], [9, 9, 9])


def test_hamming_counts_beyond_a_byte():
    step = Distance(Matrix.pack(np.zeros((1, 300)), "bits"), metric="hamming")
    assert step.run(np.ones((1, 300))).tolist() == [[300]]
    assert step.check(bits_signal(300)).range.high.tolist() == [300]


def test_the_proven_bounds_are_reached_also_where_the_range_is_narrow():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        width = int(rng.integers(1, 90))
        low, high = np.sort(rng.integers(0, 256, (2, width)), axis=0)
        points = rng.integers(-128, 128, (3, width))
        step = Distance(Matrix.pack(points, "int8", "dense"))
        proven = step.accumulators(signal(low, high))
        for row, point in enumerate(points + 128):
            nearest = np.clip(point, low, high)
            farthest = np.where(point - low > high - point, low, high)
            got = step.run(np.array([nearest, farthest], float))[:, row]
            assert got.tolist() == [proven.low[row], proven.high[row]]


def test_a_point_outside_a_narrow_range_is_never_near():
    proven = Distance(Matrix.pack([[-128, 127]], "int8", "dense")).check(signal([100, 100], [110, 110])).range
    assert (proven.low.tolist(), proven.high.tolist()) == ([100**2 + 145**2], [110**2 + 155**2])


@pytest.mark.parametrize("width", [63, 64, 65, 66, 129, 131, 257, 258, 259, 1001])
def test_distances_stay_exact_where_float32_ends(width):
    """Odd distances above 2^24, and small ones whose parts |x|^2 and |p|^2 are as large: a lost bit would show."""
    points = np.full((2, width), -128)
    points[1] = 127
    row = np.full((1, width), 255.0)
    row[0, 0] -= 1 if width % 2 == 0 else 0
    far = sum(int(value) ** 2 for value in row[0])
    assert far % 2 == 1
    near = sum((255 - int(value)) ** 2 for value in row[0])
    step = Distance(Matrix.pack(points, "int8", "dense"))
    assert step.run(row).astype(np.int64).tolist() == [[far, near]]
    assert step.run(row - 1).astype(np.int64)[0, 1] == sum((256 - int(value)) ** 2 for value in row[0])


def test_the_last_distance_that_is_an_int32():
    points = Matrix.pack(np.full((1, 33_025), -128), "int8", "dense")
    top = signal([0] * 33_025, [255] * 33_025)
    assert Distance(points).check(top).range.high.tolist() == [33_025 * 255**2]
    points = Matrix.pack(np.full((1, 33_026), -128), "int8", "dense")
    top = signal([0] * 33_026, [255] * 33_026)
    with pytest.raises(ProgramError, match=f"Distance can reach {33_026 * 255**2}, which no 32-bit accumulator holds"):
        Distance(points).check(top)
    # with a table no score is made of it, and 65,535 squares of bytes fit 32 bits
    Distance(points, kernel=Gaussian(u8(255, 0), 24)).check(top)


def test_the_widest_point_has_an_exact_kernel():
    points = Matrix.pack(np.full((1, 65_535), -128), "int8", "dense")
    step = Distance(points, kernel=Gaussian(u8(255, 128, 0), 31))
    # D = 65,535 * 255^2 is 1 * 2^31 and 252 of 256: 128 - (128 * 252 >> 8)
    assert step.run(np.full((1, 65_535), 255.0)).tolist() == [[2]]
    assert step.check(signal([0] * 65_535, [255] * 65_535)).range.low.tolist() == [2]


TABLE = Gaussian(u8(200, 120, 50, 3), 9)


@pytest.mark.parametrize(
    ("x", "kernel"),
    [
        (0, 200),
        (1, 200),  # 1 >> 1 = 0
        (3, 199),  # 9 >> 1 = 4: 200 - (80 * 4 >> 8) = 200 - 1
        (22, 125),  # 484 >> 1 = 242: 200 - (80 * 242 >> 8) = 200 - 75
        (23, 118),  # 529 >> 9 = 1, (529 >> 1) & 255 = 8: 120 - (70 * 8 >> 8) = 120 - 2
        (39, 5),  # 1521 >> 9 = 2, 760 & 255 = 248: 50 - (47 * 248 >> 8) = 50 - 45
        (40, 0),  # 1600 >> 9 = 3, the last entry: 0 and not 3
        (255, 0),
    ],
)
def test_the_gaussian_by_hand(x, kernel):
    step = Distance(Matrix.pack([[-128]], "int8", "dense"), kernel=TABLE)
    assert step.run(np.array([[float(x)]])).tolist() == [[kernel]]


def test_the_kernels_bounds_are_reached():
    step = Distance(Matrix.pack([[-128]], "int8", "dense"), kernel=TABLE)
    for low, high in ((0, 255), (10, 30), (40, 255), (5, 5)):
        proven = step.check(signal([low], [high]))
        ends = step.run(np.array([[high], [low]], float))
        assert (proven.range.low.tolist(), proven.range.high.tolist()) == (ends[0].tolist(), ends[1].tolist())
        assert proven.kind == "bytes"


def test_float32_distances():
    rows = np.array([[1.0, 2.0], [4.0, -2.0]])
    assert Distance(FLOATS).run(rows).tolist() == [[0], [25]]
    np.testing.assert_allclose(Distance(FLOATS, kernel=0.5).run(rows), [[1], [np.exp(-12.5)]], rtol=1e-15)
    assert Distance(FLOATS).check(Input("float32", 2, "float32").check(None)).kind == "float32"


@pytest.mark.parametrize(("width", "centre"), [(7, 1000), (33, 1000), (129, 1)])
def test_a_float32_distance_is_never_below_zero(width, centre):
    """|x|^2 + |p|^2 - 2 x p of equal vectors rounds to a little more or less than 0."""
    point = np.random.default_rng(0).normal(centre, 1, (100, width)).astype(np.float32)
    got = Distance(Matrix.pack(point, "float32", "dense")).run(point.astype(float))
    assert (got >= 0).all()
    np.testing.assert_allclose(np.diag(got), 0, atol=1e-6)


def test_the_cost():
    step = Distance(Matrix.pack(np.zeros((3, 5)), "int4", "dense"), shift=4, kernel=TABLE)
    assert {name: part.nbytes for name, part in step.constants().items()} == {"points.values": 9, "table": 4}
    assert step.multiply_accumulates() == 15
    step = Distance(Matrix.pack(np.zeros((3, 9)), "bits"), metric="hamming")
    assert {name: part.nbytes for name, part in step.constants().items()} == {"points.values": 6}


def test_describe():
    assert Distance(NIBBLES).describe() == "squared, 1 x 2 int4 dense, 1 byte"
    assert Distance(FLOATS, kernel=2.0).describe().endswith("8 bytes → Gaussian")
    assert Distance(NIBBLES, kernel=TABLE).describe().endswith(" → Gaussian table")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Distance([[1]]), "points must be a Matrix"),
        (lambda: Distance(Matrix.pack([[0, 1]], "int4", "gap4")), "must be stored dense"),
        (lambda: Distance(NIBBLES, metric="cosine"), "metric is 'cosine'"),
        (lambda: Distance(NIBBLES, metric="hamming"), "Hamming distances are between bits"),
        (lambda: Distance(BITS), "Hamming distances are between bits"),
        (lambda: Distance(NIBBLES, 127, 4), "points lie in -1..239; they must be bytes"),
        (lambda: Distance(NIBBLES, 200, 3), "points lie in 136..256; they must be bytes"),
        (lambda: Distance(NIBBLES, 256), "points' zero is 256"),
        (lambda: Distance(NIBBLES, 128, 8), "points' shift is 8"),
        (lambda: Distance(BITS, 0, metric="hamming"), "only integer points have a zero"),
        (lambda: Distance(FLOATS, 128, 1), "only integer points have a zero"),
        (lambda: Distance(BITS, metric="hamming", kernel=TABLE), "needs squared distances"),
        (lambda: Distance(FLOATS, kernel=TABLE), "is the number gamma"),
        (lambda: Distance(NIBBLES, kernel=0.5), "is a table"),
        (lambda: Distance(FLOATS, kernel=0.0), "must be positive"),
        (lambda: Distance(FLOATS, kernel=1e-60), "must be positive"),  # 0 in float32
        (lambda: Distance(FLOATS, kernel=np.nan), "finite"),
        (lambda: Gaussian(u8(5), 8), "has 1 entries"),
        (lambda: Gaussian(np.zeros(256, np.uint8), 8), "has 256 entries"),
        (lambda: Gaussian(u8(5, 6), 8), "must never rise"),
        (lambda: Gaussian(u8(0, 0), 8), "all zeros"),
        (lambda: Gaussian(u8(5, 0), 7), "shift is 7"),
        (lambda: Gaussian(u8(5, 0), 32), "shift is 32"),
        (lambda: Gaussian(np.array([5, 0]), 8), "dtype int64"),
        (lambda: Distance(NIBBLES).check(bits_signal(2)), "takes bytes where 2 bits come in"),
        (lambda: Distance(BITS, metric="hamming").check(BYTES), "takes bits where 2 bytes"),
        (lambda: Distance(FLOATS).check(BYTES), "takes float32 where 2 bytes"),
        (lambda: Distance(NIBBLES).check(signal([0], [1])), "takes 2 values where 1 come in"),
    ],
)
def test_what_does_not_fit_is_refused(make, sentence):
    with pytest.raises(ProgramError, match=sentence):
        make()
