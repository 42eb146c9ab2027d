import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from smidgen.errors import DataError, UsageError
from smidgen.models import plumbing
from smidgen.models.plumbing import feature_names, regression_rows, seed_of, training_rows


def rows_of(X, y, **options):
    return training_rows(BaseEstimator(), X, y, **options)


def values_of(X, y, **options):
    return regression_rows(BaseEstimator(), X, y, **options)


@pytest.mark.parametrize(
    ("X", "raw"),
    [
        (np.array([[0, 255]]), np.uint8),
        (np.array([[0.0, 255.0]]), np.uint8),
        (np.array([[True, False]]), np.uint8),
        (np.array([[-1, 127]]), np.int8),
        (np.array([[-1.0, 300.0]]), np.int16),
        (np.array([[70000, 0]]), np.float32),
        (np.array([[0.5, 1.0]]), np.float32),
        (sparse.csr_matrix(np.array([[0.0, 7.0]])), np.uint8),
    ],
)
def test_rows_become_what_a_sensor_gives(X, raw):
    dense = X.toarray() if sparse.issparse(X) else X
    X = sparse.vstack([X, X]) if sparse.issparse(X) else np.vstack([X, X])
    rows = rows_of(X, [0, 1])
    assert rows.X.dtype == raw
    np.testing.assert_array_equal(rows.X, np.vstack([dense, dense]))


def test_classes_are_encoded():
    rows = rows_of([[0], [1], [2]], ["b", "a", "b"])
    assert rows.classes.tolist() == ["a", "b"]
    assert rows.y.tolist() == [1, 0, 1]


def test_rows_of_weight_zero_leave_first():
    rows = rows_of([[0], [1], [999]], ["a", "b", "c"], sample_weight=[1, 2, 0])
    assert rows.classes.tolist() == ["a", "b"]
    assert rows.weight.tolist() == [1.0, 2.0]
    assert rows.X.dtype == np.uint8


def test_class_weights_multiply_sample_weights():
    y, sample_weight = ["a", "a", "b", "b"], [1.0, 2.0, 3.0, 0.0]
    by_hand = rows_of([[0], [1], [2], [3]], y, sample_weight=sample_weight, class_weight={"a": 10, "b": 1})
    assert by_hand.weight.tolist() == [10.0, 20.0, 3.0]
    balanced = rows_of([[0], [1], [2], [3]], y, sample_weight=[1.0, 2.0, 1.0, 0.0], class_weight="balanced")
    np.testing.assert_allclose(balanced.weight, [4 / 6, 8 / 6, 4 / 2])  # each class weighs 2 in all


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": ["a", "a"]}, "only one class, 'a'"),
        ({"y": ["a", "b"], "sample_weight": [1, 0]}, "only one class, 'a'"),
        ({"y": ["a", "b"], "class_weight": {"a": 1, "b": 0}}, "class_weight gives class 'b' 0"),
        ({"y": ["a", "b"], "X": [[0.0], [np.nan]]}, "NaN"),
        ({"y": ["a", "b"], "X": [[0.0], [np.inf]]}, "row 1, column 0 of X is inf: correct it"),
        (
            {"y": ["a", "b"], "X": sparse.csr_matrix([[0.0, 1.0, 0.0], [2.0, 0.0, -np.inf]])},
            "row 1, column 2 of X is -inf",
        ),
        (
            {"y": ["a", "b"], "X": pd.DataFrame({"speed": [0.5, 1], "load": [np.nan, 1]})},
            "row 0, column 'load' of X is NaN",
        ),
        ({"y": ["a", "b"], "X": [[0.5], [1e300]]}, r"row 1, column 0 of X holds 1e\+300, more than a float32"),
        ({"y": [0.3, 0.7]}, "Unknown label type"),
        ({"y": ["a", "b"], "sample_weight": [1, -1]}, "[Nn]egative"),
    ],
)
def test_what_is_refused(options, message):
    options = {"X": [[0], [1]]} | options
    with pytest.raises(ValueError, match=message):
        rows_of(**options)


def test_all_weights_zero():
    with pytest.raises(ValueError, match="zero"):
        rows_of([[0], [1]], [0, 1], sample_weight=[0, 0])


def test_a_named_column_is_named():
    table = pd.DataFrame({"time": [0.5, 1, 2], "pressure": [1, 1e200, 1]})
    with pytest.raises(DataError, match="row 1, column 'pressure' of X holds 1e"):
        rows_of(table, [0, 1, 0], sample_weight=[0, 1, 1])
    assert rows_of(table, [0, 1, 1], sample_weight=[1, 0, 1]).X.shape == (2, 2)


def test_feature_names():
    estimator = BaseEstimator()
    assert feature_names(estimator) is None
    estimator.feature_names_in_ = np.array(["a", "b"], object)
    assert feature_names(estimator) == ("a", "b")
    estimator.feature_names_in_ = np.array(["a", "a"], object)
    assert feature_names(estimator) is None


def test_seeds():
    assert seed_of(3) == seed_of(3) != seed_of(4)
    source = np.random.RandomState(0)
    assert seed_of(source) != seed_of(source)


def test_what_a_mask_hides_is_not_learned_from():
    X = np.ma.array([[0, 1], [2, 3]], mask=[[0, 0], [1, 0]])
    with pytest.raises(DataError, match="X is a masked array with masked entries"):
        rows_of(X, [0, 1])
    assert rows_of(np.ma.array(X.data, mask=False), [0, 1]).X.tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("unit", ["D", "ns"])
def test_dates_are_no_classes(unit):
    days = np.array(["2020-01-01", "2021-01-01"], f"datetime64[{unit}]")
    with pytest.raises(
        DataError, match=r"y holds datetime64\[.*, which no model file can hold: name the classes by words"
    ):
        rows_of([[0], [1]], days)
    assert rows_of([[0], [1]], days.astype(str)).classes[0].startswith("2020-01-01")


def test_what_no_memory_and_no_program_holds():
    wide = sparse.csr_matrix(([1.0, 2.0], ([0, 1], [0, 65_535])), shape=(2, 65_536))
    with pytest.raises(DataError, match="X has 65,536 features: a Program takes 65,535 at most"):
        rows_of(wide, [0, 1])
    long = sparse.csr_matrix((2**14 + 1, 2**14))
    with pytest.raises(DataError, match="X is sparse, with 16,385 x 16,384 numbers when made dense"):
        rows_of(long, np.arange(2**14 + 1) % 2)


# Labels.

INDICATOR = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 1]])


@pytest.mark.parametrize(
    "form",
    [
        np.ndarray.tolist,
        list,
        lambda y: y.astype(bool),
        lambda y: y.astype(float),
        lambda y: pd.DataFrame(y, columns=["a", "b", "c"]),
        sparse.csr_matrix,
        sparse.coo_array,
        lambda y: sparse.csc_array(y.astype(bool)),
    ],
)
def test_an_indicator_in_any_form(form):
    rows = rows_of([[5], [6], [7]], form(INDICATOR), multilabel=True, sample_weight=[1, 0, 2])
    assert rows.task == "multilabel"
    assert rows.y.dtype == np.uint8
    assert rows.y.tolist() == [[0, 1, 1], [1, 0, 1]]
    assert rows.classes.tolist() == [0, 1, 2]
    assert rows.n_outputs == 3
    assert (rows.X.tolist(), rows.weight.tolist()) == ([[5], [7]], [1.0, 2.0])


@pytest.mark.parametrize("y", [["b", "a", "b"], [["b"], ["a"], ["b"]], pd.Series(["b", "a", "b"])])
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_classes_stay_classes_where_labels_are_taken_too(y):
    rows = rows_of([[0], [1], [2]], y, multilabel=True)
    assert rows.task == "classification"
    assert (rows.y.tolist(), rows.classes.tolist(), rows.n_outputs) == ([1, 0, 1], ["a", "b"], 2)


def test_a_sparse_column_is_one_of_classes():
    with pytest.warns(UserWarning, match="column-vector y"):
        rows = rows_of([[0], [1], [2]], sparse.csr_matrix([[1], [0], [1]]), multilabel=True)
    assert (rows.task, rows.y.tolist(), rows.classes.tolist()) == ("classification", [1, 0, 1], [0, 1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0, 1], [2, 0]], "y has 2 columns, so it must be an indicator of labels, but row 1, column 0 of y holds 2"),
        ([[0, 1], [-1, 0]], "row 1, column 0 of y holds -1"),
        ([[0, 1], [0.5, 0]], "row 1, column 0 of y holds 0.5"),
        ([["a", "b"], ["b", "a"]], "row 0, column 0 of y holds a"),
        (sparse.csr_matrix(([1, 1, 1], ([0, 1, 1], [0, 1, 1])), shape=(2, 2)), "row 1, column 1 of y holds 2"),
        ([[0, 0], [0, 0]], "without a single label on"),
        (sparse.csr_matrix((2, 70_000)), "y has 70,000 labels: a Program gives 65,535 at most"),
        ([[0, 1], [np.nan, 0]], "NaN"),
    ],
)
def test_what_is_no_indicator(y, message):
    with pytest.raises(ValueError, match=message):
        rows_of([[0], [1]], y, multilabel=True)


def test_only_rows_that_count_must_hold_an_indicator():
    assert rows_of([[0], [1]], [[0, 1], [9, 0]], multilabel=True, sample_weight=[1, 0]).y.tolist() == [[0, 1]]
    with pytest.raises(DataError, match="row 1, column 0 of y holds 9"):
        rows_of([[0], [1]], [[0, 1], [9, 0]], multilabel=True, sample_weight=[0, 1])


def test_labels_that_no_memory_holds():
    y = sparse.csr_matrix((2**14 + 1, 2**14))
    with pytest.raises(DataError, match=r"y is sparse, with 16,385 x 16,384 numbers when made dense.*among the labels"):
        rows_of(np.zeros((2**14 + 1, 1)), y, multilabel=True)


def test_an_indicator_is_refused_where_only_classes_are_taken():
    with pytest.raises(ValueError, match="y should be a 1d array"):
        rows_of([[0], [1], [2]], INDICATOR)


def test_labels_have_no_class_weights():
    with pytest.raises(UsageError, match="class_weight weighs classes, and y is an indicator"):
        rows_of([[0], [1], [2]], INDICATOR, multilabel=True, class_weight="balanced")


# Values.


@pytest.mark.parametrize(
    ("y", "values", "is_1d"),
    [
        ([1, 2, 3], [[1], [2], [3]], True),
        ([True, False, True], [[1], [0], [1]], True),
        (np.array([0.5, 2, "3"], object), [[0.5], [2], [3]], True),
        (pd.Series([1.5, 2, 3]), [[1.5], [2], [3]], True),
        ([[1], [2], [3]], [[1], [2], [3]], False),
        (pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 0, 0]}), [[1, 0.5], [2, 0], [3, 0]], False),
        (np.array([3e38, -3e38, 0]), [[3e38], [-3e38], [0]], True),
    ],
)
def test_values_become_columns_of_float64(y, values, is_1d):
    rows = values_of([[5], [6], [7]], y)
    assert (rows.task, rows.classes, rows.y_is_1d, rows.n_outputs) == ("regression", None, is_1d, len(values[0]))
    assert rows.y.dtype == np.float64
    assert rows.y.tolist() == values
    assert values_of([[5], [6], [7]], y, sample_weight=[0, 2, 1]).y.tolist() == values[1:]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, np.nan], "row 1 of y is NaN, a missing value: fill it in"),
        ([[1, 2], [3, np.inf]], "row 1, column 1 of y is inf: correct it"),
        ([None, 1], "row 0 of y is NaN"),
        ([1, -1e300], r"row 1 of y holds -1e\+300, more than a float32 can hold"),
        ([1, 3.5e38], r"row 1 of y holds 3.5e\+38, more than a float32"),
        (["1", "2"], "y holds words: a regressor predicts numbers"),
        (np.array([1, "two"], object), "y holds words"),
        (np.array(["2020-01-01"] * 2, "datetime64[D]"), r"y holds datetime64\[D\]"),
        (np.array([1, 2j]), "Complex data not supported"),
        (np.ma.array([1, 2], mask=[0, 1]), "y is a masked array"),
        (sparse.csr_matrix([[1], [2]]), "y is a sparse matrix"),
        ([[[1]], [[2]]], "dim 3"),
        ([1, 2, 3], "inconsistent numbers of samples"),
    ],
)
def test_what_are_no_values(y, message):
    with pytest.raises(ValueError, match=message):
        values_of([[0], [1]], y)


def test_values_without_any_weight():
    with pytest.raises(ValueError, match="zero"):
        values_of([[0], [1]], [0, 1], sample_weight=[0, 0])


# Rows that stay as they are.


def test_nothing_is_copied_in_vain():
    X = np.arange(6, dtype=np.uint8).reshape(3, 2)
    assert np.shares_memory(rows_of(X, [0, 1, 1]).X, X)
    assert not np.shares_memory(rows_of(X, [0, 1, 1], sample_weight=[1, 0, 2]).X, X)


def large_and_empty(values=(7, 300, -2), n_rows=8600, n_columns=4000):
    rng = np.random.default_rng(0)
    places = rng.integers(0, n_rows, 5000), rng.integers(0, n_columns, 5000)
    return sparse.coo_matrix((rng.choice(np.array(values, float), 5000), places), (n_rows, n_columns)).tocsr()


def test_sparse_rows_stay_sparse_where_that_is_asked_for_and_worth_it():
    X = large_and_empty()
    y = np.arange(8600) // 2 % 2
    rows = rows_of(X, y, keep_sparse=True, sample_weight=np.arange(8600) % 2)
    assert isinstance(rows.X, sparse.csr_array)
    assert rows.X.dtype == np.int16
    assert abs(rows.X - X[1::2]).nnz == 0
    assert values_of(X, y, keep_sparse=True).X.nnz == X.nnz
    assert values_of(large_and_empty((0.5, 1.0)), y, keep_sparse=True).X.dtype == np.float32
    assert isinstance(rows_of(X[:100], y[:100], keep_sparse=True).X, np.ndarray)  # too small
    assert isinstance(rows_of(X[:, :10], y).X, np.ndarray)  # not asked for


def test_rows_full_of_numbers_are_made_dense(monkeypatch):
    monkeypatch.setattr(plumbing, "DENSE_ANYWAY", 0)
    X = np.eye(4) + np.eye(4)[::-1]  # half of it
    assert isinstance(rows_of(sparse.csr_matrix(X), [0, 1, 0, 1], keep_sparse=True).X, np.ndarray)
    assert sparse.issparse(rows_of(sparse.csr_matrix(np.eye(6)), [0, 1] * 3, keep_sparse=True).X)


def test_what_stands_twice_adds_up_and_the_callers_matrix_stays(monkeypatch):
    X = sparse.csr_matrix(([200.0, 100, 1], [5, 5, 0], [0, 2, 3]), shape=(2, 9))
    for floor in (0, 100):
        monkeypatch.setattr(plumbing, "DENSE_ANYWAY", floor)
        sensed = rows_of(X, [0, 1], keep_sparse=True).X
        assert sparse.issparse(sensed) == (floor == 0)
        assert (sensed.dtype, sensed[0, 5]) == (np.int16, 300)
    assert X.data.tolist() == [200, 100, 1]


def test_what_a_sparse_float32_cannot_hold(monkeypatch):
    monkeypatch.setattr(plumbing, "DENSE_ANYWAY", 0)
    X = sparse.csr_matrix(([1.5, 1e300], ([0, 2], [0, 5])), shape=(3, 9))
    with pytest.raises(DataError, match=r"row 2, column 5 of X holds 1e\+300"):
        rows_of(X, [0, 1, 1], keep_sparse=True, sample_weight=[1, 0, 1])


# More rows of what was seen before.


def test_some_of_the_classes():
    estimator = BaseEstimator()
    rows = training_rows(estimator, [[0, 1], [300, 1]], ["b", "b"], classes=["c", "a", "b"])
    assert (rows.y.tolist(), rows.classes.tolist(), rows.X.dtype) == ([1, 1], ["a", "b", "c"], np.int16)
    rows = training_rows(estimator, [[0, 1]], ["c"], classes=rows.classes, class_weight={"c": 3})
    assert (rows.y.tolist(), rows.weight.tolist()) == ([2], [3.0])
    with pytest.raises(ValueError, match="X has 1 features, but BaseEstimator is expecting 2"):
        training_rows(estimator, [[0]], ["c"], classes=rows.classes)
    assert training_rows(estimator, [[0], [1]], ["c", "d"]).X.shape == (2, 1)  # fit begins anew


def test_labels_of_which_few_are_on():
    estimator = BaseEstimator()
    rows = training_rows(estimator, [[0, 1]], [[0, 0, 0]], multilabel=True, classes=range(3))
    assert (rows.task, rows.y.tolist(), rows.classes.tolist()) == ("multilabel", [[0, 0, 0]], [0, 1, 2])
    with pytest.raises(DataError, match="y is an indicator of 2 labels, but there are 3 classes"):
        training_rows(estimator, [[0, 1]], [[0, 1]], multilabel=True, classes=range(3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": ["a", "b"]}, "y holds 'c', which is not among the classes"),
        ({"classes": ["c"]}, "classes names 1: a classifier needs at least two"),
        ({"classes": ["a", "c"], "class_weight": "balanced"}, "counts all rows, which partial_fit never sees"),
    ],
)
def test_classes_that_do_not_do(options, message):
    with pytest.raises(ValueError, match=message):
        rows_of([[0], [1]], ["c", "c"], **options)


def test_more_values():
    estimator = BaseEstimator()
    rows = regression_rows(estimator, [[0, 1]], [[1, 2]])
    assert regression_rows(estimator, [[5, 1]], [[3, 2]], n_outputs=rows.n_outputs).y.tolist() == [[3, 2]]
    with pytest.raises(DataError, match="y has 1 column, but the rows before had 2"):
        regression_rows(estimator, [[5, 1]], [3], n_outputs=2)
    with pytest.raises(ValueError, match="X has 1 features"):
        regression_rows(estimator, [[5]], [[3, 2]], n_outputs=2)
    assert regression_rows(estimator, [[5]], [3]).n_outputs == 1
