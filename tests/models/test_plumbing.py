import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator

from smidgen.errors import DataError
from smidgen.models.plumbing import feature_names, seed_of, training_rows
from smidgen.models.rows import TrainingRows, merge_repeated, set_aside


def rows_of(X, y, **options):
    return training_rows(BaseEstimator(), X, y, **options)


def made_up(y, seed=0):
    y = np.asarray(y)
    X = np.arange(len(y), dtype=np.float32)[:, None]
    return TrainingRows(X, y, np.ones(len(y)), np.unique(y))


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


def test_merging_makes_weights_repetition():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-1, 2, (80, 2)), rng.integers(0, 2, 80)
    weight = rng.integers(0, 4, 80)
    merged = merge_repeated(rows_of(X, y, sample_weight=weight))
    repeated = rng.permutation(np.repeat(np.arange(80), weight))
    again = merge_repeated(rows_of(X[repeated].astype(float), y[repeated]))
    for name in ("X", "y", "weight"):
        assert getattr(merged, name).tobytes() == getattr(again, name).tobytes()
    keys = list(zip(map(tuple, merged.X.tolist()), merged.y.tolist(), strict=True))
    assert len(set(keys)) == len(keys) == len({(*x, c) for x, c, w in zip(X.tolist(), y, weight, strict=True) if w})
    assert merged.weight.sum() == weight.sum()


@settings(max_examples=50, deadline=None)
@given(sizes=st.lists(st.integers(1, 30), min_size=2, max_size=5), seed=st.integers(0, 9))
def test_hold_out(sizes, seed):
    rows = made_up(np.repeat(np.arange(len(sizes)), sizes))
    learn, held = set_aside(rows, seed)
    again, _ = set_aside(rows, seed)
    np.testing.assert_array_equal(learn.X, again.X)
    assert set(learn.y) == set(range(len(sizes)))
    if max(sizes) < 4:
        assert held is learn is rows
        return
    assert not set(learn.X.ravel()) & set(held.X.ravel())
    assert len(learn.y) + len(held.y) == sum(sizes)
    assert np.bincount(held.y, minlength=len(sizes)).tolist() == [size // 4 for size in sizes]


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
