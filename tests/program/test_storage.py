"""Matrices as bytes: what is packed is read back, by the transcription too, and has the size that counting gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from smidgen.errors import ProgramError
from smidgen.program import Matrix
from smidgen.program.storage import FORMATS, PART_NAMES
from tests.program.reference import decode

ENDS = {"int8": (-128, 127), "int4": (-8, 7), "bits": (0, 1)}
EVERY = [(number_format, storage) for number_format, storages in FORMATS.items() for storage in storages]
every_storage = pytest.mark.parametrize(("number_format", "storage"), EVERY)


@st.composite
def matrices(draw, number_format):
    """Numbers of a format, many of them 0; wide ones at times, for gaps that do not fit their field."""
    shape = draw(st.sampled_from([(1, 1), (3, 1), (1, 7), (4, 8), (5, 9), (3, 40), (2, 300), (2, 700)]))
    if number_format == "float32":
        elements = st.floats(-1e6, 1e6, width=32)
        values = draw(hnp.arrays(np.float32, shape, elements=elements, fill=st.just(0.0)))
    else:
        values = draw(hnp.arrays(np.int64, shape, elements=st.integers(*ENDS[number_format]), fill=st.just(0)))
    if draw(st.booleans()):
        rng = np.random.default_rng(draw(st.integers(0, 9)))
        values = np.where(rng.random(shape) < draw(st.sampled_from([0.01, 0.3])), rng.permutation(values), 0)
    if draw(st.booleans()):
        values[:, -1] = ENDS.get(number_format, (0, 2.5))[1]  # an entry after a long gap
    return values


def expected_bytes(values, number_format, storage):
    """The size by counting, one entry at a time."""
    rows, columns = values.shape
    if storage == "dense":
        per_row = {"float32": 4 * columns, "int8": columns, "int4": (columns + 1) // 2, "bits": (columns + 7) // 8}
        return rows * per_row[number_format]
    counts = [entries_in(row, storage) for row in values]
    value_bytes = [{"float32": 4 * n, "int8": n, "int4": (n + 1) // 2}[number_format] for n in counts]
    if storage == "bitmap":
        return rows * ((columns + 7) // 8) + sum(value_bytes)
    count_bytes = rows * (1 if max(counts) <= 255 else 2)
    return count_bytes + sum(counts) + (sum(value_bytes) if storage == "gap8" else 0)


def entries_in(row, storage):
    """The non-zeros of a row, and the fillers that its gaps need."""
    largest = {"bitmap": len(row), "gap8": 255, "gap4": 15}[storage]
    count, column = 0, 0
    for place in np.flatnonzero(row):
        while place - column > largest:
            count, column = count + 1, column + largest + 1
        count, column = count + 1, place + 1
    return count


@every_storage
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_what_is_packed_is_read_back(number_format, storage, data):
    values = data.draw(matrices(number_format))
    matrix = Matrix.pack(values, number_format, storage)
    assert matrix.storage == storage
    assert matrix.values.tolist() == values.tolist()
    assert decode(matrix) == values.tolist()
    assert matrix.n_bytes == sum(part.nbytes for part in matrix.parts.values())
    assert matrix.n_bytes == expected_bytes(values, number_format, storage)
    assert tuple(matrix.parts) == PART_NAMES[storage]
    again = Matrix.unpack(matrix.shape, matrix.format, matrix.storage, matrix.parts)
    assert again.values.tolist() == values.tolist()
    assert matrix.n_stored == (values.size if storage == "dense" else np.count_nonzero(values))


@pytest.mark.parametrize("number_format", list(FORMATS))
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_smallest_storage_wins_and_ties_keep_the_order(number_format, data):
    values = data.draw(matrices(number_format))
    sizes = [expected_bytes(values, number_format, storage) for storage in FORMATS[number_format]]
    chosen = Matrix.pack(values, number_format)
    assert chosen.storage == FORMATS[number_format][sizes.index(min(sizes))]
    assert FORMATS[number_format] == tuple(
        name for name in ("dense", "bitmap", "gap8", "gap4") if name in FORMATS[number_format]
    )


def test_bytes_by_hand():
    row = [[0, 0, 0, -3, 0, 0, 7, *[0] * 9, 1]]  # 17 columns; gaps 3, 2 and 9
    dense = Matrix.pack(row, "int4", "dense")
    assert dense.parts["values"].tolist() == [0x88, 0x58, 0x88, 0x8F, *[0x88] * 4, 0x09]
    bitmap = Matrix.pack(row, "int4", "bitmap")
    assert bitmap.parts["bitmap"].tolist() == [0b01001000, 0, 1]
    assert bitmap.parts["values"].tolist() == [0x7D, 0x01]
    gap8 = Matrix.pack(row, "int4", "gap8")
    assert [gap8.parts[name].tolist() for name in PART_NAMES["gap8"]] == [[3], [3, 2, 9], [0x7D, 0x01]]
    gap4 = Matrix.pack(row, "int4", "gap4")
    assert [gap4.parts[name].tolist() for name in PART_NAMES["gap4"]] == [[3], [0xD3, 0x72, 0x19]]
    assert [byte & 0xF0 for byte in gap4.parts["entries"].tolist()] == [16 * (-3) & 0xF0, 16 * 7, 16 * 1]
    bits = Matrix.pack([[1, 0, 0, 0, 0, 0, 0, 1, 1]], "bits")
    assert bits.parts["values"].tolist() == [0x81, 0x01]


@pytest.mark.parametrize(
    ("column", "entries"),
    [(15, [(15, 1)]), (16, [(15, 0), (0, 1)]), (31, [(15, 0), (15, 1)]), (32, [(15, 0), (15, 0), (0, 1)])],
)
def test_fillers_by_hand(column, entries):
    values = np.zeros((1, column + 3), int)
    values[0, column] = 1
    matrix = Matrix.pack(values, "int4", "gap4")
    assert matrix.parts["entries"].tolist() == [gap | value << 4 for gap, value in entries]
    assert matrix.parts["counts"].tolist() == [len(entries)]


def test_row_counts_are_wide_where_one_row_needs_it():
    values = np.zeros((2, 300), int)
    values[1, :255] = 1
    assert Matrix.pack(values, "int8", "gap8").parts["counts"].dtype == np.uint8
    values[1, 255] = 1
    matrix = Matrix.pack(values, "int8", "gap8")
    assert matrix.parts["counts"].dtype == np.uint16
    assert matrix.parts["counts"].tolist() == [0, 256]
    assert matrix.n_bytes == 4 + 256 + 256


def altered(matrix, **parts):
    return matrix.shape, matrix.format, matrix.storage, {**matrix.parts, **parts}


def u8(*values):
    return np.array(values, np.uint8)


GAP4 = Matrix.pack([[0, 3, 0, 0, -1], [0, 0, 0, 0, 0]], "int4", "gap4")  # counts 2, 0; entries 0x31, 0xF2
GAP8 = Matrix.pack([[0, 3, 0, 0, -1], [0, 0, 2, 0, 0]], "int4", "gap8")  # counts 2, 1; gaps 1, 2, 2
BITMAP = Matrix.pack([[0, 3, 0, 0, -1], [0, 0, 2, 0, 0]], "int8", "bitmap")
WIDE = Matrix.pack(np.eye(1, 40, 20, dtype=int), "int4", "gap4")  # one filler: 0x0F, 0x14


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (altered(GAP4, entries=u8(0x31, 0x02)), "not packed as"),  # a stored zero that is no filler
        (altered(GAP4, entries=u8(0x31, 0xFF)), "row 0 .* runs past its end"),
        (altered(GAP4, entries=u8(0x31, 0xF3)), "runs past its end"),
        (altered(GAP4, counts=u8(1, 1), entries=u8(0x31, 0x0F)), "row 1 .* runs past its end"),
        (altered(GAP4, counts=u8(3, 0)), "counts .* add to 3 where 2 are stored"),
        (altered(GAP4, counts=u8(1, 0)), "counts .* add to 1 where 2 are stored"),
        (altered(GAP4, counts=u8(2)), "must be 2 of uint8"),
        (altered(GAP4, counts=np.array([2, 0], np.uint16)), "not packed as"),
        (altered(GAP4, counts=np.array([2, 0], np.int64)), "counts .* int64"),
        (altered(GAP4, counts=np.array([[2, 0]], np.uint8)), "1x2"),
        (altered(GAP4, counts=np.array([[2], [0]], np.uint8)), "2x1"),
        (altered(GAP4, entries=np.array([0x31, -14], np.int8)), "entries .* int8"),
        (altered(WIDE, entries=u8(0x0F, 0x0F), counts=u8(2)), "not packed as"),  # a filler with nothing after it
        (altered(WIDE, entries=u8(0x07, 0x1C), counts=u8(2)), "not packed as"),  # a filler where none is needed
        (altered(GAP8, values=u8(0xF3, 0x12)), "not packed as"),  # padding that is not 0
        (altered(GAP8, values=u8(0xF3)), "values .* must be 2"),
        (altered(GAP8, gaps=u8(1, 2)), "add to 3 where 2"),
        (altered(GAP8, values=u8(0x03, 0x02)), "not packed as"),  # -1 became 0
        (altered(BITMAP, bitmap=u8(0x12, 0x84)), "not packed as"),  # a bit in the padding
        (altered(BITMAP, bitmap=u8(0x12, 0x06)), "values .* must be 4"),
        (altered(BITMAP, bitmap=u8(0x12)), "bitmap .* must be 2"),
        (altered(BITMAP, values=np.array([3, 0, 2], np.int8)), "not packed as"),
        (((1, 9), "bits", "dense", {"values": u8(0xFF, 0x03)}), "not packed as"),
        (((1, 3), "int4", "dense", {"values": u8(0x88, 0x80)}), "not packed as"),  # the padding's nibble is 0, not 8
        (((1, 2), "float32", "dense", {"values": np.array([1, np.nan], np.float32)}), "not a finite"),
        (((1, 2), "float32", "dense", {"values": np.array([1.0, 2.0])}), "float64"),
        (((1, 2), "int8", "dense", {"values": np.array([1], np.int8)}), "must be 2 of int8"),
        (((1, 2), "int8", "dense", {"bitmap": u8(1)}), "has the parts values"),
        (((1, 2), "int8", "dense", {}), "has the parts values"),
        (((1, 2), "int8", "gap4", {"counts": u8(0), "entries": u8()}), "storage is 'gap4'"),
        (((1, 2), "bits", "bitmap", {"bitmap": u8(0), "values": u8()}), "storage is 'bitmap'"),
        (((1, 2), "int2", "dense", {"values": u8(0)}), "format is 'int2'"),
        (((0, 2), "int8", "dense", {"values": u8()}), "must be a whole number in 1..65535"),
        (((1, 65_536), "int8", "gap8", {"counts": u8(0), "gaps": u8(), "values": u8()}), "1..65535"),
        (((-1, -2), "int8", "dense", {"values": u8()}), "1..65535"),
        (((1.0, 2), "int8", "dense", {"values": u8(1, 1)}), "whole number"),
        (((True, 2), "int8", "dense", {"values": u8(1, 1)}), "whole number"),
    ],
)
def test_parts_that_lie_are_refused(claim, sentence):
    with pytest.raises(ProgramError, match=sentence):
        Matrix.unpack(*claim)


@every_storage
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_parts_are_refused_or_are_what_pack_writes(number_format, storage, data):
    """One changed byte, or one byte more or less, in any part: never a crash, never a second way to write a matrix."""
    values = data.draw(matrices(number_format))
    matrix = Matrix.pack(values, number_format, storage)
    name = data.draw(st.sampled_from(PART_NAMES[storage]))
    part = matrix.parts[name]
    raw = bytearray(part.tobytes())
    change = data.draw(st.sampled_from(["flip", "cut", "grow"]))
    if change == "flip" and raw:
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    elif change == "cut":
        raw = raw[: -part.itemsize]
    else:
        raw += b"\1" * part.itemsize
    parts = {**matrix.parts, name: np.frombuffer(bytes(raw), part.dtype)}
    try:
        read = Matrix.unpack(matrix.shape, matrix.format, matrix.storage, parts)
    except ProgramError:
        return
    packed = Matrix.pack(read.values, number_format, storage)
    assert all(packed.parts[key].tobytes() == read.parts[key].tobytes() for key in packed.parts)
    assert decode(read) == read.values.tolist()


def test_a_huge_sparse_matrix_is_counted_but_never_laid_out():
    matrix = Matrix.unpack((65_535, 65_535), "int4", "gap4", {"counts": u8(*[1], *[0] * 65_534), "entries": u8(0x14)})
    assert matrix.n_bytes == 65_536
    with pytest.raises(ProgramError, match="laid out it has 4,294,836,225 numbers, more than 268,435,456"):
        matrix.values  # noqa: B018


def test_a_huge_shape_takes_no_memory_that_its_parts_do_not_justify():
    counts = np.zeros(65_535, np.uint8)
    counts[7] = 1
    matrix = Matrix.unpack((65_535, 65_535), "int4", "gap4", {"counts": counts, "entries": u8(0x14)})
    assert [index.tolist() for index in matrix.entries] == [[7], [4], [1]]
    with pytest.raises(ProgramError, match="must be 2,147,450,880 of uint8"):
        Matrix.unpack((65_535, 65_535), "int4", "dense", {"values": u8(1)})


@pytest.mark.parametrize(
    ("values", "number_format", "sentence"),
    [
        ([[8]], "int4", "has the entry 8; int4 holds whole numbers in -8..7"),
        ([[-129]], "int8", "has the entry -129"),
        ([[0.5]], "int8", "has the entry 0.5"),
        ([[2]], "bits", "has the entry 2"),
        ([[np.nan]], "int8", "not a finite number"),
        ([[np.inf]], "float32", "not a finite number"),
        ([[1e39]], "float32", "float32 cannot hold"),
        ([1, 2], "int8", "two dimensions, not 1"),
        (np.zeros((0, 3)), "int8", "a side must be"),
        (np.zeros((1, 65_536)), "bits", "a side must be"),
        ([["a"]], "int8", "must hold numbers"),
        ([[1]], "int16", "format is 'int16'"),
    ],
)
def test_values_that_no_format_holds_are_refused(values, number_format, sentence):
    with pytest.raises(ProgramError, match=sentence):
        Matrix.pack(values, number_format)


def test_a_storage_that_a_format_lacks_is_refused():
    with pytest.raises(ProgramError, match="gap4"):
        Matrix.pack([[1]], "int8", "gap4")


def test_parts_are_read_only_and_apart_from_what_was_packed():
    values = np.array([[1.0, 2.0]], np.float32)
    matrix = Matrix.pack(values, "float32", "dense")
    values[0, 0] = 9
    assert matrix.values.tolist() == [[1, 2]]
    for array in (matrix.values, *matrix.parts.values()):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_negative_zeros_are_zeros():
    one, other = (Matrix.pack([[zero, 1.0]], "float32", "dense") for zero in (0.0, -0.0))
    assert one.parts["values"].tobytes() == other.parts["values"].tobytes()


def test_big_endian_parts_become_native():
    matrix = Matrix.unpack((1, 2), "float32", "dense", {"values": np.array([1, 2], ">f4")})
    assert matrix.values.tolist() == [[1, 2]]
    assert matrix.parts["values"].dtype.isnative


def test_describe_reads_well():
    assert GAP4.describe() == "2 x 5 int4 gap4, 20 % filled, 4 bytes"
    assert Matrix.pack(np.ones((2, 2000)), "bits").describe() == "2 x 2,000 bits dense, 500 bytes"
