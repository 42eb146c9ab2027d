"""Matrices as bytes: pack, unpack, and the one byte formula there is (the packed parts' own sizes).

A format says what one number is (`float32`, `int8`, `int4`, `bits`), a storage where the numbers stand:

    dense    every number, row by row; int4 as value + 8, two to a byte, low nibble first; bits eight to a byte
    bitmap   a bit for every number, then the non-zeros
    gap8     a count a row; then, for each entry, a byte that says how many columns were skipped, and the value
    gap4     int4 alone: a count a row; then a byte an entry, the gap in its low nibble, the value in its high one

Every row starts on a byte. A gap too long for its field is a largest gap with value 0. May import
NumPy and this package's `checks` and `signal`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from smidgen.errors import ProgramError
from smidgen.program.checks import Array, choice, counted, frozen, require, whole
from smidgen.program.signal import MAX_DIMENSION

Format = Literal["float32", "int8", "int4", "bits"]
Storage = Literal["dense", "bitmap", "gap8", "gap4"]

FORMATS: dict[str, tuple[Storage, ...]] = {
    "float32": ("dense", "bitmap", "gap8"),
    "int8": ("dense", "bitmap", "gap8"),
    "int4": ("dense", "bitmap", "gap8", "gap4"),
    "bits": ("dense",),
}
"""The storages that each format may take, in the order in which ties are broken."""

LIMITS = {"float32": (-np.inf, np.inf), "int8": (-128, 127), "int4": (-8, 7), "bits": (0, 1)}
LARGEST_GAP = {"gap8": 255, "gap4": 15}

PART_NAMES: dict[Storage, tuple[str, ...]] = {
    "dense": ("values",),
    "bitmap": ("bitmap", "values"),
    "gap8": ("counts", "gaps", "values"),
    "gap4": ("counts", "entries"),
}

BLOCK_VALUES = 1 << 16

LARGEST_DENSE = 1 << 28
"""A sparse matrix of more numbers, zeros included, is never laid out: a small file must not take all memory."""

Parts = dict[str, Array]


class Entries(NamedTuple):
    """The non-zeros of a matrix, row by row and by rising column."""

    row: npt.NDArray[np.int64]
    column: npt.NDArray[np.int64]
    value: Array


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix as the board holds it. Make one with `Matrix.pack`, or with `Matrix.unpack` from parts of a file.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = Matrix.pack(np.array([[0, 0, 0, -3, 0, 0, 7] + 9 * [0] + [1]]), "int4")
    >>> matrix.storage, matrix.n_bytes
    ('gap4', 4)
    >>> matrix.values[0, :8]
    array([ 0,  0,  0, -3,  0,  0,  7,  0], dtype=int8)
    """

    shape: tuple[int, int]
    format: Format
    storage: Storage
    parts: Parts

    @classmethod
    def pack(cls, values: npt.ArrayLike, format: Format, storage: Storage | None = None) -> Self:  # noqa: A002
        """Pack a 2-D array of numbers; the smallest storage that the format has, unless one is named."""
        dense = _checked_values(np.asarray(values), format)
        shape = cast(tuple[int, int], dense.shape)
        if storage is not None:
            choice(storage, FORMATS[format], f"the storage of an {format} matrix")
        candidates = [_pack(dense, format, kind) for kind in ((storage,) if storage else FORMATS[format])]
        kind, parts = min(candidates, key=lambda candidate: _n_bytes(candidate[1]))  # the first of the smallest
        return cls(shape, format, kind, parts)

    @classmethod
    def unpack(cls, shape: tuple[int, int], format: Format, storage: Storage, parts: Parts) -> Self:  # noqa: A002
        """Take parts that may come from anywhere: refused unless they are to the byte what `pack` would write."""
        rows, columns = (whole(side, 1, MAX_DIMENSION, "a side of a matrix") for side in shape)
        choice(storage, FORMATS.get(choice(format, tuple(FORMATS), "a matrix's format"), ()), "a matrix's storage")
        require(
            tuple(parts) == PART_NAMES[storage], f"a {storage} matrix has the parts {', '.join(PART_NAMES[storage])}"
        )
        matrix = cls((rows, columns), format, storage, {name: frozen(part) for name, part in parts.items()})
        _require_canonical(matrix)
        return matrix

    @property
    def n_bytes(self) -> int:
        """The bytes it takes in flash: every part, counts and padding included."""
        return _n_bytes(self.parts)

    @cached_property
    def entries(self) -> Entries:
        """The non-zero numbers; takes memory in proportion to the packed bytes, whatever the shape claims."""
        return _UNPACK[self.storage](self)

    @cached_property
    def values(self) -> Array:
        """All numbers as a dense array: float32, or int8 for the other formats (bits as 0 and 1)."""
        if self.storage == "dense":
            dense = _dense_values(self)
        else:
            n_values = self.shape[0] * self.shape[1]
            require(
                n_values <= LARGEST_DENSE,
                f"a matrix of {self.shape[0]:,} x {self.shape[1]:,} is stored and counted, but not computed with: "
                f"laid out it has {n_values:,} numbers, more than {LARGEST_DENSE:,}",
            )
            dense = np.zeros(self.shape, np.float32 if self.format == "float32" else np.int8)
            dense[self.entries.row, self.entries.column] = self.entries.value
        dense.flags.writeable = False
        return dense

    def row_blocks(self) -> Iterator[slice]:
        """Rows, a few at a time: what a proof lays out at once, so that it takes no memory to speak of."""
        step = max(1, BLOCK_VALUES // self.shape[1])
        return (slice(start, start + step) for start in range(0, self.shape[0], step))

    @property
    def n_stored(self) -> int:
        """How many numbers a board multiplies with: all of a dense matrix, the non-zeros of a sparse one."""
        return self.shape[0] * self.shape[1] if self.storage == "dense" else len(self.entries.row)

    def describe(self) -> str:
        """Shape, format, storage and bytes in a few words."""
        share = self.n_stored / (self.shape[0] * self.shape[1])
        filled = "" if self.storage == "dense" else f", {100 * share:.3g} % filled"
        shape = f"{self.shape[0]:,} x {self.shape[1]:,}"
        return f"{shape} {self.format} {self.storage}{filled}, {counted(self.n_bytes, 'byte')}"


def _n_bytes(parts: Parts) -> int:
    return sum(part.nbytes for part in parts.values())


def _checked_values(values: Array, format: str) -> Array:  # noqa: A002
    choice(format, tuple(FORMATS), "a matrix's format")
    require(values.ndim == 2, f"a matrix needs two dimensions, not {values.ndim}")
    rows, columns = values.shape
    in_range = 1 <= rows <= MAX_DIMENSION and 1 <= columns <= MAX_DIMENSION
    require(in_range, f"a matrix of {rows} x {columns}: a side must be 1..{MAX_DIMENSION:,}")
    require(values.dtype.kind in "biuf", f"a matrix of dtype {values.dtype}: it must hold numbers")
    require(bool(np.isfinite(values).all()), "a matrix has an entry that is not a finite number")
    if format == "float32":
        with np.errstate(over="ignore"):
            single = frozen(values.astype(np.float32))
        require(bool(np.isfinite(single).all()), "a matrix has an entry that float32 cannot hold")
        return single
    low, high = LIMITS[format]
    fits = (values >= low) & (values <= high) & (values == np.floor(values.astype(np.float64)))
    if not fits.all():
        raise ProgramError(f"a matrix has the entry {values[~fits][0]}; {format} holds whole numbers in {low}..{high}")
    return values.astype(np.int8)


# Packing: dense array → parts.


def _pack(dense: Array, format: str, storage: Storage) -> tuple[Storage, Parts]:  # noqa: A002
    if storage == "dense":
        return storage, {"values": _frozen_part(_pack_dense(dense, format))}
    row, column = np.nonzero(dense)
    entries = Entries(row, column, dense[row, column])
    return storage, _pack_sparse(entries, cast(tuple[int, int], dense.shape), format, storage)


def _pack_dense(dense: Array, format: str) -> Array:  # noqa: A002
    if format == "bits":
        return np.packbits(dense.astype(bool), axis=1, bitorder="little").reshape(-1)
    if format == "int4":
        padded = np.zeros((len(dense), dense.shape[1] + dense.shape[1] % 2), np.uint8)
        padded[:, : dense.shape[1]] = dense + 8
        return (padded[:, 0::2] | padded[:, 1::2] << 4).reshape(-1)
    return dense.reshape(-1)


def _pack_sparse(entries: Entries, shape: tuple[int, int], format: str, storage: Storage) -> Parts:  # noqa: A002
    """The parts of a bitmap, gap8 or gap4 matrix with these non-zeros."""
    if storage == "bitmap":
        parts = {"bitmap": _pack_bitmap(entries, shape), "values": _pack_row_values(entries.row, entries.value, format)}
    else:
        row, gap, value = _with_fillers(entries, LARGEST_GAP[storage])
        counts = np.bincount(row, minlength=shape[0])
        parts = {"counts": counts.astype(np.uint8 if counts.max() <= 255 else np.uint16)}
        if storage == "gap4":
            parts["entries"] = gap.astype(np.uint8) | (value.astype(np.uint8) & 15) << 4
        else:
            parts["gaps"] = gap.astype(np.uint8)
            parts["values"] = _pack_row_values(row, value, format)
    return {name: _frozen_part(part) for name, part in parts.items()}


def _pack_bitmap(entries: Entries, shape: tuple[int, int]) -> npt.NDArray[np.uint8]:
    row_bytes = -(-shape[1] // 8)
    bitmap = np.zeros(shape[0] * row_bytes, np.uint8)
    bit = (1 << (entries.column & 7)).astype(np.uint8)
    np.bitwise_or.at(bitmap, entries.row * row_bytes + (entries.column >> 3), bit)
    return bitmap


def _with_fillers(entries: Entries, largest: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array]:
    """Row, gap and value of every entry, with a (largest gap, value 0) wherever a gap is too long for its field."""
    if not len(entries.row):
        return entries.row, entries.column, entries.value
    first = np.concatenate(([True], entries.row[1:] != entries.row[:-1]))
    previous = np.where(first, -1, np.concatenate(([0], entries.column[:-1])))
    gap = entries.column - previous - 1
    fillers = gap // (largest + 1)
    last = np.cumsum(fillers + 1) - 1  # where each true entry lands
    gaps = np.full(int(last[-1]) + 1, largest, np.int64)
    values = np.zeros(len(gaps), entries.value.dtype)
    gaps[last] = gap - fillers * (largest + 1)
    values[last] = entries.value
    return np.repeat(entries.row, fillers + 1), gaps, values


def _pack_row_values(row: npt.NDArray[np.int64], value: Array, format: str) -> Array:  # noqa: A002
    """Values in order; int4 two to a byte in two's complement, every row from a new byte on."""
    if format != "int4":
        return value
    byte, high, n_bytes = _nibble_places(row)
    nibble = value.astype(np.uint8) & 15
    packed = np.zeros(n_bytes, np.uint8)
    packed[byte[~high]] = nibble[~high]
    packed[byte[high]] |= nibble[high] << 4
    return packed


def _nibble_places(row: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], int]:
    """For entries of the given rows: each one's byte, whether it takes the high nibble, and the bytes in all."""
    if not len(row):
        return row, np.zeros(0, bool), 0
    counts = np.bincount(row)
    starts = np.cumsum(counts) - counts
    byte_counts = (counts + 1) // 2
    byte_starts = np.cumsum(byte_counts) - byte_counts
    position = np.arange(len(row)) - starts[row]
    return byte_starts[row] + position // 2, position % 2 == 1, int(byte_counts.sum())


def _frozen_part(part: Array) -> Array:
    contiguous = np.ascontiguousarray(part)
    contiguous.flags.writeable = False
    return contiguous


# Unpacking: parts → non-zeros. Every claim that a part makes is checked against the sizes of the others.


def _unpack_dense(matrix: Matrix) -> Entries:
    row, column = np.nonzero(matrix.values)
    return Entries(row, column, matrix.values[row, column])


def _dense_values(matrix: Matrix) -> Array:
    rows, columns = matrix.shape
    if matrix.format == "bits":
        row_bytes = -(-columns // 8)
        packed = _part(matrix, "values", np.uint8, rows * row_bytes).reshape(rows, row_bytes)
        return np.unpackbits(packed, axis=1, count=columns, bitorder="little").view(np.int8)
    if matrix.format == "int4":
        row_bytes = (columns + 1) // 2
        packed = _part(matrix, "values", np.uint8, rows * row_bytes).reshape(rows, row_bytes)
        both = np.stack((packed & 15, packed >> 4), axis=2).reshape(rows, -1)
        return both[:, :columns].astype(np.int8) - np.int8(8)
    return _part(matrix, "values", _value_dtype(matrix), rows * columns).reshape(rows, columns)


def _unpack_bitmap(matrix: Matrix) -> Entries:
    rows, columns = matrix.shape
    row_bytes = -(-columns // 8)
    bitmap = _part(matrix, "bitmap", np.uint8, rows * row_bytes).reshape(rows, row_bytes)
    row, column = np.nonzero(np.unpackbits(bitmap, axis=1, count=columns, bitorder="little"))
    value = _row_values(matrix, row)
    kept = value != 0
    return Entries(row[kept], column[kept], value[kept])


def _unpack_gap8(matrix: Matrix) -> Entries:
    row = _counted_rows(matrix)
    gap = _part(matrix, "gaps", np.uint8, len(row)).astype(np.int64)
    return _from_gaps(matrix, row, gap, _row_values(matrix, row))


def _unpack_gap4(matrix: Matrix) -> Entries:
    row = _counted_rows(matrix)
    packed = _part(matrix, "entries", np.uint8, len(row))
    return _from_gaps(matrix, row, (packed & 15).astype(np.int64), packed.view(np.int8) >> 4)


_UNPACK = {"dense": _unpack_dense, "bitmap": _unpack_bitmap, "gap8": _unpack_gap8, "gap4": _unpack_gap4}


def _part(matrix: Matrix, name: str, dtype: npt.DTypeLike, length: int) -> Array:
    """A part, with the dtype and the length that the shape and the other parts demand."""
    part, wanted = matrix.parts[name], np.dtype(dtype).name
    right = part.ndim == 1 and part.dtype.name == wanted and len(part) == length
    found = f"{part.dtype.name} of {'x'.join(map(str, part.shape))}"
    require(right, f"the {name} of a {matrix.storage} matrix are {found}; they must be {length:,} of {wanted}")
    return part


def _value_dtype(matrix: Matrix) -> str:
    return "float32" if matrix.format == "float32" else "int8"


def _counted_rows(matrix: Matrix) -> npt.NDArray[np.int64]:
    """The row of every entry, fillers included, from the row counts; no more of them than there are entries."""
    counts = matrix.parts["counts"]
    _part(matrix, "counts", np.uint16 if counts.dtype == np.uint16 else np.uint8, matrix.shape[0])
    total, stored = (
        int(counts.sum(dtype=np.int64)),
        len(matrix.parts["gaps" if matrix.storage == "gap8" else "entries"]),
    )
    require(
        total == stored, f"the row counts of a {matrix.storage} matrix add to {total:,} where {stored:,} are stored"
    )
    return np.repeat(np.arange(matrix.shape[0]), counts)


def _row_values(matrix: Matrix, row: npt.NDArray[np.int64]) -> Array:
    if matrix.format != "int4":
        return _part(matrix, "values", _value_dtype(matrix), len(row))
    byte, high, n_bytes = _nibble_places(row)
    packed = _part(matrix, "values", np.uint8, n_bytes)[byte]
    nibble = np.where(high, packed, packed << 4).astype(np.uint8)
    return nibble.view(np.int8) >> 4  # the arithmetic shift restores the sign


def _from_gaps(matrix: Matrix, row: npt.NDArray[np.int64], gap: npt.NDArray[np.int64], value: Array) -> Entries:
    steps = np.cumsum(gap + 1)
    counts = np.bincount(row, minlength=matrix.shape[0])
    before = np.concatenate(([0], steps))[np.cumsum(counts) - counts]  # steps taken before each row begins
    column = steps - before[row] - 1
    past = column >= matrix.shape[1]
    if past.any():
        raise ProgramError(f"row {row[past.argmax()]} of a {matrix.storage} matrix runs past its end")
    kept = value != 0
    return Entries(row[kept], column[kept], value[kept])


def _require_canonical(matrix: Matrix) -> None:
    """Padding that is not 0, a filler where none is needed, a stored zero: refused, since two files would mean one."""
    dense = matrix.storage == "dense"
    finite = np.isfinite(matrix.values if dense else matrix.entries.value)
    require(bool(finite.all()), "a matrix has an entry that is not a finite number")
    if dense:
        expected = {"values": _frozen_part(_pack_dense(matrix.values, matrix.format))}
    else:
        expected = _pack_sparse(matrix.entries, matrix.shape, matrix.format, matrix.storage)
    same = all(
        np.array_equal(part.view(np.uint8), expected[name].view(np.uint8)) for name, part in matrix.parts.items()
    )
    require(same, f"a {matrix.storage} {matrix.format} matrix is not packed as smidgen packs it")
