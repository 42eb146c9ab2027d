"""Runs AVR firmware under simavr, by a small program in C that is compiled when it is needed. Imports the plan."""

from collections.abc import Sequence
from pathlib import Path

from smidgen.boards import process
from smidgen.boards.board import Board
from smidgen.boards.compile import missing
from smidgen.boards.elf import Elf, read_elf
from smidgen.boards.simulate.plan import PLAN, RESULTS, ROWS, Call, Outcome, read_results, write_rows
from smidgen.boards.tools import find_tool
from smidgen.errors import ToolError

_RUNNER = Path(__file__).with_name("simavr_run.c")
_DATA = 0xFFFF  # data addresses stand in ELF files above 0x800000
_LAST = 0xFEFF  # the end of a roomy memory, within what two bytes can name
_DEEPEST = 8192  # what lies further from the stack's top is no stack
_MOST_CYCLES = 200_000_000
_DEFAULT_HZ = 16_000_000
_COMPILE_SECONDS = 60


def run(board: Board, firmware: Path, calls: Sequence[Call], seconds: float, roomy: bool) -> list[Outcome]:
    """Call functions of an AVR firmware; cycles are counted from the call to the return."""
    folder = firmware.parent
    runner = folder / "simavr_run"
    if not runner.exists():
        _compile_runner(runner)
    (folder / PLAN).write_text(_plan(read_elf(firmware), calls, roomy))
    write_rows(calls, folder)
    assert board.simulator is not None
    clock = str(board.clock_hz or _DEFAULT_HZ)
    command: list[str | Path] = [runner, board.simulator.cpu, clock, firmware.name, PLAN, ROWS, RESULTS]
    done = process.run(command, folder, seconds, f"the simulated {board.name}")
    if done.code:
        raise ToolError(f"the simulated {board.name} stopped: {process.first_complaint(done.output)}")
    return read_results(calls, folder)


def _plan(elf: Elf, calls: Sequence[Call], roomy: bool) -> str:
    """Where everything lies: variables, then the stack; in a roomy memory rows and answers above it, at its end."""
    answer = _LAST + 1 - max(call.answer_bytes for call in calls)
    row = answer - max(call.rows.shape[1] for call in calls)
    top = row - 1 if roomy else elf.symbols["__stack"] & _DATA
    variables = max(elf.ram_end & _DATA, 0x100)
    if variables >= top - 2:
        raise ToolError(f"variables up to address {variables:#x} leave no room for a stack below {top:#x}")
    lines = [
        f"main {elf.symbols['main']}",
        f"memory {_LAST if roomy else 0}",
        f"stack {top}",
        f"paint {max(variables, top - _DEEPEST)}",
        f"limit {_MOST_CYCLES}",
    ]
    for call in calls:
        row_at = elf.symbols[call.row] & _DATA if call.row else row
        answer_at = elf.symbols[call.answer] & _DATA if call.answer else answer
        n, width = call.rows.shape
        lines.append(f"call {elf.symbols[call.function]} {row_at} {width} {answer_at} {call.answer_bytes} {n}")
    return "\n".join(lines) + "\n"


def _compile_runner(runner: Path) -> None:
    needed = ("cc", "libsimavr", "libelf")
    tools = [find_tool(name) for name in needed]
    if not all(tool and tool.works for tool in tools):
        raise missing("the Uno's simulator is not here", needed)
    compiler, simavr, _ = tools
    assert compiler is not None
    assert simavr is not None
    prefix = Path(simavr.path).parents[2]  # of include/simavr/sim_avr.h
    places = [f"-I{prefix / 'include'}", f"-L{prefix / 'lib'}"]
    command: list[str | Path] = [*compiler.command, "-O2", _RUNNER, *places, "-lsimavr", "-lelf", "-o", runner]
    done = process.run(command, runner.parent, _COMPILE_SECONDS, compiler.name)
    if done.code:
        raise ToolError(f"simavr's headers are here, but nothing can be linked: {process.first_complaint(done.output)}")
