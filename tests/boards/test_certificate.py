"""Certificates: what they show, and that they read back."""

import json
from pathlib import Path

import pytest

from smidgen.boards.certificate import Certificate
from smidgen.errors import DataError, UsageError

FULL = Certificate(
    board="uno",
    chip="ATmega328P",
    model="90ab",
    rows=450,
    mismatches=0,
    flags=("-Os",),
    model_bytes=564,
    constant_bytes=564,
    flash_bytes=1060,
    ram_bytes=98,
    stack_bytes=20,
    counts="cycles",
    cycles=7348.25,
    worst_cycles=8000,
    clock_hz=16_000_000,
    microjoules=23.9,
    power_source="a data sheet",
    measures={"accuracy": 0.983, "balanced_accuracy": 0.98},
)


def test_it_shows_what_the_first_screen_promises() -> None:
    assert repr(FULL) == (
        "Certificate(board='uno', rows=450, mismatches=0, flash_bytes=1060, ram_bytes=98, cycles=7348, "
        "accuracy=0.983, balanced_accuracy=0.980)"
    )
    assert FULL.accuracy == 0.983
    assert FULL.milliseconds == pytest.approx(0.459265625)
    assert Certificate("host", "this computer", "1", 3, 0).milliseconds is None


def test_the_keys_of_the_design() -> None:
    data = json.loads(FULL.to_json())
    keys = {"accuracy", "model_bytes", "flash_bytes", "ram_bytes", "cycles", "rows", "mismatches", "board", "model"}
    assert keys <= set(data)
    assert data["certificate"] == 1


@pytest.mark.parametrize("certificate", [FULL, Certificate("host", "this computer", "1", 3, 0)])
def test_it_reads_back(certificate: Certificate, tmp_path: Path) -> None:
    certificate.save(tmp_path / "certificate.json")
    text = (tmp_path / "certificate.json").read_text()
    assert Certificate.from_json(text) == certificate
    assert Certificate.from_json(text).to_json() == text
    assert [path.name for path in tmp_path.iterdir()] == ["certificate.json"]
    assert hash(certificate) == hash(Certificate.from_json(text))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "this is no certificate: "),
        ("[]", "this is no certificate of format 1"),
        ("{}", "this is no certificate of format 1"),
        ('{"certificate": 2, "board": "uno"}', "this is no certificate of format 1"),
        ('{"certificate": 1, "board": "uno"}', "the certificate lacks something: .*chip"),
        (FULL.to_json().replace('"accuracy": 0.983', '"accuracy": "good"'), "holds 'accuracy', which is nothing"),
    ],
)
def test_what_is_none(text: str, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        Certificate.from_json(text)


def test_agreement_needs_the_constants_too() -> None:
    data = FULL.as_json()
    assert FULL.agrees
    assert not Certificate.from_json(json.dumps(data | {"mismatches": 1})).agrees
    assert not Certificate.from_json(json.dumps(data | {"constant_bytes": 565})).agrees
    assert Certificate.from_json(json.dumps(data | {"constant_bytes": 563})).agrees
    assert Certificate.from_json(json.dumps(data | {"constant_bytes": None})).agrees


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*: No such file"):
        FULL.save(tmp_path / "nowhere" / "certificate.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="cannot write"):
        FULL.save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
