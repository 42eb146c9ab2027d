"""Hand-made Programs of every family shape and every ending, in both arithmetics, each number worked out by hand."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from smidgen.program import Decide, Distance, Gaussian, GroupReduce, Input, Linear, Matrix, Program, Rescale
from tests.program.reference import run


def u8(*values):
    return np.array(values, np.uint8)


def i16(*values):
    return np.array(values, np.int16)


def f32(*values):
    return np.array(values, np.float32)


def protonn():
    """(10, 4) → sums (6, 4) → 128 + half: (131, 130) → distances 13 and 61^2 + 130^2 → 200 - (100 * 13 >> 8), 0."""
    return Program(
        (
            Input("uint8", 2),
            Linear(Matrix.pack([[1, -1], [0, 1]], "int4"), rescale=Rescale(1, 1)),
            # points (128, 128) and (192, 0)
            Distance(Matrix.pack([[0, 0], [4, -8]], "int4", "dense"), 128, 4, kernel=Gaussian(u8(200, 100, 0), 8)),
            Linear(Matrix.pack([[2, -1], [1, 3]], "int4")),
            Decide("argmax"),
        ),
        classes=("near", "far"),
    )


def sparsenet():
    """(10, 30) → bytes (20, 30) → sums (20, -25, -10) → relu (20, 0, 0) → 60 - 59."""
    return Program(
        (
            Input("int16", 2, offset=i16(-10, 0)),
            Linear(Matrix.pack([[1, 0], [0, -1], [1, 1]], "int8"), i16(0, 5, -60), "relu", Rescale(2, 1)),
            Linear(Matrix.pack([[3, -5, 1]], "int8"), i16(-59)),
            Decide("threshold"),
        ),
        classes=(False, True),
    )


def bnc():
    """(5, 5) → sums (0, 0, -90) → bits 110; (200, 100) → 101; (40, 60) → sums (-20, 20, 0) → 011."""
    return Program(
        (
            Input("uint8", 2),
            Linear(Matrix.pack([[1, -1], [-1, 1], [1, 1]], "int4"), i16(0, 0, -100), "sign"),
            Distance(Matrix.pack([[1, 1, 0], [0, 0, 1], [1, 0, 1]], "bits"), metric="hamming"),
            GroupReduce(u8(1, 2), "min"),
            Decide("argmin"),
        )
    )


def amm():
    """(3, 9, 2) → 3, 7 | -3 | nothing → 7, 0, 0 with the floor; the third class has the floor alone."""
    return Program(
        (
            Input("uint8", 3, trusted_range=(0, 16)),
            Linear(Matrix.pack([[1, 0, 0], [0, 1, -1], [-1, 0, 0]], "int8")),
            GroupReduce(u8(2, 1, 0), "max", floor=0),
            Decide("argmax"),
        ),
        classes=(10, 20, 30),
    )


def smp():
    """(3.0, 1.25) → floor(5.0), floor(4.5) → 8 + 100 | 5, -12."""
    return Program(
        (
            Input("float32", 2, offset=f32(0.5, -1), base=1),
            Linear(Matrix.pack([[0, 2], [1, 0], [0, -3]], "int4", "gap4"), i16(100, 0, 0)),
            GroupReduce(u8(1, 2), "max"),
            Decide("argmax"),
        )
    )


def prototypes():
    """Points (0, 0) | (255, 255), (128, 0); from (128, 1): 128^2 + 1 | 127^2 + 254^2, 1."""
    return Program(
        (
            Input("uint8", 2),
            Distance(Matrix.pack([[-128, -128], [127, 127], [0, -128]], "int8", "dense")),
            GroupReduce(u8(1, 2), "min"),
            Decide("argmin"),
        )
    )


def linear(ending, classes=None):
    """(3, 4) → 3 + 8 + 10, -3 - 1, and (0, 0) → the bias."""
    steps = (Input("uint8", 2), Linear(Matrix.pack([[1, 2], [-1, 0]], "int4"), i16(10, -1)), ending)
    return Program(steps, classes)


LINEAR_ROWS, LINEAR_SCORES = [[3, 4], [0, 0]], [[21, -4], [10, -1]]

# program, rows, scores, predictions, then bytes of constants, bytes of RAM, multiply-accumulates
INTEGER = {
    # W 2, points 2, table 3, Z 2; 2 raw, then 2 projected + 2 kernel values
    "protonn": (protonn(), [[10, 4], [0, 255]], [[390, 195], [0, 0]], [0, 0], 9, 2 + 4, 12),
    # offsets 4, W 6, bias 6, Z 3, bias 2; 4 raw, then 2 copied + 3 hidden
    "sparsenet": (sparsenet(), [[10, 30], [9, 30]], [[1], [-2]], [1, 0], 21, 4 + 5, 9),
    # W 3, bias 6, codes 3, counts 2; 2 raw, then a byte of bits
    "bnc": (bnc(), [[5, 5], [200, 100], [40, 60]], [[0, 2], [2, 0], [2, 1]], [0, 1, 1], 14, 2 + 1, 15),
    # a bitmap of 3 and 4 values, counts 3; 3 raw
    "amm": (amm(), [[3, 9, 2], [0, 0, 5], [0, 16, 0]], [[7, 0, 0], [0, 0, 0], [16, 0, 0]], [0, 0, 0], 10, 3, 4),
    # offsets 8, counts 3, entries 3, bias 6, counts 2; 8 raw, then 2 copied
    "smp": (smp(), [[3.0, 1.25], [127.9, -1]], [[108, 5], [100, 254]], [0, 1], 22, 8 + 2, 3),
    # points 6, counts 2; 2 raw
    "prototypes": (prototypes(), [[128, 1], [0, 0]], [[16_385, 1], [0, 16_384]], [1, 0], 8, 2, 6),
    # W 2, bias 4; 2 raw; values have units besides
    "argmax": (linear(Decide("argmax")), LINEAR_ROWS, LINEAR_SCORES, [0, 0], 6, 2, 4),
    "argmin": (linear(Decide("argmin")), LINEAR_ROWS, LINEAR_SCORES, [1, 1], 6, 2, 4),
    "labels": (linear(Decide("labels")), LINEAR_ROWS, LINEAR_SCORES, [[1, 0], [1, 0]], 6, 2, 4),
    "best": (linear(Decide("best", k=2)), LINEAR_ROWS, LINEAR_SCORES, [[1, 1], [1, 1]], 6, 2, 4),
    "value": (
        linear(Decide("value", scale=f32(0.5, 0.25))),
        LINEAR_ROWS,
        LINEAR_SCORES,
        [[10.5, -1.0], [5.0, -0.25]],
        14,
        2,
        4,
    ),
}


def float_input(n, **options):
    return Input("float32", n, "float32", **options)


def floats(values):
    return Matrix.pack(values, "float32", "dense")


def float_linear(ending):
    return Program((float_input(2), Linear(floats([[1, 2], [-1, 0]]), f32(10, -1)), ending))


E = math.exp(-6.5)
FLOAT = {
    # (10, 4) → (3, 2), which is the second point and at 13 from the first; RAM 8 raw, then 8 + 8 computed
    "protonn": (
        Program(
            (
                float_input(2),
                Linear(floats([[0.5, -0.5], [0, 0.5]])),
                Distance(floats([[0, 0], [3, 2]]), kernel=0.5),
                Linear(floats([[2, -1], [1, 3]])),
                Decide("argmax"),
            )
        ),
        [[10, 4]],
        [[2 * E - 1, E + 3]],
        [1],
        3 * 16,
        8 + 16,
        12,
    ),
    # (20, 30) as in integers; offsets 8, W 24, bias 12, Z 12, bias 4; RAM 4 raw, then 8 copied + 12 hidden
    "sparsenet": (
        Program(
            (
                Input("int16", 2, "float32", offset=i16(-10, 0), multiplier=f32(1, 1)),
                Linear(floats([[1, 0], [0, -1], [1, 1]]), f32(0, 5, -60), "relu"),
                Linear(floats([[3, -5, 1]]), f32(-59)),
                Decide("threshold"),
            )
        ),
        [[10, 30], [9, 30], [30, 30]],
        [[1], [-2], [71]],
        [1, 0, 1],
        4 + 8 + 24 + 12 + 12 + 4,
        4 + 20,
        9,
    ),
    # the codes stay bits; RAM 8 raw, then a byte
    "bnc": (
        Program(
            (
                float_input(2),
                Linear(floats([[1, -1], [-1, 1], [1, 1]]), f32(0, 0, -100), "sign"),
                *bnc().steps[2:],
            )
        ),
        [[5, 5], [200, 100], [40, 60]],
        [[0, 2], [2, 0], [2, 1]],
        [0, 1, 1],
        24 + 12 + 3 + 2,
        8 + 1,
        15,
    ),
    "amm": (
        Program(
            (
                float_input(3),
                Linear(floats([[1, 0, 0], [0, 1, -1], [-1, 0, 0]])),
                GroupReduce(u8(2, 1, 0), "max", floor=0.5),
                Decide("argmax"),
            )
        ),
        [[3, 9, 2], [-4, 0, 5]],
        [[7, 0.5, 0.5], [0.5, 4, 0.5]],
        [0, 1],
        36 + 3,
        12,
        9,
    ),
    # sparse float32: counts 3, gaps 3, values 12
    "smp": (
        Program(
            (
                float_input(2),
                Linear(Matrix.pack([[0, 2], [1, 0], [0, -3]], "float32", "gap8"), f32(100, 0, 0)),
                GroupReduce(u8(1, 2), "max"),
                Decide("argmax"),
            )
        ),
        [[5, 4], [254, 0]],
        [[108, 5], [100, 254]],
        [0, 1],
        18 + 12 + 2,
        8,
        3,
    ),
    "prototypes": (
        Program(
            (
                float_input(2),
                Distance(floats([[0, 0], [255, 255], [128, 0]])),
                GroupReduce(u8(1, 2), "min"),
                Decide("argmin"),
            )
        ),
        [[128, 1], [0, 0]],
        [[16_385, 1], [0, 16_384]],
        [1, 0],
        24 + 2,
        8,
        6,
    ),
    "argmax": (float_linear(Decide("argmax")), LINEAR_ROWS, LINEAR_SCORES, [0, 0], 24, 8, 4),
    "labels": (float_linear(Decide("labels")), LINEAR_ROWS, LINEAR_SCORES, [[1, 0], [1, 0]], 24, 8, 4),
    "best": (float_linear(Decide("best", k=1)), LINEAR_ROWS, LINEAR_SCORES, [[1, 0], [1, 0]], 24, 8, 4),
    "value": (float_linear(Decide("value")), LINEAR_ROWS, LINEAR_SCORES, LINEAR_SCORES, 24, 8, 4),
}

CASES = [pytest.param(case, id=f"integer-{name}") for name, case in INTEGER.items()]
CASES += [pytest.param(case, id=f"float32-{name}") for name, case in FLOAT.items()]
PROGRAMS = [
    pytest.param(case[0], id=f"{case[0].arithmetic}-{name}") for t in (INTEGER, FLOAT) for name, case in t.items()
]


@pytest.mark.parametrize("case", CASES)
def test_every_family_runs_and_costs_what_the_hand_says(case):
    program, rows, scores, predictions, *costs = case
    result = program.run(rows)
    np.testing.assert_allclose(result.scores, scores, rtol=1e-12 if program.arithmetic == "float32" else 0)
    assert result.scores.dtype == (np.float64 if program.arithmetic == "float32" else np.int64)
    assert result.prediction.tolist() == predictions
    cost = program.cost()
    assert [cost.model_bytes, cost.ram_bytes, cost.multiply_accumulates] == costs
    assert cost.model_bytes == sum(step.model_bytes for step in cost.steps)
    assert cost.multiply_accumulates == sum(step.multiply_accumulates for step in cost.steps)


@pytest.mark.parametrize("name", INTEGER)
def test_the_transcription_says_the_same(name):
    program, rows, scores, predictions, *_ = INTEGER[name]
    for row, expected_scores, prediction in zip(rows, scores, predictions, strict=True):
        assert run(program, row) == (expected_scores, prediction)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_family_describes_itself(program):
    lines = program.describe().splitlines()
    assert len(lines) == len(program.steps) + 1
    for index, (line, step) in enumerate(zip(lines, program.steps, strict=False)):
        assert line.startswith(f"{index}  {type(step).__name__} ")
        assert step.describe() in line
    cost = program.cost()
    assert f"{cost.model_bytes:,} bytes of constants, {cost.ram_bytes:,} bytes of RAM" in lines[-1]
    assert lines[-1].startswith(f"{program.arithmetic} Program")


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_family_has_a_well_formed_table_for_notebooks(program):
    table = ElementTree.fromstring(program._repr_html_())
    assert table.tag == "table"
    names = [row[0].text for row in table.find("tbody")]
    assert names == [type(step).__name__ for step in program.steps]
    widths = {len(row) for part in table for row in part}
    assert widths == {5}
    assert f"{program.cost().model_bytes:,}" in [cell.text for cell in table.find("tfoot")[0]]


def test_a_program_read_aloud():
    # the second projected byte is 128..255, so the point (192, 0) is too far for its kernel ever to be more than 0
    assert protonn().describe() == (
        "0  Input        2 uint8 taken as they are → 2 bytes in 0..255\n"
        "1  Linear       2 x 2 int4 dense, 2 bytes → bytes → 2 bytes in 0..255\n"
        "2  Distance     squared, 2 x 2 int4 dense, 2 bytes → Gaussian table → 2 bytes in 0..200\n"
        "3  Linear       2 x 2 int4 dense, 2 bytes → 2 integers in 0..400\n"
        "4  Decide       the class with the largest score → 2 integers in 0..400\n"
        "integer Program, 9 bytes of constants, 6 bytes of RAM and the stack, 12 multiply-accumulates"
    )


@pytest.mark.parametrize(
    ("program", "rows", "answers"),
    [
        (protonn(), [[10, 4]], ["near"]),
        (sparsenet(), [[10, 30], [9, 30]], [True, False]),
        (amm(), [[3, 9, 2]], [10]),
        (bnc(), [[200, 100]], [1]),
        (linear(Decide("labels"), classes=("warm", "wet")), LINEAR_ROWS, [[1, 0], [1, 0]]),
    ],
)
def test_predict_speaks_the_users_words(program, rows, answers):
    assert program.predict(rows).tolist() == answers


def test_a_single_value_is_a_plain_number():
    steps = (Input("uint8", 1), Linear(Matrix.pack([[2]], "int4")), Decide("value", scale=f32(0.5)))
    assert Program(steps).predict([[7], [8]]).tolist() == [7.0, 8.0]


def test_tasks():
    assert {name: case[0].task for name, case in INTEGER.items()} == {
        **dict.fromkeys(
            ("protonn", "sparsenet", "bnc", "amm", "smp", "prototypes", "argmax", "argmin"), "classification"
        ),
        **dict.fromkeys(("labels", "best"), "multilabel"),
        "value": "regression",
    }
