import logging
from dataclasses import replace

import numpy as np
import pytest

from smidgen import quantise
from smidgen.errors import AgreementError, DataError, ProgramError
from smidgen.program import Decide, Distance, GroupReduce, Input, Linear, Matrix, Program
from smidgen.program.quantise import agreeing
from tests.program.float_programs import FAMILIES, N_FEATURES, float_program, labelled_rows, linear, rows_of, scales
from tests.program.random_programs import random_program, random_rows


def plain_input(n, **options):
    return Input("float32", n, output="float32", **options)


def small(decide="argmax", rows=3, seed=0):
    """A linear Program of four features."""
    rng = np.random.default_rng(seed)
    return Program((plain_input(4), linear(rng.normal(size=(rows, 4)), 0.3 * rng.normal(size=rows)), Decide(decide)))


def normal_rows(n=600, seed=1, width=4):
    return np.random.default_rng(seed).normal(size=(n, width))


# Every family, over features of all scales, far from zero.


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", [0, 1])
def test_scales_of_six_decades_and_far_offsets_cost_less_than_one_in_a_hundred(family, seed):
    rng = np.random.default_rng(seed)
    scale, offset = scales(rng)
    program = float_program(family, rng, offset, scale)
    X, X_test = (rows_of(rng, n) * scale + offset for n in (1000, 2000))
    quantised = quantise(program, X)
    integer = quantised.program
    assert integer.arithmetic == "integer"
    assert [type(step) for step in integer.steps] == [type(step) for step in program.steps]
    same = integer.predict(X_test) == program.predict(X_test)
    assert same.mean() >= 0.99
    assert quantised.n_rows == 250
    assert quantised.agreement >= 0.99


@pytest.mark.parametrize("family", ["linear", "binary", "smp", "sparsenet", "protonn", "bnc"])
def test_the_same_of_a_model_of_raw_rows_without_a_scaler(family):
    """The scales are in the weights here: they must not reach the weights' grid."""
    rng = np.random.default_rng(0)
    scale, offset = scales(rng)
    scaled = float_program(family, rng, offset, scale)
    first = scaled.steps[1]
    weights = first.weights.values.astype(np.float64) / scale
    bias = (0 if first.bias is None else first.bias) - weights @ offset
    program = Program((plain_input(N_FEATURES), linear(weights, bias, first.activation), *scaled.steps[2:]))
    X, X_test = (rows_of(rng, n) * scale + offset for n in (1000, 2000))
    integer = quantise(program, X).program
    assert (integer.predict(X_test) == program.predict(X_test)).mean() >= 0.99


@pytest.mark.parametrize("family", ["linear", "sparsenet", "protonn", "prototypes", "rbf"])
@pytest.mark.parametrize("raw", ["uint8", "int8", "int16"])
def test_integer_sensors(family, raw):
    rng = np.random.default_rng(0)
    scale = {"uint8": 30.0, "int8": 20.0, "int16": np.geomspace(20, 300, N_FEATURES)}[raw] * np.ones(N_FEATURES)
    offset = {"uint8": 120.0, "int8": -5.0, "int16": scale * rng.uniform(-90, 90, N_FEATURES)}[raw] * np.ones(
        N_FEATURES
    )
    program = float_program(family, rng, offset, scale)
    X, X_test = (np.rint(rows_of(rng, n) * scale + offset) for n in (1000, 2000))
    integer = quantise(
        program, np.clip(X, *((0, 255) if raw == "uint8" else (-128, 127) if raw == "int8" else (-4e4, 4e4)))
    ).program
    assert integer.input.raw == raw
    assert (integer.predict(X_test) == program.predict(X_test)).mean() >= 0.99


@pytest.mark.parametrize("family", ["binary", "amm", "smp", "rbf", "prototypes"])
def test_int4_is_smaller_and_nearly_as_good(family):
    rng = np.random.default_rng(0)
    scale, offset = scales(rng)
    program = float_program(family, rng, offset, scale)
    X, X_test = (rows_of(rng, n) * scale + offset for n in (1000, 2000))
    eight, four = (quantise(program, X, weight_format=each).program for each in ("int8", "int4"))
    assert four.cost().model_bytes < eight.cost().model_bytes
    assert (four.predict(X_test) == program.predict(X_test)).mean() >= 0.985


# Tasks.


def test_regression_agrees_within_two_hundredths_of_the_deviation():
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2, (2, 4)) * [[1], [1000]]
    program = Program((plain_input(4), linear(weights, np.array([5.0, -2000])), Decide("value")))
    rows = np.random.default_rng(1).uniform(-100, 100, (2600, 4))
    X, quantised = rows[:2000], quantise(program, rows[2000:])
    exact = X @ weights.T + [5.0, -2000]
    error = np.abs(quantised.program.predict(X) - exact) / exact.std(axis=0)
    assert (error <= 0.02).all(axis=1).mean() >= 0.99
    scale = quantised.program.decide.scale
    assert scale[1] > 100 * scale[0]  # each output has its own unit


@pytest.mark.parametrize("kind", ["labels", "best"])
def test_labels(kind):
    rng = np.random.default_rng(0)
    ending = Decide("best", k=2) if kind == "best" else Decide("labels")
    program = Program((plain_input(4), linear(rng.normal(size=(3, 4)), rng.normal(size=3)), ending))
    quantised = quantise(program, normal_rows(2000))
    X = normal_rows(2000, seed=5)
    assert (quantised.program.predict(X) == program.predict(X)).all(axis=1).mean() >= 0.985


def test_a_floor_is_kept_in_the_units_of_the_accumulators():
    weights = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0]])
    program = Program(
        (plain_input(4), linear(weights), GroupReduce(np.array([1, 1, 0], np.uint8), "max", 0.5), Decide("argmax"))
    )
    integer = quantise(program, normal_rows(2000)).program
    X = np.array([[0.4, 0.3, 0, 0], [0.6, 0.1, 0, 0], [0.2, 0.9, 0, 0]])
    assert integer.predict(X).tolist() == [0, 0, 1]  # below the floor all tie, and the first class wins
    score = integer.scores(X)
    assert score[0].tolist() == [score[0, 2]] * 3
    assert score[1, 0] / score[1, 2] == pytest.approx(1.2, abs=0.05)


# What is returned, and what is refused.


def test_agreement_is_the_share_of_equal_answers_on_the_rows_given():
    program, X_test = small(), normal_rows(333, seed=7)
    quantised = quantise(program, normal_rows(), held_out=X_test, weight_format="int4", tolerance=1)
    expected = np.argmax(X_test.astype(np.float32) @ program.steps[1].weights.values.T + program.steps[1].bias, axis=1)
    found = quantised.program.predict(X_test)
    assert quantised.n_rows == 333
    assert quantised.agreement == np.mean(expected == found) < 1


def test_held_out_rows_have_no_part_in_the_program():
    rows = normal_rows()
    one = quantise(small(), rows, held_out=normal_rows(50, seed=3), tolerance=1)
    other = quantise(small(), rows, held_out=9 * normal_rows(60, seed=4), tolerance=1)
    assert one.program.hash == other.program.hash
    # those taken from the calibration rows neither: far outliers among them would widen every range
    order = np.random.default_rng(0).permutation(len(rows))
    spoilt = rows.copy()
    spoilt[order[:150]] *= 1000
    assert quantise(small(), spoilt, tolerance=1).program.hash == quantise(small(), rows, tolerance=1).program.hash


def test_the_same_rows_give_the_same_bytes():
    one, other = (quantise(small(), normal_rows(), tolerance=1).program for _ in range(2))
    assert one.hash == other.hash


def test_too_little_agreement_is_refused_with_both_numbers():
    """Calibration rows that show a tenth of what comes."""
    program = small()
    held_out = normal_rows(200, seed=3)
    calibration = held_out / 10
    message = r"agrees with the float32 one on \d\d\.\d\d % of 200 held-out rows, less than the 99\.00 % asked for"
    with pytest.raises(AgreementError, match=message):
        quantise(program, calibration, held_out=held_out)
    quantised = quantise(program, calibration, held_out=held_out, tolerance=0.9)
    assert 0.1 <= quantised.agreement < 0.99


def test_integer_programs_pass_through():
    program = random_program(np.random.default_rng(0), "protonn")
    quantised = quantise(program, random_rows(np.random.default_rng(1), program, 20))
    assert quantised.program is program
    assert (quantised.agreement, quantised.n_rows) == (1.0, 0)


def test_the_agreement_is_logged(caplog):
    with caplog.at_level(logging.INFO, logger="smidgen"):
        quantise(small(), normal_rows(), tolerance=1)
    assert "of 150 held-out rows" in caplog.text


def test_names_are_kept():
    program = replace(small(), classes=("a", "b", "c"), feature_names=("w", "x", "y", "z"))
    integer = quantise(program, normal_rows(), tolerance=1).program
    assert (integer.classes, integer.feature_names) == (program.classes, program.feature_names)


def test_raw_types():
    X = np.rint(30 * normal_rows() + 100).clip(0, 255)
    assert quantise(small(), X).program.input.raw == "uint8"
    assert quantise(small(), X - 128, tolerance=1).program.input.raw == "int8"
    assert quantise(small(), X * 2, tolerance=1).program.input.raw == "int16"
    assert quantise(small(), X + 0.5).program.input.raw == "float32"
    assert quantise(small(), X, raw="int16").program.input.raw == "int16"
    named = replace(small(), steps=(Input("int16", 4, output="float32"), *small().steps[1:]))
    assert quantise(named, X).program.input.raw == "int16"  # the Program knows its sensors


def test_missing_values_are_filled():
    rng = np.random.default_rng(0)
    fill = np.array([0.5, -1, 0, 2], np.float32)
    program = Program(
        (
            plain_input(4, missing="nan", fill=fill),
            linear(rng.normal(size=(3, 4)), rng.normal(size=3)),
            Decide("argmax"),
        )
    )
    X = normal_rows(2000)
    X[rng.random(X.shape) < 0.1] = np.nan
    integer = quantise(program, X).program
    assert integer.input.missing == "nan"
    assert (integer.predict(X) == program.predict(X)).mean() > 0.99
    with pytest.raises(ProgramError, match="marked by NaN, which float32 sensors give and int16 do not"):
        quantise(program, np.rint(np.nan_to_num(X)), raw="int16")


def test_one_hot_codes():
    rng = np.random.default_rng(0)
    codes = np.array([0, 3, 0], np.uint8)
    first = Input("int16", 3, output="float32", codes=codes, offset=np.array([0, 7, 0], np.int16))
    program = Program((first, linear(rng.normal(size=(3, 5)) * [0.01, 1, 1, 1, 0.01]), Decide("argmax")))
    X = np.column_stack([rng.normal(0, 300, 2000), rng.integers(7, 10, 2000), rng.normal(500, 100, 2000)]).round()
    integer = quantise(program, X).program
    assert integer.input.codes.tolist() == [0, 3, 0]
    assert (integer.predict(X) == program.predict(X)).mean() > 0.99


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"weight_format": "float32"}, ProgramError, "the format of quantised weights is 'float32'"),
        ({"raw": "int32"}, ProgramError, "the raw type is 'int32'"),
        ({"tolerance": 5}, ProgramError, "the tolerance is 5; it must be a share"),
        ({"held_out": np.zeros((0, 4))}, DataError, "held_out has no rows"),
        ({"held_out": np.zeros((9, 3))}, DataError, "rows of 4 numbers"),
        ({"calibration": np.zeros((7, 4))}, DataError, "there are 7 calibration rows: quantising takes 8 at least"),
        ({"calibration": np.zeros((9, 3))}, DataError, "rows of 4 numbers"),
        ({"calibration": np.full((20, 4), np.nan)}, DataError, "is missing"),
        ({"calibration": np.full((20, 4), np.inf)}, DataError, "is infinite"),
        ({"calibration": np.full((20, 4), "x")}, DataError, "takes numbers"),
    ],
)
def test_what_makes_no_sense_is_refused(options, error, message):
    calibration = options.pop("calibration", None)
    with pytest.raises(error, match=message):
        quantise(small(), normal_rows() if calibration is None else calibration, **options)


def test_distances_without_a_gaussian_feed_no_linear():
    points = Matrix.pack(normal_rows(3), "float32", "dense")
    program = Program((plain_input(4), Distance(points), linear(np.ones((2, 3))), Decide("argmax")))
    with pytest.raises(ProgramError, match="step 1: in integers only GroupReduce and Decide take distances without"):
        quantise(program, normal_rows())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("value", [0.0, -7.0, 0.25])
def test_rows_that_never_vary_make_a_sound_program(family, value):
    rng = np.random.default_rng(0)
    program = float_program(family, rng, np.zeros(N_FEATURES), np.ones(N_FEATURES))
    rows = np.full((20, N_FEATURES), value)
    quantised = quantise(program, rows, tolerance=1)
    assert quantised.program.arithmetic == "integer"


def test_sparse_rows_and_sparse_weights_stay_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 100)) * (rng.random((400, 100)) < 0.1)
    weights = rng.normal(size=(3, 100)) * (rng.random((3, 100)) < 0.2)
    program = Program((plain_input(100), linear(weights), Decide("argmax")))
    assert isinstance(program.steps[1], Linear)
    integer = quantise(program, sparse.csr_matrix(X), tolerance=0.05).program
    assert not integer.steps[1].weights.values[weights == 0].any()
    assert integer.steps[1].weights.storage != "dense"


def test_labelled_rows_are_what_the_families_are_fitted_to():
    rng = np.random.default_rng(0)
    Z, which = labelled_rows(rng, 500)
    program = float_program("linear", rng, np.zeros(N_FEATURES), np.ones(N_FEATURES))
    assert (program.predict(Z) == which % 4).mean() > 0.9


def test_more_columns_than_errors_are_fed_back_over():
    rng = np.random.default_rng(0)
    X = np.rint(rng.normal(100, 30, (300, 1100))).clip(0, 255)
    program = Program((plain_input(1100), linear(rng.normal(size=(2, 1100))), Decide("argmax")))
    assert quantise(program, X, tolerance=0.05).program.input.raw == "uint8"


def test_agreeing_by_the_rule_of_the_task():
    assert agreeing("classification", np.array(["a", "b", "a", "b"]), np.array(["a", "b", "b", "b"])) == 0.75
    assert agreeing("multilabel", np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]])) == 0.5
    values = np.array([[-1.0, 50], [1, 250]])  # deviations of 1 and 100
    assert agreeing("regression", values, values + np.array([0.019, -1.9])) == 1
    assert agreeing("regression", values, values + np.array([[0.021, 0], [0, 0]])) == 0.5
