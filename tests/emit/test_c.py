"""The C of a Program says what the Program says: every score and every answer, of random Programs of all families."""

import numpy as np
import pytest

from tests.emit.host import answers, clang, gcc
from tests.program.random_programs import FAMILIES, random_float_program, random_program, random_rows


def assert_same(program, rows, found):
    """Every integer is equal."""
    expected = program.run(rows)
    np.testing.assert_array_equal(found["scores"].reshape(expected.scores.shape), expected.scores)
    prediction = found["prediction"].reshape(expected.prediction.shape)
    np.testing.assert_array_equal(prediction, expected.prediction)
    if program.task == "regression":
        np.testing.assert_array_equal(found["raw"].reshape(expected.scores.shape), expected.scores)


@pytest.mark.thorough
@pytest.mark.parametrize("family", FAMILIES)
def test_integers_are_equal(family, tmp_path, how_many):
    rng = np.random.default_rng(FAMILIES.index(family))
    for _ in range(how_many(1, 8)):
        programs = [random_program(rng, family) for _ in range(40)]
        rows = [random_rows(rng, program, 20) for program in programs]
        for program, table, found in zip(
            programs, rows, answers(programs, rows, tmp_path, [*gcc(), "-std=c99", "-O1"]), strict=True
        ):
            assert_same(program, table, found)
