"""On a simulated Uno, assembly and portable C both give the integers of the Program."""

import shutil
import subprocess
import threading

import numpy as np
import pytest

from smidgen.emit import c_files
from smidgen.program import Decide, Distance, Input, Linear, Matrix, Program, Rescale
from tests.emit.host import STRICT, avr_gcc, clang
from tests.program.random_programs import FAMILIES, least_pre, random_program, random_rows, scoring_linear
from tests.program.random_programs import _random_gaussian as random_gaussian

FIRMWARE = """
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <string.h>
{includes}

static void say(char letter)
{{
    while (!(UCSR0A & (1 << UDRE0))) {{
    }}
    UDR0 = (uint8_t)letter;
}}
{tests}
int main(void)
{{
    UCSR0B = 1 << TXEN0;
    {runs}
    say('\\n');
    for (;;) {{
    }}
}}
"""
TEST = """
static const {name}_input_t {name}_rows[][{name}_N_FEATURES] PROGMEM = {{ {rows} }};
static const int32_t {name}_expected[][{name}_N_SCORES] PROGMEM = {{ {scores} }};
static void {name}_test(void)
{{
    static {name}_input_t x[{name}_N_FEATURES];
    static int32_t found[{name}_N_SCORES], expected[{name}_N_SCORES];
    uint8_t r;
    for (r = 0; r < {n}; ++r) {{
        memcpy_P(x, {name}_rows[r], sizeof x);
        memcpy_P(expected, {name}_expected[r], sizeof expected);
        {name}_scores(x, found);
        say(memcmp(found, expected, sizeof found) ? 'x' : '=');
    }}
}}
"""


def firmware(programs, rows):
    """One C file that compares all of them, and says = or x a row."""
    tests = [
        TEST.format(
            name=f"m{index}",
            n=len(table),
            rows=", ".join(f"{{ {', '.join(map(str, row))} }}" for row in table.tolist()),
            scores=", ".join(f"{{ {', '.join(map(str, row))} }}" for row in program.scores(table).tolist()),
        )
        for index, (program, table) in enumerate(zip(programs, rows, strict=True))
    ]
    names = [f"m{index}" for index in range(len(programs))]
    return FIRMWARE.format(
        includes="\n".join(f'#include "{name}.h"' for name in names),
        tests="\n".join(tests),
        runs=" ".join(f"{name}_test();" for name in names),
    )


def said_by(folder, programs, rows, *flags):
    """What the firmware says of each row; the assembly files in use."""
    if shutil.which("simavr") is None:
        pytest.skip("no simavr here")
    files = {f: text for i, program in enumerate(programs) for f, text in c_files(program, f"m{i}").items()}
    files["main.c"] = firmware(programs, rows)
    for file, text in files.items():
        (folder / file).write_text(text)
    sources = [folder / file for file in files if not file.endswith(".h")]
    options = ["-mmcu=atmega328p", "-std=gnu99", "-Os", "-ffunction-sections", "-Wl,--gc-sections", *STRICT, *flags]
    done = subprocess.run(
        [*avr_gcc(), *options, *sources, "-o", folder / "f.elf"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    command = ["simavr", "-m", "atmega328p", "-f", "16000000", folder / "f.elf"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as simulator:
        late = threading.Timer(60, simulator.kill)
        late.start()
        said = next((line for line in simulator.stdout if "=" in line or "x" in line.split("Loaded")[0]), "")
        simulator.kill()
        late.cancel()
    return "".join(letter for letter in said if letter in "=x")


def dense_protonn(rng, h, n, m, number="int4"):
    """Dense int4 by columns, a Gaussian with x in registers, gap4 rows: all that stands in assembly."""
    first = Input("uint8", n, trusted_range=(0, int(rng.choice([1, 16, 255]))))
    weights = Matrix.pack(rng.integers(-8, 8, (h, n)) // int(rng.choice([1, 3])), "int4", "dense")
    bias = rng.integers(-99, 99, h).astype(np.int16) if rng.random() < 0.7 else None
    pre = least_pre(Linear(weights, bias).accumulators(first.check(None)))
    multiplier = rng.integers(1, 256, h).astype(np.uint8) if rng.random() < 0.4 else int(rng.integers(1, 256))
    rescale = Rescale(multiplier, int(rng.integers(8, 18)), pre, int(rng.choice([255, 200])))
    hidden = Linear(weights, bias, str(rng.choice(["none", "relu"])), rescale)
    middle = hidden.check(first.check(None))
    limits, shift = ((-8, 8), int(rng.integers(0, 5))) if number == "int4" else ((-128, 128), 0)
    points = Distance(Matrix.pack(rng.integers(*limits, (m, h)), number, "dense"), 128, shift)
    reach = points.accumulators(middle)
    kernel = random_gaussian(rng, float((reach.low + reach.high).mean() / 2))
    points = Distance(points.points, 128, shift, kernel=kernel)
    last = scoring_linear(rng, points.check(middle), int(rng.integers(2, 6)), density=0.3)
    return Program((first, hidden, points, last, Decide("argmax")))


@pytest.mark.thorough
def test_assembly_and_portable_c_give_the_same_integers(tmp_path, how_many):
    rng = np.random.default_rng(1)
    shapes = [(8, 30), (10, 7), (6, 9), (4, 3), (16, 20), (12, 5), (20, 3), (8, 255), (3, 5), (5, 4)]
    for turn in range(how_many(3, 30)):
        chosen = [shapes[(turn * 4 + k) % len(shapes)] for k in range(4)]
        numbers = ["int4", "int4", "int8", "int4"]
        programs = [
            dense_protonn(rng, h, n, int(rng.integers(1, 12)), f) for (h, n), f in zip(chosen, numbers, strict=True)
        ]
        programs += [narrow(rng, FAMILIES[(3 * turn + k) % len(FAMILIES)]) for k in range(3)]
        rows = [random_rows(rng, program, 12) for program in programs]
        for flags in ((), ("-DSMIDGEN_PORTABLE",)):
            assert said_by(tmp_path, programs, rows, *flags) == "=" * 12 * len(programs)


def narrow(rng, family):
    """A random Program of integer sensors that leaves room for others."""
    while True:
        program = random_program(rng, family)
        if program.n_features <= 40 and program.input.raw != "float32":
            return program


@pytest.mark.parametrize("shape", [(8, 30), (10, 7), (5, 4)])
def test_gcc_and_clang_make_the_same_of_the_assembly(shape, tmp_path):
    program = dense_protonn(np.random.default_rng(2), *shape, 3)
    source = tmp_path / "m_avr.S"
    source.write_text(c_files(program, "m")["m_avr.S"])
    commands = {
        "gcc": [*avr_gcc(), "-mmcu=atmega328p"],
        "clang": [*clang(), "-target", "avr-freestanding-none", "-mcpu=atmega328p"],
    }
    code = []
    for name, command in commands.items():
        built = tmp_path / f"{name}.o"
        subprocess.run([*command, "-c", source, "-o", built], capture_output=True, check=True, timeout=120)
        said = subprocess.run(["avr-objdump", "-d", built], capture_output=True, text=True, check=True).stdout
        # what jumps where is left to the linker; the instructions themselves are not
        code.append([line.split("\t")[2] for line in said.splitlines() if line.count("\t") >= 2])
    assert code[0] == code[1]
    assert len(code[0]) > 100
