"""One function a step: its constants, and the C that computes with them, most of it a call of runtime/.

All names begin with `smidgen_`, which becomes the model's prefix. Imports the Program.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from smidgen.emit.rows import Row, matrix_rows, with_vector
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


def linear(step: Linear, incoming: Signal, index: int) -> Producer:  # noqa: ARG001
    """One row: a bias, a row of weights, at times a multiplier."""
    rows = with_vector(matrix_rows(step.weights), step.bias)
    if step.is_float:
        return Producer(rows, _float_linear(step))
    bits = step.accumulators(incoming).bits("a sum")
    sum_bits = 16 if bits == 16 else 32
    body = [f"uint{sum_bits}_t sum = {_bias(step, sum_bits)};", _weights_call(step, f"_{sum_bits}")]
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


def _bias(step: Linear, sum_bits: int) -> str:
    if step.bias is None:
        return "0"
    if step.bias.dtype == np.int32:
        return "(uint16_t)smidgen_read32(at)" if sum_bits == 16 else "smidgen_read32(at)"
    return "smidgen_read16(at)" if sum_bits == 16 else "(uint32_t)(int16_t)smidgen_read16(at)"


def _weights_call(step: Linear, suffix: str) -> str:
    weights = step.weights
    n = str(weights.shape[1])
    if weights.storage in ("gap8", "gap4"):
        n = "smidgen_read8(at)" if weights.parts["counts"].dtype == np.uint8 else "smidgen_read16(at)"
    return f"sum = smidgen_{weights.storage}_{weights.format}{suffix}(x, {n}, at, sum);"


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
    call = f"smidgen_squared_{step.points.format}_{sum_bits}(x, {n}, at, {zero}, {step.shift})"
    if not isinstance(step.kernel, Gaussian):
        return Producer(rows, [f"return (int{sum_bits}_t){call};"])
    table = Constant(f"{index}_table", "uint8_t", [step.kernel.table.tolist()], "the Gaussian")
    last = len(step.kernel.table) - 1
    body = f"return smidgen_gaussian({call}, {step.kernel.shift}, smidgen_{table.name}, {last});"
    return Producer(rows, [body], (table,))


PRODUCERS: dict[type, Callable[[Any, Signal, int], Producer]] = {Linear: linear, Distance: distance}
"""What makes C of each step that computes. Input, GroupReduce and Decide have their own places in `c`."""
