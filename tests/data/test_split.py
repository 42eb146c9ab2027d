"""The one split rule and the one rule for missing values, against scikit-learn and by hand."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from smidgen.data import fill_missing, hold_out, hold_out_rows
from smidgen.errors import DataError

NAN = float("nan")


@pytest.mark.parametrize("y", [np.arange(30) % 3, np.array(["a", "b", "c"] * 10), np.arange(30) % 2 == 0])
def test_classes_are_stratified_as_scikit_learn_does(y):
    train, test = hold_out_rows(y)
    expected = train_test_split(np.arange(30), test_size=0.25, stratify=y, random_state=0)
    np.testing.assert_array_equal(train, expected[0])
    np.testing.assert_array_equal(test, expected[1])


@pytest.mark.parametrize(
    "y", [np.arange(30) / 7, np.zeros((30, 2), dtype=int), scipy.sparse.csr_array(np.eye(30)), np.arange(30)]
)
def test_numbers_labels_and_lonely_classes_are_drawn_plainly(y):
    train, test = hold_out_rows(y)
    expected = train_test_split(np.arange(30), test_size=0.25, random_state=0)
    np.testing.assert_array_equal(train, expected[0])
    np.testing.assert_array_equal(test, expected[1])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=40))
def test_a_quarter_leaves_and_no_row_is_lost_or_doubled(labels):
    y = np.array(labels)
    train, test = hold_out_rows(y)
    assert len(test) == -(-len(y) // 4)
    assert sorted([*train, *test]) == list(range(len(y)))


def test_a_class_of_one_row_is_trained_on():
    y = np.array(["x"] * 10 + ["y"] * 10 + ["only"])
    train, test = hold_out_rows(y)
    assert 20 in train
    assert sorted(np.unique(y[test], return_counts=True)[1]) == [3, 3]


def test_one_row_cannot_be_split():
    with pytest.raises(DataError, match="1 row cannot be split into training and test rows, give at least 2"):
        hold_out_rows(np.array([1]))


def test_hold_out_splits_and_fills():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)).astype(np.float32), np.arange(40) % 2
    X[::5, 1] = np.nan
    split = hold_out(X, y, ("a", "b", "c"), "toy")
    train, test = hold_out_rows(y)
    median = np.nanmedian(X[train, 1])
    np.testing.assert_array_equal(split.X_test, np.where(np.isnan(X[test]), median, X[test]))
    np.testing.assert_array_equal(split.X_train, np.where(np.isnan(X[train]), median, X[train]))
    np.testing.assert_array_equal(split.y_train, y[train])
    assert (split.feature_names, split.name) == (("a", "b", "c"), "toy")


@pytest.mark.parametrize("form", [np.array, scipy.sparse.csr_array])
def test_nan_becomes_the_training_median(form):
    train = np.array([[1, NAN, 0, 5], [3, NAN, 0, 6], [8, NAN, NAN, 7], [NAN, NAN, 9, 8]], dtype=np.float32)
    test = np.array([[NAN, NAN, NAN, NAN], [1, 2, 3, 4]], dtype=np.float32)
    filled = [M if isinstance(M, np.ndarray) else M.toarray() for M in fill_missing(form(train), form(test))]
    assert filled[0].tolist() == [[1, 0, 0, 5], [3, 0, 0, 6], [8, 0, 0, 7], [3, 0, 9, 8]]
    assert filled[1].tolist() == [[3, 0, 0, 6.5], [1, 2, 3, 4]]
    assert filled[0].dtype == np.float32


def test_what_is_whole_is_handed_back_as_it_is():
    whole, gaps = np.array([[1], [4]], dtype=np.uint8), np.array([[NAN]], dtype=np.float32)
    same, filled = fill_missing(whole, gaps)
    assert same is whole
    assert filled.tolist() == [[2.5]]


def test_the_rows_of_the_caller_are_not_written_to():
    X = np.array([[1.0], [NAN]])
    fill_missing(X)
    assert np.isnan(X[1, 0])
