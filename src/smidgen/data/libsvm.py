"""LIBSVM text (`label index:value …`) → `Table`, by scikit-learn's reader.

That reader says what it disliked but not where, so a refused file is gone through once more, line by line.

May import NumPy, SciPy and scikit-learn (when called), `smidgen.errors` and `smidgen.data.table`.
"""

import io
from pathlib import Path

import numpy as np

from smidgen.data.table import FLOAT32_END, Missing, Table, refused, shown, why_refused
from smidgen.errors import DataError

_LARGEST_INDEX = 2**31 - 1  # scikit-learn counts columns in 32 bits


def read_libsvm(data: bytes, path: Path, target: str | int | None, *, missing: Missing, numeric_target: bool) -> Table:
    """Read LIBSVM text; the label is the target. Indices count from 1 unless one of them is 0.

    Labels that are all whole numbers come as int64, else as float64 (always with `numeric_target`).
    """
    if target is not None:
        raise DataError(f"{path}: the target of LIBSVM text is the first number of a line, so leave the target out")
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(io.BytesIO(data), dtype=np.float64)
    except (ValueError, OverflowError) as error:
        _explain(data, path, missing)
        raise DataError(f"{path} is not LIBSVM text: {error}") from None
    if X.shape[0] == 0:
        raise DataError(f"{path} has no rows, comments alone")
    with np.errstate(over="ignore"):
        X = csr_array(X.astype(np.float32))
    if refused(X.data, missing).any() or not np.isfinite(y).all():
        _explain(data, path, missing)
    if not numeric_target and np.array_equal(y, np.rint(y)) and np.abs(y).max() < 2**53:
        y = y.astype(np.int64)
    return Table(X=X, y=y, feature_names=(), target_name=None, path=path)


def _explain(data: bytes, path: Path, missing: Missing) -> None:
    """Raise for the first line that is no LIBSVM text, if there is one."""
    for number, line in enumerate(io.BytesIO(data), start=1):
        words = line.partition(b"#")[0].decode("utf-8", errors="replace").split()
        if not words:
            continue
        where = f"{path}, line {number}"
        _check_label(words[0], where)
        last = -1
        for word in words[1:]:
            if word.startswith("qid:"):
                continue
            last = _check_pair(word, last, missing, where)


def _check_label(word: str, where: str) -> None:
    if "," in word:
        raise DataError(f"{where}: the label {shown(word)} is several, keep a multi-label set as NPZ instead")
    value = _float(word)
    if value is None:
        raise DataError(f"{where}: the label {shown(word)} is not a number, as LIBSVM text wants it")
    if not np.isfinite(value):
        raise DataError(f"{where}: the label {shown(word)} is missing or infinite, correct it or remove the line")


def _check_pair(word: str, last: int, missing: Missing, where: str) -> int:
    """Check one `index:value`; returns its index, which must lie above the last one."""
    index, colon, text = word.partition(":")
    if not colon or not index.isdecimal():
        raise DataError(f"{where}: {shown(word)} is not of the form index:value")
    if int(index) > _LARGEST_INDEX:
        raise DataError(f"{where}: the index of {shown(word)} is too large, {_LARGEST_INDEX} at most")
    if int(index) <= last:
        raise DataError(f"{where}, column {index}: the indices of a line must rise, but this one follows {last}")
    value = _float(text)
    if value is None:
        raise DataError(f"{where}, column {index}: {shown(text)} is not a number")
    if abs(value) >= FLOAT32_END or (missing == "error" and np.isnan(value)):
        raise DataError(f"{where}, column {index}: {why_refused(value)}")
    return int(index)


def _float(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
