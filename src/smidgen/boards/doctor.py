"""What is here of Python, compilers and simulators, which boards that serves, and the command that gets the rest.

Examining never fails: what cannot be asked counts as missing. Imports the other files of boards/.
"""

import os
import platform
import shutil
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from smidgen.boards.board import Board, Compiler, Simulator, board_files, in_order, load_board
from smidgen.boards.tools import RECIPES, Recipe, Tool, find_tool, package_version
from smidgen.errors import UsageError

# what pyproject.toml asks for; a test compares the two
PACKAGES = ("array-api-compat", "numpy", "pyarrow", "rich", "scikit-learn", "scipy", "threadpoolctl", "typer")


@dataclass(frozen=True)
class Service:
    """What this computer can do for one board.

    Attributes
    ----------
    board : str
        The board's name.
    compiler, simulator : str
        The tools that serve it, "" where none does; "this computer" where it runs the board's programs itself.
    missing : tuple of str
        The tools that would have to be added, by their names in `tools`; empty when all that the board names is here.
    """

    board: str
    compiler: str
    simulator: str
    missing: tuple[str, ...]

    @property
    def can_build(self) -> bool:
        """Whether programs for the board can be compiled."""
        return bool(self.compiler)

    @property
    def can_simulate(self) -> bool:
        """Whether they can be run, too."""
        return bool(self.compiler and self.simulator)


@dataclass(frozen=True)
class Examination:
    """Everything that was found.

    Attributes
    ----------
    python : str
        The version of the Python that runs smidgen.
    system : str
        The operating system and the processor.
    packages : dict
        Python package → version, None where it is missing.
    tools : dict
        Tool → what was found of it, None where nothing was.
    services : tuple of Service
        One for each board.
    problems : tuple of str
        Board files that cannot be read, a sentence each.
    remedies : tuple of str
        The commands that get what is missing.
    """

    python: str
    system: str
    packages: dict[str, str | None]
    tools: dict[str, Tool | None]
    services: tuple[Service, ...]
    problems: tuple[str, ...]
    remedies: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Give everything as a dictionary that JSON can hold."""
        flags = {one.board: {"can_build": one.can_build, "can_simulate": one.can_simulate} for one in self.services}
        boards = [asdict(service) | flags[service.board] for service in self.services]
        return {**{key: value for key, value in asdict(self).items() if key != "services"}, "boards": boards}


def examine(board: str | None = None) -> Examination:
    """Look at this computer.

    Parameters
    ----------
    board : str, optional
        Only this board, by its name or from its file, and what it needs; else all of them.

    Returns
    -------
    Examination

    Raises
    ------
    UsageError
        When there is no such board.

    Examples
    --------
    >>> [service.board for service in examine("host").services]
    ['host']
    """
    boards, problems = ((load_board(board),), ()) if board else _readable_boards()
    names = {name for one in boards for name in tools_of(one)} if board else {*RECIPES}.union(*map(tools_of, boards))
    tools = {name: find_tool(name) for name in sorted(names, key=_order)}
    working = {name for name, tool in tools.items() if tool and tool.works}
    services = tuple(_serve(one, working) for one in boards)
    packages = {name: package_version(name) for name in PACKAGES}
    return Examination(
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        packages=packages,
        tools=tools,
        services=services,
        problems=problems,
        remedies=remedies(
            (name for service in services for name in service.missing),
            (name for name, version in packages.items() if version is None),
        ),
    )


def _order(name: str) -> tuple[int, str]:
    """Give the tools the order of the recipes, strangers last."""
    known = list(RECIPES)
    return (known.index(name) if name in RECIPES else len(known), name)


def _readable_boards() -> tuple[tuple[Board, ...], tuple[str, ...]]:
    """Read the boards that can be read, and say what is wrong with the others."""
    try:
        names = list(board_files())
    except UsageError as error:
        return (), (str(error),)
    boards, problems = [], []
    for name in names:
        try:
            boards.append(load_board(name))
        except UsageError as error:
            problems.append(str(error))
    return in_order(boards), tuple(problems)


def tools_of(board: Board) -> tuple[str, ...]:
    """Name every tool that could serve a board, compilers first.

    >>> tools_of(load_board("host"))
    ('cc', 'zig')
    """
    users: list[Compiler | Simulator] = [*board.compilers, *([board.simulator] if board.simulator else [])]
    return tuple(dict.fromkeys(name for user in users for name in (user.tool, *user.needs)))


def _serve(board: Board, working: set[str]) -> Service:
    """Choose the first compiler that is complete; where none is, the preferred one is what is missing."""
    complete = [one for one in board.compilers if working.issuperset((one.tool, *one.needs))]
    preferred = board.compilers[0]
    lacking = [] if complete else [preferred.tool, *preferred.needs]
    simulator = "this computer" if board.runs_here else ""
    if board.simulator:
        parts = (board.simulator.tool, *board.simulator.needs)
        simulator = board.simulator.tool if working.issuperset(parts) else ""
        lacking += parts
    return Service(
        board=board.name,
        compiler=complete[0].tool if complete else "",
        simulator=simulator,
        missing=tuple(name for name in dict.fromkeys(lacking) if name not in working),
    )


def remedies(missing: Iterable[str], packages: Iterable[str] = ()) -> tuple[str, ...]:
    """Give the commands that get missing tools and Python packages: at most one of Debian's and one of Python's.

    >>> remedies([])
    ()
    """
    recipes = [RECIPES.get(name) or Recipe(name) for name in dict.fromkeys(missing)]
    debian = list(dict.fromkeys(package for recipe in recipes for package in recipe.apt))
    python = list(dict.fromkeys([*packages, *(package for recipe in recipes for package in recipe.pip)]))
    commands = []
    if debian:
        commands.append(_apt_install(debian))
    if python:
        commands.append(f"{_pip()} install {' '.join(python)}")
    return tuple(commands)


def _apt_install(packages: list[str]) -> str:
    command = f"apt install {' '.join(packages)}"
    if not shutil.which("apt"):
        return f"with your system's package manager, what Debian calls: {' '.join(packages)}"
    return command if hasattr(os, "geteuid") and os.geteuid() == 0 else f"as root: {command}"


def _pip() -> str:
    """Name the pip of this environment: `pip` alone where that is the one the user's shell finds."""
    found = shutil.which("pip")
    return "pip" if found and Path(found).parent == Path(sys.executable).parent else f"{sys.executable} -m pip"
