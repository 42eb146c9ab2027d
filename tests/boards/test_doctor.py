"""The doctor: which boards a computer serves, what is missing, and the command that gets it."""

import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

from smidgen.boards import doctor
from smidgen.boards.doctor import PACKAGES, examine
from smidgen.errors import UsageError

DEBIAN_FOR_THE_UNO = "gcc-avr avr-libc simavr libsimavr-dev libelf-dev"


def put_the_unos_tools(computer) -> None:
    for name in ("avr-gcc", "simavr", "cc"):
        computer.put(f"bin/{name}")
    for header in ("include/simavr/sim_avr.h", "include/libelf.h", "avr/include/avr/io.h"):
        computer.put_header(header)
    computer.lacks.discard("elftools")


def services(examination) -> dict[str, tuple[bool, bool]]:
    return {one.board: (one.can_build, one.can_simulate) for one in examination.services}


def test_an_empty_computer(computer, monkeypatch: pytest.MonkeyPatch) -> None:
    computer.put("bin/apt")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    found = examine()
    # the host's programs need no simulator, but there is no compiler for them
    assert services(found) == dict.fromkeys(["uno", "m0", "m4", "rv32", "host"], (False, False))
    assert found.remedies == (
        f"apt install {DEBIAN_FOR_THE_UNO} gcc libc6-dev",
        f"{sys.executable} -m pip install pyelftools ziglang unicorn",
    )
    assert all(tool is None for tool in found.tools.values())
    assert found.problems == ()


def test_debians_uno(computer, monkeypatch: pytest.MonkeyPatch) -> None:
    computer.put("bin/apt")
    computer.put("bin/cc")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert examine("uno").remedies == (
        f"as root: apt install {DEBIAN_FOR_THE_UNO}",
        f"{sys.executable} -m pip install pyelftools",
    )
    put_the_unos_tools(computer)
    found = examine("uno")
    assert services(found) == {"uno": (True, True)}
    assert found.remedies == ()
    assert found.services[0].compiler == "avr-gcc"
    assert services(examine())["host"] == (True, True)


def test_without_apt_the_packages_are_named(computer) -> None:
    assert examine("uno").remedies == (
        f"with your system's package manager, what Debian calls: {DEBIAN_FOR_THE_UNO} gcc libc6-dev",
        f"{sys.executable} -m pip install pyelftools",
    )


def test_pip_is_named_plainly_where_it_is_this_pythons(computer, monkeypatch: pytest.MonkeyPatch) -> None:
    computer.put("python/bin/pip")
    monkeypatch.setenv("PATH", str(computer.root / "python/bin"))
    assert examine("m4").remedies == ("pip install ziglang unicorn pyelftools",)


def test_zig_builds_for_every_board_but_simulates_none(computer) -> None:
    computer.put("bin/zig", "[ $1 = version ] && echo 0.13.0")
    found = examine()
    assert services(found) == {
        "uno": (True, False),
        "m0": (True, False),
        "m4": (True, False),
        "rv32": (True, False),
        "host": (True, True),
    }
    missing = {one.board: one.missing for one in found.services}
    assert missing["uno"] == ("simavr", "libsimavr", "libelf", "cc", "pyelftools")
    assert missing["m0"] == ("unicorn", "pyelftools")


def test_a_compiler_without_its_library_is_not_complete(computer) -> None:
    put_the_unos_tools(computer)
    (computer.root / "avr/include/avr/io.h").unlink()
    found = examine("uno")
    assert services(found) == {"uno": (False, False)}
    assert found.services[0].missing == ("avr-libc",)


def test_a_tool_that_does_not_run_is_missing(computer) -> None:
    put_the_unos_tools(computer)
    computer.put("bin/avr-gcc", "exit 127")
    found = examine("uno")
    assert found.services[0].missing == ("avr-gcc",)
    assert found.tools["avr-gcc"] is not None


def test_a_users_board_with_a_compiler_nobody_knows(computer, monkeypatch: pytest.MonkeyPatch) -> None:
    computer.put("bin/cc")
    (computer.root / "own").mkdir()
    monkeypatch.setenv("SMIDGEN_BOARDS", str(computer.root / "own"))
    (computer.root / "own/stm8.toml").write_text('chip = "STM8"\n[[compiler]]\ntool = "sdcc"\n')
    found = examine("stm8")
    assert found.services[0].missing == ("sdcc",)
    assert found.remedies == ()
    computer.put("bin/sdcc")
    found = examine("stm8")
    assert services(found) == {"stm8": (True, False)}  # its file names no simulator
    assert found.services[0].missing == ()


def test_a_bad_board_file_is_a_problem_not_a_failure(computer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMIDGEN_BOARDS", str(computer.home))
    (computer.home / "bad.toml").write_text("chip = 1\n")
    found = examine()
    assert [service.board for service in found.services] == ["uno", "m0", "m4", "rv32", "host"]
    assert len(found.problems) == 1
    assert "bad.toml" in found.problems[0]
    monkeypatch.setenv("SMIDGEN_BOARDS", str(computer.root / "nowhere"))
    assert "nowhere" in examine().problems[0]


def test_an_unknown_board_is_an_error(computer) -> None:
    with pytest.raises(UsageError, match="did you mean 'uno'"):
        examine("unno")


def test_the_packages_are_those_of_pyproject() -> None:
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
    asked = tomllib.loads(pyproject.read_text())["project"]["dependencies"]
    assert sorted(PACKAGES) == sorted(line.split(">=")[0] for line in asked)
    assert all(examine("host").packages.values())


def test_a_missing_package_is_named(computer, monkeypatch: pytest.MonkeyPatch) -> None:
    computer.put("bin/cc")
    monkeypatch.setattr(doctor, "package_version", lambda name: None if name == "numpy" else "1.0")
    assert examine("host").remedies == (f"{sys.executable} -m pip install numpy",)


def test_as_json(computer) -> None:
    put_the_unos_tools(computer)
    data = json.loads(json.dumps(examine("uno").as_json()))
    assert data["boards"] == [
        {
            "board": "uno",
            "compiler": "avr-gcc",
            "simulator": "simavr",
            "missing": [],
            "can_build": True,
            "can_simulate": True,
        }
    ]
    assert data["tools"]["zig"] is None
    assert data["tools"]["avr-gcc"]["version"] == "1.2.3"
    assert set(data) == {"python", "system", "packages", "tools", "boards", "problems", "remedies"}
