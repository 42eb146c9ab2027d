"""Every example runs, on its own data, and ends with the line that says it went well."""

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
CLOSING = {
    "accuracy_against_bytes.py": r"drawn: accuracy_against_bytes\.svg",
    "csv_to_model.py": r"the first held-out row is (\w+) to it, and was \1",
    "digits_prototypes.py": "the file and the estimator agree on 450 of 450 rows",
    "pose_from_six_sensors.py": r"the first test row gives the integers \[(-?\d+(, )?){3}\], which stand for x .* mm",
    "program_by_hand.py": r"11 bytes of flash: \{'points.values': 8, 'counts': 3\}",
}
QUICK = {"accuracy_against_bytes.py": ("--n-steps", 200), "pose_from_six_sensors.py": ("--n-steps", 1000)}


def printed(script, capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [str(script), *map(str, arguments)])
    runpy.run_path(str(script), run_name="__main__")
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda script: script.name)
def test_an_example_runs_to_its_end(script, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = printed(script, capsys, monkeypatch, *QUICK.get(script.name, ()))
    assert re.fullmatch(CLOSING[script.name], lines[-1])
    if script.name in FURTHER:
        FURTHER[script.name](lines, tmp_path)


def every_budget_is_kept_and_drawn(lines, folder):
    points = [line.split() for line in lines[:-1]]
    assert [name for name, *_ in points] == ["ProtoNN"] * 4 + ["SparseNet"] * 4
    assert all(int(taken) <= int(allowed) for _, allowed, _, taken, *_ in points)
    assert all(float(right) > 80 for *_, right, _, _ in points)
    drawn = (folder / "accuracy_against_bytes.svg").read_text()
    assert "</svg>" in drawn


def the_pose_is_found_within_a_kilobyte(lines, folder):
    linear, *models = [float(score) for score in re.findall(r"R² ([\d.]+)", "\n".join(lines))]
    assert len(models) == 2
    assert min(models) > 0.9
    assert linear < 0.8
    n_bytes = [int(size.replace(",", "")) for size in re.findall(r"integer Program, ([\d,]+) bytes", "\n".join(lines))]
    assert len(n_bytes) == 2
    assert max(n_bytes) <= 1024


FURTHER = {
    "accuracy_against_bytes.py": every_budget_is_kept_and_drawn,
    "pose_from_six_sensors.py": the_pose_is_found_within_a_kilobyte,
}


def test_digits_are_told_apart(capsys, monkeypatch):
    lines = printed(EXAMPLES / "digits_prototypes.py", capsys, monkeypatch)
    assert float(lines[1].split()[2]) > 90


def test_a_table_of_ones_own_is_read(tmp_path, capsys, monkeypatch):
    path = tmp_path / "doors.csv"
    path.write_text("light,door\n" + "3,shut\n5,shut\n200,open\n180,open\n" * 5)
    lines = printed(EXAMPLES / "csv_to_model.py", capsys, monkeypatch, path, "door")
    assert lines[0] == "Table(doors.csv: 20 rows, 1 features, target 'door')"
    assert lines[1].endswith("100.0 % of held-out rows right")
