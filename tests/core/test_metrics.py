"""Against loops over rows and labels, and scikit-learn's own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import f1_score

import smidgen
from smidgen.core.metrics import micro_f1, precision_at_k
from smidgen.errors import UsageError

FORMS = [np.array, np.ndarray.tolist, sparse.csr_matrix, sparse.csc_array, lambda Y: Y.astype(bool), np.float32]


@st.composite
def labelled(draw):
    seed, n, n_labels = draw(st.integers(0, 999)), draw(st.integers(1, 9)), draw(st.integers(1, 6))
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, n_labels)) < rng.choice([0.0, 0.3, 0.8])).astype(np.uint8)
    scores = rng.integers(-2, 3, (n, n_labels)).astype(rng.choice(["int64", "int8", "float32", "float64"]))
    return Y, scores


def by_hand(Y, scores, k):
    shares = []
    for labels, row in zip(Y.tolist(), scores.tolist(), strict=True):
        ranked = sorted(range(len(row)), key=lambda label: (-row[label], label))
        shares.append(sum(labels[label] for label in ranked[:k]) / k)
    return np.mean(shares)


@settings(max_examples=80, deadline=None)
@given(labelled(), st.sampled_from(FORMS), st.data())
def test_precision_at_k_is_the_mean_of_hits_over_k(case, form, data):
    Y, scores = case
    k = data.draw(st.integers(1, Y.shape[1]))
    assert precision_at_k(form(Y), scores, k) == pytest.approx(by_hand(Y, scores, k))


@settings(max_examples=80, deadline=None)
@given(labelled(), st.sampled_from(FORMS))
def test_micro_f1_is_scikit_learns(case, form):
    Y, scores = case
    predicted = (scores > 0).astype(int)
    expected = f1_score(Y.ravel(), predicted.ravel(), zero_division=0)  # one label a row, hence binary
    assert micro_f1(form(Y), predicted) == micro_f1(Y, form(predicted)) == pytest.approx(expected)


def test_rows_without_labels_count_as_nought():
    assert precision_at_k([[0, 0], [1, 0]], [[1, 0], [1, 0]], 1) == 0.5
    assert micro_f1([[0, 0]], [[0, 0]]) == 0.0


def test_ties_go_to_the_lowest_index():
    assert precision_at_k([[1, 0, 0, 0]], np.zeros((1, 4)), 1) == 1.0
    assert precision_at_k([[0, 0, 0, 1]], np.zeros((1, 4)), 3) == 0.0


def test_unsigned_and_boolean_scores():
    assert precision_at_k([[0, 1, 0]], np.array([[0, 200, 3]], np.uint8), 1) == 1.0
    assert precision_at_k([[0, 1, 0]], np.array([[False, True, False]]), 1) == 1.0


def test_the_least_integer_is_the_lowest_score():
    assert precision_at_k([[0, 1]], np.array([[-128, 5]], np.int8), 1) == 1.0


def test_what_a_sparse_truth_stores_is_no_matter():
    with_zeros = sparse.csr_matrix(([1, 1, 0], ([0, 0, 0], [0, 1, 2])), shape=(1, 3))
    assert precision_at_k(with_zeros, [[3, 2, 1]], 3) == pytest.approx(2 / 3)
    twice = sparse.csr_matrix(([1, 1], [0, 0], [0, 2]), shape=(1, 3))
    with pytest.raises(UsageError, match="1 where a label is on"):
        precision_at_k(twice, [[3, 2, 1]], 3)
    assert twice.nnz == 2  # the caller's own is as it was


@pytest.mark.parametrize(
    ("Y", "scores", "k", "message"),
    [
        ([[1, 0]], [[0.1, 0.2, 0.3]], 1, r"shape \(1, 2\) and the scores \(1, 3\)"),
        (np.zeros((0, 2)), np.zeros((0, 2)), 1, "a row at least"),
        ([[1, 0]], [[0.1, 0.2]], 0, "k is 0: it must be from 1 to the number of labels, 2"),
        ([[1, 0]], [[0.1, 0.2]], 3, "k is 3"),
        ([[1, 0]], [[0.1, np.nan]], 1, "scores hold NaN"),
        ([[1, 2]], [[0.1, 0.2]], 1, "1 where a label is on"),
        ([[1, -1]], [[0.1, 0.2]], 1, "1 where a label is on"),
    ],
)
def test_what_is_refused(Y, scores, k, message):
    with pytest.raises(UsageError, match=message):
        precision_at_k(Y, scores, k)


def test_its_public_name():
    assert smidgen.precision_at_k is precision_at_k
