"""The C of a Program says what the Program says: every score and every answer, of random Programs of all families."""

import shutil
import subprocess

import numpy as np
import pytest

from smidgen.emit import c_files, write_c
from smidgen.errors import UsageError
from smidgen.program import Decide, Distance, GroupReduce, Input, Linear, Matrix, Program
from tests.emit.host import answers, avr_gcc, clang, compile_strictly, gcc
from tests.program.random_programs import FAMILIES, random_float_program, random_program, random_rows

CASES = [
    (gcc, "c99", "c", False),
    (gcc, "c11", "c", True),
    (gcc, "c++17", "c++", False),
    (clang, "c99", "c", True),
    (clang, "c11", "c", False),
    (clang, "c++17", "c++", True),
]
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")


def assert_same(program, rows, found):
    """Every integer is equal."""
    expected = program.run(rows)
    np.testing.assert_array_equal(found["scores"].reshape(expected.scores.shape), expected.scores)
    prediction = found["prediction"].reshape(expected.prediction.shape)
    np.testing.assert_array_equal(prediction, expected.prediction)
    if program.task == "regression":
        np.testing.assert_array_equal(found["raw"].reshape(expected.scores.shape), expected.scores)


def assert_close(program, rows, found):
    """Scores to a hundred-thousandth, answers but for near-ties; gives the number of these."""
    expected, near = program.run(rows), program.near_ties(rows)
    sizes = np.abs(expected.scores)
    near = near | ((sizes > 0) & (sizes < 1e-30)).any(axis=1)  # kernels that are 0 in float32, but not in Python
    scores = found["scores"].reshape(expected.scores.shape)
    signs = any(getattr(step, "activation", "") == "sign" for step in program.steps)
    far = ~near if signs else np.ones(len(rows), bool)  # beside a near-tie of signs another code may come out
    largest = sizes.max(initial=1)
    np.testing.assert_allclose(scores[far], expected.scores[far], rtol=1e-5, atol=2e-5 * largest)
    prediction = found["prediction"].reshape(expected.prediction.shape)
    if program.task == "regression":
        np.testing.assert_array_equal(prediction, scores)
    else:
        np.testing.assert_array_equal(prediction[~near], expected.prediction[~near])
    return int(near.sum())


def some_programs(seed, each=2):
    rng = np.random.default_rng(seed)
    programs = [random_program(rng, family) for family in FAMILIES for _ in range(each)]
    programs += [random_float_program(rng, family) for family in FAMILIES for _ in range(each // 2)]
    return programs, [random_rows(rng, program, 20) for program in programs]


def assert_all(programs, rows, found):
    n_rows = near = 0
    for program, table, said in zip(programs, rows, found, strict=True):
        if program.arithmetic == "integer":
            assert_same(program, table, said)
        else:
            near, n_rows = near + assert_close(program, table, said), n_rows + len(table)
    assert near <= n_rows / 2, "ties are excused only while they are the smaller part"


@pytest.mark.thorough
@pytest.mark.parametrize("family", FAMILIES)
def test_integers_are_equal(family, tmp_path, how_many):
    rng = np.random.default_rng(FAMILIES.index(family))
    for _ in range(how_many(1, 8)):
        programs = [random_program(rng, family) for _ in range(40)]
        rows = [random_rows(rng, program, 20) for program in programs]
        assert_all(programs, rows, answers(programs, rows, tmp_path, [*gcc(), "-std=c99", "-O1"]))


@pytest.mark.thorough
@pytest.mark.parametrize("family", FAMILIES)
def test_floats_are_close(family, tmp_path, how_many):
    rng = np.random.default_rng(100 + FAMILIES.index(family))
    for _ in range(how_many(1, 8)):
        programs = [random_float_program(rng, family) for _ in range(20)]
        rows = [random_rows(rng, program, 20) for program in programs]
        assert_all(programs, rows, answers(programs, rows, tmp_path, [*gcc(), "-std=c99", "-O1"]))


def test_sanitizers_are_silent(tmp_path):
    programs, rows = some_programs(7, each=4)
    assert_all(programs, rows, answers(programs, rows, tmp_path, [*gcc(), "-O1", *SANITIZERS]))


@pytest.mark.parametrize(("compiler", "standard", "language", "header_only"), CASES)
def test_every_standard_and_compiler_takes_it(compiler, standard, language, header_only, tmp_path):
    programs, rows = some_programs(11)
    command = [*compiler(), "-x", language, f"-std={standard}", "-O2"]
    assert_all(programs, rows, answers(programs, rows, tmp_path, command, header_only=header_only))


@pytest.mark.parametrize(("standard", "language"), [("c99", "c"), ("c11", "c"), ("c++1z", "c++")])
def test_avr_takes_it_and_the_section_weighs_what_cost_says(standard, language, tmp_path):
    programs, _ = some_programs(13, each=1)
    for program in programs:
        (source, *_) = [path for path in write_c(program, tmp_path) if path.suffix == ".c"]
        command = [*avr_gcc(), "-mmcu=atmega328p", "-x", language, f"-std={standard}", "-Os", "-c", source]
        compile_strictly([*command, "-o", tmp_path / "model.o"])
        sizes = sections(tmp_path / "model.o", "avr-size")
        assert sizes[".progmem.smidgen.model"] == program.cost().model_bytes
        assert sizes[".data"] == sizes[".bss"] == sizes.get(".rodata", 0) == 0, "no globals that change, none in RAM"


def test_here_too_the_section_weighs_what_cost_says(tmp_path):
    programs, _ = some_programs(17, each=1)
    for program in programs:
        source = write_c(program, tmp_path)[1]
        compile_strictly([*gcc(), "-std=c99", "-O3", "-c", source, "-o", tmp_path / "model.o"])
        found = sections(tmp_path / "model.o", "size")[".rodata.smidgen.model"]
        assert 0 <= found - program.cost().model_bytes <= 3, "at most what takes a float to an address it may have"


def sections(binary, command):
    if shutil.which(command) is None:
        pytest.skip(f"no {command} here")
    said = subprocess.run([command, "-A", binary], capture_output=True, text=True, check=True).stdout
    return {line.split()[0]: int(line.split()[1]) for line in said.splitlines() if line.startswith(".")}


def test_class_names_are_there_unless_not_wanted(tmp_path):
    classes = ('"quoted" \\ back??/slash', "smidgen_x", "naïve\n", "*/")
    program = Program(
        (Input("uint8", 1), Linear(Matrix.pack([[1], [2], [3], [4]], "int8")), Decide("argmax")), classes=classes
    )
    (tmp_path / "main.c").write_text(PRINT_NAMES)
    for header_only in (True, False):
        write_c(program, tmp_path, header_only=header_only)
        sources = [tmp_path / "main.c"] if header_only else [tmp_path / "main.c", tmp_path / "model.c"]
        compile_strictly([*gcc(), "-std=c99", *sources, "-o", tmp_path / "main"])
        said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
        assert said == "".join(f"{name}|" for name in classes)
    assert not any("CLASS" in text for text in c_files(program, class_names=False).values())


def test_avr_holds_class_names_in_flash_and_apart(tmp_path):
    program = Program((Input("uint8", 1), Linear(Matrix.pack([[1]], "int8")), Decide("threshold")), ("no", "yes"))
    _, source, *_ = write_c(program, tmp_path)
    compile_strictly([*avr_gcc(), "-mmcu=atmega328p", "-std=c99", "-c", source, "-o", tmp_path / "model.o"])
    sizes = sections(tmp_path / "model.o", "avr-size")
    assert sizes[".progmem.names.model"] == len("no\0yes\0") + 2 * 2
    assert sizes[".progmem.smidgen.model"] == 1
    assert sizes.get(".rodata", 0) == 0


PRINT_NAMES = """
#include <stdio.h>
#include "model.h"
int main(void)
{
    unsigned i;
    for (i = 0; i < sizeof model_CLASSES / sizeof *model_CLASSES; ++i) {
        printf("%s|", model_CLASS(i));
    }
    return 0;
}
"""


def test_the_same_program_is_the_same_text():
    for header_only in (False, True):
        once, again = (c_files(some_programs(19, each=1)[0][3], "twin", header_only=header_only) for _ in range(2))
        assert once == again


def test_what_is_no_program_is_refused():
    with pytest.raises(UsageError, match="C is made of a Program, not of a str"):
        c_files("model.smg")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"file/model\.h cannot be written"):
        write_c(some_programs(1, each=1)[0][0], tmp_path / "file")


def test_more_than_256_classes_need_a_wider_index(tmp_path):
    rng = np.random.default_rng(5)
    weights = {n: Linear(Matrix.pack(rng.integers(-99, 99, (n, 2)), "int8")) for n in (255, 256, 257)}
    programs = [
        Program((Input("uint8", 2), weights[n], Decide(kind, **options)))
        for n in weights
        for kind, options in (("argmax", {}), ("argmin", {}), ("labels", {}), ("best", {"k": n}), ("best", {"k": 3}))
    ]
    rows = [rng.integers(0, 256, (30, 2)).astype(np.uint8) for _ in programs]
    assert_all(programs, rows, answers(programs, rows, tmp_path, [*gcc(), "-std=c99"]))
    assert "uint16_t model_predict" in c_files(programs[-1 - 4])["model.h"]
    assert "uint8_t model_predict" in c_files(programs[5])["model.h"]


def test_a_floor_below_every_entry_is_still_itself(tmp_path):
    """It fits no int16 where all entries do."""
    weights = Linear(Matrix.pack([[1], [-1], [2]], "int8"))
    groups = [GroupReduce(np.array([2, 1], np.uint8), "max", floor) for floor in (-(2**31), -(2**15), 2**31 - 1, 0)]
    programs = [Program((Input("uint8", 1), weights, group, Decide("argmax"))) for group in groups]
    rows = [np.arange(256, dtype=np.uint8)[:, None]] * len(programs)
    assert_all(programs, rows, answers(programs, rows, tmp_path, [*gcc(), "-std=c99"]))


def test_rows_and_classes_of_more_than_255_entries(tmp_path):
    rng = np.random.default_rng(6)
    wide = rng.integers(-8, 8, (3, 700))
    wide[2, :] = 0
    programs = [
        Program((Input("uint8", 700), Linear(Matrix.pack(wide, number, storage)), Decide("argmax")))
        for number, storage in (("int4", "gap4"), ("int4", "gap8"), ("int8", "gap8"), ("int8", "bitmap"))
    ]
    many = Linear(Matrix.pack(rng.integers(-8, 8, (600, 2)), "int4"))
    group = GroupReduce(np.array([300, 299, 1], np.uint16), "max")
    programs.append(Program((Input("uint8", 2), many, group, Decide("argmax"))))
    rows = [random_rows(rng, program, 20) for program in programs]
    assert_all(programs, rows, answers(programs, rows, tmp_path, [*gcc(), "-std=c99", "-O1", *SANITIZERS]))


def test_exp_is_exact_enough(tmp_path):
    """One point at 0: the kernel of x² for distances up to where float32 ends."""
    points, one = Matrix.pack([[0.0]], "float32", "dense"), Matrix.pack([[1.0]], "float32")
    input_ = Input("float32", 1, output="float32")
    program = Program((input_, Distance(points, kernel=1.0), Linear(one), Decide("value")))
    rows = np.sqrt(np.linspace(0, 90, 20_000)).astype(np.float32)[:, None]
    (found,) = answers([program], [rows], tmp_path, [*gcc(), "-std=c99"])
    expected = program.run(rows).scores[:, 0]
    reached = found["scores"][:, 0]
    # what float32 makes of x² is worth an ulp of the exponent
    np.testing.assert_allclose(reached[expected > 1e-37], expected[expected > 1e-37], rtol=1e-5)
    assert reached[-1] == 0
