"""A slow, plain transcription of docs/arithmetic.md: one row, one entry, one Python integer at a time.

It is the independent judge of `smidgen.program` (and of C, later), written from the page and not from the code. It
reads matrices from their packed parts, entry by entry, and as it goes it asserts what the Program says it has proved:
every value within its proven bounds, every result within the accumulator, every shifted sum within int16. NumPy appears
only as `float32` scalars, where the page says that the board rounds. Imports NumPy and the steps' names.
"""

import math

import numpy as np

from smidgen.program import Decide, Distance, GroupReduce, Input, Linear, Matrix, Program

INT16 = range(-(1 << 15), 1 << 15)
INT24 = range(-(1 << 23), 1 << 23)
INT32 = range(-(1 << 31), 1 << 31)
BYTE = range(256)
RAW = {"uint8": BYTE, "int8": range(-128, 128), "int16": INT16}


def run(program: Program, row) -> tuple[list, object]:
    """Scores and prediction (an index, a list of 0 and 1, or a list of values) of one row of what the sensor gives."""
    return Reference(program).run(row)


class Reference:
    """A Program whose matrices are decoded once, to run many rows, one by one."""

    def __init__(self, program: Program):
        self.program = program
        self.tables = [_table(step) for step in program.steps]

    def run(self, row) -> tuple[list, object]:
        """See `run`."""
        steps, signals = self.program.steps, self.program.signals
        values = run_input(steps[0], list(row))
        _assert_within(values, signals[0])
        for index, (step, table) in enumerate(zip(steps[1:-1], self.tables[1:-1], strict=True), start=1):
            incoming = signals[index - 1]
            if isinstance(step, Linear):
                values = run_linear(step, table, values, incoming)
            elif isinstance(step, Distance):
                values = run_distance(step, table, values, incoming)
            else:
                values = run_group(step, values)
            _assert_within(values, signals[index])
        return values, run_decide(steps[-1], values)


def _table(step):
    if isinstance(step, Linear):
        return decode(step.weights)
    return decode(step.points) if isinstance(step, Distance) else None


def _assert_within(values, signal):
    assert len(values) == signal.width
    if signal.kind in ("bytes", "bits"):
        assert all(value in (BYTE if signal.kind == "bytes" else (0, 1)) for value in values)
    if signal.range is not None:
        for value, low, high in zip(values, signal.range.low.tolist(), signal.range.high.tolist(), strict=True):
            assert low <= value <= high, f"{value} is not in the proven {low}..{high}"


# Input (10 to 13).


def run_input(step: Input, row: list) -> list:
    """A row of raw numbers → bytes, or float64 values."""
    assert len(row) == step.n_features
    out: list = []
    for feature, x in enumerate(row):
        n_codes = 0 if step.codes is None else int(step.codes[feature])
        offset = _of(step.offset, feature)
        if _is_missing(step, x):
            out += [0] * n_codes if n_codes else [_of(step.fill, feature)]
        elif n_codes:
            code = np.float32(x) - np.float32(offset) if step.raw == "float32" else x - offset
            out += [step.hot if code == number else 0 for number in range(n_codes)]
        elif step.output == "float32":
            raw = float(np.float32(x))
            out.append((raw - offset) * float(_of(step.multiplier, feature)))
        elif step.raw == "float32":
            out.append(_byte_of_float(step, feature, x, offset))
        else:
            assert x in RAW[step.raw]
            assert step.trusted_range is None or step.trusted_range[0] <= x <= step.trusted_range[1]
            product = (x - offset) * _of(step.multiplier, feature)
            assert product in INT32
            out.append(_clip(product >> _of(step.shift, feature), 255))
    return out


def _is_missing(step: Input, x) -> bool:
    if step.missing is None:
        return False
    return math.isnan(x) or x == step.missing


def _byte_of_float(step: Input, feature: int, x, offset: float) -> int:
    factor = _of(step.multiplier, feature) * 2.0 ** (step.base + _of(step.shift, feature))
    assert float(np.float32(factor)) == factor, "m * 2^k is exact in float32"
    with np.errstate(all="ignore"):
        scaled = (np.float32(x) - np.float32(offset)) * np.float32(factor)
    if scaled < 0:  # saturated by comparing, before anything is converted
        return 0
    return 255 if scaled >= 255 else math.floor(scaled)


def _of(value, feature: int):
    return value[feature].item() if isinstance(value, np.ndarray) else value


def _clip(value: int, high: int) -> int:
    return 0 if value < 0 else min(value, high)


# Linear (1 to 8).


def run_linear(step: Linear, weights: list[list], values: list, incoming) -> list:
    """Bytes, bits or accumulators (of float32 weights: numbers or bits)."""
    bias = [0] * step.n_outputs if step.bias is None else step.bias.tolist()
    sums = []
    for row, start in zip(weights, bias, strict=True):
        accumulator = start
        for weight, value in zip(row, values, strict=True):
            if step.weights.format == "bits":
                accumulator += value if weight else -value
            else:
                accumulator += weight * value
        sums.append(accumulator)
    if step.is_float:
        if step.activation == "sign":
            return [1 if accumulator >= 0 else 0 for accumulator in sums]
        return [max(accumulator, 0.0) if step.activation == "relu" else accumulator for accumulator in sums]
    _assert_accumulators(sums, step.accumulators(incoming))
    if step.activation == "sign":
        return [1 if accumulator >= 0 else 0 for accumulator in sums]
    if step.rescale is None:
        return sums
    return [_rescaled(step, output, accumulator) for output, accumulator in enumerate(sums)]


def _assert_accumulators(sums: list[int], proven) -> None:
    bits = proven.bits("a sum")
    for accumulator, low, high in zip(sums, proven.low.tolist(), proven.high.tolist(), strict=True):
        assert low <= accumulator <= high
        assert accumulator in {16: INT16, 24: INT24, 32: INT32}[bits]


def _rescaled(step: Linear, output: int, accumulator: int) -> int:
    rescale = step.rescale
    assert rescale is not None
    shifted = accumulator >> rescale.pre
    assert shifted in INT16
    product = shifted * _of(rescale.multiplier, output)
    assert product in INT24
    zero = 0 if step.activation == "relu" else 128
    return _clip(zero + (product >> rescale.shift), rescale.high)


# Distance (14 to 16).


def run_distance(step: Distance, points: list[list], values: list, incoming) -> list:
    """Distances, or kernel values, to every point."""
    if step.metric == "hamming":
        return [sum(1 for a, b in zip(values, point, strict=True) if a != b) for point in points]
    if step.points.format == "float32":
        squares = [sum((a - b) ** 2 for a, b in zip(values, point, strict=True)) for point in points]
        return squares if step.kernel is None else [math.exp(-step.kernel * square) for square in squares]
    out = []
    proven = step.accumulators(incoming)
    for row, low, high in zip(points, proven.low.tolist(), proven.high.tolist(), strict=True):
        square = 0
        for stored, value in zip(row, values, strict=True):
            point = step.zero + (stored << step.shift)
            assert point in BYTE
            square += (value - point) * (value - point)
        assert low <= square <= high
        assert square < 1 << 32
        if step.kernel is not None:
            out.append(_gaussian(step.kernel.table.tolist(), step.kernel.shift, square))
        else:
            assert square in INT32
            out.append(square)
    return out


def _gaussian(table: list[int], shift: int, square: int) -> int:
    index = square >> shift
    fraction = (square >> (shift - 8)) & 255
    if index >= len(table) - 1:
        return 0
    return table[index] - (((table[index] - table[index + 1]) * fraction) >> 8)


# GroupReduce and Decide (7, 17, 18): they take one value at a time.


def run_group(step: GroupReduce, values: list) -> list:
    """One winner a class."""
    stream = iter(values)
    out = []
    for count in step.counts.tolist():
        best = step.floor
        for _ in range(count):
            value = next(stream)
            if best is None or (value > best if step.operation == "max" else value < best):
                best = value
        assert best is not None
        out.append(best)
    assert next(stream, None) is None
    return out


def run_decide(step: Decide, scores: list):
    """An index, a list of 0 and 1, or a list of values."""
    if step.kind in ("argmax", "argmin"):
        winner = 0
        for index, score in enumerate(scores):
            if score > scores[winner] if step.kind == "argmax" else score < scores[winner]:
                winner = index
        return winner
    if step.kind == "threshold":
        return 1 if scores[0] > 0 else 0
    if step.kind == "labels":
        return [1 if score > 0 else 0 for score in scores]
    if step.kind == "best":
        ranked = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
        return [1 if index in ranked[: step.k] else 0 for index in range(len(scores))]
    if step.scale is None:
        return list(scores)
    return [float(np.float32(score) * np.float32(unit)) for score, unit in zip(scores, step.scale, strict=True)]


# Storage (19): packed parts → a list of rows.


def decode(matrix: Matrix) -> list[list]:
    """All numbers of a matrix, read from its packed parts byte by byte; signed integers, bits as 0 and 1, or floats."""
    reader = {"dense": _decode_dense, "bitmap": _decode_bitmap, "gap8": _decode_gaps, "gap4": _decode_gaps}
    cursors = {name: _Cursor(part.tolist()) for name, part in matrix.parts.items()}
    columns = matrix.shape[1]
    rows = [reader[matrix.storage](cursors, columns, matrix.format) for _ in range(matrix.shape[0])]
    assert all(cursor.at_end for cursor in cursors.values()), "every stored byte was read"
    return rows


class _Cursor:
    """Reads a list from its start on."""

    def __init__(self, items: list):
        self.items, self.place = items, 0

    def take(self):
        """The next item."""
        self.place += 1
        return self.items[self.place - 1]

    @property
    def at_end(self) -> bool:
        """Whether all was read."""
        return self.place == len(self.items)


def _fields(cursor: _Cursor, n_fields: int, bits: int) -> list[int]:
    """Fields of 1 or 4 bits, the low one first; the padding of the last byte must be 0."""
    out = []
    per_byte = 8 // bits
    for number in range(n_fields):
        if number % per_byte == 0:
            byte = cursor.take()
        out.append(byte >> (bits * (number % per_byte)) & ((1 << bits) - 1))
    used = n_fields % per_byte
    assert not used or byte >> (bits * used) == 0, "padding is 0"
    return out


def _signed_nibble(nibble: int) -> int:
    return nibble - 16 if nibble >= 8 else nibble


def _decode_dense(cursors, columns: int, number_format: str) -> list:
    values = cursors["values"]
    if number_format == "bits":
        return _fields(values, columns, 1)
    if number_format == "int4":
        return [nibble - 8 for nibble in _fields(values, columns, 4)]
    return [values.take() for _ in range(columns)]


def _row_values(cursor: _Cursor, n_values: int, number_format: str) -> list:
    if number_format == "int4":
        return [_signed_nibble(nibble) for nibble in _fields(cursor, n_values, 4)]
    return [cursor.take() for _ in range(n_values)]


def _decode_bitmap(cursors, columns: int, number_format: str) -> list:
    present = _fields(cursors["bitmap"], columns, 1)
    values = iter(_row_values(cursors["values"], sum(present), number_format))
    return [next(values) if bit else 0 for bit in present]


def _decode_gaps(cursors, columns: int, number_format: str) -> list:
    row = [0] * columns
    count = cursors["counts"].take()
    if "entries" in cursors:
        packed = [cursors["entries"].take() for _ in range(count)]
        gaps, values, largest = [byte & 15 for byte in packed], [_signed_nibble(byte >> 4) for byte in packed], 15
    else:
        gaps, largest = [cursors["gaps"].take() for _ in range(count)], 255
        values = _row_values(cursors["values"], count, number_format)
    column = 0
    for gap, value in zip(gaps, values, strict=True):
        column += gap
        assert column < columns, "a row does not run past its end"
        assert value != 0 or gap == largest, "only a filler stores a zero"
        row[column] = value
        column += 1
    assert count == 0 or values[-1] != 0, "no filler ends a row"
    return row
