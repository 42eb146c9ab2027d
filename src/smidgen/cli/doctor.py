"""`smidgen doctor`: what is here and what is missing. Imports boards/."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from smidgen import __version__
from smidgen.boards.doctor import Examination, Service, examine
from smidgen.boards.tools import RECIPES, Tool
from smidgen.cli.frame import FALLS_SHORT, Screen, table

if TYPE_CHECKING:
    from rich.console import RenderableType

BoardOption = Annotated[
    str | None,
    typer.Option("--board", metavar="NAME", help="Only this board; exit code 1 when it cannot be served here."),
]


def doctor(screen: Screen, board: BoardOption = None) -> None:
    """Say which tools are here and how to get the rest."""
    with screen.working("asking the tools for their versions"):
        found = examine(board)
    screen.result({"smidgen": __version__} | found.as_json(), *_text(found))
    if board and any(service.missing for service in found.services):
        raise typer.Exit(FALLS_SHORT)


def _text(found: Examination) -> "Iterator[RenderableType]":
    yield f"smidgen {__version__}, Python {found.python}, {found.system}"
    yield ", ".join(f"{name} {version or 'is missing'}" for name, version in found.packages.items())
    yield ""
    yield table(("tool", "for", "version", "where"), [_tool_row(*item) for item in found.tools.items()])
    yield ""
    yield table(("board", "compiler", "simulator", "missing"), [_board_row(one) for one in found.services])
    yield from found.problems
    if found.remedies:
        yield ""
        yield "to get what is missing:"
        yield from (f"    {command}" for command in found.remedies)


def _tool_row(name: str, tool: Tool | None) -> tuple[str, ...]:
    purpose = RECIPES[name].what if name in RECIPES else ""
    if tool is None:
        return name, purpose, "", "not here"
    if not tool.works:
        return name, purpose, "", f"{tool.path} does not run"
    return name, purpose, tool.version, f"{tool.path} ({tool.where})"


def _board_row(service: Service) -> tuple[str, ...]:
    return (
        service.board,
        service.compiler or "none",
        service.simulator or "none",
        ", ".join(service.missing) or "nothing",
    )
