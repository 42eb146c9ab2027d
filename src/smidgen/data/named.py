"""Data sets by name: those that scikit-learn bundles, and every NAME.npz in the folder that `$SMIDGEN_DATA` names.

May import NumPy, scikit-learn (when called), `smidgen.errors` and the rest of `smidgen.data`.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from smidgen.data.npz import float32_features, read_parts
from smidgen.data.read import read_bytes
from smidgen.data.split import Split, fill_missing, hold_out
from smidgen.data.table import nearest, shown
from smidgen.errors import DataError

BUNDLED = ("breast_cancer", "diabetes", "digits", "iris", "linnerud", "wine")
_VARIABLE = "SMIDGEN_DATA"


def list_datasets() -> tuple[str, ...]:
    """The names that `load_dataset` knows here and now, sorted.

    Examples
    --------
    >>> "digits" in list_datasets()
    True
    """
    folder = _folder()
    found = (file.stem for file in folder.glob("*.npz")) if folder else ()
    return tuple(sorted({*BUNDLED, *found}))


def load_dataset(name: str) -> Split:
    """A data set, split into training and test rows.

    An official split is kept; a set without one is split by `hold_out`. NaN becomes the training median. The features
    keep their stored integer type; whole numbers stored as floats come in the smallest of uint8, int8, int16 and int32
    that holds all rows, truth values as uint8, everything else as float32: raw sensor numbers stay raw. Targets keep
    the numbers of the source; floats are numbers to predict, anything else is classes or labels.

    Parameters
    ----------
    name : str
        One of scikit-learn's `digits`, `iris`, `wine`, `breast_cancer` (classes), `diabetes` (in its raw units),
        `linnerud` (regression); or NAME for `NAME.npz` in the folder that the variable SMIDGEN_DATA names.
        A bundled set comes before a file of the same name. A name ending in `.npz` is the path of such a file.

    Returns
    -------
    Split
        X_train, y_train, X_test, y_test, feature_names and name.

    Examples
    --------
    >>> split = load_dataset("digits")
    >>> split
    Split(digits: 1347 + 450 rows, 64 features of uint8)
    """
    if name in BUNDLED:
        return _bundled(name)
    if name.lower().endswith(".npz"):
        return _from_file(Path(name), Path(name).stem)
    folder = _folder()
    # no name is a path: "../x" is looked for among the names and not found
    if folder is None or name not in list_datasets():
        raise DataError(_not_there(name, folder))
    return _from_file(folder / f"{name}.npz", name)


def _folder() -> Path | None:
    """The folder of the user's sets, None where the variable is not set."""
    value = os.environ.get(_VARIABLE)
    return Path(value) if value else None


def _not_there(name: str, folder: Path | None) -> str:
    near = nearest(name, list_datasets())
    guess = f"; near it: {', '.join(near)}" if near else ""
    if folder is None:
        return (
            f"there is no data set {shown(name)}: put {name}.npz into a folder and set the variable {_VARIABLE} to it "
            f"(bundled: {', '.join(BUNDLED)}{guess})"
        )
    if not folder.is_dir():
        return f"there is no data set {shown(name)}, and {_VARIABLE} names {folder}, which is not a folder{guess}"
    return f"there is no data set {shown(name)}: put {name}.npz into the folder that {_VARIABLE} names, {folder}{guess}"


def _bundled(name: str) -> Split:
    from sklearn import datasets

    raw = {"scaled": False} if name == "diabetes" else {}
    bunch = getattr(datasets, f"load_{name}")(**raw)
    (X,) = _plain_types([bunch.data], Path(name))
    return hold_out(X, bunch.target, tuple(str(each) for each in bunch.feature_names), name)


def _from_file(path: Path, name: str) -> Split:
    parts = read_parts(read_bytes(path), path)
    if any(y is None for _, y in parts.values()):
        raise DataError(f"{path} has no y, so there is nothing to learn; read it with read_table")
    matrices = _plain_types([X for X, _ in parts.values()], path)
    if "all" in parts:
        return hold_out(matrices[0], parts["all"][1], name=name)
    X_train, X_test = fill_missing(*matrices)
    return Split(X_train, parts["train"][1], X_test, parts["test"][1], name=name)


def _plain_types(parts: list[Any], path: Path) -> list[Any]:
    """The parts of one X in the type that `load_dataset` promises, the same for all of them."""
    kinds = {X.dtype.kind for X in parts}
    if kinds <= set("iu"):
        return parts
    if kinds == {"b"}:
        return [X.astype(np.uint8) for X in parts]
    whole = _smallest_integers([X if isinstance(X, np.ndarray) else X.data for X in parts])
    return [X.astype(whole) if whole else float32_features(X, "keep", path) for X in parts]


def _smallest_integers(parts: list[np.ndarray]) -> type[np.integer] | None:
    """The smallest integer type that holds every number of the parts, None where one is no whole number."""
    filled = [part for part in parts if part.size]
    if not all(np.isfinite(part).all() and np.array_equal(part, np.rint(part)) for part in filled):
        return None
    low = min((float(part.min()) for part in filled), default=0.0)
    high = max((float(part.max()) for part in filled), default=0.0)
    for each in (np.uint8, np.int8, np.int16, np.int32):
        if np.iinfo(each).min <= low and high <= np.iinfo(each).max:
            return each
    return None
