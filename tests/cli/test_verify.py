"""`smidgen verify`: its text, its object, its file, its exit codes. What is verified is tested in tests/boards."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from smidgen.boards.certificate import Certificate
from smidgen.cli.main import run
from smidgen.errors import BudgetError
from smidgen.jobs import verify as job
from smidgen.program import Decide, Input, Linear, Matrix, Program

FOUND = Certificate(
    board="uno",
    chip="ATmega328P",
    model="90ab",
    rows=450,
    mismatches=0,
    compiler="avr-gcc",
    compiler_version="5.4.0",
    model_bytes=564,
    constant_bytes=564,
    flash_bytes=1060,
    ram_bytes=98,
    counts="cycles",
    cycles=7348.0,
    worst_cycles=8000,
    clock_hz=16_000_000,
    microjoules=23.9,
    measures={"accuracy": 0.983},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    steps = (Input("uint8", 2), Linear(Matrix.pack([[1, -2], [3, 0]], "int4")), Decide("argmax"))
    Program(steps, classes=("rest", "wave"), feature_names=("ax", "ay")).save(tmp_path / "m.smg")
    (tmp_path / "rows.csv").write_text("ax,ay,gesture\n9,1,wave\n0,0,rest\n200,3,rest\n")
    return tmp_path


def finding(monkeypatch: pytest.MonkeyPatch, **changes) -> None:
    monkeypatch.setattr(job, "verify", lambda *arguments, **options: replace(FOUND, **changes))


def arguments(folder: Path, *more: str) -> list[str]:
    return ["verify", str(folder / "m.smg"), str(folder / "rows.csv"), "--target", "gesture", *more]


def test_on_this_computer_for_real(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from smidgen.boards.doctor import examine

    if not examine("host").services[0].can_simulate:
        pytest.skip("no compiler for this computer")
    out = folder / "certificate.json"
    assert run(arguments(folder, "--board", "host", "--json", "-o", str(out))) == 0
    shown = capsys.readouterr()
    data = json.loads(shown.out)
    assert (data["board"], data["rows"], data["mismatches"], data["accuracy"]) == ("host", 3, 0, pytest.approx(2 / 3))
    assert {"model", "model_bytes", "flash_bytes", "ram_bytes", "cycles"} < set(data)
    assert Certificate.from_json(out.read_text()).as_json() == data
    assert shown.err.splitlines()[0] == "host and Python agree on 3 of 3 rows"


def test_what_people_see(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    finding(monkeypatch)
    assert run(arguments(folder)) == 0
    assert capsys.readouterr().out.splitlines() == [
        "uno and Python agree on 450 of 450 rows",
        "accuracy 98.3 % · 1,060 bytes of flash · 98 bytes of RAM",
        "7,348 cycles a prediction, at most 8,000 · 0.459 ms · an estimated 23.9 µJ",
        "compiled by avr-gcc 5.4.0",
    ]


def test_a_board_that_disagrees_is_code_1(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    finding(monkeypatch, mismatches=2, worst_score_difference=3.0, near_ties=1)
    assert run(arguments(folder)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "uno and Python agree on 448 of 450 rows"
    assert lines[1].startswith("1 rows are near-ties")
    assert lines[2] == "their scores differ by up to 3"
    finding(monkeypatch, constant_bytes=565)
    assert run(arguments(folder)) == 1
    assert "holds 565 bytes of constants, the model says 564" in capsys.readouterr().out


def test_a_model_too_big_is_code_1_and_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def too_big(*arguments, **options):
        raise BudgetError("the model is too big for uno: it takes 2,100 bytes of RAM, and uno has 2,048 bytes")

    monkeypatch.setattr(job, "verify", too_big)
    assert run(arguments(folder, "--json")) == 1
    shown = capsys.readouterr()
    assert shown.err == "smidgen: the model is too big for uno: it takes 2,100 bytes of RAM, and uno has 2,048 bytes\n"
    assert json.loads(shown.out) == {"error": shown.err.removeprefix("smidgen: ").strip()}


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--board", "unno"], "did you mean 'uno'"),
        (["--target", "gestures"], "gesture"),
        (["--out", "nowhere/certificate.json"], "there is no folder"),
        (["--part", "test"], "NPZ files"),
        (["--board", "host", "--compiler", "borland"], "has no compiler 'borland'"),
        (["--board", "uno", "--sanitize"], "only this computer's programs"),
    ],
)
def test_bad_usage_is_code_2(more: list[str], complaint: str, folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    assert run(arguments(folder, *more)) == 2
    shown = capsys.readouterr().err
    assert complaint in shown
    assert shown.count("\n") == 1
