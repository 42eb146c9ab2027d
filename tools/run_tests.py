"""Runs every test and check, room by room, each against its share of the ten minutes. Run by `make test`.

    python tools/run_tests.py               all rooms
    python tools/run_tests.py program cli   the rooms of these names, or those that hold these folders

A room is a set of folders: NAME stands for tests/NAME and for the doctests of src/smidgen/NAME. Every folder and file
of both belongs to exactly one room, or nothing is run: what no room claims would silently stay unrun.
A room that takes longer than its share is told so; it fails only by its tests.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = "tests"
SOURCE = "src/smidgen"
# no test hangs the whole run: far beyond every share, and still within patience
LONGEST = 900
MOST_WORKERS = 8


@dataclass(frozen=True)
class Room:
    """A part of the house, what of tests/ and src/smidgen/ belongs to it, and its share of the time in seconds."""

    name: str
    share: int
    holds: tuple[str, ...]


CHECKS = Room("checks", 40, ())
ROOMS = (
    Room("program", 60, ("data", "core", "program")),
    Room("models", 150, ("models", "convert")),
    Room("boards", 150, ("emit", "boards")),
    Room("product", 80, ("__main__.py", "errors.py", "search", "scale", "report", "jobs", "cli", "test_errors.py")),
    Room(
        "wheel-and-README",
        90,
        (
            "__init__.py",
            "benchmarks",
            "tools",
            "test_docs.py",
            "test_examples.py",
            "test_import.py",
            "test_readme.py",
            "test_wheel.py",
        ),
    ),
)

PYTHON = (sys.executable, "-m")
PYTEST = (*PYTHON, "pytest", "-q", "--no-header", "--tb=short")
# loadgroup: tests that share something costly (an xdist_group) go to one worker
PYTEST += ("-n", "auto", f"--maxprocesses={MOST_WORKERS}", "--dist", "loadgroup")
# import-linter has no `python -m`; its command lies beside this Python
CHECK_COMMANDS: tuple[tuple[str, ...], ...] = (
    (*PYTHON, "ruff", "check", "--quiet"),
    (*PYTHON, "ruff", "format", "--check", "--quiet"),
    (*PYTHON, "mypy", "--no-error-summary"),
    (str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"),
)


def is_code(path: Path) -> bool:
    """Whether there is Python at this path: a file of it, or a folder with such a file somewhere inside."""
    if path.name == "conftest.py":
        return False
    return path.suffix == ".py" if path.is_file() else any(path.rglob("*.py"))


def entries(root: Path) -> set[str]:
    """The names directly under tests/ and src/smidgen/ that hold Python."""
    return {path.name for where in (TESTS, SOURCE) for path in (root / where).iterdir() if is_code(path)}


def complaints(root: Path, rooms: Sequence[Room] = ROOMS) -> list[str]:
    """A sentence for every name that no room claims, or more than one does; none where all is in order."""
    claims = [name for room in rooms for name in room.holds]
    return [
        f"{name} belongs to {claims.count(name)} rooms: give it to exactly one in tools/run_tests.py"
        for name in sorted(entries(root) | set(claims))
        if claims.count(name) != 1
    ]


def paths(room: Room, root: Path) -> list[str]:
    """What of a room exists: its folders under tests/ and src/smidgen/, as pytest takes them."""
    found = (Path(where) / name for name in room.holds for where in (TESTS, SOURCE))
    return [str(path) for path in found if (root / path).exists()]


def commands(room: Room, root: Path) -> Iterator[tuple[str, ...]]:
    """What must succeed for a room to pass."""
    if room is CHECKS:
        yield from CHECK_COMMANDS
    elif found := paths(room, root):
        yield (*PYTEST, *found)


def run(command: Sequence[str], root: Path) -> tuple[bool, str]:
    """Whether a command succeeded, and all it said."""
    try:
        done = subprocess.run(
            command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LONGEST, check=False
        )
    except subprocess.TimeoutExpired as late:
        said = late.stdout.decode(errors="replace") if isinstance(late.stdout, bytes) else late.stdout or ""
        return False, f"{said}\nstopped after {LONGEST} s\n"
    # 5: pytest found nothing to run, which is so in a room whose files hold no doctest yet
    return done.returncode == 0 or (done.returncode == 5 and "pytest" in command), done.stdout


def visit(room: Room, root: Path) -> bool:
    """Run one room: a line when it is done, everything that was said when something failed."""
    began = time.monotonic()
    results = [(command, *run(command, root)) for command in commands(room, root)]
    seconds = time.monotonic() - began
    if not results:
        return True
    for command, passed, said in results:
        if not passed:
            print(f"\n{said}\nfailed: {' '.join(command)}\n")
    passed = all(result[1] for result in results)
    # pytest's closing line, as in "212 passed in 9.61s"
    closing = results[-1][2].strip().splitlines()[-1:] if room is not CHECKS else ["ruff, mypy, import-linter"]
    print(f"{room.name:18}{'ok' if passed else 'FAILED':8}{seconds:5.0f} s of {room.share:3}   {''.join(closing)}")
    if seconds > room.share:
        print(f"{'':18}longer than its share: see `pytest --durations=20` and shorten the longest")
    sys.stdout.flush()
    return passed


def chosen(names: Sequence[str]) -> list[Room]:
    """The rooms asked for, by their own name or that of a folder in them; all where nothing is named."""
    rooms = [CHECKS, *ROOMS]
    unknown = set(names) - {name for room in rooms for name in (room.name, *room.holds)}
    if unknown:
        known = ", ".join(room.name for room in rooms)
        sys.exit(f"no room is called or holds {', '.join(sorted(unknown))}; rooms: {known}")
    return [room for room in rooms if not names or room.name in names or set(room.holds) & set(names)]


def main(names: Sequence[str], root: Path = ROOT) -> int:
    """Run the rooms asked for; 0 when all of them pass."""
    problems = complaints(root)
    if problems:
        print("\n".join(problems))
        return 1
    # a command of the environment (lint-imports, smidgen) is found by tests that call it by name
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    began = time.monotonic()
    failed = [room.name for room in chosen(names) if not visit(room, root)]
    verdict = "FAILED" if failed else "ok"
    print(f"{'total':18}{verdict:8}{time.monotonic() - began:5.0f} s")
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
