"""Compiles the C of many Programs into one program of this computer, runs it on given rows, and reads what it says.

All Programs stand in one translation unit, told apart by their prefixes, so that a compile serves dozens.
"""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from smidgen.emit import c_files
from smidgen.program import Program

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wdouble-promotion", "-ffp-contract=off")

RUN = """
static int run_{name}(FILE *in, FILE *out, long n_rows)
{{
    static {name}_input_t x[{name}_N_FEATURES];
    static {name}_score_t scores[{name}_N_SCORES];
    for (; n_rows; --n_rows) {{
        if (fread(x, sizeof x, 1, in) != 1) {{
            return 1;
        }}
        {name}_scores(x, scores);
        fwrite(scores, sizeof scores, 1, out);
        {predict}
    }}
    return 0;
}}
"""
PREDICT = {
    "classification": "{{ const {ctype} y = {name}_predict(x); fwrite(&y, sizeof y, 1, out); }}",
    "multilabel": "{{ static uint8_t y[{name}_N_SCORES]; {name}_predict(x, y); fwrite(y, sizeof y, 1, out); }}",
    "value": (
        "{{ const {name}_score_t s = {name}_predict(x); const float y = {name}_predict_value(x);"
        " fwrite(&s, sizeof s, 1, out); fwrite(&y, sizeof y, 1, out); }}"
    ),
    "values": (
        "{{ static {name}_score_t s[{name}_N_SCORES]; static float y[{name}_N_SCORES]; {name}_predict(x, s);"
        " {name}_predict_values(x, y); fwrite(s, sizeof s, 1, out); fwrite(y, sizeof y, 1, out); }}"
    ),
}
MAIN = """
int main(int n, char **path)
{{
    FILE *in = n == 3 ? fopen(path[1], "rb") : 0;
    FILE *out = n == 3 ? fopen(path[2], "wb") : 0;
    return !in || !out || {runs} || fclose(out);
}}
"""


def gcc() -> list[str]:
    """GCC, as a command."""
    return _found("gcc")


def avr_gcc() -> list[str]:
    """GCC for AVR."""
    return _found("avr-gcc")


def clang() -> list[str]:
    """Clang, as ziglang brings it along, or the system's own."""
    if find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    return _found("clang")


def _found(command: str) -> list[str]:
    path = shutil.which(command)
    if path is None:
        pytest.skip(f"no {command} here")
    return [path]


def answers(programs: list[Program], rows: list[np.ndarray], folder: Path, command: list[str], **options) -> list:
    """Scores, prediction, and (of values) the raw prediction, of every Program on its rows, by compiled C."""
    binary = build(programs, [len(table) for table in rows], folder, command, **options)
    (folder / "rows").write_bytes(b"".join(np.ascontiguousarray(table).tobytes() for table in rows))
    done = subprocess.run(
        [binary, folder / "rows", folder / "out"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    said = (folder / "out").read_bytes()
    found = []
    for program, table in zip(programs, rows, strict=True):
        records = np.frombuffer(said, _record(program), count=len(table))
        said = said[records.nbytes :]
        found.append(records)
    assert said == b""
    return found


def build(
    programs: list[Program], n_rows: list[int], folder: Path, command: list[str], *, header_only: bool = False
) -> Path:
    """The program that answers for all of them."""
    names = [f"m{index}" for index in range(len(programs))]
    text = ["#include <stdio.h>"]
    for name, program in zip(names, programs, strict=True):
        for file, content in c_files(program, name, header_only=header_only).items():
            (folder / file).write_text(content)
        text.append(f'#include "{name}.{"h" if header_only else "c"}"')
        text.append(RUN.format(name=name, predict=_predict(program, name)))
    runs = " || ".join(f"run_{name}(in, out, {n})" for name, n in zip(names, n_rows, strict=True))
    (folder / "main.c").write_text("\n".join([*text, MAIN.format(runs=runs)]))
    compile_strictly([*command, "-o", folder / "main", folder / "main.c"])
    return folder / "main"


def compile_strictly(command: list) -> None:
    """Compile; any warning is an error, and shown."""
    done = subprocess.run([*command, *STRICT], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def _predict(program: Program, name: str) -> str:
    task = program.task
    if task == "regression":
        task = "value" if program.n_outputs == 1 else "values"
    ctype = "uint8_t" if program.n_outputs <= 256 else "uint16_t"
    return PREDICT[task].format(name=name, ctype=ctype)


def _record(program: Program) -> np.dtype:
    n, score = program.n_outputs, "<i4" if program.arithmetic == "integer" else "<f4"
    fields = [("scores", score, n)]
    if program.task == "regression":
        fields += [("raw", score, n), ("prediction", "<f4", n)]
    elif program.task == "multilabel":
        fields += [("prediction", "u1", n)]
    else:
        fields += [("prediction", "u1" if n <= 256 else "<u2")]
    return np.dtype(fields)
