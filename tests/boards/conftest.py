"""A computer without any tools, on which a test puts those it wants."""

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from smidgen.boards import doctor, tools

SETTINGS = (
    "ARDUINO_DIRECTORIES_DATA",
    "CPATH",
    "LOCALAPPDATA",
    "PLATFORMIO_CORE_DIR",
    "SMIDGEN_BOARDS",
    "XDG_CONFIG_HOME",
)


@dataclass(frozen=True)
class Computer:
    """The root of a made-up file system, the Python packages it lacks, and what puts tools there."""

    root: Path
    lacks: set[str] = field(default_factory=lambda: {"ziglang", "unicorn", "elftools"})

    @property
    def home(self) -> Path:
        return self.root / "home"

    def put(self, place: str, text: str = "echo 1.2.3") -> Path:
        """Put an executable: `place` is below the root, `text` is what the shell does with it."""
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def put_header(self, place: str) -> Path:
        path = self.root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("/* a header */\n")
        return path


@pytest.fixture
def computer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Computer:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    for folder in ("bin", "home", "python/bin", "include"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python/bin/python"))
    monkeypatch.setattr(tools, "_HEADER_FOLDERS", (str(tmp_path / "include"),))
    monkeypatch.setattr(tools, "_ARDUINO_1_FOLDERS", (str(tmp_path / "arduino-1.8"),))
    monkeypatch.setattr(doctor, "package_version", lambda name: "1.0")
    made_up = Computer(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", _without(made_up.lacks))
    return made_up


def _without(modules: set[str]) -> Callable[[str], object]:
    real = importlib.util.find_spec
    return lambda name: None if name in modules else real(name)


@pytest.fixture
def need() -> Callable[..., None]:
    """`need("uno")` skips a test where a board cannot be simulated; `need("uno", "zig")` where it lacks a compiler."""

    def check(board: str, *more: str) -> None:
        lacking = [*doctor.examine(board).services[0].missing]
        lacking += [name for name in more if not ((tool := tools.find_tool(name)) and tool.works)]
        if lacking:
            pytest.skip(f"{', '.join(lacking)} missing")

    return check
