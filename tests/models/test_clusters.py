import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.cluster import KMeans

from smidgen.models import clusters
from smidgen.models.clusters import cluster_centres, distinct_rows

small_tables = hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.integers(-2, 2))


def as_set(rows):
    return {tuple(row) for row in np.asarray(rows).tolist()}


@settings(max_examples=60, deadline=None)
@given(rows=small_tables, seed=st.integers(0, 99))
def test_distinct_rows_by_brute_force(rows, seed):
    weight = np.random.default_rng(seed).integers(1, 5, len(rows)).astype(float)
    totals = {}
    for row, w in zip(rows.tolist(), weight, strict=True):
        totals[tuple(row)] = totals.get(tuple(row), 0) + w
    first, merged, owner = distinct_rows(rows, weight)
    distinct = rows[first]
    assert {tuple(row): w for row, w in zip(distinct.tolist(), merged, strict=True)} == totals
    assert len(distinct) == len(totals)
    np.testing.assert_array_equal(distinct[owner], rows)


def test_minus_zero_is_zero():
    first, weight, _ = distinct_rows(np.array([[0.0], [-0.0]]), np.ones(2))
    assert len(first) == 1
    assert weight.tolist() == [2.0]


@pytest.mark.parametrize("n_clusters", [3, 4, 10])
def test_fewer_distinct_rows_than_clusters(n_clusters):
    rows = np.array([[0, 0], [5, 5], [0, 0], [9, 1]], np.uint8)
    centres = cluster_centres(rows, np.ones(4), n_clusters, seed=0)
    assert centres.dtype == np.float64
    assert len(centres) == 3
    assert as_set(centres) == {(0.0, 0.0), (5.0, 5.0), (9.0, 1.0)}


@pytest.mark.parametrize("n_clusters", [1, 2, 7])
def test_one_row_and_constant_rows(n_clusters):
    for rows in (np.array([[3.0, 4.0]]), np.full((6, 2), [3.0, 4.0])):
        np.testing.assert_array_equal(cluster_centres(rows, np.ones(len(rows)), n_clusters, seed=0), [[3.0, 4.0]])


def test_one_cluster_is_the_weighted_mean():
    rows, weight = np.array([[0.0], [1.0], [10.0]]), np.array([1.0, 1.0, 2.0])
    np.testing.assert_allclose(cluster_centres(rows, weight, 1, seed=0), [[21 / 4]])


def test_rows_of_weight_zero_do_not_count():
    rows, weight = np.array([[0.0], [1.0], [100.0]]), np.array([1.0, 1.0, 0.0])
    assert as_set(cluster_centres(rows, weight, 2, seed=0)) == {(0.0,), (1.0,)}


def test_finds_far_clusters():
    rng = np.random.default_rng(0)
    middles = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    rows = np.vstack([middle + rng.normal(size=(50, 2)) for middle in middles])
    expected = np.vstack([rows[50 * i : 50 * i + 50].mean(axis=0) for i in range(3)])
    centres = cluster_centres(rows, np.ones(150), 3, seed=0, n_init=3)
    order = [int(((centres - middle) ** 2).sum(axis=1).argmin()) for middle in expected]
    np.testing.assert_allclose(centres[order], expected, rtol=1e-9)


def test_weights_mean_repetition_and_order_does_not_matter():
    rng = np.random.default_rng(1)
    rows, weight = rng.integers(0, 20, (60, 2)).astype(float), rng.integers(0, 4, 60)
    centres = cluster_centres(rows, weight, 5, seed=3)
    repeated = rng.permutation(np.repeat(rows, weight, axis=0))
    assert cluster_centres(repeated, np.ones(len(repeated)), 5, seed=3).tobytes() == centres.tobytes()
    assert cluster_centres(rows, weight, 5, seed=4).tobytes() != centres.tobytes()


def test_no_warning_about_convergence_escapes():
    rows = np.array([[0.0], [1e-200], [2e-200], [1.0]])  # distinct rows that k-means cannot tell apart
    with pytest.warns(match="distinct clusters"):
        KMeans(4, n_init=1, random_state=0).fit(rows)
    assert 1 <= len(cluster_centres(rows, np.ones(4), 3, seed=0)) <= 3


@pytest.mark.parametrize(("n_rows", "n_rounds"), [(50, 100), (2**17, 100), (2**19, 32), (2**22, 10)])
def test_rounds_grow_fewer_where_rows_grow_more(monkeypatch, n_rows, n_rounds):
    asked = []

    class Rounds:
        def __init__(self, n_clusters, *, max_iter, **_):
            asked.append(max_iter)
            self.cluster_centers_ = np.zeros((n_clusters, 1))

        def fit(self, rows, sample_weight):
            return self

    monkeypatch.setattr(clusters, "KMeans", Rounds)
    cluster_centres(np.arange(n_rows)[:, None], np.ones(n_rows), 2, seed=0)
    assert asked == [n_rounds]
