"""Finding tools: each place they hide in, in order, and tools that do not behave."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from smidgen.boards import tools
from smidgen.boards.tools import RECIPES, find_tool


def test_a_computer_without_tools_has_none(computer) -> None:
    assert {name: find_tool(name) for name in RECIPES} == dict.fromkeys(RECIPES)


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ("bin", "PATH"),
        ("python/bin", "this Python"),
        ("home/.arduino15/packages/arduino/tools/avr-gcc/7.3.0-atmel3.6.1-arduino7/bin", "Arduino"),
        ("home/Library/Arduino15/packages/arduino/tools/avr-gcc/7.3.0/bin", "Arduino"),
        ("arduino-1.8/hardware/tools/avr/bin", "Arduino"),
        ("home/.platformio/packages/toolchain-atmelavr/bin", "PlatformIO"),
    ],
)
def test_each_place(computer, place: str, where: str) -> None:
    path = computer.put(f"{place}/avr-gcc", 'echo "avr-gcc (GCC) 7.3.0"; echo "Copyright 2017"')
    tool = find_tool("avr-gcc")
    assert tool is not None
    assert (tool.path, tool.where, tool.version, tool.works) == (str(path), where, "7.3.0", True)
    assert tool.command == (str(path),)


@pytest.mark.parametrize(
    ("setting", "below"),
    [
        ("ARDUINO_DIRECTORIES_DATA", "packages/arduino/tools/avr-gcc/7.3.0/bin"),
        ("PLATFORMIO_CORE_DIR", "packages/toolchain-atmelavr/bin"),
    ],
)
def test_folders_that_the_user_moved(computer, monkeypatch: pytest.MonkeyPatch, setting: str, below: str) -> None:
    monkeypatch.setenv(setting, str(computer.root / "moved"))
    path = computer.put(f"moved/{below}/avr-gcc")
    assert find_tool("avr-gcc").path == str(path)  # type: ignore[union-attr]


def test_windows_keeps_it_in_the_local_application_data(computer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALAPPDATA", str(computer.root / "Local"))
    path = computer.put("Local/Arduino15/packages/arduino/tools/avr-gcc/7.3.0/bin/avr-gcc")
    assert find_tool("avr-gcc").path == str(path)  # type: ignore[union-attr]


def test_the_path_comes_first_and_the_newest_of_arduinos(computer) -> None:
    tools_folder = "home/.arduino15/packages/arduino/tools/avr-gcc"
    computer.put(f"{tools_folder}/9.3.0/bin/avr-gcc", "echo 9.3.0")
    computer.put(f"{tools_folder}/10.1.0/bin/avr-gcc", "echo 10.1.0")
    assert find_tool("avr-gcc").version == "10.1.0"  # type: ignore[union-attr]
    computer.put("bin/avr-gcc", "echo 5.4.0")
    assert find_tool("avr-gcc").version == "5.4.0"  # type: ignore[union-attr]


def test_other_names_of_the_same_tool(computer) -> None:
    path = computer.put("bin/clang", 'echo "clang version 16.0.6"')
    assert find_tool("cc").path == str(path)  # type: ignore[union-attr]
    espressif = computer.put("home/.arduino15/packages/esp32/tools/esp-rv32/2411/bin/riscv32-esp-elf-gcc")
    assert find_tool("riscv-gcc").path == str(espressif)  # type: ignore[union-attr]


def test_a_stranger_is_looked_for_by_its_name(computer) -> None:
    path = computer.put("bin/sdcc", 'echo "SDCC : mcs51 4.2.0 #13081 (Linux)"')
    tool = find_tool("sdcc")
    assert tool is not None
    assert (tool.path, tool.version) == (str(path), "4.2.0")


@pytest.mark.parametrize("text", ["exit 1", "kill -9 $$", "sleep 3"], ids=["fails", "dies", "hangs"])
def test_a_tool_that_does_not_behave(computer, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("PATH", f"{computer.root / 'bin'}:/usr/bin:/bin")  # for the shell's sleep
    monkeypatch.setattr(tools, "_SECONDS", 0.2)
    path = computer.put("bin/arm-none-eabi-gcc", text)
    tool = find_tool("arm-none-eabi-gcc")
    assert tool is not None
    assert (tool.path, tool.version, tool.works) == (str(path), "", False)
    other = computer.put("home/.platformio/packages/toolchain-gccarmnoneeabi/bin/arm-none-eabi-gcc")
    monkeypatch.setattr(tools, "_SECONDS", 10)
    if "sleep" not in text:
        assert find_tool("arm-none-eabi-gcc").path == str(other)  # type: ignore[union-attr]


def test_a_file_that_no_processor_runs(computer) -> None:
    path = computer.put("bin/avr-gcc")
    path.write_bytes(b"\x7fELF but not really")
    assert not find_tool("avr-gcc").works  # type: ignore[union-attr]


def test_a_file_that_may_not_be_run_is_no_tool(computer) -> None:
    computer.put("bin/avr-gcc").chmod(0o644)
    assert find_tool("avr-gcc") is None


def test_simavr_is_not_run(computer) -> None:
    path = computer.put("bin/simavr", f"touch {computer.root}/was-run")
    assert find_tool("simavr").path == str(path)  # type: ignore[union-attr]
    assert not (computer.root / "was-run").exists()


def test_what_a_tool_prints_need_be_no_text(computer) -> None:
    computer.put("bin/avr-gcc", r"printf 'avr-gcc \377\376 5.4.0\n'")
    assert find_tool("avr-gcc").version == "5.4.0"  # type: ignore[union-attr]


def test_packages_of_this_python(computer, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = SimpleNamespace(origin=str(computer.root / "site/package/__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    unicorn = find_tool("unicorn")
    assert unicorn is not None
    assert (unicorn.path, unicorn.command) == (str(computer.root / "site/package"), ())
    computer.put("python/bin/python", '[ "$*" = "-m ziglang version" ] && echo 0.13.0')
    zig = find_tool("zig")
    assert zig is not None
    assert (zig.command, zig.version) == ((sys.executable, "-m", "ziglang"), "0.13.0")
    assert (zig.where, zig.works) == ("this Python", True)


def test_a_package_that_is_half_there_is_not_there(computer, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(name: str) -> None:
        raise ValueError(f"{name}.__spec__ is None")

    monkeypatch.setattr(importlib.util, "find_spec", half)
    assert find_tool("unicorn") is None


def test_headers(computer, monkeypatch: pytest.MonkeyPatch) -> None:
    header = computer.put_header("include/simavr/sim_avr.h")
    tool = find_tool("libsimavr")
    assert tool is not None
    assert (tool.path, tool.where) == (str(header), "headers")
    chosen = computer.put_header("elsewhere/libelf.h")
    assert find_tool("libelf") is None
    monkeypatch.setenv("CPATH", f":{computer.root / 'elsewhere'}")
    assert find_tool("libelf").path == str(chosen)  # type: ignore[union-attr]


@pytest.mark.parametrize("below", ["avr/include", "lib/avr/include"])
def test_avr_libc_stands_beside_its_compiler(computer, below: str) -> None:
    computer.put_header(f"arduino-1.8/hardware/tools/avr/{below}/avr/io.h")
    assert find_tool("avr-libc") is None
    computer.put("arduino-1.8/hardware/tools/avr/bin/avr-gcc")
    assert Path(find_tool("avr-libc").path).name == "io.h"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("gcc (Debian 12.2.0-14) 12.2.0\nCopyright", "12.2.0"),
        ("arm-none-eabi-gcc (15:12.2.rel1-1) 12.2.1 20221205", "12.2.1"),
        ("clang version 16.0.6 (15~deb12u1)\nTarget: x86_64", "16.0.6"),
        ("0.13.0\n", "0.13.0"),
        ("riscv64-unknown-elf-gcc () 12.2.0", "12.2.0"),
        ("no number", ""),
        ("", ""),
    ],
)
def test_the_version_in_what_a_tool_prints(text: str, version: str) -> None:
    assert tools._version_in(text) == version
