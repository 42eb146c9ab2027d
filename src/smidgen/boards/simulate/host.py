"""Runs a program of this computer, directly; nothing is counted. Imports the plan."""

from collections.abc import Sequence
from pathlib import Path

from smidgen.boards import process
from smidgen.boards.board import Board
from smidgen.boards.simulate.plan import RESULTS, ROWS, Call, Outcome, read_results, write_rows
from smidgen.errors import ToolError

# what leaks is the harness's business, and looking for leaks fails in some containers
_QUIET = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=0"}


def run(board: Board, firmware: Path, calls: Sequence[Call], seconds: float, roomy: bool) -> list[Outcome]:  # noqa: ARG001  memory is no matter here
    """Run a program made of `firmware.host_main`, whose calls these are."""
    folder = firmware.parent
    write_rows(calls, folder)
    done = process.run([firmware, ROWS, RESULTS], folder, seconds, f"the program for {board.name}", _QUIET)
    if done.code:
        raise ToolError(f"the program for {board.name} failed with code {done.code}: {_reason(done.output)}")
    return read_results(calls, folder)


def _reason(output: str) -> str:
    """Give a sanitizer's own line: "ERROR: AddressSanitizer: …" or "model.c:3:5: runtime error: …"."""
    return process.first_complaint(output) if output.strip() else "it crashed without a word"
