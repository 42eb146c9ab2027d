"""Input: what becomes of raw numbers of every type, and what it refuses."""

import numpy as np
import pytest

from smidgen.errors import DataError, ProgramError
from smidgen.program import Input
from tests.program.random_programs import random_input


def i16(*values):
    return np.array(values, np.int16)


def u8(*values):
    return np.array(values, np.uint8)


def f32(*values):
    return np.array(values, np.float32)


def bounds(step):
    span = step.check(None).range
    return list(zip(span.low.tolist(), span.high.tolist(), strict=True))


def test_identity_is_no_copy_and_no_code():
    step = Input("uint8", 3)
    assert not step.copies
    assert step.constants() == {}
    assert step.run([[0, 7, 255]]).tolist() == [[0, 7, 255]]
    assert bounds(step) == [(0, 255)] * 3
    assert step.describe() == "3 uint8 taken as they are"


def test_a_trusted_range_narrows_the_proof_and_refuses_rows_outside():
    step = Input("uint8", 2, trusted_range=(3, 16))
    assert not step.copies
    assert bounds(step) == [(3, 16)] * 2
    assert step.run([[3, 16]]).tolist() == [[3, 16]]
    assert step.describe() == "2 uint8 taken as they are, trusted in 3..16"
    for row in ([3, 17], [2, 16], [3, 300], [-1, 3]):
        with pytest.raises(DataError, match=r"row 1, feature [01] of X is -?\d+; the Program trusts in 3..16"):
            step.run([[3, 3], row])


@pytest.mark.parametrize(
    ("options", "row", "expected"),
    [
        ({"offset": -5}, [-6, -5, 0, 250, 251], [0, 0, 5, 255, 255]),
        ({"shift": 3}, [-1, 7, 8, 2047, 2048], [0, 0, 1, 255, 255]),
        ({"offset": 100, "shift": 2}, [99, 103, 104, 1123, 32_767], [0, 0, 1, 255, 255]),
        ({"offset": i16(-32_768, 0, 1, 2, 32_767)}, [-32_767, 9, 9, 9, 32_767], [1, 9, 8, 7, 0]),
        ({"shift": u8(0, 1, 4, 8, 15)}, [9, 9, 90, 32_767, 32_767], [9, 4, 5, 127, 0]),
        ({"offset": -3, "multiplier": u8(1, 2, 255, 0, 255), "shift": 8}, [600, 600, 0, 9, 254], [2, 4, 2, 0, 255]),
        # the widest product: 65,535 * 255 is far within int32
        ({"offset": i16(*[-32_768] * 5), "multiplier": u8(*[255] * 5), "shift": 15}, [32_767] * 5, [255] * 5),
    ],
)
def test_integers_by_hand(options, row, expected):
    assert Input("int16", 5, **options).run([row]).tolist() == [expected]


def test_numbers_become_what_the_sensor_gives():
    """Rounded half to even and clipped to the type: the rows that Python sees need not have the sensor's type."""
    step = Input("int8", 4, offset=-128)
    assert step.run([[0.5, 1.5, 300.0, -1e9]]).tolist() == [[128, 130, 255, 0]]
    assert step.run(np.array([[1, 1, 0, 1]], bool)).tolist() == [[129, 129, 128, 129]]
    assert step.run(np.array([[2**63, 0, 0, 0]], np.uint64)).tolist() == [[255, 128, 128, 128]]
    assert Input("uint8", 1).run([[np.inf]]).tolist() == [[255]]


@pytest.mark.parametrize(
    ("options", "x", "byte"),
    [
        ({}, 1.999, 1),
        ({}, -1e-30, 0),
        ({}, 255.999, 255),
        ({}, np.inf, 255),
        ({}, -np.inf, 0),
        ({}, 1e300, 255),  # infinite in float32
        ({"base": -4}, 16.0, 1),
        ({"base": -4}, 15.999999, 0),
        ({"base": 4}, 1.0625, 17),
        ({"base": 2, "shift": u8(3)}, 1.0, 32),
        ({"offset": 0.1}, 1.1, 1),  # in float32, 1.1 - 0.1 is 1.0 and not 0.99..
        ({"offset": f32(-2.5), "base": 1}, 10.0, 25),
        ({"multiplier": u8(10)}, 0.1, 1),  # float32(0.1) * 10 rounds to 1
        ({"multiplier": u8(10)}, 0.7, 7),  # float32(0.7) * 10 is 6.9999999, which float32 rounds to 7
        ({"multiplier": u8(3), "base": -1}, 3.0, 4),
        ({"base": 112, "shift": 15}, 1e-38, 1),  # 2^127 is the last power of two
        ({"offset": 1.0}, 1.0 + 2**-30, 0),  # cast to float32 first, then subtracted
    ],
)
def test_float32_sensors_by_hand(options, x, byte):
    assert Input("float32", 1, **options).run([[x]]).tolist() == [[byte]]


def test_float32_programs_subtract_first_then_multiply():
    step = Input("float32", 2, "float32", offset=f32(1, 2), multiplier=f32(0.5, 3))
    assert step.run([[3.0, 1.0]]).tolist() == [[1.0, -3.0]]
    assert step.run([[3.0, 1.0]]).dtype == np.float64
    assert not Input("float32", 2, "float32").copies
    assert Input("int16", 2, "float32").copies


def test_a_missing_marker_is_tested_before_anything_else():
    step = Input("int16", 3, offset=-500, shift=2, missing=-999, fill=u8(7, 8, 9))
    assert step.run([[-999, 0, -999]]).tolist() == [[7, 125, 9]]
    assert step.run([[np.nan, -500.0, -999.0]]).tolist() == [[7, 0, 9]]  # NaN in Python is missing as well
    step = Input("float32", 2, missing="nan", fill=u8(7, 200))
    assert step.run([[np.nan, np.nan], [1, 2]]).tolist() == [[7, 200], [1, 2]]
    step = Input("float32", 1, "float32", offset=5.0, missing="nan", fill=f32(-1.5))
    assert step.run([[np.nan], [7.0]]).tolist() == [[-1.5], [2.0]]


def test_a_fill_outside_the_scaled_range_widens_the_proof():
    step = Input("int8", 1, shift=4, missing=0, fill=u8(200))
    assert bounds(step) == [(0, 200)]


def test_missing_values_that_nobody_declared_are_refused():
    for step in (Input("uint8", 2), Input("float32", 2), Input("float32", 2, "float32")):
        with pytest.raises(DataError, match="row 1, feature 0 of X is missing"):
            step.run([[1.0, 2.0], [np.nan, 1.0]])
        with pytest.raises(DataError, match="row 41, feature 0"):
            step.run([[1.0, 2.0], [np.nan, 1.0]], first_row=40)


def test_infinities_have_no_place_in_float32_programs():
    step = Input("float32", 2, "float32")
    for huge in (np.inf, -np.inf, 1e39):
        with pytest.raises(DataError, match="row 0, feature 1 of X is infinite"):
            step.run([[0.0, huge]])


def test_codes_become_one_hot():
    step = Input("int16", 3, offset=i16(10, 0, -1), codes=u8(3, 0, 2), hot=64, shift=1)
    assert step.width == 6
    assert bounds(step) == [(0, 64)] * 3 + [(0, 255)] + [(0, 64)] * 2
    rows = [[10, 9, -1], [12, 9, 0], [13, 600, 1], [9, 0, -2]]
    assert step.run(rows).tolist() == [
        [64, 0, 0, 4, 64, 0],
        [0, 0, 64, 4, 0, 64],
        [0, 0, 0, 255, 0, 0],
        [0, 0, 0, 0, 0, 0],
    ]


def test_float_codes_must_be_whole_and_missing_ones_are_unknown():
    step = Input("float32", 2, codes=u8(2, 0), hot=8, missing="nan", fill=u8(0, 33))
    rows = [[1, 5], [0.5, 5], [np.nan, np.nan], [np.inf, 5], [-1, 5], [2, 5]]
    expected = [[0, 8, 5], [0, 0, 5], [0, 0, 33], [0, 0, 5], [0, 0, 5], [0, 0, 5]]
    assert step.run(rows).tolist() == expected


def test_the_proven_bounds_are_reached():
    """Both ends of every output are hit by some row of the sensor's extremes, so the proof is as tight as can be."""
    for seed in range(60):
        step = random_input(np.random.default_rng(seed))
        if step.codes is not None or step.missing is not None or step.raw == "float32":
            continue
        ends = step.trusted_range or {"uint8": (0, 255), "int8": (-128, 127), "int16": (-(2**15), 2**15 - 1)}[step.raw]
        got = step.run(np.array([[end] * step.n_features for end in ends]))
        assert bounds(step) == list(zip(*got.astype(int).tolist(), strict=True))


def test_the_cost_counts_arrays_and_nothing_else():
    step = Input("int16", 5, offset=7, shift=3)
    assert step.constants() == {}
    step = Input("int16", 5, offset=i16(1, 2, 3, 4, 5), shift=u8(1, 2, 3, 4, 5), multiplier=u8(9, 9, 9, 9, 9))
    assert {name: part.nbytes for name, part in step.constants().items()} == {"offset": 10, "multiplier": 5, "shift": 3}
    assert step.constants()["shift"].tolist() == [0x21, 0x43, 0x05]  # low nibble first, padding 0
    step = Input("float32", 2, offset=f32(1, 2), codes=u8(3, 0), missing="nan", fill=u8(0, 1))
    assert {name: part.nbytes for name, part in step.constants().items()} == {"offset": 8, "fill": 2, "codes": 2}
    assert step.multiply_accumulates() == 0


def test_describe_names_what_is_done():
    step = Input("float32", 2, offset=f32(1, 2), base=-3, codes=u8(3, 0), missing="nan", fill=u8(0, 1))
    assert step.describe() == "2 float32, an offset a feature, times 2^-3, missing (nan) filled, 1 one-hot"
    assert Input("int16", 2, offset=-5, shift=3).describe() == "2 int16, offset -5, shift 3"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"raw": "int32"}, "raw type is 'int32'"),
        ({"raw": "uint8", "n_features": 0}, "number of features is 0"),
        ({"raw": "uint8", "n_features": 65_536}, "number of features is 65536"),
        ({"raw": "uint8", "n_features": True}, "number of features is True"),
        ({"raw": "uint8", "output": "int16"}, "output is 'int16'"),
        ({"raw": "int8", "trusted_range": (0, 5)}, "trusted range belongs to uint8"),
        ({"raw": "uint8", "trusted_range": (0, 5), "shift": 1}, "trusted range belongs to"),
        ({"raw": "uint8", "trusted_range": (0, 5), "missing": 9, "fill": u8(1, 2)}, "trusted range belongs to"),
        ({"raw": "uint8", "trusted_range": (5, 4)}, "high end of the trusted range is 4"),
        ({"raw": "uint8", "trusted_range": (0, 256)}, "high end of the trusted range is 256"),
        ({"raw": "uint8", "trusted_range": (1,)}, "is a pair"),
        ({"raw": "int16", "offset": 32_768}, "offset is 32768"),
        ({"raw": "int16", "offset": 0.5}, "offset is 0.5"),
        ({"raw": "int16", "offset": [1, 2]}, "offset is"),
        ({"raw": "int16", "offset": i16(1, 2, 3)}, "offset has 3 entries where 2 are needed"),
        ({"raw": "int16", "offset": np.zeros(2, np.int32)}, "offset has dtype int32"),
        ({"raw": "float32", "offset": np.zeros(2)}, "offset has dtype float64"),
        ({"raw": "float32", "offset": f32(0, np.nan)}, "offset has an entry that is not a finite number"),
        ({"raw": "float32", "offset": np.inf}, "offset is inf"),
        ({"raw": "int16", "shift": 16}, "shift is 16"),
        ({"raw": "int16", "shift": u8(1, 16)}, "a shift is 16"),
        ({"raw": "int16", "shift": -1}, "shift is -1"),
        ({"raw": "int16", "base": 1}, "a base exponent belongs to float32 sensors"),
        ({"raw": "float32", "base": 127}, "base exponent is 127"),
        ({"raw": "float32", "base": 113, "shift": 15}, "a factor m .* float32 cannot hold"),
        ({"raw": "float32", "base": 126, "multiplier": u8(1, 4)}, "a factor m .* float32 cannot hold"),
        ({"raw": "float32", "multiplier": u8(0, 1)}, "multiplier of float32 sensors is 0"),
        ({"raw": "uint8", "multiplier": 2}, "a multiplier that is no array"),
        ({"raw": "float32", "output": "float32", "shift": 1}, "has no shift"),
        ({"raw": "float32", "output": "float32", "shift": u8(1, 1)}, "has no shift"),
        ({"raw": "float32", "output": "float32", "base": 1}, "a base exponent belongs to"),
        ({"raw": "uint8", "fill": u8(1, 2)}, "needs a missing marker"),
        ({"raw": "uint8", "missing": 255}, "the fill must be an array"),
        ({"raw": "uint8", "missing": 256, "fill": u8(1, 2)}, "missing marker is 256"),
        ({"raw": "uint8", "missing": "nan", "fill": u8(1, 2)}, "missing marker is 'nan'"),
        ({"raw": "float32", "missing": -999, "fill": u8(1, 2)}, "mark a missing value by NaN"),
        ({"raw": "uint8", "codes": u8(0, 0)}, "should have no codes at all"),
        ({"raw": "uint8", "codes": u8(2, 0), "hot": 3}, "power of two"),
        ({"raw": "uint8", "codes": u8(2, 0), "hot": 256}, "one-hot value is 256"),
        ({"raw": "uint8", "hot": 2}, "needs codes"),
        ({"raw": "uint8", "codes": u8(2, 0), "missing": 0, "fill": u8(1, 0)}, "fill must be 0"),
    ],
)
def test_constants_out_of_place_are_refused(options, sentence):
    with pytest.raises(ProgramError, match=sentence):
        Input(**{"n_features": 2, **options})


def test_one_hot_outputs_have_an_end():
    with pytest.raises(ProgramError, match="at most 65,535 fit"):
        Input("uint8", 258, codes=np.full(258, 255, np.uint8))


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ([[1, 2, 3]], "takes rows of 2 numbers"),
        ([1, 2], "takes rows of 2 numbers"),
        ([["a", "b"]], "takes numbers"),
        (np.zeros((1, 2), complex), "takes numbers"),
        (np.zeros((1, 2), object), "takes numbers"),
        (np.zeros((1, 2), "datetime64[s]"), "takes numbers"),
    ],
)
def test_rows_that_are_no_rows_are_refused(X, sentence):
    with pytest.raises(DataError, match=sentence):
        Input("uint8", 2).run(X)
