"""Sizes and addresses from ELF files, against what is known of a hand-written source."""

import sys
from pathlib import Path

import pytest

from smidgen.boards.board import load_board
from smidgen.boards.compile import find_toolchain
from smidgen.boards.elf import read_elf
from smidgen.errors import ToolError

SOURCE = """#include <stdint.h>
const uint8_t table[37] __attribute__((section(".rodata.smidgen.wing"))) = {1};
const uint32_t wide[5] __attribute__((section(".rodata.smidgen.wing"))) = {1};
uint8_t zeros[100];
uint8_t ones[21] = {1};
static uint8_t hidden[3] = {1};
int twice(int x);
int twice(int x) { return 2 * x + hidden[x & 1] + table[x & 7]; }
"""


@pytest.mark.parametrize("name", ["m0", "rv32"])
def test_an_object(name: str, need, tmp_path: Path) -> None:
    need(name)
    (tmp_path / "a.c").write_text(SOURCE)
    elf = read_elf(find_toolchain(load_board(name)).compile(tmp_path / "a.c", 60))
    assert elf.objects[".rodata.smidgen.wing"] == 37 + 20
    assert elf.sections[".rodata.smidgen.wing"] == 40 + 20  # with the gap
    assert sum(size for section, size in elf.objects.items() if section.startswith(".bss")) == 100
    assert {"zeros", "ones", "table", "twice"} <= set(elf.symbols)
    assert "hidden" not in elf.symbols
    # what is zero at the start takes RAM alone; what has a first value takes both
    assert 100 + 21 <= elf.ram_bytes < 100 + 21 + 16
    assert elf.flash_bytes > 57 + 21


def test_what_is_no_elf_file(tmp_path: Path) -> None:
    (tmp_path / "a.o").write_bytes(b"MZ and so on")
    with pytest.raises(ToolError, match=r"^a\.o is no ELF file: "):
        read_elf(tmp_path / "a.o")


def test_without_pyelftools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "elftools.elf.elffile", None)
    with pytest.raises(ToolError, match=r"pyelftools is missing, .*: pip install pyelftools"):
        read_elf(tmp_path / "a.o")
