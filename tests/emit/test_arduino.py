"""The library builds in Arduino's own builder, offline; its self-test passes on a simulated Uno, or says why not."""

import json
import re
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from smidgen.emit import write_arduino_library
from smidgen.program import Decide, Input, Linear, Matrix, Program
from tests.program.random_programs import random_float_program, random_program, random_rows

ARDUINO = Path("/usr/share/arduino/hardware")
BUILDER = Path("/usr/share/arduino-builder")
# Debian's avr-libc asks for it and its gcc does not define it
FLAGS = "-DDECIMAL_DIG=__DECIMAL_DIG__"


@pytest.fixture
def build(tmp_path):
    """Builds a sketch of the libraries beside each other in tmp_path/libraries, for the Uno; gives the ELF."""
    if shutil.which("arduino-builder") is None or not ARDUINO.is_dir():
        pytest.skip("no arduino-builder here")

    def run(sketch):
        (tmp_path / "tools").mkdir(exist_ok=True)
        built = tmp_path / f"built-{sketch.stem}"
        built.mkdir()
        options = ["-hardware", ARDUINO, "-hardware", BUILDER, "-tools", tmp_path / "tools", "-fqbn", "arduino:avr:uno"]
        options += ["-libraries", tmp_path / "libraries", "-build-path", built, "-warnings", "all"]
        options += [f"-prefs=compiler.{language}.extra_flags={FLAGS}" for language in ("c", "cpp")]
        command = ["arduino-builder", "-compile", *options, sketch]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        ours = [
            line for line in (done.stdout + done.stderr).splitlines() if str(tmp_path) in line and "warning" in line
        ]
        assert ours == []
        return built / f"{sketch.name}.elf"

    return run


def said_on_the_uno(elf):
    """What a sketch prints up to the line that tells the time."""
    if shutil.which("simavr") is None:
        pytest.skip("no simavr here")
    command = ["simavr", "-m", "atmega328p", "-f", "16000000", elf]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as simulator:
        late = threading.Timer(30, simulator.kill)
        late.start()
        lines = []
        for line in simulator.stdout:
            lines.append(re.sub(r"\x1b\[\d*m|\.*$", "", line.strip()))
            if "microseconds" in line:
                break
        simulator.kill()
        late.cancel()
    return "\n".join(lines)


def test_the_self_test_passes_on_the_uno_and_tells_a_wrong_row(build, tmp_path):
    rng = np.random.default_rng(3)
    program = random_program(rng, "protonn")
    rows = random_rows(rng, program, 20)
    folder = tmp_path / "libraries" / "gestures"
    write_arduino_library(program, folder, "gestures", rows=rows)
    sketch = folder / "examples" / "SelfTest" / "SelfTest.ino"
    said = said_on_the_uno(build(sketch))
    assert "PASS" in said
    assert re.search(r"\d+ microseconds a row", said)
    wrong = folder / "examples" / "Wrong" / "Wrong.ino"
    wrong.parent.mkdir()
    wrong.write_text(
        re.sub(r"(scores\[N_ROWS\].*?\},\s*\{\s*)-?\d+", r"\g<1>12345", sketch.read_text(), flags=re.DOTALL)
    )
    assert "FAIL: row 1 gives other scores than Python" in said_on_the_uno(build(wrong))


@pytest.mark.parametrize("kind", ["labels", "value", "values", "float"])
def test_every_task_has_its_sketches(kind, build, tmp_path):
    weights = Matrix.pack([[1, -2]] if kind == "value" else [[1, -2], [3, 1], [0, 2]], "int4")
    scale = np.full(weights.shape[0], 0.25, np.float32)
    ending = Decide("labels") if kind == "labels" else Decide("value", scale=scale)
    program = Program((Input("int16", 2, shift=8), Linear(weights), ending))
    if kind == "float":
        program = random_float_program(np.random.default_rng(2), "sparsenet")
    folder = tmp_path / "libraries" / "m"
    write_arduino_library(program, folder, "m")
    build(folder / "examples" / "ReadRows" / "ReadRows.ino")
    assert "PASS" in said_on_the_uno(build(folder / "examples" / "SelfTest" / "SelfTest.ino"))


def test_the_folder_holds_what_the_ide_wants(tmp_path):
    program = random_program(np.random.default_rng(1), "amm")
    paths = write_arduino_library(program, tmp_path / "m", "m")
    assert all(path.is_file() for path in paths)
    assert not list(tmp_path.rglob("*.part"))
    properties = dict(line.split("=", 1) for line in (tmp_path / "m" / "library.properties").read_text().splitlines())
    manifest = json.loads((tmp_path / "m" / "library.json").read_text())
    assert properties["version"] == manifest["version"] == "1.0.0"
    assert properties["includes"] == manifest["headers"] == "m.h"
    keywords = (tmp_path / "m" / "keywords.txt").read_text()
    assert "m_predict\tKEYWORD2\n" in keywords
    again = write_arduino_library(program, tmp_path / "again", "m")
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in again]
