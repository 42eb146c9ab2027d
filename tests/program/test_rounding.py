import numpy as np
import pytest

from smidgen.program import Distance, Input, Linear, Matrix
from smidgen.program.rounding import (
    Stored,
    byte_linear,
    gaussian_table,
    int4_grid,
    narrowest_bias,
    rounded_distance,
    scoring_linear,
    sign_linear,
    stored,
)
from smidgen.program.signal import Interval, Signal


def given_bytes(n=500, width=12, seed=0):
    """Bytes that stand for themselves less 100, times a unit of their own."""
    rng = np.random.default_rng(seed)
    rows = np.clip(np.rint(rng.normal(120, 40, (n, width))), 0, 255)
    signal = Signal("bytes", width, Interval(np.zeros(width, np.int64), np.full(width, 255)))
    unit = rng.uniform(0.01, 0.02, width)
    return Stored(signal, rows, unit, -100 * unit)


def values_of(given):
    return given.start + given.unit * given.rows


def float_linear(rows, width, seed=1, activation="none"):
    rng = np.random.default_rng(seed)
    return Linear(
        Matrix.pack(rng.normal(size=(rows, width)), "float32"), rng.normal(size=rows).astype(np.float32), activation
    )


@pytest.mark.parametrize(("number_format", "worst"), [("int8", 0.01), ("int4", 0.15)])
@pytest.mark.parametrize("own_units", [False, True])
def test_scores_are_the_float_sums_in_their_unit(number_format, worst, own_units):
    given = given_bytes()
    step = float_linear(4, 12)
    sums = step.sums(values_of(given))
    rounded, unit = scoring_linear(step, sums, given, number_format, own_units=own_units)
    assert rounded.weights.format == number_format
    assert len(unit) == 4
    assert own_units or (unit == unit[0]).all()
    errors = rounded.run(given.rows) * unit - sums
    assert np.sqrt((errors**2).mean()) < worst * sums.std()
    np.testing.assert_allclose(np.median(errors, axis=0), 0, atol=unit.max())


@pytest.mark.parametrize("activation", ["none", "relu"])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("taker", ["linear", "distance"])
def test_bytes_stand_for_the_float_results(activation, own, taker):
    given = given_bytes()
    step = float_linear(6, 12, activation=activation)
    sums = step.sums(values_of(given))
    wanted = np.maximum(sums, 0) if activation == "relu" else sums
    points = Matrix.pack(np.random.default_rng(2).normal(size=(3, 6)), "float32", "dense")
    after = float_linear(2, 6) if taker == "linear" else Distance(points)
    rounded, found = byte_linear(step, sums, given, "int8", taker=after, own=own)
    assert isinstance(rounded.rescale.multiplier, np.ndarray) == own or taker == "distance"
    assert taker == "linear" or np.ptp(found.unit) == 0
    np.testing.assert_array_equal(found.rows, rounded.run(given.rows))
    errors = np.abs(values_of(found) - wanted)
    assert errors.max() < 0.05 * np.ptp(wanted)
    assert np.sqrt((errors**2).mean()) < 0.01 * np.ptp(wanted)


def test_a_row_that_never_wakes_tells_nothing():
    given = given_bytes()
    step = Linear(Matrix.pack(np.ones((2, 12)), "float32"), np.array([0, -1000], np.float32), "relu")
    sums = step.sums(values_of(given))
    rounded, found = byte_linear(step, sums, given, "int8", taker=float_linear(2, 2), own=True)
    assert found.unit[1] == 0
    assert found.unit[0] > 0
    assert not rounded.weights.values[1].any()


def test_signs_are_the_float_signs():
    given = given_bytes()
    step = float_linear(20, 12, activation="sign")
    sums = step.sums(values_of(given))
    rounded = sign_linear(step, sums, given, "int8")
    assert (rounded.run(given.rows) == (sums >= 0)).mean() > 0.99


def test_a_bias_far_beyond_the_weights_keeps_its_accumulator():
    given = given_bytes()
    step = Linear(Matrix.pack(np.full((1, 12), 1e-6), "float32"), np.array([1e6], np.float32))
    rounded, unit = scoring_linear(step, step.sums(values_of(given)), given, "int8", own_units=False)
    assert rounded.run(given.rows)[0, 0] * unit[0] == pytest.approx(1e6, rel=1e-6)


@pytest.mark.parametrize(("bias", "name"), [([0, 0], None), ([-(2**15), 2**15 - 1], "int16"), ([0, 2**15], "int32")])
def test_narrowest_bias(bias, name):
    found = narrowest_bias(np.array(bias))
    assert (found if found is None else found.dtype.name) == name


@pytest.mark.parametrize("decay", [1e-6, 1e-4, 3e-3])
@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_the_table_is_the_gaussian(decay, scale):
    most = 12 * 255**2
    kernel = gaussian_table(decay, scale, most)
    D = np.unique(np.rint(np.geomspace(1, most, 4000)))
    # the table's meaning: straight lines between its entries, 0 behind the last
    ends = np.arange(len(kernel.table)) * 2.0**kernel.shift
    found = np.where(ends[-1] <= D, 0, np.interp(D, ends, kernel.table.astype(float)))
    wanted = np.minimum(255 * scale * np.exp(-decay * D), 255)
    chord = wanted.max() * (decay * 2**kernel.shift) ** 2 / 8  # how far an exponential sags under a straight line
    corner = 255 * decay * 2**kernel.shift / 2 if scale > 1 else 0  # where it leaves 255
    assert np.abs(found - wanted).max() < 1 + chord + corner
    assert decay * 2**kernel.shift < 0.4 or kernel.shift == 8


def test_distances_keep_their_order():
    given = given_bytes()
    even = Stored(given.signal, given.rows, np.full(12, 0.5), np.full(12, -30.0))
    values = values_of(even)
    points = np.random.default_rng(3).normal(30, 10, (9, 12))
    step = Distance(Matrix.pack(points, "float32", "dense"))
    rounded, _, sq_unit = rounded_distance(step, values, even, "int8")
    assert sq_unit == pytest.approx(0.25)
    plain = ((values[:, None, :] - points[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(rounded.run(even.rows) * sq_unit, plain, rtol=0.05)
    assert (rounded.run(even.rows).argmin(axis=1) == plain.argmin(axis=1)).mean() > 0.98


def test_what_the_bytes_of_an_input_stand_for():
    rows = np.random.default_rng(0).normal(5, 2, (200, 2)).astype(np.float32)
    original = Input(
        "float32", 2, output="float32", offset=np.array([5, 4], np.float32), multiplier=np.array([0.5, -2], np.float32)
    )
    found = stored(Input("float32", 2, base=4), original, rows, weighed=True)
    wanted = (rows.astype(float) - [5, 4]) * [0.5, -2]
    seen = (rows > 0).all(axis=1) & (rows < 15.9).all(axis=1)
    np.testing.assert_allclose(values_of(found)[seen], wanted[seen], atol=2 / 32 + 1e-6)  # half a byte of 1/16, times 2


@pytest.mark.parametrize(
    ("low", "high", "start", "shift"),
    [(0, 15, 0, 0), (0, 30, 0, 1), (100, 115, 100, 0), (7, 127, 7, 3), (0, 240, 0, 4)],
)
def testint4_grid_covers_what_is_used(low, high, start, shift):
    step = 1 << shift
    used = np.arange(low, high + 1, step)
    assert int4_grid(np.column_stack([used, np.full(len(used), 255)])) == (start, shift)  # all agree on the 255


def testint4_grid_by_brute_force():
    points = np.random.default_rng(0).normal(90, 14, (40, 5)).clip(0, 255).round()

    def loss(start, shift):
        levels = start + (np.arange(16) << shift)
        return (np.abs(points[..., None] - levels).min(axis=-1) ** 2).sum()

    grids = [(start, shift) for shift in range(5) for start in range(256 - (15 << shift))]
    assert loss(*int4_grid(points)) == min(loss(*grid) for grid in grids)
