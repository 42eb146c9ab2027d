"""The constants of a step in the order in which C reads them: row after row, each as its bytes and its floats.

The same bytes as `Matrix.parts`, only sorted by row, so that one pointer walks through all of them (docs/c.md).
Imports NumPy and the Program.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from smidgen.program import GroupReduce, Matrix
from smidgen.program.checks import Array


@dataclass
class Row:
    """What belongs to one row of a matrix: bytes, and the float32 numbers of a float Program."""

    bytes: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)


def matrix_rows(matrix: Matrix) -> list[Row]:
    """The rows of a matrix."""
    parts = {name: part.tolist() for name, part in matrix.parts.items()}
    rows = [Row() for _ in range(matrix.shape[0])]
    n_entries = np.full(matrix.shape[0], matrix.shape[1]) if matrix.storage == "dense" else _add_places(matrix, rows)
    if matrix.storage == "gap4":
        values, lengths = parts["entries"], n_entries
    else:
        values, lengths = parts["values"], _value_lengths(matrix, n_entries)
    stream = iter(values)
    for row, length in zip(rows, lengths.tolist(), strict=True):
        taken = [next(stream) for _ in range(length)]
        if matrix.format == "float32":
            row.floats = taken
        elif matrix.storage == "gap8" and matrix.format == "int8":
            n_count = len(row.bytes) - length
            row.bytes[n_count:] = [byte for pair in zip(row.bytes[n_count:], taken, strict=True) for byte in pair]
        else:
            row.bytes += taken
        row.bytes = [byte & 255 for byte in row.bytes]
    return rows


def _add_places(matrix: Matrix, rows: list[Row]) -> Array:
    """Put bitmaps, or counts and gaps, before each row; how many values each row has."""
    if matrix.storage == "bitmap":
        bitmaps = matrix.parts["bitmap"].reshape(len(rows), -1)
        for row, bitmap in zip(rows, bitmaps.tolist(), strict=True):
            row.bytes = bitmap
        return np.asarray(np.unpackbits(bitmaps, axis=1).sum(axis=1, dtype=np.int64))
    counts = matrix.parts["counts"]
    gaps = iter(matrix.parts["gaps"].tolist() if "gaps" in matrix.parts else ())
    for row, head, count in zip(rows, _little_endian(counts), counts.tolist(), strict=True):
        row.bytes = head + [next(gaps) for _ in range(count if matrix.storage == "gap8" else 0)]
    return counts.astype(np.int64)


def _value_lengths(matrix: Matrix, n_entries: Array) -> Array:
    per_byte = {"bits": 8, "int4": 2}.get(matrix.format, 1)
    return -(-n_entries // per_byte)


def column_blocks(matrix: Matrix, tails: list[Row], block: int) -> list[Row]:
    """A dense int4 matrix by blocks of rows: column after column, two rows to a byte; then its rows' tails."""
    stored = (matrix.values.astype(np.uint8) + 8) & 15
    rows = []
    for start in range(0, matrix.shape[0], block):
        columns = stored[start : start + block].T
        rows += [Row(column) for column in (columns[:, 0::2] | columns[:, 1::2] << 4).tolist()]
        rows += tails[start : start + block]
    return rows


def with_vector(rows: list[Row], vector: Array | None, *, last: bool = False) -> list[Row]:
    """Rows with one number of a vector, such as a bias, before each of them, or after it."""
    if vector is None:
        return rows
    if vector.dtype == np.float32:
        return [Row(row.bytes, [number, *row.floats]) for row, number in zip(rows, vector.tolist(), strict=True)]
    numbers = zip(rows, _little_endian(vector), strict=True)
    return [Row(row.bytes + number if last else number + row.bytes, row.floats) for row, number in numbers]


def grouped(rows: list[Row], step: GroupReduce) -> Iterator[Row]:
    """Rows with the number of its entries before those of each class."""
    stream = iter(rows)
    for head, count in zip(_little_endian(step.counts), step.counts.tolist(), strict=True):
        yield Row(head)
        for _ in range(count):
            yield next(stream)


def _little_endian(vector: Array) -> list[list[int]]:
    """Each number as its bytes, the low one first."""
    flat = vector.astype(vector.dtype.newbyteorder("<"))
    return flat.view(np.uint8).reshape(len(vector), -1).tolist()
