"""Boards: a chip's limits, the compilers that serve it and what simulates it, each a small TOML file.

The files beside this module are the boards smidgen brings along. A user's own lie in the folder that `$SMIDGEN_BOARDS`
names, else in `~/.config/smidgen/boards`; one of the same name stands in front of ours. The file's name is the board's.
A new field is one line in `Board` and one in `_read_board`. Imports smidgen's errors, and tools for the home folder.
"""

import difflib
import math
import os
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from smidgen.boards.tools import at_home
from smidgen.errors import UsageError

_OURS = "smidgen"


@dataclass(frozen=True)
class Compiler:
    """A compiler that serves a board: its name in `tools`, the flags that select the chip, what it needs besides."""

    tool: str
    flags: tuple[str, ...]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Simulator:
    """What stands in for a board: its name in `tools`, the processor it plays, what it counts, what it needs."""

    tool: str
    cpu: str
    counts: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Power:
    """What the chip draws while it computes: enough for an estimate of energy, no more; `source` says who says so."""

    volts: float
    milliamperes: float
    source: str


@dataclass(frozen=True)
class Board:
    """One board.

    Attributes
    ----------
    name : str
        How commands call it.
    chip : str
        The microcontroller.
    title : str
        A product that has it, where there is one.
    flash_bytes, ram_bytes : int or None
        What a program may use, the bootloader taken off; None where there is no limit worth naming.
    clock_hz : int or None
        The clock; None where it varies.
    compilers : tuple of Compiler
        Those that serve it, the preferred one first.
    simulator : Simulator or None
        What stands in for it, where anything does.
    power : Power or None
        What it draws while it computes, where that is published.
    runs_here : bool
        Its programs run on this computer, directly.
    source : str
        "smidgen", or the user's file it was read from.

    Examples
    --------
    >>> load_board("uno").ram_bytes
    2048
    """

    name: str
    chip: str
    title: str
    flash_bytes: int | None
    ram_bytes: int | None
    clock_hz: int | None
    compilers: tuple[Compiler, ...]
    simulator: Simulator | None
    power: Power | None
    runs_here: bool
    source: str

    @property
    def family(self) -> str:
        """How its firmware starts and is simulated: "host", "avr" (simavr), "bare" (unicorn), or "" for neither."""
        if self.runs_here:
            return "host"
        return {"simavr": "avr", "unicorn": "bare"}.get(self.simulator.tool if self.simulator else "", "")

    def as_json(self) -> dict[str, Any]:
        """Give everything as a dictionary that JSON can hold."""
        return asdict(self)


def load_boards() -> tuple[Board, ...]:
    """Read every board: ours first, then the user's own; the smallest first.

    Returns
    -------
    tuple of Board

    Examples
    --------
    >>> [board.name for board in load_boards() if board.source == "smidgen"]
    ['uno', 'm0', 'm4', 'rv32', 'host']
    """
    return in_order(_read_file(name, file) for name, file in board_files().items())


def in_order(boards: Iterable[Board]) -> tuple[Board, ...]:
    """Sort boards as they are listed: ours first, then by flash, those without a limit last."""
    return tuple(sorted(boards, key=lambda board: (board.source != _OURS, board.flash_bytes or math.inf, board.name)))


def load_board(name_or_path: str | os.PathLike[str]) -> Board:
    """Read one board, by its name or from a TOML file.

    Parameters
    ----------
    name_or_path : str or path
        A name that `smidgen boards` lists, or a path that ends in ".toml".

    Returns
    -------
    Board

    Raises
    ------
    UsageError
        When there is no such board, or its file is not right.

    Examples
    --------
    >>> load_board("unno")
    Traceback (most recent call last):
    smidgen.errors.UsageError: there is no board 'unno'; did you mean 'uno'? `smidgen boards` lists them
    """
    asked = os.fspath(name_or_path)
    if asked.endswith(".toml"):
        return _read_file(Path(asked).stem, Path(asked))
    known = board_files()
    if asked not in known:
        near = difflib.get_close_matches(asked.lower(), known, n=1, cutoff=0.5)
        guess = f"did you mean '{near[0]}'? " if near else ""
        raise UsageError(f"there is no board '{asked}'; {guess}`smidgen boards` lists them")
    return _read_file(asked, known[asked])


def board_files() -> dict[str, Traversable]:
    """Find the file of each board, by name, without reading any."""
    folders: list[Traversable] = [files(__package__), *_own_folders()]
    return {
        file.name.removesuffix(".toml"): file
        for folder in folders
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".toml")
    }


def _own_folders() -> list[Path]:
    """Give the folder of the user's own boards, if there is one."""
    named = os.environ.get("SMIDGEN_BOARDS")
    if named:
        folder = at_home(named)
        if not folder.is_dir():
            raise UsageError(f"$SMIDGEN_BOARDS names '{named}', which is not a folder")
        return [folder]
    config = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    folder = at_home(config) / "smidgen" / "boards"
    return [folder] if folder.is_dir() else []


def _read_file(name: str, file: Traversable) -> Board:
    ours = str(file) == str(files(__package__).joinpath(file.name))
    try:
        table = tomllib.loads(file.read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise UsageError(f"the board file '{file}' cannot be read: {reason}") from error
    return _read_board(name, _Table(table, str(file), ""), _OURS if ours else str(file))


def _read_board(name: str, table: "_Table", source: str) -> Board:
    board = Board(
        name=name,
        chip=table.take("chip", _text),
        title=table.take("title", _text, ""),
        flash_bytes=table.take("flash_bytes", _size, None),
        ram_bytes=table.take("ram_bytes", _size, None),
        clock_hz=table.take("clock_hz", _size, None),
        compilers=tuple(_read_compiler(one) for one in table.take_tables("compiler")),
        simulator=_read_simulator(table.take_table("simulator")),
        power=_read_power(table.take_table("power")),
        runs_here=table.take("runs_here", _truth, False),
        source=source,
    )
    table.done()
    return board


def _read_compiler(table: "_Table") -> Compiler:
    compiler = Compiler(table.take("tool", _text), table.take("flags", _texts, ()), table.take("needs", _texts, ()))
    table.done()
    return compiler


def _read_simulator(table: "_Table | None") -> Simulator | None:
    if table is None:
        return None
    simulator = Simulator(
        table.take("tool", _text),
        table.take("cpu", _text),
        table.take("counts", _unit),
        table.take("needs", _texts, ()),
    )
    table.done()
    return simulator


def _read_power(table: "_Table | None") -> Power | None:
    if table is None:
        return None
    power = Power(table.take("volts", _amount), table.take("milliamperes", _amount), table.take("source", _text))
    table.done()
    return power


_REQUIRED: Any = object()


class _Table:
    """A TOML table whose keys are taken one by one; whatever is wrong is said with the file and the key."""

    def __init__(self, entries: dict[str, Any], file: str, prefix: str) -> None:
        self._entries, self._file, self._prefix = dict(entries), file, prefix
        self._taken: list[str] = []

    def take(self, key: str, check: Callable[[Any], Any], default: Any = _REQUIRED) -> Any:
        self._taken.append(key)
        if key not in self._entries:
            if default is _REQUIRED:
                raise self._error(f"lacks '{self._prefix}{key}'")
            return default
        try:
            return check(self._entries.pop(key))
        except ValueError as error:
            raise self._error(f"must give '{self._prefix}{key}' as {error}") from error

    def take_tables(self, key: str) -> "list[_Table]":
        tables = self.take(key, _tables)
        return [_Table(one, self._file, f"{self._prefix}{key}.") for one in tables]

    def take_table(self, key: str) -> "_Table | None":
        table = self.take(key, _table, None)
        return None if table is None else _Table(table, self._file, f"{self._prefix}{key}.")

    def done(self) -> None:
        """Refuse keys that nobody took: a misspelt limit must not be no limit."""
        for key in self._entries:
            near = difflib.get_close_matches(key, self._taken, n=1)
            guess = (
                f"'{self._prefix}{near[0]}'" if near else ", ".join(f"'{self._prefix}{known}'" for known in self._taken)
            )
            raise self._error(f"has '{self._prefix}{key}', which is no key of a board; use {guess}")

    def _error(self, what: str) -> UsageError:
        return UsageError(f"the board file '{self._file}' {what}")


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a text")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("a list of texts")
    return tuple(value)


def _size(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"a whole number above 0, not {value!r}")
    return value


def _amount(value: Any) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value <= 0:
        raise ValueError(f"a number above 0, not {value!r}")
    return float(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _unit(value: Any) -> str:
    if value not in ("cycles", "instructions"):
        raise ValueError(f'"cycles" or "instructions", not {value!r}')
    return str(value)


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("a table")
    return value


def _tables(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        raise ValueError("tables, each headed [[compiler]]")
    return value
