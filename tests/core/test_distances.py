import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smidgen.core.distances import squared_distances

sizes = st.integers(0, 6)


def integers(seed, *shape):
    """Whole numbers in float64: every sum is exact, so results may be compared for equality."""
    return np.random.default_rng(seed).integers(-50, 50, size=shape).astype(np.float64)


def one_by_one(X, points):
    result = np.zeros((len(X), len(points)))
    for i, x in enumerate(X):
        for j, point in enumerate(points):
            result[i, j] = sum((a - b) ** 2 for a, b in zip(x, point, strict=True))
    return result


@settings(max_examples=60, deadline=None)
@given(n=sizes, m=sizes, d=st.integers(1, 5), rows_at_once=st.one_of(st.none(), st.integers(1, 4)))
def test_equals_one_by_one(n, m, d, rows_at_once):
    X, points = integers(n, n, d), integers(m + 10, m, d)
    np.testing.assert_array_equal(squared_distances(X, points, rows_at_once), one_by_one(X, points))


def test_batches():
    X, points = integers(0, 3, 5, 2), integers(1, 3, 4, 2)
    expected = np.stack([one_by_one(x, p) for x, p in zip(X, points, strict=True)])
    np.testing.assert_array_equal(squared_distances(X, points), expected)
    np.testing.assert_array_equal(squared_distances(X, points, rows_at_once=2), expected)


def test_never_negative():
    X = (np.random.default_rng(0).random((200, 3)) + 1e4).astype(np.float32)  # cancels badly in float32
    assert squared_distances(X, X).min() >= 0
    naive = (X**2).sum(1)[:, None] - 2 * X @ X.T + (X**2).sum(1)
    assert naive.min() < 0  # without the clip it would be


@pytest.mark.parametrize("rows_at_once", [None, 2])
def test_keeps_to_the_array_api(rows_at_once):
    X, points = integers(0, 5, 3), integers(1, 4, 3)
    strict = squared_distances(array_api_strict.asarray(X), array_api_strict.asarray(points), rows_at_once)
    np.testing.assert_array_equal(np.asarray(strict), squared_distances(X, points))
