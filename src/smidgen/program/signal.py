"""What flows from one step to the next, and the integer types that can hold it.

A `Signal` is the proof's currency: how many values there are, of what kind, and between which bounds each one lies
for every input in the declared range. Imports only NumPy, the errors and `checks`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from smidgen.errors import ProgramError
from smidgen.program.checks import counted

Kind = Literal["bytes", "bits", "integers", "float32"]

MAX_DIMENSION = 65_535
"""No vector and no matrix side is longer (docs/arithmetic.md, Numbers)."""

ACCUMULATOR_BITS = (16, 24, 32)


@dataclass(frozen=True, eq=False)
class Interval:
    """Bounds, one pair a value: `low[i] <= value[i] <= high[i]` for every input in the declared range."""

    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]

    def bits(self, what: str, *, signed: bool = True) -> int:
        """The narrowest accumulator of 16, 24 or 32 bits that holds every value; an error where none does.

        >>> Interval(np.array([-32768]), np.array([32767])).bits("a sum")
        16
        >>> Interval(np.array([0]), np.array([32768])).bits("a sum")
        24
        """
        low, high = int(self.low.min()), int(self.high.max())
        for bits in ACCUMULATOR_BITS:
            least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
            if least <= low and high <= most:
                return bits
        number = high if high > most else low
        raise ProgramError(
            f"{what} can reach {number}, which no {bits}-bit accumulator holds; use fewer or smaller values"
        )


@dataclass(frozen=True, eq=False)
class Signal:
    """What one step hands to the next.

    `bytes` and `bits` (and, in float32 Programs, `float32`) may be stored; `integers` are a stream of accumulators that
    only GroupReduce and Decide take. `range` is None for float32, which no proof covers.
    """

    kind: Kind
    width: int
    range: Interval | None = None

    def describe(self) -> str:
        """Say the kind, the number and the bounds in a few words.

        >>> Signal("bytes", 2, Interval(np.array([0, 0]), np.array([16, 255]))).describe()
        '2 bytes in 0..255'
        """
        noun = {"bytes": "byte", "bits": "bit", "integers": "integer", "float32": "float32 value"}[self.kind]
        if self.range is None or self.kind == "bits":
            return counted(self.width, noun)
        return f"{counted(self.width, noun)} in {int(self.range.low.min()):,}..{int(self.range.high.max()):,}"

    @property
    def stored_bytes(self) -> int:
        """The scratch memory it takes where the next step reads it from memory."""
        return {"bytes": self.width, "bits": -(-self.width // 8), "float32": 4 * self.width, "integers": 0}[self.kind]


def bits_signal(width: int) -> Signal:
    """`width` sign bits, each 0 or 1."""
    return Signal("bits", width, Interval(np.zeros(width, np.int64), np.ones(width, np.int64)))


def received(incoming: Signal | None, kinds: tuple[Kind, ...], what: str, width: int | None = None) -> Signal:
    """The signal that a step takes, if it is of a kind that the step can take, and as wide as the step is."""
    if incoming is None or incoming.kind not in kinds:
        found = "nothing" if incoming is None else incoming.describe()
        raise ProgramError(f"{what} takes {' or '.join(kinds)} where {found} come in")
    if width is not None and incoming.width != width:
        raise ProgramError(f"{what} takes {width:,} values where {incoming.width:,} come in")
    return incoming
