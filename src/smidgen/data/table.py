"""`Table`, and what every reader of tables shares: which column is the target, which numbers are refused.

May import NumPy and `smidgen.errors`; everything else in `smidgen.data` may import this.
"""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from smidgen.errors import DataError, UsageError

Missing = Literal["error", "keep"]

FLOAT32_END = 2.0**128 - 2.0**103
"""The least float64 that rounds to an infinite float32: half a step above the largest."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """What a file holds: one row of numbers per sample and, where asked for, the target.

    Attributes
    ----------
    X : ndarray of float32, C-contiguous, or scipy.sparse.csr_array of float32
        The features; sparse for LIBSVM text and for the NPZ files that store it so.
    y : ndarray, scipy.sparse.csr_array or None
        One target a row: words (strings) where the file is text or the column holds words, else the numbers of the
        file. Two-dimensional (an indicator, or several outputs) only where an NPZ file stores it so.
    feature_names : tuple of str
        One name a column of X, in order; empty where the file names no columns.
    target_name : str or None
        The name of the target's column, where it has one.
    path : Path
        The file.
    """

    X: Any
    y: Any
    feature_names: tuple[str, ...]
    target_name: str | None
    path: Path

    def __repr__(self) -> str:
        target = "no target" if self.y is None else f"target {self.target_name!r}" if self.target_name else "a target"
        return f"Table({self.path.name}: {self.X.shape[0]} rows, {self.X.shape[1]} features, {target})"


def shown(value: object) -> str:
    """The value as an error sentence shows it: on one line, quoted, never longer than a line bears."""
    text = repr(str(value))
    return text if len(text) <= 42 else f"{text[:40]}…'"


def nearest(name: str, names: Sequence[str], n: int = 3) -> list[str]:
    """Up to n of the names that look most like this one, whatever their case."""
    by_lower: dict[str, str] = {}
    for each in names:
        by_lower.setdefault(each.lower(), each)
    return [by_lower[each] for each in difflib.get_close_matches(name.lower(), by_lower, n=n)]


def column_label(names: Sequence[str], j: int) -> str:
    """Column j (from 0) as an error sentence calls it: by its name, or by its number from 1 where it has none."""
    return f"column {shown(names[j])}" if names else f"column {j + 1}"


def refuse_bad_names(names: Sequence[str], where: str) -> None:
    """Every column has a name, and no two have the same."""
    first: dict[str, int] = {}
    for j, name in enumerate(names):
        if not name:
            raise DataError(
                f"{where}: column {j + 1} has no name; give it one, or remove it if it only numbers the rows "
                "(pandas writes such a column unless told index=False)"
            )
        if name in first:
            raise DataError(
                f"{where}: columns {first[name] + 1} and {j + 1} are both called {shown(name)}, rename one of them"
            )
        first[name] = j


def target_column(target: str | int | None, names: Sequence[str], width: int, where: str) -> int | None:
    """The target's column, counted from 0, out of its name or its index (negative ones count from the end)."""
    if target is None:
        return None
    if not isinstance(target, (str, int, np.integer)):
        raise UsageError(f"the target must be a column's name or its index, not {target!r}")
    if isinstance(target, str):
        if target in names:
            return names.index(target)
        if names:
            raise DataError(_no_such_column(target, names, where))
        try:
            target = int(target)
        except ValueError:
            raise DataError(
                f"{where}: the columns have no names, so the target must be an index from 0 to {width - 1}, not "
                f"{shown(target)} (header=True says that the first row names them)"
            ) from None
    if not -width <= target < width:
        raise DataError(f"{where}: there is no column of index {target}, they run from 0 to {width - 1}")
    return int(target) % width


def _no_such_column(target: str, names: Sequence[str], where: str) -> str:
    near = nearest(target, names, n=1)
    listed = ", ".join(shown(name) for name in names[:8]) + (f", … {len(names)} in all" if len(names) > 8 else "")
    guess = f", did you mean {shown(near[0])}" if near else ""
    return f"{where}: no column is called {shown(target)}{guess} (the columns are {listed})"


def as_float32(X: np.ndarray, missing: Missing, place: Callable[[int, int], str]) -> np.ndarray:
    """X as C-contiguous float32, or an error that names the first number that cannot be one.

    Parameters
    ----------
    X : ndarray of shape (rows, columns)
        Numbers or truth values of any type.
    missing : "error" or "keep"
        What a NaN is.
    place : callable
        From row and column (from 0) to the words that say where that is.
    """
    with np.errstate(over="ignore"):
        out = np.ascontiguousarray(X, dtype=np.float32)
    if X.dtype.kind == "f":
        bad = refused(out, missing)
        if bad.any():
            row, column = divmod(int(np.argmax(bad)), out.shape[1])
            raise DataError(f"{place(row, column)}: {why_refused(float(X[row, column]))}")
    return out


def refused(values: np.ndarray, missing: Missing) -> np.ndarray:
    """Where values is infinite, or NaN unless missing values are kept."""
    bad: np.ndarray = np.isinf(values) if missing == "keep" else ~np.isfinite(values)
    return bad


def why_refused(value: float) -> str:
    """The half of the sentence that says what is wrong with a number which float32 features cannot hold."""
    if np.isnan(value):
        return "the value is missing; fill it in, remove the row, or read with missing='keep'"
    if np.isinf(value):
        return "the value is infinite, which no sensor reads; remove the row or correct it"
    return f"{value!r} is too large for float32 (3.4e38 at most)"


def check_target(y: np.ndarray, path: Path, column: str) -> np.ndarray:
    """y, unless one of its numbers is missing or infinite or one of its words is empty."""
    if y.dtype.kind == "f":
        bad = ~np.isfinite(y)
        problem = "infinite" if bad.any() and np.isinf(y[bad][0]) else "missing"
    elif y.dtype.kind == "U":
        bad, problem = y == "", "missing"
    else:
        return y
    if bad.any():
        row = int(np.argmax(bad.reshape(len(y), -1).any(axis=1)))
        raise DataError(f"{path}, row {row + 1}, {column}: the target is {problem}; correct it or remove the row")
    return y
