"""GroupReduce: one winner a class."""

import numpy as np
import pytest

from smidgen.errors import ProgramError
from smidgen.program import GroupReduce
from smidgen.program.signal import Interval, Signal


def u8(*values):
    return np.array(values, np.uint8)


def integers(low, high):
    low, high = np.asarray(low, np.int64), np.asarray(high, np.int64)
    return Signal("integers", len(low), Interval(low, high))


def bounds(step, low, high):
    span = step.check(integers(low, high)).range
    return span.low.tolist(), span.high.tolist()


def test_winners_by_hand():
    values = np.array([[3.0, 7.0, -4.0], [-1.0, -1.0, -9.0]])
    assert GroupReduce(u8(2, 1), "max").run(values).tolist() == [[7, -4], [-1, -9]]
    assert GroupReduce(u8(2, 1), "min").run(values).tolist() == [[3, -4], [-1, -9]]
    assert GroupReduce(u8(0, 2, 0, 1), "max", floor=-2).run(values).tolist() == [[-2, 7, -2, -2], [-2, -1, -2, -2]]


def test_bounds_are_those_of_the_winners_and_are_reached():
    low, high = [-5, -9, 0, 7], [20, 3, 4, 7]
    assert bounds(GroupReduce(u8(2, 2), "max"), low, high) == ([-5, 7], [20, 7])
    assert bounds(GroupReduce(u8(2, 2), "min"), low, high) == ([-9, 0], [3, 4])
    assert bounds(GroupReduce(u8(2, 0, 2), "max", floor=6), low, high) == ([6, 6, 7], [20, 6, 7])
    assert bounds(GroupReduce(u8(2, 2), "max", floor=50), low, high) == ([50, 50], [50, 50])


@pytest.mark.parametrize("floor", [2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_floor_is_exact_beyond_what_float32_holds(floor, dtype):
    step = GroupReduce(u8(1, 0), "max", floor=floor)
    assert step.run(np.array([[-5.0]], dtype)).astype(np.int64).tolist() == [[max(-5, floor), floor]]
    assert bounds(step, [-5], [-5]) == ([max(-5, floor), floor],) * 2


def test_more_than_255_entries_of_one_class():
    counts = np.array([300, 1], np.uint16)
    values = np.arange(301.0)[None, :]
    step = GroupReduce(counts, "max")
    assert step.run(values).tolist() == [[299, 300]]
    assert step.constants()["counts"].nbytes == 4
    assert step.describe() == "max of 301 entries in 2 classes"
    # 255 + 255 as uint8 would wrap
    assert GroupReduce(u8(255, 255), "min").run(np.arange(510.0)[None, :]).tolist() == [[0, 255]]
    GroupReduce(u8(255, 255), "min").check(integers([0] * 510, [1] * 510))


def test_float32_winners():
    step = GroupReduce(u8(1, 1), "max", floor=0.25)
    assert step.run(np.array([[0.125, 3.5]])).tolist() == [[0.25, 3.5]]
    assert step.check(Signal("float32", 2)).kind == "float32"
    assert GroupReduce(u8(2, 0), "max", floor=1.0).magnitudes(np.array([[5.0, 7.0]])).tolist() == [[7, 0]]
    # the least entry may win, but what rounding may cost is measured by the class's largest terms
    assert GroupReduce(u8(2, 1), "min").magnitudes(np.array([[5.0, 7.0, 1.0]])).tolist() == [[7, 1]]


def test_a_whole_floor_is_one_number_however_it_is_written():
    for floor in (3, 3.0, np.float32(3), np.int64(3)):
        step = GroupReduce(u8(1, 1), "max", floor=floor)
        assert (type(step.floor), step.floor) == (int, 3)
        assert bounds(step, [0, 5], [1, 9]) == ([3, 5], [3, 9])
    assert str(GroupReduce(u8(1, 1), "max", floor=-0.0).floor) == "0"
    assert type(GroupReduce(u8(1, 1), "max", floor=2.0**40).floor) is float  # of a float32 Program, then


def test_a_float32_programs_floor_is_a_float32():
    GroupReduce(u8(1, 1), "max", floor=2**24).check(Signal("float32", 2))
    with pytest.raises(ProgramError, match="floor is 16777217; among float32 values it must be one that float32 holds"):
        GroupReduce(u8(1, 1), "max", floor=2**24 + 1).check(Signal("float32", 2))


def test_describe_names_the_floor():
    assert GroupReduce(u8(1), "max", floor=0).describe() == "max of 1 entry in 1 class, floor 0"
    assert GroupReduce(u8(2, 1), "max", floor=0).describe() == "max of 3 entries in 2 classes, floor 0"
    assert GroupReduce(u8(2, 1), "max").multiply_accumulates() == 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: GroupReduce(u8(1), "mean"), "operation is 'mean'"),
        (lambda: GroupReduce([1, 2], "max"), "must be an array"),
        (lambda: GroupReduce(np.array([1, 2]), "max"), "dtype int64"),
        (lambda: GroupReduce(np.array([1, 2], np.uint16), "max"), "uint16 where uint8 would do"),
        (lambda: GroupReduce(u8(), "max"), "is empty"),
        (lambda: GroupReduce(u8(1, 0), "max"), "class 1 of GroupReduce has no entries; it needs a floor"),
        (lambda: GroupReduce(u8(1, 0), "min"), "class 1 of GroupReduce has no entries"),
        (lambda: GroupReduce(u8(1, 1), "min", floor=0), "floor goes with max alone"),
        (lambda: GroupReduce(u8(1, 1), "max", floor=np.inf), "finite"),
        (lambda: GroupReduce(u8(1, 1), "max", floor=2.0**200), "finite"),
        (lambda: GroupReduce(u8(1, 1), "max", floor="0"), "must be a number"),
        (lambda: GroupReduce(u8(1, 1), "max", floor=2**31), "floor is 2147483648"),
        (lambda: GroupReduce(u8(1, 1), "max", floor=True), "floor is True"),
        (lambda: GroupReduce(u8(1, 1), "max", floor=0.5).check(integers([0, 0], [1, 1])), "must be whole"),
        (lambda: GroupReduce(u8(1, 1), "max").check(integers([0] * 3, [1] * 3)), "takes 2 values where 3 come in"),
        (lambda: GroupReduce(u8(1, 1), "max").check(Signal("bytes", 2)), "takes integers or float32 where 2 bytes"),
        (lambda: GroupReduce(u8(1, 1), "max").check(None), "where nothing come"),
    ],
)
def test_what_does_not_fit_is_refused(make, sentence):
    with pytest.raises(ProgramError, match=sentence):
        make()
