"""`read_table`: looks at a file's first bytes, then its name, and hands it to the reader of that format.

May import NumPy, `smidgen.errors` and the rest of `smidgen.data`; the readers import pyarrow, SciPy and scikit-learn.
"""

import gzip
import io
import os
import re
import zipfile
import zlib
from pathlib import Path
from typing import Literal

from smidgen.data.delimited import read_delimited
from smidgen.data.libsvm import read_libsvm
from smidgen.data.npz import read_npz
from smidgen.data.parquet import read_parquet
from smidgen.data.table import Missing, Table, nearest, shown
from smidgen.errors import DataError, UsageError

FORMATS = "CSV, TSV and other delimited text, LIBSVM text (each also as .gz), Parquet and NPZ are read"

_NUMBER = rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_LIBSVM_LINE = re.compile(
    rb"\s*" + _NUMBER + rb"(?:," + _NUMBER + rb")*(?:\s+qid:\d+)?(?:\s+\d+:" + _NUMBER + rb")+\s*(?:#.*)?"
)


def read_table(
    path: str | os.PathLike[str],
    target: str | int | None = None,
    *,
    delimiter: str | None = None,
    decimal: Literal[".", ","] | None = None,
    header: bool | None = None,
    missing: Missing = "error",
    numeric_target: bool = False,
    part: Literal["train", "test", "all"] | None = None,
) -> Table:
    r"""Read one file of rows: delimited text, Parquet, NPZ or LIBSVM text.

    The format is what the first bytes say (gzip, Parquet, NPZ); among texts, `.csv`, `.tsv` and `.libsvm`, `.svm`,
    `.svmlight` are taken at their word, and any other is LIBSVM if its first line looks like `label index:value …`.

    Parameters
    ----------
    path : path
        The file; delimited and LIBSVM text may be gzipped.
    target : str or int, optional
        The target's column, by its name or its index from 0 (-1 is the last); None reads features alone.
        In LIBSVM text and NPZ files the target has its own place and is always read; leave it None.
    delimiter, decimal : str, optional
        Of delimited text. By default found: the delimiter among comma, semicolon, tab and bar; the decimal comma
        wherever the delimiter is not itself a comma.
    header : bool, optional
        Whether the first row of delimited text names the columns. By default found: it does if it holds the target's
        name, or no number at all, or text above a column of numbers and no numbers but such as "0", "1", "2", all
        different. A target given by name needs a header.
    missing : "error" or "keep"
        What a missing feature is (an empty field, NA, NaN, null, ?): an error, or a NaN. A missing target is always
        an error.
    numeric_target : bool
        Read the target as float64 (regression). Otherwise a target in text is words, even "0" and "1" and "NA"
        (stripped of blanks around them), and typed files keep their type.
    part : "train", "test" or "all", optional
        Which rows of an NPZ file that comes split; required for such a file, useless for any other.

    Returns
    -------
    Table
        X, y, feature_names, target_name and path.

    Raises
    ------
    DataError
        One sentence naming the file and, where there is one, the column and the line (counted from 1 with the header).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "gestures.csv"
    >>> _ = path.write_text("ax;ay;gesture\n0,5;-1;wave\n1;2,25;rest\n")
    >>> table = read_table(path, target="gesture")
    >>> table
    Table(gestures.csv: 2 rows, 2 features, target 'gesture')
    >>> table.X.tolist(), table.y.tolist(), table.feature_names
    ([[0.5, -1.0], [1.0, 2.25]], ['wave', 'rest'], ('ax', 'ay'))
    """
    if missing not in ("error", "keep"):
        raise UsageError(f"missing must be 'error' or 'keep', not {missing!r}")
    path = Path(path)
    data = read_bytes(path)
    kind = _format(data, path)
    if kind == "npz":
        return read_npz(data, path, target, missing=missing, numeric_target=numeric_target, part=part)
    if part is not None:
        raise UsageError(f"part={part!r} is for NPZ files that come split, and {path} is not one")
    if kind == "parquet":
        return read_parquet(data, path, target, missing=missing, numeric_target=numeric_target)
    if kind == "libsvm":
        return read_libsvm(data, path, target, missing=missing, numeric_target=numeric_target)
    return read_delimited(
        data,
        path,
        target,
        delimiter=delimiter,
        decimal=decimal,
        header=header,
        missing=missing,
        numeric_target=numeric_target,
    )


def read_bytes(path: Path) -> bytes:
    """All of a file, out of its gzip and without its byte-order mark; an error where it cannot be read or is empty."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise DataError(_no_such_file(path)) from None
    except ValueError as error:  # a NUL in the name
        raise DataError(f"{shown(path)} cannot be read: {error}") from None
    except OSError as error:
        if path.is_dir():  # of which Windows says only "permission denied"
            raise DataError(f"{path} is a directory, give the file in it that holds the table") from None
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            raise DataError(f"{path} is a damaged gzip file, fetch or pack it again") from None
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data or data.isspace():
        raise DataError(f"{path} is empty")
    return data


def _no_such_file(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"there is no file {path}, nor a folder {folder}"
    near = nearest(path.name, [each.name for each in folder.iterdir()], n=1)
    return f"there is no file {path}" + (f", did you mean {shown(near[0])}" if near else "")


def _format(data: bytes, path: Path) -> Literal["npz", "parquet", "libsvm", "delimited"]:
    """Which reader a file is for; its first bytes are believed before its name."""
    if data.startswith(b"PK"):
        _refuse_other_zips(data, path)
        return "npz"
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith(b"\x93NUMPY"):
        raise DataError(f"{path} holds a single NumPy array, save X and y together with numpy.savez instead")
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in (".npz", ".parquet", ".pq"):
        raise DataError(f"{path} is damaged, or not the {'NPZ' if suffix == '.npz' else 'Parquet'} file its name says")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path} is not UTF-8 but UTF-16, save it again as UTF-8")
    if b"\0" in data:
        raise DataError(f"{path} is a binary file of no known format ({FORMATS})")
    if suffix in (".libsvm", ".svm", ".svmlight"):
        return "libsvm"
    if suffix in (".csv", ".tsv"):
        return "delimited"
    return "libsvm" if _LIBSVM_LINE.fullmatch(_first_line(data)) else "delimited"


def _refuse_other_zips(data: bytes, path: Path) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        raise DataError(f"{path} is a damaged zip or NPZ file, fetch or save it again") from None
    if "[Content_Types].xml" in names:
        raise DataError(f"{path} is an Excel workbook, save its sheet as CSV")
    if not names or not all(name.endswith(".npy") for name in names):
        raise DataError(f"{path} is a zip file but no NPZ file, unpack it first ({FORMATS})")


def _first_line(data: bytes) -> bytes:
    """The first line that is neither blank nor a comment, without its end."""
    for line in io.BytesIO(data):
        if line.strip() and not line.lstrip().startswith(b"#"):
            return line.strip()
    return b""
