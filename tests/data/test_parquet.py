"""Parquet: types as the file declares them, rows counted from 1 where text has lines."""

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from smidgen.data import read_table


@pytest.fixture
def save(tmp_path):
    def save(columns, names=None):
        path = tmp_path / "rows.parquet"
        table = pa.table(columns) if names is None else pa.Table.from_arrays(columns, names=names)
        parquet.write_table(table, path)
        return path

    return save


def test_numbers_of_every_type_become_float32(save):
    columns = {
        "i": pa.array([1, 2], pa.int64()),
        "u": pa.array([3, 255], pa.uint8()),
        "h": pa.array(np.array([0.5, 1.5], np.float16)),
        "d": pa.array([0.25, -1.0], pa.float64()),
        "b": pa.array([True, False]),
        "m": pa.array([Decimal("1.50"), Decimal("-2.25")]),
        "c": pa.array([7, 8]).dictionary_encode(),
    }
    table = read_table(save(columns))
    assert table.X.dtype == np.float32
    assert table.X.flags.c_contiguous
    assert table.X.tolist() == [[1, 3, 0.5, 0.25, 1, 1.5, 7], [2, 255, 1.5, -1, 0, -2.25, 8]]
    assert table.feature_names == tuple("iuhdbmc")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (pa.array(["001", "NA"]), np.array(["001", "NA"])),
        (pa.array(["x", "y"], pa.large_string()), np.array(["x", "y"])),
        (pa.array(["x", "y"]).dictionary_encode(), np.array(["x", "y"])),
        (pa.array([1, -2], pa.int16()), np.array([1, -2], np.int16)),
        (pa.array([True, False]), np.array([True, False])),
        (pa.array([0.5, 2.0], pa.float32()), np.array([0.5, 2.0])),
    ],
)
def test_the_target_keeps_its_type(save, target, expected):
    table = read_table(save({"a": [1.0, 2.0], "t": target, "b": [3, 4]}), "t")
    assert table.y.dtype == expected.dtype
    assert table.y.tolist() == expected.tolist()
    assert table.X.tolist() == [[1, 3], [2, 4]]
    assert (table.feature_names, table.target_name) == (("a", "b"), "t")


def test_a_numeric_target(save, refusal):
    assert read_table(save({"a": [1], "t": [2]}), "t", numeric_target=True).y.dtype == np.float64
    says = refusal(save({"a": [1], "t": ["2"]}), "t", numeric_target=True)
    assert says == "FILE, column 't': a numeric target was asked for, but the column holds words"


def test_the_target_by_index(save):
    assert read_table(save({"a": [1], "t": [2]}), -1).target_name == "t"


def test_the_index_of_pandas_is_no_feature(save):
    assert read_table(save({"a": [1.0], "__index_level_0__": [5]})).feature_names == ("a",)


def test_missing_values_are_kept_on_demand(save):
    X = read_table(save({"a": [1.0, None], "b": pa.nulls(2), "c": [float("nan"), 2.0]}), missing="keep").X
    np.testing.assert_array_equal(X, [[1, np.nan, np.nan], [np.nan, np.nan, 2]])


LACKS = "the value is missing; fill it in, remove the row, or read with missing='keep'"


@pytest.mark.parametrize(
    ("columns", "target", "says"),
    [
        ({"a": [1.0, None]}, None, f"FILE, row 2, column 'a': {LACKS}"),
        ({"a": [1, None]}, None, f"FILE, row 2, column 'a': {LACKS}"),
        ({"a": [1.0, float("nan")]}, None, f"FILE, row 2, column 'a': {LACKS}"),
        ({"a": [1.0, float("-inf")]}, None, "FILE, row 2, column 'a': the value is infinite, which no sensor reads; "),
        ({"a": [1.0, 1e39]}, None, "FILE, row 2, column 'a': 1e+39 is too large for float32 (3.4e38 at most)"),
        ({"a": [None, "x"]}, None, "FILE, row 2, column 'a': 'x' is text in a column of features"),
        ({"a": [datetime.date(2020, 1, 1)]}, None, "FILE, column 'a': a feature must be a number, not date32[day]"),
        ({"a": [[1, 2]]}, None, "FILE, column 'a': a feature must be a number, not list<"),
        ({"a": [1, 2], "t": ["x", None]}, "t", "FILE, row 2, column 't': the target is missing; "),
        ({"a": [1, 2], "t": ["x", ""]}, "t", "FILE, row 2, column 't': the target is missing; "),
        ({"a": [1, 2], "t": [1.0, float("inf")]}, "t", "FILE, row 2, column 't': the target is infinite; "),
        ({"a": [1, 2], "t": [1.0, float("nan")]}, "t", "FILE, row 2, column 't': the target is missing; "),
        (
            {"a": [1], "t": [datetime.date(2020, 1, 1)]},
            "t",
            "FILE, column 't': the target must be words or numbers, not ",
        ),
        ({"abc": [1], "z": [1]}, "abd", "FILE: no column is called 'abd', did you mean 'abc' (the columns are 'abc', "),
        ({"a": [1]}, "a", "FILE: column 'a' is the target and the only one, nothing is left to learn from"),
        ({"a": pa.array([], pa.float64())}, None, "FILE has 1 columns but no rows"),
        ({}, None, "FILE has no columns"),
    ],
)
def test_a_fault_is_named_by_file_column_and_row(save, refusal, columns, target, says):
    assert refusal(save(columns), target).startswith(says)


def test_words_that_are_no_utf_8_are_damage(save, refusal):
    words = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    assert refusal(save({"a": [1], "t": words}), "t") == "FILE is a damaged Parquet file, fetch or save it again"


def test_two_columns_of_one_name(save, refusal):
    path = save([pa.array([1]), pa.array([2])], ["a", "a"])
    assert refusal(path) == "FILE: columns 1 and 2 are both called 'a', rename one of them"
