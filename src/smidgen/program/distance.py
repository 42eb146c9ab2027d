"""Distance: to a table of points, squared or Hamming, → handed on as it is, or through a Gaussian.

Squared distances take bytes (or float32), Hamming distances take bits. Integer points are `zero + (v << shift)` for the
signed values v of the packed matrix: int4 points with zero = 128 and shift = 4 lie on 0, 16, .. 240. May import NumPy
and this package.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from smidgen.program import arith
from smidgen.program.checks import Array, choice, real, require, vector, whole
from smidgen.program.signal import Interval, Kind, Signal, received
from smidgen.program.storage import Matrix

KINDS: dict[str, Kind] = {"float32": "float32", "int8": "bytes", "int4": "bytes", "bits": "bits"}
"""What a table of points in each format is compared with."""


@dataclass(frozen=True, eq=False)
class Gaussian:
    """The integer kernel: a non-increasing uint8 table, and the shift ts >= 8 that finds a distance's place in it."""

    table: Array
    shift: int

    def __post_init__(self) -> None:
        table = vector(self.table, ("uint8",), "the Gaussian's table")
        require(2 <= len(table) <= 255, f"the Gaussian's table has {len(table)} entries; it must have 2..255")
        require(bool((table[1:] <= table[:-1]).all()), "the Gaussian's table must never rise")
        require(int(table[0]) > 0, "the Gaussian's table is all zeros")
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "shift", whole(self.shift, arith.FRACTION_BITS, 31, "the Gaussian's shift"))


@dataclass(frozen=True, eq=False)
class Distance:
    """Distances to the rows of a packed matrix.

    Parameters
    ----------
    points
        A row for each point, stored dense.
    zero, shift
        An integer point is `zero + (v << shift)`, within 0..255.
    metric
        `squared`, or `hamming` for points of bits.
    kernel
        None; a `Gaussian`; in a float32 Program the number gamma^2 of exp(-gamma^2 distance).

    Examples
    --------
    >>> import numpy as np
    >>> step = Distance(Matrix.pack([[-8, 7]], "int4"), zero=128, shift=4)
    >>> step.run(np.array([[3.0, 250.0]]))
    array([[109.]], dtype=float32)
    """

    points: Matrix
    zero: int = 128
    shift: int = 0
    metric: str = "squared"
    kernel: Gaussian | float | None = None

    def __post_init__(self) -> None:
        require(isinstance(self.points, Matrix), "Distance's points must be a Matrix")
        require(self.points.storage == "dense", "Distance's points must be stored dense: a zero counts as well")
        choice(self.metric, ("squared", "hamming"), "Distance's metric")
        is_bits = self.points.format == "bits"
        require(
            is_bits == (self.metric == "hamming"), "Hamming distances are between bits, squared ones between numbers"
        )
        store = object.__setattr__
        store(self, "zero", whole(self.zero, 0, 255, "the points' zero"))
        store(self, "shift", whole(self.shift, 0, 7, "the points' shift"))
        if self.points.format in ("int8", "int4"):
            least, most = int(self.points.values.min()), int(self.points.values.max())
            low, high = self.zero + (least << self.shift), self.zero + (most << self.shift)
            require(low >= 0 and high <= 255, f"Distance's points lie in {low}..{high}; they must be bytes")
        else:
            require(self.zero == 128 and self.shift == 0, "only integer points have a zero and a shift")
        self._check_kernel()

    def _check_kernel(self) -> None:
        if self.kernel is None:
            return
        require(self.metric == "squared", "a Gaussian needs squared distances")
        if self.is_float:
            require(
                not isinstance(self.kernel, Gaussian), "a float32 Program's Gaussian is the number gamma^2, no table"
            )
            gamma_squared = real(self.kernel, "gamma^2")
            require(gamma_squared > 0, f"gamma^2 is {gamma_squared}; it must be positive")
            object.__setattr__(self, "kernel", gamma_squared)
        else:
            require(isinstance(self.kernel, Gaussian), "an integer Program's Gaussian is a table")

    @property
    def is_float(self) -> bool:
        """Whether this is a step of a float32 Program."""
        return self.points.format == "float32"

    @property
    def n_outputs(self) -> int:
        """The number of points."""
        return self.points.shape[0]

    # The proof.

    def check(self, incoming: Signal | None) -> Signal:
        """Prove that every distance fits its accumulator, and give the bounds of what is handed on."""
        what = f"Distance to {self.points.format} points"
        incoming = received(incoming, (KINDS[self.points.format],), what, self.points.shape[1])
        if self.is_float:
            return Signal("float32", self.n_outputs)
        distances = self.accumulators(incoming)
        distances.bits("Distance", signed=self.kernel is None)  # without a table it becomes a score, an int32 in C
        if isinstance(self.kernel, Gaussian):
            ends = np.stack((distances.high, distances.low)).astype(np.float64)  # the kernel never rises
            low, high = arith.gaussian(np, ends, self._table, self.kernel.shift).astype(np.int64)
            return Signal("bytes", self.n_outputs, Interval(low, high))
        return Signal("integers", self.n_outputs, distances)

    def accumulators(self, incoming: Signal) -> Interval:
        """Bounds of each point's distance over the range of what comes in."""
        assert incoming.range is not None
        low, high = np.empty(self.n_outputs, np.int64), np.empty(self.n_outputs, np.int64)
        for rows in self.points.row_blocks():
            points = self._placed(self.points.values[rows], np.int64)
            below, above = points - incoming.range.low, incoming.range.high - points
            low[rows] = (np.maximum(0, np.maximum(-below, -above)) ** 2).sum(axis=1)
            high[rows] = (np.maximum(np.abs(below), np.abs(above)) ** 2).sum(axis=1)
        return Interval(low, high)

    # The meaning.

    def _placed(self, values: Array, dtype: type) -> Array:
        """Stored values as points: integers stand at zero + (v << shift)."""
        if self.points.format in ("float32", "bits"):
            return values.astype(dtype)
        return (self.zero + (values.astype(np.int16) << self.shift)).astype(dtype)

    @cached_property
    def _exact_points(self) -> Array:
        """The points in the narrowest float in which a squared distance between bytes is exact, whatever its order."""
        reach = 1 if self.metric == "hamming" else 255**2
        exact = not self.is_float and 4 * reach * self.points.shape[1] < arith.FLOAT32_EXACT
        return self._placed(self.points.values, np.float32 if exact else np.float64)

    @cached_property
    def _table(self) -> Array:
        assert isinstance(self.kernel, Gaussian)
        return arith.expand_table(np, self.kernel.table.astype(np.float32))

    def run(self, values: Array) -> Array:
        """Rows in, rows out: kernel values in float32, distances in the float that holds them exactly."""
        points = self._exact_points
        sq_dist = arith.square_distances(np, values.astype(points.dtype, copy=False), points)
        if isinstance(self.kernel, Gaussian):
            return arith.gaussian(np, sq_dist, self._table, self.kernel.shift)
        if self.is_float:
            sq_dist = np.maximum(sq_dist, 0)
        return sq_dist if self.kernel is None else np.exp(-self.kernel * sq_dist)

    def magnitudes(self, values: Array) -> Array:
        """The terms' magnitudes in each distance, added up: x² and p² bound what float32 may lose in x - p."""
        points = self._exact_points
        return (values * values).sum(axis=1)[:, None] + (points * points).sum(axis=1)[None, :]

    # The cost.

    def constants(self) -> dict[str, Array]:
        """The arrays that land in flash, packed as the board holds them."""
        packed = {f"points.{name}": part for name, part in self.points.parts.items()}
        if isinstance(self.kernel, Gaussian):
            packed["table"] = self.kernel.table
        return packed

    def multiply_accumulates(self) -> int:
        """One for each number of each point."""
        return self.points.n_stored

    def describe(self) -> str:
        """One line: the points and what is made of the distances."""
        ending = {Gaussian: " → Gaussian table", float: " → Gaussian"}.get(type(self.kernel), "")
        return f"{self.metric}, {self.points.describe()}{ending}"
