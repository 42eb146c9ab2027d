"""Decide: scores → the answer, each ending with its ties."""

import numpy as np
import pytest

from smidgen.errors import ProgramError
from smidgen.program import Decide
from smidgen.program.signal import Interval, Signal, bits_signal


def f32(*values):
    return np.array(values, np.float32)


def integers(n, low=-10, high=10):
    return Signal("integers", n, Interval(np.full(n, low, np.int64), np.full(n, high, np.int64)))


@pytest.mark.parametrize(
    ("step", "scores", "answer"),
    [
        (Decide("argmax"), [[1, 3, 3], [0, 0, 0], [-5, -9, -5]], [1, 0, 0]),
        (Decide("argmin"), [[1, 3, 1], [0, 0, 0], [-5, -9, -9]], [0, 0, 1]),
        (Decide("threshold"), [[1], [0], [-1]], [1, 0, 0]),
        (Decide("labels"), [[1, 0, -1], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]]),
        (Decide("best", k=1), [[5, 9, 9], [0, 0, 0]], [[0, 1, 0], [1, 0, 0]]),
        (Decide("best", k=2), [[5, 9, 5], [-3, -2, -1], [7, 7, 7]], [[1, 1, 0], [0, 1, 1], [1, 1, 0]]),
        (Decide("best", k=3), [[5, 9, 5]], [[1, 1, 1]]),
        (Decide("value", scale=f32(0.5, 2)), [[3, -4]], [[1.5, -8.0]]),
        (Decide("value"), [[0.1, -4]], [[0.1, -4.0]]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_answers_by_hand(step, scores, answer, dtype):
    if step.kind == "value" and step.scale is None and dtype == np.float32:
        answer = np.array(answer, np.float32).tolist()
    assert step.run(np.array(scores, dtype)).tolist() == answer


def test_values_are_rounded_as_c_rounds_them():
    """(float)acc loses the last bit of 2^24 + 1, then the product is rounded once."""
    step = Decide("value", scale=f32(0.1))
    scores = [2**24 + 1, 2**31 - 1, -3, 7]
    expected = [float(np.float32(score) * np.float32(0.1)) for score in scores]
    assert step.run(np.array(scores, float)[:, None])[:, 0].tolist() == expected


def test_indicators_are_bytes_and_indices_are_integers():
    scores = np.array([[1.0, 2.0]])
    assert Decide("labels").run(scores).dtype == np.uint8
    assert Decide("best", k=1).run(scores).dtype == np.uint8
    assert Decide("argmax").run(scores).dtype == np.int64


def test_scores_are_int32_in_c():
    Decide("argmax").check(integers(2, -(2**31), 2**31 - 1))
    with pytest.raises(ProgramError, match="a score can reach 2147483648"):
        Decide("argmax").check(integers(2, 0, 2**31))


def test_values_must_stay_within_float32():
    Decide("value", scale=f32(1e30)).check(integers(1, -1000, 1000))
    with pytest.raises(ProgramError, match=r"a value can reach 1e\+40"):
        Decide("value", scale=f32(1e37)).check(integers(1, -1000, 1000))


def test_the_cost():
    assert Decide("argmax").constants() == {}
    assert Decide("value", scale=f32(1, 2, 3)).constants()["scale"].nbytes == 12
    assert Decide("argmax").multiply_accumulates() == 0


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (Decide("argmax"), "the class with the largest score"),
        (Decide("argmin"), "the class with the least score"),
        (Decide("threshold"), "class 1 where the score is above 0"),
        (Decide("labels"), "the labels above 0"),
        (Decide("best", k=3), "the 3 best labels"),
        (Decide("value"), "values in the target's units"),
    ],
)
def test_describe(step, text):
    assert step.describe() == text


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Decide("softmax"), "kind is 'softmax'"),
        (lambda: Decide("best"), "number of best labels is None"),
        (lambda: Decide("best", k=0), "number of best labels is 0"),
        (lambda: Decide("best", k=True), "number of best labels is True"),
        (lambda: Decide("argmax", k=1), "argmax takes no k"),
        (lambda: Decide("argmax", scale=f32(1)), "argmax takes no scale"),
        (lambda: Decide("value", scale=np.ones(1)), "scale has dtype float64"),
        (lambda: Decide("value", scale=1.0), "must be an array"),
        (lambda: Decide("value", scale=f32(np.nan)), "not a finite number"),
        (lambda: Decide("threshold").check(integers(2)), "takes a single score, not 2"),
        (lambda: Decide("argmax").check(integers(1)), "needs two scores or more, not 1"),
        (lambda: Decide("argmin").check(integers(1)), "needs two scores or more, not 1"),
        (lambda: Decide("best", k=3).check(integers(2)), "the 3 best of only 2 labels"),
        (lambda: Decide("value").check(integers(1)), "a scale for integers"),
        (lambda: Decide("value", scale=f32(1)).check(Signal("float32", 1)), "none for float32"),
        (lambda: Decide("value", scale=f32(1)).check(integers(2)), "scale has 1 entries for 2 outputs"),
        (lambda: Decide("argmax").check(bits_signal(2)), "takes integers or float32 where 2 bits"),
        (lambda: Decide("argmax").check(Signal("bytes", 2)), "takes integers or float32 where 2 bytes"),
        (lambda: Decide("argmax").check(None), "where nothing come"),
    ],
)
def test_what_does_not_fit_is_refused(make, sentence):
    with pytest.raises(ProgramError, match=sentence):
        make()
