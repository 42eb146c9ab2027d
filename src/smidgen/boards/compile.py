"""Compilers: C and assembly → objects → a firmware for a board, warnings being errors.

`find_toolchain` chooses among the compilers that a board names; `Toolchain` runs one. Time is limited, and all of it
happens in a folder of the caller's. Imports the other files of boards/.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from smidgen.boards import process
from smidgen.boards.board import Board, Compiler
from smidgen.boards.doctor import remedies
from smidgen.boards.tools import Tool, find_tool
from smidgen.errors import ToolError, UsageError

FIRMWARE = Path(__file__).with_name("firmware")

_WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wdouble-promotion")
_CODE = ("-Os", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections")
_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1")
_ZIG = ("-fno-sanitize=all",)  # zig adds UBSan of its own accord
_ZIG_BARE = ("-ffreestanding", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables")
_AVR_INCLUDES = ("-isystem", str(FIRMWARE / "avr" / "include"))


@dataclass(frozen=True)
class Toolchain:
    """A compiler of this computer that serves a board.

    Attributes
    ----------
    board : Board
        For which it compiles.
    compiler : Compiler
        What the board says of it.
    tool : Tool
        What was found of it here.
    sanitize : bool
        Add AddressSanitizer and UBSan (on this computer alone).
    extra : tuple of str
        Flags of the caller's, after all others.
    """

    board: Board
    compiler: Compiler
    tool: Tool
    sanitize: bool = False
    extra: tuple[str, ...] = ()

    @property
    def flags(self) -> tuple[str, ...]:
        """What every file is compiled with, warnings apart."""
        sanitizers = _SANITIZERS if self.sanitize else ()
        return ("-std=c99", *_CODE, *self._target, *sanitizers, *self.extra)

    @property
    def _zig(self) -> bool:
        return self.tool.name == "zig"

    @property
    def _target(self) -> tuple[str, ...]:
        if not self._zig:
            return self.compiler.flags
        return (*_ZIG, *(() if self.board.runs_here else _ZIG_BARE), *self.compiler.flags)

    def compile(self, source: Path, seconds: float) -> Path:
        """Compile one file; the object stands beside it.

        Raises
        ------
        ToolError
            With the compiler's first complaint, or when it takes too long.
        """
        target = source.with_name(source.name + ".o")
        headers = _AVR_INCLUDES if self._zig and self.board.family == "avr" else ()
        language = _WARNINGS if source.suffix == ".c" else ()
        self._run((*self.flags, *language, *headers, "-c", source.name, "-o", target.name), source, seconds)
        return target

    def link(self, objects: Iterable[Path], target: Path, seconds: float) -> Path:
        """Link objects of one folder to a firmware in it; what is not used is left out.

        Raises
        ------
        ToolError
            With the linker's first complaint, or when it takes too long.
        """
        names = [path.name for path in objects]
        strip = [] if sys.platform == "darwin" else ["-Wl,--gc-sections"]
        self._run((*self._target, *self._linking, *strip, *names, "-o", target.name), target, seconds)
        return target

    @property
    def _linking(self) -> tuple[str, ...]:
        """What turns objects into a firmware: start-up code and a map of the memory, where the compiler brings none."""
        if self.board.runs_here:
            return _SANITIZERS if self.sanitize else ()
        if self.board.family == "bare":
            script = ("-Wl,-e,main", f"-Wl,-T,{FIRMWARE / 'bare.ld'}")
            return script if self._zig else (*script, "-nostartfiles")
        if not self._zig:
            return ("-Wl,--defsym=__TEXT_REGION_LENGTH__=0x20000",)
        top = 0x80_00FF + (self.board.ram_bytes or 0)
        avr = FIRMWARE / "avr"
        return (
            "-nostdlib",
            "-Wl,-e,_start",
            f"-Wl,-T,{avr / 'link.ld'}",
            f"-DSMIDGEN_STACK={top:#x}",
            str(avr / "start.S"),
        )

    def _run(self, arguments: tuple[str, ...], file: Path, seconds: float) -> None:
        name = f"{self.tool.name} {self.tool.version}".rstrip()
        done = process.run((*self.tool.command, *self._subcommand, *arguments), file.parent, seconds, name)
        if done.code:
            lacking = self._zig and self.board.family == "avr" and "undefined symbol: __" in done.output
            hint = "; zig brings no floating point for AVR, avr-gcc does" if lacking else ""
            raise ToolError(f"{name} cannot make {file.name}: {process.first_complaint(done.output)}{hint}")

    @property
    def _subcommand(self) -> tuple[str, ...]:
        return ("cc",) if self._zig else ()


def find_toolchain(
    board: Board, compiler: str | None = None, *, sanitize: bool = False, extra: Iterable[str] = ()
) -> Toolchain:
    """Choose the first compiler of a board that is complete on this computer.

    Parameters
    ----------
    board : Board
        For which board.
    compiler : str, optional
        Only this one, by the name that the board gives it.
    sanitize : bool
        One that can link AddressSanitizer; on this computer alone.
    extra : iterable of str
        Flags to add.

    Returns
    -------
    Toolchain

    Raises
    ------
    UsageError
        When the board names no such compiler, or cannot be sanitized.
    ToolError
        When none is here; says which command gets one.

    Examples
    --------
    >>> from smidgen.boards.board import load_board
    >>> find_toolchain(load_board("uno"), "borland")
    Traceback (most recent call last):
    smidgen.errors.UsageError: uno has no compiler 'borland'; its compilers are avr-gcc, zig
    """
    choice = _choice(board, compiler, sanitize)
    for one in choice:
        tools = {name: find_tool(name) for name in (one.tool, *one.needs)}
        if all(tool and tool.works for tool in tools.values()):
            found = tools[one.tool]
            assert found is not None
            return Toolchain(board, one, found, sanitize, tuple(extra))
    wanted = (choice[0].tool, *choice[0].needs)
    raise missing(f"no compiler for {board.name} is here", wanted)


def _choice(board: Board, compiler: str | None, sanitize: bool) -> list[Compiler]:
    """The board's compilers that come into question."""
    if sanitize and not board.runs_here:
        raise UsageError(f"only this computer's programs can be sanitized, not those of {board.name}")
    choice = [one for one in board.compilers if compiler in (None, one.tool)]
    if not choice:
        names = ", ".join(one.tool for one in board.compilers)
        raise UsageError(f"{board.name} has no compiler '{compiler}'; its compilers are {names}")
    able = [one for one in choice if not (sanitize and one.tool == "zig")]
    if not able:
        raise UsageError("zig links no AddressSanitizer; take gcc or clang")
    return able


def missing(what: str, wanted: Iterable[str]) -> ToolError:
    """Make the error that says what is missing and the commands that get it."""
    lacking = [name for name in wanted if not ((tool := find_tool(name)) and tool.works)]
    commands = "; ".join(remedies(lacking))
    return ToolError(f"{what}: {', '.join(lacking)} missing or not working" + (f" ({commands})" if commands else ""))
