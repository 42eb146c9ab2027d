"""Boards from TOML: the values of DESIGN.md's table, a user's own, and every kind of wrong file."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from smidgen.boards.board import Board, Power, load_board, load_boards
from smidgen.errors import UsageError

GOOD = """
chip = "ATtiny85"
flash_bytes = 8_192
ram_bytes = 512
clock_hz = 8_000_000

[[compiler]]
tool = "avr-gcc"
flags = ["-mmcu=attiny85"]
needs = ["avr-libc"]

[simulator]
tool = "simavr"
cpu = "attiny85"
counts = "cycles"
"""


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder for the user's boards; nothing of this computer's."""
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv("SMIDGEN_BOARDS", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return folder


def test_the_five_boards_of_the_design() -> None:
    boards = {board.name: board for board in load_boards()}
    assert list(boards) == ["uno", "m0", "m4", "rv32", "host"]
    uno = boards["uno"]
    assert (uno.chip, uno.flash_bytes, uno.ram_bytes, uno.clock_hz) == ("ATmega328P", 32 * 1024 - 512, 2048, 16_000_000)
    assert [compiler.tool for compiler in uno.compilers] == ["avr-gcc", "zig"]
    assert uno.simulator is not None
    assert (uno.simulator.tool, uno.simulator.counts) == ("simavr", "cycles")
    for name in ("m0", "m4", "rv32"):
        board = boards[name]
        assert board.compilers[0].tool == "zig"
        assert board.simulator is not None
        assert (board.simulator.tool, board.simulator.counts) == ("unicorn", "instructions")
    host = boards["host"]
    assert (host.flash_bytes, host.ram_bytes, host.clock_hz, host.simulator) == (None, None, None, None)
    assert [board.name for board in boards.values() if board.runs_here] == ["host"]


def test_every_board_of_ours_names_tools_that_are_known() -> None:
    from smidgen.boards.doctor import tools_of
    from smidgen.boards.tools import RECIPES

    for board in load_boards():
        assert set(tools_of(board)) <= set(RECIPES)


def test_a_board_as_json_survives_json() -> None:
    for board in load_boards():
        data = json.loads(json.dumps(board.as_json()))
        assert data["name"] == board.name
        assert data["flash_bytes"] == board.flash_bytes
        assert [one["flags"] for one in data["compilers"]] == [list(one.flags) for one in board.compilers]


def test_a_users_board(own: Path) -> None:
    file = own / "tiny.toml"
    file.write_text(GOOD)
    board = load_board("tiny")
    assert board.name == "tiny"
    assert board.ram_bytes == 512
    assert board.compilers[0].flags == ("-mmcu=attiny85",)
    assert board.source == str(file)
    assert load_boards()[-1] == board
    assert len(load_boards()) == 6


def test_a_users_board_stands_in_front_of_ours(own: Path) -> None:
    (own / "uno.toml").write_text(GOOD)
    assert load_board("uno").chip == "ATtiny85"
    assert [board.name for board in load_boards()].count("uno") == 1


def test_a_board_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.toml"
    file.write_text(GOOD)
    assert load_board(file).name == "elsewhere"
    assert load_board(str(file)).source == str(file)


def test_the_configuration_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SMIDGEN_BOARDS")
    folder = tmp_path / "config" / "smidgen" / "boards"
    folder.mkdir(parents=True)
    (folder / "tiny.toml").write_text(GOOD)
    assert load_board("tiny").chip == "ATtiny85"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UsageError, match="no board 'tiny'"):
        load_board("tiny")
    (tmp_path / "config").rename(tmp_path / ".config")
    assert load_board("tiny").chip == "ATtiny85"


def test_no_home_folder_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(self: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("SMIDGEN_BOARDS")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setattr(Path, "expanduser", homeless)
    assert len(load_boards()) == 5


def test_a_setting_that_names_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SMIDGEN_BOARDS", str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match=r"\$SMIDGEN_BOARDS names '.*nowhere', which is not a folder"):
        load_boards()


def test_one_bad_file_does_not_hide_the_other_boards(own: Path) -> None:
    (own / "bad.toml").write_text("chip")
    assert load_board("uno").chip == "ATmega328P"
    with pytest.raises(UsageError, match=r"bad\.toml"):
        load_boards()


@pytest.mark.parametrize(
    ("asked", "guess"),
    [("unno", "uno"), ("UNO", "uno"), ("rv23", "rv32"), ("hots", "host")],
)
def test_an_unknown_board_suggests_the_nearest(asked: str, guess: str) -> None:
    with pytest.raises(UsageError, match=f"^there is no board '{asked}'; did you mean '{guess}'\\? `smidgen boards`"):
        load_board(asked)


def test_an_unknown_board_like_none() -> None:
    with pytest.raises(UsageError, match=r"^there is no board 'esp8266'; `smidgen boards` lists them$"):
        load_board("esp8266")


# what is put in the place of what, and what the sentence must name
WRONG = {
    "no TOML": ("chip =", "chip", "cannot be read"),
    "no chip": ('chip = "ATtiny85"', "", "lacks 'chip'"),
    "empty chip": ('"ATtiny85"', '" "', "'chip' as a text"),
    "chip a number": ('"ATtiny85"', "85", "'chip' as a text"),
    "negative": ("8_192", "-1", "'flash_bytes' as a whole number above 0, not -1"),
    "zero": ("= 512", "= 0", "'ram_bytes' as a whole number above 0, not 0"),
    "text for a size": ("8_192", '"8kB"', "'flash_bytes' as a whole number above 0, not '8kB'"),
    "truth for a size": ("8_192", "true", "'flash_bytes' as a whole number above 0, not True"),
    "fraction": ("8_000_000", "8e6", "'clock_hz' as a whole number above 0, not 8000000.0"),
    "misspelt key": ("flash_bytes", "flash_byte", "has 'flash_byte', which is no key of a board; use 'flash_bytes'"),
    "strange key": ("[[compiler]]", "xyzzy = 1\n[[compiler]]", "has 'xyzzy', which is no key"),
    "text for a truth": ("[[compiler]]", 'runs_here = "yes"\n[[compiler]]', "'runs_here' as true or false"),
    "no compiler": ("[[compiler]]", "[other]", "lacks 'compiler'"),
    "one table": ("[[compiler]]", "[compiler]", "'compiler' as tables, each headed [[compiler]]"),
    "no tool": ('tool = "avr-gcc"', "", "lacks 'compiler.tool'"),
    "flags a text": ('["-mmcu=attiny85"]', '"-mmcu=attiny85"', "'compiler.flags' as a list of texts"),
    "flags of numbers": ('["-mmcu=attiny85"]', "[1]", "'compiler.flags' as a list of texts"),
    "misspelt in compiler": (
        "needs =",
        "need =",
        "has 'compiler.need', which is no key of a board; use 'compiler.needs'",
    ),
    "simulator a text": ("[simulator]", 'simulator = "simavr"\n[other]', "'compiler.simulator'"),
    "no cpu": ('cpu = "attiny85"', "", "lacks 'simulator.cpu'"),
    "unknown unit": ('"cycles"', '"seconds"', "'simulator.counts' as \"cycles\" or \"instructions\", not 'seconds'"),
    "no current": ('counts = "cycles"', 'counts = "cycles"\n[power]\nvolts = 5', "lacks 'power.milliamperes'"),
    "a negative voltage": (
        'counts = "cycles"',
        'counts = "cycles"\n[power]\nvolts = -5.0\nmilliamperes = 1\nsource = "me"',
        "'power.volts' as a number above 0, not -5.0",
    ),
    "strange in simulator": ('counts = "cycles"', 'counts = "cycles"\nspeed = 1', "has 'simulator.speed'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_one_sentence_with_file_and_key(case: str, own: Path) -> None:
    before, after, expected = WRONG[case]
    assert before in GOOD
    file = own / "wrong.toml"
    file.write_text(GOOD.replace(before, after))
    with pytest.raises(UsageError) as caught:
        load_board("wrong")
    sentence = str(caught.value)
    assert sentence.startswith(f"the board file '{file}' ")
    assert expected in sentence
    assert "\n" not in sentence


def test_files_that_are_no_text(own: Path) -> None:
    (own / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    (own / "folder.toml").mkdir()
    for name in ("bytes", "folder", str(own / "absent.toml")):
        with pytest.raises(UsageError, match=r"\.toml' cannot be read: "):
            load_board(name)


def test_what_a_board_draws_has_a_source(own: Path) -> None:
    for board in load_boards():
        assert (board.power is None) == board.runs_here
        assert board.power is None or "data sheet" in board.power.source or "specification" in board.power.source
    (own / "tiny.toml").write_text(GOOD + '[power]\nvolts = 3\nmilliamperes = 1.5\nsource = "measured"\n')
    assert load_board("tiny").power == Power(3.0, 1.5, "measured")


@pytest.mark.parametrize(("name", "family"), [("uno", "avr"), ("m0", "bare"), ("host", "host")])
def test_the_family_says_how_firmware_starts(name: str, family: str) -> None:
    board = load_board(name)
    assert board.family == family
    assert replace(board, simulator=None, runs_here=False).family == ""


def test_a_board_is_frozen() -> None:
    board: Board = load_board("uno")
    with pytest.raises(AttributeError):
        board.ram_bytes = 4096  # type: ignore[misc]
