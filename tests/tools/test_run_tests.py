"""The runner: every test belongs to one room, rooms run what exists, a failure and a skip in CI are failures."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import run_tests
from tools.run_tests import CHECKS, ROOMS, Room

ROOT = Path(__file__).parents[2]


@pytest.fixture
def house(tmp_path):
    """A small project: one folder of tests, one source folder, the real conftest.py."""
    (tmp_path / "tests" / "core").mkdir(parents=True)
    (tmp_path / "src" / "smidgen" / "core").mkdir(parents=True)
    (tmp_path / "tests" / "core" / "test_one.py").write_text("def test_one():\n    pass\n")
    (tmp_path / "src" / "smidgen" / "core" / "sums.py").write_text('"""\n>>> 1 + 1\n2\n"""\n')
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --doctest-modules --import-mode=importlib\n")
    shutil.copy(ROOT / "conftest.py", tmp_path)
    return tmp_path


def rooms_of(*holds):
    return (Room("everything", 10, holds),)


def test_this_project_has_a_room_for_every_test():
    assert run_tests.complaints(ROOT) == []


def test_the_shares_leave_a_set_up_machine_under_ten_minutes():
    assert sum(room.share for room in (CHECKS, *ROOMS)) < 600


def test_a_folder_without_a_room_is_refused(house):
    (house / "tests" / "attic").mkdir()
    (house / "tests" / "attic" / "test_dust.py").touch()
    (complaint,) = run_tests.complaints(house, rooms_of("core"))
    assert "attic belongs to 0 rooms" in complaint


def test_a_folder_in_two_rooms_is_refused(house):
    (complaint,) = run_tests.complaints(house, (*rooms_of("core"), Room("again", 10, ("core",))))
    assert "core belongs to 2 rooms" in complaint


def test_folders_without_python_need_no_room(house):
    (house / "src" / "smidgen" / "py.typed").touch()
    (house / "tests" / "golden").mkdir()
    (house / "tests" / "golden" / "model.smg").touch()
    assert run_tests.complaints(house, rooms_of("core")) == []


def test_a_room_runs_its_tests_and_the_doctests_of_its_source(house):
    (command,) = run_tests.commands(*rooms_of("core", "cellar"), house)
    assert command[-2:] == ("tests/core", "src/smidgen/core")


@pytest.mark.parametrize(
    ("test", "ci", "passes"),
    [
        ("assert True", "", True),
        ("assert False", "", False),
        ("pytest.skip('no compiler')", "", True),
        ("pytest.skip('no compiler')", "1", False),
        ("pytest.xfail('known')", "1", True),
    ],
)
def test_a_room_fails_with_its_tests_and_in_ci_with_its_skips(house, monkeypatch, capfd, test, ci, passes):
    monkeypatch.setenv("CI", ci)
    (house / "tests" / "core" / "test_two.py").write_text(f"import pytest\n\ndef test_two():\n    {test}\n")
    assert run_tests.visit(*rooms_of("core"), house) is passes
    said = capfd.readouterr().out
    assert re.search(r"everything +(ok|FAILED) .* of  10 .*\d (passed|failed|xfailed).* in [\d.]+s", said)
    assert ("test_two.py::test_two: Skipped: no compiler" in said) is (not passes and ci == "1")


def test_a_skipped_module_fails_in_ci_also_without_workers(house):
    (house / "tests" / "core" / "test_two.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    command = [sys.executable, "-m", "pytest", "-q", "tests/core"]
    done = subprocess.run(command, cwd=house, env={"CI": "1"}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "test_two.py: Skipped: could not import 'no_such_module'" in done.stdout


def test_an_unknown_room_is_named(capsys):
    with pytest.raises(SystemExit, match="no room is called or holds attic"):
        run_tests.chosen(["attic"])
    assert [room.name for room in run_tests.chosen(["cli", "checks"])] == ["checks", "product"]
