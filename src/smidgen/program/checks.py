"""Small checks that every step makes of its own constants. Each failure is one sentence.

May import NumPy and the errors.
"""

import reprlib
from typing import Any

import numpy as np
import numpy.typing as npt

from smidgen.errors import ProgramError

Array = npt.NDArray[Any]

shown = reprlib.repr
"""A value in a few characters, whatever it is: sentences stay sentences even about a value from a hostile file."""


def require(condition: bool, sentence: str) -> None:
    """Raise `ProgramError` with the sentence unless the condition holds."""
    if not condition:
        raise ProgramError(sentence)


def whole(value: object, low: int, high: int, what: str) -> int:
    """A plain int between low and high; booleans and floats are refused."""
    good = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    require(good and low <= int(value) <= high, f"{what} is {shown(value)}; it must be a whole number in {low}..{high}")  # type: ignore[call-overload]
    return int(value)  # type: ignore[call-overload]


def real(value: object, what: str) -> float:
    """A finite number that float32 holds exactly, as a Python float (rounded to float32 here, once)."""
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    require(good, f"{what} is {shown(value)}; it must be a number")
    try:
        with np.errstate(over="ignore"):
            rounded = float(np.float32(value))  # type: ignore[arg-type]
    except OverflowError:  # an integer of hundreds of digits
        rounded = np.inf
    require(bool(np.isfinite(rounded)), f"{what} is {shown(value)}; it must be a finite float32 number")
    return rounded


def choice(value: object, allowed: tuple[str, ...], what: str) -> str:
    """One of a few words."""
    require(
        isinstance(value, str) and value in allowed, f"{what} is {shown(value)}; it must be one of {', '.join(allowed)}"
    )
    return str(value)


def vector(value: object, dtypes: tuple[str, ...], what: str, length: int | None = None) -> Array:
    """A read-only 1-D array of one of the dtypes, finite throughout, of the given length where one is given."""
    require(isinstance(value, np.ndarray), f"{what} must be an array, not {type(value).__name__}")
    array = np.asarray(value)
    require(array.dtype.name in dtypes, f"{what} has dtype {array.dtype.name}; it must be {' or '.join(dtypes)}")
    require(array.ndim == 1, f"{what} has {array.ndim} dimensions; it must be one-dimensional")
    require(
        length is None or len(array) == length, f"{what} has {len(array):,} entries where {length or 0:,} are needed"
    )
    require(len(array) > 0, f"{what} is empty")
    require(bool(np.isfinite(array).all()), f"{what} has an entry that is not a finite number")
    return frozen(array)


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, in the plural where it is not 1.

    >>> counted(1, "byte"), counted(1002, "byte"), counted(2, "class", "classes")
    ('1 byte', '1,002 bytes', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def frozen(array: Array) -> Array:
    """A contiguous, native-endian, read-only copy; no negative zeros, so that equal numbers are equal bytes."""
    copy = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
    if copy.dtype.kind == "f":
        with np.errstate(invalid="ignore"):  # a signalling NaN; the caller refuses it
            copy += np.zeros((), copy.dtype)  # -0.0 + 0.0 is 0.0
    copy.flags.writeable = False
    return copy
