"""What a simulator is asked to call, and what came out. Imports NumPy and smidgen's errors.

A runner gets a plan (text), a file of rows and a file for results; `simavr_run.c` says what stands in them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from smidgen.errors import ToolError

ROWS, PLAN, RESULTS = "rows.bin", "plan.txt", "results.bin"


@dataclass(frozen=True, eq=False)
class Call:
    """A function to call, once a row.

    Attributes
    ----------
    function : str
        Its name in the firmware: `void function(const void *row, void *answer)`.
    rows : ndarray of uint8
        Rows as the firmware holds them, a line each.
    answer_bytes : int
        How much it writes.
    row, answer : str
        Variables of the firmware that it reads and writes; "" for memory that the simulator adds to the chip's.
    count : bool
        Whether to count what each call takes.
    """

    function: str
    rows: npt.NDArray[np.uint8]
    answer_bytes: int
    row: str = ""
    answer: str = ""
    count: bool = True


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a call: answers (a line a row), cycles or instructions a row, the deepest stack."""

    answers: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.int64]
    stack_bytes: int


def write_rows(calls: Sequence[Call], folder: Path) -> None:
    """Put the rows of all calls into one file."""
    with (folder / ROWS).open("wb") as stream:
        for call in calls:
            stream.write(np.ascontiguousarray(call.rows).tobytes())


def read_results(calls: Sequence[Call], folder: Path) -> list[Outcome]:
    """Read what a runner wrote; a model that wrote over its input is an error."""
    data = (folder / RESULTS).read_bytes()
    outcomes, start = [], 0
    for call in calls:
        n, end = len(call.rows), start + len(call.rows) * call.answer_bytes
        answers = np.frombuffer(data[start:end], np.uint8).reshape(n, call.answer_bytes)
        numbers = np.frombuffer(data[end : end + 4 * (n + 2)], "<u4").astype(np.int64)
        if len(numbers) != n + 2:
            raise ToolError("the simulator's results are cut short")
        if numbers[-1]:
            raise ToolError(f"{call.function} wrote over its input in {numbers[-1]:,} of {n:,} rows")
        outcomes.append(Outcome(answers, numbers[:n], int(numbers[-2])))
        start = end + 4 * (n + 2)
    return outcomes
