"""The demonstration: a small model of the bundled digits, from raw pixels to labels, by way of its file.

Imports data and program. Later pieces of smidgen lengthen it: train, fit a board, verify.
"""

import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from smidgen.data import load_dataset
from smidgen.errors import UsageError
from smidgen.program import Decide, Distance, GroupReduce, Input, Matrix, Program, load_program

_PIXELS = (0, 16)  # digits' pixels count the dots in squares of 4 x 4


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
    program = nearest_centroids(digits.X_train, digits.y_train)
    loaded = _save_and_load(program, out)
    prediction = program.predict(digits.X_test)
    cost = program.cost()
    return DemoResult(
        model="nearest centroids",
        accuracy=float(np.mean(prediction == digits.y_test)),
        model_bytes=cost.model_bytes,
        ram_bytes=cost.ram_bytes,
        rows=len(digits.y_test),
        mismatches=int(np.sum(prediction != loaded.predict(digits.X_test))),
        file=None if out is None else str(out),
    )


def nearest_centroids(X: npt.NDArray[Any], y: npt.NDArray[Any]) -> Program:
    """Make the Program that answers with the class whose mean picture is nearest, half a byte a pixel.

    Parameters
    ----------
    X : array of shape (rows, pixels)
        Whole numbers from 0 to 16.
    y : array of shape (rows,)
        Their classes.

    Returns
    -------
    Program

    Examples
    --------
    >>> nearest_centroids(np.array([[0, 3], [0, 5], [14, 9]]), np.array([0, 0, 1])).predict([[1, 4], [12, 12]])
    array([0, 1])
    """
    classes = np.unique(y)
    means = np.stack([X[y == name].mean(axis=0) for name in classes])
    points = np.clip(np.rint(means) - 8, -8, 7)  # nibbles: a mean of 16, every dot of every picture, counts as 15
    return Program(
        steps=(
            Input("uint8", X.shape[1], trusted_range=_PIXELS),
            Distance(Matrix.pack(points, "int4"), zero=8),
            GroupReduce(np.ones(len(classes), np.uint8), "min"),
            Decide("argmin"),
        ),
        classes=tuple(classes.tolist()),
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
