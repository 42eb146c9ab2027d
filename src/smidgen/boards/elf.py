"""What an ELF file says: sizes by section, the addresses of functions and variables. Imports pyelftools when called."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smidgen.errors import ToolError

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

_ALLOCATED = 2  # SHF_ALLOC
_IN_FLASH = (".text", ".rodata", ".data")
_IN_RAM = (".data", ".bss", ".noinit")


@dataclass(frozen=True)
class Elf:
    """The parts of an ELF file that tell what it needs and where things are.

    Attributes
    ----------
    sections : dict
        Name → bytes, of the sections that take memory on the chip; those of one name added up.
    objects : dict
        Section → bytes of the variables and constants in it, the gaps between them apart.
    symbols : dict
        Name → address, of global functions and variables.
    ram_end : int
        The first address above all that is in RAM when the program starts; 0 where nothing is.
    """

    sections: dict[str, int]
    objects: dict[str, int]
    symbols: dict[str, int]
    ram_end: int

    @property
    def flash_bytes(self) -> int:
        """Code, constants and the first values of variables."""
        return self._total(_IN_FLASH)

    @property
    def ram_bytes(self) -> int:
        """Variables, without the stack."""
        return self._total(_IN_RAM)

    def _total(self, prefixes: Iterable[str]) -> int:
        return sum(size for name, size in self.sections.items() if name.startswith(tuple(prefixes)))


def read_elf(path: Path) -> Elf:
    """Read an executable or an object file.

    Raises
    ------
    ToolError
        When pyelftools is missing, or the file is no ELF file.
    """
    try:
        from elftools.common.exceptions import ELFError  # noqa: PLC0415
        from elftools.elf.elffile import ELFFile  # noqa: PLC0415
    except ImportError:
        raise ToolError("pyelftools is missing, which reads sizes from ELF files: pip install pyelftools") from None
    try:
        with path.open("rb") as stream:
            return _elf(ELFFile(stream))
    except ELFError as error:
        raise ToolError(f"{path.name} is no ELF file: {error}") from None


def _elf(file: "ELFFile") -> Elf:
    sections: dict[str, int] = {}
    ram_end = 0
    for section in file.iter_sections():
        if not section["sh_flags"] & _ALLOCATED:
            continue
        sections[section.name] = sections.get(section.name, 0) + section["sh_size"]
        if section.name.startswith(_IN_RAM):
            ram_end = max(ram_end, section["sh_addr"] + section["sh_size"])
    objects: dict[str, int] = {}
    symbols: dict[str, int] = {}
    for symbol in _defined_symbols(file):
        if symbol["st_info"]["bind"] in ("STB_GLOBAL", "STB_WEAK"):
            symbols[symbol.name] = symbol["st_value"]
        if symbol["st_info"]["type"] == "STT_OBJECT" and isinstance(symbol["st_shndx"], int):
            name = file.get_section(symbol["st_shndx"]).name
            objects[name] = objects.get(name, 0) + symbol["st_size"]
    return Elf(sections, objects, symbols, ram_end)


def _defined_symbols(file: "ELFFile") -> list[Any]:
    table: Any = file.get_section_by_name(".symtab")
    return [symbol for symbol in (table.iter_symbols() if table else ()) if symbol["st_shndx"] != "SHN_UNDEF"]
