"""What every command shares: the common options, where output goes, errors as one sentence, exit codes.

A command is a function of a `Screen` and its own options; `framed` adds the common ones. Imports smidgen's errors
and typer; rich only when something is shown, so that `smidgen --help` stays quick.

Exit codes
    ===  ==========================================================================================
    0    done
    1    the result falls short (a budget not met, too big for a board, a board that disagrees or is not served)
    2    bad usage or bad input, a file that cannot be read or written
    70   a defect of smidgen itself
    130  stopped by Ctrl-C
    141  the reader of the output went away (`smidgen boards | head -1`), as for any Unix program
    ===  ==========================================================================================
"""

import inspect
import json
import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from smidgen.errors import BudgetError, SmidgenError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

FALLS_SHORT = 1
BAD_USAGE = 2
DEFECT = 70
INTERRUPTED = 130
PIPE_CLOSED = 141

NARROWEST = 60
"""Columns of a table, however narrow the terminal: its own line breaks harm less than columns of two letters."""


@dataclass(frozen=True)
class Screen:
    """Where a command's output goes: its result to stdout, everything else to stderr.

    Parameters
    ----------
    as_json : bool
        One JSON object is the result; the text for people goes to stderr.
    quiet : bool
        Nothing on stderr but errors.
    verbose : int
        1 shows what the library logs, 2 its details too.
    """

    as_json: bool = False
    quiet: bool = False
    verbose: int = 0

    def result(self, data: Mapping[str, Any], *text: "RenderableType") -> None:
        """Show what the command found, once: `data` to programs, `text` to people."""
        if not self.as_json:
            _show(sys.stdout, *text)
            return
        if not self.quiet:
            _show(sys.stderr, *text)
        write_json(data)

    def working(self, what: str) -> AbstractContextManager[object]:
        """Say on a terminal's stderr what is being done, until it is."""
        if self.quiet or not sys.stderr.isatty():
            return nullcontext()
        return _console(sys.stderr).status(what)

    @contextmanager
    def logging(self) -> Iterator[None]:
        """Show what the library logs on stderr: warnings, and with --verbose more."""
        logger = logging.getLogger("smidgen")
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        levels = (logging.WARNING, logging.INFO, logging.DEBUG)
        before = logger.level
        logger.setLevel(logging.ERROR if self.quiet else levels[min(self.verbose, 2)])
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(before)


def write_json(data: Mapping[str, Any]) -> None:
    """Write one object, on one line, to stdout."""
    sys.stdout.write(json.dumps(data, allow_nan=False) + "\n")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> "Table":
    """Lay out rows under headings, without a box, so that the lines can be searched and cut; `right` holds numbers."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in headings:
        # what is too long for its column goes on in the next line: nothing is cut off
        grid.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def _show(stream: TextIO, *items: "RenderableType") -> None:
    console = _console(stream)
    with console.capture() as text:  # rich itself would end the program when a pipe breaks
        for item in items:
            console.print(item, soft_wrap=isinstance(item, str))
    stream.write(text.get())


def _console(stream: TextIO) -> "Console":
    from rich.console import Console

    console = Console(
        file=stream,
        highlight=False,
        markup=False,
        emoji=False,
        # in a pipe a row of a table is one line, however long: `smidgen boards | grep uno`
        width=None if stream.isatty() else 10_000,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
    )
    console.width = max(console.width, NARROWEST)
    return console


def _common(
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object on stdout, text for people on stderr.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr but errors.")] = False,
    verbose: Annotated[
        int, typer.Option("--verbose", "-v", count=True, show_default=False, help="Log more; twice: details.")
    ] = 0,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001
) -> Screen:
    """Make the screen from the options of every command; `failure` looks for --debug itself."""
    return Screen(as_json, quiet, verbose)


def framed(function: Callable[..., None]) -> Callable[..., None]:
    """Turn `function(screen, **own)` into a command of its own and the common options."""
    common = inspect.signature(_common).parameters
    own = [parameter for name, parameter in inspect.signature(function).parameters.items() if name != "screen"]

    def command(**options: Any) -> None:
        screen = _common(**{name: options.pop(name) for name in common})
        with screen.logging():
            function(screen, **options)

    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in (*own, *common.values())]
    command.__name__ = function.__name__
    command.__doc__ = function.__doc__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def guarded(action: Callable[[], None], arguments: Sequence[str]) -> int:
    """Run `action` and turn whatever happens into an exit code and at most one line on stderr."""
    _open_closed_streams()
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # an output that knows no "·" gets "?"
        code = _exit_code_of(action)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("smidgen: stopped\n")
        return INTERRUPTED
    except BrokenPipeError:
        _abandon_stdout()
        return PIPE_CLOSED
    except Exception as error:
        return failure(error, arguments)
    return code


def _open_closed_streams() -> None:
    """Give a process that was started with stdout or stderr closed (`>&-`) a place to write to that keeps nothing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def _exit_code_of(action: Callable[[], None]) -> int:
    try:
        action()
    except typer.Exit as end:
        return end.exit_code
    return 0


def failure(error: Exception, arguments: Sequence[str]) -> int:
    """Report an error: a sentence on stderr, an object on stdout with --json, a traceback with --debug.

    The two options are looked for in the arguments themselves, since the error may be that they cannot be parsed.
    """
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    sentence, code = _explain(error)
    if "--debug" in options:
        traceback.print_exception(error, file=sys.stderr)
    sys.stderr.write(f"smidgen: {sentence}\n")
    if "--json" in options:
        try:
            write_json({"error": sentence})
            sys.stdout.flush()
        except OSError:
            _abandon_stdout()
    return code


def _explain(error: Exception) -> tuple[str, int]:
    """Give the sentence for an error, on one line, and the exit code."""
    if isinstance(error, SmidgenError):
        return _one_line(str(error)), FALLS_SHORT if isinstance(error, BudgetError) else BAD_USAGE
    if hasattr(error, "format_message"):  # typer's own, whose class has moved between its versions
        context = getattr(error, "ctx", None)
        message = _one_line(error.format_message()).rstrip(".")
        return message[:1].lower() + message[1:] + (
            f" (see {context.command_path} --help)" if context else ""
        ), BAD_USAGE
    if isinstance(error, OSError):
        return _one_line(f"{error.filename or 'the output'}: {error.strerror or error}"), BAD_USAGE
    details = f": {_one_line(str(error))}" if str(error) else ""
    if isinstance(error, MemoryError):
        return f"there is not enough memory{details}", BAD_USAGE
    name = type(error).__name__
    return f"a defect of smidgen, please report it: {name}{details} (--debug shows the traceback)", DEFECT


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _abandon_stdout() -> None:
    """Let nothing more be written: without this, Python complains when it flushes stdout at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a stdout that is no file: a test's, a notebook's
        return
