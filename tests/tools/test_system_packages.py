"""The Uno's tools from Debian: quiet where they are there, never sudo, one line where they cannot be had."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "system_packages.sh"


@pytest.fixture
def debian(tmp_path):
    """Runs the script on a Debian of our own making: what is installed, who the user is, what apt-get says."""

    def run(installed, user=1000, apt="exit 0", **environment):
        commands = {
            "dpkg-query": f'case " {installed} " in *" $4 "*) echo install ok installed;; *) exit 1;; esac',
            "id": f"echo {user}",
            "apt-get": f'echo "$@" >> "{tmp_path}/apt.log"; {apt}',
            "sudo": f'touch "{tmp_path}/sudo.log"',
        }
        for name, text in commands.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / name).chmod(0o755)
        env = {"PATH": f"{tmp_path}:/usr/bin:/bin", **environment}
        done = subprocess.run(["sh", str(SCRIPT)], env=env, capture_output=True, text=True, check=False)
        assert not (tmp_path / "sudo.log").exists()
        log = tmp_path / "apt.log"
        return done.returncode, done.stdout + done.stderr, log.read_text().splitlines() if log.exists() else []

    return run


ALL = "gcc-avr avr-libc simavr libsimavr-dev libelf-dev arduino-builder arduino-core-avr"
FAILS = "echo 'E: no network' >&2; exit 100"


def test_nothing_is_said_or_done_where_all_is_there(debian):
    assert debian(ALL, user=0) == (0, "", [])


def test_a_user_is_told_in_one_line_what_is_missing_and_goes_on(debian):
    code, said, apt = debian("gcc-avr avr-libc arduino-builder arduino-core-avr")
    assert (code, apt) == (0, [])
    assert said == "no Uno here: as root, run `apt-get install simavr libsimavr-dev libelf-dev`; going on without\n"


def test_root_gets_what_is_missing_installed(debian):
    code, said, apt = debian("gcc-avr avr-libc libelf-dev arduino-builder arduino-core-avr", user=0)
    assert (code, said) == (0, "installing simavr libsimavr-dev ...\n")
    assert apt[0].startswith("update")
    assert apt[1].startswith("install --yes")
    assert apt[1].endswith("simavr libsimavr-dev")


def test_a_failed_installation_is_one_line_and_goes_on(debian):
    code, said, _ = debian("", user=0, apt=FAILS)
    assert code == 0
    assert said.splitlines()[1:] == [
        f"no Uno here: apt-get could not install {ALL} (E: no network); going on without",
    ]


def test_in_ci_a_failed_installation_is_an_error(debian):
    code, said, _ = debian("", user=0, apt=FAILS, CI="1")
    assert code == 1
    assert f"apt-get could not install {ALL}" in said
