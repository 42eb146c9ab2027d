"""The frame by itself: what goes where, exit codes, and that an error of any kind is one line."""

import io
import json
import logging
import sys

import pytest
import typer

from smidgen.cli import frame
from smidgen.cli.frame import Screen, framed, guarded, table
from smidgen.errors import BudgetError, DataError, ModelFileError, ProgramError, SmidgenError, ToolError, UsageError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def raising(error: BaseException):
    def action() -> None:
        raise error

    return action


def test_a_result_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().result({"rows": 3}, "3 rows · [red]", "done :smile:")
    assert capsys.readouterr() == ("3 rows · [red]\ndone :smile:\n", "")


def test_a_result_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    Screen(as_json=True).result({"rows": 3, "name": "·"}, "3 rows")
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"rows": 3, "name": "·"}
    assert shown.out.isascii()
    assert shown.err == "3 rows\n"


def test_quiet_leaves_the_result_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Screen(as_json=True, quiet=True).result({"rows": 3}, "3 rows")
    assert capsys.readouterr() == ('{"rows": 3}\n', "")
    Screen(quiet=True).result({"rows": 3}, "3 rows")
    assert capsys.readouterr() == ("3 rows\n", "")


def test_no_number_that_is_not_json() -> None:
    with pytest.raises(ValueError, match="JSON"):
        Screen(as_json=True).result({"accuracy": float("nan")})


def test_long_lines_and_wide_tables_stay_whole_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().result({}, "word " * 100, table(("a", "b"), [("x" * 90, "1"), ("y " * 60, "23")], right=("b",)))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert [line.split()[-1] for line in lines[1:]] == ["b", "1", "23"]
    assert lines[2].index(" 1") == lines[3].index("23")


def test_colours_are_for_terminals_and_no_color_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.text import Text

    def shown(stream: io.StringIO) -> str:
        frame._show(stream, Text("fits", style="bold green"))
        return stream.getvalue()

    monkeypatch.setenv("TERM", "xterm")
    assert shown(io.StringIO()) == "fits\n"
    assert "\x1b[" in shown(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert shown(Terminal()) == "fits\n"


def test_progress_is_for_terminals(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with Screen().working("training"):
        pass
    assert capsys.readouterr() == ("", "")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Screen(quiet=True).working("training"):
        pass
    assert terminal.getvalue() == ""
    with Screen().working("training"):
        pass
    assert "training" in terminal.getvalue()


@pytest.mark.parametrize(
    ("screen", "levels"),
    [
        (Screen(), ["WARNING", "ERROR"]),
        (Screen(verbose=1), ["INFO", "WARNING", "ERROR"]),
        (Screen(verbose=3), ["DEBUG", "INFO", "WARNING", "ERROR"]),
        (Screen(quiet=True, verbose=1), ["ERROR"]),
    ],
)
def test_what_the_library_logs(screen: Screen, levels: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("smidgen.models.some")
    with screen.logging():
        for level in ("DEBUG", "INFO", "WARNING", "ERROR"):
            logger.log(getattr(logging, level), level)
    logger.error("after the end")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [line for line in shown.err.splitlines() if "after" not in line] == [
        f"smidgen.models.some: {level}" for level in levels
    ]


@pytest.mark.parametrize(
    "kind", [SmidgenError, DataError, ProgramError, ModelFileError, BudgetError, ToolError, UsageError]
)
def test_an_error_of_ours(kind: type[Exception], capsys: pytest.CaptureFixture[str]) -> None:
    # what no budget and no board can hold falls short; all else is bad input
    assert guarded(raising(kind("x.csv, line 3:\n  no number")), []) == (1 if kind is BudgetError else 2)
    assert capsys.readouterr() == ("", "smidgen: x.csv, line 3: no number\n")


def test_an_error_of_the_system(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(raising(PermissionError(13, "Permission denied", "x.smg")), []) == 2
    assert capsys.readouterr().err == "smidgen: x.smg: Permission denied\n"


def test_too_little_memory_is_no_defect(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(raising(MemoryError("Unable to allocate 12 TiB")), []) == 2
    assert capsys.readouterr().err == "smidgen: there is not enough memory: Unable to allocate 12 TiB\n"
    assert guarded(raising(MemoryError()), []) == 2
    assert capsys.readouterr().err == "smidgen: there is not enough memory\n"


def test_a_defect_is_named_and_not_mistaken_for_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(raising(ZeroDivisionError("division\nby zero")), ["x", "--json"]) == 70
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    assert "please report it: ZeroDivisionError: division by zero (--debug shows the traceback)" in shown.err
    assert "ZeroDivisionError" in json.loads(shown.out)["error"]
    assert guarded(raising(AssertionError()), ["--debug"]) == 70
    assert capsys.readouterr().err.startswith("Traceback")


def test_options_after_two_dashes_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(raising(UsageError("no")), ["x", "--", "--json", "--debug"]) == 2
    assert capsys.readouterr() == ("", "smidgen: no\n")


def test_the_other_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(lambda: None, []) == 0
    assert guarded(raising(typer.Exit(1)), []) == 1
    assert guarded(raising(BrokenPipeError()), []) == 141
    assert capsys.readouterr() == ("", "")
    assert guarded(raising(KeyboardInterrupt()), []) == 130
    assert capsys.readouterr() == ("", "smidgen: stopped\n")


def test_an_output_that_knows_no_such_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert guarded(lambda: Screen().result({}, "90 % · 4 bytes"), []) == 0
    assert raw.getvalue() == b"90 % ? 4 bytes\n"


def test_framed_gives_a_command_its_screen_and_its_own_options() -> None:
    seen = []

    def train(screen: Screen, data: str, seed: int = 0) -> None:
        """Train something."""
        seen.append((screen, data, seed))

    app = typer.Typer()
    app.command()(framed(train))
    main = typer.main.get_command(app)
    main(["x.csv", "--seed", "3", "--json", "-vv"], standalone_mode=False)
    main(["y.csv", "-q"], standalone_mode=False)
    assert seen == [(Screen(as_json=True, verbose=2), "x.csv", 3), (Screen(quiet=True), "y.csv", 0)]
    assert framed(train).__doc__ == "Train something."


def test_streams_that_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    try:
        assert guarded(lambda: Screen().result({}, "3 rows"), []) == 0
        assert guarded(raising(DataError("no")), ["--json"]) == 2
    finally:
        sys.stdout.close()
        sys.stderr.close()


def test_a_narrow_terminal_cuts_nothing_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    cell = "arm-none-eabi-gcc"
    for columns in ("20", "80"):
        monkeypatch.setenv("COLUMNS", columns)
        monkeypatch.setattr(sys, "stdout", Terminal())
        Screen().result({}, table("abcdefg", [(cell,) * 7]))
        shown = sys.stdout.getvalue()
        assert "…" not in shown
        assert "".join(shown.splitlines()[1:]).replace(" ", "").count("a") == 2 * 7
