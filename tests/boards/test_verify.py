"""Verify: a hand-written model on every board, every way in which it may be wrong, and random Programs through emit."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from smidgen.boards import verify as module
from smidgen.boards.board import load_board
from smidgen.boards.verify import verify, verify_many
from smidgen.emit import c_files
from smidgen.errors import BudgetError, DataError, ToolError, UsageError
from smidgen.program import Decide, Input, Linear, Matrix, Program
from tests.boards import handmade
from tests.program.random_programs import FAMILIES, random_float_program, random_program, random_rows

BOARDS = ("host", "uno", "m0", "m4", "rv32")
SIMULATED = BOARDS[1:]


@pytest.fixture
def by_hand(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let `verify` compile the hand-written model, with a defect or without, in place of what emit writes."""

    def replace_emitter(defect: str | None = None) -> None:
        monkeypatch.setattr(module, "c_files", lambda program, name: handmade.c_files(defect, name))

    replace_emitter()
    return replace_emitter


def counted_by_hand(rows: np.ndarray) -> np.ndarray:
    return (rows.astype(int) @ handmade.WEIGHTS.T).argmax(axis=1)


# The hand-written model, as it should be.


@pytest.mark.parametrize("board", BOARDS)
def test_a_certificate_of_each_board(board: str, need, by_hand) -> None:
    need(board)
    rows = handmade.rows(40)
    labels = np.array(["a", "b", "c"])[counted_by_hand(rows)]
    certificate = verify(handmade.program(), rows, labels, board=board)
    assert (certificate.rows, certificate.mismatches, certificate.worst_score_difference) == (40, 0, 0.0)
    assert certificate.accuracy == 1.0
    assert certificate.agrees
    assert certificate.model == handmade.program().hash
    assert certificate.model_bytes == certificate.constant_bytes == handmade.N_CONSTANTS
    assert certificate.compiler_version
    assert "-Os" in certificate.flags
    if board == "host":
        assert (certificate.cycles, certificate.ram_bytes, certificate.microjoules) == (None, None, None)
        return
    found = load_board(board)
    assert certificate.counts == found.simulator.counts
    # twelve constants, and the code of a multiplication of a matrix by a vector
    assert handmade.N_CONSTANTS + 60 < certificate.flash_bytes < 500
    # the row, three scores of four bytes, and at least one return address
    assert 4 + 12 + 2 <= certificate.ram_bytes == 4 + certificate.stack_bytes < 120
    assert 12 * 5 < certificate.cycles <= certificate.worst_cycles < 3000
    power, seconds = found.power, certificate.cycles / found.clock_hz
    assert certificate.microjoules == pytest.approx(power.volts * power.milliamperes * 1e-3 * seconds * 1e6)


def test_the_unos_numbers_are_those_of_a_pinned_compiler(need, by_hand) -> None:
    need("uno")
    certificate = verify(handmade.program(), handmade.rows(), board="uno", compiler="avr-gcc")
    if certificate.compiler_version != "5.4.0":
        pytest.skip(f"avr-gcc {certificate.compiler_version} is another compiler")
    assert (certificate.flash_bytes, certificate.ram_bytes, certificate.cycles) == (266, 32, 488.0)


def test_the_same_certificate_every_time(need, by_hand) -> None:
    need("m0")
    first, second = (verify(handmade.program(), handmade.rows(), board="m0").to_json() for _ in range(2))
    assert first == second


def test_the_unos_other_compiler(need, by_hand) -> None:
    need("uno", "zig")
    certificate = verify(handmade.program(), handmade.rows(60), board="uno", compiler="zig")
    assert (certificate.compiler, certificate.mismatches, certificate.rows) == ("zig", 0, 60)
    assert 60 < certificate.flash_bytes < 500


def test_another_prefix_and_other_flags(need, by_hand) -> None:
    need("host")
    certificate = verify(handmade.program(), handmade.rows(), board="host", name="wing", flags=["-O2"])
    assert certificate.mismatches == 0
    assert certificate.flags[-1] == "-O2"


# What can be wrong with a model in C.


@pytest.mark.parametrize("board", BOARDS)
def test_answers_and_scores_that_differ_are_counted(board: str, need, by_hand) -> None:
    need(board)
    rows = handmade.rows(40)
    bright = int((rows[:, 0] > 200).sum())
    assert 0 < bright < 40
    by_hand("a wrong score")
    wrong = verify(handmade.program(), rows, board=board)
    assert (wrong.mismatches, wrong.worst_score_difference, wrong.agrees) == (bright, 1.0, False)
    by_hand("a wrong class")
    wrong = verify(handmade.program(), rows, board=board)
    assert (wrong.mismatches, wrong.worst_score_difference, wrong.agrees) == (bright, 0.0, False)


def test_a_tie_decided_otherwise_is_a_mismatch(need, by_hand) -> None:
    need("host")
    rows = np.array([[0, 0, 0, 0], [9, 0, 0, 0]], np.uint8)
    by_hand("another tie rule")
    assert verify(handmade.program(), rows, board="host").mismatches == 1


def test_bytes_in_the_section_that_nobody_counted(need, by_hand) -> None:
    need("host")
    by_hand("one more constant")
    certificate = verify(handmade.program(), handmade.rows(), board="host")
    assert (certificate.model_bytes, certificate.constant_bytes, certificate.mismatches) == (12, 13, 0)
    assert not certificate.agrees


@pytest.mark.parametrize(
    ("defect", "complaint"),
    [
        ("a warning", r"cannot make model\.c: model\.c:\d+:\d+: error: unused variable"),
        ("no C", r"cannot make model\.c: model\.c:\d+:\d+: error: "),
        ("no such function", r"cannot make measured\.elf: .*undefined.*nowhere_to_be_found"),
    ],
)
@pytest.mark.parametrize("board", ["uno", "m0", "host"])
def test_what_does_not_compile_is_one_sentence(board: str, defect: str, complaint: str, need, by_hand) -> None:
    need(board)
    by_hand(defect)
    with pytest.raises(ToolError, match=complaint) as caught:
        verify(handmade.program(), handmade.rows(), board=board)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("board", SIMULATED)
def test_a_loop_without_end_is_stopped_by_its_count(board: str, need, by_hand, monkeypatch) -> None:
    need(board)
    monkeypatch.setattr("smidgen.boards.simulate.simavr._MOST_CYCLES", 300_000)
    monkeypatch.setattr("smidgen.boards.simulate.unicorn._MOST_INSTRUCTIONS", 300_000)
    by_hand("for ever")
    with pytest.raises(ToolError, match=f"the simulated {board} stopped: in row 0 it did not end within 300000 "):
        verify(handmade.program(), handmade.rows(), board=board)


@pytest.mark.parametrize("board", ["host", "uno"])
def test_a_loop_without_end_is_stopped_by_the_clock(board: str, need, by_hand, monkeypatch) -> None:
    need(board)
    monkeypatch.setattr("smidgen.boards.simulate.simavr._MOST_CYCLES", 10**12)
    by_hand("for ever")
    with pytest.raises(ToolError, match=rf"{board} did not end within [\d.]+ s$"):
        verify(handmade.program(), handmade.rows(), board=board, seconds=3)


@pytest.mark.parametrize(
    ("board", "defect"), [("uno", "out of memory"), ("m0", "far away"), ("m4", "far away"), ("rv32", "far away")]
)
def test_a_write_where_no_memory_is(board: str, defect: str, need, by_hand) -> None:
    need(board)
    by_hand(defect)
    with pytest.raises(ToolError, match=f"the simulated {board} stopped: in row 0 it crashed near flash address 0x"):
        verify(handmade.program(), handmade.rows(), board=board)


@pytest.mark.parametrize("board", BOARDS)
def test_a_model_that_writes_over_its_input(board: str, need, by_hand) -> None:
    need(board)
    by_hand("over its input")
    with pytest.raises(ToolError, match="wrote over its input in "):
        verify(handmade.program(), handmade.rows(), board=board)


def test_sanitizers_see_what_the_rest_does_not(need, by_hand) -> None:
    need("host", "cc")
    rows = handmade.rows(40)
    clean = verify(handmade.program(), rows, board="host", sanitize=True)
    assert (clean.mismatches, clean.flash_bytes) == (0, None)
    by_hand("beyond its scores")
    with pytest.raises(ToolError, match=r"AddressSanitizer: (heap|stack)-buffer-overflow"):
        verify(handmade.program(), rows, board="host", sanitize=True)
    by_hand("an overflow")
    with pytest.raises(ToolError, match="runtime error: signed integer overflow"):
        verify(handmade.program(), rows, board="host", sanitize=True)


# What cannot fit.


def test_a_row_too_large_for_the_ram(need) -> None:
    program = Program((Input("uint8", 3000), Linear(Matrix.pack(np.eye(2, 3000, dtype=int), "int4")), Decide("argmax")))
    expected = (
        "^the model is too big for uno: it takes 3,000 bytes even without a stack of RAM, and uno has 2,048 bytes$"
    )
    with pytest.raises(BudgetError, match=expected):
        verify(program, np.zeros((1, 3000)), board="uno")


def test_constants_too_large_for_the_flash() -> None:
    points = np.random.default_rng(0).integers(-100, 100, (300, 120))
    program = Program((Input("uint8", 120), Linear(Matrix.pack(points, "int8", "dense")), Decide("argmax")))
    expected = "it takes 36,000 bytes of constants alone of flash, and uno has 32,256 bytes$"
    with pytest.raises(BudgetError, match=expected):
        verify(program, np.zeros((1, 120)), board="uno")


def test_a_stack_too_deep_and_code_too_long_are_measured(need, by_hand) -> None:
    need("uno")
    by_hand("a deep stack")
    with pytest.raises(
        BudgetError, match=r"it takes 3,0\d\d bytes, the row and the stack included, of RAM, and uno has"
    ):
        verify(handmade.program(), handmade.rows(), board="uno")
    by_hand("much code")
    with pytest.raises(
        BudgetError, match=r"it takes 33,\d\d\d bytes with an empty firmware of flash, and uno has 32,256"
    ):
        verify(handmade.program(), handmade.rows(), board="uno")


# What is asked in vain.


def test_rows_that_do_not_suit() -> None:
    program = handmade.program()
    with pytest.raises(DataError, match="no rows to verify with"):
        verify(program, np.zeros((0, 4)), board="host")
    with pytest.raises(DataError, match="the Program takes rows of 4 numbers"):
        verify(program, np.zeros((2, 5)), board="host")
    with pytest.raises(UsageError, match="no board 'unno'"):
        verify(program, np.zeros((2, 4)), board="unno")
    with pytest.raises(UsageError, match="uno has no compiler 'borland'"):
        verify(program, np.zeros((2, 4)), board="uno", compiler="borland")
    with pytest.raises(UsageError, match="only this computer's programs can be sanitized, not those of uno"):
        verify(program, np.zeros((2, 4)), board="uno", sanitize=True)


def test_a_computer_without_tools(computer) -> None:
    program, rows = handmade.program(), handmade.rows()
    with pytest.raises(
        ToolError, match=r"no compiler for uno is here: avr-gcc, avr-libc missing or not working .*gcc-avr"
    ):
        verify(program, rows, board="uno")
    with pytest.raises(ToolError, match=r"no compiler for m0 is here: zig missing or not working .*install ziglang"):
        verify(program, rows, board="m0")


def test_a_compiler_that_fails_or_hangs(computer) -> None:
    program, rows = handmade.program(), handmade.rows()
    computer.put("bin/cc", '[ "$1" = --version ] && echo "cc 1.2.3" && exit; echo "error: my head aches"; exit 1')
    with pytest.raises(ToolError, match=r"^cc 1\.2\.3 cannot make model\.c: error: my head aches$"):
        verify(program, rows, board="host")
    computer.put("bin/cc", '[ "$1" = --version ] && echo "cc 1.2.3" && exit; while :; do :; done')
    with pytest.raises(ToolError, match=r"^cc 1\.2\.3 did not end within [\d.]+ s$"):
        verify(program, rows, board="host", seconds=1)


def test_a_simulator_that_is_missing(need, by_hand, monkeypatch) -> None:
    from smidgen.boards import compile as compiling
    from smidgen.boards import tools
    from smidgen.boards.simulate import simavr, unicorn

    need("uno")
    need("m0")
    without = lambda name: None if name in ("libsimavr", "unicorn") else tools.find_tool(name)  # noqa: E731
    for where in (simavr, unicorn, compiling):
        monkeypatch.setattr(where, "find_tool", without)
    with pytest.raises(ToolError, match=r"the Uno's simulator is not here: libsimavr missing .*libsimavr-dev"):
        verify(handmade.program(), handmade.rows(), board="uno")
    with pytest.raises(ToolError, match=r"the simulator of m0 is not here: unicorn missing .*install unicorn"):
        verify(handmade.program(), handmade.rows(), board="m0")


def test_a_board_that_nothing_simulates(need, by_hand) -> None:
    need("host")
    board = replace(load_board("host"), name="mine", runs_here=False)
    with pytest.raises(ToolError, match="nothing simulates mine: its board file names neither simavr nor unicorn"):
        verify(handmade.program(), handmade.rows(), board=board)


def test_a_processor_that_the_simulator_does_not_know(need, by_hand) -> None:
    for name, complaint in (("m0", "smidgen knows no processor 6502 in unicorn"), ("uno", "this simavr knows no 6502")):
        need(name)
        board = load_board(name)
        board = replace(board, simulator=replace(board.simulator, cpu="6502"))
        with pytest.raises(ToolError, match=complaint):
            verify(handmade.program(), handmade.rows(), board=board)


def test_another_avr_by_its_board_file(need, by_hand, tmp_path) -> None:
    """An ATmega644 is a larger Uno; a Mega 2560, whose return addresses take three bytes, is refused."""
    need("uno")
    file = tmp_path / "sanguino.toml"
    file.write_text(
        'chip = "ATmega644P"\nflash_bytes = 65_536\nram_bytes = 4_096\nclock_hz = 20_000_000\n'
        '[[compiler]]\ntool = "avr-gcc"\nflags = ["-mmcu=atmega644p"]\n'
        '[simulator]\ntool = "simavr"\ncpu = "atmega644p"\ncounts = "cycles"\n'
    )
    certificate = verify(handmade.program(), handmade.rows(), board=str(file))
    uno = verify(handmade.program(), handmade.rows(), board="uno", compiler="avr-gcc")
    assert (certificate.mismatches, certificate.board, certificate.microjoules) == (0, "sanguino", None)
    assert (certificate.cycles, certificate.ram_bytes) == (uno.cycles, uno.ram_bytes)
    file.write_text(file.read_text().replace("atmega644p", "atmega2560"))
    with pytest.raises(ToolError, match="return addresses of 3 bytes"):
        verify(handmade.program(), handmade.rows(), board=str(file))


# Through emit.


def every_task(rng: np.random.Generator) -> list[Program]:
    """One Program of each way to answer, and one with more classes than a byte counts."""
    few, single = Matrix.pack(rng.integers(-8, 8, (3, 5)), "int4"), Matrix.pack(rng.integers(-8, 8, (1, 5)), "int4")
    units = np.array([0.5, 0.25, 2], np.float32)
    endings = [Decide("argmin"), Decide("labels"), Decide("best", k=2), Decide("value", scale=units)]
    programs = [Program((Input("uint8", 5), Linear(few), decide)) for decide in endings]
    programs += [
        Program((Input("uint8", 5), Linear(single), decide))
        for decide in (Decide("threshold"), Decide("value", scale=units[:1]))
    ]
    many = Matrix.pack(rng.integers(-8, 8, (300, 5)), "int4")
    return [*programs, Program((Input("uint8", 5), Linear(many), Decide("argmax")))]


@pytest.mark.parametrize("board", BOARDS)
def test_every_task_is_compared_on_every_board(board: str, need) -> None:
    need(board)
    programs = every_task(np.random.default_rng(5))
    rows = [np.random.default_rng(6).integers(0, 256, (12, 5))] * len(programs)
    assert [one.mismatches for one in verify_many(programs, rows, board=board)] == [0] * len(programs)


def test_every_task_is_measured_and_has_its_measures(need) -> None:
    need("uno")
    rows = np.random.default_rng(6).integers(0, 256, (12, 5))
    for program in every_task(np.random.default_rng(5)):
        certificate = verify(program, rows, program.predict(rows), board="uno")
        assert (certificate.mismatches, certificate.agrees, certificate.task) == (0, True, program.task)
        first = {"classification": ("accuracy", 1.0), "multilabel": ("micro_f1", 1.0), "regression": ("mae", 0.0)}
        assert next(iter(certificate.measures.items())) == first[program.task]
        # an array of answers is the caller's to keep, and is counted with the row
        assert certificate.ram_bytes - certificate.stack_bytes == 5 + {
            "classification": 0,
            "multilabel": 3,
            "regression": 0 if program.n_outputs == 1 else 12,
        }.get(program.task, 0)


def test_a_float_program(need) -> None:
    need("m4")
    rng = np.random.default_rng(11)
    program = random_float_program(rng, "protonn")
    certificate = verify(program, random_rows(rng, program, 30), board="m4")
    assert (certificate.mismatches, certificate.arithmetic, certificate.agrees) == (0, "float32", True)
    assert 0 < certificate.worst_score_difference < 1e-3


def test_near_ties_are_counted_and_no_mismatch(need) -> None:
    need("host")
    weights = Matrix.pack(np.array([[1.0, 0.1], [1.0, 0.1]], np.float32), "float32")
    program = Program((Input("float32", 2, output="float32"), Linear(weights), Decide("argmax")))
    certificate = verify(program, np.ones((4, 2)), board="host")
    assert (certificate.near_ties, certificate.mismatches) == (4, 0)


def programs_and_rows(
    rng: np.random.Generator, n: int, make: Callable
) -> tuple[Sequence[Program], Sequence[np.ndarray]]:
    programs = [make(rng, FAMILIES[index % len(FAMILIES)]) for index in range(n)]
    return programs, [random_rows(rng, program, 20) for program in programs]


def without_floats(programs: Sequence[Program], rows: Sequence) -> tuple[Sequence[Program], Sequence]:
    """zig has no floating point for AVR."""
    kept = [
        (program, table)
        for program, table in zip(programs, rows, strict=True)
        if program.input.raw != "float32" and program.task != "regression"
    ]
    return [program for program, _ in kept], [table for _, table in kept]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("board", "options"),
    [
        ("host", {"compiler": "cc"}),
        ("host", {"compiler": "cc", "sanitize": True}),
        ("uno", {"compiler": "avr-gcc"}),
        ("uno", {"compiler": "avr-gcc", "flags": ["-DSMIDGEN_PORTABLE"]}),
        ("uno", {"compiler": "zig"}),
        ("m0", {}),
        ("m4", {}),
        ("rv32", {}),
    ],
    ids=["host", "host-sanitized", "uno", "uno-portable", "uno-zig", "m0", "m4", "rv32"],
)
def test_random_programs_on_every_board(board: str, options: dict, need, how_many) -> None:
    need(board, *([options["compiler"]] if "compiler" in options else []))
    programs, rows = programs_and_rows(np.random.default_rng(20), how_many(42, 2000), random_program)
    if options.get("compiler") == "zig":
        programs, rows = without_floats(programs, rows)
    for index, result in enumerate(verify_many(programs, rows, board=board, seconds=3600, **options)):
        assert (result.rows, result.mismatches, result.worst_score_difference) == (20, 0, 0.0), programs[
            index
        ].describe()


@pytest.mark.thorough
@pytest.mark.parametrize("board", BOARDS)
def test_random_float_programs_on_every_board(board: str, need, how_many) -> None:
    need(board)
    programs, rows = programs_and_rows(np.random.default_rng(21), how_many(21, 400), random_float_program)
    results = verify_many(programs, rows, board=board, seconds=3600)
    for index, result in enumerate(results):
        assert (result.rows, result.mismatches) == (20, 0), programs[index].describe()
    assert sum(result.near_ties for result in results) < sum(result.rows for result in results) / 5


def test_two_models_in_one_firmware(need) -> None:
    """The header and the source of each, under its own prefix: no name collides, and each gives its own answers."""
    need("uno")
    rng = np.random.default_rng(1)
    programs = [random_program(rng, "protonn"), random_program(rng, "bnc")]
    rows = [random_rows(rng, program, 10) for program in programs]
    assert set(c_files(programs[0], "left")).isdisjoint(c_files(programs[1], "right"))
    assert [result.mismatches for result in verify_many(programs, rows, board="uno")] == [0, 0]
    assert verify_many([], []) == []
