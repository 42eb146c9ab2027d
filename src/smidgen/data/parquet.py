"""Parquet → `Table`, by pyarrow.

May import NumPy, pyarrow (when called), `smidgen.errors` and `smidgen.data.table`.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from smidgen.data.table import (
    Missing,
    Table,
    as_float32,
    check_target,
    column_label,
    refuse_bad_names,
    shown,
    target_column,
)
from smidgen.errors import DataError

_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(data: bytes, path: Path, target: str | int | None, *, missing: Missing, numeric_target: bool) -> Table:
    """Read a Parquet file; rows are counted from 1 in errors. The index that pandas may have added is left out."""
    table = _arrow_table(data, path)
    kept = [j for j, name in enumerate(table.column_names) if not _PANDAS_INDEX.fullmatch(name)]
    names = [table.column_names[j] for j in kept]
    columns = [table.column(j) for j in kept]
    refuse_bad_names(names, str(path))
    if not names or table.num_rows == 0:
        raise DataError(f"{path} has {len(names)} columns but no rows" if names else f"{path} has no columns")
    at = target_column(target, names, len(names), str(path))
    features = [j for j in range(len(names)) if j != at]
    if not features:
        raise DataError(
            f"{path}: {column_label(names, 0)} is the target and the only one, nothing is left to learn from"
        )
    X = np.empty((table.num_rows, len(features)), dtype=np.float32)
    for k, j in enumerate(features):
        X[:, k] = _feature(columns[j], missing, path, column_label(names, j))
    return Table(
        X=X,
        y=None if at is None else _target(columns[at], path, column_label(names, at), numeric_target),
        feature_names=tuple(names[j] for j in features),
        target_name=None if at is None else names[at],
        path=path,
    )


def _arrow_table(data: bytes, path: Path) -> Any:
    """The file as a pyarrow Table whose offsets, codes and words are all sound."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(pa.BufferReader(pa.py_buffer(data))).read()
        table.validate(full=True)
    except Exception:  # Arrow's own, OSError, UnicodeDecodeError, MemoryError, …
        raise DataError(f"{path} is a damaged Parquet file, fetch or save it again") from None
    return table


def _feature(column: Any, missing: Missing, path: Path, label: str) -> np.ndarray:
    numbers = _numbers(column, path, label)
    (narrow,) = as_float32(numbers[None], missing, lambda _, row: f"{path}, row {row + 1}, {label}")
    return np.asarray(narrow)


def _numbers(column: Any, path: Path, label: str, wanted: str = "a feature must be a number") -> np.ndarray:
    """A column of numbers or truth values as float64, NaN where it is null."""
    import pyarrow as pa

    column = _decoded(column)
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        row = next((k for k, value in enumerate(column) if value.is_valid), 0)
        raise DataError(f"{path}, row {row + 1}, {label}: {shown(column[row])} is text in a column of features")
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif not (
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or kind == pa.null()
    ):
        raise DataError(f"{path}, {label}: {wanted}, not {kind}")
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy())


def _target(column: Any, path: Path, label: str, numeric: bool) -> np.ndarray:
    """The target as the file types it: words, integers, truth values or numbers; float64 on demand."""
    import pyarrow as pa

    column = _decoded(column)
    kind = column.type
    if column.null_count:
        row = next(k for k, value in enumerate(column) if not value.is_valid)
        raise DataError(f"{path}, row {row + 1}, {label}: the target is missing; fill it in or remove the row")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        words = np.array(column.to_pylist(), dtype=np.str_)
        if numeric:
            raise DataError(f"{path}, {label}: a numeric target was asked for, but the column holds words")
        return check_target(words, path, label)
    if not numeric and (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return np.asarray(column.to_numpy())
    return check_target(_numbers(column, path, label, "the target must be words or numbers"), path, label)


def _decoded(column: Any) -> Any:
    """A column without its dictionary (pandas' categories)."""
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
