"""`smidgen boards`: the boards there are. Imports boards/."""

from smidgen.boards.board import Board, load_boards
from smidgen.cli.frame import Screen, table


def boards(screen: Screen) -> None:
    """List the boards that models can be made for."""
    found = load_boards()
    headings = ("board", "chip", "flash", "RAM", "clock", "draws", "compilers", "simulator", "from")
    listing = table(headings, map(_row, found), right=("flash", "RAM", "clock", "draws"))
    screen.result({"boards": [board.as_json() for board in found]}, listing)


def _row(board: Board) -> tuple[str, ...]:
    return (
        board.name,
        f"{board.chip} ({board.title})" if board.title else board.chip,
        _kilobytes(board.flash_bytes),
        _kilobytes(board.ram_bytes),
        f"{board.clock_hz / 1e6:g} MHz" if board.clock_hz else "",
        f"{board.power.milliamperes:g} mA at {board.power.volts:g} V" if board.power else "",
        ", ".join(compiler.tool for compiler in board.compilers),
        board.simulator.tool if board.simulator else "runs here" if board.runs_here else "none",
        board.source,
    )


def _kilobytes(number: int | None) -> str:
    if number is None:
        return ""
    return f"{number / 1024:.4g} kB" if number >= 1024 else f"{number} bytes"
