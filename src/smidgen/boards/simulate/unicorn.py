"""Runs Cortex-M and RISC-V firmware under unicorn, in a Python of its own (`unicorn_run.py`). Imports the plan."""

import sys
from collections.abc import Sequence
from pathlib import Path

from smidgen.boards import process
from smidgen.boards.board import Board
from smidgen.boards.compile import missing
from smidgen.boards.elf import Elf, read_elf
from smidgen.boards.simulate.plan import PLAN, RESULTS, ROWS, Call, Outcome, read_results, write_rows
from smidgen.boards.tools import find_tool
from smidgen.errors import ToolError

_RUNNER = Path(__file__).with_name("unicorn_run.py")
_RAM = 0x2000_0000  # as bare.ld says
_ROOMY = 1 << 24
_PAGE = 4096
_DEEPEST = 65_536  # what lies further from the stack's top is no stack, and painting takes time
_MOST_INSTRUCTIONS = 200_000_000


def run(board: Board, firmware: Path, calls: Sequence[Call], seconds: float, roomy: bool) -> list[Outcome]:
    """Call functions of a firmware; instructions are counted from the call to the return."""
    folder = firmware.parent
    if not find_tool("unicorn"):
        raise missing(f"the simulator of {board.name} is not here", ("unicorn",))
    (folder / PLAN).write_text(_plan(read_elf(firmware), calls, board.ram_bytes or _ROOMY, roomy))
    write_rows(calls, folder)
    assert board.simulator is not None
    command: list[str | Path] = [sys.executable, "-I", _RUNNER, board.simulator.cpu, firmware.name, PLAN, ROWS, RESULTS]
    done = process.run(command, folder, seconds, f"the simulated {board.name}")
    if done.code:
        raise ToolError(f"the simulated {board.name} stopped: {process.first_complaint(done.output)}")
    return read_results(calls, folder)


def _plan(elf: Elf, calls: Sequence[Call], ram_bytes: int, roomy: bool) -> str:
    """Where everything lies: variables, then the stack; in a roomy memory rows and answers above it, at its end."""
    end = _RAM + (_ROOMY if roomy else ram_bytes)
    answer = (end - max(call.answer_bytes for call in calls)) & ~7
    row = (answer - max(call.rows.shape[1] for call in calls)) & ~7
    top = (row if roomy else end) & ~15
    variables = max(elf.ram_end, _RAM)
    if variables >= top:
        raise ToolError(f"variables up to address {variables:#x} leave no room for a stack below {top:#x}")
    pages = -(-(end - _RAM) // _PAGE) * _PAGE
    lines = [
        f"main {elf.symbols['main']}",
        f"memory {_RAM + pages}",
        f"stack {top}",
        f"paint {max(variables, top - _DEEPEST)}",
        f"limit {_MOST_INSTRUCTIONS}",
    ]
    for call in calls:
        row_at = elf.symbols[call.row] if call.row else row
        answer_at = elf.symbols[call.answer] if call.answer else answer
        place = f"{elf.symbols[call.function]} {row_at} {call.rows.shape[1]} {answer_at} {call.answer_bytes}"
        lines.append(f"call {place} {len(call.rows)} {int(call.count)}")
    return "\n".join(lines) + "\n"
