"""Linear: sums, their proof, and what is made of them."""

import numpy as np
import pytest

from smidgen.errors import ProgramError
from smidgen.program import Input, Linear, Matrix, Rescale
from smidgen.program.signal import Interval, Signal, bits_signal
from tests.program.random_programs import random_matrix

BYTE = Input("uint8", 1).check(None)


def signal(low, high):
    low, high = np.asarray(low, np.int64), np.asarray(high, np.int64)
    return Signal("bytes", len(low), Interval(low, high))


def column(*weights):
    return Matrix.pack([[weight] for weight in weights], "int8", "dense")


def i32(*values):
    return np.array(values, np.int32)


def test_sums_by_hand():
    step = Linear(Matrix.pack([[1, -2], [0, 3]], "int4"), np.array([5, -7], np.int16))
    assert step.run(np.array([[10.0, 20.0], [0.0, 255.0]])).tolist() == [[-25, 53], [-505, 758]]
    sums = step.check(signal([0, 0], [255, 255])).range
    assert sums.low.tolist() == [-505, -7]
    assert sums.high.tolist() == [260, 758]


def test_bits_mean_plus_and_minus_one():
    step = Linear(Matrix.pack([[1, 0, 1], [0, 0, 0]], "bits"))
    assert step.run(np.array([[1.0, 20.0, 100.0]])).tolist() == [[81, -121]]
    assert step.accumulators(signal([0, 5, 0], [255, 9, 1])).low.tolist() == [-9, -265]


def test_relu_and_none_rescale_around_their_zeros():
    relu = Linear(column(1, -1), None, "relu", Rescale(3, 2, 0, 99))
    assert relu.run(np.array([[0.0], [10.0], [255.0]])).tolist() == [[0, 0], [7, 0], [99, 0]]  # -30 >> 2 = -8
    plain = Linear(column(1, -1), None, "none", Rescale(3, 2))
    assert plain.run(np.array([[0.0], [10.0], [255.0]])).tolist() == [[128, 128], [135, 120], [255, 0]]
    assert plain.check(BYTE).range.low.tolist() == [128, 0]
    assert plain.check(BYTE).range.high.tolist() == [255, 128]


def test_a_multiplier_a_row():
    step = Linear(column(1, 1), None, "relu", Rescale(np.array([1, 200], np.uint8), 8))
    assert step.run(np.array([[200.0]])).tolist() == [[0, 156]]
    assert step.constants()["multiplier"].tolist() == [1, 200]


def test_zero_is_a_sign_bit_of_one():
    step = Linear(column(1, 1, 1), np.array([-6, -5, -4], np.int16), "sign")
    assert step.run(np.array([[5.0]])).tolist() == [[0, 1, 1]]
    assert step.check(BYTE).kind == "bits"


def test_the_proven_bounds_are_reached_by_some_input():
    """Each row's extremes are sums of actual inputs: where the weight is positive the high end, else the low one."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        width = int(rng.integers(1, 300))
        ends = np.sort(rng.integers(0, 256, (2, width)), axis=0)
        incoming = signal(*ends)
        step = Linear(random_matrix(rng, 4, width), i32(*rng.integers(-(10**6), 10**6, 4)))
        proven = step.accumulators(incoming)
        weights = step.weights.values * (2 if step.weights.format == "bits" else 1)
        weights = weights - (1 if step.weights.format == "bits" else 0)
        for row in range(4):
            least = step.run(np.where(weights[row] > 0, ends[0], ends[1])[None, :].astype(float))[0, row]
            most = step.run(np.where(weights[row] > 0, ends[1], ends[0])[None, :].astype(float))[0, row]
            assert (least, most) == (proven.low[row], proven.high[row])


@pytest.mark.parametrize("activation", ["none", "sign"])
def test_the_last_sum_that_fits_32_bits(activation):
    for good in (2**31 - 1 - 255, -(2**31)):
        Linear(column(1), i32(good), activation).check(BYTE)
    with pytest.raises(ProgramError, match="Linear's sum can reach 2147483648, which no 32-bit accumulator holds"):
        Linear(column(1), i32(2**31 - 255), activation).check(BYTE)
    with pytest.raises(ProgramError, match="Linear's sum can reach -2147483649"):
        Linear(column(-1), i32(-(2**31) + 254), activation).check(BYTE)


def test_sums_may_wrap_on_the_way_as_long_as_results_fit():
    # each partial sum with the bias leaves 16 bits, no result does
    step = Linear(Matrix.pack([[127, -128]], "int8"), np.array([32_000], np.int16))
    sums = step.accumulators(signal([200, 255], [200, 255]))
    assert (sums.low[0], sums.high[0]) == (24_760, 24_760)
    assert sums.bits("it") == 16


def test_pre_must_bring_every_sum_into_int16():
    incoming = signal([0], [255])
    for bias, pre in ((32_767 - 255, 0), (32_768 - 255, 1), (65_535 - 255, 1), (65_536 - 255, 2)):
        for shift in range(4):
            step = Linear(column(1), i32(bias), "none", Rescale(1, 0, shift))
            if shift >= pre:
                step.check(incoming)
                continue
            with pytest.raises(ProgramError, match=f"shifted by pre = {shift} leave int16; use a larger pre"):
                step.check(incoming)
    Linear(column(-1), i32(-32_768 + 255), "none", Rescale(1, 0)).check(incoming)
    with pytest.raises(ProgramError, match="leave int16"):
        Linear(column(-1), i32(-32_769 + 255), "none", Rescale(1, 0)).check(incoming)


def test_sums_stay_exact_where_float32_ends():
    """One row's |terms| just below and just above 2^24: the float changes, the integers do not."""
    for bias in (2**24 - 256, 2**24 - 255, 2**24 + 1, 2**30 + 1, -(2**24) - 1):
        step = Linear(column(1), i32(bias))
        sums = step.run(np.arange(256.0)[:, None]).astype(np.int64)
        assert sums[:, 0].tolist() == [x + bias for x in range(256)]


def test_sums_of_many_columns_stay_exact_where_float32_ends():
    step = Linear(Matrix.pack(np.full((1, 600), 127), "int8"))
    row = np.full((1, 600), 255.0)
    row[0, 0] = 254  # the sum is odd and above 2^24
    assert step.run(row).astype(np.int64).tolist() == [[127 * (600 * 255 - 1)]]


def test_the_widest_matrix_fits_32_bits_and_stays_exact():
    weights = np.full((2, 65_535), 127)
    weights[1] = -128
    step = Linear(Matrix.pack(weights, "int8"))
    proven = step.check(signal([0] * 65_535, [255] * 65_535)).range
    assert (proven.low.tolist(), proven.high.tolist()) == ([0, -128 * 255 * 65_535], [127 * 255 * 65_535, 0])
    assert proven.bits("it") == 32
    assert step.run(np.full((1, 65_535), 255.0)).tolist() == [[127 * 255 * 65_535, -128 * 255 * 65_535]]


def test_int16_ends_are_no_special_case():
    step = Linear(column(-128), np.array([-32_768], np.int16))
    assert step.run(np.array([[255.0]])).tolist() == [[-65_408]]
    assert step.accumulators(BYTE).bits("it") == 24


def test_float32_activations():
    weights = Matrix.pack([[1.5, -1.0], [-1.5, 1.0]], "float32")
    values = np.array([[1.0, 0.25], [0.0, 0.0]])
    assert Linear(weights).run(values).tolist() == [[1.25, -1.25], [0, 0]]
    assert Linear(weights, activation="relu").run(values).tolist() == [[1.25, 0], [0, 0]]
    assert Linear(weights, activation="sign").run(values).tolist() == [[1, 0], [1, 1]]
    assert Linear(weights, np.array([1, 2], np.float32)).magnitudes(-values).tolist() == [[2.75, 3.75], [1, 2]]


def test_a_row_without_weights_is_its_bias():
    step = Linear(Matrix.pack([[0, 0], [1, 0]], "int4", "gap4"), np.array([-9, 0], np.int16))
    assert step.run(np.array([[200.0, 3.0]])).tolist() == [[-9, 200]]
    sums = step.check(signal([0, 0], [255, 255])).range
    assert (sums.low.tolist(), sums.high.tolist()) == ([-9, 0], [-9, 255])
    assert Linear(Matrix.pack([[0]], "int8")).check(BYTE).range.high.tolist() == [0]


def test_the_cost():
    step = Linear(Matrix.pack(np.eye(4, 40), "int4", "gap4"), i32(1, 2, 3, 4), "relu", Rescale(1, 0, high=7))
    assert {name: part.nbytes for name, part in step.constants().items()} == {
        "weights.counts": 4,
        "weights.entries": 4,
        "bias": 16,
    }
    assert step.multiply_accumulates() == 4
    assert Linear(Matrix.pack(np.eye(4, 40), "int4", "dense")).multiply_accumulates() == 160


def test_describe():
    step = Linear(Matrix.pack([[1, 2]], "int8"), i32(1), "relu", Rescale(1, 0))
    assert step.describe() == "1 x 2 int8 dense, 2 bytes + int32 bias → relu → bytes"


FLOATS = Matrix.pack([[1.0]], "float32")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Linear([[1]]), "weights must be a Matrix"),
        (lambda: Linear(column(1), activation="tanh"), "activation is 'tanh'"),
        (lambda: Linear(column(1), np.zeros(1, np.int16)), "all zeros; leave it out"),
        (lambda: Linear(column(1), np.ones(1, np.int64)), "bias has dtype int64"),
        (lambda: Linear(column(1), np.ones(1, np.float32)), "bias has dtype float32"),
        (lambda: Linear(FLOATS, np.ones(1, np.int16)), "bias has dtype int16"),
        (lambda: Linear(FLOATS, np.array([np.nan], np.float32)), "not a finite number"),
        (lambda: Linear(column(1), np.ones(2, np.int16)), "bias has 2 entries where 1 are needed"),
        (lambda: Linear(column(1), [1]), "must be an array, not list"),
        (lambda: Linear(column(1), activation="relu"), "relu needs a rescale"),
        (lambda: Linear(column(1), activation="sign", rescale=Rescale(1, 0)), "sign bits are not rescaled"),
        (lambda: Linear(FLOATS, rescale=Rescale(1, 0)), "float32 results are not rescaled"),
        (lambda: Linear(column(1), rescale=3), "rescale must be a Rescale"),
        (lambda: Linear(column(1), rescale=Rescale(np.ones(2, np.uint8), 0)), "has 2 entries where 1"),
        (lambda: Rescale(256, 0), "multiplier is 256"),
        (lambda: Rescale(np.ones(2), 0), "multiplier has dtype float64"),
        (lambda: Rescale(1, 24), "shift after the multiplier is 24"),
        (lambda: Rescale(1, 0, 16), "shift before the multiplier is 16"),
        (lambda: Rescale(1, 0, 0, 0), "high end of the clip is 0"),
        (lambda: Rescale(1, 0, 0, 256), "high end of the clip is 256"),
        (lambda: Linear(column(1)).check(bits_signal(1)), "takes bytes where 1 bit come in"),
        (lambda: Linear(FLOATS).check(BYTE), "takes float32 where 1 byte in 0..255 come in"),
        (lambda: Linear(column(1)).check(signal([0, 0], [1, 1])), "takes 1 values where 2 come in"),
        (lambda: Linear(column(1)).check(None), "where nothing come"),
    ],
)
def test_what_does_not_fit_is_refused(make, sentence):
    with pytest.raises(ProgramError, match=sentence):
        make()
