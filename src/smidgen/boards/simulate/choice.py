"""Which simulator a board has. Imports the simulators."""

from collections.abc import Sequence
from pathlib import Path

from smidgen.boards.board import Board
from smidgen.boards.simulate import host, simavr, unicorn
from smidgen.boards.simulate.plan import Call, Outcome
from smidgen.errors import ToolError

_RUNNERS = {"host": host.run, "avr": simavr.run, "bare": unicorn.run}


def can_simulate(board: Board) -> bool:
    """Whether smidgen knows how to run a board's firmware, given the tools."""
    return board.family in _RUNNERS


def simulate(
    board: Board, firmware: Path, calls: Sequence[Call], seconds: float, *, roomy: bool = False
) -> list[Outcome]:
    """Call functions of a firmware, once a row; all files stand in the firmware's folder.

    Parameters
    ----------
    board : Board
        Which chip to play.
    firmware : path
        An ELF file.
    calls : sequence of Call
        What to call, in this order.
    seconds : float
        After which the simulator is killed.
    roomy : bool
        With more memory than the chip has.

    Returns
    -------
    list of Outcome

    Raises
    ------
    ToolError
        When the simulator is missing, or the firmware crashes or does not end.
    """
    if not can_simulate(board):
        raise ToolError(f"nothing simulates {board.name}: its board file names neither simavr nor unicorn")
    return _RUNNERS[board.family](board, firmware, calls, seconds, roomy)
