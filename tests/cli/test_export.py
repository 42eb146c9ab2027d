"""`smidgen export`."""

import json
from pathlib import Path

import pytest

from smidgen.cli.main import run
from smidgen.program import Decide, Input, Linear, Matrix, Program


@pytest.fixture
def model(tmp_path: Path) -> Path:
    Program((Input("uint8", 2), Linear(Matrix.pack([[1, -2], [3, 0]], "int4")), Decide("argmax"))).save(
        tmp_path / "m.smg"
    )
    return tmp_path / "m.smg"


def test_c(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run(["export", str(model), "-o", str(out), "--name", "wave"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{out} holds the C: wave.h, wave.c")
    assert second == "2 bytes of constants · 2 bytes of RAM and the stack"
    written = first.removeprefix(f"{out} holds the C: ").split(", ")
    assert sorted(path.name for path in out.iterdir()) == sorted(written)


def test_an_arduino_library_as_json(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", str(model), "--to", "arduino", "-o", str(tmp_path / "lib"), "--json", "-q"]) == 0
    shown = capsys.readouterr()
    data = json.loads(shown.out)
    assert data["to"] == "arduino"
    assert all((tmp_path / "lib" / file).is_file() for file in data["files"])
    assert "library.properties" in data["files"]
    assert shown.err == ""


@pytest.mark.parametrize("arguments", [["--to", "pascal"], ["--name", "int"], []], ids=["format", "name", "no model"])
def test_bad_usage_is_code_2_and_writes_nothing(arguments: list[str], model: Path, tmp_path: Path, capsys) -> None:
    file = model if arguments else tmp_path / "nothing.smg"
    assert run(["export", str(file), "-o", str(tmp_path / "out"), *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("smidgen: ")
    assert shown.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
