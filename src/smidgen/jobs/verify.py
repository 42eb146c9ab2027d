"""Verify: a model file and a table in, a certificate out. Imports boards, data and program."""

import os
from pathlib import Path
from typing import Any, Literal

from smidgen.boards.certificate import Certificate
from smidgen.boards.verify import verify
from smidgen.data import Table, read_table
from smidgen.data.table import Missing
from smidgen.errors import DataError, UsageError
from smidgen.program import Program, load_program

Part = Literal["train", "test", "all"]


def run_verify(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    *,
    board: str = "uno",
    target: str | None = None,
    compiler: str | None = None,
    sanitize: bool = False,
    part: Part | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Certificate:
    r"""Verify a model on the rows of a table.

    Parameters
    ----------
    model : path
        A `.smg` file.
    data : path
        A table with the columns that the model takes, and maybe the target.
    board : str
        A board's name, or its file.
    target : str, optional
        The column that holds what should come out.
    compiler : str, optional
        One of the board's compilers.
    sanitize : bool
        With AddressSanitizer and UBSan; for the host alone.
    part : "train", "test" or "all", optional
        Which rows of an NPZ file that comes split.
    out : path, optional
        Where to keep the certificate.

    Returns
    -------
    Certificate

    Raises
    ------
    SmidgenError
        As `verify` raises it, or when a file cannot be read or written.

    Examples
    --------
    >>> import tempfile
    >>> from smidgen.program import Decide, Input, Linear, Matrix
    >>> here = Path(tempfile.mkdtemp())
    >>> program = Program((Input("uint8", 2), Linear(Matrix.pack([[1, -2]], "int4")), Decide("threshold")))
    >>> program.save(here / "m.smg")
    >>> _ = (here / "rows.csv").write_text("a,b,on\n9,1,1\n1,9,0\n")
    >>> certificate = run_verify(here / "m.smg", here / "rows.csv", board="host", target="on")
    >>> certificate.mismatches, certificate.accuracy
    (0, 1.0)
    """
    program = load_program(model)
    _refuse_place(out)
    missing: Missing = "error" if program.input.missing is None else "keep"
    numeric = target is not None and program.task == "regression"
    table = read_table(data, target, missing=missing, numeric_target=numeric, part=part)
    X = columns_of(program, table)
    certificate = verify(program, X, table.y, board=board, compiler=compiler, sanitize=sanitize)
    if out is not None:
        certificate.save(out)
    return certificate


def columns_of(program: Program, table: Table) -> Any:
    """The columns of a table that a Program takes, by their names where both have names; other columns are left out."""
    names = program.feature_names
    if not names or not table.feature_names:
        return table.X
    places = {name: index for index, name in enumerate(table.feature_names)}
    lacking = [name for name in names if name not in places]
    if lacking:
        raise DataError(f"{table.path} lacks the column '{lacking[0]}', which the model takes")
    return table.X[:, [places[name] for name in names]]


def _refuse_place(out: str | os.PathLike[str] | None) -> None:
    """Say what is wrong with a place before any work is done for it."""
    if out is not None and not Path(out).absolute().parent.is_dir():
        raise UsageError(f"there is no folder to put '{os.fspath(out)}' into; make it first")
