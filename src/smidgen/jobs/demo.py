"""The demonstration: a small model of the bundled digits, from raw pixels to labels, by way of its file.

Imports data and program. Later pieces of smidgen lengthen it: train, fit a board, verify.
"""

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smidgen.data import load_dataset
from smidgen.errors import UsageError
from smidgen.program import Decide, Distance, GroupReduce, Input, Matrix, Program, load_program

_BRIGHTEST = 16  # digits' pixels are counts of dots in a 4 x 4 square


@dataclass(frozen=True)
class DemoResult:
    """What the demonstration found.

    Attributes
    ----------
    model : str
        The kind of model.
    accuracy : float
        On the held-out rows.
    model_bytes, ram_bytes : int
        What the Program costs: its constants, and its memory without the stack.
    rows : int
        The held-out rows.
    mismatches : int
        Rows that the Program answers differently once it was saved and loaded; 0 unless smidgen is broken.
    file : str or None
        Where the model was kept, if it was asked for.
    """

    model: str
    accuracy: float
    model_bytes: int
    ram_bytes: int
    rows: int
    mismatches: int
    file: str | None

    def as_json(self) -> dict[str, Any]:
        """Give everything as a dictionary that JSON can hold."""
        return asdict(self)


def run_demo(out: Path | None = None) -> DemoResult:
    """Make a model of the digits, save it, load it, and have both answer the held-out rows.

    Parameters
    ----------
    out : path, optional
        Where to keep the model; else its file is removed again.

    Returns
    -------
    DemoResult

    Raises
    ------
    UsageError
        When `out` cannot be written.

    Examples
    --------
    >>> run_demo().rows
    450
    """
