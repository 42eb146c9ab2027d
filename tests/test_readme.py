"""README.md is run: every command of a console block, every example of a python block, every link to a file.

test_docs.py runs the examples of the site's pages in the same way.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()
# run where it can be: the suite itself is running now, and test_wheel.py installs into an empty environment
ELSEWHERE = {"make test", "pip install '.[boards]'"}


def blocks(language, text=TEXT):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def console_commands():
    lines = "".join(blocks("console")).splitlines()
    return [shlex.join(shlex.split(line[2:], comments=True)) for line in lines if line.startswith("$ ")]


def dry_run(target):
    """The recipe of a make target."""
    done = subprocess.run(
        ["make", "-n", "--no-print-directory", target], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def run_in_process(command):
    """Run `smidgen ...` as the installed command does; what it printed, once it has succeeded."""
    from smidgen.cli.main import run

    out = io.StringIO()
    before, sys.argv = sys.argv, shlex.split(command)
    try:
        with contextlib.redirect_stdout(out):
            code = run()
    except SystemExit as stop:
        code = stop.code
    finally:
        sys.argv = before
    assert not code, out.getvalue()
    return out.getvalue()


def test_the_first_screen_has_the_two_commands():
    first_screen = "\n".join(TEXT.splitlines()[:20])
    assert "$ make demo" in first_screen
    assert "$ make test" in first_screen


@pytest.mark.parametrize("command", [command for command in console_commands() if command not in ELSEWHERE])
def test_every_command_runs(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if command.startswith("make "):
        recipe = dry_run(command.removeprefix("make "))[-1]
        assert Path(shlex.split(recipe)[0]).name == "smidgen"
        command = "smidgen " + shlex.join(shlex.split(recipe)[1:])
    assert command.split()[0] == "smidgen"
    assert run_in_process(command)


def test_what_is_run_elsewhere_is_there_to_be_run():
    assert set(console_commands()) >= ELSEWHERE
    assert "tools/run_tests.py" in dry_run("test")[-1]


def run_examples(page):
    """Run the python blocks of a page, one after the other with the same names; how many lines were run."""
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.FAIL_FAST)
    said, names = io.StringIO(), {}
    for number, block in enumerate(blocks("python", page.read_text()), start=1):
        example = parser.get_doctest(block, names, f"{page.name}, python block {number}", page.name, 0)
        assert example.examples, f"python block {number} holds no >>> line, so nothing of it would be run"
        runner.run(example, out=said.write, clear_globs=False)
        names = example.globs
    assert not runner.failures, said.getvalue()
    return runner.tries


def test_python_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_examples(ROOT / "README.md")


def test_every_block_is_of_a_kind_that_is_run():
    assert set(re.findall(r"^```(\w+)$", TEXT, flags=re.MULTILINE)) == {"console", "python"}


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", TEXT))))
def test_links_lead_to_files(link):
    assert os.path.lexists(ROOT / link)
