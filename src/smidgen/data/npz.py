"""NPZ files → arrays, in the layout of the project's data sets.

Keys are `X` and `y`, or `X_train`, `y_train`, `X_test`, `y_test` where the set comes split. A matrix may be CSR under
four keys (`X_indptr`, `X_indices`, `X_data`, `X_shape`), the target of a multi-label set likewise. No pickles are read.

May import NumPy, SciPy (when called), `smidgen.errors` and `smidgen.data.table`.
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from smidgen.data.table import Missing, Table, as_float32, check_target
from smidgen.errors import DataError, UsageError

_CSR = ("indptr", "indices", "data", "shape")


def read_npz(
    data: bytes, path: Path, target: str | int | None, *, missing: Missing, numeric_target: bool, part: str | None
) -> Table:
    """Read an NPZ file as a table; one that comes split must say which part is wanted."""
    if target not in (None, "y"):
        raise DataError(f"{path}: the target of an NPZ file is its y, so leave the target out")
    X, y = _wanted(read_parts(data, path), part, path)
    if numeric_target and y is not None:
        y = _as_numbers(y, path)
    return Table(X=float32_features(X, missing, path), y=y, feature_names=(), target_name=None, path=path)


def _wanted(parts: Mapping[str, tuple[Any, Any]], part: str | None, path: Path) -> tuple[Any, Any]:
    if part not in (None, "train", "test", "all"):
        raise UsageError(f"part must be 'train', 'test' or 'all', not {part!r}")
    if "all" in parts:
        if part in ("train", "test"):
            raise DataError(f"{path} does not come split, so it has no {part} part; leave part out")
        return parts["all"]
    if part is None:
        raise DataError(f"{path} comes split: say part='train', 'test' or 'all', or keep the split with load_dataset")
    if part != "all":
        return parts[part]
    (X_train, y_train), (X_test, y_test) = parts["train"], parts["test"]
    return _stacked(X_train, X_test), None if y_train is None else _stacked(y_train, y_test)


def _stacked(first: Any, second: Any) -> Any:
    if isinstance(first, np.ndarray):
        return np.concatenate([first, second])
    from scipy.sparse import vstack

    return vstack([first, second], format="csr")


def float32_features(X: Any, missing: Missing, path: Path) -> Any:
    """X, dense or CSR, as float32, or an error that names the first row and column that cannot be."""
    if isinstance(X, np.ndarray):
        return as_float32(X, missing, lambda row, column: f"{path}, row {row + 1}, column {column + 1}")

    def place(_: int, k: int) -> str:
        return f"{path}, row {_row_of_entry(X, k)}, column {X.indices[k] + 1}"

    return type(X)((as_float32(X.data[None], missing, place)[0], X.indices, X.indptr), shape=X.shape)


def _row_of_entry(matrix: Any, k: int) -> int:
    """The row, counted from 1, of the k-th number that a CSR matrix stores."""
    return int(np.searchsorted(matrix.indptr, k, side="right"))


def read_parts(data: bytes, path: Path) -> dict[str, tuple[Any, Any]]:
    """X and y (None where there is none) under "all", or under "train" and "test"; checked, types as stored."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files if key.startswith(("X", "y"))}
            keys = ", ".join(sorted(archive.files)[:8])
    except Exception as error:  # a dozen types for damaged members, tokenize's and MemoryError among them
        if "allow_pickle" in str(error):
            raise DataError(f"{path} holds Python objects, which are never read; save plain arrays") from None
        raise DataError(f"{path} is a damaged NPZ file, fetch or save it again") from None
    if _has(arrays, "X_train") and _has(arrays, "X_test"):
        parts = {part: _part(arrays, f"_{part}", path) for part in ("train", "test")}
        _refuse_unlike(parts, path)
        return parts
    if not _has(arrays, "X"):
        raise DataError(
            f"{path} must hold X and y, or X_train, y_train, X_test and y_test, but holds {keys or 'nothing'}"
        )
    return {"all": _part(arrays, "", path)}


def _has(arrays: Mapping[str, np.ndarray], key: str) -> bool:
    return key in arrays or f"{key}_indptr" in arrays


def _refuse_unlike(parts: Mapping[str, tuple[Any, Any]], path: Path) -> None:
    """The two parts of a split hold the same features and the same kind of target."""
    (X_train, y_train), (X_test, y_test) = parts["train"], parts["test"]
    if X_train.shape[1] != X_test.shape[1] or isinstance(X_train, np.ndarray) != isinstance(X_test, np.ndarray):
        raise DataError(f"{path}: X_train and X_test must have the same columns and both be dense or both CSR")
    if (y_train is None) != (y_test is None):
        raise DataError(f"{path}: y_train and y_test must both be there, or neither")
    if y_train is not None and _form(y_train) != _form(y_test):
        raise DataError(f"{path}: y_train and y_test must have the same form")


def _form(y: Any) -> tuple[Any, ...]:
    """What both parts of a target have in common: columns, words or numbers, dense or CSR."""
    return y.shape[1:], y.dtype.kind == "U", isinstance(y, np.ndarray)


def _part(arrays: Mapping[str, np.ndarray], suffix: str, path: Path) -> tuple[Any, Any]:
    X = _matrix(arrays, f"X{suffix}", path)
    if X.ndim != 2 or 0 in X.shape:
        raise DataError(f"{path}: X{suffix} must have rows and columns, but its shape is {X.shape}")
    if X.dtype.kind not in "biuf":
        raise DataError(f"{path}: X{suffix} must hold real numbers, not {X.dtype}")
    if not _has(arrays, f"y{suffix}"):
        return X, None
    y = _matrix(arrays, f"y{suffix}", path)
    if y.ndim == 2 and y.shape[1] == 1 and isinstance(y, np.ndarray):
        y = y[:, 0]
    if y.ndim not in (1, 2) or y.shape[0] != X.shape[0]:
        raise DataError(
            f"{path}: y{suffix} has shape {y.shape}, which does not go with the {X.shape[0]} rows of X{suffix}"
        )
    if y.dtype.kind not in "biufU":
        raise DataError(f"{path}: y{suffix} must hold numbers or words, not {y.dtype}")
    if isinstance(y, np.ndarray):
        return X, check_target(y, path, f"y{suffix}")
    if y.dtype.kind == "f" and not np.isfinite(y.data).all():
        row = _row_of_entry(y, int(np.argmin(np.isfinite(y.data))))
        raise DataError(f"{path}, row {row}, y{suffix}: the target is not finite; correct it or remove the row")
    return X, y


def _matrix(arrays: Mapping[str, np.ndarray], key: str, path: Path) -> Any:
    """The array under this key, or the CSR matrix under its four, each entry of which is checked."""
    if key in arrays:
        return arrays[key]
    from scipy.sparse import csr_array

    try:
        indptr, indices, values, shape = (arrays[f"{key}_{each}"] for each in _CSR)
    except KeyError as error:
        raise DataError(f"{path}: {error.args[0]} is missing beside {key}_indptr") from None
    try:
        if indptr.dtype.kind not in "iu" or indices.dtype.kind not in "iu" or shape.shape != (2,):
            raise ValueError("indices and shape must be integers")
        wide = np.int32 if max(len(values), *shape.tolist()) < 2**31 else np.int64
        matrix = csr_array((values, indices.astype(wide), indptr.astype(wide)), shape=tuple(shape.tolist()))
        matrix.check_format(full_check=True)
        matrix.sort_indices()
        if not matrix.has_canonical_format:
            raise ValueError("an entry stands twice")
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"{path}: {key}_indptr, _indices, _data and _shape make no CSR matrix ({error})") from None
    return matrix


def _as_numbers(y: Any, path: Path) -> np.ndarray:
    if not isinstance(y, np.ndarray) or y.dtype.kind == "U":
        raise DataError(f"{path}: a numeric target was asked for, but y holds {'labels' if y.ndim == 2 else 'words'}")
    return y.astype(np.float64)
