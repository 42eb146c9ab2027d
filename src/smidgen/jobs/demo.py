"""The demonstration: digits → a model of a few hundred bytes → firmware for the Uno → simulated → certificate.

Imports boards, convert, data, models and program. Without the Uno's tools this computer is the board; without any
compiler there is no certificate, and the reason is said.
"""

import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from smidgen.boards.certificate import Certificate
from smidgen.boards.verify import verify
from smidgen.convert import to_program
from smidgen.data import Split, load_dataset
from smidgen.errors import ToolError, UsageError
from smidgen.models.protonn import ProtoNNClassifier
from smidgen.program import Program, load_program

_BUDGET = "600 B"
_PIXELS = (0, 16)  # digits' pixels count the dots in squares of 4 x 4
_BOARDS = ("uno", "host")


@dataclass(frozen=True)
class DemoResult:
    """What the demonstration found.

    Attributes
    ----------
    model : str
        The estimator.
    accuracy : float
        That of the loaded file on the held-out rows.
    model_bytes : int
        What the Program's constants take.
    rows : int
        The held-out rows.
    mismatches : int
        Rows that the loaded file and the estimator answer differently, or the board; 0 unless smidgen is broken.
    file : str or None
        Where the model was kept, if it was asked for.
    certificate : Certificate or None
        What the board said; None where no compiler is here.
    missing : str
        What kept the Uno, or any board, from being asked; empty where nothing did.
    """

    model: str
    accuracy: float
    model_bytes: int
    rows: int
    mismatches: int
    file: str | None
    certificate: Certificate | None
    missing: str

    def as_json(self) -> dict[str, Any]:
        """Give everything as a dictionary that JSON can hold."""
        return {**asdict(self), "certificate": self.certificate and self.certificate.as_json()}


def run_demo(out: Path | None = None) -> DemoResult:
    """Fit a model of the digits, save it, load it, and have Python, file and board answer the held-out rows.

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
    model = ProtoNNClassifier(_BUDGET, trusted_range=_PIXELS, random_state=0).fit(digits.X_train, digits.y_train)
    loaded = _save_and_load(to_program(model), out)
    answers = loaded.predict(digits.X_test)
    certificate, missing = _certificate(loaded, digits)
    differing = int(np.sum(answers != model.predict(digits.X_test)))
    return DemoResult(
        model=type(model).__name__,
        accuracy=float(np.mean(answers == digits.y_test)),
        model_bytes=loaded.cost().model_bytes,
        rows=len(answers),
        mismatches=differing + (certificate.mismatches if certificate else 0),
        file=None if out is None else str(out),
        certificate=certificate,
        missing=missing,
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


def _certificate(program: Program, digits: Split) -> tuple[Certificate | None, str]:
    """Ask the Uno, or this computer where its tools are missing; and say what is missing."""
    missing = ""
    for board in _BOARDS:
        try:
            return verify(program, digits.X_test, digits.y_test, board=board, name="digits"), missing
        except ToolError as error:
            missing = missing or str(error)
    return None, missing
