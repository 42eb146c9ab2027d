"""Processes with limits: what hangs is killed with its children, what cannot start is a sentence."""

import sys
import time
from pathlib import Path

import pytest

from smidgen.boards.process import Done, first_complaint, run
from smidgen.errors import ToolError


def python(code: str, folder: Path, seconds: float = 30.0) -> Done:
    return run([sys.executable, "-c", code], folder, seconds, "the snake")


def test_code_and_both_streams(tmp_path: Path) -> None:
    done = python("import sys; print('out', flush=True); sys.stderr.write('err'); sys.exit(3)", tmp_path)
    assert done == Done(3, "out\nerr")


def test_it_runs_in_its_folder_with_its_environment_and_nothing_to_read(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd(), os.environ['SMIDGEN_TEST'], repr(sys.stdin.read()))"
    done = run([sys.executable, "-c", code], tmp_path, 30, "the snake", {"SMIDGEN_TEST": "7"})
    assert done.output.split() == [str(tmp_path), "7", "''"]


def test_a_process_that_dies_has_the_signals_number(tmp_path: Path) -> None:
    assert python("import os; os.kill(os.getpid(), 9)", tmp_path).code == -9


def test_what_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('child', 'w').write(str(child.pid))\n"
        "time.sleep(60)"
    )
    began = time.monotonic()
    with pytest.raises(ToolError, match=r"^the snake did not end within 1\.5 s$"):
        python(code, tmp_path, 1.5)
    assert time.monotonic() - began < 20
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not alive(child):
            return
        time.sleep(0.05)
    pytest.fail("the child lives on")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_what_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"^the snake cannot be started: No such file or directory$"):
        run([tmp_path / "nothing"], tmp_path, 5, "the snake")
    script = tmp_path / "script"
    script.write_bytes(b"\x7fELF but not really")
    script.chmod(0o755)
    with pytest.raises(ToolError, match=r"^the snake cannot be started: "):
        run([script], tmp_path, 5, "the snake")


def test_much_output_does_no_harm(tmp_path: Path) -> None:
    done = python("print('x' * 10_000_000)", tmp_path)
    assert (done.code, len(done.output)) == (0, 20_000)
    assert [path.name for path in tmp_path.iterdir()] == ["said.txt"]


def test_the_line_that_tells() -> None:
    assert first_complaint("") == "it said nothing"
    assert first_complaint("one\n\ntwo\n") == "two"
    assert first_complaint("ld: undefined reference to `f'\ncollect2: error: ld returned 1\n").startswith(
        "ld: undefined"
    )
    assert len(first_complaint("error " * 100)) == 200
