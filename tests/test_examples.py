"""Every example runs, on its own data, and ends with the line that says it went well."""

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
CLOSING = {
    "csv_to_model.py": r"the first held-out row is (\w+) to it, and was \1",
    "digits_prototypes.py": "the file and the estimator agree on 450 of 450 rows",
    "program_by_hand.py": r"11 bytes of flash: \{'points.values': 8, 'counts': 3\}",
}


def printed(script, capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [str(script), *map(str, arguments)])
    runpy.run_path(str(script), run_name="__main__")
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda script: script.name)
def test_an_example_runs_to_its_end(script, capsys, monkeypatch):
    assert re.fullmatch(CLOSING[script.name], printed(script, capsys, monkeypatch)[-1])


def test_digits_are_told_apart(capsys, monkeypatch):
    lines = printed(EXAMPLES / "digits_prototypes.py", capsys, monkeypatch)
    assert float(lines[1].split()[2]) > 90


def test_a_table_of_ones_own_is_read(tmp_path, capsys, monkeypatch):
    path = tmp_path / "doors.csv"
    path.write_text("light,door\n" + "3,shut\n5,shut\n200,open\n180,open\n" * 5)
    lines = printed(EXAMPLES / "csv_to_model.py", capsys, monkeypatch, path, "door")
    assert lines[0] == "Table(doors.csv: 20 rows, 1 features, target 'door')"
    assert lines[1].endswith("100.0 % of held-out rows right")
