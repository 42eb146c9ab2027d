"""Counting by blocks, as unicorn_run does, against counting one instruction after the other."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from smidgen.boards import firmware
from smidgen.boards.board import load_board
from smidgen.boards.compile import find_toolchain
from smidgen.boards.elf import read_elf
from smidgen.boards.simulate import Call, simulate
from tests.boards import handmade

# a process of its own, as unicorn_run has: unicorn's signal handlers stay out of pytest
ONE_BY_ONE = """
import sys
sys.path.insert(0, sys.argv[1])
import unicorn
import unicorn_run
from elftools.elf.elffile import ELFFile

cpu, elf, function, row, answer, main = sys.argv[2], sys.argv[3], *map(int, sys.argv[4:8])
machine = unicorn_run.Machine(cpu, ELFFile(open(elf, "rb")), 0x2001_0000)
count = 0
def passed(uc, address, size, _):
    global count
    count += 1
machine.uc.hook_add(unicorn.UC_HOOK_CODE, passed)
for line in sys.stdin:
    machine.uc.mem_write(row, bytes.fromhex(line))
    count = 0
    machine.call(function & ~1, 0x2000_8000, row, answer, main & ~1)
    print(count)
"""


@pytest.mark.parametrize("name", ["m0", "m4", "rv32"])
def test_instructions_counted_one_by_one(name: str, need, tmp_path: Path) -> None:
    need(name)
    board = load_board(name)
    toolchain = find_toolchain(board)
    files = handmade.c_files() | {"measured.c": firmware.measured(firmware.Model("model", handmade.program()))}
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    objects = [toolchain.compile(tmp_path / file, 60) for file in files if file.endswith(".c")]
    image = toolchain.link(objects, tmp_path / "measured.elf", 60)
    rows = np.vstack([handmade.rows(20), np.zeros((1, 4), np.uint8), np.full((1, 4), 255, np.uint8)])
    outcome = simulate(board, image, [Call(firmware.TURN, rows, 1, firmware.ROW, firmware.ANSWER)], 60)[0]
    np.testing.assert_array_equal(outcome.answers[:, 0], (rows.astype(int) @ handmade.WEIGHTS.T).argmax(axis=1))
    symbols = read_elf(image).symbols
    places = [str(symbols[one]) for one in (firmware.TURN, firmware.ROW, firmware.ANSWER, "main")]
    runner = Path(sys.modules["smidgen.boards.simulate.unicorn"].__file__).parent
    # the runner's folder holds a unicorn.py of ours, which must not stand in front of the package
    lonely = tmp_path / "runner"
    lonely.mkdir()
    (lonely / "unicorn_run.py").write_text((runner / "unicorn_run.py").read_text())
    done = subprocess.run(
        [sys.executable, "-c", ONE_BY_ONE, str(lonely), board.simulator.cpu, str(image), *places],
        input="".join(f"{row.tobytes().hex()}\n" for row in rows),
        capture_output=True,
        text=True,
        check=True,
    )
    one_by_one = np.array([int(line) for line in done.stdout.split()])
    if name == "m4":  # what an IT block skips still takes its cycle: blocks count it, unicorn's hook is not told of it
        assert (one_by_one <= outcome.counts).all()
        assert (outcome.counts - one_by_one <= 2 * len(handmade.WEIGHTS)).all()
    else:
        assert outcome.counts.tolist() == one_by_one.tolist()
    assert len(set(one_by_one.tolist())) > 1  # it depends on the row, so the comparison tells something
