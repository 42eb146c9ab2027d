"""Simulators: each runs functions of a firmware, once a row, and counts.

    plan      what to call, and what came out: the same for all of them
    host      this computer, directly
    simavr    AVR, cycle by cycle (simavr_run.c)
    unicorn   Cortex-M and RISC-V, instruction by instruction (unicorn_run.py)

`simulate` chooses. May import boards/.
"""

from smidgen.boards.simulate.choice import can_simulate, simulate
from smidgen.boards.simulate.plan import Call, Outcome

__all__ = ["Call", "Outcome", "can_simulate", "simulate"]
