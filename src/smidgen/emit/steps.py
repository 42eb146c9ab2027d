"""One function a step: its constants, and the C that computes with them, most of it a call of runtime/.

All names begin with `smidgen_`, which becomes the model's prefix. Imports the Program.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smidgen.emit.routines import Routine, step_routine
from smidgen.emit.rows import Row, column_blocks, matrix_rows, with_vector
from smidgen.emit.text import Constant, float_literal
from smidgen.program import Distance, Gaussian, Input, Linear, Rescale
from smidgen.program.input import RAW_LIMITS
from smidgen.program.signal import Signal

INT16 = (-(2**15), 2**15 - 1)


@dataclass(frozen=True)
class Producer:
    """A Linear or a Distance: the constants of each row in order of use, and the C that makes one number of each.

    `body` reads `x` and `at` and ends in a return; `tables` are constants besides the rows.
    """

    rows: list[Row]
    body: list[str]
    tables: tuple[Constant, ...] = ()
    whole: Routine | None = None
    """A routine for the whole step, in which case `body` is what calls it, with `x` and `y`."""


# Input.


def input_constants(step: Input) -> list[Constant]:
    """The arrays of an Input, as they are."""
    ctypes = {"uint8": "uint8_t", "int16": "int16_t", "float32": "float"}
    return [
        Constant(f"0_{name}", ctypes[array.dtype.name], [array.tolist()], f"the {name} of each feature")
        for name, array in step.constants().items()
    ]


def input_body(step: Input) -> list[str]:
    """The C that makes one or more values `*y++` of the raw number `x[i]`."""
    lines = []
    if step.codes is not None:
        lines += [
            "const uint8_t codes = smidgen_U8(smidgen_0_codes + i);",
            "if (codes) {",
            f"    y = {_one_hot(step)};",
            "    continue;",
            "}",
        ]
    if step.missing is not None:
        test = "x[i] != x[i]" if step.missing == "nan" else f"x[i] == {step.missing}"
        lines += [f"if ({test}) {{", f"    *y++ = {_element(step.fill, 'fill')};", "    continue;", "}"]
    return [*lines, f"*y++ = {_scaled(step)};"]


def _one_hot(step: Input) -> str:
    kind, hot = ("bytes", str(step.hot)) if step.output == "bytes" else ("floats", float_literal(step.hot))
    if step.raw == "float32":  # a NaN is no code
        code = f"smidgen_code_of_float({_minus_offset(step, 'x[i]')})"
    else:
        code = _minus_offset(step, "(int32_t)x[i]")
        code = code if step.missing is None else f"x[i] == {step.missing} ? -1 : {code}"
    return f"smidgen_one_hot_{kind}(y, codes, {code}, {hot})"


def _minus_offset(step: Input, value: str) -> str:
    if isinstance(step.offset, np.ndarray):
        return f"{value} - {_element(step.offset, 'offset')}"
    offset = float_literal(abs(step.offset)) if step.raw == "float32" else str(abs(int(step.offset)))
    return f"{value} {'-' if step.offset > 0 else '+'} {offset}" if step.offset else value


def _element(array: object, name: str) -> str:
    assert isinstance(array, np.ndarray)
    read = {"uint8": "smidgen_U8({})", "int16": "(int16_t)smidgen_U16({})", "float32": "smidgen_F32({})"}
    return read[array.dtype.name].format(f"smidgen_0_{name} + i")


def _scaled(step: Input) -> str:
    if step.output == "float32":
        value = _minus_offset(step, "x[i]" if step.raw == "float32" else "(int32_t)x[i]")
        if step.raw != "float32":
            value = f"(float)({value})"
        return f"({value}) * {_element(step.multiplier, 'multiplier')}" if _is_array(step.multiplier) else value
    if step.raw == "float32":
        value, factor = _minus_offset(step, "x[i]"), _float_factor(step)
        return f"smidgen_byte_of_float(({value}) * {factor})" if factor else f"smidgen_byte_of_float({value})"
    value = _minus_offset(step, f"({_product_type(step)})x[i]")
    if _is_array(step.multiplier):
        value = f"({value}) * {_element(step.multiplier, 'multiplier')}"
    shift = _shift(step)
    return f"smidgen_clip(({value}) >> {shift})" if shift != "0" else f"smidgen_clip({value})"


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def _product_type(step: Input) -> str:
    """int16_t where (x - o) * m provably fits, else int32_t."""
    ends = [(end - np.asarray(step.offset, np.int64)) for end in RAW_LIMITS[step.raw]]
    reach = max(int(np.abs(end * np.asarray(step.multiplier, np.int64)).max()) for end in ends)
    reach = max(reach, *(int(np.abs(end).max()) for end in ends))
    return "int16_t" if reach <= INT16[1] else "int32_t"


def _shift(step: Input) -> str:
    if _is_array(step.shift):
        return "(smidgen_U8(smidgen_0_shift + (i >> 1)) >> ((i & 1u) << 2) & 15)"
    return str(step.shift)


def _float_factor(step: Input) -> str:
    """The factor m * 2^k as one exact float32; nothing where it is 1."""
    if not _is_array(step.multiplier) and not _is_array(step.shift):
        factor = 2.0 ** (step.base + int(np.asarray(step.shift)))
        return "" if factor == 1.0 else float_literal(factor)
    multiplier = f"(uint32_t){_element(step.multiplier, 'multiplier')}" if _is_array(step.multiplier) else "(uint32_t)1"
    # at most 255 << 15, which float32 holds; the power of two changes nothing but its exponent
    return f"((float)({multiplier} << {_shift(step)}) * {float_literal(2.0**step.base)})"


# Linear.


def linear(step: Linear, incoming: Signal, index: int) -> Producer:
    """One row: a bias, a row of weights, at times a multiplier."""
    rows = with_vector(matrix_rows(step.weights), step.bias)
    if step.is_float:
        return Producer(rows, _float_linear(step))
    bits = step.accumulators(incoming).bits("a sum")
    if bits == 16 and (block := _block_rows(step)):
        return _linear_by_columns(step, incoming, index, block)
    sum_bits = 16 if bits == 16 else 32
    body = [f"uint{sum_bits}_t sum = {_bias(step, sum_bits)};", _weights_call(step, f"_{bits}")]
    signed = f"(int{sum_bits}_t)sum"
    if step.activation == "sign":
        body.append(f"return {signed} >= 0;")
    elif step.rescale is None:
        body.append(f"return {signed};")
    else:
        if _is_array(step.rescale.multiplier):
            rows = with_vector(rows, np.asarray(step.rescale.multiplier), last=True)
        body.append(_rescale_return(step, step.rescale, signed, sum_bits))
    return Producer(rows, body)


def _block_rows(step: Linear) -> int:
    """How many rows are summed at once, column by column: as many as AVR's registers hold; 0 where it does not pay."""
    rows, columns = step.weights.shape
    suits = step.weights.storage == "dense" and step.weights.format == "int4" and columns <= 255
    narrow = step.bias is None or step.bias.dtype == np.int16
    if not suits or not narrow or step.rescale is None or step.rescale.shift < 8:
        return 0
    return next((block for block in (10, 8, 6, 4) if rows % block == 0), 0)


def _linear_by_columns(step: Linear, incoming: Signal, index: int, block: int) -> Producer:
    """Blocks of rows, each a column after the other, then the rows' biases and multipliers."""
    assert step.rescale is not None
    rescale, multipliers = step.rescale, np.asarray(step.rescale.multiplier)
    tails = with_vector([Row() for _ in range(step.n_outputs)], step.bias)
    tails = with_vector(tails, multipliers, last=True) if multipliers.ndim else tails
    sums = replace(step, bias=None).accumulators(incoming)
    short = max(-int(sums.low[1::2].min()) - 1, int(sums.high[1::2].max())) < 2048
    words = {
        "INDEX": index,
        "ROWS": block,
        "COLUMNS": step.weights.shape[1],
        "SHORT": int(short),
        "HAS_BIAS": int(step.bias is not None),
        "BIAS": "0" if step.bias is None else "smidgen_read16(&at)",
        "HAS_MULTIPLIERS": multipliers.ndim,
        "ONE_MULTIPLIER": 0 if multipliers.ndim else int(multipliers),
        "MULTIPLIER": "smidgen_read8(&at)" if multipliers.ndim else int(multipliers),
        "PRE": rescale.pre,
        "SHIFT": rescale.shift,
        "ZERO": step.zero,
        "HIGH": rescale.high,
    }
    call, start = f"smidgen_columns_{index}", f"smidgen_{index}_bytes"
    if block == step.n_outputs:
        body = [f"(void){call}(x, y, {start});"]
    else:
        body = [f"const uint8_t *w = {start};", "uint16_t i;"]
        body += [f"for (i = 0; i < {step.n_outputs}; i = (uint16_t)(i + {block})) {{"]
        body += [f"    w = {call}(x, y + i, w);", "}"]
    return Producer(column_blocks(step.weights, tails, block), body, whole=step_routine("columns_int4", words))


def _bias(step: Linear, sum_bits: int) -> str:
    if step.bias is None:
        return "0"
    if step.bias.dtype == np.int32:
        return "(uint16_t)smidgen_read32(at)" if sum_bits == 16 else "smidgen_read32(at)"
    return "smidgen_read16(at)" if sum_bits == 16 else "(uint32_t)(int16_t)smidgen_read16(at)"


def _weights_call(step: Linear, suffix: str) -> str:
    weights = step.weights
    name = f"smidgen_{weights.storage}_{weights.format}{suffix}"
    if weights.storage in ("dense", "bitmap"):
        return f"sum = {name}(x, {weights.shape[1]}, at, sum);"
    return f"sum = {name}{'' if weights.parts['counts'].dtype == np.uint8 else '_long'}(x, at, sum);"


def _rescale_return(step: Linear, rescale: Rescale, signed: str, sum_bits: int) -> str:
    multiplier = "smidgen_read8(at)" if _is_array(rescale.multiplier) else str(rescale.multiplier)
    if rescale.pre:
        signed = f"(int16_t)({signed} >> {rescale.pre})"
    elif sum_bits != 16:
        signed = "(int16_t)sum"
    return f"return smidgen_rescale({signed}, {multiplier}, {rescale.shift}, {step.zero}, {rescale.high});"


def _float_linear(step: Linear) -> list[str]:
    ending = {"none": "sum", "relu": "sum > 0.0f ? sum : 0.0f", "sign": "sum >= 0.0f"}[step.activation]
    start = "0.0f" if step.bias is None else "smidgen_read_float(at)"
    return [f"float sum = {start};", _weights_call(step, ""), f"return {ending};"]


# Distance.


def distance(step: Distance, incoming: Signal, index: int) -> Producer:
    """One row: a point."""
    rows, n = matrix_rows(step.points), step.points.shape[1]
    if step.metric == "hamming":
        return Producer(rows, [f"return (value_t)smidgen_hamming(x, {-(-n // 8)}, at);"])
    if step.is_float:
        call = f"smidgen_squared_float32(x, {n}, at)"
        if isinstance(step.kernel, float):
            call = f"smidgen_exp_of_minus({float_literal(step.kernel)} * {call})"
        return Producer(rows, [f"return {call};"])
    bits = step.accumulators(incoming).bits("Distance", signed=step.kernel is None)
    sum_bits = 16 if bits == 16 else 32
    # the nibble u of a stored int4 is value + 8; points are bytes, so that all of it may count modulo 256
    zero = step.zero if step.points.format == "int8" else step.zero - (8 << step.shift) & 255
    call = f"smidgen_squared_{step.points.format}_{bits}(x, {n}, at, {zero}, {step.shift})"
    if not isinstance(step.kernel, Gaussian):
        return Producer(rows, [f"return (int{sum_bits}_t){call};"])
    table = Constant(f"{index}_table", "uint8_t", [step.kernel.table.tolist()], "the Gaussian")
    last = len(step.kernel.table) - 1
    if n <= 16 and step.n_outputs <= 255 and step.kernel.shift <= 23:
        squared = f"smidgen_squared_{step.points.format}_{bits}"
        return _whole_kernel(step, index, Producer(rows, [], (table,)), squared, zero)
    body = f"return smidgen_gaussian({call}, {step.kernel.shift}, smidgen_{table.name}, {last});"
    return Producer(rows, [body], (table,))


def _whole_kernel(step: Distance, index: int, constants: Producer, squared: str, least: int) -> Producer:
    """A routine for all points, which AVR takes with x in its registers."""
    kernel = step.kernel
    assert isinstance(kernel, Gaussian)
    words = {
        "INDEX": index,
        "POINTS": step.n_outputs,
        "COLUMNS": step.points.shape[1],
        "IS_INT4": int(step.points.format == "int4"),
        "LEAST": least,
        "POINT_SHIFT": step.shift,
        "SHIFT": kernel.shift,
        "LAST": len(kernel.table) - 1,
        "SQUARED": squared,
        "IS_WIDE": int(not squared.endswith("16")),
    }
    body = [f"smidgen_kernel_{index}(x, y, smidgen_{index}_bytes, smidgen_{index}_table);"]
    return replace(constants, body=body, whole=step_routine("kernel", words))


PRODUCERS: dict[type, Callable[[Any, Signal, int], Producer]] = {Linear: linear, Distance: distance}
"""What makes C of each step that computes. Input, GroupReduce and Decide have their own places in `c`."""
