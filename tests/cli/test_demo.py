"""`smidgen demo`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from smidgen.cli.main import run
from smidgen.jobs import demo
from smidgen.program import load_program


def test_what_people_see(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo"]) == 0
    shown = capsys.readouterr()
    first, second = shown.out.splitlines()
    assert first.endswith(" bytes of RAM")
    assert " % on 450 held-out rows · 330 bytes of model · " in first
    assert second == "the model and its saved file agree on 450 of 450 rows"
    assert shown.err == ""


def test_what_programs_see(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "digits.smg"
    assert run(["demo", "--json", "--quiet", "--out", str(file)]) == 0
    shown = capsys.readouterr()
    data = json.loads(shown.out)
    assert {"accuracy", "model_bytes", "rows", "ram_bytes", "model", "mismatches"} < set(data)
    assert (data["model_bytes"], data["rows"], data["mismatches"]) == (330, 450, 0)
    assert data["accuracy"] > 0.85
    assert data["file"] == str(file)
    assert load_program(file).cost().model_bytes == 330
    assert shown.err == ""


def test_answers_that_differ_fall_short(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    result = demo.DemoResult("m", 0.5, 1, 2, 10, 0, None)
    monkeypatch.setattr(demo, "run_demo", lambda out: replace(result, mismatches=3))
    assert run(["demo"]) == 1
    assert "agree on 7 of 10 rows" in capsys.readouterr().out
