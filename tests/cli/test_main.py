"""The whole command line, in-process: help, version, and every bad usage as one line and exit code 2."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import smidgen
from smidgen.cli.main import app, run

COMMANDS = ("demo", "export", "verify", "boards", "doctor")


@pytest.fixture(autouse=True)
def bad_board(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A board file with a misspelt key, outside the folder of boards."""
    file = tmp_path / "bad.toml"
    file.write_text('chip = "x"\nflash_byte = 1\n[[compiler]]\ntool = "cc"\n')
    monkeypatch.chdir(tmp_path)
    return file


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"smidgen {smidgen.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_names_every_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 0
    shown = capsys.readouterr()
    assert [command.name for command in app.registered_commands] == list(COMMANDS)
    for command in COMMANDS:
        assert f"\n  {command} " in shown.out
    assert "..." not in shown.out.split("Commands:")[1]  # no summary is cut off
    assert "\x1b" not in shown.out
    assert shown.err == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_the_common_options(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    shown = capsys.readouterr().out
    for option in ("--json", "--quiet", "--verbose", "--debug"):
        assert option in shown


# the arguments, and what the line must name
BAD = {
    "unknown command": (["bords"], "'boards'"),
    "unknown option": (["boards", "--bord"], "--bord"),
    "misspelt option": (["boards", "--jsn"], "--json"),
    "unknown option of smidgen": (["--jsn"], "--jsn"),
    "a common option before the command": (["--json", "boards"], "--json"),
    "one argument too many": (["boards", "uno"], "uno"),
    "several too many": (["demo", "a", "b"], "a b"),
    "no value": (["doctor", "--board"], "--board"),
    "a value for a flag": (["boards", "--json=yes"], "--json"),
    "unknown board": (["doctor", "--board", "unno"], "'uno'"),
    "absent board file": (["doctor", "--board", "absent.toml"], "absent.toml"),
    "bad board file": (["doctor", "--board", "bad.toml"], "'flash_byte'"),
    "line break in an argument": (["doctor", "--board", "u\nno"], "u no"),
    "no folder": (["demo", "--out", "no/where.smg"], "'no'"),
    "a folder": (["demo", "--out", "."], "'.'"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_usage_is_one_line_and_code_2(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, expected = BAD[case]
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("smidgen: ")
    assert shown.err.count("\n") == 1
    assert shown.err.endswith("\n")
    assert expected in shown.err
    assert "Traceback" not in shown.err
    if "--json" not in arguments:
        assert shown.out == ""


@pytest.mark.parametrize("case", BAD)
def test_bad_usage_in_json(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, expected = BAD[case]
    assert run([arguments[0], "--json", *arguments[1:]]) == 2
    shown = capsys.readouterr()
    assert shown.out.count("\n") == 1
    data = json.loads(shown.out)
    assert list(data) == ["error"]
    assert shown.err == f"smidgen: {data['error']}\n"
    if case != "unknown option of smidgen":  # here --json itself becomes the value of nothing
        assert expected in data["error"]


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--debug", "--board", "unno"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback")
    assert "UsageError" in shown
    assert shown.splitlines()[-1].startswith("smidgen: there is no board 'unno'")


def in_a_process(*arguments: str, **options: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen([sys.executable, *arguments], text=True, env=environment, **streams)  # type: ignore[call-overload, no-any-return]


def test_python_m_smidgen_and_help_loads_nothing_heavy() -> None:
    script = (
        "import runpy, sys; sys.argv = ['smidgen', '--help']\n"
        "try: runpy.run_module('smidgen', run_name='__main__')\n"
        "except SystemExit as end: code = end.code\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pyarrow', 'pandas'} & set(sys.modules)\n"
        "print(code, sorted(heavy))\n"
    )
    process = in_a_process("-c", script)
    out, err = process.communicate(timeout=60)
    assert out.startswith("Usage: smidgen ")
    assert out.splitlines()[-1] == "0 []"
    assert err == ""


def test_a_reader_that_goes_away_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as closed:  # noqa: PTH123 - a descriptor, not a path
        process = in_a_process("-m", "smidgen", "boards", stdout=closed)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux's full device")
def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        process = in_a_process("-m", "smidgen", "boards", "--json", "--quiet", stdout=full)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (2, "smidgen: the output: No space left on device\n")


def test_ctrl_c_is_one_line(tmp_path: Path) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\nexec sleep 9\n")
    compiler.chmod(0o755)
    script = (
        f"import os, sys; os.environ['PATH'] = '{tmp_path}:' + os.environ['PATH']\n"
        "from smidgen.cli.main import run; sys.exit(run(['doctor', '--board', 'host']))\n"
    )
    process = in_a_process("-c", script)
    until = time.monotonic() + 30
    while not (tmp_path / "started").exists() and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "smidgen: stopped\n")
