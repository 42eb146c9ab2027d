"""`smidgen boards`."""

import json
from pathlib import Path

import pytest

from smidgen.cli.main import run


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["boards"]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert [line.split()[0] for line in lines] == ["board", "uno", "m0", "m4", "rv32", "host"]
    expected = "uno ATmega328P (Arduino Uno) 31.5 kB 2 kB 16 MHz 10.4 mA at 5 V avr-gcc, zig simavr smidgen"
    assert " ".join(lines[1].split()) == expected
    assert lines[5].rstrip().endswith("cc, zig                 runs here  smidgen")
    assert shown.err == ""


def test_the_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["boards", "--json", "--quiet"]) == 0
    shown = capsys.readouterr()
    boards = {board["name"]: board for board in json.loads(shown.out)["boards"]}
    assert boards["uno"]["ram_bytes"] == 2048
    assert boards["host"]["ram_bytes"] is None
    assert boards["m0"]["simulator"]["tool"] == "unicorn"
    assert shown.err == ""


def test_a_users_board_is_listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys) -> None:
    file = tmp_path / "tiny.toml"
    file.write_text('chip = "ATtiny13"\nram_bytes = 64\n[[compiler]]\ntool = "avr-gcc"\n')
    monkeypatch.setenv("SMIDGEN_BOARDS", str(tmp_path))
    assert run(["boards"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert " ".join(last.split()) == f"tiny ATtiny13 64 bytes avr-gcc none {file}"
    file.write_text("chip = 3\n")
    assert run(["boards"]) == 2
    assert capsys.readouterr() == ("", f"smidgen: the board file '{file}' must give 'chip' as a text\n")
