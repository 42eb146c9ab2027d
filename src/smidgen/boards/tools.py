"""Where this computer keeps compilers, simulators and their headers: `find_tool`.

Looked for, in this order: the folders of `$PATH`, this Python's own environment (its scripts and its packages), and
where the Arduino IDE, arduino-cli and PlatformIO keep theirs. Imports nothing of smidgen.
"""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 10  # for a tool to say its version: zig takes its time when it runs for the first time

_HEADER_FOLDERS = ("/usr/include", "/usr/local/include", "/opt/homebrew/include")
_ARDUINO_1_FOLDERS = (  # the Arduino IDE before 2.0 brought its compilers along
    "/usr/share/arduino",
    "/Applications/Arduino.app/Contents/Java",
    "C:/Program Files (x86)/Arduino",
)


@dataclass(frozen=True)
class Tool:
    """A tool that was found.

    Attributes
    ----------
    name : str
        What smidgen calls it.
    path : str
        The executable, the header, or the package's folder.
    command : tuple of str
        How to run it; empty for what is not run (headers, Python packages).
    version : str
        "" where it does not say.
    where : str
        "PATH", "this Python", "Arduino", "PlatformIO" or "headers".
    works : bool
        False for an executable that could not be run, or did not end, when asked for its version.
    """

    name: str
    path: str
    command: tuple[str, ...]
    version: str
    where: str
    works: bool = True


@dataclass(frozen=True)
class Recipe:
    """How a tool is recognised and where one gets it.

    Attributes
    ----------
    what : str
        What it is for, in a few words.
    executables : tuple of str
        Its names; any one of them will do.
    module : str
        The Python package that holds it, where one does.
    runs_module : bool
        The package is a program: `python -m module`.
    header : str
        The file to look for among the headers, for libraries.
    beside : str
        The tool whose own folders hold that header, for cross-compilers' libraries.
    version_option : str
        What makes it say its version; "" where nothing does.
    apt, pip : tuple of str
        The packages that bring it, Debian's and PyPI's.
    """

    what: str
    executables: tuple[str, ...] = ()
    module: str = ""
    runs_module: bool = False
    header: str = ""
    beside: str = ""
    version_option: str = "--version"
    apt: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()


RECIPES: dict[str, Recipe] = {
    "cc": Recipe("C for this computer", ("cc", "gcc", "clang"), apt=("gcc", "libc6-dev")),
    "zig": Recipe(
        "C for every board", ("zig",), module="ziglang", runs_module=True, version_option="version", pip=("ziglang",)
    ),
    "avr-gcc": Recipe("C for AVR", ("avr-gcc",), apt=("gcc-avr",)),
    "avr-libc": Recipe("AVR's C library", header="avr/io.h", beside="avr-gcc", apt=("avr-libc",)),
    "arm-none-eabi-gcc": Recipe("C for Cortex-M", ("arm-none-eabi-gcc",), apt=("gcc-arm-none-eabi",)),
    "riscv-gcc": Recipe(
        "C for RISC-V",
        ("riscv64-unknown-elf-gcc", "riscv32-unknown-elf-gcc", "riscv-none-elf-gcc", "riscv32-esp-elf-gcc"),
        apt=("gcc-riscv64-unknown-elf",),
    ),
    "simavr": Recipe("simulates AVR", ("simavr",), version_option="", apt=("simavr",)),
    "libsimavr": Recipe("simavr as a library", header="simavr/sim_avr.h", apt=("libsimavr-dev",)),
    "libelf": Recipe("reads ELF files for simavr", header="libelf.h", apt=("libelf-dev",)),
    "unicorn": Recipe("simulates Cortex-M and RISC-V", module="unicorn", pip=("unicorn",)),
    "pyelftools": Recipe("reads ELF files", module="elftools", pip=("pyelftools",)),
}


def find_tool(name: str) -> Tool | None:
    """Find a compiler, a simulator or a header; rather one that runs than one that does not.

    Parameters
    ----------
    name : str
        A key of `RECIPES`, or the name of any executable.

    Returns
    -------
    Tool or None
        None where there is none.

    Examples
    --------
    >>> find_tool("no-such-compiler") is None
    True
    """
    recipe = RECIPES.get(name) or Recipe(name, (name,))
    broken = None
    for tool in _candidates(name, recipe):
        if tool.works:
            return tool
        broken = broken or tool
    return broken


def _candidates(name: str, recipe: Recipe) -> Iterator[Tool]:
    for executable in recipe.executables:
        on_path = shutil.which(executable)
        if on_path:
            yield _try(name, (on_path,), "PATH", recipe)
    if recipe.module:
        yield from _in_package(name, recipe)
    for where, folder in tool_folders():
        for executable in recipe.executables:
            path = shutil.which(executable, path=str(folder))
            if path:
                yield _try(name, (path,), where, recipe)
    for folder in _header_folders(recipe):
        if os.access(folder / recipe.header, os.R_OK):
            yield Tool(name, str(folder / recipe.header), (), "", "headers")


def _try(name: str, command: tuple[str, ...], where: str, recipe: Recipe) -> Tool:
    """Ask a tool for its version: one that answers works."""
    if not recipe.version_option:
        return Tool(name, command[0], command, "", where)
    try:
        version = _version_in(_output_of((*command, recipe.version_option)))
    except (OSError, subprocess.SubprocessError):
        return Tool(name, command[0], command, "", where, works=False)
    return Tool(name, command[0], command, version, where)


def _output_of(command: tuple[str, ...]) -> str:
    # a file, since a pipe would be waited for as long as any descendant of a stuck tool holds it
    with tempfile.TemporaryFile() as output:
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
        )
        output.seek(0)
        return output.read(10_000).decode("utf-8", "replace")


def _version_in(text: str) -> str:
    """Find the version in what a tool prints: after the word, else the last number with a dot of the first line.

    >>> _version_in("avr-gcc (GCC) 5.4.0"), _version_in("Apple clang version 15.0.0 (clang-1500.3.9.4)")
    ('5.4.0', '15.0.0')
    """
    first = text.strip().split("\n", 1)[0]
    named = re.search(r"version (\d+(?:\.\d+)+)", first)
    if named:
        return named[1]
    numbers = re.findall(r"(?<![\w.])\d+(?:\.\d+)+", first)
    return numbers[-1] if numbers else ""


def _in_package(name: str, recipe: Recipe) -> Iterator[Tool]:
    try:
        spec = importlib.util.find_spec(recipe.module)
    except (ImportError, ValueError):  # a package that is only half there
        return
    if spec is None or not spec.origin:
        return
    folder = str(Path(spec.origin).parent)
    if recipe.runs_module:
        tool = _try(name, (sys.executable, "-m", recipe.module), "this Python", recipe)
        yield Tool(name, folder, tool.command, tool.version, tool.where, tool.works)
    else:
        yield Tool(name, folder, (), package_version(recipe.pip[0]) or "", "this Python")


def package_version(distribution: str) -> str | None:
    """Give the version of an installed Python distribution, None where it is not installed.

    >>> package_version("no-such-distribution") is None
    True
    """
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def tool_folders() -> Iterator[tuple[str, Path]]:
    """Give the folders beyond `$PATH` that hold executables, with the name of what put them there."""
    yield "this Python", Path(sys.executable).parent  # its scripts, also where the environment is not activated
    for folder in _arduino_folders():
        yield from (("Arduino", found) for found in _newest_first(folder, "packages/*/tools/*/*/bin"))
    yield from (("Arduino", Path(bundle, "hardware/tools/avr/bin")) for bundle in _ARDUINO_1_FOLDERS)
    platformio = at_home(os.environ.get("PLATFORMIO_CORE_DIR") or "~/.platformio")
    yield from (("PlatformIO", found) for found in _newest_first(platformio, "packages/tool*/bin"))


def _arduino_folders() -> Iterator[Path]:
    """Give the data folders of arduino-cli and the Arduino IDE: Linux's, macOS's, Windows's, or the one chosen."""
    chosen, local = os.environ.get("ARDUINO_DIRECTORIES_DATA"), os.environ.get("LOCALAPPDATA")
    if chosen:
        yield Path(chosen)
    yield at_home("~/.arduino15")
    yield at_home("~/Library/Arduino15")
    if local:
        yield Path(local, "Arduino15")


def at_home(path: str) -> Path:
    """Put the home folder in the place of a leading "~", where the user has one."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _newest_first(folder: Path, pattern: str) -> list[Path]:
    """List folders, those with the higher version numbers in their names first."""
    return sorted(folder.glob(pattern), key=_numbers_in, reverse=True)


def _numbers_in(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.parent.name)]


def _header_folders(recipe: Recipe) -> Iterator[Path]:
    """Give the folders that may hold a recipe's header, none for a recipe without one."""
    if not recipe.header:
        return
    if recipe.beside:
        compiler = find_tool(recipe.beside)
        if compiler:
            prefix = Path(compiler.path).resolve().parent.parent
            yield from (prefix / "avr/include", prefix / "lib/avr/include")
        return
    chosen = os.environ.get("CPATH", "").split(os.pathsep)
    yield from (Path(folder) for folder in (*chosen, *_HEADER_FOLDERS) if folder)
