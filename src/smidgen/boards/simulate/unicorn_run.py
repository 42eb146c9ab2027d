"""Calls functions of a Cortex-M or RISC-V firmware under unicorn, once a row, and counts instructions.

    python unicorn_run.py CPU ELF PLAN ROWS RESULTS

The files are those of `simavr_run.c`; a call's line has one number more, 1 where instructions are counted. This runs in
a process of its own, so that nothing a firmware does can harm or hold up its caller; it imports unicorn and pyelftools
and nothing of smidgen. What goes wrong is one line on stderr and exit code 1.
"""

import struct
import sys
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import unicorn as untyped
from elftools.elf.elffile import ELFFile
from unicorn import arm_const as arm
from unicorn import riscv_const as riscv

unicorn: Any = untyped
RAM, FLASH, FLASH_BYTES = 0x2000_0000, 0x0800_0000, 1 << 24
PAINT = b"\xa5"
SYSTEM, ACCESS_CONTROL, FULL_ACCESS = 0xE000_E000, 0xE000_ED88, 0xF << 20
ARM_CPUS = {
    "cortex-m0": arm.UC_CPU_ARM_CORTEX_M0,
    "cortex-m3": arm.UC_CPU_ARM_CORTEX_M3,
    "cortex-m4": arm.UC_CPU_ARM_CORTEX_M4,
    "cortex-m7": arm.UC_CPU_ARM_CORTEX_M7,
    "cortex-m33": arm.UC_CPU_ARM_CORTEX_M33,
}


class Machine:
    """A simulated chip: loads a firmware, calls its functions, counts the instructions of each block it passes.

    An instruction that Cortex-M4's IT skips is counted: it takes its cycle.
    """

    def __init__(self, cpu: str, elf: ELFFile, memory_end: int) -> None:
        self.arm = cpu != "riscv32"
        if self.arm:
            self.uc = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
            self.uc.ctl_set_cpu_model(ARM_CPUS[cpu])
            self.registers = {name: getattr(arm, f"UC_ARM_REG_{name}") for name in ("SP", "LR", "R0", "R1", "PC")}
        else:
            self.uc = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
            names = {"SP": "SP", "LR": "RA", "R0": "A0", "R1": "A1", "PC": "PC"}
            self.registers = {name: getattr(riscv, f"UC_RISCV_REG_{mine}") for name, mine in names.items()}
        self.uc.mem_map(FLASH, FLASH_BYTES)
        self.uc.mem_map(RAM, memory_end - RAM)
        if cpu in ("cortex-m4", "cortex-m7", "cortex-m33"):
            self._enable_floats()
        for segment in elf.iter_segments():
            if segment["p_type"] == "PT_LOAD" and segment["p_filesz"]:
                self.uc.mem_write(segment["p_vaddr"], segment.data())
        self.lengths: dict[tuple[int, int], int] = {}
        self.count = 0

    def _enable_floats(self) -> None:
        self.uc.mem_map(SYSTEM, 0x1000)
        self.uc.mem_write(ACCESS_CONTROL, struct.pack("<I", FULL_ACCESS))
        self.uc.reg_write(arm.UC_ARM_REG_FPEXC, 1 << 30)

    def start_counting(self, limit: int) -> int:
        """Count from now on; stop what runs longer than the limit."""

        def passed(uc: Any, address: int, size: int, _: object) -> None:
            key = address, size
            if key not in self.lengths:
                self.lengths[key] = self.instructions(bytes(uc.mem_read(address, size)))
            self.count += self.lengths[key]
            if self.count > limit:
                uc.emu_stop()

        return int(self.uc.hook_add(unicorn.UC_HOOK_BLOCK, passed))

    def instructions(self, code: bytes) -> int:
        """How many instructions a block has: each is two bytes or four, which its first two tell."""
        place = n = 0
        while place < len(code):
            half = code[place] | code[place + 1] << 8
            place += 4 if (half >> 11 >= 0b11101 if self.arm else half & 3 == 3) else 2
            n += 1
        return n

    def call(self, function: int, stack: int, row: int, answer: int, back: int) -> int:
        """Call function(row, answer) as main would."""
        for name, value in (("SP", stack), ("LR", back | self.arm), ("R0", row), ("R1", answer)):
            self.uc.reg_write(self.registers[name], value)
        self.uc.emu_start(function | self.arm, back)
        return int(self.uc.reg_read(self.registers["PC"])) & ~1


def make(machine: Machine, plan: dict[str, int], call: list[int], rows: BinaryIO, results: BinaryIO) -> None:
    """All rows of one call."""
    function, row_at, width, answer_at, answer_bytes, n_rows, counted = call
    uc, counts, overwritten = machine.uc, [], 0
    back = plan["main"] & ~1
    uc.mem_write(plan["paint"], PAINT * (plan["stack"] - plan["paint"]))
    hook = machine.start_counting(plan["limit"]) if counted else None
    for index in range(n_rows):
        row = rows.read(width)
        if len(row) != width:
            fail("the file of rows is too short")
        uc.mem_write(row_at, row)
        uc.mem_write(answer_at, PAINT * answer_bytes)
        machine.count = 0
        try:
            ended = machine.call(function & ~1, plan["stack"], row_at, answer_at, back)
        except unicorn.UcError as error:
            at = uc.reg_read(machine.registers["PC"])
            fail(f"in row {index} it crashed near flash address {at:#x}: {error}")
        if machine.count > plan["limit"] or ended != back:
            fail(f"in row {index} it did not end within {plan['limit']} instructions")
        counts.append(machine.count)
        overwritten += uc.mem_read(row_at, width) != row
        results.write(uc.mem_read(answer_at, answer_bytes))
    if hook is not None:
        uc.hook_del(hook)
    stack = bytes(uc.mem_read(plan["paint"], plan["stack"] - plan["paint"]))
    deepest = len(stack.lstrip(PAINT))
    results.write(struct.pack(f"<{n_rows + 2}I", *counts, deepest, overwritten))


def fail(what: str) -> NoReturn:
    """Say what is wrong and end."""
    sys.stderr.write(f"{what}\n")
    sys.exit(1)


def main(cpu: str, *files: str) -> None:
    """Follow the plan."""
    if cpu != "riscv32" and cpu not in ARM_CPUS:
        fail(f"smidgen knows no processor {cpu} in unicorn; it knows riscv32, {', '.join(ARM_CPUS)}")
    elf, plan_text, rows_file, results_file = map(Path, files)
    plan: dict[str, int] = {}
    calls: list[list[int]] = []
    with plan_text.open(encoding="ascii") as text:
        for word, *numbers in map(str.split, text):
            if word == "call":
                calls.append(list(map(int, numbers)))
            else:
                plan[word] = int(numbers[0])
    with elf.open("rb") as stream:
        machine = Machine(cpu, ELFFile(stream), plan["memory"])
    with rows_file.open("rb") as rows, results_file.open("wb") as results:
        for call in calls:
            make(machine, plan, call, rows, results)


if __name__ == "__main__":
    main(*sys.argv[1:])
