"""A Program as an Arduino library: the C, what the IDE wants to know, and two sketches. Imports the rest of this room.

`ReadRows` answers rows that come over Serial. `SelfTest` holds a few rows and the scores that Python gives them, and
says on the real board whether they are equal, and how long a prediction takes.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from smidgen.emit.c import c_files, write_files
from smidgen.emit.names import checked_name
from smidgen.emit.routines import named, runtime
from smidgen.emit.text import filled, float_literal, int_literal
from smidgen.program import Program
from smidgen.program.checks import Array
from smidgen.program.input import RAW_LIMITS

MOST_GOLDEN_ROWS = 10
MOST_GOLDEN_BYTES = 8192
"""Rows and scores in the self-test: it must fit a board of 32 kB beside the model."""


def write_arduino_library(
    program: Program, folder: str | os.PathLike[str], name: str = "model", *, rows: Any = None
) -> list[Path]:
    """Write the Program as an Arduino library: put the folder among your libraries, or zip it.

    Parameters
    ----------
    program
        What the library computes, to the bit.
    folder
        The library's own folder, which is made if need be.
    name
        The library's name, and the prefix of every name in its C.
    rows
        Raw rows for the self-test, of which it takes the first few; some random ones where none are given.

    Examples
    --------
    >>> from smidgen.program import Decide, Input, Linear, Matrix
    >>> program = Program((Input("uint8", 2), Linear(Matrix.pack([[1, -2]], "int4")), Decide("threshold")))
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_arduino_library(program, folder, "light")]
    ['light.h', 'light.c', 'light_avr.S',
     'library.properties', 'library.json', 'keywords.txt', 'ReadRows.ino', 'SelfTest.ino']
    """
    checked_name(name)
    files = {f"src/{file}": text for file, text in c_files(program, name).items()}
    files |= {
        "library.properties": _properties(program, name),
        "library.json": _json(program, name),
        "keywords.txt": _keywords(program, name),
        "examples/ReadRows/ReadRows.ino": _read_rows(program, name),
        "examples/SelfTest/SelfTest.ino": _self_test(program, name, rows),
    }
    return write_files(folder, files)


def _sentence(program: Program) -> str:
    return f"A model of {program.cost().model_bytes:,} bytes for {program.n_features:,} numbers a row, made by smidgen."


def _properties(program: Program, name: str) -> str:
    entries = {
        "name": name,
        "version": "1.0.0",
        "author": "smidgen",
        "maintainer": "smidgen",
        "sentence": _sentence(program),
        "paragraph": f"Model hash {program.hash}.",
        "category": "Data Processing",
        "url": "",
        "architectures": "*",
        "includes": f"{name}.h",
    }
    return "".join(f"{key}={value}\n" for key, value in entries.items())


def _json(program: Program, name: str) -> str:
    entries = {
        "name": name,
        "version": "1.0.0",
        "description": _sentence(program),
        "keywords": ["classification", "sensor"],
        "frameworks": "arduino",
        "platforms": "*",
        "headers": f"{name}.h",
    }
    return json.dumps(entries, indent=2) + "\n"


def _keywords(program: Program, name: str) -> str:
    functions = ["scores", "predict"]
    if program.task == "regression":
        functions.append("predict_value" if program.n_outputs == 1 else "predict_values")
    constants = ["N_FEATURES", "N_SCORES", *(["CLASSES", "CLASS"] if program.classes else [])]
    kinds = {"KEYWORD1": ["input_t", "score_t"], "KEYWORD2": functions, "LITERAL1": constants}
    return "".join(f"{name}_{word}\t{kind}\n" for kind, words in kinds.items() for word in words)


# The sketches: text of runtime/, with what depends on the Program filled in.


def _read_rows(program: Program, name: str) -> str:
    low, high = RAW_LIMITS.get(program.input.raw, (0, 0))
    is_float = program.input.raw == "float32"
    number = "atof(word)" if is_float else f"constrain(atol(word), {int_literal(low)}, {int_literal(high)})"
    return _sketch("ReadRows.ino", name, SMIDGEN_NUMBER=number, SMIDGEN_ANSWER=_answer(program))


def _answer(program: Program) -> str:
    if program.task == "classification":
        answer = "smidgen_predict(row)"
        return f"Serial.println({f'smidgen_CLASS({answer})' if program.classes else answer});"
    if program.task == "regression" and program.n_outputs == 1:
        return "Serial.println(smidgen_predict_value(row), 6);"
    ctype, call, digits = ("uint8_t", "predict", "")
    if program.task == "regression":
        ctype, call, digits = ("float", "predict_values", ", 6")
    lines = (
        f"static {ctype} answer[smidgen_N_SCORES];",
        f"smidgen_{call}(row, answer);",
        "for (uint16_t i = 0; i < smidgen_N_SCORES; ++i) {",
        '  Serial.print(i ? "," : "");',
        f"  Serial.print(answer[i]{digits});",
        "}",
        "Serial.println();",
    )
    return "\n  ".join(lines)


def _self_test(program: Program, name: str, rows: Any) -> str:
    golden = _golden_rows(program, rows)
    scores = program.run(golden).scores
    is_integer = program.arithmetic == "integer"
    raw_is_float = program.input.raw == "float32"
    largest = float(np.abs(scores).max(initial=1))
    return _sketch(
        "SelfTest.ino",
        name,
        SMIDGEN_N_ROWS=str(len(golden)),
        SMIDGEN_ROWS=_table(golden, is_float=raw_is_float),
        SMIDGEN_SCORES=_table(scores, is_float=not is_integer),
        # float32 sums in another order than Python does
        SMIDGEN_SAME="found == expected"
        if is_integer
        else f"fabs(found - expected) <= {float_literal(largest * 1e-4)}",
    )


def _golden_rows(program: Program, rows: Any) -> Array:
    """The first few rows, as the sensor would give them; near-ties of float32 Programs are left out."""
    table = _random_rows(program) if rows is None else np.asarray(rows)
    bytes_a_row = program.n_features * np.dtype(program.input.raw).itemsize + 4 * program.n_outputs
    table = table[: 4 * MOST_GOLDEN_ROWS]
    table = table[~program.near_ties(table)][: max(1, min(MOST_GOLDEN_ROWS, MOST_GOLDEN_BYTES // bytes_a_row))]
    if program.input.raw == "float32":
        return table.astype(np.float32)
    rounded = np.rint(table.astype(np.float64))
    marker = 0 if program.input.missing is None else program.input.missing
    return np.where(np.isnan(rounded), marker, np.clip(rounded, *RAW_LIMITS[program.input.raw])).astype(np.int64)


def _random_rows(program: Program) -> Array:
    """Rows spread over what the Input can tell apart."""
    step, rng = program.input, np.random.default_rng(0)
    size = (MOST_GOLDEN_ROWS, step.n_features)
    if step.raw != "float32":
        low, high = step.trusted_range or RAW_LIMITS[step.raw]
        return rng.integers(low, high + 1, size)
    unit = np.ones(size) / step.multiplier
    if step.output == "bytes":
        unit = rng.uniform(0, 255, size) / (step.multiplier * 2.0 ** (step.base + np.asarray(step.shift, float)))
        return np.clip(step.offset + unit, -1e38, 1e38)
    return step.offset + rng.normal(0, 1, size) * unit


def _table(rows: Array, *, is_float: bool) -> str:
    def literal(number: float) -> str:
        if np.isnan(number):
            return "NAN"
        return float_literal(number) if is_float else int_literal(number)

    return "\n".join(f"  {{\n{filled([f'{literal(number)},' for number in row])}\n  }}," for row in rows.tolist())


def _sketch(file: str, name: str, **filled_in: str) -> str:
    text = runtime(file)
    for word, content in filled_in.items():
        text = text.replace(word, content)
    return named(text, name)
