"""`smidgen doctor`: its text, its object, its exit code."""

import json
import sys
from pathlib import Path

import pytest

import smidgen
from smidgen.boards import tools
from smidgen.cli.main import run


@pytest.fixture
def bin_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The only folder with tools on this computer, and that an empty one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python/bin/python"))
    monkeypatch.setattr(tools, "_HEADER_FOLDERS", ())
    monkeypatch.setattr(tools, "_ARDUINO_1_FOLDERS", ())
    return folder


def put(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_a_board_that_cannot_be_served_is_code_1(bin_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--board", "uno"]) == 1
    shown = capsys.readouterr()
    assert "to get what is missing:\n    with your system's package manager, what Debian calls: gcc-avr" in shown.out
    assert shown.err == ""
    assert run(["doctor", "--board", "uno", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["boards"][0]["can_simulate"] is False


def test_without_a_board_it_never_fails(bin_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(bin_folder, "cc", "exit 3")
    assert run(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"smidgen {smidgen.__version__}, Python {sys.version.split()[0]}, ")
    assert "scikit-learn" in shown.splitlines()[1]
    assert f"{bin_folder / 'cc'} does not run" in shown


def test_a_board_that_is_served(bin_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(bin_folder, "cc", "echo 'cc 12.2.0'")
    assert run(["doctor", "--board", "host"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split() == ["host", "cc", "this", "computer", "nothing"]
    assert any(line.split()[:1] == ["cc"] and "12.2.0" in line and "(PATH)" in line for line in lines)
    assert run(["doctor", "--board", "host", "--json", "-q"]) == 0
    shown = capsys.readouterr()
    data = json.loads(shown.out)
    assert data["smidgen"] == smidgen.__version__
    assert data["tools"]["cc"]["version"] == "12.2.0"
    assert data["remedies"] == []
    assert shown.err == ""
