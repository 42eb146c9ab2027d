"""Delimited text (CSV, TSV and the like) → `Table`.

Two readers of one meaning. pyarrow's is the fast one; it cannot say in which line a fault stands. `_read_carefully`,
on the standard library's csv module, is slow, is the definition, and writes the error sentences: it runs only where
pyarrow refused the file or handed over something that must be explained.

May import NumPy, pyarrow (when called), `smidgen.errors` and `smidgen.data.table`.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from smidgen.data.table import (
    FLOAT32_END,
    Missing,
    Table,
    column_label,
    refuse_bad_names,
    refused,
    shown,
    target_column,
    why_refused,
)
from smidgen.errors import DataError, UsageError

DELIMITERS = ("\t", ";", "|", ",")
MISSING_WORDS = frozenset({"", "NA", "N/A", "na", "n/a", "NaN", "nan", "NAN", "-nan", "null", "NULL", "Null", "?"})

_SAMPLE_ROWS, _SAMPLE_CELLS = 100, 20_000
_NUMBER = {
    point: re.compile(rf"[+-]?(\d+({re.escape(point)}\d*)?|{re.escape(point)}\d+)([eE][+-]?\d+)?", re.ASCII)
    for point in ".,"
}
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)


@dataclass(frozen=True)
class _Layout:
    """How a text is laid out: what separates cells, what the columns are, which of them is the target."""

    path: Path
    delimiter: str
    decimal: str
    names: tuple[str, ...]  # empty without a header
    width: int
    target: int | None
    block: int  # bytes that surely hold a row

    def place(self, line: int, column: int) -> str:
        return f"{self.path}, line {line}, {column_label(self.names, column)}"

    @property
    def features(self) -> list[int]:
        return [j for j in range(self.width) if j != self.target]


def read_delimited(
    data: bytes,
    path: Path,
    target: str | int | None,
    *,
    delimiter: str | None,
    decimal: str | None,
    header: bool | None,
    missing: Missing,
    numeric_target: bool,
) -> Table:
    """Read delimited UTF-8 text; the parameters are those of `read_table`."""
    if delimiter is not None and (
        not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n' or not delimiter.isascii()
    ):
        raise UsageError(f"the delimiter must be one ASCII character, not {delimiter!r}")
    if decimal not in (None, ".", ",") or (decimal is not None and decimal == delimiter):
        raise UsageError(f"the decimal sign must be '.' or ',' and differ from the delimiter, not be {decimal!r}")
    found = delimiter or _find_delimiter(data, path, [each for each in DELIMITERS if each != decimal])
    _refuse_other_encodings(data, path, found)
    rows = _sample(data, path, found)
    decimal_sign = decimal or _find_decimal([cells for _, cells in rows], found)
    layout = _lay_out(rows, path, target, delimiter=found, decimal=decimal_sign, header=header)
    X, y = _read(data, layout, decimal is None and found != ",", missing, numeric_target)
    return Table(
        X=X,
        y=y,
        feature_names=tuple(layout.names[j] for j in layout.features) if layout.names else (),
        target_name=layout.names[layout.target] if layout.names and layout.target is not None else None,
        path=path,
    )


def _read(
    data: bytes, layout: _Layout, may_turn: bool, missing: Missing, numeric_target: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """The numbers and the target: quickly where all is well, else carefully."""
    layouts = [layout]
    if may_turn:  # the sample showed no decimal sign, or the wrong one
        layouts.append(replace(layout, decimal="," if layout.decimal == "." else "."))
    for each in layouts:
        quick = _read_quickly(data, each, numeric_target)
        if quick is not None:
            X, y = quick
            if refused(X, missing).any() or (y is not None and _has_fault(y)):
                return _read_carefully(data, each, missing, numeric_target)
            return X, y
    return _read_carefully(data, layout, missing, numeric_target)


def _has_fault(y: np.ndarray) -> bool:
    """Whether a target of `_read_quickly` holds what `_read_carefully` will refuse."""
    return bool((y == "").any() if y.dtype.kind == "U" else not np.isfinite(y).all())


# --- what the text looks like


def _records(data: bytes, path: Path, delimiter: str, encoding: str = "utf-8") -> Iterator[tuple[int, list[str]]]:
    """Every record that is not an empty line, with the line of the file it begins in (counted from 1)."""
    lines = io.TextIOWrapper(io.BytesIO(data), encoding=encoding, errors="replace", newline="")
    reader = csv.reader(lines, delimiter=delimiter)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path}, line {line}: {error}; is a quote opened there and never closed?") from None


def _sample(data: bytes, path: Path, delimiter: str) -> list[tuple[int, list[str]]]:
    """The first records with their lines: a hundred, or fewer where they are very wide."""
    rows: list[tuple[int, list[str]]] = []
    n_cells = 0
    for line, cells in islice(_records(data, path, delimiter), _SAMPLE_ROWS):
        rows.append((line, cells))
        n_cells += len(cells)
        if n_cells > _SAMPLE_CELLS and len(rows) >= 5:
            break
    return rows


def _find_delimiter(data: bytes, path: Path, candidates: Sequence[str]) -> str:
    """The candidate that cuts the sample into rows of one width, most of whose cells are numbers; else the last."""
    best, best_score = candidates[-1], 0.0
    for delimiter in candidates:
        try:
            rows = [cells for _, cells in _sample(data, path, delimiter)]
        except DataError:  # a wide line that this one does not cut is too long for a cell
            continue
        width, count = Counter(len(row) for row in rows).most_common(1)[0]
        if width < 2:
            continue
        cells = [cell for row in rows[1:] or rows for cell in row]
        points = "." if delimiter == "," else ".,"
        numbers = sum(any(_is_number(cell, point) for point in points) for cell in cells)
        score = count / len(rows) * (0.1 + numbers / len(cells))
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _find_decimal(rows: list[list[str]], delimiter: str) -> str:
    """The decimal sign that more cells of the sample need; the comma only where it does not delimit."""
    if delimiter == ",":
        return "."
    need = Counter(
        point
        for row in rows
        for cell in row
        for point, other in (".,", ",.")
        if _is_number(cell, point) and not _is_number(cell, other)
    )
    return "," if need[","] > need["."] else "."


def _is_number(cell: str, point: str) -> bool:
    """Whether a cell may stand in a column of numbers: a number, or a word for a missing one."""
    return not np.isnan(_number(cell, point)) or cell.strip() in MISSING_WORDS


def _number(cell: str, point: str) -> float:
    """The cell's number, NaN where it holds none (be it missing or text)."""
    cell = cell.strip()
    if _NUMBER[point].fullmatch(cell):
        return float(cell.replace(point, "."))
    return float(cell) if _INFINITE.fullmatch(cell) else np.nan


def _lay_out(
    sample: list[tuple[int, list[str]]],
    path: Path,
    target: str | int | None,
    *,
    delimiter: str,
    decimal: str,
    header: bool | None,
) -> _Layout:
    """The columns' names, their number and the target among them, out of the first records; checked."""
    line, rows = sample[0][0], [cells for _, cells in sample]
    if header is None:
        header = _has_header(rows, decimal, target)
    names = tuple(_one_line(cell) for cell in rows[0]) if header else ()
    if header and len(rows) == 1:
        raise DataError(f"{path} has a header (line {line}) but no rows under it")
    where = f"{path}, line {line}" if header else str(path)
    width = len(rows[0])
    column = target_column(target, names, width, where)
    refuse_bad_names(names, where)
    if column is not None and width == 1:
        raise DataError(
            f"{where}: {column_label(names, 0)} is the target and the only one, so nothing is left to learn from "
            "(give the delimiter if it is none of , ; tab |)"
        )
    longest = max(sum(len(cell.encode()) + 3 for cell in row) for row in rows)
    return _Layout(path, delimiter, decimal, names, width, column, block=max(1 << 22, 8 * longest))


def _has_header(rows: list[list[str]], decimal: str, target: str | int | None) -> bool:
    """Whether the first row names the columns: it holds the target's name, or text above numbers, or no number.

    Names may be numbers, but whole ones that differ ("0", "1", …): a row with 0.5 in it is data, its text a fault.
    """
    first, rest = rows[0], rows[1:]
    if isinstance(target, str) and not _is_number(target, decimal):
        # by name: there must be a header, unless the first row has nothing that could be a name
        return target in (cell.strip() for cell in first) or not all(_is_number(cell, decimal) for cell in first)
    text = [j for j, cell in enumerate(first) if not _is_number(cell, decimal)]
    if len(text) == len(first):
        return True
    numbers = [cell.strip() for j, cell in enumerate(first) if j not in text and cell.strip() not in MISSING_WORDS]
    if len(set(numbers)) < len(numbers) or not all(number.isdecimal() for number in numbers):
        return False
    return any(len(rest) > 0 and all(len(row) <= j or _is_number(row[j], decimal) for row in rest) for j in text)


def _one_line(name: str) -> str:
    """A column's name without blanks around it; spreadsheets allow line breaks inside, which become blanks."""
    return " ".join(name.split()) if "\n" in name or "\r" in name else name.strip()


def _refuse_other_encodings(data: bytes, path: Path, delimiter: str) -> None:
    """Nothing but UTF-8; the error says where the first other byte stands."""
    if data.isascii():
        return
    try:
        data.decode()
    except UnicodeDecodeError:
        for line, cells in _records(data, path, delimiter, encoding="latin-1"):
            for j, cell in enumerate(cells):
                try:
                    cell.encode("latin-1").decode()
                except UnicodeDecodeError:
                    raise DataError(
                        f"{path}, line {line}, column {j + 1}: {shown(cell)} is not UTF-8 (Latin-1 perhaps), "
                        "save the file again as UTF-8"
                    ) from None
        raise DataError(f"{path} is not UTF-8, save it again as UTF-8") from None


# --- the fast reader


def _read_quickly(data: bytes, layout: _Layout, numeric_target: bool) -> tuple[np.ndarray, np.ndarray | None] | None:
    """The numbers and the target by pyarrow, or None where it refuses; missing, infinite and too large come as such."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    start = _end_of_header(data, layout) if layout.names else 0
    columns = [str(j) for j in range(layout.width)]
    types = dict.fromkeys(columns, pa.float64())
    if layout.target is not None and not numeric_target:
        types[str(layout.target)] = pa.string()
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(pa.py_buffer(data).slice(start)),
            read_options=arrow_csv.ReadOptions(column_names=columns, block_size=layout.block),
            parse_options=arrow_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=b'"' in data),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                null_values=sorted(MISSING_WORDS),
                strings_can_be_null=False,
                quoted_strings_can_be_null=True,
                decimal_point=layout.decimal,
                check_utf8=False,
            ),
        )
    except pa.ArrowException:
        return None
    X = np.empty((table.num_rows, len(layout.features)), dtype=np.float32)
    with np.errstate(over="ignore"):
        for k, j in enumerate(layout.features):
            X[:, k] = table.column(j).to_numpy()
    if layout.target is None:
        return X, None
    target = table.column(layout.target)
    return X, np.asarray(target.to_numpy()) if numeric_target else _words(target)


def _end_of_header(data: bytes, layout: _Layout) -> int:
    """The byte where the second record begins."""
    end = 0

    def lines() -> Iterator[str]:
        nonlocal end
        for line in io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline=""):
            end += len(line.encode())
            yield line

    next(cells for cells in csv.reader(lines(), delimiter=layout.delimiter) if cells)
    return end


def _words(column: Any) -> np.ndarray:
    """A pyarrow column of strings as words without blanks around them; empty where a word runs over several lines."""
    coded = column.combine_chunks().dictionary_encode()
    stripped = (word.strip() for word in coded.dictionary.to_pylist())
    words = np.array(["" if "\n" in word or "\r" in word else word for word in stripped], dtype=np.str_)
    return np.asarray(words[coded.indices.to_numpy()])


# --- the careful reader


def _read_carefully(
    data: bytes, layout: _Layout, missing: Missing, numeric_target: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """The same, cell by cell; the first fault in the order of the file becomes an error that says where it is."""
    X: list[np.ndarray] = []
    y: list[str | float] = []
    for line, cells in islice(_records(data, layout.path, layout.delimiter), bool(layout.names), None):
        _refuse_ragged(line, cells, layout)
        row = [cells[j] for j in layout.features]
        values = _plain_numbers(row, layout.decimal)
        if values is None:
            values = [_feature(line, j, cells[j], layout, missing) for j in layout.features]
        X.append(np.array(values, dtype=np.float32))
        if layout.target is not None:
            y.append(_target(line, cells[layout.target], layout, numeric_target))
    return np.array(X), np.array(y) if layout.target is not None else None


def _refuse_ragged(line: int, cells: Sequence[str], layout: _Layout) -> None:
    if len(cells) == layout.width:
        return
    given = f"{len(cells)} field" + ("s" * (len(cells) != 1))
    quoted = ", perhaps because a quote is not closed" if any("\n" in cell for cell in cells) else ""
    if len(cells) < layout.width:
        at, what = layout.place(line, len(cells)), f"nothing stands here, the line has {given}"
    else:
        at, what = f"{layout.path}, line {line}, column {layout.width + 1}", f"the line has {given}"
    raise DataError(f"{at}: {what} where the first has {layout.width}{quoted}")


def _plain_numbers(cells: list[str], point: str) -> list[float] | None:
    """The numbers of a row that plainly has no fault, ten times faster; None where each cell must be looked at."""
    text = "".join(cells)
    if not text.isascii() or "_" in text or (point == "," and "." in text):  # Python takes more than `_NUMBER` does
        return None
    try:
        values = [float(cell) for cell in (cells if point == "." else [cell.replace(",", ".") for cell in cells])]
    except ValueError:
        return None
    return values if all(abs(value) < FLOAT32_END for value in values) else None


def _feature(line: int, j: int, cell: str, layout: _Layout, missing: Missing) -> float:
    value = _number(cell, layout.decimal)
    if np.isnan(value):
        if cell.strip() not in MISSING_WORDS:
            raise DataError(f"{layout.place(line, j)}: {_not_a_number(cell, layout.decimal)}")
        if missing == "error":
            raise DataError(f"{layout.place(line, j)}: {why_refused(value)}")
    elif abs(value) >= FLOAT32_END:
        raise DataError(f"{layout.place(line, j)}: {shown(cell.strip())} is infinite or too large for float32")
    return value


def _target(line: int, cell: str, layout: _Layout, numeric_target: bool) -> str | float:
    assert layout.target is not None
    place = layout.place(line, layout.target)
    word = cell.strip()
    if not word or (numeric_target and word in MISSING_WORDS):
        raise DataError(f"{place}: the target is missing; fill it in or remove the row")
    if "\n" in word or "\r" in word:
        raise DataError(f"{place}: the target {shown(word)} runs over several lines, is a quote not closed?")
    if not numeric_target:
        return word
    value = _number(word, layout.decimal)
    if np.isnan(value):
        raise DataError(f"{place}: {_not_a_number(word, layout.decimal)}")
    if np.isinf(value):
        raise DataError(f"{place}: the target {shown(word)} is infinite or too large, correct it or remove the row")
    return value


def _not_a_number(cell: str, point: str) -> str:
    other = {".": ",", ",": "."}[point]
    hint = f" (the decimal sign is {point!r} here)" if _NUMBER[other].fullmatch(cell.strip()) else ""
    return f"{shown(cell)} is text in a column of numbers{hint}"
