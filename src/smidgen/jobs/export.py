"""Export: a model file in, a folder of C or an Arduino library out. Imports emit, program and data.

The files are written beside the folder and moved into it when all of them are there.
"""

import os
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from smidgen.data import read_table
from smidgen.emit import write_arduino_library, write_c
from smidgen.errors import UsageError
from smidgen.jobs.verify import columns_of
from smidgen.program import load_program

Format = Literal["c", "arduino"]


@dataclass(frozen=True)
class ExportResult:
    """What was written.

    Attributes
    ----------
    model : str
        The Program's hash.
    to : str
        "c" or "arduino".
    folder : str
        Where.
    files : tuple of str
        Their paths in the folder.
    model_bytes, ram_bytes : int
        What the Program costs: its constants, and its memory without the stack.
    """

    model: str
    to: str
    folder: str
    files: tuple[str, ...]
    model_bytes: int
    ram_bytes: int

    def as_json(self) -> dict[str, Any]:
        """Give everything as a dictionary that JSON can hold."""
        return {**asdict(self), "files": list(self.files)}


def run_export(
    model: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    to: Format = "c",
    *,
    name: str = "model",
    header_only: bool = False,
    rows: str | os.PathLike[str] | None = None,
    target: str | None = None,
) -> ExportResult:
    """Write a model as C.

    Parameters
    ----------
    model : path
        A `.smg` file.
    folder : path
        Where the files go. Files of the same names are replaced; others in it stay.
    to : "c" or "arduino"
        A header and a source, or an Arduino library.
    name : str
        The prefix of every name in the C, and the library's name.
    header_only : bool
        One header in place of two files; for "c" alone.
    rows : path, optional
        A table, some rows of which go into the Arduino library's self-test.
    target : str, optional
        The table's column that is no feature.

    Returns
    -------
    ExportResult

    Raises
    ------
    UsageError
        When the name is none for C, or the folder cannot be written.
    ModelFileError, DataError
        When the model or the table cannot be read.

    Examples
    --------
    >>> from smidgen.program import Decide, Input, Linear, Matrix, Program
    >>> here = Path(tempfile.mkdtemp())
    >>> Program((Input("uint8", 2), Linear(Matrix.pack([[1, -2]], "int4")), Decide("threshold"))).save(here / "m.smg")
    >>> run_export(here / "m.smg", here / "firmware").files[:2]
    ('model.h', 'model.c')
    """
    if to == "arduino" and header_only:
        raise UsageError("an Arduino library has a header and a source; --header-only goes with --to c")
    if to == "c" and rows is not None:
        raise UsageError("rows are for the self-test of an Arduino library; they go with --to arduino")
    program = load_program(model)
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise UsageError(f"'{place}' is a file; name a folder")
    table = None if rows is None else columns_of(program, read_table(rows, target, missing="keep"))
    parent = place.absolute().parent
    try:
        with tempfile.TemporaryDirectory(prefix=".smidgen-", dir=parent, ignore_cleanup_errors=True) as beside:
            new = Path(beside, "new")
            if to == "c":
                paths = write_c(program, new, name, header_only=header_only)
            else:
                paths = write_arduino_library(program, new, name, rows=table)
            files = tuple(path.relative_to(new).as_posix() for path in paths)
            _move(new, place, files)
    except OSError as error:
        raise UsageError(f"cannot write into '{place}': {error.strerror or error}") from None
    cost = program.cost()
    return ExportResult(program.hash, to, str(folder), files, cost.model_bytes, cost.ram_bytes)


def _move(new: Path, place: Path, files: tuple[str, ...]) -> None:
    """Put finished files where they belong: the whole folder at once where there is none yet."""
    if not place.exists():
        new.rename(place)
        return
    for file in files:
        target = place / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(new / file, target)
