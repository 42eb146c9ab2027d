"""NPZ files: the layout of the project's data sets, and every way not to keep to it."""

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse

from smidgen.data import read_table
from smidgen.errors import UsageError

X = np.array([[0, 1, 2], [3, 4, 5]], dtype=np.uint8)
Y = np.array([7, -1], dtype=np.int8)


@pytest.fixture
def save(tmp_path):
    def save(**arrays):
        path = tmp_path / "rows.npz"
        np.savez(path, **arrays)
        return path

    return save


def csr(key: str, matrix: np.ndarray) -> dict[str, np.ndarray]:
    """The four arrays under which the layout keeps a sparse matrix, in the project's own types."""
    m = scipy.sparse.csr_array(matrix)
    parts = {"indptr": m.indptr, "indices": m.indices.astype(np.uint16), "data": m.data, "shape": np.array(m.shape)}
    return {f"{key}_{part}": value for part, value in parts.items()}


def test_dense_rows(save):
    table = read_table(save(X=X, y=Y))
    assert table.X.dtype == np.float32
    assert table.X.flags.c_contiguous
    assert table.X.tolist() == X.tolist()
    assert (table.y.dtype, table.y.tolist()) == (np.int8, [7, -1])
    assert (table.feature_names, table.target_name) == ((), None)


def test_fortran_order_is_put_right(save):
    assert read_table(save(X=np.asfortranarray(X.astype(np.float64)))).X.flags.c_contiguous


def test_sparse_rows_and_labels(save):
    labels = np.array([[1, 0, 1, 0], [0, 0, 0, 1]], dtype=np.uint8)
    table = read_table(save(**csr("X", X), **csr("y", labels)))
    assert isinstance(table.X, scipy.sparse.csr_array)
    assert table.X.dtype == np.float32
    np.testing.assert_array_equal(table.X.toarray(), X)
    np.testing.assert_array_equal(table.y.toarray(), labels)


def test_the_columns_of_a_sparse_row_may_stand_in_any_order(save):
    values, order = np.array([1, 2, 3, 4, 5]), np.array([1, 0, 4, 3, 2])
    table = read_table(save(**changed(X_data=values[order], X_indices=np.array([2, 1, 2, 1, 0]))))
    np.testing.assert_array_equal(table.X.toarray(), X)
    assert table.X.has_sorted_indices


def test_without_a_target(save):
    assert read_table(save(X=X)).y is None


@pytest.mark.parametrize("y", [np.array(["001", "NA"]), np.array([True, False]), np.array([[1, 0], [1, 1]])])
def test_targets_stay_what_they_are(save, y):
    back = read_table(save(X=X, y=y), "y").y
    assert back.dtype == y.dtype
    np.testing.assert_array_equal(back, y)


def test_a_column_of_targets_is_one_target_a_row(save):
    assert read_table(save(X=X, y=Y[:, None])).y.shape == (2,)


def test_a_numeric_target(save, refusal):
    assert read_table(save(X=X, y=Y), numeric_target=True).y.dtype == np.float64
    says = refusal(save(X=X, y=np.array(["a", "b"])), numeric_target=True)
    assert says == "FILE: a numeric target was asked for, but y holds words"


def test_a_file_that_comes_split_must_say_which_part(save, refusal):
    path = save(X_train=X, y_train=Y, X_test=X[:1] + 9, y_test=Y[:1])
    assert refusal(path).startswith("FILE comes split: say part='train', 'test' or 'all'")
    assert read_table(path, part="train").X.tolist() == X.tolist()
    assert read_table(path, part="test").y.tolist() == [7]
    assert read_table(path, part="all").X.tolist() == [*X.tolist(), [9, 10, 11]]
    assert read_table(path, part="all").y.tolist() == [7, -1, 7]
    with pytest.raises(UsageError):
        read_table(path, part="valid")


def test_sparse_parts_are_joined(save):
    path = save(**csr("X_train", X), **csr("X_test", X[:1]), **csr("y_train", X), **csr("y_test", X[:1]))
    table = read_table(path, part="all")
    assert table.X.toarray().tolist() == [*X.tolist(), X[0].tolist()]
    assert table.y.shape == (3, 3)


def test_a_whole_file_has_no_parts(save, refusal):
    assert refusal(save(X=X, y=Y), part="test") == "FILE does not come split, so it has no test part; leave part out"


def with_(value: float) -> np.ndarray:
    """Three rows, one number of which (row 2, column 3) is this."""
    out = np.ones((3, 4))
    out[1, 2] = value
    return out


@pytest.mark.parametrize("form", [lambda M: {"X": M}, lambda M: csr("X", M)])
@pytest.mark.parametrize(
    ("value", "says"),
    [
        (np.inf, "the value is infinite, which no sensor reads; remove the row or correct it"),
        (1e39, "1e+39 is too large for float32 (3.4e38 at most)"),
        (np.nan, "the value is missing; fill it in, remove the row, or read with missing='keep'"),
    ],
)
def test_numbers_that_are_refused(save, refusal, form, value, says):
    assert refusal(save(**form(with_(value)))) == f"FILE, row 2, column 3: {says}"


@pytest.mark.parametrize("form", [lambda M: {"X": M}, lambda M: csr("X", M)])
def test_missing_values_are_kept_on_demand(save, form):
    X = read_table(save(**form(with_(np.nan))), missing="keep").X
    np.testing.assert_array_equal(X if isinstance(X, np.ndarray) else X.toarray(), with_(np.nan))


def changed(**arrays: np.ndarray) -> dict[str, np.ndarray]:
    return csr("X", X) | arrays


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"x": X, "labels": Y}, "FILE must hold X and y, or X_train, y_train, X_test and y_test, but holds labels, x"),
        ({"X_train": X}, "FILE must hold X and y, or X_train, y_train, X_test and y_test, but holds X_train"),
        ({"X": X[0]}, "FILE: X must have rows and columns, but its shape is (3,)"),
        ({"X": np.zeros((2, 3, 3))}, "FILE: X must have rows and columns, but its shape is (2, 3, 3)"),
        ({"X": X[:0]}, "FILE: X must have rows and columns, but its shape is (0, 3)"),
        ({"X": X.astype(complex)}, "FILE: X must hold real numbers, not complex128"),
        ({"X": X.astype(str)}, "FILE: X must hold real numbers, not <U3"),
        ({"X": X, "y": Y[:1]}, "FILE: y has shape (1,), which does not go with the 2 rows of X"),
        ({"X": X, "y": np.array([1.0, np.nan])}, "FILE, row 2, y: the target is missing; correct it or remove the row"),
        ({"X": X, "y": np.array([np.inf, 1])}, "FILE, row 1, y: the target is infinite; correct it or remove the row"),
        ({"X": X, "y": np.array(["", "a"])}, "FILE, row 1, y: the target is missing; correct it or remove the row"),
        ({"X": X, "y": np.array([b"a", b"b"])}, "FILE: y must hold numbers or words, not |S1"),
        ({"X": np.array([[None, 1]])}, "FILE holds Python objects, which are never read; save plain arrays"),
        (
            {"X_train": X, "X_test": X[:, :2]},
            "FILE: X_train and X_test must have the same columns and both be dense or",
        ),
        ({"X_train": X, "X_test": X, "y_train": Y}, "FILE: y_train and y_test must both be there, or neither"),
        ({"X_train": X, "X_test": X, "y_train": Y, "y_test": X}, "FILE: y_train and y_test must have the same form"),
        (
            {"X_train": X, "X_test": X, "y_train": Y, "y_test": Y.astype(str)},
            "FILE: y_train and y_test must have the same form",
        ),
        (
            {"X_train": X, "X_test": X, "y_train": X} | csr("y_test", X),
            "FILE: y_train and y_test must have the same form",
        ),
        (
            {"X": X} | csr("y", np.array([[1.0, 0], [0, np.nan]])),
            "FILE, row 2, y: the target is not finite; correct it or remove the row",
        ),
        ({"X_indptr": Y}, "FILE: X_indices is missing beside X_indptr"),
        (changed(X_indptr=np.array([0, 2, 99])), "FILE: X_indptr, _indices, _data and _shape make no CSR matrix ("),
        (changed(X_indptr=np.array([0, 4, 2])), "FILE: X_indptr, _indices, _data and _shape make no CSR matrix ("),
        (changed(X_indptr=np.array([0.0, 2, 5])), "FILE: X_indptr, _indices, _data and _shape make no CSR matrix ("),
        (
            changed(X_indices=np.array([1, 2, 0, 1, 3])),
            "FILE: X_indptr, _indices, _data and _shape make no CSR matrix (",
        ),
        (
            changed(X_indices=np.array([1, 1, 0, 1, 2])),
            "FILE: X_indptr, _indices, _data and _shape make no CSR matrix (",
        ),
        (changed(X_indices=np.array([1, 2, 0, 1])), "FILE: X_indptr, _indices, _data and _shape make no CSR matrix ("),
        (changed(X_shape=np.array([2, -3])), "FILE: X_indptr, _indices, _data and _shape make no CSR matrix ("),
        (changed(X_shape=np.array([2])), "FILE: X_indptr, _indices, _data and _shape make no CSR matrix ("),
        (changed(X_shape=np.array(["2", "3"])), "FILE: X_indptr, _indices, _data and _shape make no CSR matrix ("),
    ],
)
def test_files_that_do_not_keep_to_the_layout(save, refusal, arrays, says):
    assert refusal(save(**arrays)).startswith(says)


def test_the_target_has_its_own_place(save, refusal):
    assert refusal(save(X=X, y=Y), "label") == "FILE: the target of an NPZ file is its y, so leave the target out"


def test_damaged_members(tmp_path, refusal):
    whole = io.BytesIO()
    np.savez_compressed(whole, X=np.arange(3000.0).reshape(30, 100))
    content = bytearray(whole.getvalue())
    content[200:260] = bytes(60)
    path = tmp_path / "rows.npz"
    path.write_bytes(content)
    assert refusal(path) == "FILE is a damaged NPZ file, fetch or save it again"


def test_a_shape_that_no_memory_holds(tmp_path, refusal):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000000), }\n"
    member = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    path = tmp_path / "rows.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", member)
    assert refusal(path) == "FILE is a damaged NPZ file, fetch or save it again"
