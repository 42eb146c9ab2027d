"""Rows of each task: those held out, those merged, those made dense a batch at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator

from smidgen.models.plumbing import regression_rows, training_rows
from smidgen.models.rows import TrainingRows, dense_batch, merge_repeated, set_aside


def rows_of(task, X, y, **options):
    if task == "regression":
        return regression_rows(BaseEstimator(), X, y, **options)
    return training_rows(BaseEstimator(), X, y, multilabel=True, **options)


def made_up(y, seed=0):
    y = np.asarray(y)
    X = np.arange(len(y), dtype=np.float32)[:, None]
    return TrainingRows(X, y, np.ones(len(y)), np.unique(y))


def test_tasks():
    X, weight, names = np.zeros((3, 2), np.uint8), np.ones(3), np.array(["a", "b"])
    assert TrainingRows(X, np.array([0, 1, 0]), weight, names).task == "classification"
    assert TrainingRows(X, np.zeros((3, 2), np.uint8), weight, np.arange(2)).task == "multilabel"
    values = TrainingRows(X, np.zeros((3, 1)), weight, y_is_1d=False)
    assert (values.task, values.n_outputs, values.take(np.array([0])).y_is_1d) == ("regression", 1, False)


TARGETS = {
    "classification": lambda rng: rng.integers(0, 2, 80),
    "multilabel": lambda rng: rng.integers(0, 2, (80, 3)),
    "regression": lambda rng: rng.integers(-1, 2, (80, 2)) * 0.5,
}
every_task = pytest.mark.parametrize("task", TARGETS)


@every_task
def test_merging_makes_weights_repetition(task):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-1, 2, (80, 2)), TARGETS[task](rng)
    weight = rng.integers(0, 4, 80)
    merged = merge_repeated(rows_of(task, X, y, sample_weight=weight))
    repeated = rng.permutation(np.repeat(np.arange(80), weight))
    again = merge_repeated(rows_of(task, X[repeated].astype(float), y[repeated]))
    for name in ("X", "y", "weight"):
        assert getattr(merged, name).tobytes() == getattr(again, name).tobytes()
    given_rows = np.column_stack([X, y])
    rows = np.column_stack([merged.X, merged.y])
    assert len(np.unique(rows, axis=0)) == len(rows) == len(np.unique(given_rows[weight > 0], axis=0))
    for row, total in zip(rows, merged.weight, strict=True):
        assert total == weight[(given_rows == row).all(axis=1)].sum()


@every_task
def test_sparse_rows_are_merged_as_dense_ones(task):
    rng = np.random.default_rng(1)
    X, y, weight = rng.integers(-1, 2, (80, 2)), TARGETS[task](rng), rng.integers(1, 4, 80).astype(float)
    dense = rows_of(task, X, y, sample_weight=weight)
    with_zeros = sparse.csr_array(np.ones((80, 2), np.int8))
    with_zeros.data[:] = X.ravel()
    order = rng.permutation(80)
    without = sparse.csr_array(X[order].astype(np.int8))
    merged = merge_repeated(TrainingRows(with_zeros, dense.y, weight, dense.classes))
    again = merge_repeated(TrainingRows(without, dense.y[order], weight[order], dense.classes))
    for each in (merged, again):
        assert sparse.issparse(each.X)
    tables = [
        np.column_stack([dense_batch(each.X, slice(None)), each.y, each.weight])
        for each in (merged, again, merge_repeated(dense))
    ]
    np.testing.assert_array_equal(tables[0], tables[1])
    np.testing.assert_array_equal(np.unique(tables[0], axis=0), np.unique(tables[2], axis=0))
    assert len(tables[0]) == len(tables[2]) < 80


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


@pytest.mark.parametrize("task", ["multilabel", "regression"])
def test_labels_and_values_are_held_out_plainly(task):
    y = np.arange(20.0)[:, None] if task == "regression" else np.eye(20, dtype=np.uint8)
    X = np.arange(20, dtype=np.uint8)[:, None]
    rows = TrainingRows(X, y, np.ones(20), None if task == "regression" else np.arange(20), y_is_1d=False)
    learn, held = set_aside(rows, seed=3)
    assert (len(learn.y), len(held.y), learn.task, held.y_is_1d) == (15, 5, task, False)
    assert sorted([*learn.X.ravel(), *held.X.ravel()]) == list(range(20))
    np.testing.assert_array_equal(held.y, y[held.X.ravel()])
    assert set_aside(rows, seed=4)[1].X.tolist() != held.X.tolist() == set_aside(rows, seed=3)[1].X.tolist()
    few = rows.take(np.arange(3))
    learn, held = set_aside(few, seed=0)
    assert learn is held is few


def test_batches_of_dense_and_of_sparse_rows():
    X = np.array([[0, 7, 0], [0, 0, 0], [5, 0, 1], [0, 0, 2]], np.int16)
    for form in (np.array, sparse.csr_array):
        for index in (np.array([3, 0, 3]), slice(1, 3), np.array([], int), X[:, 0] > 0):
            batch = dense_batch(form(X), index)
            assert (type(batch), batch.dtype) == (np.ndarray, np.int16)
            np.testing.assert_array_equal(batch, X[index])
