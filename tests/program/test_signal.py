"""Signal: bounds, the accumulators that hold them, and what may follow what."""

import numpy as np
import pytest

from smidgen.errors import ProgramError
from smidgen.program.signal import Interval, Signal, bits_signal, received


def interval(low, high):
    return Interval(np.atleast_1d(np.int64(low)), np.atleast_1d(np.int64(high)))


@pytest.mark.parametrize("bits", [16, 24, 32])
def test_an_accumulator_ends_where_its_type_ends(bits):
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    wider = {16: 24, 24: 32}
    assert interval(least, most).bits("it") == bits
    assert interval(0, 2**bits - 1).bits("it", signed=False) == bits
    if bits < 32:
        assert interval(least - 1, 0).bits("it") == wider[bits]
        assert interval(0, most + 1).bits("it") == wider[bits]
        assert interval(0, 2**bits).bits("it", signed=False) == wider[bits]


@pytest.mark.parametrize(
    ("low", "high", "signed", "number"),
    [
        (-(2**31) - 1, 5, True, -(2**31) - 1),
        (-(2**31), 2**31, True, 2**31),
        (-(2**31) - 1, 2**31 - 1, True, -(2**31) - 1),
        (0, 2**32, False, 2**32),
        (-1, 5, False, -1),
    ],
)
def test_the_error_names_the_number_that_fits_nowhere(low, high, signed, number):
    with pytest.raises(ProgramError, match=rf"a sum can reach {number}, which no 32-bit accumulator holds"):
        interval(low, high).bits("a sum", signed=signed)


def test_one_accumulator_serves_all_values():
    assert interval([0, -40_000], [7, 3]).bits("it") == 24


@pytest.mark.parametrize(
    ("signal", "n_bytes", "text"),
    [
        (Signal("bytes", 9, interval([0] * 9, [16] * 9)), 9, "9 bytes in 0..16"),
        (bits_signal(9), 2, "9 bits"),
        (bits_signal(8), 1, "8 bits"),
        (Signal("float32", 3), 12, "3 float32 values"),
        (Signal("integers", 1000, interval([-5000] * 1000, [7] * 1000)), 0, "1,000 integers in -5,000..7"),
    ],
)
def test_a_signal_knows_its_memory_and_its_words(signal, n_bytes, text):
    assert signal.stored_bytes == n_bytes
    assert signal.describe() == text


def test_what_a_step_takes():
    signal = Signal("float32", 3)
    assert received(signal, ("bytes", "float32"), "Linear", 3) is signal
    with pytest.raises(ProgramError, match="Linear takes bytes where 3 float32 values come in"):
        received(signal, ("bytes",), "Linear", 3)
    with pytest.raises(ProgramError, match="Linear takes 4 values where 3 come in"):
        received(signal, ("float32",), "Linear", 4)
    with pytest.raises(ProgramError, match="Linear takes bytes or bits where nothing come"):
        received(None, ("bytes", "bits"), "Linear")
