import numpy as np
import pytest
from scipy import sparse

from smidgen.models import scaling
from smidgen.models.feed import POOL_ROWS, feed_of, spread_of
from tests.models.training import KINDS, rows_of


def make(X, kind=0, noise=0.0, batch_size=16, weight=None, seed=0, float32=False):
    weight = np.ones(X.shape[0]) if weight is None else weight
    candidates = (scaling.candidate_float_inputs if float32 else scaling.candidate_inputs)(X, weight)
    return feed_of(X, weight, candidates[kind], noise=noise, batch_size=batch_size, seed=seed), candidates[kind]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("float32", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_batches_are_what_the_input_makes_of_the_rows(kind, float32, form):
    X = rows_of("classes", kind).X
    feed, made = make(form(X), kind=-1, float32=float32)
    index = np.array([3, 50, 0, 7])
    batch = feed.take(index)
    assert batch.dtype == np.float32
    np.testing.assert_allclose(batch, made.run(X[index]), rtol=1e-6)
    columns = np.array([4, 1])
    np.testing.assert_array_equal(feed.of_columns(columns).take(index), batch[:, columns])
    fewer = feed.of_columns(columns).of_columns(np.array([1]))
    np.testing.assert_array_equal(fewer.take(index), batch[:, [1]])


def test_an_epoch_takes_every_row_once_and_orders_differ():
    feed, _ = make(rows_of("classes", n=48).X)
    drawn = list(feed.batches(16, 9, seed=0))
    assert feed.batches_an_epoch(16) == 3
    epochs = [np.concatenate(drawn[start : start + 3]) for start in (0, 3, 6)]
    assert all(sorted(epoch.tolist()) == list(range(48)) for epoch in epochs)
    assert not np.array_equal(epochs[0], epochs[1])
    again = list(feed.batches(16, 9, seed=0))
    np.testing.assert_array_equal(np.stack(drawn), np.stack(again))
    assert not np.array_equal(np.stack(drawn), np.stack(list(feed.batches(16, 9, seed=1))))


def test_what_does_not_fill_a_batch_waits_for_another_epoch():
    feed, _ = make(rows_of("classes", n=50).X)
    drawn = list(feed.batches(16, 6, seed=0))
    assert {len(index) for index in drawn} == {16}
    for epoch in (drawn[:3], drawn[3:]):
        assert len(np.unique(np.concatenate(epoch))) == 48
    assert len(next(iter(make(rows_of("classes", n=5).X)[0].batches(16, 1, 0)))) == 5


def test_moments_are_weighted():
    X, weight = rows_of("classes").X, np.arange(1, 61).astype(float)
    feed, made = make(X, kind=-1, weight=weight)
    scaled = made.run(X).astype(float)
    mean = np.average(scaled, axis=0, weights=weight)
    np.testing.assert_allclose(feed.mean, mean, rtol=1e-5)
    np.testing.assert_allclose(feed.deviation**2, np.average((scaled - mean) ** 2, axis=0, weights=weight), rtol=1e-4)


@pytest.mark.parametrize("value", [0.1, 1e6, -3.3, 255.0])
def test_a_constant_deviates_by_exactly_nothing(value):
    X = np.random.default_rng(0).normal(size=(2001, 3)).astype(np.float32)
    X[:, 1] = value
    feed, _ = make(X, float32=True)
    assert feed.deviation[1] == 0
    assert feed.mean[1] == np.float32(value)
    assert feed.varied_columns().tolist() == [0, 2]


def test_where_all_is_constant_one_column_stays():
    feed, _ = make(np.full((5, 3), 7, np.uint8))
    assert feed.varied_columns().tolist() == [0]
    assert spread_of(feed.deviation) == 1


def test_large_tables_are_measured_a_block_at_a_time(monkeypatch):
    X = rows_of("classes", "int16").X
    whole, _ = make(X, kind=-1)
    monkeypatch.setattr("smidgen.models.feed.BLOCK_VALUES", 50)
    blocks, _ = make(X, kind=-1)
    np.testing.assert_array_equal(blocks.rows, whole.rows)
    np.testing.assert_allclose(blocks.mean, whole.mean, rtol=1e-6)
    np.testing.assert_allclose(blocks.deviation, whole.deviation, rtol=1e-6)


def test_noise_is_uniform_of_the_asked_deviation():
    X = rows_of("classes", n=600).X
    X[:, 0] //= 8
    for each, kind in ((False, 0), (True, -1)):
        feed, _ = make(X, kind, noise=0.3)
        quiet, _ = make(X, kind)
        index = np.arange(600)
        added = np.concatenate([feed.take(index) - quiet.take(index) for _ in range(30)])
        unit = feed.deviation if each else np.full(6, spread_of(feed.deviation))
        np.testing.assert_allclose(added.std(axis=0), 0.3 * unit, rtol=0.05)
        np.testing.assert_allclose(added.mean(axis=0), 0, atol=0.02 * unit.max())
        assert (np.abs(added) <= 0.3 * unit * 3**0.5 * 1.001).all()
        correlation = np.corrcoef(added.T) - np.eye(6)
        assert np.abs(correlation).max() < 0.06


def test_each_batch_takes_another_stretch_and_a_seed_gives_the_same_ones():
    X = rows_of("classes").X
    one, two = make(X, noise=0.3)[0], make(X, noise=0.3)[0]
    index = np.arange(16)
    first, second = one.take(index), one.take(index)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(two.take(index), first)
    np.testing.assert_array_equal(two.take(index), second)
    assert not np.array_equal(make(X, noise=0.3, seed=1)[0].take(index), first)


def test_the_pool_suffices_for_a_batch_larger_than_itself():
    X = np.random.default_rng(0).integers(0, 256, (POOL_ROWS + 500, 2)).astype(np.uint8)
    feed, _ = make(X, noise=0.1, batch_size=100_000)
    assert feed.take(np.arange(len(X))).shape == X.shape


def test_bytes_as_they_are_are_not_copied():
    X = rows_of("classes").X
    assert make(X)[0].rows is X
