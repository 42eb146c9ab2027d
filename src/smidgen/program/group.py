"""GroupReduce: the largest or least of each class's entries, handed on one value a class.

It consumes a stream and owns no buffer: one running maximum on the board, however many entries there are. May import
NumPy and this package.
"""

from dataclasses import dataclass

import numpy as np

from smidgen.errors import ProgramError
from smidgen.program import arith
from smidgen.program.checks import Array, choice, counted, real, require, vector, whole
from smidgen.program.signal import Interval, Signal, received

INT32 = (-(2**31), 2**31 - 1)


@dataclass(frozen=True, eq=False)
class GroupReduce:
    """Max or min over each class's entries, which stand in class order.

    Parameters
    ----------
    counts
        Entries a class: uint8, or uint16 where a count exceeds 255.
    operation
        `max` or `min`.
    floor
        A value that competes in every class (AMM's reserved zero weight), for `max` alone; a whole number in units of
        the accumulators, or a float32 in a float32 Program.

    Examples
    --------
    >>> import numpy as np
    >>> GroupReduce(np.array([2, 1], np.uint8), "max", floor=0).run(np.array([[3.0, 7.0, -4.0]]))
    array([[7., 0.]])
    """

    counts: Array
    operation: str
    floor: float | None = None

    def __post_init__(self) -> None:
        choice(self.operation, ("max", "min"), "GroupReduce's operation")
        counts = vector(self.counts, ("uint8", "uint16"), "GroupReduce's counts")
        narrow = counts.dtype == np.uint8 or int(counts.max()) > 255
        require(narrow, "GroupReduce's counts are uint16 where uint8 would do")
        object.__setattr__(self, "counts", counts)
        if self.floor is not None:
            require(self.operation == "max", "GroupReduce's floor goes with max alone")
            object.__setattr__(self, "floor", self._checked_floor(self.floor))
        elif not counts.all():
            empty = int(np.flatnonzero(counts == 0)[0])
            raise ProgramError(f"class {empty} of GroupReduce has no entries; it needs a floor")

    @staticmethod
    def _checked_floor(floor: object) -> float:
        if isinstance(floor, (int, np.integer)):
            return whole(floor, *INT32, "GroupReduce's floor")
        number = real(floor, "GroupReduce's floor")
        # 0.0 is 0: one Program, one way to write it
        return int(number) if number.is_integer() and INT32[0] <= number <= INT32[1] else number

    @property
    def n_outputs(self) -> int:
        """The number of classes."""
        return len(self.counts)

    def check(self, incoming: Signal | None) -> Signal:
        """Check that the counts cover what comes in, and give the bounds of each class's winner."""
        incoming = received(incoming, ("integers", "float32"), "GroupReduce", int(self.counts.sum(dtype=np.int64)))
        if incoming.range is None:
            require(
                self.floor is None or self.floor == float(np.float32(self.floor)),
                f"GroupReduce's floor is {self.floor}; among float32 values it must be one that float32 holds",
            )
            return Signal("float32", self.n_outputs)
        require(
            self.floor is None or isinstance(self.floor, int),
            f"GroupReduce's floor is {self.floor}; among integers it must be whole",
        )
        counts = self.counts.tolist()
        low, high = (
            arith.group_reduce(np, ends[None, :].astype(np.float64), counts, self.operation, self.floor)[0]
            for ends in (incoming.range.low, incoming.range.high)
        )
        return Signal("integers", self.n_outputs, Interval(low.astype(np.int64), high.astype(np.int64)))

    def run(self, values: Array) -> Array:
        """Rows of entries → rows of class winners."""
        if self.floor is not None:
            values = values.astype(np.float64)  # a floor may be wider than what float32 holds exactly
        return arith.group_reduce(np, values, self.counts.tolist(), self.operation, self.floor)

    def magnitudes(self, values: Array) -> Array:
        """The largest sum of magnitudes in each class."""
        return arith.group_reduce(np, values, self.counts.tolist(), "max", None if self.counts.all() else 0.0)

    def constants(self) -> dict[str, Array]:
        """The owner counts."""
        return {"counts": self.counts}

    def multiply_accumulates(self) -> int:
        """None."""
        return 0

    def describe(self) -> str:
        """One line: how many entries go into how many classes."""
        floor = "" if self.floor is None else f", floor {self.floor:g}"
        entries = counted(int(self.counts.sum(dtype=np.int64)), "entry", "entries")
        return f"{self.operation} of {entries} in {counted(self.n_outputs, 'class', 'classes')}{floor}"
