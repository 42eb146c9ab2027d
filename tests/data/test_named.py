"""Named sets: the bundled ones, a folder of one's own, and everything in `$SMIDGEN_DATA`."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.model_selection import train_test_split

from smidgen.data import list_datasets, load_dataset, read_table
from smidgen.errors import DataError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SMIDGEN_DATA", str(tmp_path))
    return tmp_path


def refusal(name: str) -> str:
    with pytest.raises(DataError) as caught:
        load_dataset(name)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def test_digits_are_bytes_split_by_the_rule():
    split = load_dataset("digits")
    bunch = load_digits()
    expected = train_test_split(bunch.data, bunch.target, test_size=0.25, stratify=bunch.target, random_state=0)
    assert split.X_train.dtype == np.uint8
    for ours, theirs in zip((split.X_train, split.X_test, split.y_train, split.y_test), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert split.feature_names == tuple(bunch.feature_names)
    assert repr(split) == "Split(digits: 1347 + 450 rows, 64 features of uint8)"


def test_iris_is_float32():
    split = load_dataset("iris")
    assert split.X_train.dtype == split.X_test.dtype == np.float32
    assert set(map(tuple, split.X_test)) <= set(map(tuple, load_iris().data.astype(np.float32)))
    assert np.bincount(split.y_test).tolist() == [13, 13, 12]


def test_diabetes_comes_in_raw_units_and_unstratified():
    split = load_dataset("diabetes")
    bunch = load_diabetes(scaled=False)
    expected = train_test_split(bunch.data, bunch.target, test_size=0.25, random_state=0)
    np.testing.assert_array_equal(split.X_test, expected[1].astype(np.float32))
    np.testing.assert_array_equal(split.y_test, expected[3])
    assert split.y_train.dtype == np.float64


@pytest.mark.parametrize(
    ("name", "rows", "columns"), [("wine", 178, 13), ("breast_cancer", 569, 30), ("linnerud", 20, 3)]
)
def test_the_other_bundled_sets(name, rows, columns):
    split = load_dataset(name)
    assert len(split.X_test) == -(-rows // 4)
    assert len(split.X_train) == rows - len(split.X_test)
    assert split.X_train.shape[1] == columns == len(split.feature_names)


def test_linnerud_has_three_outputs_and_whole_features():
    split = load_dataset("linnerud")
    assert split.y_train.shape == (15, 3)
    assert split.X_train.dtype == np.uint8  # 251 at most


@pytest.mark.parametrize(
    ("stored", "dtype"),
    [
        (np.array([[0.0], [255.0]]), np.uint8),
        (np.array([[-1.0], [127.0]]), np.int8),
        (np.array([[0.0], [256.0]], dtype=np.float32), np.int16),
        (np.array([[0.0], [1e6]]), np.int32),
        (np.array([[0.0], [1e12]]), np.float32),
        (np.array([[0.5], [1.0]]), np.float32),
        (np.array([[np.nan], [1.0]]), np.float32),
        (np.array([[True], [False]]), np.uint8),
        (np.array([[1], [2]], dtype=np.int32), np.int32),  # integers stay as they are stored
    ],
)
def test_types_of_a_set_of_ones_own(folder, stored, dtype):
    np.savez(folder / "mine.npz", X_train=stored, y_train=[0, 1], X_test=stored, y_test=[0, 1])
    split = load_dataset("mine")
    assert split.X_train.dtype == split.X_test.dtype == dtype
    np.testing.assert_array_equal(split.X_test, np.nan_to_num(stored, nan=1.0).astype(dtype))


def test_both_parts_decide_the_type_together(folder):
    np.savez(folder / "mine.npz", X_train=[[1.0]], y_train=[0], X_test=[[0.5]], y_test=[0])
    assert load_dataset("mine").X_train.dtype == np.float32


def test_the_official_split_is_kept_and_filled(folder):
    train = np.array([[1, np.nan], [2, 5.5], [9, 7.5]], dtype=np.float32)
    np.savez(folder / "mine.npz", X_train=train, y_train=["a", "b", "a"], X_test=train[:1], y_test=["b"])
    split = load_dataset("mine")
    assert split.X_train.tolist() == [[1, 6.5], [2, 5.5], [9, 7.5]]
    assert split.X_test.tolist() == [[1, 6.5]]
    assert (split.y_train.tolist(), split.y_test.tolist()) == (["a", "b", "a"], ["b"])


LABELS = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1], [1, 1, 1]], dtype=np.uint8)


def csr(key: str, matrix: np.ndarray) -> dict[str, np.ndarray]:
    """The keys under which the layout keeps a sparse matrix."""
    m = scipy.sparse.csr_array(matrix)
    return {f"{key}_{part}": getattr(m, part) for part in ("indptr", "indices", "data", "shape")}


def test_labels_come_as_a_sparse_indicator(folder):
    parts = {"X_train": LABELS * 3, "y_train": LABELS, "X_test": LABELS[:1], "y_test": LABELS[2:3]}
    np.savez(folder / "mine.npz", **{k: v for name, matrix in parts.items() for k, v in csr(name, matrix).items()})
    split = load_dataset("mine")
    for name, matrix in parts.items():
        found = getattr(split, name)
        assert isinstance(found, scipy.sparse.csr_array)
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found.toarray(), matrix)


def test_labels_are_split_by_the_rule(folder):
    numbers = np.arange(4)[:, None]
    np.savez(folder / "mine.npz", X=numbers, **csr("y", LABELS))
    np.savez(folder / "dense.npz", X=numbers, y=LABELS)
    for name in ("mine", "dense"):
        split = load_dataset(name)
        assert (split.X_train.shape, split.X_test.shape) == ((3, 1), (1, 1))
        for X, y in ((split.X_train, split.y_train), (split.X_test, split.y_test)):
            np.testing.assert_array_equal(y.toarray() if scipy.sparse.issparse(y) else y, LABELS[X[:, 0]])


@pytest.mark.skipif("SMIDGEN_DATA" not in os.environ, reason="SMIDGEN_DATA is not set")
def test_delicious_is_what_its_paper_says():
    """Table 3 of the ProtoNN paper: 12,920 and 3,185 rows, 500 features, 983 labels, 19 a row."""
    split = load_dataset("delicious")
    table = read_table(Path(os.environ["SMIDGEN_DATA"]) / "delicious.npz", part="test")
    assert (split.X_train.shape, split.y_train.shape) == ((12_920, 500), (12_920, 983))
    assert (split.X_test.shape, split.y_test.shape) == ((3_185, 500), (3_185, 983))
    for y in (split.y_train, split.y_test, table.y):
        assert scipy.sparse.issparse(y)
        assert set(y.data.tolist()) == {1}
    assert round(split.y_train.nnz / 12_920, 2) == 19.05
    assert (table.y != split.y_test).nnz == 0
    np.testing.assert_array_equal(table.X.toarray(), split.X_test.toarray())


def test_a_path_of_an_npz_file(tmp_path):
    np.savez(tmp_path / "mine.npz", X=np.arange(8)[:, None], y=[0, 1] * 4)
    split = load_dataset(str(tmp_path / "mine.npz"))
    assert (split.name, len(split.X_test)) == ("mine", 2)


def test_features_alone_are_no_set(folder):
    np.savez(folder / "mine.npz", X=np.ones((4, 2)))
    assert "mine.npz has no y, so there is nothing to learn" in refusal("mine")


def test_infinite_features_are_refused(folder):
    np.savez(folder / "mine.npz", X=np.array([[1.5], [np.inf]]), y=[0, 1])
    assert "mine.npz, row 2, column 1: the value is infinite" in refusal("mine")


def test_the_list_of_names(folder):
    np.savez(folder / "mine.npz", X=[[1]], y=[1])
    assert list_datasets() == ("breast_cancer", "diabetes", "digits", "iris", "linnerud", "mine", "wine")


def test_a_set_that_is_not_there_says_where_to_put_it(folder):
    np.savez(folder / "letter.npz", X=[[1]], y=[1])
    says = f"there is no data set 'leter': put leter.npz into the folder that SMIDGEN_DATA names, {folder}"
    assert refusal("leter") == f"{says}; near it: letter"


def test_without_the_variable_it_says_to_set_it(monkeypatch):
    monkeypatch.delenv("SMIDGEN_DATA", raising=False)
    assert refusal("Digit") == (
        "there is no data set 'Digit': put Digit.npz into a folder and set the variable SMIDGEN_DATA to it "
        "(bundled: breast_cancer, diabetes, digits, iris, linnerud, wine; near it: digits)"
    )


def test_a_variable_that_names_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SMIDGEN_DATA", str(tmp_path / "gone"))
    assert f"SMIDGEN_DATA names {tmp_path / 'gone'}, which is not a folder" in refusal("letter")


def test_a_name_is_no_way_out_of_the_folder(folder, monkeypatch):
    (folder / "sets").mkdir()
    np.savez(folder / "secret.npz", X=[[1], [2]], y=[1, 2])
    monkeypatch.setenv("SMIDGEN_DATA", str(folder / "sets"))
    assert refusal("../secret").startswith("there is no data set '../secret'")


def rows_of(archive: np.lib.npyio.NpzFile, key: str) -> int:
    """How many rows a matrix of a file has, dense or CSR."""
    return archive[key].shape[0] if key in archive else int(archive[f"{key}_shape"][0])


@pytest.mark.skipif("SMIDGEN_DATA" not in os.environ, reason="SMIDGEN_DATA is not set")
def test_every_set_of_the_folder_loads():
    files = sorted(Path(os.environ["SMIDGEN_DATA"]).glob("*.npz"))
    assert files
    for file in files:
        split = load_dataset(file.stem)
        n_train, n_test = split.X_train.shape[0], split.X_test.shape[0]
        with np.load(file) as archive:
            if "X_train" in archive or "X_train_shape" in archive:
                assert (n_train, n_test) == (rows_of(archive, "X_train"), rows_of(archive, "X_test")), file
            else:
                assert n_test == -(-rows_of(archive, "X") // 4), file
                assert n_train + n_test == rows_of(archive, "X"), file
        assert (split.y_train.shape[0], split.y_test.shape[0]) == (n_train, n_test), file
        assert split.X_train.shape[1] == split.X_test.shape[1] > 0, file
        for X in (split.X_train, split.X_test):
            assert X.dtype in (np.uint8, np.int8, np.int16, np.int32, np.float32), file
            values = X.data if scipy.sparse.issparse(X) else X
            assert values.dtype.kind in "iu" or np.isfinite(values).all(), file
