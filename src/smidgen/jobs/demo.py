"""The demonstration: a small model of the bundled digits, from raw pixels to labels, by way of its file.

Imports data, models, convert and program. Later pieces of smidgen lengthen it: to a board, to a certificate.
"""

import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smidgen.convert import to_program
from smidgen.data import load_dataset
from smidgen.errors import UsageError
from smidgen.models.prototypes import PrototypeClassifier
from smidgen.program import Program, load_program

_BUDGET = "1kB"
_PIXELS = (0, 16)  # digits' pixels count the dots in squares of 4 x 4


@dataclass(frozen=True)
class DemoResult:
    """What the demonstration found.

    Attributes
    ----------
    model : str
        The estimator.
    accuracy : float
        That of the loaded file on the held-out rows.
    model_bytes, ram_bytes : int
        What the Program costs: its constants, and its memory without the stack.
    rows : int
        The held-out rows.
    mismatches : int
        Rows that the loaded file and the estimator answer differently; 0 unless smidgen is broken.
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
    """Fit a model of the digits, save it, load it, and have both answer the held-out rows.

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
        When `out` is a folder, or lies in none.
    ModelFileError
        When it cannot be written for another reason.

    Examples
    --------
    >>> run_demo().rows
    450
    """
    if out is not None:
        _refuse_place(out)
    digits = load_dataset("digits")
    model = PrototypeClassifier(budget=_BUDGET, trusted_range=_PIXELS, random_state=0)
    program = to_program(model.fit(digits.X_train, digits.y_train))
    answers = _save_and_load(program, out).predict(digits.X_test)
    cost = program.cost()
    return DemoResult(
        model=type(model).__name__,
        accuracy=float(np.mean(answers == digits.y_test)),
        model_bytes=cost.model_bytes,
        ram_bytes=cost.ram_bytes,
        rows=len(answers),
        mismatches=int(np.sum(answers != model.predict(digits.X_test))),
        file=None if out is None else str(out),
    )


def _refuse_place(out: Path) -> None:
    """Say what is wrong with a place before any work is done for it."""
    with suppress(OSError):  # whatever else is wrong with it, saving will say
        if out.is_dir():
            raise UsageError(f"'{out}' is a folder; name a file in it for the model")
        if not out.parent.is_dir():
            raise UsageError(f"there is no folder '{out.parent}' to put '{out.name}' into; make it first")


def _save_and_load(program: Program, out: Path | None) -> Program:
    """Let the Program go through a file, which stays only where it was asked for."""
    with tempfile.TemporaryDirectory() as folder:
        file = out or Path(folder, "digits.smg")
        program.save(file)
        return load_program(file)
