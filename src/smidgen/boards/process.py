"""Runs compilers and simulators: in a folder, for a limited time, killed with all their children. Imports errors."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from smidgen.errors import ToolError

MOST_OUTPUT = 20_000

_TELLING = ("error", "undefined", "overflow", "truncated", "ERROR")


@dataclass(frozen=True)
class Done:
    """A process that ended: its exit code (negative: the signal that killed it) and what it said, both streams."""

    code: int
    output: str


def run(
    command: Sequence[str] | Sequence[str | Path],
    folder: Path,
    seconds: float,
    what: str,
    environment: Mapping[str, str] | None = None,
) -> Done:
    r"""Run a command to its end.

    Parameters
    ----------
    command : sequence
        The executable and its arguments.
    folder : path
        Where it runs; what it says passes through a file there, never a pipe that a stuck child could hold open.
    seconds : float
        After which it and its children are killed.
    what : str
        What it is, for the sentence of an error: "the compiler avr-gcc".
    environment : mapping, optional
        Variables to set besides those of this process.

    Returns
    -------
    Done

    Raises
    ------
    ToolError
        When it cannot be started, or does not end in time.

    Examples
    --------
    >>> import sys, tempfile
    >>> run([sys.executable, "-c", "print(6 * 7)"], Path(tempfile.mkdtemp()), 60, "Python")
    Done(code=0, output='42\n')
    """
    said = folder / "said.txt"
    try:
        with said.open("wb") as output:
            process = subprocess.Popen(
                [os.fspath(part) for part in command],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **(environment or {})},
            )
    except OSError as error:
        raise ToolError(f"{what} cannot be started: {error.strerror or error}") from None
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        raise ToolError(f"{what} did not end within {seconds:g} s") from None
    finally:
        _kill(process)
    with said.open("rb") as output:
        return Done(code, output.read(MOST_OUTPUT).decode("utf-8", "replace"))


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process that still runs, and whatever it started."""
    if process.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)  # start_new_session made it the leader of its group
        process.kill()
        process.wait()


def first_complaint(output: str) -> str:
    r"""Give the first line of a tool's output that says what is wrong, else its last line: one line, not too long.

    >>> first_complaint("In file included from a.c:1:\na.h:3:1: error: unknown type name 'x'\n 3 | x y;\n")
    "a.h:3:1: error: unknown type name 'x'"
    """
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if any(word in line for word in _TELLING) and not line.startswith("collect2")]
    line = (telling or lines[-1:] or ["it said nothing"])[0]
    return line if len(line) <= 200 else f"{line[:199]}…"
