"""`smidgen demo`."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from smidgen.cli.main import run
from smidgen.jobs import demo
from smidgen.program import load_program


def test_what_people_see(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo"]) == 0
    shown = capsys.readouterr()
    first, second, third, last = shown.out.splitlines()
    assert re.fullmatch(r"9\d\.\d % on 450 held-out rows · \d+ bytes of model", first)
    assert re.fullmatch(r"uno: [\d,]+ bytes of flash · \d+ bytes of RAM · \d+\.\d\d ms a prediction", second)
    assert third == "the simulated uno and Python agree on 450 of 450 rows"
    assert last.startswith("Certificate(board='uno', rows=450, mismatches=0, flash_bytes=")
    assert shown.err == ""


def test_what_programs_see(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "digits.smg"
    assert run(["demo", "--json", "--quiet", "--out", str(file)]) == 0
    shown = capsys.readouterr()
    data = json.loads(shown.out)
    assert {"accuracy", "model_bytes", "rows", "certificate", "model", "mismatches"} < set(data)
    assert (data["rows"], data["mismatches"], data["model"]) == (450, 0, "ProtoNNClassifier")
    assert 0.9 < data["accuracy"] < 1
    assert data["file"] == str(file)
    assert load_program(file).cost().model_bytes == data["model_bytes"] <= 600
    assert shown.err == ""


def test_answers_that_differ_fall_short(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    result = demo.DemoResult("m", 0.5, 1, 10, 0, None, None, "no compiler is here")
    monkeypatch.setattr(demo, "run_demo", lambda out: replace(result, mismatches=3))
    assert run(["demo"]) == 1
    shown = capsys.readouterr().out
    assert "the saved file and Python agree on 7 of 10 rows" in shown
    assert "no compiler is here" in shown
