"""LIBSVM text: scikit-learn's numbers, our sentences."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import dump_svmlight_file

from smidgen.data import read_table


def test_rows_come_as_csr_with_whole_labels(write):
    table = read_table(write("+1 1:0.5 3:2 # first\n\n-1 2:1\n", "rows.libsvm"))
    assert isinstance(table.X, scipy.sparse.csr_array)
    assert table.X.dtype == np.float32
    assert table.X.toarray().tolist() == [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]]
    assert (table.y.dtype, table.y.tolist()) == (np.int64, [1, -1])
    assert (table.feature_names, table.target_name) == ((), None)


def test_an_index_0_makes_all_indices_count_from_0(write):
    assert read_table(write("1 0:5 2:6\n2 1:7\n", "rows.svm")).X.toarray().tolist() == [[5, 0, 6], [0, 7, 0]]


@pytest.mark.parametrize(("text", "numeric"), [("1.5 1:1\n2 1:2\n", False), ("1 1:1\n2 1:2\n", True)])
def test_labels_that_are_numbers(write, text, numeric):
    assert read_table(write(text, "rows.svm"), numeric_target=numeric).y.dtype == np.float64


def test_what_scikit_learn_wrote_is_read_back(tmp_path):
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(40, 30, density=0.2, random_state=0, format="csr")
    X[0, 29] = 1  # the width is that of the last index
    y = rng.integers(-1, 3, 40)
    dump_svmlight_file(X, y, str(tmp_path / "rows.libsvm"), zero_based=False)
    table = read_table(tmp_path / "rows.libsvm")
    np.testing.assert_array_equal(table.X.toarray(), X.toarray().astype(np.float32))
    np.testing.assert_array_equal(table.y, y)


FAULTS = [
    ("walk 1:2", "the label 'walk' is not a number, as LIBSVM text wants it"),
    ("nan 1:2", "the label 'nan' is missing or infinite, correct it or remove the line"),
    ("inf 1:2", "the label 'inf' is missing or infinite, correct it or remove the line"),
    ("1,2 1:2", "the label '1,2' is several, keep a multi-label set as NPZ instead"),
    ("1 2", "'2' is not of the form index:value"),
    ("1 x:2", "'x:2' is not of the form index:value"),
    ("1 -1:2", "'-1:2' is not of the form index:value"),
    ("1 :2", "':2' is not of the form index:value"),
    ("1 99999999999:2", "the index of '99999999999:2' is too large, 2147483647 at most"),
    ("1 2147483648:2", "the index of '2147483648:2' is too large, 2147483647 at most"),
]
COLUMN_FAULTS = [
    ("1 3:1 2:1", "column 2: the indices of a line must rise, but this one follows 3"),
    ("1 2:1 2:1", "column 2: the indices of a line must rise, but this one follows 2"),
    ("1 2:x", "column 2: 'x' is not a number"),
    ("1 2:", "column 2: '' is not a number"),
    ("1 2:1:1", "column 2: '1:1' is not a number"),
    ("1 2:inf", "column 2: the value is infinite, which no sensor reads; remove the row or correct it"),
    ("1 2:1e39", "column 2: 1e+39 is too large for float32 (3.4e38 at most)"),
    ("1 2:nan", "column 2: the value is missing; fill it in, remove the row, or read with missing='keep'"),
]


@pytest.mark.parametrize(
    ("line", "says"),
    [(line, f": {says}") for line, says in FAULTS] + [(line, f", {says}") for line, says in COLUMN_FAULTS],
)
def test_a_fault_is_named_by_file_and_line(write, refusal, line, says):
    path = write(f"# a comment is a line\n1 1:1\n\n{line}\n2 1:5\n", "rows.libsvm")
    assert refusal(path) == f"FILE, line 4{says}"


def test_missing_values_are_kept_on_demand(write):
    table = read_table(write("1 1:nan 2:3\n", "rows.svm"), missing="keep")
    np.testing.assert_array_equal(table.X.toarray(), [[np.nan, 3.0]])


def test_query_ids_are_passed_over(write, refusal):
    assert read_table(write("1 qid:3 1:2\n", "rows.svm")).X.toarray().tolist() == [[2.0]]
    assert refusal(write("1 qid:3 1:x\n", "rows.svm")).startswith("FILE, line 1, column 1")


def test_comments_alone_are_no_rows(write, refusal):
    assert refusal(write("# nothing\n", "rows.svm")) == "FILE has no rows, comments alone"


def test_the_target_has_its_own_place(write, refusal):
    assert "so leave the target out" in refusal(write("1 1:2\n", "rows.svm"), "label")
